#include "runtime/lint/workaround_rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/fields.h"

namespace packsmith::lint {
namespace {

using decode::Scope;
using tables::AskKind;

bool IsAboutValue(AskKind kind) {
  return kind == AskKind::kField || kind == AskKind::kLimit || kind == AskKind::kAvoid;
}

}  // namespace

WorkaroundRules::WorkaroundRules(const tables::Tables& tables, const Product& product,
                                 Alarms& alarms)
    : tables_(tables),
      alarms_(alarms),
      of_(tables.containers().size()),
      with_(tables.containers().size()) {
  const Platforms platforms(tables);
  for (const tables::Workaround& one : tables.workarounds()) {
    if (!platforms.Has(tables.string(one.platforms), product)) continue;
    if (!alarms.Wants(absl::StrCat("Wa_", tables.string(one.number)))) continue;
    for (const tables::Ask& ask : tables.asks(one.asks)) Add(one, ask);
  }
}

void WorkaroundRules::Add(const tables::Workaround& workaround, const tables::Ask& ask) {
  const auto index = static_cast<uint32_t>(asks_.size());
  Asked asked{&ask, &workaround, false};
  of_[ask.of].push_back(index);
  if (ask.with != tables::kNone) {
    with_[ask.with].push_back(index);
    const auto operations = tables_.operations(tables_.container(ask.with));
    asked.with_fence = std::any_of(operations.begin(), operations.end(), [](const auto& operation) {
      return operation.kind == tables::OperationKind::kFence;
    });
  }
  asks_.push_back(asked);
}

void WorkaroundRules::OnStruct(const decode::Record& record, const Place& place) {
  if (record.container == nullptr) return;
  for (const uint32_t index : of_[tables_.IndexOf(*record.container)]) {
    if (IsAboutValue(asks_[index].ask->kind)) CheckValue(asks_[index], record, place);
  }
}

void WorkaroundRules::OnPacket(const decode::Record& record, const Place& place,
                               const CacheActionsDone& done, const Context& context,
                               WorkaroundState& state) {
  const uint32_t container = tables_.IndexOf(*record.container);
  if (record.container->role != tables::Role::kOther) CheckWork(place, context, state);
  for (const uint32_t index : of_[container]) CheckOf(index, record, place, context, state);
  const Scope scope(tables_, *record.container, record.bytes);
  for (const uint32_t index : with_[container]) {
    const tables::Ask& ask = *asks_[index].ask;
    if (ask.leaf != tables::kNone) {
      const std::optional<uint64_t> raw = scope.Raw(ask.leaf);
      if (ask.has_value != 0 ? raw != ask.value : raw.value_or(0) == 0) continue;
    }
    // A packet is not its own partner.
    if (ask.of != ask.with) state.waiting.erase(index);
    state.met[index] = context.packets;
  }
  if ((done.actions & tables::SetOf(tables::Meaning::kStall)) != 0) {
    state.stalled = context.packets;
  }
}

void WorkaroundRules::CheckOf(uint32_t index, const decode::Record& record, const Place& place,
                              const Context& context, WorkaroundState& state) {
  const Asked& asked = asks_[index];
  const tables::Ask& ask = *asked.ask;
  if (IsAboutValue(ask.kind)) return CheckValue(asked, record, place);
  const bool holds = Scope(tables_, *record.container, record.bytes).Holds(ask.when);
  if (ask.kind == AskKind::kAgain) {
    if (holds) {
      state.again[index] = context.packets;
    } else {
      state.again.erase(index);
    }
    return;
  }
  if (!holds) return;
  // Between batches the kernel waits.
  const bool begins_batch = context.work <= context.batch_begin;
  const auto met = state.met.find(index);
  const bool before =
      (met != state.met.end() && met->second > context.work) || (asked.with_fence && begins_batch);
  switch (ask.kind) {
    case AskKind::kBefore:
      if (!before) {
        Raise(RuleId::kWorkaroundBefore, asked, place, {},
              absl::StrCat(Wanted(asked), " is missing before it"));
      }
      break;
    case AskKind::kAround:
      if (!before) {
        Raise(RuleId::kWorkaroundAround, asked, place, {},
              absl::StrCat(Wanted(asked), " is missing before it"));
      }
      [[fallthrough]];
    case AskKind::kAfter:
      state.waiting[index] = place;
      break;
    case AskKind::kStall:
      if (state.stalled <= context.work && !begins_batch) {
        Raise(RuleId::kWorkaroundStall, asked, place, {}, "no stall since the last draw");
      }
      break;
    default:
      break;
  }
}

void WorkaroundRules::CheckWork(const Place& place, const Context& context,
                                WorkaroundState& state) {
  for (const auto& [index, waits] : state.waiting) {
    const Asked& asked = asks_[index];
    Raise(
        asked.ask->kind == AskKind::kAround ? RuleId::kWorkaroundAround : RuleId::kWorkaroundAfter,
        asked, waits, {}, absl::StrCat(Wanted(asked), " is missing after it"));
  }
  state.waiting.clear();
  for (const auto& [index, number] : state.again) {
    if (number > context.work) continue;
    const Asked& asked = asks_[index];
    Raise(RuleId::kWorkaroundAgain, asked, place, {},
          absl::StrCat(tables_.string(tables_.container(asked.ask->of).name),
                       " was not repeated since the draw before"));
  }
}

void WorkaroundRules::CheckValue(const Asked& asked, const decode::Record& record,
                                 const Place& place) {
  const tables::Ask& ask = *asked.ask;
  const Scope scope(tables_, *record.container, record.bytes);
  if (!scope.Holds(ask.when)) return;
  if (ask.leaf == tables::kNone) {
    if (ask.kind == AskKind::kAvoid)
      Raise(RuleId::kWorkaroundAvoid, asked, place, {}, "it is used");
    return;
  }
  const std::optional<uint64_t> raw = scope.Raw(ask.leaf);
  if (!raw) return;
  const tables::Leaf& leaf = tables_.leaf(ask.leaf);
  FieldPlace field{{}, leaf.bit, leaf.width};
  field.name.head = tables_.string(leaf.name).data();
  const auto show = [&](uint64_t value) {
    const absl::string_view name = tables_.ValueName(leaf, value);
    return name.empty() ? absl::StrCat(value) : absl::StrCat(value, " (", name, ")");
  };
  switch (ask.kind) {
    case AskKind::kField:
      if (*raw == ask.value) return;
      return Raise(RuleId::kWorkaroundField, asked, place, field,
                   absl::StrCat("it is ", show(*raw), ", not ", show(ask.value)));
    case AskKind::kLimit:
      if (*raw <= ask.value) return;
      return Raise(RuleId::kWorkaroundLimit, asked, place, field,
                   absl::StrCat("it is ", *raw, ", more than ", ask.value));
    default:
      if (ask.has_value != 0 ? *raw != ask.value : *raw == 0) return;
      return Raise(RuleId::kWorkaroundAvoid, asked, place, field,
                   absl::StrCat("it is ", show(*raw)));
  }
}

void WorkaroundRules::Raise(RuleId id, const Asked& asked, const Place& place,
                            const FieldPlace& field, std::string what) {
  if (!alarms_.Wants(id)) return;
  const RuleInfo& info = InfoOf(id);
  const tables::Workaround& workaround = *asked.workaround;
  const absl::string_view number = tables_.string(workaround.number),
                          source = tables_.string(workaround.source);
  alarms_.Raise({info.number, info.severity, tables_.string(workaround.doc),
                 source.empty() ? info.source : source},
                place, field, absl::StrCat("Wa_", number, ": ", what));
}

std::string WorkaroundRules::Wanted(const Asked& asked) const {
  const tables::Ask& ask = *asked.ask;
  if (ask.with == tables::kNone) return "";
  std::string text(tables_.string(tables_.container(ask.with).name));
  if (ask.leaf == tables::kNone) return text;
  const tables::Leaf& leaf = tables_.leaf(ask.leaf);
  absl::StrAppend(&text, " with ", tables_.string(leaf.name));
  if (ask.has_value == 0) return text;
  const absl::string_view name = tables_.ValueName(leaf, ask.value);
  if (name.empty()) {
    absl::StrAppend(&text, " = ", ask.value);
  } else {
    absl::StrAppend(&text, " = ", name);
  }
  return text;
}

}  // namespace packsmith::lint
