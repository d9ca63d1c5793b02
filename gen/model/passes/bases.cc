#include "gen/model/passes/bases.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void ResolveBases(Context& context) {
  for (Base& base : context.model.bases) {
    if (base.otherwise.empty()) continue;
    if (base.otherwise.text == "0") {
      base.otherwise.index = Base::kZero;
      continue;
    }
    base.otherwise.index = context.Find(context.model.bases, base.otherwise.text);
    if (base.otherwise.index >= 0) continue;
    context.Report(Code::kUnknownReference, base.otherwise.where,
                   absl::StrCat("there is no <base name=\"", base.otherwise.text, "\">"));
  }
}

}  // namespace packsmith::model
