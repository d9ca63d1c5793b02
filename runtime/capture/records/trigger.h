// A file that starts and stops recording.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_TRIGGER_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_TRIGGER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace packsmith::capture {

// The file has a decimal number of submissions to record, or nothing: all from then on. 0 ends it.
// It is removed when it is read, so that making it again has an effect again. An empty file counts
// when it is a tenth of a second old: `echo 100 > FILE` makes an empty file first.
class Trigger {
 public:
  // path: "" for a trigger that is always on.
  explicit Trigger(std::string path) : path_(std::move(path)) {}

  // Looks for the file. InvalidArgument if it is not a trigger; it is removed then too, if
  // possible.
  absl::Status Poll();

  // Whether the next submission is recorded.
  bool on() const { return path_.empty() || left_ != 0; }
  // Whether it may be after Poll().
  bool MayBeOn() const;
  // A submission was recorded.
  void Use();

 private:
  static constexpr uint64_t kAll = ~uint64_t{0};

  const std::string path_;
  uint64_t left_ = 0;  // submissions
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_TRIGGER_H_
