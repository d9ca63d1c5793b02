// Messages and log of the GPU's firmware. The first byte chooses what the rest is: a channel, a
// list of messages in either direction, a log.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/guc/log.h"
#include "runtime/guc/messages.h"

namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  if (size == 0) return 0;
  const absl::Span<const uint8_t> bytes(data + 1, size - 1);
  if (data[0] % 4 == 3) {
    const guc::Log log = guc::ReadLog(bytes);
    Demand(log.constants.size() <= guc::kMostLogConstants);
    for (const guc::LogSection& section : log.sections) {
      Demand(section.size == 0 ||
             (section.offset <= bytes.size() && section.size <= bytes.size() - section.offset));
    }
    return 0;
  }
  const std::vector<guc::Message> messages =
      data[0] % 4 == 0 ? guc::ReadMessages(bytes)
                       : guc::ReadPendingMessages(bytes, data[0] % 4 == 1);
  Demand(messages.size() <= guc::kMostMessages);
  for (const guc::Message& message : messages) {
    Demand(message.offset < bytes.size());
    Demand(!guc::InWords(message).empty());
  }
  return 0;
}
