// SARIF 2.1.0: the exchange format for results of analysis tools. Source: OASIS, SARIF 2.1.0.
#ifndef PACKSMITH_RUNTIME_LINT_SARIF_H_
#define PACKSMITH_RUNTIME_LINT_SARIF_H_

#include <memory>
#include <vector>

#include "runtime/lint/report.h"

namespace packsmith::lint {

// Results are written as they come, so that memory does not grow with them.
std::unique_ptr<Report> MakeSarifReport(std::vector<ListedRule> rules, decode::Output& output);

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_SARIF_H_
