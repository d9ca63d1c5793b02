#include "gen/model/passes/resolve.h"

#include "gen/model/passes/bases.h"
#include "gen/model/passes/clients.h"
#include "gen/model/passes/container_sizes.h"
#include "gen/model/passes/declarations.h"
#include "gen/model/passes/draws.h"
#include "gen/model/passes/expressions.h"
#include "gen/model/passes/fields.h"
#include "gen/model/passes/flows.h"
#include "gen/model/passes/length_fields.h"
#include "gen/model/passes/naming.h"
#include "gen/model/passes/nesting.h"
#include "gen/model/passes/opcodes.h"
#include "gen/model/passes/operations.h"
#include "gen/model/passes/overlaps.h"
#include "gen/model/passes/parts.h"
#include "gen/model/passes/pass.h"
#include "gen/model/passes/pointers.h"
#include "gen/model/passes/registers.h"
#include "gen/model/passes/relations.h"
#include "gen/model/passes/rules.h"
#include "gen/model/passes/streams.h"
#include "gen/model/passes/tails.h"
#include "gen/model/passes/types.h"
#include "gen/model/passes/values.h"
#include "gen/model/passes/warnings.h"
#include "gen/model/passes/workarounds.h"

namespace packsmith::model {

void Resolve(const Sources& sources, Diagnostics& diagnostics, Model& model) {
  Context context(sources, diagnostics, model);
  ResolveStreams(context);
  CheckDeclarations(context);
  ResolveClients(context);
  for (const Enum& e : model.enums) CheckValues(context, e.values);
  ResolveTypes(context);
  if (!OrderNesting(context)) return;  // circles make everything that follows endless
  // Sizes first: a field that nests a structure needs the structure's.
  for (const int i : model.nesting_order) {
    ComputeSize(context, model.containers[static_cast<size_t>(i)]);
  }
  OverlapPass overlaps(context);
  for (Container& c : model.containers) {
    CheckFields(context, c);
    CheckTail(context, c);
    overlaps.Check(c);
    ReadOpcode(context, c);
  }
  ExpressionReader reader(context);
  for (Container& c : model.containers) {
    ResolveLength(context, c);
    ResolvePointers(context, reader, c);
    ResolveParts(context, reader, c);
    ResolveDraws(context, reader, c);
    ResolveImages(context, reader, c);
    ResolveFlows(context, reader, c);
    ResolveOperations(context, reader, c);
    ResolveRelations(context, c);
    ResolveRules(context, reader, c);
  }
  for (Stream& stream : model.streams) ResolveLevels(context, reader, stream);
  CheckAmbiguity(context);
  CheckRegisters(context);
  ResolveBases(context);
  ResolveWorkarounds(context, reader);
  AssignNames(context);
  Warn(context);
}

}  // namespace packsmith::model
