// Rules about packets that belong together: required, committing and invalidating ones, state that
// a draw or dispatch requires, and invalidations of caches after bases have moved.
#ifndef PACKSMITH_RUNTIME_LINT_RELATION_RULES_H_
#define PACKSMITH_RUNTIME_LINT_RELATION_RULES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/cache_actions.h"
#include "runtime/lint/context.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Of one context.
struct RelationState {
  // A packet whose partners must have come by the next draw or dispatch.
  struct Open {
    uint32_t container;
    uint64_t number;  // of the packet
    uint64_t work;    // number of the last draw or dispatch before it that could have read it
    bool begins_batch;
    Place place;
  };
  // By container: what waits for its partners. At most one of a kind.
  absl::flat_hash_map<uint32_t, Open> open;
  // By container: the packet that has invalidated it, since it was set last.
  absl::flat_hash_map<uint32_t, Open> invalid;
  // By base: its value at the last draw or dispatch.
  absl::flat_hash_map<uint32_t, uint64_t> used;
  // By base: what has moved it since then, and what was done about that.
  struct Moved {
    uint64_t to = 0;
    uint64_t number = 0;  // of the packet
    Place place;
    tables::CacheActions done = 0;
  };
  absl::flat_hash_map<uint32_t, Moved> moved;
  // By Role: the number of the last such packet.
  std::array<uint64_t, 3> last_work = {};
  absl::flat_hash_set<uint32_t> reported;  // missing for draws and dispatches
  // By container of packets that point to programs: whether the last one lets any run.
  absl::flat_hash_map<uint32_t, bool> runs;
  // Packets and partners that were missing: of each pair, the first time is enough.
  absl::flat_hash_set<std::pair<uint32_t, uint32_t>> alone;
};

class RelationRules {
 public:
  // All must outlive this.
  RelationRules(const tables::Tables& tables, Alarms& alarms);

  // A packet of a stream, after it was counted in the context. `bases_before`: as they were.
  void OnPacket(const decode::Record& record, const Place& place, const CacheActionsDone& done,
                const Context& context, RelationState& state);
  // After the packet has set its bases.
  void OnBases(const decode::Record& record, const Place& place, const Context& context,
               RelationState& state);

 private:
  void CheckWork(const tables::Container& work, const Place& place, const Context& context,
                 RelationState& state);
  // Whether the work reads what the container sets.
  bool Serves(uint32_t container, const tables::Container& work) const;
  void CheckAllOpen(const tables::Container& work, const Context& context, RelationState& state);
  void CheckOpen(const RelationState::Open& open, const Context& context, RelationState& state);
  void CheckPartner(const RelationState::Open& open, uint32_t partner, const Context& context,
                    RelationState& state);
  void CheckInvalid(const tables::Container& work, const Context& context, RelationState& state);
  void CheckMoved(RelationState& state);
  void Invalidate(uint32_t by, const Place& place, const Context& context, RelationState& state);
  // Whether moving none of the bases leaves the container's pointers as they are.
  bool CountsFromMoved(uint32_t container, uint32_t by, const RelationState& state) const;
  // Whether the packet has pointers to programs; and if so, whether one counts.
  std::optional<bool> RunsPrograms(const decode::Record& record);
  // Whether packets have turned off all programs of the stage (a string of the tables).
  bool IsOff(uint32_t stage, const RelationState& state) const;

  const tables::Tables& tables_;
  Alarms& alarms_;
  std::vector<std::vector<uint32_t>> committers_;  // by container: packets that commit it
  std::vector<std::vector<uint32_t>> bases_of_;    // by container: bases that its pointers use
  std::vector<std::vector<uint32_t>> sets_;        // by container: bases that it sets
  std::vector<std::vector<uint32_t>> replacers_;   // by container: packets that set it, too
  std::vector<bool> is_fence_;                     // by container
  std::vector<uint32_t> readers_;                  // by base: a bit for each ClientKind
  // By container: the one stage that reads what its pointers point to, or kNone.
  std::vector<uint32_t> stage_of_;
  // By stage: packets that point to its programs.
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> programs_of_;
  decode::ChosenLeaves programs_;
  std::array<const tables::Client*, tables::kClientKinds> clients_{};
  std::vector<uint32_t> due_;  // what is checked now, kept for its memory
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_RELATION_RULES_H_
