#include "runtime/capture/execute/sim_executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/capture/devices/gpu_clock.h"
#include "runtime/capture/execute/engine_of.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"

namespace packsmith::capture {
namespace {

// Commands between two looks at the clock.
constexpr uint64_t kPiece = 4096;
// Different problems of a kind that are said; the others are only counted.
constexpr uint64_t kMostSaid = 8;

struct ProblemName {
  absl::string_view said, counted;
};
ProblemName NameOf(sim::ProblemKind kind) {
  switch (kind) {
    case sim::ProblemKind::kFault:
      return {"fault", "faults"};
    case sim::ProblemKind::kStale:
      return {"stale command", "stale commands"};
    case sim::ProblemKind::kApproximate:
      return {"not known exactly", "values not known exactly"};
    case sim::ProblemKind::kUnsupported:
      return {"not simulated", "effects not simulated"};
    case sim::ProblemKind::kPrivileged:
      return {"without privilege", "effects denied for lack of privilege"};
    case sim::ProblemKind::kEarly:
      return {"early read", "early reads"};
  }
  return {};
}

bool SaysWhatPacketsDo(const tables::Tables& tables) {
  return std::any_of(tables.containers().begin(), tables.containers().end(),
                     [](const tables::Container& one) { return one.operations.count != 0; });
}

}  // namespace

struct SimExecutor::Device {
  explicit Device(const tables::Tables& of) : tables(of), executes(SaysWhatPacketsDo(of)) {}
  const tables::Tables tables;
  const bool executes;
};

struct SimExecutor::Lane : sim::Observer {
  Lane(SimExecutor& in, Device& of, const sim::StreamerOptions& options)
      : executor(in), device(of), streamer(of.tables, memory, Pausing(options), *this) {}

  sim::StreamerOptions Pausing(sim::StreamerOptions options) const {
    options.pause = &memory.much();
    return options;
  }

  void OnCommand(const sim::Command&) override { memory.BeginCommand(); }
  void OnStore(const sim::Command& command, uint32_t, uint64_t,
               absl::Span<const uint8_t>) override {
    if (!memory.any_doubt()) return;
    const MappedMemory::Overrun overrun = memory.TakeOverrun();
    const std::optional<uint64_t> scratch = memory.TakeScratchWrite();
    const Work& work = *executor.current_;
    const absl::string_view name = device.tables.string(command.container->name);
    if (scratch) {
      executor.SayOnce(absl::StrCat("scratch ", work.context, " ", *scratch), work,
                       absl::StrFormat("%s at 0x%x writes to 0x%x, which is not mapped: the "
                                       "kernel's scratch page takes it",
                                       name, command.address, *scratch));
    }
    if (overrun.from == nullptr) return;
    executor.SayOnce(
        absl::StrCat("overrun ", work.context, " ", overrun.from->id(), " ", overrun.to->id()),
        work,
        absl::StrFormat("%s at 0x%x writes past the end of %s into %s, which begins at 0x%x", name,
                        command.address, capture::NameOf(*overrun.from),
                        capture::NameOf(*overrun.to), overrun.address));
  }
  void OnWork(const sim::Work& work) override { executor.OnWork(work); }
  void OnProblem(const sim::Problem& problem) override { executor.OnProblem(problem, *this); }

  SimExecutor& executor;
  Device& device;
  MappedMemory memory;
  sim::Streamer streamer;
  uint32_t stream = 0;  // an index in the tables
  uint64_t engines = 0;
  uint64_t work = 0;  // Work::number of what it is at; 0: nothing
  uint64_t used = 0;  // uses_ when it began
};

struct SimExecutor::Running {
  struct Part {
    LaneKey key;
    Lane* lane;
    bool ended = false;
  };
  std::vector<Part> parts;
  uint64_t commands = 0;
  int64_t spent_ns = 0;
};

SimExecutor::SimExecutor(SimExecutorOptions options) : options_(std::move(options)) {}
SimExecutor::~SimExecutor() = default;

int64_t SimExecutor::Now() const { return options_.now ? options_.now() : MonotonicNow(); }

void SimExecutor::Say(const Work& work, absl::string_view text) {
  if (!options_.say) return;
  options_.say(decode::Harmless(absl::StrCat("submission ", work.number, " (", work.process, "[",
                                             work.pid, "], ", work.engine, "): ", text)));
}

void SimExecutor::SayOnce(const std::string& key, const Work& work, absl::string_view text) {
  // Keys are bounded by what exists; hostile clients may make any number of objects.
  constexpr size_t kMost = 4096;
  if (said_.size() < kMost && said_.insert(key).second) Say(work, text);
}

void SimExecutor::OnWork(const sim::Work& work) {
  const bool draw = work.role == tables::Role::kDraw;
  ++(draw ? totals_.draws : totals_.dispatches);
  if (draw ? totals_.draws > 1 : totals_.dispatches > 1) return;
  SayOnce(draw ? "draw" : "dispatch", *current_,
          absl::StrCat(draw ? "draws" : "dispatches",
                       " need shaders, which are not executed: what they would write is not "
                       "written (further ones are not named)"));
}

void SimExecutor::OnProblem(const sim::Problem& problem, const Lane& lane) {
  const auto kind = static_cast<size_t>(problem.kind);
  ++totals_.problems[kind];
  if (problem.kind == sim::ProblemKind::kFault) {
    fault_ = {problem.text, problem.unmapped ? lane.memory.last_miss() : MappedMemory::Miss{}};
    return;
  }
  if (said_of_[kind] >= kMostSaid) return;
  const std::string key = absl::StrCat("problem ", kind, " ", problem.text);
  if (said_.count(key) != 0) return;
  const bool last = ++said_of_[kind] == kMostSaid;
  SayOnce(key, *current_,
          absl::StrFormat("%s at 0x%x: %s%s", NameOf(problem.kind).said, problem.address,
                          problem.text, last ? " (further ones are only counted)" : ""));
}

SimExecutor::Device* SimExecutor::DeviceOf(const Work& work) {
  std::unique_ptr<Device>& made = devices_[work.device];
  if (made == nullptr) {
    const absl::StatusOr<tables::Tables> tables =
        FindGeneration(work.device == nullptr ? "" : work.device->generation);
    if (!tables.ok()) {
      SayOnce("generation", work, absl::StrCat("not executed: ", tables.status().message()));
      return nullptr;
    }
    made = std::make_unique<Device>(*tables);
  }
  if (made->executes) return made.get();
  SayOnce(absl::StrCat("executes ", made->tables.title()), work,
          absl::StrCat("not executed: the description of ", made->tables.title(),
                       " does not say what packets do (further ones are not named)"));
  return nullptr;
}

SimExecutor::Lane* SimExecutor::LaneFor(const Work& work, Device& device, const WorkStream& stream,
                                        uint32_t number) {
  const uint32_t engine = EngineOf(device.tables, work);
  const LaneKey key{work.context, engine, work.engine_instance, number};
  auto it = lanes_.find(key);
  if (it == lanes_.end()) {
    if (lanes_.size() >= kMostLanes) {
      auto oldest = lanes_.end();
      for (auto one = lanes_.begin(); one != lanes_.end(); ++one) {
        if (one->second->work != 0) continue;
        if (oldest == lanes_.end() || one->second->used < oldest->second->used) oldest = one;
      }
      if (oldest != lanes_.end()) lanes_.erase(oldest);
    }
    sim::StreamerOptions options;
    options.all_engines = engine == tables::kNone;
    options.engine = options.all_engines ? 0 : engine;
    options.stream = StreamOf(device.tables, stream, engine);
    options.own_space = work.global ? kGlobalSpace : 0;
    options.context = static_cast<uint32_t>(work.context);
    // All together hang by the time that they take.
    options.most_blit_bytes = ~uint64_t{0} / 2;
    options.most_bytes_of_a_blit = options_.most_bytes_of_a_blit;
    options.most_indirect_draws = options_.most_indirect_draws;
    options.visibility = options_.visibility;
    options.unmapped_faults = true;
    options.clock = [this, info = work.device] { return GpuTicks(*info, Now()); };
    auto lane = std::make_unique<Lane>(*this, device, options);
    lane->stream = options.stream;
    lane->engines = options.all_engines ? ~uint64_t{0} : uint64_t{1} << options.engine;
    it = lanes_.emplace(key, std::move(lane)).first;
  }
  return it->second->work == 0 ? it->second.get() : nullptr;
}

bool SimExecutor::Begin(const Work& work, Device& device, Running& running) {
  // All of its engines, or none.
  for (uint32_t i = 0; i < work.streams.size(); ++i) {
    Lane* const lane = LaneFor(work, device, work.streams[i], i);
    if (lane == nullptr) {
      End(running, /*lost=*/false);
      return false;
    }
    lane->work = work.number;
    running.parts.push_back(
        {{work.context, EngineOf(device.tables, work), work.engine_instance, i}, lane});
  }
  const uint32_t space = work.global ? kGlobalSpace : 0;
  for (size_t i = 0; i < running.parts.size(); ++i) {
    Lane& lane = *running.parts[i].lane;
    lane.used = ++uses_;
    lane.memory.Use(work.memory, {.space = space,
                                  .one_space = work.device->ppgtt != Ppgtt::kFull,
                                  .scratch_page = work.scratch_page});
    lane.streamer.EnterBatch(
        space, decode::MaskAddress(work.streams[i].address, device.tables.address_mask()));
  }
  ++totals_.submissions;
  if (absl::StartsWith(work.engine, "video")) {
    SayOnce(work.engine, work,
            absl::StrCat("what only ", work.engine,
                         " engines do is not executed, apart from commands that all engines have "
                         "(further ones are not named)"));
  }
  return true;
}

Outcome SimExecutor::Execute(const Work& work, std::string& why) {
  why.clear();
  Device* const device = DeviceOf(work);
  if (device == nullptr) return Outcome::kDone;
  current_ = &work;
  const auto [it, fresh] = running_.try_emplace(work.number);
  Outcome outcome = Outcome::kWaiting;
  if (fresh && !Begin(work, *device, it->second)) {
    running_.erase(it);
    why = "for another submission of its context";
  } else {
    outcome = Continue(work, it->second, why);
    if (outcome != Outcome::kWaiting) {
      End(it->second, /*lost=*/outcome == Outcome::kHung);
      running_.erase(it);
    }
  }
  current_ = nullptr;
  return outcome;
}

Outcome SimExecutor::Continue(const Work& work, Running& running, std::string& why) {
  const auto stop_at = options_.stop_at.find(work.number);
  const bool stops = stop_at != options_.stop_at.end();
  const int64_t begin = Now();
  int64_t now = begin;
  Lane* waits = nullptr;
  for (bool progress = true; progress;) {
    progress = false;
    waits = nullptr;
    for (Running::Part& part : running.parts) {
      Lane& lane = *part.lane;
      while (!part.ended) {
        const uint64_t before = lane.streamer.commands();
        uint64_t piece = kPiece;
        if (options_.max_commands != 0) {
          piece = std::min(piece, options_.max_commands - running.commands);
        }
        if (stops) {
          if (lane.streamer.address() == stop_at->second) {
            return Hang(work, lane, "as asked for", why);
          }
          piece = 1;
        }
        lane.memory.Restart();
        const sim::Stop stop = lane.streamer.Run(piece);
        const uint64_t done = lane.streamer.commands() - before;
        running.commands += done;
        totals_.commands += done;
        progress |= done != 0;
        if (stop == sim::Stop::kEnded) {
          part.ended = true;
          progress = true;
          break;
        }
        if (stop == sim::Stop::kFault) return Hang(work, lane, "", why);
        if (stop == sim::Stop::kWaiting) {
          waits = &lane;
          break;
        }
        if (options_.max_commands != 0 && running.commands >= options_.max_commands) {
          return Hang(
              work, lane,
              absl::StrCat("it does not end: ", running.commands, " commands were executed"), why);
        }
        if (!lane.memory.IsMapped(lane.streamer.space(), lane.streamer.address())) {
          // No-ops to the end of the address space.
          return Hang(work, lane, "it executes the kernel's scratch page", why);
        }
        now = Now();
        if (options_.max_seconds != 0 &&
            static_cast<uint64_t>((now - begin + running.spent_ns) / 1'000'000'000) >=
                options_.max_seconds) {
          return Hang(work, lane,
                      absl::StrCat("it does not end: ", running.commands,
                                   " commands were executed in ", options_.max_seconds, " seconds"),
                      why);
        }
        if (now - begin >= options_.slice_ns) {
          running.spent_ns += now - begin;
          why = "for its turn";
          return Outcome::kWaiting;
        }
      }
    }
    if (running.parts.size() == 1) break;
  }
  if (waits == nullptr) {
    SayIfMissed(work);
    return Outcome::kDone;
  }
  why = WaitText(*waits);
  return Outcome::kWaiting;
}

std::string SimExecutor::WaitText(Lane& lane) const {
  const tables::Tables& tables = lane.device.tables;
  std::array<uint8_t, 4> bytes = {};
  uint32_t word = 0, container = tables::kNone;
  if (lane.memory.Read(lane.streamer.space(), lane.streamer.address(), absl::MakeSpan(bytes)) ==
      bytes.size()) {
    std::memcpy(&word, bytes.data(), bytes.size());
    container = tables.FindPacket(lane.stream, lane.engines, word, 4);
  }
  return absl::StrFormat("for %s at 0x%x",
                         container == tables::kNone
                             ? absl::string_view("a command")
                             : tables.string(tables.container(container).name),
                         lane.streamer.address());
}

Outcome SimExecutor::Hang(const Work& work, Lane& lane, const std::string& text, std::string& why) {
  ++totals_.hung;
  why = Locate(work, lane, text);
  SayIfMissed(work);
  return Outcome::kHung;
}

void SimExecutor::SayIfMissed(const Work& work) {
  const auto stop_at = options_.stop_at.find(work.number);
  if (stop_at == options_.stop_at.end()) return;
  if (work.number == hung_ && hang_place_.address == stop_at->second) return;
  Say(work, absl::StrFormat("does not hang as asked for: its batch does not reach 0x%x",
                            stop_at->second));
}

std::string SimExecutor::Locate(const Work& work, Lane& lane, const std::string& text) {
  const tables::Tables& tables = lane.device.tables;
  hung_ = work.number;
  hang_place_ = {};
  hang_place_.address = lane.streamer.address();
  while (hang_place_.stream + 1 < work.streams.size() &&
         running_[work.number].parts[hang_place_.stream].lane != &lane) {
    ++hang_place_.stream;
  }
  const auto [fault, miss] = std::exchange(fault_, {});
  std::array<uint8_t, 4> bytes = {};
  const bool fetched = lane.memory.Read(lane.streamer.space(), lane.streamer.address(),
                                        absl::MakeSpan(bytes)) == bytes.size();
  uint32_t container = tables::kNone;
  if (fetched) {
    std::memcpy(&hang_place_.header, bytes.data(), bytes.size());
    container = tables.FindPacket(lane.stream, lane.engines, hang_place_.header, 4);
  }
  const std::string at =
      absl::StrFormat("%s at 0x%x",
                      container == tables::kNone ? absl::string_view("the command")
                                                 : tables.string(tables.container(container).name),
                      hang_place_.address);
  if (!text.empty()) return absl::StrCat(text, "; the next one is ", at);
  if (!miss.any) {
    hang_place_.kind = HangKind::kRefused;
    return absl::StrCat(at, ": ", fault);
  }
  hang_place_.unmapped = miss.address;
  hang_place_.unmapped_write = miss.writes;
  return fetched ? absl::StrFormat("%s %s 0x%x, %s", at, miss.writes ? "writes" : "reads",
                                   miss.address, miss.why)
                 : absl::StrFormat("commands are fetched from 0x%x, %s", miss.address, miss.why);
}

void SimExecutor::End(Running& running, bool lost) {
  for (const Running::Part& part : running.parts) {
    part.lane->work = 0;
    part.lane->memory.Drop();
    if (lost) lanes_.erase(part.key);
  }
  running.parts.clear();
}

void SimExecutor::Forget(const Work& work) {
  const auto it = running_.find(work.number);
  if (it == running_.end()) return;
  // It waited: that is where it hung, if it did.
  for (const Running::Part& part : it->second.parts) {
    if (part.ended) continue;
    Locate(work, *part.lane, "it waited");
    SayIfMissed(work);
    break;
  }
  End(it->second, /*lost=*/true);
  running_.erase(it);
}

void SimExecutor::ForgetContext(uint64_t context) {
  for (auto it = lanes_.lower_bound({context, 0, 0, 0});
       it != lanes_.end() && it->first.context == context;) {
    it = it->second->work == 0 ? lanes_.erase(it) : std::next(it);
  }
}

std::optional<HangPlace> SimExecutor::PlaceOfHang(const Work& work) const {
  return work.number == hung_ ? std::optional(hang_place_) : std::nullopt;
}

std::string SimExecutor::Summary() const {
  std::string text = absl::StrCat("executed ", decode::Counted(totals_.submissions, "submission"),
                                  ", ", decode::Counted(totals_.commands, "command"));
  if (totals_.draws + totals_.dispatches != 0) {
    absl::StrAppend(&text, "; without shaders ", decode::Counted(totals_.draws, "draw"), ", ",
                    totals_.dispatches, totals_.dispatches == 1 ? " dispatch" : " dispatches");
  }
  for (size_t i = 0; i < totals_.problems.size(); ++i) {
    if (totals_.problems[i] == 0) continue;
    absl::StrAppend(&text, "; ", NameOf(static_cast<sim::ProblemKind>(i)).counted, ": ",
                    totals_.problems[i]);
  }
  if (totals_.hung != 0) absl::StrAppend(&text, "; hung: ", totals_.hung);
  return text;
}

}  // namespace packsmith::capture
