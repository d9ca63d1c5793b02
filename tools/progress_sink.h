// Counts what is decoded, for the line that shows progress.
#ifndef PACKSMITH_TOOLS_PROGRESS_SINK_H_
#define PACKSMITH_TOOLS_PROGRESS_SINK_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/progress.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

// Passes everything on to `next`, which must outlive it.
class ProgressSink : public decode::Sink {
 public:
  explicit ProgressSink(decode::Sink& next) : next_(next) {}

  void OnSchema(const tables::Tables& tables) override { next_.OnSchema(tables); }
  void OnDevice(const Device& device, uint64_t id) override { next_.OnDevice(device, id); }
  void OnSubmission(const Submission& submission, uint64_t id) override {
    next_.OnSubmission(submission, id);
  }
  void OnRecord(const decode::Record& record) override {
    AddProgress(1);
    next_.OnRecord(record);
  }
  void OnLead(const decode::Lead& lead) override { next_.OnLead(lead); }
  void OnTrace(const decode::RecordTrace& trace) override {
    AddProgress(trace.records.size());
    next_.OnTrace(trace);
  }
  void OnDump(const Dump* dump) override { next_.OnDump(dump); }
  void OnInsert(absl::string_view text) override { next_.OnInsert(text); }
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    AddProgress(packets.size());
    next_.OnPackets(packets);
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    next_.OnRemark(text, is_problem);
  }
  void OnSummary(const decode::Summary& summary) override { next_.OnSummary(summary); }
  void OnPause() override { next_.OnPause(); }

 private:
  decode::Sink& next_;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_PROGRESS_SINK_H_
