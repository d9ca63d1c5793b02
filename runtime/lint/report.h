// Alarms as text, as JSON lines, and as SARIF 2.1.0 (docs/lint.md).
#ifndef PACKSMITH_RUNTIME_LINT_REPORT_H_
#define PACKSMITH_RUNTIME_LINT_REPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarm.h"
#include "runtime/lint/rules.h"

namespace packsmith::lint {

enum class ReportFormat { kText, kJsonLines, kSarif };

class Report : public AlarmSink {
 public:
  // The file that the next alarms are about.
  void BeginFile(absl::string_view name) { file_ = std::string(name); }
  // Writes what comes after the alarms. The last call. `is_whole`: the input could be read.
  virtual void Finish(const AlarmCounts& counts, bool is_whole) = 0;

 protected:
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// `output` must outlive the report. `rules`: all that alarms may be of, for SARIF's list.
std::unique_ptr<Report> MakeReport(ReportFormat format, std::vector<ListedRule> rules,
                                   decode::Output& output);

// The rules themselves, as text or as JSON lines.
void WriteRules(absl::Span<const ListedRule> rules, ReportFormat format, decode::Output& output);

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_REPORT_H_
