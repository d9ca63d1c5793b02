#include "gen/model/passes/warnings.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void Warn(Context& context) {
  for (const Container& c : context.model.containers) {
    if (c.doc.empty() && c.kind == ContainerKind::kPacket) {
      context.Report(Code::kNoDocumentation, c.where,
                     absl::StrCat("packet \"", c.name, "\" has no <doc>"));
    }
  }
  for (const Enum& e : context.model.enums) {
    if (!e.is_type && !e.gives_names) {
      context.Report(Code::kUnusedEnum, e.where,
                     absl::StrCat("no field has the type \"", e.name, "\""));
    }
  }
}

}  // namespace packsmith::model
