#include "runtime/intel/binding/descriptor_pool.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t AlignUp(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

// Of all records except inline uniform blocks, which are counted separately.
uint64_t LargestAlignment(DescriptorModel model) {
  uint64_t largest = 1;
  for (unsigned type = 0; type < kDescriptorTypes; ++type) {
    if (static_cast<DescriptorType>(type) == DescriptorType::kInlineUniformBlock) continue;
    largest =
        std::max<uint64_t>(largest, RecordOf(model, static_cast<DescriptorType>(type)).alignment);
  }
  return largest;
}

// The largest that a mutable descriptor can be.
DescriptorRecord LargestRecord(DescriptorModel model) {
  DescriptorRecord largest;
  for (unsigned type = 0; type < kDescriptorTypes; ++type) {
    const auto one = static_cast<DescriptorType>(type);
    if (IsDynamic(one) || one == DescriptorType::kInlineUniformBlock) continue;
    const DescriptorRecord record = RecordOf(model, one);
    largest.bytes = std::max(largest.bytes, record.bytes);
    largest.sampler_bytes = std::max(largest.sampler_bytes, record.sampler_bytes);
    largest.surface_bytes = std::max(largest.surface_bytes, record.surface_bytes);
  }
  return largest;
}

struct Room {
  uint64_t records = 0, samplers = 0, surfaces = 0;  // bytes
};

// Enough room for any distribution of the descriptors over sets and bindings.
absl::StatusOr<Room> RoomFor(DescriptorModel model, const DescriptorPoolOptions& options) {
  Room room;
  const uint64_t alignment = LargestAlignment(model);
  bool data = false;
  for (const DescriptorCount& count : options.counts) {
    if (count.type == DescriptorType::kInlineUniformBlock) {
      if (count.count != 0 && options.inline_blocks == 0) {
        return absl::InvalidArgumentError(
            absl::StrFormat("%d bytes of inline uniform blocks need "
                            "DescriptorPoolOptions::inline_blocks, the number of bindings",
                            count.count));
      }
      // A block begins at a boundary, and so does what follows it.
      room.records +=
          AlignUp(count.count, kSetAlignment) + uint64_t{options.inline_blocks} * 2 * kSetAlignment;
      data |= count.count != 0;
      continue;
    }
    DescriptorRecord record = RecordOf(model, count.type);
    if (count.type == DescriptorType::kMutable) {
      record = LargestRecord(model);
    } else if (record == DescriptorRecord()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("a pool for type %s, which does not exist in the %s model",
                          NameOf(count.type), NameOf(model)));
    }
    data |= IsData(record.form) || count.type == DescriptorType::kMutable;
    uint64_t items = count.count;
    if (count.type == DescriptorType::kCombinedImageSampler) items *= kMostPlanes;
    room.records += items * AlignUp(record.bytes, alignment);
    room.samplers += items * record.sampler_bytes;
    room.surfaces += items * record.surface_bytes;
  }
  // Sets begin at boundaries, too.
  if (room.records != 0) room.records += uint64_t{options.max_sets} * kSetAlignment;
  if (data && model != DescriptorModel::kBuffer) {
    room.surfaces += uint64_t{options.max_sets} * kSurfaceStateBytes;
  }
  return room;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DescriptorPool>> DescriptorPool::Create(
    gpu::Buffers& buffers, const DescriptorSetup& setup, const DescriptorPoolOptions& options) {
  if (options.max_sets == 0)
    return absl::InvalidArgumentError("a descriptor pool needs at least 1 set");
  const absl::StatusOr<Room> room = RoomFor(setup.model, options);
  if (!room.ok()) return room.status();
  std::unique_ptr<DescriptorPool> pool(new DescriptorPool(buffers, setup, options.max_sets));
  absl::Status status = pool->Open(pool->records_, room->records, kSetAlignment, options.records,
                                   options.heap, "descriptor sets");
  if (status.ok()) {
    status = pool->Open(pool->samplers_, room->samplers, kSamplerStride, options.samplers,
                        options.heap, "descriptor samplers");
  }
  if (status.ok()) {
    status = pool->Open(pool->surfaces_, room->surfaces, kSurfaceStateBytes, options.surfaces,
                        options.heap, "descriptor surface states");
  }
  if (!status.ok()) return status;
  return pool;
}

DescriptorPool::DescriptorPool(gpu::Buffers& buffers, const DescriptorSetup& setup,
                               uint32_t max_sets)
    : buffers_(buffers, lifetime_),
      setup_(setup, lifetime_),
      max_sets_(max_sets),
      next_serial_(NewDescriptorSetSerials()) {}

absl::Status DescriptorPool::Region::Empty() {
  auto made = gpu::RangeAllocator::Create({.end = capacity, .granule = granule});
  if (!made.ok()) return made.status();
  ranges = *std::move(made);
  return absl::OkStatus();
}

DescriptorPool::~DescriptorPool() {
  lifetime_.End();
  if (!buffers_) return;
  for (const Region* region : {&records_, &samplers_, &surfaces_}) {
    if (region->buffer.handle != 0) (void)buffers_->Release(region->buffer.handle);
  }
}

absl::Status DescriptorPool::Open(Region& region, uint64_t bytes, uint64_t granule,
                                  gpu::ZoneId zone, gpu::Heap heap, const char* what) {
  if (bytes == 0) return absl::OkStatus();
  bytes = AlignUp(bytes, granule);
  const bool direct =
      setup_->model == DescriptorModel::kDirect || setup_->model == DescriptorModel::kBuffer;
  if (bytes > (direct ? kDirectHeap : kIndirectHeap)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes of %s in one pool; a heap of the %s model has at most 0x%x",
                        bytes, what, NameOf(setup_->model), direct ? kDirectHeap : kIndirectHeap));
  }
  const absl::StatusOr<gpu::Buffer> buffer =
      buffers_->Create({.size = bytes,
                        .zone = zone,
                        .name = what,
                        .heap = heap,
                        .alignment = kSetAlignment,
                        .placement = gpu::Placement::kHighest,
                        .writable = false});
  if (!buffer.ok()) return buffer.status();
  region.buffer = *buffer;
  region.capacity = bytes;
  region.granule = granule;
  if (buffer->cpu == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s need a heap that the CPU can access", what));
  }
  // Records that shaders reach by addresses may be anywhere.
  if (&region != &records_ || direct) {
    const uint64_t base = &region == &samplers_ ? setup_->sampler_base : setup_->surface_base;
    const uint64_t reach = uint64_t{1} << 32;
    if (buffer->address - base > reach - bytes) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s at 0x%x, 0x%x bytes, are out of reach of their base, 0x%x", what,
                          buffer->address, bytes, base));
    }
    if (&region == &records_) {
      const uint64_t first = buffer->address - base, last = first + bytes - kSurfaceStateBytes;
      for (const uint64_t offset : {first, last}) {
        if (setup_->HasHandle(offset)) continue;
        return absl::FailedPreconditionError(
            absl::StrFormat("%s: %s", what, setup_->NoHandle(offset).message()));
      }
    }
  }
  return region.Empty();
}

absl::StatusOr<gpu::Range> DescriptorPool::Take(Region& region, uint64_t bytes, const char* what) {
  if (region.ranges == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("0x%x bytes of %s, but the pool was made without any", bytes, what));
  }
  absl::StatusOr<gpu::Range> range = region.ranges->Allocate({.size = bytes});
  if (range.ok() || !absl::IsResourceExhausted(range.status())) return range;
  const gpu::RangeStatistics now = region.ranges->statistics();
  if (now.free_bytes() >= AlignUp(bytes, region.granule)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the descriptor pool is fragmented: 0x%x bytes of %s are free, but the largest of %d "
        "pieces has 0x%x, and 0x%x are needed. Reset the pool, or free more sets",
        now.free_bytes(), what, now.holes, now.largest_hole, bytes));
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the descriptor pool is full: 0x%x of 0x%x bytes of %s are free, 0x%x are needed",
      now.free_bytes(), now.capacity, what, bytes));
}

absl::StatusOr<DescriptorSet> DescriptorPool::Allocate(DescriptorSetLayoutPtr layout,
                                                       std::optional<uint32_t> variable_count) {
  if (lifetime_.lost()) return lifetime_.status();
  if (layout == nullptr) return absl::InvalidArgumentError("a descriptor set needs a layout");
  if (layout->model() != setup_->model || layout->push() || layout->embedded()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a layout of %sthe %s model for a pool of the %s model",
                        layout->push()       ? "pushed descriptors, of "
                        : layout->embedded() ? "embedded samplers, of "
                                             : "",
                        NameOf(layout->model()), NameOf(setup_->model)));
  }
  uint32_t count = layout->last_count();
  if (variable_count.has_value()) {
    if (!layout->has_variable_count() || *variable_count > count) {
      return absl::InvalidArgumentError(
          absl::StrFormat("a variable count of %d: %s", *variable_count,
                          layout->has_variable_count()
                              ? absl::StrFormat("the layout's last binding has at most %d", count)
                              : std::string("the layout has no binding with a variable count")));
    }
    if (layout->bindings().back().type == DescriptorType::kInlineUniformBlock &&
        *variable_count % 4 != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a variable count of %d bytes; it must be a multiple of 4 for an inline uniform block",
          *variable_count));
    }
    count = *variable_count;
  }
  if (sets_ == max_sets_) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("all %d sets of the descriptor pool are allocated", max_sets_));
  }

  if (unused_.empty() && begun_ == places_.size()) {
    places_.push_back(TakeKept<Place>());
    places_.back()->index = begun_;
  }
  Place& place = *places_[unused_.empty() ? begun_ : unused_.back()];
  absl::StatusOr<DescriptorSet> set = Settle(place, std::move(layout), count);
  if (!set.ok()) return set;
  if (unused_.empty()) {
    ++begun_;
  } else {
    unused_.pop_back();
  }
  ++sets_;
  ++next_serial_;
  return set;
}

// Finds room for a set and begins it, or leaves everything unchanged.
absl::StatusOr<DescriptorSet> DescriptorPool::Settle(Place& place, DescriptorSetLayoutPtr layout,
                                                     uint32_t variable_count) {
  const DescriptorSetSizes sizes = layout->SizesOf(variable_count);
  DescriptorSetMemory memory;
  gpu::RangeHandle records, samplers, surfaces;
  absl::Status status;
  const auto take = [&](Region& region, uint64_t bytes, const char* what, gpu::RangeHandle& range,
                        uint8_t*& cpu, uint64_t base, uint32_t& offset) {
    if (bytes == 0 || !status.ok()) return;
    const absl::StatusOr<gpu::Range> taken = Take(region, bytes, what);
    if (!taken.ok()) {
      status = taken.status();
      return;
    }
    range = taken->handle;
    cpu = region.buffer.cpu + taken->address;
    offset = static_cast<uint32_t>(region.buffer.address + taken->address - base);
  };
  take(records_, sizes.record_bytes, "records", records, memory.records, setup_->surface_base,
       memory.records_offset);
  take(samplers_, sizes.sampler_bytes, "samplers", samplers, memory.samplers, setup_->sampler_base,
       memory.samplers_offset);
  take(surfaces_, sizes.surface_bytes, "surface states", surfaces, memory.surfaces,
       setup_->surface_base, memory.surfaces_offset);
  if (memory.records != nullptr) {
    memory.records_buffer = records_.buffer.handle;
    memory.records_address = records_.buffer.address + (memory.records - records_.buffer.cpu);
  }
  if (memory.samplers != nullptr) memory.samplers_buffer = samplers_.buffer.handle;
  if (memory.surfaces != nullptr) memory.surfaces_buffer = surfaces_.buffer.handle;

  if (status.ok()) {
    status = place.Begin(*setup_, std::move(layout), variable_count, memory, next_serial_);
  }
  if (!status.ok()) {
    GiveBack(records, samplers, surfaces);
    return status;
  }
  place.records = records;
  place.samplers = samplers;
  place.surfaces = surfaces;
  return DescriptorSet(place);
}

void DescriptorPool::GiveBack(gpu::RangeHandle records, gpu::RangeHandle samplers,
                              gpu::RangeHandle surfaces) {
  const auto free = [](Region& region, gpu::RangeHandle range) {
    if (range != gpu::RangeHandle()) (void)region.ranges->Free(range);
  };
  free(records_, records);
  free(samplers_, samplers);
  free(surfaces_, surfaces);
}

absl::Status DescriptorPool::Free(const DescriptorSet& set) {
  if (!set.live() || !SameMaker(set.serial_, next_serial_)) {
    return absl::NotFoundError(
        "the descriptor set is not one of this pool: it was freed, or is another pool's");
  }
  Place& place = static_cast<Place&>(*set.storage_);  // it has a serial of this pool
  place.End();
  GiveBack(place.records, place.samplers, place.surfaces);
  unused_.push_back(place.index);
  --sets_;
  return absl::OkStatus();
}

void DescriptorPool::EndSets() {
  for (uint32_t i = 0; i < begun_; ++i) {
    if (places_[i]->serial() != 0) places_[i]->End();
  }
}

void DescriptorPool::Reset() {
  EndSets();
  for (Region* region : {&records_, &samplers_, &surfaces_}) {
    if (region->ranges != nullptr) (void)region->Empty();
  }
  unused_.clear();
  begun_ = sets_ = 0;
}

DescriptorPoolStatistics DescriptorPool::statistics() const {
  const auto used = [](const Region& region) {
    return region.ranges == nullptr ? 0 : region.ranges->statistics().live_bytes;
  };
  return {.sets = sets_,
          .record_bytes = used(records_),
          .record_capacity = records_.capacity,
          .sampler_bytes = used(samplers_),
          .sampler_capacity = samplers_.capacity,
          .surface_bytes = used(surfaces_),
          .surface_capacity = surfaces_.capacity};
}

}  // namespace packsmith::intel
