// What a program records, and where: the options that all recording programs share, as text.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_OPTIONS_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace packsmith::capture {

// Which submissions are recorded: those that match every list that is not empty.
struct Only {
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

  std::vector<std::string> engines = {};
  std::vector<std::string> processes = {};  // names
  std::vector<uint64_t> contexts = {};
  std::vector<uint64_t> pids = {};
  uint64_t from = 1;      // the first number
  uint64_t count = kAll;  // of those that match, at most

  friend bool operator==(const Only&, const Only&) = default;
};

// Which records stay.
enum class Keep {
  kAll,
  kHung,  // see Recorder::Finish()
};

struct RecordOptions {
  std::string folder = {};  // made if it is missing; it must not have a record
  Only only = {};
  std::string trigger = {};  // a file that starts recording; "": record from the beginning
  uint64_t limit = 0;        // bytes that the folder may have; 0: any
  Keep keep = Keep::kAll;

  friend bool operator==(const RecordOptions&, const RecordOptions&) = default;
};

// "engine=render,engine=compute,context=3,process=vkcube,pid=12,from=100,count=10". A key that is
// repeated is a list of alternatives; `from` and `count` may be given once. InvalidArgument with
// the part that is wrong, and the remedy.
absl::StatusOr<Only> ParseOnly(absl::string_view text);

// "1048576", "512M", "2G": a number of bytes of at least 1, with K, M, G or T for powers of 1024.
absl::StatusOr<uint64_t> ParseSize(absl::string_view text);

// An option by its name without dashes: record, only, trigger, record-limit, keep. NotFound for
// other names; InvalidArgument with the option, the value and the remedy.
absl::Status SetRecordOption(absl::string_view name, absl::string_view value,
                             RecordOptions& options);

// The options as arguments ("--record=DIR"), for a program that starts another one. Reading them
// gives the same options.
std::vector<std::string> RecordArguments(const RecordOptions& options);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_OPTIONS_H_
