#include "gen/model/ast/flatten.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

constexpr size_t kMostLeaves = 1 << 14;

class Flattener {
 public:
  Flattener(const Model& model, Flat& flat) : model_(model), flat_(flat) {}

  void AddItems(const std::vector<Item>& items, const std::string& prefix, const std::string& index,
                uint32_t base, uint32_t scope, uint32_t outer_index, bool outermost, bool overlap,
                std::vector<FlatLeaf>& into) {
    for (const Item& item : items) {
      // Visits count too: structures of nothing but structures have no leaves to count.
      if (into.size() >= kMostLeaves || ++visits_ > 4 * kMostLeaves) {
        flat_.too_large = true;
        return;
      }
      if (const Group* const group = item.group()) {
        if (group->tail) continue;  // the caller's
        for (uint32_t i = 0; i < group->count && !flat_.too_large; ++i) {
          const std::string here = absl::StrCat(index, "[", i, "]");
          if (group->name.empty()) {
            AddItems(group->items, prefix, here, base + group->bit + i * group->width, scope,
                     outermost ? i : outer_index, false, overlap || group->overlap, into);
          } else {
            AddItems(group->items, absl::StrCat(prefix, group->name, here, "."), "",
                     base + group->bit + i * group->width, scope, outermost ? i : outer_index,
                     false, overlap || group->overlap, into);
          }
        }
        continue;
      }
      const ItemBase& leaf = item.base();
      const uint32_t bit = base + leaf.bit;
      const Field* const field = item.field();
      if (field != nullptr && field->type == FieldType::kStruct) {
        if (field->type_index < 0) continue;
        const Container& nested = model_.containers[static_cast<size_t>(field->type_index)];
        ++scopes_;
        (&into == &flat_.leaves ? flat_.nested : flat_.tail_nested).push_back({&nested, scopes_});
        AddItems(nested.items, absl::StrCat(prefix, field->name, index, "."), "", bit, scopes_, 0,
                 true, overlap || field->overlap, into);
        continue;
      }
      into.push_back({&leaf, field, absl::StrCat(prefix, leaf.name, index), "", bit, scope,
                      outer_index, overlap || leaf.overlap});
    }
  }

 private:
  const Model& model_;
  Flat& flat_;
  uint32_t scopes_ = 0;
  size_t visits_ = 0;
};

// Stands for the index in names of a tail until the reader of the tables knows it. No attribute can
// hold this character: XML forbids it.
constexpr char kIndexMark = '\x01';

void SplitAtMark(std::vector<FlatLeaf>& leaves) {
  for (FlatLeaf& leaf : leaves) {
    const size_t mark = leaf.name.find(kIndexMark);
    if (mark == std::string::npos) continue;
    // The brackets are the reader's too.
    leaf.suffix = leaf.name.substr(mark + 2);
    leaf.name.resize(mark - 1);
  }
}

void SortByBit(std::vector<FlatLeaf>& leaves) {
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const FlatLeaf& a, const FlatLeaf& b) { return a.bit < b.bit; });
}

}  // namespace

Flat Flatten(const Model& model, const Container& container) {
  Flat flat;
  Flattener flattener(model, flat);
  flattener.AddItems(container.items, "", "", 0, 0, 0, true, false, flat.leaves);
  SortByBit(flat.leaves);
  for (const Item& item : container.items) {
    const Group* const tail = item.group();
    if (tail == nullptr || !tail->tail) continue;
    const std::string index = absl::StrCat("[", std::string(1, kIndexMark), "]");
    if (tail->name.empty()) {
      flattener.AddItems(tail->items, "", index, 0, 0, 0, false, false, flat.tail_leaves);
    } else {
      flattener.AddItems(tail->items, absl::StrCat(tail->name, index, "."), "", 0, 0, 0, false,
                         false, flat.tail_leaves);
    }
    SplitAtMark(flat.tail_leaves);
    SortByBit(flat.tail_leaves);
    break;
  }
  return flat;
}

}  // namespace packsmith::model
