#include "runtime/sim/visibility/visibility_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith::sim {
namespace {

using tables::CacheActions;
using tables::Client;
using tables::ClientKind;
using tables::kNone;
using tables::Meaning;

VisibilityNeed MakeNeed(const Client& writer, const Client& reader) {
  VisibilityNeed need;
  const auto add = [](const tables::Clauses& clauses, auto& flush, auto& invalidate) {
    for (const CacheActions clause : clauses) {
      if (clause != 0) ((clause & kInvalidations) != 0 ? invalidate : flush).push_back(clause);
    }
  };
  if (reader.kind == writer.kind) {
    add(reader.own, need.flush, need.invalidate);
    return need;
  }
  add(writer.flush, need.flush, need.invalidate);
  if (writer.in_l3 != 0 && reader.in_l3 == 0) add(writer.to_memory, need.flush, need.invalidate);
  add(reader.invalidate, need.renew, need.invalidate);
  if (writer.in_l3 == 0 && reader.in_l3 != 0) add(reader.from_memory, need.renew, need.invalidate);
  if (reader.after_write != 0 && !need.invalidate.empty()) {
    need.completion = VisibilityNeed::kByWrite;
  }
  return need;
}

// What has an action: a field of a packet, or the packet itself.
struct Named {
  uint32_t container = kNone;
  std::string field;
};

// "Fence Type = MI_WRITE", if the condition is that simple.
std::string ConditionText(const tables::Tables& tables, uint32_t condition) {
  if (condition == kNone) return "";
  const absl::Span<const tables::Term> terms = tables.terms(tables.condition(condition).terms);
  if (terms.size() != 1 || terms[0].of_state != 0 || terms[0].negated != 0) return "";
  const tables::Leaf& leaf = tables.leaf(terms[0].leaf);
  const absl::string_view value = tables.ValueName(leaf, terms[0].value);
  return value.empty() ? "" : absl::StrCat(tables.string(leaf.name), " = ", value);
}

// Fields of packets that fence come first, then such packets as a whole, then fields of others.
// Among packets that fence, the one with the most actions comes first: PIPE_CONTROL, not a flush of
// ranges.
Named Find(const tables::Tables& tables, CacheActions action, uint64_t engines) {
  Named field, whole, elsewhere;
  int most_actions = 0;
  for (const tables::Container& container : tables.containers()) {
    if (container.kind != tables::ContainerKind::kPacket || (container.engines & engines) == 0) {
      continue;
    }
    const uint32_t index = tables.IndexOf(container);
    bool fences = false;
    for (const tables::Operation& operation : tables.operations(container)) {
      if (operation.kind != tables::OperationKind::kFence) continue;
      fences = true;
      for (const tables::Operand& operand : tables.operands(operation)) {
        if (operand.role == tables::OperandRole::kDoes && whole.container == kNone &&
            (tables.expression(operand.expression).add & action) != 0) {
          whole = {index, ConditionText(tables, operation.when)};
        }
      }
    }
    Named here;
    int actions = 0;
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (leaf.extra == kNone) continue;
      const Meaning meaning = tables.extra(leaf.extra).meaning;
      if (!tables::IsCacheAction(meaning)) continue;
      ++actions;
      if (tables::SetOf(meaning) != action || here.container != kNone) continue;
      here = {index, std::string(absl::StripAsciiWhitespace(tables.string(leaf.name)))};
    }
    if (here.container == kNone) continue;
    if (fences && actions > most_actions) {
      field = std::move(here);
      most_actions = actions;
    } else if (!fences && elsewhere.container == kNone) {
      elsewhere = std::move(here);
    }
  }
  if (field.container != kNone) return field;
  return whole.container != kNone ? whole : elsewhere;
}

}  // namespace

VisibilityRules::VisibilityRules(const tables::Tables& tables) : tables_(tables) {
  for (const Client& client : tables_.clients()) clients_[Index(client.kind)] = &client;
  any_ = !tables_.clients().empty();
  for (const Client& writer : tables_.clients()) {
    for (const Client& reader : tables_.clients()) {
      needs_[Index(writer.kind)][Index(reader.kind)] = MakeNeed(writer, reader);
    }
  }
}

std::string VisibilityRules::NamesOf(absl::Span<const CacheActions> clauses,
                                     uint32_t engine) const {
  // The fields of a packet are listed together.
  std::vector<std::pair<uint32_t, std::vector<std::string>>> packets;
  for (const CacheActions clause : clauses) {
    std::vector<std::string> choices;
    uint32_t container = kNone;
    for (CacheActions rest = clause; rest != 0; rest &= rest - 1) {
      const Named named = Find(tables_, rest & -rest, uint64_t{1} << engine);
      if (named.container == kNone) continue;
      if (container == kNone) container = named.container;
      choices.push_back(
          named.container == container
              ? named.field
              : absl::StrCat(named.field, named.field.empty() ? "" : " of ",
                             tables_.string(tables_.container(named.container).name)));
    }
    if (container == kNone) continue;
    auto packet = std::find_if(packets.begin(), packets.end(),
                               [&](const auto& p) { return p.first == container; });
    if (packet == packets.end()) packet = packets.insert(packets.end(), {container, {}});
    choices.erase(std::remove(choices.begin(), choices.end(), ""), choices.end());
    if (!choices.empty()) packet->second.push_back(absl::StrJoin(choices, " or "));
  }
  std::vector<std::string> texts;
  for (const auto& [container, fields] : packets) {
    texts.push_back(absl::StrCat(absl::StrJoin(fields, ", "), fields.empty() ? "" : " of ",
                                 tables_.string(tables_.container(container).name)));
  }
  return absl::StrJoin(texts, ", ");
}

absl::string_view NameOf(ClientKind client) {
  static constexpr absl::string_view kNames[] = {"the render target cache",
                                                 "the depth cache",
                                                 "the data port",
                                                 "stream output",
                                                 "post-sync operations",
                                                 "the command streamer",
                                                 "command fetch",
                                                 "the blitter",
                                                 "vertex fetch",
                                                 "the sampler",
                                                 "the constant cache",
                                                 "the state cache",
                                                 "instruction fetch",
                                                 "another engine"};
  static_assert(std::size(kNames) == tables::kClientKinds);
  return kNames[static_cast<size_t>(client)];
}

}  // namespace packsmith::sim
