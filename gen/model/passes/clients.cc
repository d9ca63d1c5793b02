#include "gen/model/passes/clients.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace packsmith::model {
namespace {

// The bit of an action; 0 if there is none of that name.
tables::CacheActions ActionOf(absl::string_view name) {
  const auto* const found = std::find(kMeaningNames.begin(), kMeaningNames.end(), name);
  if (found == kMeaningNames.end()) return 0;
  const auto meaning = static_cast<Meaning>(1 + (found - kMeaningNames.begin()));
  return tables::IsCacheAction(meaning) ? tables::SetOf(meaning) : 0;
}

void ResolveList(Context& context, const Deferred& from, tables::Clauses& to) {
  const std::vector<tables::CacheActions> clauses = ReadClauses(context, from);
  if (clauses.size() > tables::kMostClauses) {
    context.Report(Code::kTooLarge, from.where,
                   absl::StrCat("more than ", tables::kMostClauses, " cache actions"));
    return;
  }
  std::copy(clauses.begin(), clauses.end(), to);
}

}  // namespace

std::vector<tables::CacheActions> ReadClauses(Context& context, const Deferred& from) {
  std::vector<tables::CacheActions> clauses;
  for (const absl::string_view any :
       absl::StrSplit(from.text, absl::ByAnyChar(" \n\t"), absl::SkipEmpty())) {
    tables::CacheActions clause = 0;
    for (const absl::string_view name : absl::StrSplit(any, '|')) {
      const tables::CacheActions one = ActionOf(name);
      if (one == 0) {
        context.Report(Code::kUnknownReference, from.where,
                       absl::StrCat("\"", name, "\" is not a cache action"));
      }
      clause |= one;
    }
    if (clause != 0) clauses.push_back(clause);
  }
  return clauses;
}

void ResolveClients(Context& context) {
  for (Client& client : context.model.clients) {
    client.is.kind = client.kind;
    client.is.in_l3 = client.in_l3 ? 1 : 0;
    client.is.after_write = client.after_write ? 1 : 0;
    ResolveList(context, client.flush, client.is.flush);
    ResolveList(context, client.to_memory, client.is.to_memory);
    ResolveList(context, client.invalidate, client.is.invalidate);
    ResolveList(context, client.from_memory, client.is.from_memory);
    ResolveList(context, client.own, client.is.own);
  }
}

}  // namespace packsmith::model
