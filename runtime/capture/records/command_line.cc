#include "runtime/capture/records/command_line.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::capture {

void AddRecordOptions(CLI::App& app, RecordOptions& options) {
  CLI::Option* record = nullptr;
  for (const char* const name : {"record", "only", "trigger", "record-limit", "keep"}) {
    CLI::Option* const option = app.add_option_function<std::string>(
        absl::StrCat("--", name), [name, &options](const std::string& value) {
          const absl::Status status = SetRecordOption(name, value, options);
          if (!status.ok()) throw CLI::ValidationError(std::string(status.message()));
        });
    if (record == nullptr) {
      record = option;
    } else {
      option->needs(record);
    }
  }
}

}  // namespace packsmith::capture
