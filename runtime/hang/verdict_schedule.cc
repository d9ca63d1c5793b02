// Verdicts about who ran, and who was reset.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/hang/judge.h"

namespace packsmith::hang {
namespace {

// The first event of a kind for which `is` holds.
template <class Is>
const Event* FindEvent(const Case& at, EventKind kind, const Is& is) {
  const auto found =
      std::find_if(at.report.events.begin(), at.report.events.end(),
                   [&](const Event& event) { return event.kind == kind && is(event); });
  return found == at.report.events.end() ? nullptr : &*found;
}

bool AnyEvent(const Event&) { return true; }

}  // namespace

std::optional<Verdict> JobNotStarted(const Case& at) {
  Verdict verdict;
  verdict.kind = VerdictKind::kNeverStarted;
  for (const Context& context : at.report.contexts) {
    if (context.state != JobState::kNotBegun || !at.dump.error_state->job) continue;
    verdict.engine = context.said.engine;
    verdict.confidence = Confidence::kHigh;
    verdict.sentence = absl::StrFormat(
        "The job at fault never started: the queue %s began job %d last, and the job is %d.",
        context.said.id, *context.said.started, *at.dump.error_state->job);
    verdict.evidence.push_back(
        "The number that the ring writes before each batch is that of an earlier job.");
  }
  if (const Event* event = FindEvent(at, EventKind::kNotStarted, AnyEvent)) {
    if (verdict.sentence.empty()) {
      verdict.confidence = Confidence::kMedium;
      verdict.sentence = "The job at fault never started, according to the kernel.";
    }
    verdict.evidence.push_back(Quoted(*event));
  }
  if (verdict.sentence.empty()) return std::nullopt;
  verdict.alternative =
      "What it waited for is before it: the firmware's scheduler, another context on the engine, "
      "or a semaphore in the ring in front of the batch.";
  return verdict;
}

std::optional<Verdict> RequestNotStarted(const Case&, const EngineReport& engine) {
  const Stop& stop = engine.stop;
  if (!engine.in_ring || !stop.ring_head || !stop.ring_tail || !stop.request_head) {
    return std::nullopt;
  }
  // An idle ring, or a request whose packets were read.
  if (stop.ring_head->value == stop.ring_tail->value) return std::nullopt;
  if (stop.ring_head->value != *stop.request_head) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kNeverStarted;
  verdict.engine = engine.name;
  verdict.confidence = Confidence::kMedium;
  verdict.sentence = absl::StrFormat(
      "The request at fault never started: the engine is at its first packet, ring offset 0x%x.",
      *stop.request_head);
  verdict.evidence.push_back(
      absl::StrFormat("%s is where the request begins, and %s is in the "
                      "ring.",
                      stop.ring_head->by, stop.active_head->by));
  verdict.alternative = "The request before it has not ended: it waits for that one's work.";
  return verdict;
}

std::optional<Verdict> DidNotYield(const Case& at) {
  const Event* const event = FindEvent(at, EventKind::kPreemption, [&](const Event& one) {
    return !one.queue || at.report.contexts.empty() || IsOurs(at, one);
  });
  if (event == nullptr) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kPreemptionTimeout;
  verdict.engine = event->engine;
  // The kernel says so itself. A message of the firmware may lack its answer only because the dump
  // was made before the answer came.
  const bool of_firmware = event->origin == EventOrigin::kFirmware;
  verdict.confidence = of_firmware ? Confidence::kMedium : Confidence::kHigh;
  verdict.sentence =
      "The context was to yield the engine and did not in time; the kernel took it for hung.";
  verdict.evidence.push_back(Quoted(*event));
  if (of_firmware) {
    verdict.evidence.push_back(
        "The driver asked for that queue to be taken off its engine, and the firmware has not "
        "answered.");
  }
  verdict.alternative =
      "The work may be correct and only too long without a point at which it can be preempted: a "
      "large draw or dispatch, or preemption within it turned off.";
  return verdict;
}

std::optional<Verdict> AnotherWasReset(const Case& at) {
  if (at.report.contexts.empty()) return std::nullopt;
  const auto ours = [&](const Event& event) { return IsOurs(at, event); };
  const auto others = [&](const Event& event) { return event.queue && !IsOurs(at, event); };
  for (const EventKind kind : {EventKind::kReset, EventKind::kCatError}) {
    if (FindEvent(at, kind, ours) != nullptr) return std::nullopt;
  }
  const Event* event = FindEvent(at, EventKind::kCatError, others);
  if (event == nullptr) event = FindEvent(at, EventKind::kReset, others);
  if (event == nullptr) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kResetByOther;
  verdict.engine = at.report.contexts[0].said.engine;
  verdict.confidence = Confidence::kMedium;
  verdict.sentence = absl::StrFormat(
      "Another queue, GuC ID %d, %s; the job of this dump (GuC ID %s) was probably lost with it.",
      *event->queue, event->kind == EventKind::kCatError ? "had a memory error" : "was reset",
      at.report.contexts[0].said.id);
  verdict.evidence.push_back(Quoted(*event));
  verdict.evidence.push_back("No message of that kind names the queue of this dump.");
  verdict.alternative =
      "The two may be independent: the messages are those that were not overwritten yet, and carry "
      "no time.";
  return verdict;
}

std::optional<Verdict> WasResetAlready(const Case&, const EngineReport& engine) {
  const Stop& stop = engine.stop;
  if (!stop.active_head || !stop.header || !stop.ring_head || !stop.ring_tail) return std::nullopt;
  if (stop.active_head->value != 0 || stop.header->value != 0) return std::nullopt;
  if (stop.ring_head->value != stop.ring_tail->value || !stop.busy.empty()) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kAlreadyReset;
  verdict.engine = engine.name;
  const bool no_ring = stop.ring_start && stop.ring_start->value == 0;
  verdict.confidence = no_ring ? Confidence::kHigh : Confidence::kMedium;
  verdict.sentence = absl::StrCat("The engine ", engine.name,
                                  " had been reset when its registers were read: they say nothing "
                                  "about the hang.");
  verdict.evidence.push_back(absl::StrFormat("%s and %s are 0, and %s equals %s.",
                                             stop.active_head->by, stop.header->by,
                                             stop.ring_head->by, stop.ring_tail->by));
  if (no_ring) {
    verdict.evidence.push_back(absl::StrCat(stop.ring_start->by, " is 0: there is no ring."));
  }
  if (stop.units_known) verdict.evidence.push_back("All units are idle.");
  verdict.alternative =
      "The engine may never have run the job. The context image and the firmware's messages are "
      "from before the reset.";
  return verdict;
}

}  // namespace packsmith::hang
