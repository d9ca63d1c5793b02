#include "tools/describe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"
#include "runtime/describe/find.h"
#include "runtime/describe/history.h"
#include "runtime/describe/jsonl.h"
#include "runtime/describe/reference.h"
#include "runtime/describe/text.h"
#include "runtime/generations/generations.h"

namespace packsmith::tools {
namespace {

using describe::Reference;

// The index of the generation of that name in `references`.
absl::StatusOr<size_t> IndexOf(absl::Span<const Reference> references, const std::string& name) {
  std::vector<absl::string_view> known;
  Closest closest(name);
  for (size_t i = 0; i < references.size(); ++i) {
    if (IsCalled(references[i].tables(), name)) return i;
    known.push_back(references[i].generation());
    closest.Offer(known.back());
    for (const absl::string_view alias :
         absl::StrSplit(references[i].tables().aliases(), ' ', absl::SkipEmpty())) {
      closest.Offer(alias);
    }
  }
  return absl::NotFoundError(absl::StrCat("there is no generation \"", name,
                                          "\"; known generations: ", absl::StrJoin(known, ", "),
                                          DidYouMean(closest)));
}

bool Has(const describe::History& history, absl::string_view generation) {
  return std::any_of(history.versions.begin(), history.versions.end(), [&](const auto& version) {
    const auto& names = version.generations;
    return std::find(names.begin(), names.end(), generation) != names.end();
  });
}

}  // namespace

absl::Status Describe(absl::Span<const tables::Tables> generations, const DescribeOptions& options,
                      decode::Output& output) {
  std::vector<Reference> references;
  for (const tables::Tables& tables : generations) {
    absl::StatusOr<Reference> reference = Reference::Open(tables);
    if (!reference.ok()) return reference.status();
    references.push_back(*std::move(reference));
  }
  const absl::Span<const Reference> all = references;
  absl::Span<const Reference> wanted = all;
  size_t only = all.size();
  if (!options.generation.empty()) {
    const absl::StatusOr<size_t> index = IndexOf(all, options.generation);
    if (!index.ok()) return index.status();
    only = *index;
    wanted = all.subspan(only, 1);
  }
  if (options.name.empty()) {
    output.Append(options.jsonl       ? describe::ListJsonl(wanted)
                  : only < all.size() ? describe::ListText(wanted, options.color) +
                                            describe::NamesText(wanted[0], options.color)
                                      : describe::ListText(wanted, options.color));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<describe::Found>> found = describe::Find(wanted, options.name);
  if (!found.ok()) {
    // Another generation may have it.
    const absl::StatusOr<std::vector<describe::Found>> elsewhere =
        only < all.size() ? describe::Find(all, options.name) : found;
    if (!elsewhere.ok()) return found.status();
    const describe::Found& one = elsewhere->front();
    const describe::History history = describe::HistoryOf(all, one.family, one.kind, one.name);
    std::vector<absl::string_view> have;
    for (const describe::Version& version : history.versions) {
      have.insert(have.end(), version.generations.begin(), version.generations.end());
    }
    return absl::NotFoundError(absl::StrCat(
        all[only].generation(), " has no ", one.name, one.field.empty() ? "" : ".", one.field,
        one.field.empty() ? absl::StrCat("; it is in ", describe::GenerationsText(all, have))
                          : "; without --gen all generations are searched"));
  }
  bool first = true;
  for (const describe::Found& one : *found) {
    const describe::History history = describe::HistoryOf(all, one.family, one.kind, one.name);
    if (options.jsonl) {
      output.Append(describe::DescriptionJsonl(
          history, only < all.size() ? all[only].generation() : absl::string_view()));
      continue;
    }
    size_t shown = only;
    for (size_t i = all.size(); shown == all.size() && i-- > 0;) {
      if (Has(history, all[i].generation())) shown = i;
    }
    if (!first) output.Append("\n");
    first = false;
    output.Append(describe::DescriptionText(all, shown, history, {options.color, one.field}));
  }
  return absl::OkStatus();
}

}  // namespace packsmith::tools
