// Runs one batch from another: copied, as a second-level batch, or called with a return address
// that the caller writes. Rules, which are data, choose.
//
//   Batch<Gfx9> secondary(chunks);
//   …
//   const absl::StatusOr<address> slot = secondary.EndReturning();
//   EmitSecondary<Gfx9>(batch, {secondary, *slot});
//
// How a secondary ends decides what is possible: a batch with BatchOptions::second_level can be
// called as such, or copied unless it stays in place (BatchCore::StayInPlace()); one that ended
// with EndReturning() is called with a return address.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_SECONDARIES_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_SECONDARIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/generated_draws.h"

namespace packsmith::intel {

enum class SecondaryWay : uint8_t {
  kCopied,       // its packets become the caller's
  kSecondLevel,  // called; the hardware keeps the return address
  kReturning,    // called by a jump; the caller stores the return address in its end
};
const char* NameOf(SecondaryWay way);

// A caller and a secondary.
struct SecondaryTraits {
  size_t dwords = 0;            // the secondary's packets
  bool stays_in_place = false;  // it cannot be copied
  bool second_level = false;    // BatchOptions::second_level of the secondary
  bool returning = false;       // it ended with EndReturning()
  bool caller_second_level = false;
  // BatchOptions::relocations of the caller, where addresses of 8 bytes cannot be stored then.
  bool caller_cannot_store = false;
};

// The way, for secondaries of at most this many dwords.
struct SecondaryRule {
  SecondaryWay way = SecondaryWay::kCopied;
  size_t most_dwords = ~size_t{0};
};
// Copying costs bandwidth once more, calls cost the streamer its prefetched packets; a stored
// return address allows one caller at a time, and costs a store. Small batches are copied, as
// Mesa's anv does.
inline constexpr SecondaryRule kSecondaryRules[] = {
    {SecondaryWay::kCopied, 1024},
    {SecondaryWay::kSecondLevel},
    {SecondaryWay::kReturning},
    {SecondaryWay::kCopied},
};

// Why a way is impossible; null if it is possible.
const char* Obstacle(SecondaryWay way, const SecondaryTraits& traits);
// The way of the first rule that applies and is possible. FailedPrecondition, with what
// prevents each, if there is none.
absl::StatusOr<SecondaryWay> ChooseSecondaryWay(
    const SecondaryTraits& traits, absl::Span<const SecondaryRule> rules = kSecondaryRules);

template <class Gen>
struct SecondaryBatch {
  const Batch<Gen>& batch;  // has ended
  // Of EndReturning().
  std::optional<address> return_slot = std::nullopt;
};

template <class Gen>
SecondaryTraits TraitsOf(const Batch<Gen>& caller, const SecondaryBatch<Gen>& secondary) {
  return {
      .dwords = secondary.batch.dwords(),
      .stays_in_place = secondary.batch.stays_in_place(),
      .second_level = secondary.batch.is_second_level(),
      .returning = secondary.return_slot.has_value(),
      .caller_second_level = caller.is_second_level(),
      .caller_cannot_store = caller.has_relocations() && !BatchCommandsOf<Gen>::kShortAddresses};
}

// Emits the secondary's execution; returns the way that was taken. Errors of ChooseSecondaryWay(),
// and what the batch refuses; the batch's status() has them, too. Caches, and state that the
// secondary sets, are the caller's.
//
// From Gfx12 on the pre-parser is off during a returning secondary, unless that turns it on: emit
// PreParser<Gen>(true) as its first packet.
template <class Gen>
absl::StatusOr<SecondaryWay> EmitSecondary(
    Batch<Gen>& batch, const SecondaryBatch<Gen>& secondary,
    absl::Span<const SecondaryRule> rules = kSecondaryRules) {
  absl::StatusOr<SecondaryWay> way = ChooseSecondaryWay(TraitsOf(batch, secondary), rules);
  if (!way.ok()) {
    batch.Refuse(way.status());
    return way;
  }
  if (*way == SecondaryWay::kCopied) {
    if (!batch.Append(secondary.batch)) return batch.status();
    return way;
  }
  if (!secondary.batch.ended()) {
    absl::Status status = absl::FailedPreconditionError(
        "a batch that is called must have ended: call its End() or EndReturning()");
    batch.Refuse(status);
    return status;
  }
  const gpu::Chunk& chunk = secondary.batch.parts()[0].chunk;
  const address begin(chunk.gpu, chunk.buffer);
  if (*way == SecondaryWay::kSecondLevel) {
    if (!batch.Call(begin)) return batch.status();
  } else {
    const auto turn = [&](bool enable) {
      bool good = true;
      for (const auto& packet : PreParser<Gen>(enable)) good &= batch.Emit(packet);
      return good;
    };
    if (!turn(false) || !batch.CallReturning(begin, *secondary.return_slot) || !turn(true)) {
      return batch.status();
    }
  }
  for (const gpu::BufferUse& use : secondary.batch.uses().all()) batch.Use(use.buffer, use.flags);
  return way;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_SECONDARIES_H_
