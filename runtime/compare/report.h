// Comparisons as text and as JSON lines (docs/diff.md).
#ifndef PACKSMITH_RUNTIME_COMPARE_REPORT_H_
#define PACKSMITH_RUNTIME_COMPARE_REPORT_H_

#include <cstddef>
#include <string>

#include "runtime/compare/compare.h"
#include "runtime/decode/record.h"

namespace packsmith::compare {

struct ReportOptions {
  // What was compared: file names, with the number of a draw.
  std::string a, b;
  bool color = false;
  // Text: 0, or the columns of a report with `a` at the left and `b` at the right, at least 40.
  size_t side_by_side = 0;
};

// Nothing is written if nothing differs.
void WriteText(const Comparison& comparison, const ReportOptions& options, decode::Output& output);

// A line for each difference, and a summary.
void WriteJsonLines(const Comparison& comparison, const ReportOptions& options,
                    decode::Output& output);

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_REPORT_H_
