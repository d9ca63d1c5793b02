#include "runtime/hang/ecode.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/hang/engine_state.h"

namespace packsmith::hang {
namespace {

// Classes of engines by the bits of the mask, and engines by their number before Linux 5.3.
// Source: Linux, include/uapi/drm/i915_drm.h, and gt/intel_engine_types.h of Linux 5.0.
constexpr absl::string_view kClasses[] = {"render", "blitter", "video", "video-enhance", "compute"};
constexpr absl::string_view kNumbered[] = {"render", "blitter", "video",         "video",
                                           "video",  "video",   "video-enhance", "video-enhance"};

// What a candidate costs, measured on hangs whose cause is known (tests/hang/seeded.h).
constexpr double kOfBusyUnit = 1, kOfUndescribed = 2, kOfVaryingBit = 0.25;
// Commands that wait for others, or are waited for, are those at which engines hang.
constexpr double kOfWork = -2;

std::optional<Ecode> Parse(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() != 3) return std::nullopt;
  Ecode ecode;
  if (!absl::SimpleAtoi(parts[0], &ecode.version) || ecode.version < 1 || ecode.version > 99) {
    return std::nullopt;
  }
  absl::string_view code = parts[2];
  const bool old = absl::ConsumePrefix(&code, "0x");
  if (code.empty() || code.size() > 8 || !absl::SimpleHexAtoi(code, &ecode.code)) {
    return std::nullopt;
  }
  if (parts[1].empty()) return std::nullopt;
  uint32_t number = 0;
  if (!absl::SimpleHexAtoi(parts[1], &number) ||
      (!absl::ascii_isdigit(static_cast<unsigned char>(parts[1][0])) && parts[1].size() > 2)) {
    // "rcs0"
    ecode.engine = std::string(parts[1]);
    return ecode;
  }
  if (old) {
    if (number < std::size(kNumbered)) ecode.engine = std::string(kNumbered[number]);
    return ecode;
  }
  ecode.several = std::popcount(number) > 1;
  for (size_t i = 0; i < std::size(kClasses) && ecode.engine.empty(); ++i) {
    if ((number >> i & 1) != 0) ecode.engine = std::string(kClasses[i]);
  }
  return ecode;
}

bool HangsHere(const tables::Tables& tables, const tables::Container& packet) {
  if (packet.role != tables::Role::kOther) return true;
  for (const tables::Operation& one : tables.operations(packet)) {
    if (one.kind == tables::OperationKind::kWait || one.kind == tables::OperationKind::kFence) {
      return true;
    }
  }
  return false;
}

// The bits of a packet's first dword that are neither opcode nor length.
uint32_t Varying(const tables::Tables& tables, const tables::Container& packet) {
  uint32_t varying = 0;
  for (const tables::Leaf& leaf : tables.leaves(packet.leaves)) {
    constexpr uint16_t kFixed = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
    if (leaf.bit >= 32 || (leaf.flags & kFixed) != 0) continue;
    for (uint32_t bit = leaf.bit; bit < std::min<uint32_t>(32, leaf.bit + leaf.width); ++bit) {
      varying |= uint32_t{1} << bit;
    }
  }
  if (packet.length_leaf != tables::kNone && packet.variable == 0) {
    const tables::Leaf& leaf = tables.leaf(packet.length_leaf);
    for (uint32_t bit = leaf.bit; bit < std::min<uint32_t>(32, leaf.bit + leaf.width); ++bit) {
      varying &= ~(uint32_t{1} << bit);
    }
  }
  return varying & ~packet.identify_mask;
}

}  // namespace

std::optional<Ecode> ParseEcode(absl::string_view text) {
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" ,\t\r\n[]"), absl::SkipEmpty())) {
    if (std::optional<Ecode> ecode = Parse(word)) return ecode;
  }
  return std::nullopt;
}

std::vector<EcodeCandidate> RankEcode(const tables::Tables& tables, const Ecode& ecode) {
  std::vector<EcodeCandidate> all;
  const std::string engine = ecode.engine.empty() ? "render" : ecode.engine;
  const uint64_t mask = EngineMask(tables, engine);
  const uint32_t found = tables.FindDumped("INSTDONE", mask);
  if (ecode.code == 0 || found == tables::kNone) return all;
  // The units by bit.
  uint32_t described = 0;
  for (const tables::Leaf& leaf : tables.leaves(tables.container(found).leaves)) {
    if (leaf.extra == tables::kNone || leaf.bit >= 32 || leaf.width != 1) continue;
    const tables::Meaning meaning = tables.extra(leaf.extra).meaning;
    if (meaning == tables::Meaning::kIdle || meaning == tables::Meaning::kIdleExecution) {
      described |= uint32_t{1} << leaf.bit;
    }
  }
  for (const tables::Container& packet : tables.containers()) {
    if (packet.kind != tables::ContainerKind::kPacket || (packet.engines & mask) == 0) continue;
    EcodeCandidate candidate;
    candidate.command = std::string(tables.string(packet.name));
    candidate.header = packet.identify_value;
    if (packet.length_leaf != tables::kNone && packet.length_unit != 0) {
      const tables::Leaf& leaf = tables.leaf(packet.length_leaf);
      const uint32_t length = packet.bytes / packet.length_unit;
      if (leaf.bit < 32 && length >= packet.length_bias) {
        candidate.header |= (length - packet.length_bias) << leaf.bit;
      }
    }
    const uint32_t varying = Varying(tables, packet);
    // What varies may explain any bit: such a unit is taken as idle.
    candidate.units = (candidate.header ^ ecode.code) | varying;
    const int undescribed = std::popcount(~candidate.units & ~described);
    const int busy = std::popcount(~candidate.units & described);
    candidate.cost = busy * kOfBusyUnit + undescribed * kOfUndescribed +
                     std::popcount(varying) * kOfVaryingBit +
                     (HangsHere(tables, packet) ? kOfWork : 0);
    all.push_back(std::move(candidate));
  }
  std::stable_sort(all.begin(), all.end(), [](const EcodeCandidate& a, const EcodeCandidate& b) {
    return a.cost < b.cost;
  });
  if (all.size() > kMostCandidates) all.resize(kMostCandidates);
  const double least = all.empty() ? 0 : all[0].cost;
  for (EcodeCandidate& candidate : all) {
    candidate.cost -= least;
    ErrorState state;
    ErrorEngine one;
    one.name = engine;
    one.registers = {{"INSTDONE", candidate.units, false, {}}};
    for (const Busy& busy : StopOf(tables, state, one).busy) {
      candidate.busy.insert(candidate.busy.end(), busy.units.begin(), busy.units.end());
    }
  }
  return all;
}

std::string EcodeToText(const tables::Tables& tables, const Ecode& ecode) {
  std::string text = absl::StrFormat("ecode 0x%08x, %s, %s%s\n", ecode.code, tables.title(),
                                     ecode.engine.empty() ? "no engine" : ecode.engine,
                                     ecode.several ? ", and other engines" : "");
  const std::vector<EcodeCandidate> candidates = RankEcode(tables, ecode);
  if (candidates.empty()) {
    absl::StrAppend(&text, ecode.code == 0
                               ? "The kernel had no engine to blame: such a code says nothing.\n"
                               : "The units of that engine are not described: no command can be "
                                 "preferred.\n");
    return text;
  }
  absl::StrAppend(&text,
                  "The code is the first dword of a command, exclusive or the bits of idle "
                  "units. Commands that fit, the most believable first:\n\n");
  for (const EcodeCandidate& candidate : candidates) {
    absl::StrAppendFormat(&text, "  %4.1f  %-36s 0x%08x, units 0x%08x, busy: %s\n", candidate.cost,
                          candidate.command, candidate.header, candidate.units,
                          candidate.busy.empty() ? "none" : absl::StrJoin(candidate.busy, " "));
  }
  absl::StrAppendFormat(
      &text,
      "\nThis is a guess: hangs of different causes share a code, and one cause makes different "
      "codes. Of 100\nplanted hangs the first command was right in %d. A wait for work "
      "(PIPE_CONTROL) "
      "is where most hangs\nstop, whatever their cause. The dump itself says more: "
      "/sys/class/drm/card0/error, which unpack\n--hang reads.\n",
      kFirstIsRight);
  return text;
}

}  // namespace packsmith::hang
