// Records the submissions of a mock kernel.
#ifndef PACKSMITH_TOOLS_MOCK_RECORD_WATCHER_H_
#define PACKSMITH_TOOLS_MOCK_RECORD_WATCHER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/capture/records/recorder.h"

namespace packsmith::mock {

class RecordWatcher : public capture::Watcher {
 public:
  // `complain` receives what keeps a submission from being recorded; the first of each kind of
  // error.
  RecordWatcher(std::unique_ptr<capture::Recorder> recorder,
                std::function<void(absl::string_view)> complain)
      : recorder_(std::move(recorder)), complain_(std::move(complain)) {}

  void OnSubmit(const std::shared_ptr<const capture::Work>& work) override;
  void OnDone(const capture::Work& work, capture::Outcome outcome, absl::string_view why) override;

  // Ends the record. False: something could not be recorded.
  bool Finish();
  capture::Recorder::Totals totals() const { return recorder_->totals(); }

 private:
  void Note(const absl::Status& status);

  const std::unique_ptr<capture::Recorder> recorder_;
  const std::function<void(absl::string_view)> complain_;
  uint64_t failures_ = 0;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_RECORD_WATCHER_H_
