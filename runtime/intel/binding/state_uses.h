// The buffers that the addresses of a state point to. Batches record those of packets by
// themselves; a state is in memory, and the code that binds it must pass its buffers to the batch.
//
//   StateUses uses;
//   absl::Status status = WriteSurface<Gfx9>(texture, dwords, &uses);
//   for (const BufferUse& use : uses.all()) batch.Use(use.buffer, use.flags);
//
// For kernels that move memory, the words that hold the addresses are noted as well:
//
//   status = relocations.AddState(uses, state.buffer, state.address);  // gpu::RelocationList

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"

namespace packsmith::intel {

class StateUses {
 public:
  // The most addresses of a state.
  static constexpr size_t kMost = 4;

  // A word of the state that holds the address of a buffer, or the lower half of it.
  struct Word {
    uint32_t dword = 0;  // in the state
    uint32_t value = 0;  // as packed, with the other fields of the dword
  };

  absl::Span<const gpu::BufferUse> all() const { return absl::MakeConstSpan(uses_.data(), size_); }
  // Of each of all().
  absl::Span<const Word> words() const { return absl::MakeConstSpan(words_.data(), size_); }

  void Clear() { size_ = 0; }
  // Takes the buffers of the addresses of a state that was packed to `dwords`.
  template <class S>
  void SetFrom(const S& state, const uint32_t* dwords) {
    Clear();
    const auto note = [&](const address& a, unsigned dword, unsigned, unsigned, access how) {
      if (a.buffer == 0 || size_ >= kMost) return;
      words_[size_] = {dword, dwords[dword]};
      uses_[size_++] = {a.buffer, gpu::UseOf(how)};
    };
    bits::addresses(state, note);
  }

 private:
  std::array<gpu::BufferUse, kMost> uses_ = {};
  std::array<Word, kMost> words_ = {};
  size_t size_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_STATE_USES_H_
