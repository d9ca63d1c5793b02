#include "runtime/capture/execute/hang_report.h"

#include <array>
#include <ctime>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/execute/work_dump.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/error_state.h"
#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/xe_devcoredump_writer.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {
namespace {

using tables::Meaning;

// What kernels call an engine; classes have the same numbers in i915 and xe.
std::string KernelName(uint32_t engine_class, uint32_t instance) {
  constexpr absl::string_view kPrefixes[] = {"rcs", "bcs", "vcs", "vecs", "ccs"};
  return absl::StrCat(engine_class < std::size(kPrefixes) ? kPrefixes[engine_class] : "other",
                      instance);
}

// What registers say.
struct Said {
  Meaning meaning;
  uint64_t value;
};

// The value of a register as the description has it; empty: it says none of this.
std::optional<uint64_t> ValueOf(const tables::Tables& tables, uint32_t container,
                                absl::Span<const Said> said) {
  if (container == tables::kNone) return std::nullopt;
  std::array<uint8_t, 8> bytes = {};
  bool any = false;
  for (const tables::Leaf& leaf : tables.leaves(tables.container(container).leaves)) {
    if (leaf.extra == tables::kNone || leaf.bit + leaf.width > 64) continue;
    const tables::Extra& extra = tables.extra(leaf.extra);
    for (const Said& one : said) {
      if (one.meaning != extra.meaning) continue;
      decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width,
                        one.value >> extra.meaning_at >> leaf.shift);
      any = true;
    }
  }
  return any ? std::optional(decode::ReadBits(bytes, 0, 64)) : std::nullopt;
}

// The register that kernels call `name`, if the device has it and it says something.
void Add(const tables::Tables& tables, uint64_t engines, absl::string_view name,
         absl::Span<const Said> said, std::vector<ErrorRegister>& to) {
  const std::optional<uint64_t> low = ValueOf(tables, tables.FindDumped(name, engines), said);
  if (!low) return;
  ErrorRegister one;
  one.name = std::string(name);
  one.value = *low;
  const std::optional<uint64_t> high =
      ValueOf(tables, tables.FindDumped(absl::StrCat(name, ":high"), engines), said);
  if (high) {
    one.is_64 = true;
    one.value |= *high << 32;
  }
  to.push_back(std::move(one));
}

ErrorFact Fact(absl::string_view key, std::string value) {
  ErrorFact fact;
  fact.key = std::string(key);
  fact.value = decode::Harmless(value);
  return fact;
}

}  // namespace

absl::StatusOr<std::string> MakeHangReport(const Work& work, const std::optional<HangPlace>& place,
                                           absl::string_view why, int64_t time_s) {
  const bool xe = work.interface == "xe";
  if ((!xe && work.interface != "i915") || work.device == nullptr || work.streams.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("kernels save no report of a hang of ", work.interface));
  }
  absl::StatusOr<tables::Tables> tables = FindGeneration(work.device->generation);
  if (!tables.ok()) return tables.status();
  WorkDump made = DumpOf(work, {.dumpable_only = true, .as_own_space = true});
  Dump& dump = made.dump;
  const size_t stream = place && place->stream < work.streams.size() ? place->stream : 0;
  for (size_t i = 0; i < dump.submissions.size(); ++i) {
    // A queue of xe is one engine, whatever its width.
    dump.submissions[i].engine = KernelName(
        work.engine_class, work.engine_instance + static_cast<uint32_t>(xe ? stream : i));
  }

  std::vector<Said> said = {
      {Meaning::kActiveHead, place ? place->address : work.streams[stream].address},
      {Meaning::kHeader, place ? place->header : 0}};
  if (place && place->unmapped) {
    said.push_back({Meaning::kFault, 1});
    said.push_back({Meaning::kFaultAddress, *place->unmapped});
    said.push_back({Meaning::kFaultGlobal, work.global ? uint64_t{1} : 0});
  }
  ErrorState state;
  ErrorEngine engine;
  engine.name = dump.submissions[stream].engine;
  engine.hung = true;
  const uint32_t index = tables->FindEngine(engine.name);
  const uint64_t engines = index == tables::kNone ? ~uint64_t{0} : uint64_t{1} << index;
  const auto add = [&](absl::string_view name, std::vector<ErrorRegister>& to) {
    Add(*tables, engines, name, said, to);
  };
  add("ACTHD", engine.registers);
  add(xe ? "RING_IPEHR" : "IPEHR", engine.registers);
  if (place && place->unmapped) {
    add(xe ? "RING_FAULT_REG" : "FAULT_REG", engine.registers);
    add("FAULT_TLB_DATA0", state.registers);
    add("FAULT_TLB_DATA1", state.registers);
  }
  // Newlines end a line.
  const std::string process = decode::Harmless(work.process);
  const uint32_t header = place ? place->header : 0;
  if (xe) {
    state.facts.push_back(Fact("Reason", absl::StrCat("Timedout job - seqno=", work.number)));
    state.facts.push_back(Fact("kernel", "packsmith-mock"));
    state.facts.push_back(Fact("module", "xe"));
    state.facts.push_back(Fact("Snapshot time", absl::StrCat(time_s, ".000000000")));
    state.facts.push_back(Fact("Process", absl::StrCat(process, " [", work.pid, "]")));
  } else {
    state.title =
        absl::StrFormat("GPU HANG: ecode %d:%x:%08x, in %s [%d]", work.device->version_x10 / 10,
                        1u << (work.engine_class & 31), header, process, work.pid);
    engine.process = absl::StrCat(process, "[", work.pid, "]");
    state.facts.push_back(Fact("Kernel", "packsmith-mock"));
    state.facts.push_back(Fact("Time", absl::StrCat(time_s, " s 0 us")));
    state.facts.push_back(Fact(absl::StrCat("Active process (on ring ", engine.name, ")"),
                               absl::StrCat(process, " [", work.pid, "]")));
  }
  state.facts.push_back(Fact("Simulation", std::string(why)));
  state.engines.push_back(std::move(engine));
  dump.error_state = std::make_shared<const ErrorState>(std::move(state));
  return xe ? WriteXeDevcoredump(dump, {}) : WriteI915Error(dump, {});
}

void HangReporter::OnDone(const Work& work, Outcome outcome, absl::string_view why) {
  if (outcome != Outcome::kHung) return;
  absl::StatusOr<std::string> report = MakeHangReport(
      work, place_of_ ? place_of_(work) : std::nullopt, why, static_cast<int64_t>(::time(nullptr)));
  if (report.ok()) deliver_(work, *std::move(report));
}

}  // namespace packsmith::capture
