#include "runtime/hang/judge.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/hang/firmware_versions.h"

namespace packsmith::hang {
namespace {

// Verdicts of the same confidence keep this order: what a cause may have as its consequence comes
// after it.
constexpr EngineVerdict kFaults[] = {FaultInRegister};
constexpr DeviceVerdict kOfTheDevice[] = {FaultInEvents, CatErrorInEvents, AnotherWasReset,
                                          DidNotYield, JobNotStarted};
// They read an engine's registers, which say nothing after a reset.
constexpr EngineVerdict kOfRegisters[] = {
    CommandRefused,   WaitsForValue,         WaitsForEvent,  LoopsForever,     ReservedBitsSet,
    ShaderDoesNotEnd, PipelineDoesNotFinish, BatchNotInDump, RequestNotStarted};

// Firmware of ADL-P and DG2 before this version loses contexts. Source: Linux, xe_uc_fw.c and
// intel_uc_fw.c, which ask for it or a newer one.
constexpr std::array<uint32_t, 3> kOldestFirmware = {70, 6, 3};

void WarnOfFirmware(const Case& at, std::vector<std::string>& warnings) {
  const std::optional<std::array<uint32_t, 3>> version =
      ParseFirmwareVersion(at.report.versions.guc);
  if (!version || !(*version < kOldestFirmware)) return;
  warnings.push_back(absl::StrFormat(
      "The GuC firmware is %s. Versions before %d.%d.%d lose contexts: update linux-firmware "
      "before anything else is suspected.",
      at.report.versions.guc, kOldestFirmware[0], kOldestFirmware[1], kOldestFirmware[2]));
}

void WarnOfOtherContext(const Case& at, const EngineReport& engine,
                        std::vector<std::string>& warnings) {
  if (!engine.stop.current_context || engine.stop.current_context->value == 0) return;
  const uint64_t current = engine.stop.current_context->value;
  bool any = false;
  for (const Context& context : at.report.contexts) {
    std::vector<const ErrorLrc*> lrcs = {&context.said};
    for (const ErrorLrc& lrc : context.said.parallel) lrcs.push_back(&lrc);
    for (const ErrorLrc* const lrc : lrcs) {
      if (!lrc->image) continue;
      if (*lrc->image == current) return;
      any = true;
    }
  }
  if (!any) return;
  warnings.push_back(absl::StrFormat(
      "%s of %s is 0x%x, which is not the context of the job at fault: the registers are those of "
      "another context.",
      engine.stop.current_context->by, engine.name, current));
}

// Registers that the firmware never filled, or that were read while the block had no power.
void WarnOfVoid(const Case& at, const EngineReport& engine, std::vector<std::string>& warnings) {
  constexpr uint64_t kNeverFilled = 0xdeadf00d, kNoPower = 0xffffffff;
  for (const ErrorEngine& one : at.dump.error_state->engines) {
    if (one.name != engine.name || one.registers.empty()) continue;
    const auto all = [&](uint64_t value) {
      return std::all_of(one.registers.begin(), one.registers.end(),
                         [&](const ErrorRegister& each) { return each.value == value; });
    };
    if (all(kNoPower)) {
      warnings.push_back(absl::StrCat("All registers of ", engine.name,
                                      " read as ones: the engine had no power when they were "
                                      "read, and they say nothing."));
    }
    const auto unfilled =
        std::find_if(one.registers.begin(), one.registers.end(),
                     [](const ErrorRegister& each) { return each.value == kNeverFilled; });
    if (unfilled != one.registers.end()) {
      warnings.push_back(absl::StrCat(unfilled->name, " of ", engine.name,
                                      " is 0xdeadf00d: the firmware has not filled it in, and "
                                      "it is not a value."));
    }
  }
}

void WarnOfFailedFirmware(const Case& at, std::vector<std::string>& warnings) {
  for (const Event& event : at.report.events) {
    if (event.kind != EventKind::kFirmware) continue;
    warnings.push_back(absl::StrCat("The firmware itself failed. ", Quoted(event)));
    return;
  }
}

// A kernel log of several GPUs, from which those of one could not be taken.
void WarnOfOtherDevices(const Case& at, std::vector<std::string>& warnings) {
  std::set<absl::string_view> devices;
  for (const Event& event : at.report.events) {
    if (!event.device.empty()) devices.insert(event.device);
  }
  if (devices.size() < 2) return;
  warnings.push_back(
      absl::StrCat("The kernel's log has lines of several GPUs (", absl::StrJoin(devices, ", "),
                   "), and the dump does not name its own: any of them may be evidence of another "
                   "GPU's hang. --device=ADDRESS selects one."));
}

void WarnOfScratch(const Case& at, std::vector<std::string>& warnings) {
  constexpr uint32_t kScratchPage = 1;
  if (!at.dump.vm_flags || (*at.dump.vm_flags & kScratchPage) == 0) return;
  warnings.push_back(
      "The address space has a scratch page: an access to an address that is not bound reads zeros "
      "and does not fault, so that the absence of a fault proves nothing.");
}

}  // namespace

void Judge(const tables::Tables& tables, const Dump& dump, HangReport& report) {
  const Case at{tables, dump, report};
  std::vector<Verdict> verdicts;
  const auto add = [&](std::optional<Verdict> verdict) {
    if (verdict) verdicts.push_back(*std::move(verdict));
  };
  std::vector<const EngineReport*> live;
  for (const EngineReport& engine : report.engines) {
    std::optional<Verdict> reset = WasResetAlready(at, engine);
    if (reset) {
      add(std::move(reset));
    } else {
      live.push_back(&engine);
    }
  }
  for (const EngineReport* engine : live) {
    for (const EngineVerdict rule : kFaults) add(rule(at, *engine));
  }
  for (const DeviceVerdict rule : kOfTheDevice) add(rule(at));
  for (const EngineReport* engine : live) {
    for (const EngineVerdict rule : kOfRegisters) add(rule(at, *engine));
  }
  if (live.empty()) add(BatchOfJobNotInDump(at));
  // That registers are void is no cause: what is known of one comes first.
  const auto rank = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kAlreadyReset ? -1 : static_cast<int>(verdict.confidence);
  };
  std::stable_sort(verdicts.begin(), verdicts.end(),
                   [&](const Verdict& a, const Verdict& b) { return rank(a) > rank(b); });

  std::vector<std::string> warnings;
  WarnOfFirmware(at, warnings);
  WarnOfFailedFirmware(at, warnings);
  for (const EngineReport& engine : report.engines) {
    WarnOfOtherContext(at, engine, warnings);
    WarnOfVoid(at, engine, warnings);
  }
  WarnOfScratch(at, warnings);
  WarnOfOtherDevices(at, warnings);
  report.verdicts = std::move(verdicts);
  report.warnings = std::move(warnings);
}

}  // namespace packsmith::hang
