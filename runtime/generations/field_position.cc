#include "runtime/generations/field_position.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/generations/generations.h"

namespace packsmith {
namespace {

using tables::Container;
using tables::Leaf;
using tables::Tables;

// Whether `name` is the field, or is in the structure or group that `field` names.
bool IsPartOf(absl::string_view name, absl::string_view field) {
  return absl::ConsumePrefix(&name, field) && (name.empty() || name[0] == '.' || name[0] == '[');
}

// The bits of all parts that were found.
class Extent {
 public:
  void Add(uint64_t bit, uint32_t width) {
    first_ = std::min(first_, bit);
    end_ = std::max(end_, bit + width);
  }
  std::optional<FieldPosition> Position() const {
    if (end_ == 0 || end_ > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    return FieldPosition{static_cast<uint32_t>(first_), static_cast<uint32_t>(end_ - first_)};
  }

 private:
  uint64_t first_ = std::numeric_limits<uint64_t>::max();
  uint64_t end_ = 0;
};

// In a tail, whose items are named "head[number]suffix", the item that `field` names. Without a
// number it is the first: the description does not give the number of items.
void AddOfTail(const Tables& tables, const Container& c, const Leaf& leaf, absl::string_view field,
               Extent& extent) {
  const absl::string_view head = tables.string(leaf.name);
  if (IsPartOf(absl::StrCat(head, tables.string(leaf.name_suffix)), field)) {
    extent.Add(c.tail_bit + leaf.bit, leaf.width);
    return;
  }
  if (!absl::ConsumePrefix(&field, head) || !absl::ConsumePrefix(&field, "[")) return;
  const size_t close = field.find(']');
  uint32_t item = 0;
  if (close == absl::string_view::npos || !absl::SimpleAtoi(field.substr(0, close), &item)) return;
  if (!IsPartOf(absl::StrCat("]", tables.string(leaf.name_suffix)), field.substr(close))) return;
  extent.Add(c.tail_bit + uint64_t{item} * c.tail_size + leaf.bit, leaf.width);
}

}  // namespace

absl::StatusOr<FieldPosition> FindFieldPosition(const Tables& tables, absl::string_view container,
                                                absl::string_view field) {
  const absl::string_view generation = tables.generation();
  const uint32_t index = tables.FindContainer(container);
  if (index == tables::kNone) {
    return absl::NotFoundError(absl::StrCat(generation, " has no packet, structure or register \"",
                                            container, "\"; unpack --list --gen=", generation,
                                            " shows those it has"));
  }
  const Container& c = tables.container(index);
  Extent extent;
  for (const Leaf& leaf : tables.leaves(c.leaves)) {
    // Reserved bits are not fields, even if they have a name.
    if ((leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0) continue;
    if (IsPartOf(tables.string(leaf.name), field)) extent.Add(leaf.bit, leaf.width);
  }
  for (const Leaf& leaf : tables.leaves(c.tail_leaves)) AddOfTail(tables, c, leaf, field, extent);
  const std::optional<FieldPosition> position = extent.Position();
  if (!position) {
    return absl::NotFoundError(absl::StrCat(
        tables.string(c.name), " of ", generation, " has no field \"", field,
        "\"; unpack --describe ", tables.string(c.name), " --gen=", generation, " shows it"));
  }
  return *position;
}

absl::StatusOr<FieldPosition> FindFieldPosition(absl::string_view generation,
                                                absl::string_view container,
                                                absl::string_view field) {
  const absl::StatusOr<Tables> tables = FindGeneration(generation);
  if (!tables.ok()) return tables.status();
  return FindFieldPosition(*tables, container, field);
}

}  // namespace packsmith
