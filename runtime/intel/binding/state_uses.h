// The buffers that the addresses of a state point to. Batches record those of packets by
// themselves; a state is in memory, and the code that binds it must pass its buffers to the batch.
//
//   StateUses uses;
//   absl::Status status = WriteSurface<Gfx9>(texture, dwords, &uses);
//   for (const BufferUse& use : uses.all()) batch.Use(use.buffer, use.flags);

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_

#include <array>
#include <cstddef>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"

namespace packsmith::intel {

class StateUses {
 public:
  // The most addresses of a state.
  static constexpr size_t kMost = 4;

  absl::Span<const gpu::BufferUse> all() const { return absl::MakeConstSpan(uses_.data(), size_); }

  void Clear() { size_ = 0; }
  // Takes the buffers of a state's addresses.
  template <class S>
  void SetFrom(const S& state) {
    Clear();
    const auto note = [&](const address& a, unsigned, unsigned, unsigned, access how) {
      if (a.buffer != 0 && size_ < kMost) uses_[size_++] = {a.buffer, gpu::UseOf(how)};
    };
    bits::addresses(state, note);
  }

 private:
  std::array<gpu::BufferUse, kMost> uses_ = {};
  size_t size_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_
