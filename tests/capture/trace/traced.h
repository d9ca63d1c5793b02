// A program under the tracer, in this process, on a mock kernel's device: what the tracer makes of
// its calls, and what the kernel itself says of them.
#ifndef PACKSMITH_TESTS_CAPTURE_TRACE_TRACED_H_
#define PACKSMITH_TESTS_CAPTURE_TRACE_TRACED_H_

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/trace/tracer.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::capture {

// A submission with its memory, as it was when it was reported.
struct Shown {
  using Range = std::tuple<uint64_t, uint64_t, uint64_t, std::vector<uint8_t>>;
  std::string text;           // all but memory
  std::vector<Range> memory;  // address, size, what repeats, bytes
  std::vector<std::string> warnings;
};

inline Shown Show(const Work& work) {
  Shown shown;
  shown.text =
      absl::StrFormat("%d %s %s%d minor %d file %d context %d class %d global %d scratch %d",
                      work.number, work.interface, work.engine, work.engine_instance, work.minor,
                      work.file, work.context, work.engine_class, work.global, work.scratch_page);
  if (work.device != nullptr) {
    absl::StrAppendFormat(&shown.text, " %s %04x", work.device->name, work.device->pci_id);
  }
  for (const WorkStream& stream : work.streams) {
    absl::StrAppendFormat(&shown.text, " %s@%#x+%#x", stream.stream, stream.address, stream.length);
  }
  for (const WorkBase& base : work.bases) {
    absl::StrAppendFormat(&shown.text, " %s=%#x", base.name, base.address);
  }
  for (const auto& [address, mapping] : work.memory->mappings()) {
    absl::StrAppendFormat(&shown.text, " [%#x %s%s%s id %d]", address,
                          mapping.writable ? "" : "read-only ", mapping.dumpable ? "dumpable " : "",
                          mapping.object ? "" : "null ", mapping.object ? mapping.object->id() : 0);
    std::vector<uint8_t> bytes;
    if (mapping.object != nullptr) {
      bytes.resize(mapping.repeats != 0
                       ? mapping.repeats
                       : std::min(mapping.size, mapping.object->size() - mapping.offset));
      EXPECT_TRUE(mapping.object->Read(mapping.offset, absl::MakeSpan(bytes)));
    }
    shown.memory.emplace_back(address, mapping.size, mapping.repeats, std::move(bytes));
  }
  shown.warnings = work.warnings;
  return shown;
}

// The kernel's own view.
class KernelView : public Watcher {
 public:
  void OnSubmit(const std::shared_ptr<const Work>& work) override { works.push_back(Show(*work)); }
  std::vector<Shown> works;
};

// The tracer's.
class TracerView : public TraceSink {
 public:
  bool Wants(const Work&) override { return wants; }
  void OnSubmit(const Work& work) override { works.push_back(Show(work)); }
  bool wants = true;
  std::vector<Shown> works;
};

// The file as the tracer reaches it.
class MockAccess : public TraceAccess {
 public:
  explicit MockAccess(std::shared_ptr<File> file) : file_(std::move(file)) {}
  Result Ioctl(uint32_t request, void* argument) override {
    ++calls;
    return file_->Ioctl(caller_, request, reinterpret_cast<uint64_t>(argument));
  }
  void* Map(uint64_t offset, uint64_t size) override {
    File::Mapped mapped;
    if (refuses || file_->Mmap(caller_, offset, size, mapped) != 0) return nullptr;
    void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, mapped.memory->fd(),
                          static_cast<off_t>(mapped.offset));
    return at == MAP_FAILED ? nullptr : at;
  }
  bool refuses = false;
  int calls = 0;

 private:
  OwnCaller caller_;
  std::shared_ptr<File> file_;
};

// A kernel with one device, and a tracer.
class TracedMachine {
 public:
  template <typename Maker>
  TracedMachine(absl::string_view name, const Maker& maker) {
    const auto found = FindDevice(name);
    EXPECT_TRUE(found.ok()) << found.status();
    info = *found->device;
    info.pci_id = found->pci_id;
    kernel.AddWatcher(&kernel_view);
    device = &kernel.Add(maker(kernel, info));
  }
  // The tracer saw what the kernel saw, in the same order.
  void ExpectSame() const {
    ASSERT_EQ(tracer_view.works.size(), kernel_view.works.size());
    for (size_t i = 0; i < kernel_view.works.size(); ++i) {
      EXPECT_EQ(tracer_view.works[i].text, kernel_view.works[i].text);
      EXPECT_TRUE(tracer_view.works[i].memory == kernel_view.works[i].memory) << "submission " << i;
      EXPECT_EQ(tracer_view.works[i].warnings, std::vector<std::string>());
    }
  }

  KernelView kernel_view;
  TracerView tracer_view;
  DeviceInfo info;
  MockKernel kernel;
  MockDevice* device = nullptr;
  Tracer tracer{tracer_view};
};

// An open file, each of whose calls the tracer is told of.
class TracedClient {
 public:
  explicit TracedClient(TracedMachine& a_machine, bool render = true)
      : machine(a_machine),
        minor(render ? machine.device->render_minor() : machine.device->card_minor()),
        file(machine.kernel.Open(minor)),
        access(file),
        interests(machine.tracer.Open(file->number(), minor, access)) {}

  // `between`: done when the kernel has answered, before the tracer knows.
  template <typename T, typename Between>
  Result Call(uint32_t request, T& args, const Between& between) {
    const TraceInterest interest = interests[IoctlNumber(request)];
    TracedCall call = {.request = request,
                       .bytes = {reinterpret_cast<const uint8_t*>(&args), sizeof(T)},
                       .caller = caller,
                       .access = access};
    uint64_t ticket = 0;
    if (interest == TraceInterest::kBeforeAndAfter) {
      ticket = machine.tracer.Before(file->number(), call);
    }
    call.result = file->Ioctl(caller, request, reinterpret_cast<uint64_t>(&args));
    between();
    if (ticket != 0 || interest == TraceInterest::kAfter) {
      machine.tracer.After(file->number(), ticket, call);
    }
    return call.result;
  }
  template <typename T>
  Result Call(uint32_t request, T& args) {
    return Call(request, args, [] {});
  }

  Result Close(uint32_t handle) {
    uapi::drm::gem_close args = {handle, 0};
    return Call(uapi::drm::kGemClose, args);
  }
  int Export(uint32_t handle) {
    uapi::drm::prime_handle args = {handle, 0, -1};
    EXPECT_EQ(Call(uapi::drm::kPrimeHandleToFd, args), 0);
    return args.fd;
  }
  uint32_t Import(int fd) {
    uapi::drm::prime_handle args = {0, 0, fd};
    EXPECT_EQ(Call(uapi::drm::kPrimeFdToHandle, args), 0);
    return args.handle;
  }
  // The memory at an offset for mmap().
  std::shared_ptr<SharedMemory> MemoryAt(uint64_t offset) {
    File::Mapped mapped;
    EXPECT_EQ(file->Mmap(caller, offset, 4096, mapped), 0);
    return mapped.memory;
  }

  TracedMachine& machine;
  const int minor;
  OwnCaller caller;
  const std::shared_ptr<File> file;
  MockAccess access;
  const Tracer::Interests interests;
};

template <typename T>
uint64_t AddressOf(T& value) {
  return reinterpret_cast<uint64_t>(&value);
}

// Memory of this process in whole pages.
class Pages {
 public:
  explicit Pages(uint64_t a_size) : size(a_size) {
    bytes = static_cast<uint8_t*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(bytes, MAP_FAILED);
  }
  ~Pages() { munmap(bytes, size); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  uint64_t size;
  uint8_t* bytes;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_TRACE_TRACED_H_
