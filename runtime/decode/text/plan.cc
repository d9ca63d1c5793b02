#include "runtime/decode/text/plan.h"

#include "absl/strings/str_cat.h"

namespace packsmith::decode {
namespace {

using tables::Leaf;
using tables::LeafType;

ValueForm FormOf(const tables::Tables& tables, const Leaf& leaf) {
  if (leaf.type == LeafType::kBool) return leaf.width == 1 ? ValueForm::kBool : ValueForm::kOther;
  if ((leaf.flags & tables::kLog2) != 0) return ValueForm::kOther;
  if (leaf.extra != tables::kNone) {
    const tables::Extra& extra = tables.extra(leaf.extra);
    // With these the sink writes more than the value.
    if (extra.minus != 0 || extra.groups != 0 || extra.align != 0 || extra.multiple != 0) {
      return ValueForm::kOther;
    }
  }
  if (leaf.type == LeafType::kUint && leaf.width + leaf.shift <= 32) return ValueForm::kUnsigned;
  if ((leaf.type == LeafType::kAddress || leaf.type == LeafType::kOffset) &&
      leaf.width + leaf.shift <= 48) {
    return ValueForm::kAddress;
  }
  return ValueForm::kOther;
}

}  // namespace

absl::string_view Texts::Keep(absl::string_view text) {
  constexpr size_t kBlock = 16 * 1024;
  if (text.size() + kReadable > room_) {
    room_ = std::max(text.size() + kReadable, kBlock);
    blocks_.push_back(std::make_unique<char[]>(room_));
    at_ = blocks_.back().get();
  }
  char* const kept = at_;
  std::copy(text.begin(), text.end(), kept);
  at_ += text.size();
  room_ -= text.size();
  return {kept, text.size()};
}

ValueNames::ValueNames(const tables::Tables& tables, const tables::Enum& named,
                       const FieldStyle& style, Texts& texts) {
  constexpr uint64_t kDense = 1024;
  for (const tables::NamedValue& value : tables.values(named.values)) {
    absl::string_view name = tables.string(value.name);
    if (!name.empty()) name = texts.Written([&](std::string& to) { style.ValueName(name, to); });
    longest_ = std::max(longest_, name.size());
    if (value.value < kDense) {
      if (dense_.size() <= value.value) dense_.resize(value.value + 1);
      // The first of several names is used.
      if (dense_[value.value].empty()) dense_[value.value] = name;
    } else {
      sparse_.emplace_back(value.value, name);
    }
  }
}

Plans::Plans(const tables::Tables& tables, std::unique_ptr<const FieldStyle> style)
    : tables_(tables), style_(std::move(style)), plans_(tables.containers().size()) {}

std::unique_ptr<Plan> Plans::Make(const tables::Container& container) {
  auto plan = std::make_unique<Plan>();
  Add(
      container.leaves,
      [&](PlannedField& field, const Leaf& leaf) {
        name_.clear();
        absl::StrAppend(&name_, tables_.string(leaf.name), tables_.string(leaf.name_suffix));
        field.name = texts_.Written([&](std::string& to) { style_->Name(field, name_, to); });
      },
      plan->fields);
  Add(
      container.tail_leaves,
      [&](PlannedField& field, const Leaf& leaf) {
        field.moves = true;
        AddIndexed(tables_.string(leaf.name), tables_.string(leaf.name_suffix), field);
      },
      plan->tail);
  plan->parts.resize(container.parts.count);
  return plan;
}

std::unique_ptr<PlannedFields> Plans::Make(const tables::Part& part) {
  auto fields = std::make_unique<PlannedFields>();
  const absl::string_view of = tables_.string(part.name);
  Add(
      tables_.container(part.container).leaves,
      [&](PlannedField& field, const Leaf& leaf) {
        field.moves = true;
        name_.clear();
        if (part.repeat == tables::kNone) absl::StrAppend(&name_, of);
        absl::StrAppend(&name_, ".", tables_.string(leaf.name), tables_.string(leaf.name_suffix));
        if (part.repeat == tables::kNone) {
          field.name = texts_.Written([&](std::string& to) { style_->MovingName(name_, to); });
        } else {
          AddIndexed(of, name_, field);
        }
      },
      *fields);
  return fields;
}

void Plans::AddIndexed(absl::string_view before, absl::string_view after, PlannedField& field) {
  field.name = texts_.Written([&](std::string& to) { style_->BeforeIndex(before, to); });
  field.after_index = texts_.Written([&](std::string& to) { style_->AfterIndex(after, to); });
}

template <class Name>
void Plans::Add(tables::Range leaves, const Name& name, PlannedFields& to) {
  to.fields.reserve(leaves.count);
  to.bits.reserve(leaves.count);
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
        names =
            std::make_unique<ValueNames>(tables_, tables_.enumeration(leaf.named), *style_, texts_);
      }
      field.names = names.get();
    }
    const absl::string_view unit =
        leaf.extra == tables::kNone ? "" : tables_.string(tables_.extra(leaf.extra).unit);
    field.unit = texts_.Written([&](std::string& to) { style_->Unit(unit, to); });
    name(field, leaf);
    field.text_bytes =
        static_cast<uint32_t>(field.name.size() + field.after_index.size() + field.unit.size() +
                              (field.names == nullptr ? 0 : field.names->longest()));
    to.fields.push_back(field);
    const uint64_t mask = field.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
    to.bits.push_back(
        {mask, field.bit, field.width, field.width > 57, (leaf.flags & tables::kLength) != 0,
         leaf.extra != tables::kNone && tables_.extra(leaf.extra).counts_when != tables::kNone});
    to.end = std::max(to.end, uint64_t{field.bit} + field.width);
  }
}

}  // namespace packsmith::decode
