// Descriptor sets: what is written to them, and the memory that the GPU reads.
//
//   absl::StatusOr<DescriptorSet> set = pool->Allocate(layout);
//   absl::Status status = set->Write(
//       0, 0, {.type = DescriptorType::kUniformBuffer, .buffer = {.buffer = constants}});
//   status = set->Write(1, 3, {.type = DescriptorType::kSampledImage, .images = &view});
//
// A call succeeds completely or changes nothing; errors name the binding and the element. Writing
// does not allocate, and does not read GPU memory.
//
// Not thread-safe: a set and its pool belong to one thread at a time.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SET_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SET_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/descriptor_layout.h"
#include "runtime/intel/binding/descriptor_setup.h"
#include "runtime/intel/binding/descriptor_types.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

inline constexpr uint64_t kWholeSize = std::numeric_limits<uint64_t>::max();

// A packed view of an image, or of a buffer as texels.
struct DescriptorImage {
  SurfaceDwords state = {};
  // Where the same state is in memory, from the base of surfaces. For kBindingTable and kIndirect.
  uint32_t offset = 0;
  gpu::BufferHandle buffer = 0;  // the viewed buffer
  uint32_t depth = 0;            // for StorageRecord
};

// Bytes.
struct DescriptorBuffer {
  gpu::Buffer buffer = {};  // without an address: none
  uint64_t offset = 0;
  uint64_t size = kWholeSize;  // kWholeSize: up to the buffer's end
};

struct Descriptor {
  DescriptorType type = DescriptorType::kSampler;  // not kMutable, but the current type
  // One for each plane of the binding. Null: none is bound, and reads give zeros.
  const DescriptorImage* images = nullptr;
  // One for each plane. Null if the layout has immutable ones.
  const DescriptorSampler* samplers = nullptr;
  DescriptorBuffer buffer = {};  // also an acceleration structure's
};

// The memory of a set. Pointers are null if it needs none; offsets are from the base of surfaces or
// samplers.
struct DescriptorSetMemory {
  uint8_t* records = nullptr;
  uint8_t* samplers = nullptr;
  uint8_t* surfaces = nullptr;
  uint64_t records_address = 0;  // GPU address
  uint32_t records_offset = 0;   // kDirect and kBuffer
  uint32_t samplers_offset = 0;
  uint32_t surfaces_offset = 0;
  gpu::BufferHandle records_buffer = 0, samplers_buffer = 0, surfaces_buffer = 0;
};

// A set's content, owned by the maker of the set.
class DescriptorSetStorage {
 public:
  // The last write, for each plane of each element.
  struct Slot {
    uint32_t surface = 0;  // the binding table's entry
    gpu::BufferHandle buffer = 0;
    DescriptorType type = DescriptorType::kMutable;
    bool written = false;
  };
  struct Dynamic {
    uint64_t address = 0;  // 0: none
    uint64_t size = 0;
    uint64_t room = 0;  // bytes from the address to the buffer's end
    gpu::BufferHandle buffer = 0;
    bool whole = false;  // up to the buffer's end, whatever the offset
  };

  // Begins a new set, in which only immutable samplers are written. Errors are those of the set's
  // own surface state; then nothing has changed.
  absl::Status Begin(const DescriptorSetup& setup, DescriptorSetLayoutPtr layout,
                     uint32_t variable_count, const DescriptorSetMemory& memory, uint64_t serial);
  // Makes all handles invalid.
  void End();
  void Suspend() { serial_ = 0; }  // until CopyTo()

  absl::Status Write(uint32_t binding, uint32_t element, const Descriptor& descriptor);
  absl::Status WriteInline(uint32_t binding, uint32_t offset, absl::Span<const uint8_t> bytes);
  absl::Status CopyFrom(const DescriptorSetStorage& from, uint32_t from_binding,
                        uint32_t from_element, uint32_t binding, uint32_t element, uint32_t count);

  absl::StatusOr<uint32_t> SurfaceHandle(uint32_t binding, uint32_t element, uint32_t plane) const;
  absl::StatusOr<uint32_t> SamplerHandle(uint32_t binding, uint32_t element, uint32_t plane) const;

  uint64_t serial() const { return serial_; }  // 0: not a set
  const DescriptorSetup& setup() const { return *setup_; }
  const DescriptorSetLayoutPtr& layout() const { return layout_; }
  const DescriptorSetMemory& memory() const { return memory_; }
  absl::Span<const Slot> slots() const { return slots_; }
  absl::Span<const DescriptorSampler> samplers() const { return samplers_; }
  absl::Span<const Dynamic> dynamics() const { return dynamics_; }
  // Elements of a binding in this set; of an inline uniform block, bytes.
  uint32_t CountOf(const DescriptorSetLayout::Binding& binding) const {
    return (binding.flags & kVariableCount) != 0 ? variable_count_ : binding.count;
  }
  template <class Visit>
  void ForEachBuffer(Visit visit) const {
    for (const gpu::BufferHandle own :
         {memory_.records_buffer, memory_.samplers_buffer, memory_.surfaces_buffer}) {
      if (own != 0) visit(own, false);
    }
    for (const Slot& slot : slots_) {
      if (slot.buffer != 0) visit(slot.buffer, IsWritable(slot.type));
    }
  }
  // The binding table's entry for the set's memory.
  uint32_t set_surface() const { return memory_.surfaces_offset; }

  // Copies the set's content to `place`: offsets are those of that place from now on, and handles
  // have another serial. Writes still go to the memory of Begin(). For pushed sets.
  absl::Status CopyTo(const DescriptorSetMemory& place, uint64_t serial);

 private:
  using Binding = DescriptorSetLayout::Binding;

  absl::Status Refuse(uint32_t binding, uint32_t element, DescriptorType type) const;
  absl::Status WriteViews(const Binding& to, uint32_t element, const Descriptor& descriptor);
  absl::Status WriteBuffer(const Binding& to, uint32_t element, const Descriptor& descriptor);
  absl::Status WriteStructure(const Binding& to, uint32_t element, const Descriptor& descriptor);
  void WriteImmutable(const Binding& to);
  absl::Status CheckCopy(const DescriptorSetStorage& from, const Binding& source,
                         uint32_t from_element, const Binding& to, uint32_t element,
                         uint32_t count) const;
  void CopyItem(const DescriptorSetStorage& from, const Binding& source, uint64_t from_item,
                const Binding& to, uint64_t item);
  absl::StatusOr<const Slot*> Written(uint32_t binding, uint32_t element, uint32_t plane) const;

  // The record of a binding's elements of this type.
  DescriptorRecord RecordFor(const Binding& binding, DescriptorType type) const {
    return binding.type == DescriptorType::kMutable ? RecordOf(setup_->model, type)
                                                    : binding.record;
  }
  uint8_t* RecordAt(const Binding& binding, uint64_t item) const {
    return memory_.records + binding.record_offset + item * binding.record_stride;
  }
  uint8_t* SurfaceAt(const Binding& binding, uint64_t item) const {
    return memory_.surfaces + binding.surface_offset + item * binding.surface_stride;
  }
  uint8_t* SamplerAt(const Binding& binding, uint64_t item) const {
    return memory_.samplers + binding.sampler_offset + item * binding.sampler_stride;
  }
  // The binding table's entry for an item whose view has its state at `view_offset`.
  uint32_t EntryFor(const Binding& binding, uint64_t item, const DescriptorRecord& record,
                    uint32_t view_offset) const;

  const DescriptorSetup* setup_ = nullptr;
  DescriptorSetLayoutPtr layout_;
  DescriptorSetMemory memory_;
  uint32_t variable_count_ = 0;
  uint64_t serial_ = 0;
  std::vector<Slot> slots_;
  std::vector<DescriptorSampler> samplers_;
  std::vector<Dynamic> dynamics_;
};

// The first serial for the sets of a new maker (a pool, for example), which counts up from it.
// Serials of different makers differ.
uint64_t NewDescriptorSetSerials();
// Whether two serials are of the same maker.
bool SameMaker(uint64_t a, uint64_t b);

// A copyable handle. It is valid until the set is freed or its pool is reset or destroyed; then
// live() is false.
class DescriptorSet {
 public:
  DescriptorSet() = default;  // no set
  explicit DescriptorSet(DescriptorSetStorage& storage)
      : storage_(&storage), serial_(storage.serial()) {}

  // FailedPrecondition if the set was freed, or pushed; InvalidArgument for an unknown binding, a
  // type that it does not take, or values that its surface state cannot hold; OutOfRange for an
  // element that it does not have, and for bytes outside the buffer.
  absl::Status Write(uint32_t binding, uint32_t element, const Descriptor& descriptor) const {
    return writable() ? storage_->Write(binding, element, descriptor) : NotWritable();
  }
  // Bytes of an inline uniform block: offset and size are multiples of 4.
  absl::Status WriteInline(uint32_t binding, uint32_t offset,
                           absl::Span<const uint8_t> bytes) const {
    return writable() ? storage_->WriteInline(binding, offset, bytes) : NotWritable();
  }
  // Copies `count` elements from another set, or from this one. Immutable samplers are kept. For
  // inline uniform blocks, elements are bytes. Reads GPU memory.
  absl::Status CopyFrom(const DescriptorSet& from, uint32_t from_binding, uint32_t from_element,
                        uint32_t binding, uint32_t element, uint32_t count = 1) const {
    if (!from.live()) return Gone();
    if (!writable()) return NotWritable();
    return storage_->CopyFrom(*from.storage_, from_binding, from_element, binding, element, count);
  }

  // The handle with which a shader reaches the surface or sampler without a table.
  // FailedPrecondition if it was never written; InvalidArgument if the model or type has none.
  absl::StatusOr<uint32_t> SurfaceHandle(uint32_t binding, uint32_t element,
                                         uint32_t plane = 0) const {
    if (!live()) return Gone();
    return storage_->SurfaceHandle(binding, element, plane);
  }
  absl::StatusOr<uint32_t> SamplerHandle(uint32_t binding, uint32_t element,
                                         uint32_t plane = 0) const {
    if (!live()) return Gone();
    return storage_->SamplerHandle(binding, element, plane);
  }

  // Calls visit(buffer, written) for the buffers that descriptors point to, and for those of the
  // set itself: all must be resident. Some are visited more than once.
  template <class Visit>
  absl::Status ForEachBuffer(Visit visit) const {
    if (!live()) return Gone();
    storage_->ForEachBuffer(visit);
    return absl::OkStatus();
  }

  bool live() const { return storage_ != nullptr && serial_ != 0 && storage_->serial() == serial_; }
  // Null if the set is gone.
  const DescriptorSetStorage* storage() const { return live() ? storage_ : nullptr; }
  friend bool operator==(const DescriptorSet&, const DescriptorSet&) = default;

 private:
  friend class DescriptorPool;
  // The GPU may be reading a pushed set: only PushDescriptors can write it again.
  bool writable() const { return live() && !storage_->layout()->push(); }
  static absl::Status Gone();
  absl::Status NotWritable() const;

  DescriptorSetStorage* storage_ = nullptr;
  uint64_t serial_ = 0;
};

// Writes a descriptor's kBuffer record to a descriptor buffer, memory of the application. Returns
// its size in bytes. OutOfRange if `to` is smaller; otherwise errors of DescriptorSet::Write().
absl::StatusOr<uint32_t> WriteDescriptor(const DescriptorSetup& setup, const Descriptor& descriptor,
                                         absl::Span<uint8_t> to);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SET_H_
