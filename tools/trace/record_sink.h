// Records what the tracer sees.
#ifndef PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_
#define PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "runtime/capture/records/recorder.h"
#include "runtime/capture/trace/file.h"
#include "tools/mock/record_watcher.h"

namespace packsmith::trace {

class RecordSink : public capture::TraceSink {
 public:
  // `complain` receives the first error that keeps a submission from being recorded.
  RecordSink(std::unique_ptr<capture::Recorder> recorder,
             std::function<void(absl::string_view)> complain)
      : recorder_(*recorder), watcher_(std::move(recorder), std::move(complain)) {}

  bool Wants(const capture::Work& work) override {
    return recorder_.Wants({.number = work.number,
                            .engine = work.engine,
                            .context = work.context,
                            .process = work.process,
                            .pid = static_cast<uint64_t>(work.pid)});
  }
  void OnSubmit(const capture::Work& work) override {
    // Lives longer than the call.
    watcher_.OnSubmit(std::shared_ptr<const capture::Work>(std::shared_ptr<void>(), &work));
  }

  // Ends the record. False: something could not be recorded.
  bool Finish() { return watcher_.Finish(); }
  capture::Recorder::Totals totals() const { return watcher_.totals(); }

 private:
  capture::Recorder& recorder_;  // the watcher's
  mock::RecordWatcher watcher_;
};

}  // namespace packsmith::trace

#endif  // PACKSMITH_TOOLS_TRACE_RECORD_SINK_H_
