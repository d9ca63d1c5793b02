// Lines of the index of a run. Internal to the recorder.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_LINE_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_LINE_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace packsmith::capture {

// A JSON object, member by member. Empty texts and lists are left out.
class IndexLine {
 public:
  explicit IndexLine(absl::string_view type);
  void Put(const char* name, absl::string_view value);
  void Put(const char* name, uint64_t value);
  void Put(const char* name, absl::Span<const std::string> values);
  void Put(const char* name, absl::Time value);  // in UTC
  // The line with its newline. Call it once.
  std::string End();

 private:
  void PutText(absl::string_view value);

  rapidjson::StringBuffer out_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_LINE_H_
