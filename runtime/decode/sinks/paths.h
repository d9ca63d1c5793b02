// How the current record was reached: through which records, and by which of their fields. And the
// images that descriptions define, for sinks that show them. Needs Options::leads.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_PATHS_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_PATHS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Paths {
 public:
  // A Lead that outlives its call.
  struct Led {
    std::string field;
    const tables::Leaf* leaf;
    const tables::Pointer* pointer;
    uint32_t space;
    uint64_t address;
    uint64_t size;  // bytes; 0: unknown
  };
  struct Node {
    uint64_t id;
    std::string name;  // with its index in its table
    RecordType type;
    bool bound;  // as Record
    uint32_t submission;
    uint32_t space;
    uint64_t address;
    std::vector<Led> leads;
    // The pointer to it, one of the leads of the node before it; null if unknown.
    const Led* by;
    // The stage that reads it, from the pointers on the way here.
    absl::string_view stage;
    // Its number in the table that it, or what points to it, belongs to; -1: none.
    int64_t index;
    // The last of its leads by which a record was found: the packets of a stream come one after the
    // other.
    const Led* followed = nullptr;
  };

  void OnSchema(const tables::Tables& tables) { tables_ = &tables; }
  void OnLead(const Lead& lead);
  // The record's node, whose parents are those before it. Valid until the next record comes.
  const Node& OnRecord(const Record& record);
  // From the packet of the submission's own stream on.
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  const tables::Tables* tables_ = nullptr;
  std::vector<Led> leads_;  // of the next record
  std::vector<Node> nodes_;
};

// The elements of the stages' binding tables that the programs of a draw or dispatch name.
class StageReaches {
 public:
  void Clear() { all_.clear(); }
  // Adds those of a record that is a program; ignores other records.
  void Add(const tables::Tables& tables, const Record& record, const Paths::Node& node);
  bool Has(absl::string_view stage, int64_t index, tables::SurfaceUse use) const;

 private:
  struct One {
    std::string stage;
    tables::SurfaceUse use;
    uint64_t index;
  };
  std::vector<One> all_;
};
// The stage of a program.
std::string StageOf(const Record& record, const Paths::Node& node);

// An image as a record describes it. Sizes in texels, 0 if unknown.
struct ImageSeen {
  tables::SurfaceUse use;
  const tables::Leaf* leaf;  // with the address
  uint64_t address;
  std::string format;           // empty if unknown
  const tables::Format* texel;  // the components of a texel; null if they are not described
  tables::Tiling tiling;
  uint64_t width, height, depth;
  uint64_t pitch;  // bytes from row to row
};
std::optional<ImageSeen> ImageOf(const tables::Tables& tables, const Record& record);

// The value of an expression that uses only the record.
std::optional<uint64_t> ValueOf(const tables::Tables& tables, uint32_t expression,
                                const Scope& scope);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_PATHS_H_
