// What triage keeps of one file: a line of JSON, in outputs and in the state file.
//
//   std::string line = ToJson(record);         // {"type":"dump","path":"a/data.zst",…}
//   std::optional<Record> again = FromJson(line);
#ifndef PACKSMITH_RUNTIME_TRIAGE_RECORD_H_
#define PACKSMITH_RUNTIME_TRIAGE_RECORD_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"
#include "runtime/triage/signature.h"

namespace packsmith::triage {

// A file as it was when it was read: if any of these differ, it is read again.
struct FileStamp {
  std::string path;
  uint64_t size = 0;        // bytes
  int64_t modified_ns = 0;  // since 1970

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

enum class Outcome {
  kHang,        // the signature counts
  kOther,       // the file is not a dump of a hang
  kUnreadable,  // it is damaged, or of an unknown GPU, or could not be opened
};

// Strings come from the input; see dump.h.
struct Record {
  FileStamp file;
  Outcome outcome = Outcome::kUnreadable;
  std::string trouble;    // why it is not kHang; or, if something of a dump is damaged, the first
                          // problem
  uint64_t problems = 0;  // parts of a dump that are damaged
  Signature signature;
  std::string format;  // "i915 error state"
  std::string title;   // the kernel's line, whole
  std::string ecode;
  std::string process;        // "gl-basic[1234] prio 0"
  std::string pci_id;         // "0x1912"
  int64_t time = 0;           // seconds since 1970
  bool time_is_file = false;  // `time` is the file's: the dump has none

  friend bool operator==(const Record&, const Record&) = default;
};

// One object without a line's end. Members that are empty are left out, but for those of a hang's
// signature. `more`: whole members of the object to add, such as "\"group\":\"12\"".
std::string ToJson(const Record& record, absl::string_view more = "");
// Empty: it is not such an object of this version of packsmith. Signatures of one version are not
// compared with those of another.
std::optional<Record> FromJson(absl::string_view line);

// JSON text in quotes, without control and other hidden characters.
std::string JsonText(absl::string_view text);

// Finds the tables for a dump, and plays recordings.
using Describe = std::function<absl::StatusOr<tables::Tables>(const Dump& dump)>;

// Reads a file and analyses it. Never fails: the record says what is wrong. `max_bytes`: of a file
// after decompression.
Record ReadRecord(const FileStamp& file, uint64_t max_bytes, const Describe& describe);

// The stamp of a file, or why there is none: NotFound, PermissionDenied, …
absl::StatusOr<FileStamp> StampOf(const std::string& path);

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_RECORD_H_
