#include "runtime/memory/host_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/addresses.h"
#include "runtime/base/mutex.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/elf_core.h"
#include "runtime/memory/debug_submit.h"
#include "runtime/memory/page_table.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;

absl::Status NoSuchMemory(MemoryId memory) {
  return absl::NotFoundError(
      absl::StrFormat("memory %d does not exist, or no longer exists", memory));
}

}  // namespace

// All but what calls the user's code.
class HostDevice::Core {
 public:
  // `options` must outlive this.
  explicit Core(const Options& options) : options_(options) {}
  ~Core();

  absl::StatusOr<MemoryId> Create(const MemoryOptions& options);
  absl::Status Destroy(MemoryId memory);
  absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory);
  absl::Status Bind(const PageBinding& binding);
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size);
  // Checks a job, writes its core, and gives it a fence; then what its run returned.
  absl::StatusOr<Fence> Begin(const Job& job);
  void End(Fence fence, absl::Status ran);
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout);
  void SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name);
  absl::Status Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const;
  absl::Status Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes);
  absl::Status WriteCore(const Job& job, const std::string& path) const;
  void Complete(Fence fence);
  uint64_t memory_in_use() const;

 private:
  struct Piece {
    uint8_t* bytes = nullptr;
    uint64_t size = 0;
    Heap heap = Heap::kSystem;
    uint8_t use = kOrdinary;
    uint32_t bindings = 0;
    struct Name {
      uint64_t size = 0;
      std::string text;
    };
    std::map<uint64_t, Name> names;  // by offset
  };
  using Pages = PageTable::Pages;

  absl::StatusOr<uint64_t> PlainAddress(uint64_t address) const;
  // For messages: `memory 5 ("vertices")`, with the name at `offset`.
  std::string Called(MemoryId memory, uint64_t offset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Piece* Find(MemoryId memory) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls visit(host bytes, offset, size) for each part of a range, after checking the whole range.
  absl::Status Walk(uint32_t space, uint64_t address, uint64_t size, bool write,
                    absl::FunctionRef<void(uint8_t*, uint64_t, uint64_t)> visit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Check(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteCoreLocked(const Job& job, uint32_t index, const std::string& path) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options& options_;
  mutable Mutex mutex_;
  std::condition_variable_any progress_;  // done_ has changed
  absl::flat_hash_map<uint32_t, Piece> pieces_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, PageTable> spaces_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Fence, absl::Status> failed_ ABSL_GUARDED_BY(mutex_);
  uint32_t next_memory_ ABSL_GUARDED_BY(mutex_) = 1;
  uint64_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
  Fence last_ ABSL_GUARDED_BY(mutex_) = 0, done_ ABSL_GUARDED_BY(mutex_) = 0;
};

HostDevice::Core::~Core() {
  MutexLock lock(mutex_);
  for (const auto& [id, piece] : pieces_) munmap(piece.bytes, piece.size);
}

absl::StatusOr<MemoryId> HostDevice::Core::Create(const MemoryOptions& options) {
  if (options.size == 0 || options.size % kPage != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("memory must be whole pages of 4 KiB, not 0x%x bytes", options.size));
  }
  MutexLock lock(mutex_);
  if (options.size > options_.memory_bytes - in_use_) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("0x%x bytes of memory were requested; of 0x%x, 0x%x are in use",
                        options.size, options_.memory_bytes, in_use_));
  }
  // Mapped, not allocated: a page costs nothing until it is touched, and is zero. Sizes of GPU
  // memory have 64 bits, those of this process may have 32.
  const auto size = static_cast<size_t>(options.size);
  void* const bytes = size != options.size
                          ? MAP_FAILED
                          : mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the system has no room for 0x%x bytes", options.size));
  }
  const uint32_t id = next_memory_++;
  pieces_[id] = {static_cast<uint8_t*>(bytes), options.size, options.heap, options.use, 0, {}};
  in_use_ += options.size;
  return static_cast<MemoryId>(id);
}

const HostDevice::Core::Piece* HostDevice::Core::Find(MemoryId memory) const {
  const auto found = pieces_.find(static_cast<uint32_t>(memory));
  return found == pieces_.end() ? nullptr : &found->second;
}

absl::Status HostDevice::Core::Destroy(MemoryId memory) {
  MutexLock lock(mutex_);
  const auto found = pieces_.find(static_cast<uint32_t>(memory));
  if (found == pieces_.end()) return NoSuchMemory(memory);
  const Piece& piece = found->second;
  if (piece.bindings != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s is still bound at %d places; unbind it first", Called(memory, 0), piece.bindings));
  }
  munmap(piece.bytes, piece.size);
  in_use_ -= piece.size;
  pieces_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<uint8_t>> HostDevice::Core::Map(MemoryId memory) {
  MutexLock lock(mutex_);
  const Piece* const piece = Find(memory);
  if (piece == nullptr) return NoSuchMemory(memory);
  if (!CpuCanSee(piece->heap)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s is in a heap that the CPU cannot see; copy to it by a job, or use another heap",
        Called(memory, 0)));
  }
  return absl::MakeSpan(piece->bytes, piece->size);
}

absl::StatusOr<uint64_t> HostDevice::Core::PlainAddress(uint64_t address) const {
  const std::optional<uint64_t> plain = PlainIfAddress(address, options_.address_bits);
  if (plain.has_value()) return *plain;
  return absl::InvalidArgumentError(
      absl::StrFormat("0x%x is not an address of %d bits", address, options_.address_bits));
}

absl::Status HostDevice::Core::Bind(const PageBinding& binding) {
  const absl::StatusOr<uint64_t> address = PlainAddress(binding.address);
  if (!address.ok()) return address.status();
  if (binding.size == 0 || ((*address | binding.size | binding.offset) & (kPage - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes from offset 0x%x at 0x%x are not whole pages", binding.size,
                        binding.offset, *address));
  }
  if (binding.size > (uint64_t{1} << options_.address_bits) - *address) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes at 0x%x go past the end of the address space", binding.size, *address));
  }
  MutexLock lock(mutex_);
  const auto piece = pieces_.find(static_cast<uint32_t>(binding.memory));
  if (piece == pieces_.end()) return NoSuchMemory(binding.memory);
  if (binding.offset > piece->second.size || binding.size > piece->second.size - binding.offset) {
    return absl::InvalidArgumentError(
        absl::StrFormat("memory %d has 0x%x bytes, not 0x%x from offset 0x%x", binding.memory,
                        piece->second.size, binding.size, binding.offset));
  }
  PageTable& space = spaces_[binding.space];
  const auto there = space.Overlap(*address, binding.size);
  if (there != space.pages().end()) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "space %d: 0x%x..0x%x is not free: %s is bound at 0x%x..0x%x", binding.space, *address,
        *address + binding.size - 1, Called(there->second.memory, there->second.offset),
        there->first, there->first + there->second.size - 1));
  }
  space.Insert(*address, {binding.size, binding.memory, binding.offset, binding.writable});
  ++piece->second.bindings;
  return absl::OkStatus();
}

absl::Status HostDevice::Core::Unbind(uint32_t space, uint64_t address, uint64_t size) {
  const absl::StatusOr<uint64_t> plain = PlainAddress(address);
  if (!plain.ok()) return plain.status();
  MutexLock lock(mutex_);
  PageTable& table = spaces_[space];
  const Pages* const pages = table.Find(*plain, size);
  if (pages == nullptr) {
    return absl::NotFoundError(absl::StrFormat(
        "space %d: 0x%x bytes at 0x%x are not what was bound", space, size, *plain));
  }
  --pieces_[static_cast<uint32_t>(pages->memory)].bindings;
  table.Erase(*plain);
  return absl::OkStatus();
}

absl::Status HostDevice::Core::Walk(
    uint32_t space, uint64_t address, uint64_t size, bool write,
    absl::FunctionRef<void(uint8_t*, uint64_t, uint64_t)> visit) const {
  const absl::StatusOr<uint64_t> plain = PlainAddress(address);
  if (!plain.ok()) return plain.status();
  const auto found = spaces_.find(space);
  static const PageTable::Map kNothing;
  const PageTable::Map& pages = found == spaces_.end() ? kNothing : found->second.pages();
  // One pass to check, one to access: a range that is not completely bound is not touched.
  for (const bool check : {true, false}) {
    uint64_t done = 0;
    auto at = pages.upper_bound(*plain);
    if (at != pages.begin()) --at;
    for (; done < size; ++at) {
      const uint64_t now = *plain + done;
      if (at == pages.end() || now < at->first || now - at->first >= at->second.size) {
        // The nearest pages below and above help to find a slightly wrong pointer.
        const auto above = pages.upper_bound(now);
        std::string nearest;
        if (above != pages.begin()) {
          const auto below = std::prev(above);
          const Pages& pages_below = below->second;
          absl::StrAppendFormat(
              &nearest, "; %s ends at 0x%x",
              Called(pages_below.memory, pages_below.offset + pages_below.size - 1),
              below->first + pages_below.size - 1);
        }
        if (above != pages.end()) {
          absl::StrAppendFormat(&nearest, "; %s begins at 0x%x",
                                Called(above->second.memory, above->second.offset), above->first);
        }
        return absl::OutOfRangeError(
            absl::StrFormat("space %d: nothing is bound at 0x%x (%s of 0x%x bytes at 0x%x)%s",
                            space, now, write ? "write" : "read", size, *plain, nearest));
      }
      const Pages& here = at->second;
      if (write && !here.writable) {
        return absl::PermissionDeniedError(
            absl::StrFormat("space %d: 0x%x, in %s, is not writable by the GPU", space, now,
                            Called(here.memory, here.offset + (now - at->first))));
      }
      const uint64_t skip = now - at->first;
      const uint64_t part = std::min(size - done, here.size - skip);
      if (!check) visit(Find(here.memory)->bytes + here.offset + skip, done, part);
      done += part;
    }
  }
  return absl::OkStatus();
}

absl::Status HostDevice::Core::Read(uint32_t space, uint64_t address,
                                    absl::Span<uint8_t> out) const {
  MutexLock lock(mutex_);
  return Walk(space, address, out.size(), /*write=*/false,
              [&](const uint8_t* bytes, uint64_t offset, uint64_t size) {
                std::memcpy(out.data() + offset, bytes, size);
              });
}

absl::Status HostDevice::Core::Write(uint32_t space, uint64_t address,
                                     absl::Span<const uint8_t> bytes) {
  MutexLock lock(mutex_);
  return Walk(space, address, bytes.size(), /*write=*/true,
              [&](uint8_t* to, uint64_t offset, uint64_t size) {
                std::memcpy(to, bytes.data() + offset, size);
              });
}

absl::Status HostDevice::Core::Check(const Job& job) const {
  if (std::find(options_.engines.begin(), options_.engines.end(), job.engine) ==
      options_.engines.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("there is no engine \"%s\"; the engines are: %s", job.engine,
                        absl::StrJoin(options_.engines, ", ")));
  }
  if (!(job.waits.empty() && job.signals.empty())) {
    return absl::UnimplementedError(
        "the device has no kernel, and so no timelines of the kernel's: jobs of it cannot wait for "
        "their values or signal them");
  }
  const absl::StatusOr<uint64_t> batch = PlainAddress(job.batch_address);
  if (!batch.ok()) return batch.status();
  for (const Fence fence : job.after) {
    if (fence > last_) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the job waits for fence %d, but the last fence is %d", fence, last_));
    }
  }
  const auto found = spaces_.find(job.space);
  absl::flat_hash_set<MemoryId> seen;
  bool batch_resident = false;
  for (const Resident& resident : job.residents) {
    const absl::StatusOr<uint64_t> address = PlainAddress(resident.address);
    if (!address.ok()) return address.status();
    if (Find(resident.memory) == nullptr) return NoSuchMemory(resident.memory);
    if (!seen.insert(resident.memory).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s is listed twice as resident", Called(resident.memory, 0)));
    }
    const Pages* pages = nullptr;
    if (found != spaces_.end()) {
      pages = found->second.FindAt(*address);
      if (pages != nullptr && pages->memory != resident.memory) pages = nullptr;
    }
    if (pages == nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s is not bound at 0x%x in space %d", Called(resident.memory, 0), *address, job.space));
    }
    if (resident.written && !pages->writable) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s is written by the job and bound read-only", Called(resident.memory, 0)));
    }
    batch_resident |= *batch >= *address && *batch - *address < pages->size &&
                      job.batch_length <= pages->size - (*batch - *address);
  }
  if (!batch_resident) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the batch, 0x%x bytes at 0x%x, is not in one of the %d residents",
                        job.batch_length, *batch, job.residents.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Fence> HostDevice::Core::Begin(const Job& job) {
  MutexLock lock(mutex_);
  absl::Status status = Check(job);
  if (!status.ok()) return status;
  const Fence fence = last_ + 1;
  if (!options_.core_prefix.empty()) {
    status = WriteCoreLocked(job, static_cast<uint32_t>(last_),
                             absl::StrCat(options_.core_prefix, CoreName(fence)));
    if (!status.ok()) return status;
  }
  last_ = fence;
  return fence;
}

void HostDevice::Core::End(Fence fence, absl::Status ran) {
  MutexLock lock(mutex_);
  if (!ran.ok()) failed_[fence] = std::move(ran);
  if (!options_.complete_by_hand) {
    done_ = std::max(done_, fence);
    progress_.notify_all();
  }
}

absl::StatusOr<bool> HostDevice::Core::Wait(Fence fence, absl::Duration timeout) {
  // Clocks cannot wait for ever.
  const auto until = std::chrono::steady_clock::now() +
                     absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365)));
  MutexLock lock(mutex_);
  if (fence > last_) {
    return absl::InvalidArgumentError(
        absl::StrFormat("cannot wait for fence %d: the last fence is %d", fence, last_));
  }
  while (fence > done_) {
    if (timeout <= absl::ZeroDuration() ||
        progress_.wait_until(mutex_, until) == std::cv_status::timeout) {
      if (fence > done_) return false;
    }
  }
  const auto failed = failed_.find(fence);
  if (failed == failed_.end()) return true;
  return absl::AbortedError(absl::StrFormat("job %d failed: %s", fence, failed->second.message()));
}

void HostDevice::Core::Complete(Fence fence) {
  MutexLock lock(mutex_);
  done_ = std::max(done_, std::min(fence, last_));
  progress_.notify_all();
}

void HostDevice::Core::SetName(MemoryId memory, uint64_t offset, uint64_t size,
                               absl::string_view name) {
  MutexLock lock(mutex_);
  const auto found = pieces_.find(static_cast<uint32_t>(memory));
  if (found == pieces_.end()) return;
  if (name.empty()) {
    found->second.names.erase(offset);
  } else {
    found->second.names[offset] = {size, std::string(name)};
  }
}

std::string HostDevice::Core::Called(MemoryId memory, uint64_t offset) const {
  std::string text = absl::StrFormat("memory %d", memory);
  const Piece* const piece = Find(memory);
  if (piece != nullptr) {
    const auto after = piece->names.upper_bound(offset);
    if (after != piece->names.begin()) {
      const auto& [begin, name] = *std::prev(after);
      if (offset - begin < name.size) absl::StrAppendFormat(&text, " (\"%s\")", name.text);
    }
  }
  return text;
}

absl::Status HostDevice::Core::WriteCore(const Job& job, const std::string& path) const {
  MutexLock lock(mutex_);
  return WriteCoreLocked(job, static_cast<uint32_t>(last_), path);
}

absl::Status HostDevice::Core::WriteCoreLocked(const Job& job, uint32_t index,
                                               const std::string& path) const {
  const absl::StatusOr<uint64_t> batch = PlainAddress(job.batch_address);
  if (!batch.ok()) return batch.status();
  Dump dump;
  dump.device = options_.device;
  dump.submissions.push_back({.index = index,
                              .engine = job.engine,
                              .context = job.context,
                              .batch_address = *batch,
                              .batch_length = job.batch_length});
  for (const JobBase& base : job.bases) {
    dump.submissions.back().bases.push_back({std::string(base.name), base.address});
  }
  dump.memory_is_complete = options_.core_memory != CoreMemory::kCaptured;
  absl::flat_hash_set<MemoryId> residents;
  for (const Resident& resident : job.residents) residents.insert(resident.memory);
  // The reason that the core lacks the memory, for names; null if the core has it.
  const auto lacking = [&](uint64_t address, const Pages& pages, const Piece& piece) {
    switch (options_.core_memory) {
      case CoreMemory::kResident:
        return residents.contains(pages.memory) ? nullptr : " (not resident)";
      case CoreMemory::kCaptured:
        return (piece.use & kCaptured) != 0 || (*batch >= address && *batch - address < pages.size)
                   ? nullptr
                   : " (not captured)";
      case CoreMemory::kBound:
        break;
    }
    return static_cast<const char*>(nullptr);
  };
  const auto space = spaces_.find(job.space);
  if (space != spaces_.end()) {
    for (const auto& [address, pages] : space->second.pages()) {
      const Piece& piece = *Find(pages.memory);
      const char* const lacks = lacking(address, pages, piece);
      if (lacks == nullptr) {
        const absl::Status status = dump.memory.Map(
            0, address, absl::MakeConstSpan(piece.bytes + pages.offset, pages.size), pages.size);
        if (!status.ok()) return status;
      }
      for (const auto& [offset, name] : piece.names) {
        // The part of the buffer that is bound here.
        const uint64_t begin = std::max(offset, pages.offset);
        const uint64_t end = std::min(offset + name.size, pages.offset + pages.size);
        if (begin < end) {
          dump.buffers.push_back({0, address + (begin - pages.offset), end - begin,
                                  lacks == nullptr ? name.text : absl::StrCat(name.text, lacks)});
        }
      }
    }
  }
  dump.SortBuffers();
  return WriteElfCore(dump, path);
}

uint64_t HostDevice::Core::memory_in_use() const {
  MutexLock lock(mutex_);
  return in_use_;
}

// -- The device -----------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<HostDevice>> HostDevice::Create(Options options) {
  if (options.address_bits < 32 || options.address_bits > 63) {
    return absl::InvalidArgumentError(
        absl::StrFormat("addresses must have 32 to 63 bits, not %d", options.address_bits));
  }
  return std::unique_ptr<HostDevice>(new HostDevice(std::move(options)));
}

absl::StatusOr<std::unique_ptr<HostDevice>> HostDevice::Create() { return Create(Options()); }

HostDevice::HostDevice(Options options)
    : options_(std::move(options)), core_(std::make_unique<Core>(options_)) {}
HostDevice::~HostDevice() = default;

absl::StatusOr<MemoryId> HostDevice::Create(const MemoryOptions& options) {
  return core_->Create(options);
}
absl::Status HostDevice::Destroy(MemoryId memory) { return core_->Destroy(memory); }
absl::StatusOr<absl::Span<uint8_t>> HostDevice::Map(MemoryId memory) { return core_->Map(memory); }
absl::Status HostDevice::Bind(const PageBinding& binding) { return core_->Bind(binding); }
absl::Status HostDevice::Unbind(uint32_t space, uint64_t address, uint64_t size) {
  return core_->Unbind(space, address, size);
}

std::string HostDevice::CoreName(Fence fence) { return absl::StrFormat("%06d.core", fence); }

absl::StatusOr<Fence> HostDevice::Submit(const Job& job) {
  DebugBeforeSubmit(*this, job);
  const absl::StatusOr<Fence> fence = core_->Begin(job);
  if (!fence.ok()) return fence;
  core_->End(*fence, options_.run ? options_.run(*this, job) : absl::OkStatus());
  if (options_.complete_by_hand) return fence;
  return DebugAfterSubmit(*this, *fence);
}

absl::StatusOr<bool> HostDevice::Wait(Fence fence, absl::Duration timeout) {
  return core_->Wait(fence, timeout);
}
std::string HostDevice::generation() const { return options_.device.generation; }
void HostDevice::SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name) {
  core_->SetName(memory, offset, size, name);
}
absl::Status HostDevice::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  return core_->Read(space, address, out);
}
absl::Status HostDevice::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  return core_->Write(space, address, bytes);
}
absl::Status HostDevice::WriteCore(const Job& job, const std::string& path) const {
  return core_->WriteCore(job, path);
}
void HostDevice::Complete(Fence fence) { core_->Complete(fence); }
uint64_t HostDevice::memory_in_use() const { return core_->memory_in_use(); }

}  // namespace packsmith::gpu
