// What each container requires of the decoder besides being shown, computed once from the tables,
// so that most records cost nothing more.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_TABLE_ACTIONS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_TABLE_ACTIONS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/decode/fields/fields.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// The bits of TableActions::marks.
enum Mark : uint8_t { kDraw = 1, kDispatch = 2, kBusy = 4 };

struct Actions {
  bool pointers = false;
  bool asks_state = false;  // a pointer's count or size is in another packet, or in its target
  bool sets_or_writes = false;
  bool remembered = false;  // expressions of other records use its fields
  bool parts_remembered = false;
  bool points_to_remembered = false;  // pointers of its fixed part, to structures
  bool describes_data = false;        // sets slots or elements that draws read
  uint32_t memory = 0;                // if `remembered`: its number in ContextState
};

struct TableActions {
  std::vector<Actions> of;     // by container
  uint32_t memories = 0;       // one more than the largest Actions::memory
  std::vector<bool> drawn;     // by kind of data: draws read it
  std::vector<uint8_t> marks;  // by container, for PacketFinder

  // Calls visit(memory, byte, size) for the parts of a record that are remembered.
  template <class Visit>
  void ForEachRemembered(const tables::Tables& tables, uint32_t container, const RecordView& record,
                         const Visit& visit) const {
    if (of[container].remembered) visit(of[container].memory, 0, record.bytes.size());
    if (!of[container].parts_remembered) return;
    for (const PlacedPart& placed : record.parts) {
      const uint32_t part = placed.part->container;
      if (!of[part].remembered) continue;
      // The last of several, which may be cut.
      const uint64_t bytes = tables.container(part).bytes;
      const uint64_t at = placed.bit / 8 + (placed.count - 1) * bytes;
      visit(of[part].memory, at, std::min(bytes, record.bytes.size() - at));
    }
  }
};

// `deepest_pointer`: structures at most this deep are followed, and count for `asks_state`.
TableActions AnalyzeTables(const tables::Tables& tables, uint32_t deepest_pointer);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_TABLE_ACTIONS_H_
