// A context's state from earlier packets: bases, and the packets whose fields others use. Changes
// can be taken back:
//
//   const ContextState::Checkpoint before = state.Mark();
//   state.Remember(memory, bytes);
//   state.RollBack(before);  // or Keep(before)
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_CONTEXT_STATE_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_CONTEXT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class ContextState {
 public:
  // A point in the journal; 0 if there is no other.
  using Checkpoint = size_t;

  // Keeps what there is. `memories`: TableActions::memories.
  void Resize(size_t bases, size_t memories) {
    bases_.resize(bases);
    remembered_.resize(memories);
  }

  // As packets have set them, for conditions.
  absl::Span<const std::optional<uint64_t>> bases() const { return bases_; }
  // The value of a base, or of the base that is used without it.
  std::optional<uint64_t> Base(const tables::Tables& tables, uint32_t base) const {
    // Each base is read at most once: descriptions may be circular.
    for (size_t i = 0; i < bases_.size() && base != tables::kNone; ++i) {
      if (bases_[base].has_value()) return bases_[base];
      base = tables.bases()[base].otherwise;
      if (base == tables::kZeroBase) return 0;
    }
    return std::nullopt;
  }
  void SetBase(uint32_t base, std::optional<uint64_t> value);

  // The last packet of a kind (Actions::memory); empty: there was none.
  absl::Span<const uint8_t> Remembered(uint32_t memory) const { return remembered_[memory]; }
  void Remember(uint32_t memory, absl::Span<const uint8_t> bytes) {
    if (absl::MakeConstSpan(remembered_[memory]) != bytes) Replace(memory, bytes);
  }
  // Bits of it, at most 64; empty if it has them not.
  std::optional<uint64_t> BitsOf(uint32_t memory, uint64_t bit, uint32_t width) const;

  // Differs after a change: what pointers point to must be computed anew.
  uint64_t changes() const { return changes_; }
  void Invalidate() { ++changes_; }

  // From here on, changes are journalled. Each Mark() is ended by one RollBack() or Keep(), the
  // last one first.
  Checkpoint Mark() {
    ++marks_;
    return journal_.size();
  }
  // All is as it was at the checkpoint, except changes().
  void RollBack(Checkpoint checkpoint);
  void Keep(Checkpoint checkpoint);

 private:
  // What there was before a change.
  struct Change {
    bool is_base;
    size_t number;  // of the base, or the memory
    std::optional<uint64_t> base;
    size_t bytes;  // number of bytes_, from the end
  };

  void Replace(uint32_t memory, absl::Span<const uint8_t> bytes);

  std::vector<std::optional<uint64_t>> bases_;
  std::vector<std::vector<uint8_t>> remembered_;
  uint64_t changes_ = 0;
  size_t marks_ = 0;
  std::vector<Change> journal_;
  std::vector<uint8_t> bytes_;
};

// Packets between the one at hand and the next draw, and structures that they point to. A pointer's
// target is read by the draw, and drivers set the pointer before they set the number of elements.
class Ahead {
 public:
  // Forgets what was read, and begins to read at an address.
  void Restart(uint32_t space, uint64_t address) {
    ++looks_;
    space_ = space;
    begin_ = address;
    end_ = address;
  }
  // Forgets it: the same addresses may hold other packets now.
  void Clear() { Restart(0, 0); }
  // All before `end` has been read.
  void EndAt(uint64_t end) { end_ = end; }
  bool Covers(uint32_t space, uint64_t address) const {
    return space == space_ && address >= begin_ && address < end_;
  }

  // `address`: of the packet, or of the packet that points to the structure.
  void Note(uint32_t container, absl::Span<const uint8_t> bytes, uint64_t address) {
    Noted& noted = noted_[container];
    noted.look = looks_;
    noted.address = address;
    noted.bytes.assign(bytes.begin(), bytes.end());
  }
  // What was noted at an address after `here`, or null.
  const std::vector<uint8_t>* Find(uint32_t container, uint64_t here) const {
    const auto found = noted_.find(container);
    const bool is_ahead =
        found != noted_.end() && found->second.look == looks_ && here < found->second.address;
    return is_ahead ? &found->second.bytes : nullptr;
  }
  // Calls visit(container, bytes) for all that was noted since the last Restart().
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [container, noted] : noted_) {
      if (noted.look == looks_) visit(container, absl::MakeConstSpan(noted.bytes));
    }
  }

 private:
  struct Noted {
    uint64_t look;  // by which it was found; results of earlier looks are ignored
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  absl::flat_hash_map<uint32_t, Noted> noted_;  // by container
  uint64_t looks_ = 0;
  uint32_t space_ = 0;
  uint64_t begin_ = 0, end_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_CONTEXT_STATE_H_
