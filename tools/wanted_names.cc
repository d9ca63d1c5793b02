#include "tools/wanted_names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::tools {
namespace {

// Calls use(name) with each name that a record may have, from the tables and the dump.
template <class Use>
void ForEachRecordName(const tables::Tables& tables, const Dump& dump, const Use& use) {
  for (const tables::Container& container : tables.containers()) {
    use(tables.string(container.name));
  }
  for (const tables::DataKind& kind : tables.data_kinds()) use(tables.string(kind.name));
  use("unknown");
  if (dump.error_state == nullptr) return;
  for (const ErrorRegister& one : dump.error_state->registers) use(one.name);
  for (const ErrorEngine& engine : dump.error_state->engines) {
    for (const ErrorRegister& one : engine.registers) use(one.name);
  }
}

// Whether a container has a field that the pattern may mean; offers names if not.
bool KnowsField(const tables::Tables& tables, const std::string& pattern, Closest& closest) {
  // Items of repetitions have numbers, which are not in the tables.
  if (absl::StrContains(pattern, '[')) return true;
  for (const tables::Container& container : tables.containers()) {
    const absl::string_view of = tables.string(container.name);
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      const absl::string_view whole = tables.string(leaf.name);
      const size_t dot = whole.rfind('.');
      const absl::string_view own = dot == absl::string_view::npos ? whole : whole.substr(dot + 1);
      for (const absl::string_view name : {whole, own}) {
        if (decode::MatchesGlob(pattern, name) ||
            decode::MatchesGlob(pattern, absl::StrCat(of, ".", name))) {
          return true;
        }
        closest.Offer(name);
      }
      if (absl::StrContains(pattern, '.')) closest.Offer(absl::StrCat(of, ".", own));
    }
  }
  return false;
}

}  // namespace

WantedNames::WantedNames(absl::Span<const std::string> filter, absl::string_view engine,
                         absl::string_view stream, absl::Span<const std::string> fields) {
  const auto add = [&](Kind kind, absl::string_view name) {
    // Only the literal part of a glob can be misspelt.
    wanted_.push_back(
        {kind, std::string(name), Closest(absl::StrReplaceAll(name, {{"*", ""}, {"?", ""}}))});
  };
  for (const std::string& name : filter) add(Kind::kFilter, name);
  if (!engine.empty()) add(Kind::kEngine, engine);
  if (!stream.empty()) add(Kind::kStream, stream);
  for (const std::string& field : fields) add(Kind::kField, field);
}

bool WantedNames::Knows(const tables::Tables& tables, const Dump& dump, Wanted& wanted) {
  bool known = false;
  switch (wanted.kind) {
    case Kind::kFilter:
      ForEachRecordName(tables, dump, [&](absl::string_view name) {
        known = known || decode::MatchesGlob(wanted.name, name);
        if (!known) wanted.closest.Offer(name);
      });
      return known;
    case Kind::kEngine:
      for (const tables::Engine& engine : tables.engines()) {
        wanted.closest.Offer(tables.string(engine.name));
        for (const absl::string_view alias :
             absl::StrSplit(tables.string(engine.aliases), ' ', absl::SkipEmpty())) {
          wanted.closest.Offer(alias);
        }
      }
      return tables.FindEngine(wanted.name) != tables::kNone;
    case Kind::kStream: {
      for (const tables::Stream& stream : tables.streams()) {
        wanted.closest.Offer(tables.string(stream.name));
      }
      for (const tables::Container& container : tables.containers()) {
        if (container.kind == tables::ContainerKind::kStruct) {
          wanted.closest.Offer(tables.string(container.name));
        }
      }
      const uint32_t container = tables.FindContainer(wanted.name);
      return tables.FindStream(wanted.name) != tables::kNone ||
             (container != tables::kNone &&
              tables.container(container).kind == tables::ContainerKind::kStruct);
    }
    case Kind::kField:
      return KnowsField(tables, wanted.name, wanted.closest);
  }
  return true;
}

void WantedNames::Look(const tables::Tables& tables, const Dump& dump) {
  generation_ = std::string(tables.generation());
  wanted_.erase(std::remove_if(wanted_.begin(), wanted_.end(),
                               [&](Wanted& wanted) { return Knows(tables, dump, wanted); }),
                wanted_.end());
}

absl::Status WantedNames::status() const {
  if (wanted_.empty()) return absl::OkStatus();
  const Wanted& wanted = wanted_.front();
  std::string text;
  switch (wanted.kind) {
    case Kind::kFilter:
      text = absl::StrCat("--filter=", wanted.name, ": ", generation_,
                          " has no packet, structure, register or kind of data with that name");
      break;
    case Kind::kEngine:
      text = absl::StrCat("--engine=", wanted.name, ": ", generation_, " has no such engine");
      break;
    case Kind::kStream:
      text = absl::StrCat("--stream=", wanted.name, ": ", generation_,
                          " has no stream or structure with that name");
      break;
    case Kind::kField:
      text = absl::StrCat("--query or --where: ", wanted.name, ": ", generation_,
                          " has no field with that name");
      break;
  }
  const std::string close = DidYouMean(wanted.closest);
  return absl::InvalidArgumentError(absl::StrCat(
      text, close.empty() ? absl::StrCat("; unpack --list --gen=", generation_, " shows all names")
                          : close));
}

}  // namespace packsmith::tools
