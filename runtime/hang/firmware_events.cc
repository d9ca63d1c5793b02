#include "runtime/hang/firmware_events.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <set>
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
  std::vector<Message> messages = guc::ReadMessages(FirmwareBytes(dump, "CTB", "GuC CTB"));
  if (dump.error_state == nullptr) return messages;
  for (const auto& [name, from_guc] : {std::pair{"H2G", false}, std::pair{"G2H", true}}) {
    for (Message& message : guc::ReadPendingMessages(dump.error_state->BlobOf(name), from_guc)) {
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

// What a fault and the driver's answer to it have in common.
struct FaultKey {
  uint64_t asid, engine_class, engine_instance, virtual_function, process_data;
  auto operator<=>(const FaultKey&) const = default;
};

FaultKey KeyOf(const guc::REPORT_PAGE_FAULT_REQ_DESC& fault) {
  constexpr uint32_t kLowBits = 4;  // of the data, of which the fault has two fields
  return {fault.asid, fault.engine_class, fault.engine_instance, fault.virtual_function,
          uint64_t{fault.process_data_high} << kLowBits | fault.process_data_low};
}
FaultKey KeyOf(const guc::PAGE_FAULT_RES_DESC& answer) {
  return {answer.asid, answer.engine_class, answer.engine_instance, answer.virtual_function,
          answer.process_data};
}

// The faults that the driver served, as indices of messages. Each direction keeps its order, and
// the oldest of either may be overwritten: the last answer belongs to the last fault with its key
// that the driver has read, the one before it to the fault before, and so on.
std::set<size_t> ServedFaults(const std::vector<Message>& messages) {
  std::map<FaultKey, std::vector<bool>> failed;  // the last one at the end
  for (const Message& message : messages) {
    if (!message.Is(GUC_ACTION::PAGE_FAULT_RES_DESC)) continue;
    const auto answer = message.As<guc::PAGE_FAULT_RES_DESC>();
    failed[KeyOf(answer)].push_back(answer.failed);
  }
  std::set<size_t> served;
  for (size_t i = messages.size(); i-- > 0;) {
    const Message& message = messages[i];
    if (!message.Is(GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC) || message.pending) continue;
    const auto found = failed.find(KeyOf(message.As<guc::REPORT_PAGE_FAULT_REQ_DESC>()));
    if (found == failed.end() || found->second.empty()) continue;
    if (!found->second.back()) served.insert(i);
    found->second.pop_back();
  }
  return served;
}

// Queues that the driver wanted off their engine last, and that the firmware has not answered
// about: by GuC ID, the index of the message. A request that the firmware has not read yet is none.
std::map<uint32_t, size_t> UnansweredStops(const std::vector<Message>& messages) {
  std::map<uint32_t, size_t> stops;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].Is(GUC_ACTION::SCHED_CONTEXT_MODE_SET)) continue;
    const auto set = messages[i].As<guc::SCHED_CONTEXT_MODE_SET>();
    stops.erase(set.guc_id);
    if (set.enable == 0 && !messages[i].pending) stops.emplace(set.guc_id, i);
  }
  // Answers come in order: the last one answers the last request, if it says the same.
  std::map<uint32_t, bool> enabled;
  for (const Message& message : messages) {
    if (!message.Is(GUC_ACTION::SCHED_CONTEXT_MODE_DONE)) continue;
    const auto done = message.As<guc::SCHED_CONTEXT_MODE_DONE>();
    enabled[done.guc_id] = done.enabled != 0;
  }
  for (const auto& [queue, is_enabled] : enabled) {
    if (!is_enabled) stops.erase(queue);
  }
  return stops;
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
  const std::set<size_t> served = ServedFaults(messages);
  const std::map<uint32_t, size_t> stops = UnansweredStops(messages);
  std::vector<Event> events;
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    Event event;
    if (message.Is(GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC)) {
      // Address spaces with recoverable faults have them all the time, and a prefetch that fails
      // does no harm.
      if (served.count(i) != 0 || message.As<guc::REPORT_PAGE_FAULT_REQ_DESC>().prefetch) continue;
      event = FaultOf(message);
    } else if (message.Is(GUC_ACTION::SCHED_CONTEXT_MODE_SET)) {
      const auto set = message.As<guc::SCHED_CONTEXT_MODE_SET>();
      const auto stop = stops.find(set.guc_id);
      if (stop == stops.end() || stop->second != i) continue;
      event.kind = EventKind::kPreemption;
      event.queue = set.guc_id;
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
    event.origin = EventOrigin::kFirmware;
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
