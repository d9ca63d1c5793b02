#include "gen/model/passes/flows.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void ResolveFlows(Context& context, ExpressionReader& reader, Container& c) {
  const Scope top{&c, nullptr};
  for (Flow& flow : c.flows) {
    reader.Resolve(flow.when, top);
    reader.Resolve(flow.maybe, top);
    const bool goes = flow.kind == Flow::Kind::kJump || flow.kind == Flow::Kind::kCall;
    if (goes != !flow.to.empty()) {
      context.Report(
          Code::kBadFlow, flow.where,
          goes ? "a jump or call needs to=\"FIELD\"" : "only jumps and calls go somewhere");
      continue;
    }
    if (!goes) {
      if (!flow.maybe.empty()) {
        context.Report(Code::kBadFlow, flow.maybe.where, "only jumps and calls may be left out");
      }
      continue;
    }
    flow.to.is = reader.FindField(flow.to, top);
    if (flow.to.is.field == nullptr || (flow.to.is.field->type != FieldType::kAddress &&
                                        flow.to.is.field->type != FieldType::kOffset)) {
      context.Report(
          Code::kBadFlow, flow.to.where,
          absl::StrCat("\"", flow.to.text, "\" is not an address field of \"", c.name, "\""));
      flow.to.is = {};
    }
  }
  if (!c.flows.empty() && c.kind != ContainerKind::kPacket) {
    context.Report(Code::kBadFlow, c.flows[0].where, "only packets jump, call, return and end");
  }
}

}  // namespace packsmith::model
