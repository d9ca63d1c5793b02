#include "gen/model/passes/overlaps.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

std::string Bits(uint32_t bit, uint32_t width) {
  return absl::StrCat("bits ", bit + width - 1, ":", bit);
}

}  // namespace

void OverlapPass::Check(const Container& c) {
  const Flat flat = Flatten(model_, c);
  if (flat.too_large) {
    Report(Code::kTooLarge, c.where,
           absl::StrCat("\"", c.name, "\" has more fields than anything that exists"));
    return;
  }
  leaves_ += flat.leaves.size() + flat.tail_leaves.size();
  if (leaves_ > (1 << 20)) {
    Report(Code::kTooLarge, c.where, "the file describes more than a million fields");
    return;
  }
  Sweep(flat.leaves);
  Sweep(flat.tail_leaves);
}

// Leaves come in bit order. Each pair of items is reported once, however often it repeats.
void OverlapPass::Sweep(const std::vector<FlatLeaf>& leaves) {
  std::vector<const FlatLeaf*> open;
  for (const FlatLeaf& leaf : leaves) {
    open.erase(
        std::remove_if(open.begin(), open.end(),
                       [&](const FlatLeaf* o) { return o->bit + o->item->width <= leaf.bit; }),
        open.end());
    for (const FlatLeaf* other : open) {
      // A field that meets its own next repetition is longer than its item, which was said.
      if (leaf.overlap || other->overlap || leaf.item == other->item) continue;
      if (!overlaps_.emplace(other->item, leaf.item).second) continue;
      Report(
          Code::kOverlap, leaf.item->where,
          absl::StrCat("\"", leaf.name, "\" (", Bits(leaf.bit, leaf.item->width), ") overlaps \"",
                       other->name, "\" (", Bits(other->bit, other->item->width),
                       "); overlap=\"true\" says that it is meant"))
          .notes.push_back({other->item->where, "the other is here"});
    }
    // Many views of the same bits are intended: overlap="true" marks them.
    if (open.size() < 64) open.push_back(&leaf);
  }
}

}  // namespace packsmith::model
