#include "runtime/hang/kernel_events.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/dump/dump.h"

namespace packsmith::hang {
namespace {

constexpr size_t kLongestText = 200;

// A kind of line: all of `words` are in it, in order. The first match applies.
// Source: Linux, drivers/gpu/drm/xe (xe_guc_submit.c, xe_pagefault.c, xe_devcoredump.c,
// xe_guc_ct.c) and drivers/gpu/drm/i915 (gt/intel_reset.c, gt/intel_gt.c, i915_gpu_error.c).
struct Line {
  EventKind kind;
  absl::string_view first, second;
};
constexpr Line kLines[] = {
    {EventKind::kPreemption, "Schedule disable failed to respond", ""},
    {EventKind::kPreemption, "preemption time out", ""},
    {EventKind::kRefused, "Resetting ", "CS error"},
    {EventKind::kResetFailed, "engine reset request failed", ""},
    {EventKind::kResetFailed, "GuC failed to reset", ""},
    {EventKind::kResetFailed, "Failed to reset chip", ""},
    {EventKind::kResetFailed, "reset request timed out", ""},
    {EventKind::kResetFailed, "CRITICAL: Xe has declared device", ""},
    {EventKind::kCatError, "emory CAT error", ""},
    {EventKind::kReset, "Engine reset:", ""},
    {EventKind::kReset, "Resetting ", " for "},
    {EventKind::kReset, "Resetting chip", ""},
    {EventKind::kReset, "context reset due to GPU hang", ""},
    {EventKind::kNotStarted, "Check job timeout", "not started"},
    {EventKind::kNotStarted, "not yet started", ""},
    {EventKind::kTimeout, "Timedout job", ""},
    {EventKind::kSaved, "GPU error state saved", ""},
    {EventKind::kSaved, "GPU crash dump saved", ""},
    {EventKind::kSaved, "device coredump has been created", ""},
    {EventKind::kFirmware, "CTB is dead", ""},
};

bool Has(absl::string_view text, const Line& line) {
  const size_t at = text.find(line.first);
  return at != absl::string_view::npos &&
         text.find(line.second, at + line.first.size()) != absl::string_view::npos;
}

// The characters after `key`, up to one of " ,)(".
std::optional<absl::string_view> WordAfter(absl::string_view text, absl::string_view key) {
  const size_t at = text.find(key);
  if (at == absl::string_view::npos) return std::nullopt;
  text = absl::StripLeadingAsciiWhitespace(text.substr(at + key.size()));
  return text.substr(0, text.find_first_of(" ,()\t\r"));
}

std::optional<uint32_t> NumberAfter(absl::string_view text, absl::string_view key) {
  const std::optional<absl::string_view> word = WordAfter(text, key);
  uint32_t number = 0;
  if (!word || !absl::SimpleAtoi(*word, &number)) return std::nullopt;
  return number;
}

std::optional<uint64_t> AddressAfter(absl::string_view text, absl::string_view key) {
  const std::optional<absl::string_view> word = WordAfter(text, key);
  uint64_t number = 0;
  if (!word || !absl::SimpleHexAtoi(*word, &number)) return std::nullopt;
  return number;
}

// "[ 1234.567890] xe 0000:03:00.0: [drm] ...": the seconds.
std::optional<double> SecondsOf(absl::string_view line) {
  while (true) {
    const size_t open = line.find('[');
    if (open == absl::string_view::npos || open > 64) return std::nullopt;
    line.remove_prefix(open + 1);
    const size_t close = line.find(']');
    if (close == absl::string_view::npos) return std::nullopt;
    double seconds = 0;
    const absl::string_view inside = absl::StripAsciiWhitespace(line.substr(0, close));
    if (inside.find('.') != absl::string_view::npos && absl::SimpleAtod(inside, &seconds) &&
        std::isfinite(seconds) && seconds >= 0) {
      return seconds;
    }
    line.remove_prefix(close + 1);
  }
}

// "0000:03:00.0" of "[ 1234.567890] xe 0000:03:00.0: [drm] ...".
std::string DeviceOf(absl::string_view line) {
  line = line.substr(0, 256);
  for (const absl::string_view driver : {"xe ", "i915 "}) {
    for (size_t at = line.find(driver); at != absl::string_view::npos;
         at = line.find(driver, at + 1)) {
      // Domain, bus, device and function, and the colon after them.
      constexpr absl::string_view kForm = "xxxx:xx:xx.x:";
      const absl::string_view address = line.substr(at + driver.size(), kForm.size());
      const auto fits = [](char form, char c) {
        return form == 'x' ? absl::ascii_isxdigit(static_cast<unsigned char>(c)) : form == c;
      };
      if (address.size() == kForm.size() &&
          std::equal(kForm.begin(), kForm.end(), address.begin(), fits)) {
        return absl::AsciiStrToLower(address.substr(0, kForm.size() - 1));
      }
    }
  }
  return "";
}

// What follows time, driver and device.
absl::string_view TextOf(absl::string_view line) {
  for (const absl::string_view mark : {"*ERROR* ", "[drm:", "[drm] "}) {
    const size_t at = line.substr(0, 256).find(mark);
    if (at == absl::string_view::npos) continue;
    line = line.substr(at + mark.size());
    // "[drm:function [module]] text"
    const size_t close = mark == "[drm:" ? line.find("]] ") : absl::string_view::npos;
    if (close != absl::string_view::npos) line = line.substr(close + 3);
    break;
  }
  // "Tile0: GT0: text"
  for (const absl::string_view prefix : {"Tile", "GT"}) {
    if (!absl::StartsWith(line, prefix)) continue;
    const size_t colon = line.find(": ");
    if (colon < 8) line = line.substr(colon + 2);
  }
  return absl::StripAsciiWhitespace(line);
}

// Lines that follow the first one of a page fault, "Key: value": what they add to it. False: the
// line is none of them.
bool AddFaultLine(absl::string_view text, Event& fault) {
  const auto value = [&](absl::string_view key) { return WordAfter(text, key); };
  if (absl::StartsWith(text, "ASID:")) {
    fault.asid = NumberAfter(text, "ASID:");
  } else if (absl::StartsWith(text, "Faulted Address:")) {
    fault.address = AddressAfter(text, "Faulted Address:");
  } else if (absl::StartsWith(text, "AccessType:")) {
    constexpr const char* kAccesses[] = {"read", "write", "atomic"};
    const std::optional<uint32_t> access = NumberAfter(text, "AccessType:");
    if (access && *access < std::size(kAccesses)) fault.access = kAccesses[*access];
  } else if (absl::StartsWith(text, "EngineClass:")) {
    // "EngineClass: 0 rcs"
    const absl::string_view rest = absl::StripAsciiWhitespace(text.substr(text.find(':') + 1));
    const size_t blank = rest.find(' ');
    if (blank != absl::string_view::npos) {
      fault.engine = ValidUtf8(absl::StripAsciiWhitespace(rest.substr(blank)).substr(0, 16));
    }
  } else if (absl::StartsWith(text, "Addr:")) {  // i915
    fault.address = AddressAfter(text, "Addr:");
  } else {
    return value("FaultType:") || value("FaultLevel:") || value("EngineInstance:") ||
           value("Address space:") || value("Engine ID:") || value("Source ID:") || value("Type:");
  }
  return true;
}

}  // namespace

std::optional<Event> EventOfLine(absl::string_view line) {
  const auto* const found = std::find_if(std::begin(kLines), std::end(kLines),
                                         [line](const Line& one) { return Has(line, one); });
  if (found == std::end(kLines)) return std::nullopt;
  const absl::string_view text = TextOf(line);
  Event event;
  event.kind = found->kind;
  event.text = ValidUtf8(text.substr(0, kLongestText));
  event.seconds = SecondsOf(line);
  event.device = DeviceOf(line);
  event.queue = NumberAfter(text, "guc_id=");
  if (const std::optional<absl::string_view> name = WordAfter(text, "class=")) {
    event.engine = ValidUtf8(name->substr(0, 16));
  }
  // "Resetting rcs0 for preemption time out"
  constexpr absl::string_view kFor = " for ";
  const size_t at = text.find("Resetting ");
  if (at != absl::string_view::npos) {
    const absl::string_view name = WordAfter(text, "Resetting ").value_or("");
    if (name != "chip") event.engine = ValidUtf8(name.substr(0, 16));
    const size_t why = text.find(kFor, at);
    if (why != absl::string_view::npos) {
      event.why = ValidUtf8(text.substr(why + kFor.size(), kLongestText));
    }
  }
  return event;
}

std::vector<Event> ReadKernelLog(absl::string_view text) {
  std::vector<Event> events;
  bool in_fault = false;  // the last event is one, and its lines go on
  // Of the last line that has them: a message's further lines have neither.
  std::string device;
  std::optional<double> seconds;
  for (size_t number = 1; !text.empty() && events.size() < kMostKernelEvents; ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const absl::string_view inner = TextOf(line);
    const std::string source = absl::StrCat("kernel log, line ", number);
    // Further lines of a message have no prefix, or, in a journal, the time alone.
    const size_t tab = line.find('\t');
    const absl::string_view after_tab = absl::StripAsciiWhitespace(
        tab == absl::string_view::npos ? absl::string_view(inner) : line.substr(tab));
    if (in_fault && AddFaultLine(after_tab, events.back())) continue;
    in_fault = false;
    if (const std::optional<double> said = SecondsOf(line)) {
      seconds = said;
      device.clear();
    }
    if (std::string said = DeviceOf(line); !said.empty()) device = std::move(said);
    const bool unexpected = absl::StrContains(inner, "Unexpected fault");
    if (unexpected || absl::StartsWith(after_tab, "ASID:")) {
      Event fault;
      fault.kind = EventKind::kPageFault;
      fault.source = source;
      fault.seconds = seconds;
      fault.device = device;
      if (!unexpected) (void)AddFaultLine(after_tab, fault);
      events.push_back(std::move(fault));
      in_fault = true;
      continue;
    }
    if (std::optional<Event> event = EventOfLine(line)) {
      event->source = source;
      events.push_back(*std::move(event));
    }
  }
  // What a page fault is shown as, now that all its lines are read.
  for (Event& event : events) {
    if (event.kind != EventKind::kPageFault) continue;
    event.text = "page fault";
    if (event.address) absl::StrAppend(&event.text, " at 0x", absl::Hex(*event.address));
    if (!event.access.empty()) absl::StrAppend(&event.text, ", ", event.access);
    if (event.asid) absl::StrAppend(&event.text, ", ASID ", *event.asid);
    if (!event.engine.empty()) absl::StrAppend(&event.text, ", ", event.engine);
  }
  return events;
}

std::vector<Event> EventsNear(const Dump& dump, absl::Span<const Event> events,
                              absl::string_view device) {
  std::optional<double> taken;
  if (dump.error_state != nullptr) {
    for (const char* key : {"Boottime", "Uptime"}) {
      const std::string said = dump.error_state->FactOf(key);
      // "1234 s 567 us" of i915, "1234.567" of xe.
      const std::optional<absl::string_view> word = WordAfter(said, "");
      double seconds = 0;
      if (!taken && word && absl::SimpleAtod(*word, &seconds)) taken = seconds;
    }
  }
  std::vector<Event> near;
  std::set<std::string> saved;  // devices of which a dump was saved then
  for (const Event& event : events) {
    if (taken && event.seconds && std::abs(*event.seconds - *taken) > kEventSeconds) continue;
    near.push_back(event);
    if (event.kind == EventKind::kSaved && !event.device.empty()) saved.insert(event.device);
  }
  std::string only = absl::AsciiStrToLower(device);
  if (only.empty() && saved.size() == 1) only = *saved.begin();
  if (only.empty()) return near;
  near.erase(std::remove_if(near.begin(), near.end(),
                            [&](const Event& event) {
                              return !event.device.empty() && event.device != only &&
                                     !absl::EndsWith(event.device, absl::StrCat(":", only));
                            }),
             near.end());
  return near;
}

}  // namespace packsmith::hang
