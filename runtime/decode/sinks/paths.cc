#include "runtime/decode/sinks/paths.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::decode {

void Paths::OnLead(const Lead& lead) {
  std::string field;
  AppendFieldName(lead.at->name, field);
  leads_.push_back(
      {std::move(field), lead.at->leaf, lead.pointer, lead.space, lead.address, lead.size});
}

const Paths::Node& Paths::OnRecord(const Record& record) {
  // A record comes right after its parent or after another target of its parent.
  while (!nodes_.empty() && nodes_.back().id != record.parent) nodes_.pop_back();
  Node node{record.id,
            std::string(record.name),
            record.type,
            record.bound,
            record.submission,
            record.space,
            record.address,
            {},
            nullptr,
            "",
            -1};
  if (record.index >= 0) absl::StrAppend(&node.name, "[", record.index, "]");
  if (!nodes_.empty() && !record.bound) {
    Node& parent = nodes_.back();
    const uint64_t size = record.bytes.size();
    for (const Led& led : parent.leads) {
      if (led.space != record.space) continue;
      // Only the first record of a table is at the pointer's address.
      const uint64_t behind = record.index > 0 ? static_cast<uint64_t>(record.index) * size : 0;
      if (led.address + behind == record.address) node.by = &led;
      if (node.by != nullptr) break;
    }
    if (node.by != nullptr) {
      parent.followed = node.by;
    } else if (record.type == RecordType::kPacket) {
      node.by = parent.followed;
    }
    node.stage = parent.stage;
    if (node.by != nullptr) {
      const absl::string_view stage = tables_->string(node.by->pointer->stage);
      if (!stage.empty()) node.stage = stage;
    }
    node.index = record.index >= 0 ? record.index : parent.index;
  }
  const bool leads = record.type == RecordType::kPacket || record.type == RecordType::kStruct;
  if (leads) node.leads = std::exchange(leads_, {});
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

std::string StageOf(const Record& record, const Paths::Node& node) {
  const absl::string_view own = record.kernel == nullptr ? "" : record.kernel->stage;
  return std::string(own.empty() ? node.stage : own);
}

void StageReaches::Add(const tables::Tables& tables, const Record& record,
                       const Paths::Node& node) {
  if (record.kernel == nullptr || node.by == nullptr) return;
  const tables::DataKind& kind = tables.data(node.by->pointer->target);
  for (const Reached& reached : FindReached(tables, kind, record.kernel->code)) {
    all_.push_back({StageOf(record, node), reached.use, reached.index});
  }
}

bool StageReaches::Has(absl::string_view stage, int64_t index, tables::SurfaceUse use) const {
  return index >= 0 && std::any_of(all_.begin(), all_.end(), [&](const One& one) {
           return one.use == use && one.index == static_cast<uint64_t>(index) && one.stage == stage;
         });
}

std::optional<uint64_t> ValueOf(const tables::Tables& tables, uint32_t expression,
                                const Scope& scope) {
  if (expression == tables::kNone) return std::nullopt;
  const tables::Expression& e = tables.expression(expression);
  if (e.kind == tables::ExpressionKind::kConstant) return e.add;
  if (e.kind == tables::ExpressionKind::kState) return std::nullopt;
  const std::optional<uint64_t> value = scope.Number(e.leaf);
  if (!value) return std::nullopt;
  return Apply(e, *value);
}

std::optional<ImageSeen> ImageOf(const tables::Tables& tables, const Record& record) {
  if (record.container == nullptr) return std::nullopt;
  const Scope scope(tables, *record.container, record.bytes);
  for (const tables::Image& image : tables.images(*record.container)) {
    if (!scope.Holds(image.when)) continue;
    const std::optional<uint64_t> address = scope.Number(image.address);
    if (!address) return std::nullopt;
    ImageSeen seen{image.use,
                   &tables.leaf(image.address),
                   MaskAddress(*address, tables.address_mask()),
                   "",
                   nullptr,
                   image.tiling,
                   0,
                   0,
                   0,
                   0};
    for (const uint32_t leaf : {image.format, image.type}) {
      if (leaf == tables::kNone) continue;
      const std::optional<uint64_t> raw = scope.Raw(leaf);
      if (!raw) continue;
      const absl::string_view name = tables.ValueName(tables.leaf(leaf), *raw);
      const tables::NamedValue* const value = tables.FindValue(tables.leaf(leaf), *raw);
      if (value != nullptr && value->format != tables::kNone) {
        seen.texel = &tables.format(value->format);
      }
      absl::StrAppend(&seen.format, seen.format.empty() ? "" : " ");
      if (name.empty()) {
        absl::StrAppend(&seen.format, *raw);
      } else {
        absl::StrAppend(&seen.format, name);
      }
    }
    seen.width = ValueOf(tables, image.width, scope).value_or(0);
    seen.height = ValueOf(tables, image.height, scope).value_or(0);
    seen.depth = ValueOf(tables, image.depth, scope).value_or(0);
    seen.pitch = ValueOf(tables, image.pitch, scope).value_or(0);
    return seen;
  }
  return std::nullopt;
}

}  // namespace packsmith::decode
