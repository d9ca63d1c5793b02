#include "gen/model/passes/values.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void CheckValues(Context& context, const std::vector<Value>& values) {
  std::map<uint64_t, const Value*> seen;
  for (const Value& value : values) {
    const auto [old, fresh] = seen.emplace(value.value, &value);
    if (fresh) continue;
    context
        .Report(Code::kValueTwice, value.where,
                absl::StrCat("\"", value.name, "\" and \"", old->second->name, "\" are both ",
                             value.value, "; decoding shows the first"))
        .notes.push_back({old->second->where, "the first is here"});
  }
}

}  // namespace packsmith::model
