#include "runtime/intel/binding/descriptor_push.h"

#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

struct Piece {
  gpu::State state;
  uint32_t offset = 0;  // from the base
};

// `reached`: by offsets from the base.
absl::StatusOr<Piece> Take(gpu::StateStream* stream, uint64_t bytes, uint64_t base, bool reached,
                           const char* what) {
  if (bytes == 0) return Piece();
  const absl::StatusOr<gpu::State> state = stream->Allocate(bytes, kSetAlignment);
  if (!state.ok()) return state.status();
  const uint64_t offset = state->address - base;
  if (reached && offset > (uint64_t{1} << 32) - bytes) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s of pushed descriptors at 0x%x are out of reach of their base, 0x%x",
                        what, state->address, base));
  }
  return Piece{*state, static_cast<uint32_t>(offset)};
}

}  // namespace

PushDescriptors::PushDescriptors(const DescriptorSetup& setup, const Streams& streams)
    : setup_(setup, lifetime_), streams_(streams), next_serial_(NewDescriptorSetSerials()) {
  gpu::StateStream* const all[] = {streams.records, streams.samplers, streams.surfaces};
  for (size_t i = 0; i < std::size(all); ++i) {
    if (all[i] != nullptr) references_[i].emplace(*all[i], lifetime_);
  }
}

absl::StatusOr<std::unique_ptr<PushDescriptors>> PushDescriptors::Create(
    const DescriptorSetup& setup, DescriptorSetLayoutPtr layout, const Streams& streams) {
  if (layout == nullptr || !layout->push() || layout->model() != setup.model) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "pushed descriptors need a push layout of the %s model", NameOf(setup.model)));
  }
  const DescriptorSetSizes& sizes = layout->sizes();
  const auto missing = [](uint64_t bytes, const gpu::StateStream* stream) {
    return bytes != 0 && stream == nullptr;
  };
  const char* const lacks = missing(sizes.record_bytes, streams.records)     ? "records"
                            : missing(sizes.sampler_bytes, streams.samplers) ? "samplers"
                            : missing(sizes.surface_bytes, streams.surfaces) ? "surface states"
                                                                             : nullptr;
  if (lacks != nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat("the layout needs a stream for %s", lacks));
  }
  std::unique_ptr<PushDescriptors> push(new PushDescriptors(setup, streams));
  push->records_.resize(sizes.record_bytes);
  push->samplers_.resize(sizes.sampler_bytes);
  push->surfaces_.resize(sizes.surface_bytes);
  const DescriptorSetMemory shadow{.records = push->records_.data(),
                                   .samplers = push->samplers_.data(),
                                   .surfaces = push->surfaces_.data()};
  const absl::Status status = push->storage_->Begin(setup, layout, layout->last_count(), shadow, 0);
  if (!status.ok()) return status;
  return push;
}

absl::Status PushDescriptors::Write(uint32_t binding, uint32_t element,
                                    const Descriptor& descriptor) {
  if (lifetime_.lost()) return lifetime_.status();
  const absl::Status status = storage_->Write(binding, element, descriptor);
  if (status.ok()) storage_->Suspend();
  return status;
}

absl::StatusOr<DescriptorSet> PushDescriptors::Flush() {
  if (lifetime_.lost()) return lifetime_.status();
  if (storage_->serial() != 0) return DescriptorSet(*storage_);
  const bool direct =
      setup_->model == DescriptorModel::kDirect || setup_->model == DescriptorModel::kBuffer;
  const absl::StatusOr<Piece> records =
      Take(streams_.records, records_.size(), setup_->surface_base, direct, "records");
  if (!records.ok()) return records.status();
  const absl::StatusOr<Piece> samplers =
      Take(streams_.samplers, samplers_.size(), setup_->sampler_base, true, "samplers");
  if (!samplers.ok()) return samplers.status();
  const absl::StatusOr<Piece> surfaces =
      Take(streams_.surfaces, surfaces_.size(), setup_->surface_base, true, "surface states");
  if (!surfaces.ok()) return surfaces.status();
  const absl::Status status = storage_->CopyTo({.records = records->state.cpu,
                                                .samplers = samplers->state.cpu,
                                                .surfaces = surfaces->state.cpu,
                                                .records_address = records->state.address,
                                                .records_offset = records->offset,
                                                .samplers_offset = samplers->offset,
                                                .surfaces_offset = surfaces->offset,
                                                .records_buffer = records->state.buffer,
                                                .samplers_buffer = samplers->state.buffer,
                                                .surfaces_buffer = surfaces->state.buffer},
                                               next_serial_);
  if (!status.ok()) return status;
  ++next_serial_;
  return DescriptorSet(*storage_);
}

}  // namespace packsmith::intel
