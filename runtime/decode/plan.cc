#include "runtime/decode/plan.h"

#include "absl/strings/str_cat.h"

namespace packsmith::decode {
namespace {

using tables::Leaf;
using tables::LeafType;

Form FormOf(const tables::Tables& tables, const Leaf& leaf) {
  if (leaf.type == LeafType::kBool) return leaf.width == 1 ? Form::kBool : Form::kOther;
  if ((leaf.flags & tables::kLog2) != 0) return Form::kOther;
  if (leaf.extra != tables::kNone) {
    const tables::Extra& extra = tables.extra(leaf.extra);
    // These make the sink say more than the value.
    if (extra.minus != 0 || extra.groups != 0 || extra.align != 0 || extra.multiple != 0) {
      return Form::kOther;
    }
  }
  if (leaf.type == LeafType::kUint && leaf.width + leaf.shift <= 32) return Form::kUnsigned;
  if ((leaf.type == LeafType::kAddress || leaf.type == LeafType::kOffset) &&
      leaf.width + leaf.shift <= 48) {
    return Form::kAddress;
  }
  return Form::kOther;
}

}  // namespace

ValueNames::ValueNames(const tables::Tables& tables, const tables::Enum& named) {
  constexpr uint64_t kDense = 1024;
  for (const tables::NamedValue& value : tables.values(named.values)) {
    const absl::string_view name = tables.string(value.name);
    if (value.value < kDense) {
      if (dense_.size() <= value.value) dense_.resize(value.value + 1);
      // Of several names the first counts.
      if (dense_[value.value].empty()) dense_[value.value] = name;
    } else {
      sparse_.emplace_back(value.value, name);
    }
  }
}

Plans::Plans(const tables::Tables& tables, WriteName write_name)
    : tables_(tables), write_name_(std::move(write_name)), plans_(tables.containers().size()) {}

void Plans::Make(const tables::Container& container, std::unique_ptr<Plan>& plan) {
  plan = std::make_unique<Plan>();
  Add(container.leaves, false, plan->fields);
  Add(container.tail_leaves, true, plan->tail);
  for (const PlannedField& field : plan->fields) {
    plan->bits = std::max<uint64_t>(plan->bits, uint64_t{field.bit} + field.width);
  }
  plan->simple = container.tail_size == 0 && container.parts.count == 0;
}

void Plans::Add(tables::Range leaves, bool in_tail, std::vector<PlannedField>& to) {
  std::string text;
  for (const Leaf& leaf : tables_.leaves(leaves)) {
    constexpr uint16_t kNoField = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
    if ((leaf.flags & kNoField) != 0) continue;
    PlannedField field{};
    field.leaf = &leaf;
    field.bit = leaf.bit;
    field.width = leaf.width;
    field.shift = leaf.shift;
    field.form = FormOf(tables_, leaf);
    if (leaf.named != tables::kNone) {
      std::unique_ptr<ValueNames>& names = names_[leaf.named];
      if (names == nullptr) {
        names = std::make_unique<ValueNames>(tables_, tables_.enumeration(leaf.named));
      }
      field.names = names.get();
    }
    if (leaf.extra != tables::kNone) {
      field.unit = tables_.string(tables_.extra(leaf.extra).unit);
    }
    if (in_tail) {
      field.name = Keep(tables_.string(leaf.name));
      field.after_index = tables_.string(leaf.name_suffix);
    } else {
      text.clear();
      write_name_(field, absl::StrCat(tables_.string(leaf.name), tables_.string(leaf.name_suffix)),
                  text);
      field.name = Keep(text);
    }
    to.push_back(field);
  }
}

absl::string_view Plans::Keep(absl::string_view text) {
  texts_.push_back(std::make_unique<char[]>(std::max<size_t>(text.size(), 64)));
  std::memcpy(texts_.back().get(), text.data(), text.size());
  return {texts_.back().get(), text.size()};
}

}  // namespace packsmith::decode
