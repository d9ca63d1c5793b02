// What triage reads besides dumps. The first byte chooses: a file of known issues, a line of a
// state file, the code of a hang.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/ecode.h"
#include "runtime/triage/known_issues.h"
#include "runtime/triage/record.h"

namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: {
      const absl::StatusOr<triage::KnownIssues> issues = triage::ParseKnownIssues(text, "known");
      if (!issues.ok()) break;
      triage::Signature signature;
      signature.command = std::string(text.substr(0, 200));
      signature.kernel = "6.8.0-45-generic";
      Demand(issues->Of(signature).size() <= issues->all().size());
      break;
    }
    case 1: {
      const std::optional<triage::Record> record = triage::FromJson(text);
      if (!record) break;
      const std::string line = triage::ToJson(*record);
      Demand(line.find('\n') == std::string::npos);
      const std::optional<triage::Record> again = triage::FromJson(line);
      Demand(again.has_value() && *again == *record);
      break;
    }
    default: {
      static const tables::Tables* const kTables = new tables::Tables(*FindGeneration("gfx9"));
      const std::optional<hang::Ecode> ecode = hang::ParseEcode(text);
      if (ecode) Demand(!hang::EcodeToText(*kTables, *ecode).empty());
    }
  }
  return 0;
}
