#include "runtime/capture/execute/work_dump.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/execute/engine_of.h"
#include "runtime/capture/execute/mapped_memory.h"
#include "runtime/generations/generations.h"

namespace packsmith::capture {
namespace {

constexpr uint64_t kPage = 4096;
// Bytes that repeat are laid out once, in a block of this size, which many segments then show.
constexpr uint64_t kRepeatBlock = uint64_t{1} << 20;
constexpr uint64_t kMostRepeatBlocks = 4096;

// What keeps a dump's memory alive.
struct Backing {
  std::shared_ptr<const AddressMap> map;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> blocks;
};

// A copy of memory of a process, up to the first page that the process does not have.
class UserBytes : public DeferredBytes {
 public:
  UserBytes(std::shared_ptr<const Object> object, uint64_t offset, uint64_t size)
      : object_(std::move(object)), offset_(offset), size_(size) {}

 protected:
  absl::Span<const uint8_t> Make() override {
    bytes_.resize(size_);
    if (!object_->Read(offset_, absl::MakeSpan(bytes_))) {
      uint64_t done = 0;
      while (done < size_) {
        const uint64_t step = std::min(kPage, size_ - done);
        if (!object_->Read(offset_ + done, absl::MakeSpan(bytes_).subspan(done, step))) break;
        done += step;
      }
      bytes_.resize(done);
    }
    object_.reset();
    return bytes_;
  }

 private:
  std::shared_ptr<const Object> object_;
  const uint64_t offset_, size_;
  std::vector<uint8_t> bytes_;
};

class Maker {
 public:
  Maker(const Work& work, const WorkDumpOptions& options)
      : work_(work),
        options_(options),
        space_(work.global && !options.as_own_space ? kGlobalSpace : 0),
        backing_(std::make_shared<Backing>()) {}

  WorkDump Make() {
    Dump& dump = made_.dump;
    if (work_.device != nullptr) SetDevice(*work_.device);
    dump.device.uapi = std::string(work_.interface);
    AddSubmissions();
    backing_->map = work_.memory;
    for (const auto& [address, mapping] : work_.memory->mappings()) {
      if (!options_.dumpable_only || mapping.dumpable || HoldsStream(mapping)) Add(mapping);
    }
    dump.memory_is_complete = work_.memory_is_complete && !options_.dumpable_only;
    dump.SortBuffers();
    dump.backing = std::move(backing_);
    return std::move(made_);
  }

 private:
  void SetDevice(const DeviceInfo& info) {
    Device& device = made_.dump.device;
    device = DeviceOfGeneration(info.generation);
    device.platform = std::string(info.platform);
    if (info.version_x10 != 0) device.verx10 = info.version_x10;
    if (info.pci_id != 0) device.pci_id = info.pci_id;
    if (info.chip_id != 0) device.chip_id = info.chip_id;
  }

  void AddSubmissions() {
    // A description knows the engines' names, where there is one.
    std::string engine = work_.engine;
    if (work_.device != nullptr) {
      if (const absl::StatusOr<tables::Tables> tables = FindGeneration(work_.device->generation);
          tables.ok()) {
        const uint32_t index = EngineOf(*tables, work_);
        if (index != tables::kNone) {
          engine = std::string(tables->string(tables->engines()[index].name));
        }
      }
    }
    uint32_t instance = work_.engine_instance;
    for (const WorkStream& stream : work_.streams) {
      Submission& submission = made_.dump.submissions.emplace_back();
      submission.index = static_cast<uint32_t>(work_.number);
      submission.engine = engine;
      submission.context = static_cast<uint32_t>(work_.context);
      // Several streams are for as many engines of the class.
      submission.slot = instance++ * 16 + std::min(work_.engine_class, 15u);
      submission.space = space_;
      submission.batch_address = stream.address;
      submission.batch_length = stream.length;
      submission.stream = stream.stream;
      for (const WorkBase& base : work_.bases) {
        submission.bases.push_back({base.name, base.address});
      }
    }
  }

  bool HoldsStream(const Mapping& mapping) const {
    return std::any_of(work_.streams.begin(), work_.streams.end(), [&](const WorkStream& stream) {
      return stream.address >= mapping.address && stream.address - mapping.address < mapping.size;
    });
  }

  void Check(const absl::Status& status) {
    if (!status.ok()) made_.dump.AddProblem(0, std::string(status.message()));
  }

  void Add(const Mapping& mapping) {
    Memory& memory = made_.dump.memory;
    if (mapping.object == nullptr) {
      Check(memory.Map(space_, mapping.address, {}, mapping.size));
      AddBuffer(mapping, mapping.size, "no memory");
      return;
    }
    const std::string name = NameOf(*mapping.object);
    if (mapping.repeats != 0) {
      AddRepeated(mapping);
      AddBuffer(mapping, mapping.size, name);
      return;
    }
    // What a mapping has beyond its object is not mapped.
    const uint64_t object_size = mapping.object->size();
    if (mapping.offset >= object_size) return;
    const uint64_t size = std::min(mapping.size, object_size - mapping.offset);
    const std::shared_ptr<SharedMemory>& shared = mapping.object->memory();
    if (shared != nullptr) {
      const absl::Span<const uint8_t> bytes = shared->bytes();
      Check(memory.Map(space_, mapping.address,
                       mapping.offset < bytes.size() ? bytes.subspan(mapping.offset, size)
                                                     : absl::Span<const uint8_t>(),
                       size));
    } else {
      Check(memory.MapDeferred(space_, mapping.address,
                               std::make_shared<UserBytes>(mapping.object, mapping.offset, size),
                               size));
    }
    AddBuffer(mapping, size, name);
    made_.parts.push_back({space_, mapping.address, size, mapping.object->id(), name,
                           mapping.offset, shared != nullptr ? shared->fd() : -1});
  }

  void AddRepeated(const Mapping& mapping) {
    Memory& memory = made_.dump.memory;
    if (mapping.repeats > mapping.object->size()) return;
    std::vector<uint8_t> once(mapping.repeats);
    if (!mapping.object->Read(mapping.offset, absl::MakeSpan(once))) return;
    if (std::all_of(once.begin(), once.end(), [](uint8_t byte) { return byte == 0; })) {
      Check(memory.Map(space_, mapping.address, {}, mapping.size));
      return;
    }
    auto block = std::make_unique<std::vector<uint8_t>>();
    const uint64_t wanted = std::min(mapping.size, kRepeatBlock);
    while (block->size() < wanted) block->insert(block->end(), once.begin(), once.end());
    const absl::Span<const uint8_t> bytes = *backing_->blocks.emplace_back(std::move(block));
    uint64_t done = 0;
    for (uint64_t i = 0; done < mapping.size && i < kMostRepeatBlocks; ++i) {
      const uint64_t size = std::min<uint64_t>(bytes.size(), mapping.size - done);
      Check(memory.Map(space_, mapping.address + done, bytes.first(size), size));
      done += size;
    }
    if (done < mapping.size) {
      made_.dump.AddProblem(
          0, absl::StrFormat("of the 0x%x bytes at 0x%x, which repeat, only the first 0x%x are in "
                             "the dump",
                             mapping.size, mapping.address, done));
    }
  }

  void AddBuffer(const Mapping& mapping, uint64_t size, std::string name) {
    Buffer& buffer = made_.dump.buffers.emplace_back();
    buffer.space = space_;
    buffer.address = mapping.address;
    buffer.size = size;
    buffer.name = std::move(name);
    if (!mapping.writable) buffer.flags = "read-only";
  }

  const Work& work_;
  const WorkDumpOptions options_;
  const uint32_t space_;
  WorkDump made_;
  std::shared_ptr<Backing> backing_;
};

}  // namespace

WorkDump DumpOf(const Work& work, const WorkDumpOptions& options) {
  return Maker(work, options).Make();
}

}  // namespace packsmith::capture
