// What the one line that people paste, "GPU HANG: ecode 12:1:85dffffb", can tell: i915 makes the
// code of two registers, the header of the command that was executed and the bits of idle units, by
// exclusive or. Neither can be had back from it; commands can be ranked by how believable the units
// are that they leave.
//
//   std::optional<Ecode> ecode = ParseEcode("12:1:85dffffb");
//   for (const EcodeCandidate& one : RankEcode(tables, *ecode)) Print(one.command, one.busy);
//
// Source: Linux, drivers/gpu/drm/i915/i915_gpu_error.c (i915_error_generate_code).
#ifndef PACKSMITH_RUNTIME_HANG_ECODE_H_
#define PACKSMITH_RUNTIME_HANG_ECODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

struct Ecode {
  int version = 0;       // of the graphics unit, without what follows its point: 12
  std::string engine;    // "render": the first of those that hung; empty: it names none
  bool several = false;  // it names more than one
  uint32_t code = 0;
};

// "12:1:85dffffb", with or without "0x" before the code and with any text around it. Between the
// colons is a mask of engine classes in hexadecimal; before Linux 5.3, where the code has "0x", the
// engine's number; or an engine's name. Empty: the text has no such code.
std::optional<Ecode> ParseEcode(absl::string_view text);

struct EcodeCandidate {
  std::string command;            // name of the packet
  uint32_t header = 0;            // its first dword, without what varies
  uint32_t units = 0;             // the register of idle units that the code then has
  std::vector<std::string> busy;  // units that are not idle by it
  // How unlikely it is: units that are busy, bits that no unit has and are not set, bits of the
  // header that vary. 0 is the most likely; a difference of 1 says little.
  double cost = 0;
};
inline constexpr size_t kMostCandidates = 16;

// The commands of the engine by cost, kMostCandidates at most. Empty if the description has no
// units for the engine, or if the code is 0: i915 writes that when it has no engine to blame.
std::vector<EcodeCandidate> RankEcode(const tables::Tables& tables, const Ecode& ecode);

// Of 100 planted hangs, in how many the first candidate was right: measured on a generation that
// the costs were not chosen for (docs/hang.md, tests/hang/ecode_test.cc).
inline constexpr int kFirstIsRight = 81;

// Whole lines: the candidates, and what they do not prove.
std::string EcodeToText(const tables::Tables& tables, const Ecode& ecode);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_ECODE_H_
