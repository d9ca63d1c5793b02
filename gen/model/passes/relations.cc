#include "gen/model/passes/relations.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void ResolveRelations(Context& context, Container& c) {
  for (Relation& relation : c.relations) {
    relation.packet.index = context.FindContainer(relation.packet.text);
    if (relation.packet.index < 0 ||
        context.model.containers[static_cast<size_t>(relation.packet.index)].kind !=
            ContainerKind::kPacket) {
      context.Report(Code::kUnknownReference, relation.packet.where,
                     absl::StrCat("there is no packet \"", relation.packet.text, "\""));
    }
  }
}

}  // namespace packsmith::model
