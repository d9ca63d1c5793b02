// How the record at hand was reached: through which records, and by which of their fields. And what
// descriptions say of images, for sinks that look for them. Needs Options::leads.
#ifndef PACKSMITH_RUNTIME_DECODE_PATHS_H_
#define PACKSMITH_RUNTIME_DECODE_PATHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "runtime/decode/fields.h"
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
    uint64_t size;  // bytes; 0: nobody knows
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
    // What led here, one of the leads of the node before it; null if nobody knows.
    const Led* by;
    // The stage that reads it, as the pointers on the way here say.
    absl::string_view stage;
    // Its number in the table that it, or what led to it, belongs to; -1: in none.
    int64_t index;
    // The last of its leads that a record was found behind: packets of a stream come one behind the
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

// Which elements of the binding tables of stages the programs of a draw or dispatch name.
class StageReaches {
 public:
  void Clear() { all_.clear(); }
  // Of a record that is a program; of others nothing.
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
// Of a program.
std::string StageOf(const Record& record, const Paths::Node& node);

// An image as a record describes it. Sizes in texels, 0 where nobody knows.
struct ImageSeen {
  tables::SurfaceUse use;
  const tables::Leaf* leaf;  // with the address
  uint64_t address;
  std::string format;  // empty where nobody knows
  uint64_t width, height, depth;
  uint64_t pitch;  // bytes from row to row
};
absl::optional<ImageSeen> ImageOf(const tables::Tables& tables, const Record& record);

// The value of an expression that asks nothing but the record.
absl::optional<uint64_t> ValueOf(const tables::Tables& tables, uint32_t expression,
                                 const Scope& scope);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_PATHS_H_
