// What the parts of the decoder share: the tables and what is computed from them, the submission at
// hand, and the place in it.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_WALK_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_WALK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/fault_finder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/part_finder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/context_state.h"
#include "runtime/decode/walk/drawn_data.h"
#include "runtime/decode/walk/emitter.h"
#include "runtime/decode/walk/limits.h"
#include "runtime/decode/walk/memory_view.h"
#include "runtime/decode/walk/overlay.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/table_actions.h"
#include "runtime/decode/walk/table_strings.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class BoundSettings;
class DrawData;
class Follower;
class Pointers;
class RecordShower;
class Residency;
class Streams;
class TracePlayer;

// What earlier packets of a context have left.
struct Context {
  ContextState state;
  Ahead ahead;
  DrawnData drawn;
  std::vector<Settings> settings;  // by stream; only with Options::bound
};

struct Walk {
  // All must outlive this.
  Walk(const tables::Tables& tables, Sink& sink, const Options& options)
      : tables(tables),
        options(options),
        address_mask(tables.address_mask()),
        actions(AnalyzeTables(tables, options.brief ? 0 : options.deepest_pointer)),
        parts(tables),
        fault_finder(tables, parts),
        shapes(tables),
        strings(tables),
        out(tables, strings, sink, options),
        limits(out) {}

  bool FollowsAll() const { return options.follow == Follow::kAll; }
  bool UsesShapes() const { return options.shapes && !options.brief; }
  ContextState& state() const { return context->state; }
  // Few: one for each stream and engine that a dump uses.
  tables::PacketFinder& FinderOf(uint32_t of_stream, uint64_t of_engines) {
    for (const std::unique_ptr<tables::PacketFinder>& finder : finders) {
      if (finder->stream() == of_stream && finder->engines() == of_engines) return *finder;
    }
    finders.push_back(
        std::make_unique<tables::PacketFinder>(tables, of_stream, of_engines, actions.marks));
    return *finders.back();
  }
  // Whether one more structure or piece of data is within the limit; else reports a problem.
  bool MayFollow(uint64_t bytes) {
    if (costs.structs >= costs.most_structs) {
      limits.Report(Limit::kStructs, [&] {
        return absl::StrCat("stopped following pointers at the packet at ", ShowAddress(here),
                            ", after ", costs.most_structs,
                            " structures, the limit for a dump of this size; unpack "
                            "--max-structs=N allows more");
      });
      return false;
    }
    costs.structs += 1 + bytes / 1024;
    return true;
  }

  const tables::Tables& tables;
  const Options options;
  const uint64_t address_mask;  // of the tables
  const TableActions actions;
  PartFinder parts;
  FaultFinder fault_finder;
  ShapeCache shapes;
  std::vector<std::unique_ptr<tables::PacketFinder>> finders;
  TableStrings strings;
  Emitter out;
  LimitReports limits;

  // The parts; set before the first dump.
  Pointers* pointers = nullptr;
  Residency* residency = nullptr;
  RecordShower* shower = nullptr;
  Follower* follower = nullptr;
  DrawData* draw_data = nullptr;
  Streams* streams = nullptr;
  TracePlayer* traces = nullptr;
  BoundSettings* bound_settings = nullptr;  // null without Options::bound

  // Of the submission at hand.
  MemoryView memory;
  const Dump* complete = nullptr;  // the dump at hand, if it has all memory that may be used
  Context* context = nullptr;
  Overlay overlay;
  Costs costs;
  uint64_t engines = ~uint64_t{0};
  uint32_t own_space = 0;
  // The beginning of a bare batch (0 by default): pointers to it, except those to streams, are
  // null. kNoAddress for other batches.
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  uint64_t bare_begin = kNoAddress;

  // Of the packet at hand.
  uint32_t stream = 0;
  uint64_t here = 0;               // its address
  bool looked_ahead = false;       // context->ahead is the packet's
  std::vector<Stored> stored;      // in it, by earlier packets
  uint32_t nested_streams = 0;     // that it is in
  uint32_t guesses = 0;            // tables of unknown length that the record at hand is in
  const Setting* bound = nullptr;  // is being shown once more, with what it points to

  // Of the record at hand.
  uint64_t record = 0;  // its address, while its pointers are checked
  std::vector<Fault> faults;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_WALK_H_
