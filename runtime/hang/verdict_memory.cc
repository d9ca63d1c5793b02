// Verdicts about accesses to memory, and about memory that the dump does not have.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/hang/buffer_place.h"
#include "runtime/hang/judge.h"

namespace packsmith::hang {
namespace {

// An access this far from a buffer is taken as one that ran past it.
constexpr uint64_t kNear = uint64_t{1} << 16;

std::string Named(const Neighbor& neighbor) {
  return neighbor.name.empty()
             ? absl::StrFormat("the buffer of %d bytes at 0x%x", neighbor.size, neighbor.address)
             : absl::StrFormat("%s (0x%x, %d bytes)", neighbor.name, neighbor.address,
                               neighbor.size);
}

// Whether the address is bound, as far as the dump's list of buffers tells.
std::string WasBound(const Case& at, const Place& place) {
  if (place.holder) {
    return absl::StrCat(
        "The address was bound when the dump was made, ", Whereabouts(place),
        place.holder->access.empty() ? "" : absl::StrCat(" (", place.holder->access, ")"),
        ": it was bound after the access, or does not allow this kind of access.");
  }
  std::string text = "No buffer of the dump has the address: it was never bound, or no longer";
  if (at.dump.device.uapi == "xe") {
    absl::StrAppend(&text, "; the list has only ranges that were bound as dumpable");
  }
  absl::StrAppend(&text, ".");
  if (place.below && place.below->distance < kNear) {
    absl::StrAppendFormat(&text, " It is 0x%x after the end of %s: an access past that end?",
                          place.below->distance, Named(*place.below));
  } else if (place.above && place.above->distance < kNear) {
    absl::StrAppendFormat(&text, " It is 0x%x before %s.", place.above->distance,
                          Named(*place.above));
  }
  return text;
}

// The last page fault, one of the queue at fault if there is one.
const Event* LastOf(const Case& at, EventKind kind) {
  const Event* found = nullptr;
  for (const Event& event : at.report.events) {
    if (event.kind != kind) continue;
    if (found == nullptr || !IsOurs(at, *found) || IsOurs(at, event)) found = &event;
  }
  return found;
}

size_t CountOf(const Case& at, EventKind kind) {
  return static_cast<size_t>(
      std::count_if(at.report.events.begin(), at.report.events.end(),
                    [kind](const Event& event) { return event.kind == kind; }));
}

}  // namespace

std::optional<Verdict> FaultInRegister(const Case& at, const EngineReport& engine) {
  if (!engine.fault) return std::nullopt;
  const Stop& stop = engine.stop;
  Verdict verdict;
  verdict.kind = VerdictKind::kPageFault;
  verdict.engine = engine.name;
  // Without a register that says so, an address may be left over from an earlier fault.
  verdict.confidence = stop.fault ? Confidence::kHigh : Confidence::kLow;
  verdict.address = engine.fault->address;
  verdict.sentence = absl::StrFormat(
      "An access to 0x%x%s failed; the address is %s.", engine.fault->address,
      stop.fault_is_global ? " of the global space" : "", Whereabouts(*engine.fault));
  verdict.evidence.push_back(
      stop.fault
          ? absl::StrFormat("%s says that an access failed, %s which.", stop.fault->by,
                            stop.fault_address->by)
          : absl::StrFormat("%s holds an address, and no register says whether it is of this hang.",
                            stop.fault_address->by));
  verdict.evidence.push_back(WasBound(at, *engine.fault));
  verdict.alternative =
      "The registers keep the last failed access alone; a prefetch may have made it, which does no "
      "harm.";
  return verdict;
}

std::optional<Verdict> FaultInEvents(const Case& at) {
  const Event* const fault = LastOf(at, EventKind::kPageFault);
  if (fault == nullptr || !fault->address) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kPageFault;
  verdict.engine = fault->engine;
  const bool was_reset =
      std::any_of(at.report.events.begin(), at.report.events.end(), [&](const Event& event) {
        return (event.kind == EventKind::kReset || event.kind == EventKind::kCatError) &&
               IsOurs(at, event);
      });
  verdict.confidence = was_reset ? Confidence::kHigh : Confidence::kMedium;
  verdict.address = fault->address;
  constexpr uint32_t kUserSpace = 0;
  const Place place = PlaceOf(at.dump, kUserSpace, *fault->address);
  verdict.sentence = absl::StrFormat(
      "%s 0x%x failed%s; the address is %s.",
      fault->access.empty() ? "An access to" : absl::StrCat("The access (", fault->access, ") to"),
      *fault->address, fault->unit.empty() ? "" : absl::StrCat(", made by ", fault->unit),
      Whereabouts(place));
  verdict.evidence.push_back(Quoted(*fault));
  if (const size_t count = CountOf(at, EventKind::kPageFault); count > 1) {
    verdict.evidence.push_back(absl::StrCat("There are ", count, " such messages; this is the last",
                                            IsOurs(at, *fault) ? " of the job's queue." : "."));
  }
  verdict.evidence.push_back(WasBound(at, place));
  verdict.alternative =
      "The message names an address space and not a job: the fault may be of another job of the "
      "same process, or one that was served.";
  return verdict;
}

std::optional<Verdict> CatErrorInEvents(const Case& at) {
  const Event* const error = LastOf(at, EventKind::kCatError);
  if (error == nullptr) return std::nullopt;
  const bool others = error->queue && !at.report.contexts.empty() && !IsOurs(at, *error);
  if (others) return std::nullopt;  // AnotherWasReset() has it
  Verdict verdict;
  verdict.kind = VerdictKind::kCatError;
  verdict.engine = error->engine;
  verdict.confidence = error->queue ? Confidence::kHigh : Confidence::kMedium;
  verdict.sentence =
      "The memory unit gave up the context: a command or a shader used an address that no page "
      "table translates.";
  verdict.evidence.push_back(Quoted(*error));
  verdict.alternative =
      "The message does not say which address; page faults that come before it do. A pointer of "
      "the context itself (ring, page tables) may be the wrong one.";
  return verdict;
}

std::optional<Verdict> BatchNotInDump(const Case&, const EngineReport& engine) {
  if (!engine.where || engine.where->mapped || engine.in_ring || !engine.commands.empty()) {
    return std::nullopt;
  }
  if (engine.where->address == 0) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kBatchMissing;
  verdict.engine = engine.name;
  verdict.confidence = Confidence::kMedium;
  verdict.address = engine.where->address;
  verdict.sentence = absl::StrFormat(
      "The engine executed commands at 0x%x, and the dump does not have that memory: what they "
      "were is not known.",
      engine.where->address);
  verdict.evidence.push_back(absl::StrFormat("%s is 0x%x, %s.", engine.stop.active_head->by,
                                             engine.where->address, Whereabouts(*engine.where)));
  verdict.alternative = engine.where->holder
                            ? "The driver did not ask the kernel to save the buffer."
                            : "The address is wrong: the engine jumped to memory that was never "
                              "bound, or was freed.";
  return verdict;
}

std::optional<Verdict> BatchOfJobNotInDump(const Case& at) {
  for (const Place& batch : at.report.batches) {
    if (batch.mapped) continue;
    Verdict verdict;
    verdict.kind = VerdictKind::kBatchMissing;
    verdict.confidence = Confidence::kMedium;
    verdict.address = batch.address;
    verdict.sentence = absl::StrFormat(
        "The batch of the job at fault is at 0x%x, and the dump does not have that memory.",
        batch.address);
    verdict.evidence.push_back(absl::StrFormat("The kernel names the batch at 0x%x, %s.",
                                               batch.address, Whereabouts(batch)));
    verdict.alternative = "The driver did not bind the batch as dumpable.";
    return verdict;
  }
  return std::nullopt;
}

}  // namespace packsmith::hang
