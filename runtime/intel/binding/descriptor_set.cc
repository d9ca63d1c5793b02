#include "runtime/intel/binding/descriptor_set.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t kMostBufferBytes = std::numeric_limits<uint32_t>::max();

std::string At(uint32_t binding, uint32_t element) {
  return absl::StrFormat("binding %d, element %d: ", binding, element);
}

template <class... Args>
absl::Status Wrong(uint32_t binding, uint32_t element, const absl::FormatSpec<Args...>& format,
                   const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat(At(binding, element), absl::StrFormat(format, args...)));
}

absl::Status Within(uint32_t binding, uint32_t element, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(At(binding, element), status.message()));
}

template <class T>
void Put(const T& value, uint8_t* to) {
  std::memcpy(to, &value, sizeof(T));
}

// A buffer's bytes, after the descriptor has been checked.
struct Bytes {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t room = 0;
};

absl::StatusOr<Bytes> BytesOf(const DescriptorBuffer& wish) {
  if (wish.buffer.address == 0) return Bytes();
  if (wish.offset >= wish.buffer.size ||
      (wish.size != kWholeSize && wish.size > wish.buffer.size - wish.offset)) {
    return absl::OutOfRangeError(
        absl::StrFormat("0x%x bytes at offset 0x%x are not within a buffer of 0x%x bytes",
                        wish.size == kWholeSize ? 0 : wish.size, wish.offset, wish.buffer.size));
  }
  const uint64_t room = wish.buffer.size - wish.offset;
  const uint64_t size = wish.size == kWholeSize ? room : wish.size;
  if (size == 0 || size > kMostBufferBytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes of a buffer; there must be 1 to 0x%x. Give a size, or a null buffer for none",
        size, kMostBufferBytes));
  }
  return Bytes{wish.buffer.address + wish.offset, size, room};
}

// How the given samplers and images differ from what the type needs, or null. `immutable`: the
// binding has its own samplers.
const char* Mistake(const Descriptor& descriptor, bool immutable) {
  const DescriptorType type = descriptor.type;
  if (HasSampler(type)) {
    if (immutable && type == DescriptorType::kSampler) {
      return "its samplers are immutable, and there is nothing else to write";
    }
    if (immutable && descriptor.samplers != nullptr) {
      return "its samplers are immutable; give none";
    }
    if (!immutable && descriptor.samplers == nullptr) return "no sampler is given";
  } else if (descriptor.samplers != nullptr) {
    return "a sampler is given, but the type has none";
  }
  if (!HasView(type) && descriptor.images != nullptr) {
    return "an image is given, but the type has none";
  }
  return nullptr;
}

// Writes the records of images and samplers. `sampler` null: it is kept.
PACKSMITH_INLINE inline void PutRecord(RecordForm form, const DescriptorSetup& setup,
                                       const DescriptorImage* image,
                                       const DescriptorSampler* sampler, bool has_view,
                                       uint8_t* to) {
  const SurfaceDwords& state = image == nullptr ? setup.null_state : image->state;
  const auto handle = [&] {
    return setup.HandleAt(image == nullptr ? setup.null_surface : image->offset);
  };
  switch (form) {
    case RecordForm::kHandles:
      Put(has_view ? handle() : uint32_t{0}, to + offsetof(HandlesRecord, surface));
      if (sampler != nullptr) Put(sampler->offset, to + offsetof(HandlesRecord, sampler));
      break;
    case RecordForm::kStorage:
      Put(StorageRecord{handle(), image == nullptr ? 0 : image->depth}, to);
      break;
    case RecordForm::kSurface:
      Put(state, to);
      break;
    case RecordForm::kSurfaceAndSampler:
      Put(state, to);
      if (sampler != nullptr) Put(sampler->state, to + kSamplerBehindSurface);
      break;
    case RecordForm::kSampler:
      if (sampler != nullptr) Put(sampler->state, to);
      break;
    default:
      break;
  }
}

// The surface state of a set's own memory. A set whose count of elements is 0 has none.
absl::Status PutSetSurface(const DescriptorSetup& setup, const DescriptorSetMemory& memory,
                           uint64_t bytes, uint8_t* to) {
  SurfaceDwords state = setup.null_state;
  if (bytes != 0) {
    const absl::Status status =
        setup.WriteBuffer(DescriptorType::kUniformBuffer, memory.records_address, bytes, state);
    if (!status.ok()) return status;
  }
  Put(state, to);
  return absl::OkStatus();
}

bool HoldsSurface(RecordForm form) {
  return form == RecordForm::kSurface || form == RecordForm::kSurfaceAndSampler;
}

}  // namespace

// -- Beginning and end --------------------------------------------------------------------------

absl::Status DescriptorSetStorage::Begin(const DescriptorSetup& setup,
                                         DescriptorSetLayoutPtr layout, uint32_t variable_count,
                                         const DescriptorSetMemory& memory, uint64_t serial) {
  const DescriptorSetSizes sizes = layout->SizesOf(variable_count);
  if (layout->has_set_surface()) {
    const absl::Status status = PutSetSurface(setup, memory, sizes.record_bytes, memory.surfaces);
    if (!status.ok()) return status;
  }
  setup_ = &setup;
  layout_ = std::move(layout);
  memory_ = memory;
  variable_count_ = variable_count;
  serial_ = serial;
  slots_.assign(sizes.slots, Slot());
  samplers_.assign(sizes.sampler_slots, DescriptorSampler());
  dynamics_.assign(layout_->dynamic_buffers(), Dynamic());
  if (!layout_->immutable_samplers().empty()) {
    for (const Binding& binding : layout_->bindings()) {
      if (binding.immutable_samplers) WriteImmutable(binding);
    }
  }
  return absl::OkStatus();
}

void DescriptorSetStorage::End() {
  serial_ = 0;
  layout_.reset();
}

void DescriptorSetStorage::WriteImmutable(const Binding& to) {
  const DescriptorRecord record = RecordOf(setup_->model, to.type);
  const uint64_t items = uint64_t{CountOf(to)} * to.planes;
  for (uint64_t item = 0; item < items; ++item) {
    const DescriptorSampler& sampler = layout_->immutable_samplers()[to.first_immutable + item];
    samplers_[to.first_sampler_slot + item] = sampler;
    if (record.sampler_bytes != 0) Put(sampler.state, SamplerAt(to, item));
    if (record.bytes != 0 && !(record.form == RecordForm::kSurface)) {
      PutRecord(record.form, *setup_, nullptr, &sampler, HasView(to.type), RecordAt(to, item));
    }
    if (to.type == DescriptorType::kSampler) {
      slots_[to.first_slot + item] = {
          .surface = setup_->null_surface, .type = to.type, .written = true};
    }
  }
}

absl::Status DescriptorSetStorage::CopyTo(const DescriptorSetMemory& place, uint64_t serial) {
  const DescriptorSetSizes& sizes = layout_->sizes();
  if (layout_->has_set_surface()) {
    const absl::Status status = PutSetSurface(*setup_, place, sizes.record_bytes, memory_.surfaces);
    if (!status.ok()) return status;
  }
  const DescriptorSetMemory here = memory_;
  memory_ = place;
  serial_ = serial;
  memory_.records = here.records;
  memory_.samplers = here.samplers;
  memory_.surfaces = here.surfaces;
  for (const Binding& binding : layout_->bindings()) {
    for (uint32_t item = 0; item < binding.count * binding.planes; ++item) {
      Slot& slot = slots_[binding.first_slot + item];
      if (!slot.written || !(HasView(slot.type) || IsBuffer(slot.type))) continue;
      slot.surface = EntryFor(binding, item, RecordOf(setup_->model, slot.type), slot.surface);
    }
  }
  if (sizes.record_bytes != 0) std::memcpy(place.records, here.records, sizes.record_bytes);
  if (sizes.sampler_bytes != 0) std::memcpy(place.samplers, here.samplers, sizes.sampler_bytes);
  if (sizes.surface_bytes != 0) std::memcpy(place.surfaces, here.surfaces, sizes.surface_bytes);
  return absl::OkStatus();
}

uint32_t DescriptorSetStorage::EntryFor(const Binding& binding, uint64_t item,
                                        const DescriptorRecord& record,
                                        uint32_t view_offset) const {
  if (HoldsSurface(record.form)) {
    return static_cast<uint32_t>(memory_.records_offset + binding.record_offset +
                                 item * binding.record_stride);
  }
  if (record.surface_bytes != 0) {
    return static_cast<uint32_t>(memory_.surfaces_offset + binding.surface_offset +
                                 item * binding.surface_stride);
  }
  return view_offset;
}

// -- Writing ------------------------------------------------------------------------------------

// The reason that a descriptor of this type cannot be written there.
absl::Status DescriptorSetStorage::Refuse(uint32_t binding, uint32_t element,
                                          DescriptorType type) const {
  const Binding* const found = layout_->Find(binding);
  if (found == nullptr) return Wrong(binding, element, "the set's layout has no such binding");
  if (element >= CountOf(*found)) {
    return absl::OutOfRangeError(absl::StrCat(
        At(binding, element), absl::StrFormat("the binding has %d elements, of type %s",
                                              CountOf(*found), NameOf(found->type))));
  }
  if (found->type == DescriptorType::kInlineUniformBlock) {
    return Wrong(binding, element, "it is of type %s: use WriteInline()", NameOf(found->type));
  }
  return Wrong(binding, element, "it is of type %s%s, but a descriptor of type %s was given",
               NameOf(found->type),
               found->type == DescriptorType::kMutable ? ", whose list lacks that type" : "",
               NameOf(type));
}

absl::Status DescriptorSetStorage::Write(uint32_t binding, uint32_t element,
                                         const Descriptor& descriptor) {
  const Binding* const to = layout_->Find(binding);
  const DescriptorType type = descriptor.type;
  if (bits::rarely(to == nullptr || element >= CountOf(*to) ||
                   static_cast<unsigned>(type) >= kDescriptorTypes || !to->Takes(type) ||
                   type == DescriptorType::kInlineUniformBlock)) {
    return Refuse(binding, element, type);
  }
  if (const char* mistake = Mistake(descriptor, to->immutable_samplers)) {
    return Wrong(binding, element, "%s", mistake);
  }
  if (IsBuffer(type)) return WriteBuffer(*to, element, descriptor);
  if (type == DescriptorType::kAccelerationStructure) {
    return WriteStructure(*to, element, descriptor);
  }
  return WriteViews(*to, element, descriptor);
}

absl::Status DescriptorSetStorage::WriteViews(const Binding& to, uint32_t element,
                                              const Descriptor& descriptor) {
  const DescriptorType type = descriptor.type;
  const DescriptorRecord record = RecordFor(to, type);
  const bool has_view = HasView(type);
  // Records that hold the state itself do not need its offset.
  if (descriptor.images != nullptr && !HoldsSurface(record.form)) {
    for (unsigned plane = 0; plane < to.planes; ++plane) {
      const uint32_t offset = descriptor.images[plane].offset;
      if (record.form == RecordForm::kNothing ? offset % kSurfaceStateBytes != 0
                                              : !setup_->HasHandle(offset)) {
        return Within(to.binding, element, setup_->NoHandle(offset));
      }
    }
  }
  for (unsigned plane = 0; plane < to.planes; ++plane) {
    const uint64_t item = uint64_t{element} * to.planes + plane;
    const DescriptorImage* image = descriptor.images;
    const DescriptorSampler* sampler = descriptor.samplers;
    if (image != nullptr) image += plane;
    if (sampler != nullptr) {
      sampler += plane;
      samplers_[to.first_sampler_slot + item] = *sampler;
      if (record.sampler_bytes != 0) Put(sampler->state, SamplerAt(to, item));
    }
    if (record.bytes != 0) {
      PutRecord(record.form, *setup_, image, sampler, has_view, RecordAt(to, item));
    }
    Slot slot{.surface = setup_->null_surface, .type = type, .written = true};
    if (has_view) {
      slot.surface =
          EntryFor(to, item, record, image == nullptr ? setup_->null_surface : image->offset);
      if (image != nullptr) slot.buffer = image->buffer;
    }
    slots_[to.first_slot + item] = slot;
  }
  return absl::OkStatus();
}

absl::Status DescriptorSetStorage::WriteBuffer(const Binding& to, uint32_t element,
                                               const Descriptor& descriptor) {
  const DescriptorType type = descriptor.type;
  const DescriptorRecord record = RecordFor(to, type);
  const absl::StatusOr<Bytes> bytes = BytesOf(descriptor.buffer);
  if (!bytes.ok()) return Within(to.binding, element, bytes.status());
  const gpu::BufferHandle buffer = bytes->address == 0 ? 0 : descriptor.buffer.buffer.handle;

  SurfaceDwords state = setup_->null_state;
  const bool wants_state = HoldsSurface(record.form) || record.surface_bytes != 0;
  if (wants_state && bytes->address != 0) {
    const absl::Status status = setup_->WriteBuffer(type, bytes->address, bytes->size, state);
    if (!status.ok()) return Within(to.binding, element, status);
  }
  // From here on nothing fails.
  if (record.form == RecordForm::kAddress) {
    Put(AddressRecord{bytes->address, static_cast<uint32_t>(bytes->size)}, RecordAt(to, element));
  } else if (HoldsSurface(record.form)) {
    Put(state, RecordAt(to, element));
  }
  if (record.surface_bytes != 0) Put(state, SurfaceAt(to, element));
  if (IsDynamic(type)) {
    dynamics_[to.first_dynamic + element] = {.address = bytes->address,
                                             .size = bytes->size,
                                             .room = bytes->room,
                                             .buffer = buffer,
                                             .whole = descriptor.buffer.size == kWholeSize};
  }
  slots_[to.first_slot + element] = {.surface = EntryFor(to, element, record, setup_->null_surface),
                                     .buffer = buffer,
                                     .type = type,
                                     .written = true};
  return absl::OkStatus();
}

absl::Status DescriptorSetStorage::WriteStructure(const Binding& to, uint32_t element,
                                                  const Descriptor& descriptor) {
  const absl::StatusOr<Bytes> bytes = BytesOf(descriptor.buffer);
  if (!bytes.ok()) return Within(to.binding, element, bytes.status());
  Put(AddressRecord{bytes->address, static_cast<uint32_t>(bytes->size)}, RecordAt(to, element));
  slots_[to.first_slot + element] = {
      .surface = setup_->null_surface,
      .buffer = bytes->address == 0 ? 0 : descriptor.buffer.buffer.handle,
      .type = descriptor.type,
      .written = true};
  return absl::OkStatus();
}

absl::Status DescriptorSetStorage::WriteInline(uint32_t binding, uint32_t offset,
                                               absl::Span<const uint8_t> bytes) {
  const Binding* const to = layout_->Find(binding);
  if (to == nullptr || to->type != DescriptorType::kInlineUniformBlock) {
    return absl::InvalidArgumentError(absl::StrFormat("binding %d: %s", binding,
                                                      to == nullptr
                                                          ? "the set's layout has no such binding"
                                                          : "it is not an inline uniform block"));
  }
  const uint32_t size = CountOf(*to);
  if (offset > size || bytes.size() > size - offset) {
    return absl::OutOfRangeError(absl::StrFormat(
        "binding %d: %d bytes at offset %d are not within an inline uniform block of %d bytes",
        binding, bytes.size(), offset, size));
  }
  if (offset % 4 != 0 || bytes.size() % 4 != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "binding %d: %d bytes at offset %d; both must be multiples of 4 for inline uniform blocks",
        binding, bytes.size(), offset));
  }
  if (!bytes.empty()) std::memcpy(RecordAt(*to, offset), bytes.data(), bytes.size());
  return absl::OkStatus();
}

// -- Copying ------------------------------------------------------------------------------------

absl::Status DescriptorSetStorage::CheckCopy(const DescriptorSetStorage& from,
                                             const Binding& source, uint32_t from_element,
                                             const Binding& to, uint32_t element,
                                             uint32_t count) const {
  if (from.setup_ != setup_) {
    return Wrong(to.binding, element, "the other set is of another model, or has other bases");
  }
  if (from_element > from.CountOf(source) || count > from.CountOf(source) - from_element) {
    return absl::OutOfRangeError(
        absl::StrCat(At(source.binding, from_element),
                     absl::StrFormat("%d elements cannot be copied from here: the binding has %d",
                                     count, from.CountOf(source))));
  }
  if (element > CountOf(to) || count > CountOf(to) - element) {
    return absl::OutOfRangeError(
        absl::StrCat(At(to.binding, element),
                     absl::StrFormat("%d elements cannot be copied to here: the binding has %d",
                                     count, CountOf(to))));
  }
  if (&from == this && &source == &to && from_element < uint64_t{element} + count &&
      element < uint64_t{from_element} + count) {
    return Wrong(to.binding, element,
                 "%d elements cannot be copied from element %d on: source and target overlap",
                 count, from_element);
  }
  const bool is_inline = to.type == DescriptorType::kInlineUniformBlock;
  if (is_inline != (source.type == DescriptorType::kInlineUniformBlock)) {
    return Wrong(to.binding, element, "it is of type %s, but the source is of type %s",
                 NameOf(to.type), NameOf(source.type));
  }
  if (is_inline) {
    if (from_element % 4 == 0 && element % 4 == 0 && count % 4 == 0) return absl::OkStatus();
    return Wrong(to.binding, element,
                 "%d bytes from offset %d on; inline uniform blocks are copied in whole dwords",
                 count, from_element);
  }
  if (to.planes != source.planes) {
    return Wrong(to.binding, element, "elements of %d planes cannot be copied to elements of %d",
                 source.planes, to.planes);
  }
  if (to.immutable_samplers && to.type == DescriptorType::kSampler) {
    return Wrong(to.binding, element, "its samplers are immutable");
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Slot& slot = from.slots_[source.first_slot + uint64_t{from_element + i} * source.planes];
    const DescriptorType type =
        slot.written || source.type == DescriptorType::kMutable ? slot.type : source.type;
    // An element that was never written may be copied, and is then unwritten here, too.
    if (type != DescriptorType::kMutable && !to.Takes(type)) {
      return Wrong(to.binding, element + i, "it is of type %s, but the source is of type %s",
                   NameOf(to.type), NameOf(type));
    }
  }
  return absl::OkStatus();
}

void DescriptorSetStorage::CopyItem(const DescriptorSetStorage& from, const Binding& source,
                                    uint64_t from_item, const Binding& to, uint64_t item) {
  Slot slot = from.slots_[source.first_slot + from_item];
  if (!slot.written) {
    slots_[to.first_slot + item] = Slot();
    return;
  }
  const DescriptorRecord record = RecordFor(to, slot.type);
  const bool sampler = HasSampler(slot.type) && !to.immutable_samplers;
  uint32_t bytes = record.bytes;
  if (HasSampler(slot.type) && !sampler) {
    if (record.form == RecordForm::kHandles) bytes = offsetof(HandlesRecord, sampler);
    if (record.form == RecordForm::kSurfaceAndSampler) bytes = kSamplerBehindSurface;
  }
  if (bytes != 0) std::memcpy(RecordAt(to, item), from.RecordAt(source, from_item), bytes);
  if (record.surface_bytes != 0) {
    std::memcpy(SurfaceAt(to, item), from.SurfaceAt(source, from_item), kSurfaceStateBytes);
  }
  if (sampler) {
    const DescriptorSampler& state = from.samplers_[source.first_sampler_slot + from_item];
    samplers_[to.first_sampler_slot + item] = state;
    if (record.sampler_bytes != 0) Put(state.state, SamplerAt(to, item));
  }
  if (IsDynamic(slot.type)) {
    dynamics_[to.first_dynamic + item] = from.dynamics_[source.first_dynamic + from_item];
  }
  if (HasView(slot.type) || IsBuffer(slot.type)) {
    slot.surface = EntryFor(to, item, record, slot.surface);
  }
  slots_[to.first_slot + item] = slot;
}

absl::Status DescriptorSetStorage::CopyFrom(const DescriptorSetStorage& from, uint32_t from_binding,
                                            uint32_t from_element, uint32_t binding,
                                            uint32_t element, uint32_t count) {
  const Binding* const source = from.layout_->Find(from_binding);
  const Binding* const to = layout_->Find(binding);
  if (source == nullptr) return from.Refuse(from_binding, from_element, DescriptorType::kMutable);
  if (to == nullptr) return Refuse(binding, element, DescriptorType::kMutable);
  if (absl::Status status = CheckCopy(from, *source, from_element, *to, element, count);
      !status.ok()) {
    return status;
  }
  if (to->type == DescriptorType::kInlineUniformBlock) {
    if (count != 0) {
      std::memcpy(RecordAt(*to, element), from.RecordAt(*source, from_element), count);
    }
    return absl::OkStatus();
  }
  const uint64_t planes = to->planes;
  for (uint64_t i = 0; i < count * planes; ++i) {
    CopyItem(from, *source, from_element * planes + i, *to, element * planes + i);
  }
  return absl::OkStatus();
}

// -- Handles ------------------------------------------------------------------------------------

absl::StatusOr<const DescriptorSetStorage::Slot*> DescriptorSetStorage::Written(
    uint32_t binding, uint32_t element, uint32_t plane) const {
  const Binding* const found = layout_->Find(binding);
  if (found == nullptr || element >= CountOf(*found) ||
      found->type == DescriptorType::kInlineUniformBlock) {
    return Refuse(binding, element, DescriptorType::kMutable);
  }
  if (plane >= found->planes) {
    return absl::OutOfRangeError(
        absl::StrCat(At(binding, element), "plane ", plane, " of ", found->planes));
  }
  if (!found->record.bindless) {
    return Wrong(binding, element, "in the %s model type %s is reached through a table only",
                 NameOf(setup_->model), NameOf(found->type));
  }
  const Slot& slot = slots_[found->first_slot + uint64_t{element} * found->planes + plane];
  if (!slot.written) {
    return absl::FailedPreconditionError(
        absl::StrCat(At(binding, element), "it was never written"));
  }
  return &slot;
}

absl::StatusOr<uint32_t> DescriptorSetStorage::SurfaceHandle(uint32_t binding, uint32_t element,
                                                             uint32_t plane) const {
  const absl::StatusOr<const Slot*> slot = Written(binding, element, plane);
  if (!slot.ok()) return slot.status();
  if (!HasView((*slot)->type) && !IsBuffer((*slot)->type)) {
    return Wrong(binding, element, "type %s has no surface", NameOf((*slot)->type));
  }
  const absl::StatusOr<uint32_t> handle = setup_->SurfaceHandle((*slot)->surface);
  return handle.ok() ? handle : Within(binding, element, handle.status());
}

absl::StatusOr<uint32_t> DescriptorSetStorage::SamplerHandle(uint32_t binding, uint32_t element,
                                                             uint32_t plane) const {
  const absl::StatusOr<const Slot*> slot = Written(binding, element, plane);
  if (!slot.ok()) return slot.status();
  if (!HasSampler((*slot)->type)) {
    return Wrong(binding, element, "type %s has no sampler", NameOf((*slot)->type));
  }
  const Binding& found = *layout_->Find(binding);
  const uint64_t item = uint64_t{element} * found.planes + plane;
  if (setup_->model == DescriptorModel::kDirect) {
    return static_cast<uint32_t>(memory_.samplers_offset + found.sampler_offset +
                                 item * found.sampler_stride);
  }
  if (setup_->model == DescriptorModel::kIndirect) {
    return samplers_[found.first_sampler_slot + item].offset;
  }
  const uint64_t at =
      memory_.records_address + found.record_offset + item * found.record_stride +
      ((*slot)->type == DescriptorType::kCombinedImageSampler ? kSamplerBehindSurface : 0) -
      setup_->sampler_base;
  if (at > std::numeric_limits<uint32_t>::max()) {
    return Wrong(binding, element, "the sampler is out of reach of the base of samplers, 0x%x",
                 setup_->sampler_base);
  }
  return static_cast<uint32_t>(at);
}

// A serial is the maker's number and a count.
constexpr unsigned kCountBits = 40;

uint64_t NewDescriptorSetSerials() {
  static std::atomic<uint64_t> makers{1};
  return makers.fetch_add(1, std::memory_order_relaxed) << kCountBits;
}

bool SameMaker(uint64_t a, uint64_t b) { return a >> kCountBits == b >> kCountBits; }

absl::Status DescriptorSet::Gone() {
  return absl::FailedPreconditionError(
      "the descriptor set was freed, or its pool reset: allocate another one");
}

absl::Status DescriptorSet::NotWritable() const {
  if (!live()) return Gone();
  return absl::FailedPreconditionError(
      "the descriptor set was pushed, and cannot be changed: PushDescriptors::Write() changes the "
      "next one");
}

// -- Descriptor buffers -------------------------------------------------------------------------

absl::StatusOr<uint32_t> WriteDescriptor(const DescriptorSetup& setup, const Descriptor& descriptor,
                                         absl::Span<uint8_t> to) {
  const DescriptorType type = descriptor.type;
  const DescriptorRecord record = RecordOf(DescriptorModel::kBuffer, type);
  if (record.bytes == 0 || type == DescriptorType::kInlineUniformBlock) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a descriptor buffer cannot have records of type %s", NameOf(type)));
  }
  if (to.size() < record.bytes) {
    return absl::OutOfRangeError(absl::StrFormat("%d bytes for a record of type %s, which needs %d",
                                                 to.size(), NameOf(type), record.bytes));
  }
  if (const char* mistake = Mistake(descriptor, /*immutable=*/false)) {
    return absl::InvalidArgumentError(absl::StrFormat("type %s: %s", NameOf(type), mistake));
  }
  if (!IsBuffer(type) && type != DescriptorType::kAccelerationStructure) {
    PutRecord(record.form, setup, descriptor.images, descriptor.samplers, HasView(type), to.data());
    return record.bytes;
  }
  const absl::StatusOr<Bytes> bytes = BytesOf(descriptor.buffer);
  if (!bytes.ok()) return bytes.status();
  if (record.form == RecordForm::kAddress) {
    Put(AddressRecord{bytes->address, static_cast<uint32_t>(bytes->size)}, to.data());
    return record.bytes;
  }
  SurfaceDwords state = setup.null_state;
  if (bytes->address != 0) {
    const absl::Status status = setup.WriteBuffer(type, bytes->address, bytes->size, state);
    if (!status.ok()) return status;
  }
  Put(state, to.data());
  return record.bytes;
}

}  // namespace packsmith::intel
