// Whether what one part of an engine reads is what another part wrote before.
//
//   VisibilityTracker tracker(rules);
//   tracker.Write(ClientKind::kPostSync, {0, 0x2000, 8}, packet);
//   tracker.Read(ClientKind::kStreamer, {0, 0x2000, 4}, bytes, [&](const EarlyRead& early) { … });
//   tracker.BeginFence(stall);
//   tracker.EndFence(stall);
//   tracker.Read(…);  // nothing is reported
//
// It is told of writes, fences and reads in the order of the commands. Memory itself holds what was
// written last; the tracker keeps the bytes that were there before, for readers that do not see the
// write yet.
#ifndef PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_TRACKER_H_
#define PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_TRACKER_H_

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/sim/visibility/cache_times.h"
#include "runtime/sim/visibility/pending_writes.h"
#include "runtime/sim/visibility/visibility_rules.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// A part of a read that does not see what was written there.
struct EarlyRead {
  tables::ClientKind reader;
  const PendingWrite& write;
  MemoryRange range;
  const Missing& missing;
};

// Of one engine. Not thread-safe. Where more is written than is kept, what was written first is
// forgotten: it is not reported, and nothing wrong is.
class VisibilityTracker {
 public:
  using Report = absl::FunctionRef<void(const EarlyRead&)>;

  // `rules` must outlive this.
  explicit VisibilityTracker(const VisibilityRules& rules) : rules_(&rules) {}

  // Whether nobody can read anything too early.
  bool idle() const { return writes_.empty(); }
  size_t pending() const { return writes_.size(); }
  // Whether the bytes that a write replaces are worth reading: Read() gives them to the streamer.
  bool WantsOld(tables::ClientKind writer, uint64_t size) const {
    return !rules_->NeedOf(writer, tables::ClientKind::kStreamer).nothing() &&
           writes_.KeepsOld(size);
  }

  // `old`: what the streamer saw there before, or empty.
  void Write(tables::ClientKind writer, const MemoryRange& range, const WritingPacket& packet,
             absl::Span<const uint8_t> old = {});

  // A packet with cache actions; its own writes, which follow its flushes, come between the two.
  void BeginFence(tables::CacheActions actions) {
    if (!idle()) times_.Begin(actions);
  }
  void EndFence(tables::CacheActions actions) {
    if (!idle()) FinishFence(actions);
  }

  // Whether Read() would have to look, for the streamer and command fetch: cheap.
  bool MayBeEarly(tables::ClientKind reader, const MemoryRange& range) const {
    if (idle()) return false;
    const Hull& hull = hulls_[reader == tables::ClientKind::kCommands ? 1 : 0];
    return range.address < hull.end && PendingWrites::EndOf(range) > hull.begin;
  }
  // Calls `report` for each write in the range that the reader does not see, at most kMostReported
  // times. `bytes`, if not empty, are those of the range in memory: where older ones are kept, they
  // become these.
  static constexpr size_t kMostReported = 16;
  void Read(tables::ClientKind reader, const MemoryRange& range, absl::Span<uint8_t> bytes,
            Report report) const;

  // All that was written is visible to all: between requests.
  void Synchronize();

 private:
  // Where the streamer, or command fetch, may read too early.
  struct Hull {
    uint64_t begin = ~uint64_t{0}, end = 0;
    std::array<CacheTimes::Time, tables::kClientKinds> written = {};  // last, by client
  };
  static constexpr std::array<tables::ClientKind, 2> kQuick = {tables::ClientKind::kStreamer,
                                                               tables::ClientKind::kCommands};

  void FinishFence(tables::CacheActions actions);
  // The last time of which all see what the client wrote.
  CacheTimes::Time SeenByAll(tables::ClientKind writer) const;
  void Prune();

  const VisibilityRules* rules_;
  CacheTimes times_;
  PendingWrites writes_;
  std::array<Hull, 2> hulls_;  // of kQuick
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_TRACKER_H_
