#include "runtime/decode/plan.h"

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
    // These make the sink say more than the value.
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
    if (!name.empty()) name = texts.Keep(style.ValueName(name));
    longest_ = std::max(longest_, name.size());
    if (value.value < kDense) {
      if (dense_.size() <= value.value) dense_.resize(value.value + 1);
      // Of several names the first counts.
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
  const auto whole_name = [&](const Leaf& leaf) {
    return absl::StrCat(tables_.string(leaf.name), tables_.string(leaf.name_suffix));
  };
  Add(
      container.leaves,
      [&](PlannedField& field, const Leaf& leaf) {
        field.name = texts_.Keep(style_->Name(field, whole_name(leaf)));
      },
      plan->fields);
  Add(
      container.tail_leaves,
      [&](PlannedField& field, const Leaf& leaf) {
        field.moves = true;
        field.name = texts_.Keep(style_->BeforeIndex(tables_.string(leaf.name)));
        field.after_index = texts_.Keep(style_->AfterIndex(tables_.string(leaf.name_suffix)));
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
        const std::string own =
            absl::StrCat(".", tables_.string(leaf.name), tables_.string(leaf.name_suffix));
        field.moves = true;
        if (part.repeat == tables::kNone) {
          field.name = texts_.Keep(style_->MovingName(absl::StrCat(of, own)));
        } else {
          field.name = texts_.Keep(style_->BeforeIndex(of));
          field.after_index = texts_.Keep(style_->AfterIndex(own));
        }
      },
      *fields);
  return fields;
}

template <class Name>
void Plans::Add(tables::Range leaves, const Name& name, PlannedFields& to) {
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
    field.unit = texts_.Keep(style_->Unit(
        leaf.extra == tables::kNone ? "" : tables_.string(tables_.extra(leaf.extra).unit)));
    name(field, leaf);
    field.text_bytes =
        static_cast<uint32_t>(field.name.size() + field.after_index.size() + field.unit.size() +
                              (field.names == nullptr ? 0 : field.names->longest()));
    to.fields.push_back(field);
    const uint64_t mask = field.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
    to.bits.push_back(
        {mask, field.bit, field.width, field.width > 57, (leaf.flags & tables::kLength) != 0});
    to.end = std::max(to.end, uint64_t{field.bit} + field.width);
  }
}

}  // namespace packsmith::decode
