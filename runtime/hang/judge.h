// The rules that make verdicts (verdict.h) of a report and its dump. Each is a function that looks
// at one kind of evidence; judge.cc has the table of them. Nothing here names a register, a packet
// or a bit: rules ask the description for meanings, operations and roles.
#ifndef PACKSMITH_RUNTIME_HANG_JUDGE_H_
#define PACKSMITH_RUNTIME_HANG_JUDGE_H_

#include <optional>
#include <string>

#include "runtime/dump/dump.h"
#include "runtime/hang/report.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// What is judged: a report that is complete but for its verdicts.
struct Case {
  const tables::Tables& tables;
  const Dump& dump;
  const HangReport& report;
};

// Empty: the rule has nothing to say.
using DeviceVerdict = std::optional<Verdict> (*)(const Case&);
using EngineVerdict = std::optional<Verdict> (*)(const Case&, const EngineReport&);

// Fills `report.verdicts`, the one with the most confidence first, and `report.warnings`.
void Judge(const tables::Tables& tables, const Dump& dump, HangReport& report);

// verdict_memory.cc
std::optional<Verdict> FaultInRegister(const Case& at, const EngineReport& engine);
std::optional<Verdict> FaultInEvents(const Case& at);
std::optional<Verdict> CatErrorInEvents(const Case& at);
std::optional<Verdict> BatchNotInDump(const Case& at, const EngineReport& engine);
std::optional<Verdict> BatchOfJobNotInDump(const Case& at);

// verdict_schedule.cc
std::optional<Verdict> JobNotStarted(const Case& at);
std::optional<Verdict> RequestNotStarted(const Case& at, const EngineReport& engine);
std::optional<Verdict> DidNotYield(const Case& at);
std::optional<Verdict> AnotherWasReset(const Case& at);
std::optional<Verdict> WasResetAlready(const Case& at, const EngineReport& engine);

// verdict_commands.cc
std::optional<Verdict> WaitsForValue(const Case& at, const EngineReport& engine);
std::optional<Verdict> WaitsForEvent(const Case& at, const EngineReport& engine);
std::optional<Verdict> CommandRefused(const Case& at, const EngineReport& engine);
std::optional<Verdict> ReservedBitsSet(const Case& at, const EngineReport& engine);
std::optional<Verdict> ShaderDoesNotEnd(const Case& at, const EngineReport& engine);
std::optional<Verdict> PipelineDoesNotFinish(const Case& at, const EngineReport& engine);

// verdict_loops.cc
std::optional<Verdict> LoopsForever(const Case& at, const EngineReport& engine);

// verdict_words.cc: what the rules share.

// The command that the engine most likely stopped in; null: it is not known.
const Command* StoppedAt(const EngineReport& engine);
std::string NameOf(const tables::Tables& tables, const Command& command);
// "in rcs0 batch+0x10", "not in any buffer of the dump".
std::string Whereabouts(const Place& place);
// Whether an event is about the queue at fault: it names one of the dump's contexts.
bool IsOurs(const Case& at, const Event& event);
// "GuC message 12: CONTEXT_RESET_NOTIFICATION, GuC ID 5."
std::string Quoted(const Event& event);
// The space of the engine's user; 0 if the dump does not name the engine.
uint32_t SpaceOf(const Case& at, const EngineReport& engine);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_JUDGE_H_
