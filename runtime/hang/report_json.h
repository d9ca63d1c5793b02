// The hang report as JSON records: docs/records.md.
#ifndef PACKSMITH_RUNTIME_HANG_REPORT_JSON_H_
#define PACKSMITH_RUNTIME_HANG_REPORT_JSON_H_

#include <string>

#include "runtime/hang/report.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// One record of type "hang", in one line.
std::string ToJson(const tables::Tables& tables, const HangReport& report);

// A record of type "fact" for everything else that the kernel wrote.
std::string FactsToJson(const ErrorState& state);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_REPORT_JSON_H_
