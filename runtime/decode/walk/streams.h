// Walks streams packet by packet, with their jumps and calls.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_STREAMS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "runtime/decode/walk/frames.h"
#include "runtime/decode/walk/record_shower.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Streams {
 public:
  // `walk` must outlive this.
  explicit Streams(Walk& walk);

  // Shows the packets of a stream from the beginning of the frame on, and all that they point to,
  // below the record `parent`.
  void Show(uint32_t stream, uint64_t engines, Frame frame, uint64_t parent);
  // Notes the structures that a packet ahead of the one at hand points to, if expressions use their
  // fields.
  void NoteTargets(uint32_t packet, absl::Span<const uint8_t> bytes, uint64_t address);

  // For a dump: whether to keep the places that streams begin at, and jump to.
  void KeepReached(bool keep);
  void AddReached(uint32_t space, uint64_t address);
  bool IsReached(uint32_t space, uint64_t address) const {
    return reached_.contains({space, address});
  }

 private:
  // A stream that is being walked.
  struct Position {
    uint32_t stream;
    uint64_t engines;
    uint64_t align;  // of packets, bytes
    tables::PacketFinder& finder;
    // Records of traces are neither reported as leads nor kept as settings.
    bool traces;
    Frames frames;
    std::vector<uint8_t> scratch, patched;
    // The packet that is shown, with the parent of all. (Kept: to clear one for each packet takes
    // as long as to find it.)
    Shown packet;
  };

  // With Options::brief: passes over packets that require nothing of the decoder, within one piece
  // of memory.
  void WalkBriefly(const Position& at, Frame& frame);
  // The packet with which `window` begins. False: the stream ends here.
  bool ShowPacket(Position& at, uint32_t container, absl::Span<const uint8_t> window);
  // The bytes of a packet with what was stored in them; fills Walk::stored.
  absl::Span<const uint8_t> Patched(uint32_t space, uint64_t address,
                                    absl::Span<const uint8_t> bytes, std::vector<uint8_t>& scratch);
  // Reads later packets of the same draw, and the structures that they point to.
  void LookAhead(const Position& at, const Frame& frame);
  // Shows dwords that no packet matches, up to the next plausible packet. Returns their bytes.
  uint64_t ShowUnknown(const Position& at, const Frame& frame);
  // Whether a known packet is here, and after it another one or the end.
  bool IsPlausible(const Position& at, absl::Span<const uint8_t> bytes) const;
  // Whether skipping unknown packets by the lengths that the stream declares for them reaches a
  // known one, or the end.
  bool ReachesPacket(const Position& at, absl::Span<const uint8_t> bytes) const;
  // Reports that a frame ends without a packet that ends it.
  void ReportEnd(const Frame& frame, size_t depth);
  // Applies the flow of a packet to the frames. False: the stream ends here.
  bool Flow(const tables::Container& container, absl::Span<const uint8_t> bytes, uint64_t next,
            Frames& frames);
  // The target of a jump or call at `here`; reports one that no pointer has checked.
  Target TargetOf(const tables::Flow& flow, const tables::Container& container, const Scope& scope,
                  absl::Span<const uint8_t> bytes, uint64_t here);
  void Call(uint64_t here, const Target& target, Frames& frames);
  void Jump(uint64_t here, const Target& target, bool maybe, Frames& frames);
  // The last frame's path has ended. It continues at targets of jumps that may have been taken, or
  // is done.
  void Leave(Frames& frames);

  Walk& walk_;
  const tables::Tables& tables_;
  const Options& options_;
  absl::flat_hash_set<std::pair<uint32_t, uint64_t>> reached_;
  bool keeps_reached_ = false;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_STREAMS_H_
