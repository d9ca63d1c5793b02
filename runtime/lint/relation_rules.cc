#include "runtime/lint/relation_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace packsmith::lint {
namespace {

using tables::RelationKind;

constexpr absl::string_view kClientNames[tables::kClientKinds] = {"render targets",
                                                                  "depth",
                                                                  "the data port",
                                                                  "stream output",
                                                                  "writes after flushes",
                                                                  "the command streamer",
                                                                  "commands",
                                                                  "the blitter",
                                                                  "vertex fetch",
                                                                  "samplers",
                                                                  "constants",
                                                                  "state that packets point to",
                                                                  "instructions",
                                                                  "other engines"};

void AddOnce(std::vector<uint32_t>& all, uint32_t one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

bool IsProgram(const tables::Tables& tables, const tables::Pointer& pointer) {
  return pointer.target_kind == tables::TargetKind::kData &&
         tables.data(pointer.target).is_code != 0;
}

bool PointsToProgram(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables.extra(leaf.extra).pointer != tables::kNone &&
         IsProgram(tables, tables.pointer(tables.extra(leaf.extra).pointer));
}

// Whether the condition compares a state, which no packet has.
bool AsksForState(const tables::Tables& tables, uint32_t condition) {
  if (condition == tables::kNone) return false;
  const auto terms = tables.terms(tables.condition(condition).terms);
  return std::any_of(terms.begin(), terms.end(),
                     [](const tables::Term& term) { return term.of_state != 0; });
}

// Alarms come in the order of the packets: that of a hash map differs from process to process.
template <class Entry>
void SortByPacket(const absl::flat_hash_map<uint32_t, Entry>& entries,
                  std::vector<uint32_t>& keys) {
  std::sort(keys.begin(), keys.end(), [&entries](uint32_t a, uint32_t b) {
    const uint64_t first = entries.find(a)->second.number;
    const uint64_t second = entries.find(b)->second.number;
    return first != second ? first < second : a < b;
  });
}

}  // namespace

RelationRules::RelationRules(const tables::Tables& tables, Alarms& alarms)
    : tables_(tables),
      alarms_(alarms),
      committers_(tables.containers().size()),
      bases_of_(tables.containers().size()),
      sets_(tables.containers().size()),
      replacers_(tables.containers().size()),
      is_fence_(tables.containers().size()),
      readers_(tables.bases().size()),
      stage_of_(tables.containers().size(), tables::kNone),
      programs_(tables, PointsToProgram) {
  for (const tables::Client& client : tables.clients()) {
    clients_[static_cast<size_t>(client.kind)] = &client;
  }
  for (uint32_t i = 0; i < tables.containers().size(); ++i) {
    const tables::Container& container = tables.container(i);
    for (const tables::Relation& relation : tables.relations(container.relations)) {
      if (relation.kind == RelationKind::kCommits) committers_[relation.container].push_back(i);
    }
    const auto operations = tables.operations(container);
    is_fence_[i] = std::any_of(operations.begin(), operations.end(), [](const auto& operation) {
      return operation.kind == tables::OperationKind::kFence;
    });
    std::vector<uint32_t> stages;
    for (const tables::Range range : {container.leaves, container.tail_leaves}) {
      for (const tables::Leaf& leaf : tables.leaves(range)) {
        if (leaf.extra == tables::kNone) continue;
        const tables::Extra& extra = tables.extra(leaf.extra);
        if (extra.sets_base != tables::kNone) AddOnce(sets_[i], extra.sets_base);
        for (uint32_t p = extra.pointer; p != tables::kNone; p = tables.pointer(p).next) {
          const tables::Pointer& pointer = tables.pointer(p);
          const uint32_t stage =
              tables.string(pointer.stage).empty() ? tables::kNone : pointer.stage;
          if (!IsProgram(tables, pointer)) {
            AddOnce(stages, stage);
          } else if (stage != tables::kNone) {
            AddOnce(programs_of_[stage], i);
          }
          if (pointer.base == tables::kNone) continue;
          AddOnce(bases_of_[i], pointer.base);
          auto reader = static_cast<uint32_t>(tables::ClientKind::kState);
          if (pointer.target_kind == tables::TargetKind::kData) {
            reader = tables.data(pointer.target).client;
          }
          if (reader < tables::kClientKinds) readers_[pointer.base] |= 1u << reader;
        }
      }
    }
    if (stages.size() == 1) stage_of_[i] = stages[0];
    // Who moves a base invalidates what counts from it. Others may set what they invalidate, as
    // those do that have the values of several.
    for (const tables::Relation& relation : tables.relations(container.relations)) {
      if (relation.kind == RelationKind::kInvalidates && sets_[i].empty()) {
        replacers_[relation.container].push_back(i);
      }
    }
  }
}

void RelationRules::OnPacket(const decode::Record& record, const Place& place,
                             const CacheActionsDone& done, const Context& context,
                             RelationState& state) {
  const tables::Container& container = *record.container;
  const uint32_t index = tables_.IndexOf(container);
  if (container.role != tables::Role::kOther) {
    CheckWork(container, place, context, state);
    return;
  }
  for (auto& [base, moved] : state.moved) moved.done |= done.actions;
  state.invalid.erase(index);
  if (const std::optional<bool> runs = RunsPrograms(record)) state.runs[index] = *runs;
  const auto relations = tables_.relations(container.relations);
  const bool requires_some =
      std::any_of(relations.begin(), relations.end(),
                  [&](const tables::Relation& one) { return one.kind == RelationKind::kRequires; });
  if (requires_some || !committers_[index].empty()) {
    const auto serves = static_cast<tables::Role>(container.serves);
    const uint64_t work = serves == tables::Role::kOther
                              ? context.work
                              : state.last_work[static_cast<size_t>(serves)];
    state.open[index] = {index, context.packets, work, context.work <= context.batch_begin, place};
  }
}

void RelationRules::OnBases(const decode::Record& record, const Place& place,
                            const Context& context, RelationState& state) {
  const uint32_t index = tables_.IndexOf(*record.container);
  for (const uint32_t base : sets_[index]) {
    const Bases::Base* const now = context.bases.Find(tables_, base);
    const auto used = state.used.find(base);
    if (now == nullptr || used == state.used.end() || used->second == *now->value) {
      state.moved.erase(base);
      continue;
    }
    RelationState::Moved& moved = state.moved[base];
    if (moved.place.record.empty() || moved.to != *now->value) {
      moved = {*now->value, context.packets, place, 0};
    }
  }
  // A call's end is not that of the batch.
  if (record.container->flows.count != 0 && record.depth != 0) return;
  Invalidate(index, place, context, state);
}

void RelationRules::Invalidate(uint32_t by, const Place& place, const Context& context,
                               RelationState& state) {
  for (const tables::Relation& relation : tables_.relations(tables_.container(by).relations)) {
    if (relation.kind != RelationKind::kInvalidates) continue;
    if (context.LastSeen(relation.container) == 0) continue;
    if (!CountsFromMoved(relation.container, by, state)) continue;
    state.invalid.try_emplace(relation.container,
                              RelationState::Open{by, context.packets, context.work, false, place});
  }
}

bool RelationRules::CountsFromMoved(uint32_t container, uint32_t by,
                                    const RelationState& state) const {
  bool common = false;
  for (const uint32_t base : bases_of_[container]) {
    if (std::find(sets_[by].begin(), sets_[by].end(), base) == sets_[by].end()) continue;
    common = true;
    if (state.moved.contains(base)) return true;
  }
  return !common;
}

std::optional<bool> RelationRules::RunsPrograms(const decode::Record& record) {
  std::optional<bool> runs;
  decode::ForEachField(tables_, programs_, record.view(), [&](const decode::FieldAt& at) {
    if (!runs) runs = false;
    if (*runs) return;
    const decode::Scope scope(tables_, at, record.bytes);
    uint32_t i = tables_.extra(at.leaf->extra).pointer;
    for (; i != tables::kNone; i = tables_.pointer(i).next) {
      // What is not known here, it may run.
      const uint32_t when = tables_.pointer(i).when;
      if (at.cut || scope.Holds(when) || AsksForState(tables_, when)) runs = true;
    }
  });
  return runs;
}

bool RelationRules::IsOff(uint32_t stage, const RelationState& state) const {
  const auto packets = programs_of_.find(stage);
  if (packets == programs_of_.end()) return false;
  bool was_set = false;
  for (const uint32_t packet : packets->second) {
    const auto runs = state.runs.find(packet);
    if (runs == state.runs.end()) continue;
    if (runs->second) return false;
    was_set = true;
  }
  return was_set;
}

void RelationRules::CheckWork(const tables::Container& work, const Place& place,
                              const Context& context, RelationState& state) {
  if (context.is_whole) {
    for (const tables::Relation& relation : tables_.relations(work.relations)) {
      if (relation.kind != RelationKind::kRequires || context.LastSeen(relation.container) != 0) {
        continue;
      }
      // The first draw that lacks it is enough.
      if (!state.reported.insert(relation.container).second) continue;
      alarms_.Raise(RuleId::kMissingForWork, place, {},
                    std::string(tables_.string(tables_.container(relation.container).name)));
    }
  }
  CheckAllOpen(work, context, state);
  CheckInvalid(work, context, state);
  CheckMoved(state);
  for (uint32_t base = 0; base < tables_.bases().size(); ++base) {
    const Bases::Base* const now = context.bases.Find(tables_, base);
    if (now != nullptr) state.used[base] = *now->value;
  }
  state.last_work[static_cast<size_t>(work.role)] = context.packets;
}

bool RelationRules::Serves(uint32_t container, const tables::Container& work) const {
  const auto serves = static_cast<tables::Role>(tables_.container(container).serves);
  return serves == tables::Role::kOther || serves == work.role;
}

void RelationRules::CheckAllOpen(const tables::Container& work, const Context& context,
                                 RelationState& state) {
  due_.clear();
  for (const auto& [index, open] : state.open) {
    // What this work does not read may still get its partner before that which does.
    if (Serves(index, work)) due_.push_back(index);
  }
  SortByPacket(state.open, due_);
  for (const uint32_t index : due_) {
    const auto found = state.open.find(index);
    CheckOpen(found->second, context, state);
    state.open.erase(found);
  }
}

void RelationRules::CheckPartner(const RelationState::Open& open, uint32_t partner,
                                 const Context& context, RelationState& state) {
  const auto came = [&](uint32_t container) { return context.LastSeen(container) > open.work; };
  const std::vector<uint32_t>& replacers = replacers_[partner];
  if (came(partner) || std::any_of(replacers.begin(), replacers.end(), came)) return;
  if (!state.alone.insert({open.container, partner}).second) return;
  alarms_.Raise(RuleId::kMissingPartner, open.place, {},
                absl::StrCat(tables_.string(tables_.container(partner).name),
                             " is not there between the draws or dispatches around it"));
}

void RelationRules::CheckOpen(const RelationState::Open& open, const Context& context,
                              RelationState& state) {
  const tables::Container& container = tables_.container(open.container);
  for (const tables::Relation& relation : tables_.relations(container.relations)) {
    if (relation.kind != RelationKind::kRequires) continue;
    if (!is_fence_[relation.container]) {
      CheckPartner(open, relation.container, context, state);
      continue;
    }
    // Between batches the kernel waits and flushes.
    if (open.begins_batch || context.LastSeen(relation.container) > open.work) continue;
    alarms_.Raise(RuleId::kMissingWith, open.place, {},
                  absl::StrCat(tables_.string(tables_.container(relation.container).name),
                               " is not there between the draws or dispatches around it"));
  }
  const std::vector<uint32_t>& committers = committers_[open.container];
  if (committers.empty()) return;
  const bool committed = std::any_of(committers.begin(), committers.end(), [&](uint32_t one) {
    return context.LastSeen(one) > open.number;
  });
  if (committed) return;
  alarms_.Raise(RuleId::kNotCommitted, open.place, {},
                absl::StrCat(tables_.string(tables_.container(committers[0]).name),
                             " does not follow before the draw or dispatch"));
}

void RelationRules::CheckInvalid(const tables::Container& work, const Context& context,
                                 RelationState& state) {
  due_.clear();
  for (const auto& [index, open] : state.invalid) {
    if (!Serves(index, work)) continue;
    // A stage that is off reads nothing: once it is on, this must have been set again.
    if (stage_of_[index] != tables::kNone && IsOff(stage_of_[index], state)) continue;
    due_.push_back(index);
  }
  SortByPacket(state.invalid, due_);
  for (const uint32_t index : due_) {
    const auto found = state.invalid.find(index);
    if (context.LastSeen(index) <= found->second.number) {
      alarms_.Raise(RuleId::kNotSetAgain, found->second.place, {},
                    absl::StrCat(tables_.string(tables_.container(index).name),
                                 " was set before, and is not set again"));
    }
    state.invalid.erase(found);
  }
}

void RelationRules::CheckMoved(RelationState& state) {
  due_.clear();
  for (const auto& [base, moved] : state.moved) due_.push_back(base);
  SortByPacket(state.moved, due_);
  for (const uint32_t base : due_) {
    const RelationState::Moved& moved = state.moved.find(base)->second;
    std::vector<absl::string_view> missing;
    for (size_t kind = 0; kind < tables::kClientKinds; ++kind) {
      const tables::Client* const client = clients_[kind];
      if (client == nullptr || (readers_[base] >> kind & 1) == 0) continue;
      const bool seen = std::all_of(
          std::begin(client->invalidate), std::end(client->invalidate),
          [done = moved.done](tables::CacheActions any) { return any == 0 || (any & done) != 0; });
      if (!seen) missing.push_back(kClientNames[kind]);
    }
    if (missing.empty()) continue;
    alarms_.Raise(
        RuleId::kStaleAfterBase, moved.place, {},
        absl::StrFormat("the base \"%s\" moves to 0x%x, and no invalidation follows for %s",
                        tables_.string(tables_.bases()[base].name), moved.to,
                        absl::StrJoin(missing, ", ")));
  }
  state.moved.clear();
}

}  // namespace packsmith::lint
