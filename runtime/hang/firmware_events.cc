#include "runtime/hang/firmware_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "packsmith/guc.h"
#include "runtime/base/addresses.h"
#include "runtime/guc/log.h"
#include "runtime/guc/messages.h"

namespace packsmith::hang {
namespace {

using guc::GUC_ACTION;
using guc::Message;

// The GuC ID of messages about no known queue.
constexpr uint32_t kNoQueue = 0xffffffff;
// More is not read of a channel or a log.
constexpr uint64_t kMostFirmwareBytes = uint64_t{1} << 26;

// xe has the bytes by themselves, i915 as a buffer in the global space.
std::vector<uint8_t> FirmwareBytes(const Dump& dump, const std::string& xe,
                                   absl::string_view i915) {
  if (dump.error_state == nullptr) return {};
  if (const absl::Span<const uint8_t> blob = dump.error_state->BlobOf(xe); !blob.empty()) {
    return {blob.begin(), blob.end()};
  }
  for (const Buffer& buffer : dump.buffers) {
    if (!absl::EndsWith(buffer.name, i915)) continue;
    const Memory::Segment* const segment = dump.memory.Find(buffer.space, buffer.address);
    if (segment == nullptr) continue;
    const uint64_t size =
        std::min({dump.memory.Resolve(*segment).memory_size, buffer.size, kMostFirmwareBytes});
    std::vector<uint8_t> bytes(size);
    bytes.resize(dump.memory.Copy(buffer.space, buffer.address, absl::MakeSpan(bytes)));
    return bytes;
  }
  return {};
}

std::vector<Message> MessagesOf(const Dump& dump) {
  return guc::ReadMessages(FirmwareBytes(dump, "CTB", "GuC CTB"));
}

// A fault's address space, and whether the driver's answers say that none was served.
std::map<uint32_t, bool> Answers(const std::vector<Message>& messages) {
  std::map<uint32_t, bool> failed;
  for (const Message& message : messages) {
    if (!message.Is(GUC_ACTION::PAGE_FAULT_RES_DESC)) continue;
    const auto answer = message.As<guc::PAGE_FAULT_RES_DESC>();
    bool& any = failed.emplace(answer.asid, false).first->second;
    any = any || answer.failed;
  }
  return failed;
}

Event FaultOf(const Message& message) {
  constexpr const char* kAccesses[] = {"read", "write", "atomic"};
  constexpr const char* kEngines[] = {"rcs", "vcs", "vecs", "bcs", "", "ccs"};
  const auto said = message.As<guc::REPORT_PAGE_FAULT_REQ_DESC>();
  Event event;
  event.kind = EventKind::kPageFault;
  event.asid = said.asid;
  event.address = PlainAddress(said.address.gpu);
  if (said.access < std::size(kAccesses)) event.access = kAccesses[said.access];
  if (said.engine_class < std::size(kEngines)) event.engine = kEngines[said.engine_class];
  event.unit = guc::UnitName(said.source_unit);
  return event;
}

}  // namespace

std::vector<Event> EventsOfFirmware(const Dump& dump) {
  const std::vector<Message> messages = MessagesOf(dump);
  const std::map<uint32_t, bool> answers = Answers(messages);
  std::vector<Event> events;
  size_t number = 0;
  for (const Message& message : messages) {
    ++number;
    Event event;
    if (message.Is(GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC)) {
      event = FaultOf(message);
      // Address spaces with recoverable faults have them all the time.
      const auto answer = answers.find(*event.asid);
      if (answer != answers.end() && !answer->second) continue;
    } else if (message.Is(GUC_ACTION::NOTIFY_MEMORY_CAT_ERROR)) {
      event.kind = EventKind::kCatError;
      event.queue = message.As<guc::NOTIFY_MEMORY_CAT_ERROR>().guc_id;
    } else if (message.Is(GUC_ACTION::CONTEXT_RESET_NOTIFICATION)) {
      event.kind = EventKind::kReset;
      event.queue = message.As<guc::CONTEXT_RESET_NOTIFICATION>().guc_id;
    } else if (message.Is(GUC_ACTION::ENGINE_FAILURE_NOTIFICATION)) {
      event.kind = EventKind::kResetFailed;
    } else if (message.Is(GUC_ACTION::NOTIFY_CRASH_DUMP_POSTED) ||
               message.Is(GUC_ACTION::NOTIFY_EXCEPTION)) {
      event.kind = EventKind::kFirmware;
    } else {
      continue;
    }
    if (event.queue == kNoQueue) event.queue.reset();
    event.source = absl::StrFormat("GuC message at 0x%x", message.offset);
    event.text = guc::InWords(message);
    events.push_back(std::move(event));
  }
  return events;
}

std::vector<std::string> FirmwareLines(const Dump& dump) {
  std::vector<std::string> lines;
  const std::vector<Message> messages = MessagesOf(dump);
  for (const bool from_guc : {false, true}) {
    std::vector<std::string> some;
    for (auto at = messages.rbegin(); at != messages.rend() && some.size() < kShownMessages; ++at) {
      if (at->from_guc != from_guc) continue;
      some.push_back(absl::StrFormat("%s%s, at 0x%x: %s", from_guc ? "from GuC" : "to GuC",
                                     at->pending ? ", not read yet" : "", at->offset,
                                     guc::InWords(*at)));
    }
    lines.insert(lines.end(), some.rbegin(), some.rend());
  }
  const guc::Log log = guc::ReadLog(FirmwareBytes(dump, "LOG", "GuC log buffer"));
  for (const guc::LogSection& section : log.sections) {
    lines.push_back(absl::StrFormat(
        "log, %s: %d bytes, read to 0x%x, written to 0x%x%s", section.name, section.size,
        section.read, section.write,
        section.times_full == 0 ? "" : absl::StrCat(", full ", section.times_full, " times")));
  }
  for (const guc::LogConstant& constant : log.constants) {
    lines.push_back(
        absl::StrCat("log, ", constant.name, ": ",
                     absl::StrJoin(constant.words, " ", [](std::string* to, uint32_t w) {
                       absl::StrAppend(to, "0x", absl::Hex(w));
                     })));
  }
  return lines;
}

}  // namespace packsmith::hang
