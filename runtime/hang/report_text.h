// The hang report as text.
#ifndef PACKSMITH_RUNTIME_HANG_REPORT_TEXT_H_
#define PACKSMITH_RUNTIME_HANG_REPORT_TEXT_H_

#include <string>

#include "runtime/hang/report.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Whole lines. `color` highlights the important parts.
std::string ToText(const tables::Tables& tables, const HangReport& report, bool color = false);

// Everything else that the kernel wrote, section by section, in its order: kernels write keys that
// are not known here, and none is lost.
std::string FactsToText(const ErrorState& state);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_REPORT_TEXT_H_
