// A set that is written while commands are recorded, and takes transient memory.
//
//   auto push = PushDescriptors::Create(setup, layout, {.records = &stream, .surfaces =
//   &surfaces}); absl::Status status = (*push)->Write(0, 0, {.type =
//   DescriptorType::kUniformBuffer, ...}); absl::StatusOr<DescriptorSet> set = (*push)->Flush(); //
//   before the draw: to be bound
//
// Writes go to the CPU's memory. Flush() puts the whole set where the GPU reads it, at a new place
// each time that something has changed: draws that were recorded before have theirs.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PUSH_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PUSH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/lifetime.h"
#include "runtime/intel/binding/descriptor_layout.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/intel/binding/descriptor_setup.h"
#include "runtime/intel/binding/kept.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// Not thread-safe.
class PushDescriptors {
 public:
  // Of pools that the setup's bases reach. Null where the layout needs none.
  struct Streams {
    gpu::StateStream* records = nullptr;
    gpu::StateStream* samplers = nullptr;
    gpu::StateStream* surfaces = nullptr;
  };

  // InvalidArgument for a layout that is not one to be pushed, or is of another model, and for a
  // stream that is missing. `setup` and the streams must outlive the result.
  static absl::StatusOr<std::unique_ptr<PushDescriptors>> Create(const DescriptorSetup& setup,
                                                                 DescriptorSetLayoutPtr layout,
                                                                 const Streams& streams);

  // As DescriptorSet::Write(). The sets that Flush() returned are gone after it.
  absl::Status Write(uint32_t binding, uint32_t element, const Descriptor& descriptor);

  // The set as it is now, good until the next Write(). Without one since the last time it is the
  // same as then. Errors of the streams, or FailedPrecondition for what is out of reach of its
  // base: then the set is as it was, though the streams may have given memory away.
  absl::StatusOr<DescriptorSet> Flush();

  // The streams were rewound: what was flushed is gone, and the next Flush() takes new memory.
  void Forget() { storage_->Suspend(); }

 private:
  PushDescriptors(const DescriptorSetup& setup, const Streams& streams);

  Lifetime lifetime_{"pushed descriptors"};
  const Reference<const DescriptorSetup> setup_;
  const Streams streams_;
  std::optional<Reference<gpu::StateStream>> references_[3];  // to these
  std::vector<uint8_t> records_, samplers_, surfaces_;
  Kept<DescriptorSetStorage> storage_ = TakeKept<DescriptorSetStorage>();  // handles lead to it
  uint64_t next_serial_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PUSH_H_
