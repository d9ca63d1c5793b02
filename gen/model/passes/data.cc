#include "gen/model/passes/data.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {

int FindData(Context& context, const Deferred& text) {
  const int data = context.Find(context.model.data_kinds, text.text);
  if (data < 0 && !text.empty()) {
    context.Report(Code::kUnknownReference, text.where,
                   absl::StrCat("there is no <data name=\"", text.text, "\">"));
  }
  return data;
}

}  // namespace packsmith::model
