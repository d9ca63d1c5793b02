#include "runtime/decode/fields/pipeline_units.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace packsmith::decode {

std::string UnitOfField(absl::string_view field) {
  std::vector<absl::string_view> words = absl::StrSplit(field, ' ', absl::SkipEmpty());
  const auto says_idle = [](absl::string_view word) { return word == "Done" || word == "Idle"; };
  words.erase(std::remove_if(words.begin(), words.end(), says_idle), words.end());
  return words.empty() ? std::string(field) : absl::StrJoin(words, " ");
}

std::vector<PipelineUnit> PipelineUnits(const tables::Tables& tables) {
  std::vector<PipelineUnit> units;
  for (const tables::Container& container : tables.containers()) {
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables.extra(leaf.extra);
      if (extra.meaning != tables::Meaning::kIdle || extra.meaning_at == 0) continue;
      PipelineUnit unit = {UnitOfField(tables.string(leaf.name)), extra.meaning_at};
      // Registers of several slices, or of one in two views, have the same.
      if (std::find(units.begin(), units.end(), unit) == units.end()) {
        units.push_back(std::move(unit));
      }
    }
  }
  // Those of one place stay in the order of the description.
  std::stable_sort(units.begin(), units.end(),
                   [](const PipelineUnit& a, const PipelineUnit& b) { return a.place < b.place; });
  return units;
}

}  // namespace packsmith::decode
