// Records what the tracer sees.
#ifndef PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_
#define PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/records/recorder.h"
#include "runtime/capture/trace/file.h"

namespace packsmith::trace {

class RecordSink : public capture::TraceSink {
 public:
  // `complain` receives the first error that keeps a submission from being recorded.
  RecordSink(std::unique_ptr<capture::Recorder> recorder,
             std::function<void(absl::string_view)> complain)
      : recorder_(std::move(recorder)), complain_(std::move(complain)) {}

  bool Wants(const capture::Work& work) override;
  void OnSubmit(const capture::Work& work) override;

  // Ends the record. False: something could not be recorded.
  bool Finish();
  capture::Recorder::Totals totals() const { return recorder_->totals(); }

 private:
  void Note(const absl::Status& status);

  const std::unique_ptr<capture::Recorder> recorder_;
  const std::function<void(absl::string_view)> complain_;
  uint64_t failures_ = 0;
};

}  // namespace packsmith::trace

#endif  // PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_
