// Rules about what the pointers of a record point to, and the bases that they count from.
#ifndef PACKSMITH_RUNTIME_LINT_POINTER_RULES_H_
#define PACKSMITH_RUNTIME_LINT_POINTER_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/context.h"
#include "runtime/lint/zones.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// A decode::Lead that outlives its call.
struct KeptLead {
  decode::FieldAt at;
  const tables::Pointer* pointer;
  uint32_t space;
  uint64_t address;
  uint64_t size;  // bytes; 0: unknown
};

class PointerRules {
 public:
  // All must outlive this.
  PointerRules(const tables::Tables& tables, const Evaluator& evaluator, const Zones& zones,
               Alarms& alarms);

  void OnDump(const Dump* dump) { dump_ = dump; }
  // The bases that a record sets, and their sizes. After Check().
  void SetBases(const decode::Record& record, Context& context);
  // `leads`: the record's.
  void Check(const decode::Record& record, absl::Span<const KeptLead> leads, const Context& context,
             const Place& place);

 private:
  void CheckMissing(const decode::Record& record, const decode::Fault& fault,
                    const Context& context, const Place& place);
  void CheckExtent(const KeptLead& lead, const Place& place);
  void CheckZone(const KeptLead& lead, const Place& place);
  void CheckHeap(const KeptLead& lead, const Context& context, const Place& place);
  void CheckAlignment(const decode::Record& record, const KeptLead& lead, const Context& context,
                      const Place& place);

  const tables::Tables& tables_;
  const Evaluator& evaluator_;
  const Zones& zones_;
  Alarms& alarms_;
  decode::ChosenLeaves setting_;
  decode::ChosenLeaves pointing_;
  const Dump* dump_ = nullptr;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_POINTER_RULES_H_
