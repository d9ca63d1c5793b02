// A kernel's log, through to the report of a dump that it lies beside.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"

namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  static const tables::Tables* const kTables = new tables::Tables(*FindGeneration("gfx125"));
  const std::vector<hang::Event> events =
      hang::ReadKernelLog(absl::string_view(reinterpret_cast<const char*>(data), size));
  Demand(events.size() <= hang::kMostKernelEvents);
  auto state = std::make_shared<ErrorState>();
  state->facts = {{"", "Uptime", "812.5", 0}};
  state->contexts.emplace_back().id = "3";
  Dump dump;
  dump.error_state = state;
  for (const char* device : {"", "0000:03:00.0"}) {
    const std::vector<hang::Event> near = hang::EventsNear(dump, events, device);
    Demand(near.size() <= events.size());
    const hang::HangReport report = hang::MakeHangReport(*kTables, dump, near);
    for (const char c : hang::ToText(*kTables, report)) {
      Demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    }
    const std::string json = hang::ToJson(*kTables, report);
    Demand(json.find('\n') == json.size() - 1);
  }
  return 0;
}
