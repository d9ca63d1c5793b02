// A set that is written while commands are recorded, in transient memory.
//
//   auto push = PushDescriptors::Create(setup, layout,
//                                       {.records = &stream, .surfaces = &surfaces});
//   absl::Status status =
//       (*push)->Write(0, 0, {.type = DescriptorType::kUniformBuffer, ...});
//   absl::StatusOr<DescriptorSet> set = (*push)->Flush();   // to be bound before the draw
//
// Writes go to CPU memory. Flush() copies the whole set to GPU memory, to a new place whenever
// something has changed: draws that were recorded before keep theirs.

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
#include "runtime/intel/binding/type_stable.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// Not thread-safe.
class PushDescriptors {
 public:
  // Streams of pools that the setup's bases reach. Null if the layout needs none.
  struct Streams {
    gpu::StateStream* records = nullptr;
    gpu::StateStream* samplers = nullptr;
    gpu::StateStream* surfaces = nullptr;
  };

  // InvalidArgument for a layout that is not a push layout, or of another model, and for a missing
  // stream. `setup` and the streams must outlive the result.
  static absl::StatusOr<std::unique_ptr<PushDescriptors>> Create(const DescriptorSetup& setup,
                                                                 DescriptorSetLayoutPtr layout,
                                                                 const Streams& streams);

  // As DescriptorSet::Write(). Sets that Flush() returned become invalid.
  absl::Status Write(uint32_t binding, uint32_t element, const Descriptor& descriptor);

  // The set as it is now, valid until the next Write(). Without a write since the last call it is
  // the same set. Errors of the streams, or FailedPrecondition if memory is out of reach of its
  // base: then the set is unchanged, but the streams may have allocated memory.
  absl::StatusOr<DescriptorSet> Flush();

  // After the streams were rewound: flushed sets become invalid, and the next Flush() allocates new
  // memory.
  void Forget() { storage_->Suspend(); }

 private:
  PushDescriptors(const DescriptorSetup& setup, const Streams& streams);

  Lifetime lifetime_{"pushed descriptors"};
  const Reference<const DescriptorSetup> setup_;
  const Streams streams_;
  std::optional<Reference<gpu::StateStream>> references_[3];  // to the streams
  std::vector<uint8_t> records_, samplers_, surfaces_;
  Kept<DescriptorSetStorage> storage_ = TakeKept<DescriptorSetStorage>();  // handles point to it
  uint64_t next_serial_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PUSH_H_
