// What a dump's streams say, kept for comparison: packets in the order of decoding, each with what
// its pointers reach.
//
//   Trail trail(tables);
//   const std::unique_ptr<decode::Sink> sink = MakeTrailSink(trail);
//   decode::Decoder decoder(tables, *sink, {.leads = true});
//   decoder.Decode(dump);
//   decoder.Finish();
#ifndef PACKSMITH_RUNTIME_COMPARE_TRAIL_H_
#define PACKSMITH_RUNTIME_COMPARE_TRAIL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::compare {

// A range of memory that is allocated as one, as far as the dump says: a named buffer, or a run of
// mapped memory. Other addresses are regions of their own.
struct Region {
  uint32_t space;
  uint64_t address;

  bool operator==(const Region&) const = default;
};

// An address that a field holds.
struct Address {
  std::string field;
  uint64_t bit;  // from the start of the record
  uint32_t width;
  uint32_t space;
  uint64_t address;
  uint32_t region;  // index in Trail::regions
  uint64_t offset;  // bytes from the start of the region
  bool is_batch;    // commands, which are packets of the trail themselves
  bool is_lead;     // a pointer in use; else a bare address
};

// A packet, structure, register, piece of data, or run of unknown dwords.
struct Item {
  decode::RecordType type = decode::RecordType::kPacket;
  const tables::Container* container = nullptr;
  std::string name;
  // How its parent reaches it: the field, empty if unknown, and the number in a table, or -1.
  std::string by;
  int64_t index = -1;
  uint32_t submission = 0;  // its index
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t draw = 0, dispatch = 0;
  uint64_t data_size = 0;
  // Of data, at most Trail::kMostBytes; else all.
  std::vector<uint8_t> bytes;
  std::vector<Address> addresses;  // in bit order of the fields
  std::vector<uint32_t> children;  // indices in Trail::items
  uint64_t key = 0;  // tells items of one name apart that must not be compared; 0: not needed
  // Hashes without addresses: of the item itself, and with all that it reaches.
  uint64_t own_hash = 0;
  uint64_t hash = 0;
};

// Packets and unknown dwords of one submission, or of the state of one draw.
struct Sequence {
  std::string engine, kind;     // as of decode's Submission
  uint32_t submission = 0;      // its index
  bool is_state = false;        // of a draw or dispatch: no stream
  std::vector<uint32_t> items;  // indices in Trail::items
};

class Trail {
 public:
  static constexpr size_t kMostBytes = 4096;

  explicit Trail(const tables::Tables& tables) : tables(tables) {}

  tables::Tables tables;
  std::vector<Item> items;
  std::vector<Sequence> sequences;
  std::vector<uint32_t> registers;  // of a hang; indices in `items`
  std::vector<Region> regions;
  // What else is known of the dump, by name: for a hang, why and where engines stopped. The caller
  // adds it.
  std::vector<std::pair<std::string, std::string>> facts;
};

// Records everything. For Options::leads. `trail` must outlive the sink, and is complete after the
// summary.
std::unique_ptr<decode::Sink> MakeTrailSink(Trail& trail);

// Records the state of one draw, or dispatch: for each thing that can be set, the last packet that
// set it, and the draw itself; all in one sequence, which stays empty if there is no such draw. For
// Options::leads with Options::bound of the same draw or dispatch (the other is 0).
std::unique_ptr<decode::Sink> MakeStateSink(Trail& trail, uint64_t draw, uint64_t dispatch);

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_TRAIL_H_
