// The verdict about batches that never end: the command streamer is simulated on the dump's memory.
#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/decoder.h"
#include "runtime/hang/judge.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"

namespace packsmith::hang {
namespace {

// Far more than a loop needs to show itself, and a few milliseconds of simulation.
constexpr uint64_t kMostCommands = 1 << 16;
// The last commands: of these no more than half may be different ones.
constexpr size_t kWindow = 4096;
// A command streamer fetches at most this far ahead: eight cache lines.
constexpr uint64_t kFetchedAhead = 512;

// Whether a submission has a jump to where it has been: without one, nothing is simulated.
class BackwardJumps : public decode::Sink {
 public:
  bool found() const { return found_; }

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) {
      if (packet.container == tables::kNone) continue;
      const tables::Container& container = tables_->container(packet.container);
      const decode::Scope scope(*tables_, container, {packet.data, packet.bytes});
      for (const tables::Flow& flow : tables_->flows(container.flows)) {
        if (flow.target == tables::kNone || !scope.Holds(flow.when)) continue;
        const std::optional<uint64_t> target = scope.Number(flow.target);
        if (target && *target <= packet.address) found_ = true;
      }
    }
  }

 private:
  const tables::Tables* tables_ = nullptr;
  bool found_ = false;
};

bool JumpsBack(const Case& at, const Submission& submission) {
  BackwardJumps sink;
  decode::Options options;
  options.brief = true;
  decode::Decoder decoder(at.tables, sink, options);
  decoder.Decode(at.dump, {&submission, 1});
  return sink.found();
}

// The last commands that were executed.
class LastCommands : public sim::Observer {
 public:
  void OnCommand(const sim::Command& command) override { Add(command); }
  void OnSkipped(const sim::Command& command) override { Add(command); }

  std::set<uint64_t> Addresses() const {
    return std::set<uint64_t>(last_.begin(),
                              last_.begin() + static_cast<ptrdiff_t>(std::min(count_, kWindow)));
  }
  size_t count() const { return count_; }

 private:
  void Add(const sim::Command& command) { last_[count_++ % kWindow] = command.address; }

  std::array<uint64_t, kWindow> last_ = {};
  size_t count_ = 0;
};

}  // namespace

std::optional<Verdict> LoopsForever(const Case& at, const EngineReport& engine) {
  if (!engine.where || engine.in_ring) return std::nullopt;
  const uint64_t active = engine.where->address;
  for (const Submission& submission : at.dump.submissions) {
    const bool is_batch = submission.kind.empty() || submission.kind == "batch";
    if (!RunsOn(at.dump, submission, engine.name) || !is_batch || !JumpsBack(at, submission))
      continue;
    sim::StreamerOptions options;
    const uint32_t number = at.tables.FindEngine(engine.name);
    options.engine = number == tables::kNone ? 0 : number;
    options.all_engines = number == tables::kNone;
    options.own_space = submission.own_space.value_or(submission.space);
    options.prefetch = false;
    options.visibility = false;
    sim::OverlayMemory memory(at.dump.memory);
    LastCommands last;
    sim::Streamer streamer(at.tables, memory, options, last);
    streamer.EnterBatch(submission.space, submission.batch_address);
    if (streamer.Run(kMostCommands) != sim::Stop::kBudget) continue;
    const std::set<uint64_t> loop = last.Addresses();
    if (last.count() < kWindow || loop.size() > kWindow / 2) continue;
    const uint64_t first = *loop.begin(), end = *loop.rbegin();
    if (active < first || active > end + kFetchedAhead) continue;
    Verdict verdict;
    verdict.kind = VerdictKind::kEndlessLoop;
    verdict.engine = engine.name;
    verdict.confidence = Confidence::kHigh;
    verdict.address = first;
    verdict.sentence =
        absl::StrFormat("The commands from 0x%x to 0x%x are a loop that does not end.", first, end);
    verdict.evidence.push_back(absl::StrFormat(
        "Executed in software from 0x%x on the memory of the dump, the batch is still among these "
        "%d commands after %d.",
        submission.batch_address, loop.size(), kMostCommands));
    verdict.evidence.push_back(
        absl::StrFormat("%s is 0x%x, in the loop.", engine.stop.active_head->by, active));
    verdict.alternative =
        "If the loop ends by a value in memory or a register, that value was another one when the "
        "GPU read it: look for who should have changed it.";
    return verdict;
  }
  return std::nullopt;
}

}  // namespace packsmith::hang
