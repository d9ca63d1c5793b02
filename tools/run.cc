#include "tools/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/image_start.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"
#include "tools/json_line.h"
#include "tools/run_draw.h"
#include "tools/run_folding.h"

namespace packsmith::tools {
namespace {

std::string Hex(uint64_t value) { return absl::StrFormat("0x%x", value); }

std::string RegisterName(const tables::Tables& tables, uint32_t offset) {
  const uint32_t exact = tables.FindRegister(offset);
  if (exact != tables::kNone) return std::string(tables.string(tables.container(exact).name));
  // The upper half of a register of 64 bits.
  const uint32_t lower = offset >= 4 ? tables.FindRegister(offset - 4) : tables::kNone;
  if (lower != tables::kNone && tables.container(lower).bytes >= 8) {
    return absl::StrCat(tables.string(tables.container(lower).name), "+4");
  }
  return Hex(offset);
}

uint64_t LittleEndian(absl::Span<const uint8_t> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<size_t>(bytes.size(), 8));
  return value;
}

absl::string_view KindName(sim::ProblemKind kind) {
  switch (kind) {
    case sim::ProblemKind::kFault:
      return "fault";
    case sim::ProblemKind::kStale:
      return "stale";
    case sim::ProblemKind::kApproximate:
      return "approximate";
    case sim::ProblemKind::kUnsupported:
      return "unsupported";
    case sim::ProblemKind::kPrivileged:
      return "privileged";
    case sim::ProblemKind::kEarly:
      return "early";
  }
  return "";
}

}  // namespace

class SimulatedRun::Impl : public sim::Observer {
 public:
  Impl(const tables::Tables& tables, const RunOptions& options, decode::Output& output)
      : tables_(tables),
        options_(options),
        output_(output),
        memory_(empty_),
        description_(tables_),
        folding_([this](absl::string_view text) { output_.Append(text); }) {}

  void Add(const Dump& dump, const std::string& path) {
    memory_.Continue(dump.memory);
    dump_ = &dump;
    for (const Submission& submission : dump.submissions) {
      // With another slot: the driver's own, which a switch of contexts executes.
      if (submission.unless_reached && submission.slot == 0) {
        unreached_.insert({submission.space, submission.batch_address});
      }
    }
    for (const bool unless_reached : {false, true}) {
      for (const Submission& submission : dump.submissions) {
        if (submission.unless_reached != unless_reached) continue;
        // Hardware executes it to restore the context: see StartFromImage().
        if (submission.kind == "context image") continue;
        if (unless_reached && unreached_.count({submission.space, submission.batch_address}) == 0) {
          continue;
        }
        Execute(dump, submission, path);
      }
    }
    unreached_.clear();
    dump_ = nullptr;
    memory_.Detach();
  }

  bool Finish() {
    folding_.Flush();
    if (options_.registers) WriteRegisters();
    const bool found = options_.draw == 0 && options_.dispatch == 0 ? true : found_;
    Summarize();
    return good_ && found;
  }

  // --- Observer ---

  void OnCommand(const sim::Command& command) override {
    ++executed_;
    if (IsOne()) engine_->state.See(command, *submission_, engine_->stream);
    if (!unreached_.empty()) unreached_.erase({command.space, command.address});
    if (options_.jsonl || Quiet()) return;
    folding_.Begin(command.space, command.address, command.level,
                   absl::StrFormat("%s0x%012x  %s", std::string(2 * command.level, ' '),
                                   command.address, NameOf(command)));
  }
  void OnSkipped(const sim::Command& command) override {
    ++skipped_;
    if (options_.jsonl || Quiet()) return;
    folding_.Begin(
        command.space, command.address, command.level,
        absl::StrFormat("%s0x%012x  %s  skipped: predicate", std::string(2 * command.level, ' '),
                        command.address, NameOf(command)));
  }
  void OnRegister(const sim::Command&, uint32_t offset, uint32_t, uint32_t now) override {
    ++register_writes_;
    if (options_.jsonl || Quiet()) return;
    folding_.Add(absl::StrCat("  ", RegisterName(tables_, offset), " = ", Hex(now)));
  }
  void OnStore(const sim::Command& command, uint32_t space, uint64_t address,
               absl::Span<const uint8_t> bytes) override {
    ++stores_;
    const bool watched =
        options_.watch && address <= *options_.watch && *options_.watch - address < bytes.size();
    const std::string value =
        bytes.size() <= 8 ? Hex(LittleEndian(bytes)) : absl::StrCat(bytes.size(), " bytes");
    if (watched) {
      if (options_.jsonl) {
        output_.Append(JsonLine()
                           .Text("type", "store")
                           .Text("packet", NameOf(command))
                           .Number("command", command.address)
                           .Number("space", space)
                           .Number("address", address)
                           .Text("value", value)
                           .Take());
      } else {
        output_.Append(absl::StrCat(Hex(command.address), "  ", NameOf(command), "  [",
                                    Hex(address), "] = ", value, "\n"));
      }
    }
    if (options_.jsonl || Quiet()) return;
    folding_.Add(absl::StrCat("  [", Hex(address), "] = ", value));
  }
  void OnWork(const sim::Work& work) override {
    const bool draw = work.role == tables::Role::kDraw;
    const uint64_t number = ++(draw ? draws_ : dispatches_);
    const uint64_t asked = draw ? options_.draw : options_.dispatch;
    const bool all = options_.draw == 0 && options_.dispatch == 0 && !options_.watch;
    const std::vector<sim::Parameter> parameters = sim::ParametersOf(tables_, work);
    std::vector<std::string> state, changed;
    for (const sim::StatePacket& packet : sim::StateOf(tables_, *streamer_, work.role)) {
      const std::string name(tables_.string(packet.container->name));
      state.push_back(name);
      if (packet.number > last_work_) changed.push_back(name);
    }
    last_work_ = work.command.number + 1;
    if (!all && asked != number) return;
    found_ = found_ || asked == number;
    if (options_.jsonl) {
      JsonLine line;
      line.Text("type", draw ? "draw" : "dispatch").Number("number", number);
      line.Text("packet", NameOf(work.command)).Number("space", work.command.space);
      line.Number("address", work.command.address);
      line.Object("parameters", [&] {
        for (const sim::Parameter& one : parameters) {
          line.Signed(sim::NameOf(one.kind), one.value);
        }
      });
      output_.Append(line.Texts("changed", changed).Texts("state", state).Take());
      if (!all) Show(work, number);
      return;
    }
    std::vector<std::string> values;
    for (const sim::Parameter& parameter : parameters) {
      values.push_back(absl::StrCat(sim::NameOf(parameter.kind), " ", parameter.value));
    }
    std::string text =
        absl::StrCat(draw ? "  draw " : "  dispatch ", number, ": ", absl::StrJoin(values, ", "));
    if (all) {
      folding_.Add(text);
      if (!changed.empty()) {
        folding_.Line(absl::StrCat(std::string(2 * work.command.level + 16, ' '),
                                   "new state: ", absl::StrJoin(changed, ", ")));
      }
      return;
    }
    output_.Append(absl::StrCat(draw ? "draw " : "dispatch ", number, "  ",
                                Hex(work.command.address), "  ", NameOf(work.command), "  ",
                                absl::StrJoin(values, ", "), "\n"));
    Show(work, number);
  }
  void OnProblem(const sim::Problem& problem) override {
    const uint64_t times = ++TimesOf(problem);
    if (problem.kind == sim::ProblemKind::kFault) good_ = false;
    if (options_.jsonl) {
      if (times > 1) return;
      output_.Append(JsonLine()
                         .Text("type", "problem")
                         .Text("kind", KindName(problem.kind))
                         .Number("space", problem.space)
                         .Number("address", problem.address)
                         .Text("text", problem.text)
                         .Take());
      return;
    }
    if (problem.kind == sim::ProblemKind::kFault || problem.kind == sim::ProblemKind::kStale ||
        problem.kind == sim::ProblemKind::kEarly) {
      folding_.Line(absl::StrCat("! ", KindName(problem.kind), " at ", Hex(problem.address), ": ",
                                 decode::Harmless(problem.text)));
    }
  }

 private:
  // How often there was this problem. Hostile batches have any number of different ones: beyond
  // kMostProblems those of a kind are counted together.
  static constexpr size_t kMostProblems = 1000;
  uint64_t& TimesOf(const sim::Problem& problem) {
    std::pair<sim::ProblemKind, std::string> key(problem.kind, problem.text);
    if (problems_.size() >= kMostProblems && problems_.count(key) == 0) {
      key.second = "further problems, which are not listed";
    }
    return problems_[std::move(key)];
  }
  // Whether only something in particular was asked for.
  bool Quiet() const { return options_.draw != 0 || options_.dispatch != 0 || options_.watch; }
  std::string NameOf(const sim::Command& command) const {
    return std::string(tables_.string(command.container->name));
  }

  // What executes the submissions of one context on one engine, and what these have set.
  struct Engine {
    explicit Engine(RunDescription& description) : state(description) {}
    std::unique_ptr<sim::Streamer> streamer;
    uint32_t stream = 0;  // an index in the tables
    RunState state;
  };

  // Whether one draw or dispatch is shown in full.
  bool IsOne() const { return options_.draw != 0 || options_.dispatch != 0; }
  void Show(const sim::Work& work, uint64_t number) {
    engine_->state.Show({work, number, *dump_, *submission_, engine_->stream, memory_},
                        {options_.jsonl, options_.draw_vertices, options_.text}, output_);
  }

  // Whether the engine, which is `engine_` then, has not executed anything.
  bool ChooseEngine(const Submission& submission) {
    const auto key = std::make_tuple(submission.context, submission.slot, submission.engine);
    std::unique_ptr<Engine>& made = engines_[key];
    submission_ = &submission;
    engine_ = made.get();
    if (engine_ != nullptr) {
      streamer_ = engine_->streamer.get();
      return false;
    }
    made = std::make_unique<Engine>(description_);
    sim::StreamerOptions options;
    const uint32_t engine = tables_.FindEngine(submission.engine);
    options.engine = engine == tables::kNone ? 0 : engine;
    options.all_engines = engine == tables::kNone;
    options.own_space = submission.own_space.value_or(submission.space);
    const uint32_t stream =
        submission.stream.empty() ? tables::kNone : tables_.FindStream(submission.stream);
    if (stream != tables::kNone) options.stream = stream;
    made->stream = options.stream;
    made->streamer = std::make_unique<sim::Streamer>(tables_, memory_, options, *this);
    engine_ = made.get();
    streamer_ = engine_->streamer.get();
    return true;
  }

  // What runs begins with the registers and the state in its context's image, if the dump has it.
  void StartFromImage(const Dump& dump, const Submission& submission) {
    const auto image = std::find_if(
        dump.submissions.begin(), dump.submissions.end(), [&](const Submission& other) {
          return other.kind == "context image" && other.engine == submission.engine &&
                 other.context == submission.context;
        });
    if (image == dump.submissions.end()) return;
    const std::vector<uint8_t> list = sim::ContextImageBytes(dump, *image);
    const absl::StatusOr<sim::InheritedState> state =
        sim::StartFromImage(tables_, submission.engine, list, *streamer_);
    if (!state.ok()) {
      OnProblem({sim::ProblemKind::kApproximate, image->space, image->batch_address,
                 absl::StrCat("the context image cannot be read: ", state.status().message())});
      return;
    }
    for (const sim::InheritedState::Packet& packet : state->packets) {
      if (!IsOne()) break;
      engine_->state.See(
          {packet.container, image->space, image->batch_address + packet.at, packet.bytes, 0, 0},
          submission, engine_->stream);
    }
    // Only what comes after it is new.
    last_work_ = streamer_->commands();
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "context")
                         .Text("engine", submission.engine)
                         .Number("space", image->space)
                         .Number("address", image->batch_address)
                         .Number("registers", state->registers)
                         .Number("packets", state->packets.size())
                         .Take());
    } else if (!Quiet()) {
      folding_.Line(absl::StrCat("starts from the context image at ", Hex(image->batch_address),
                                 ": registers ", state->registers, ", packets that set state ",
                                 state->packets.size()));
    }
  }

  void Execute(const Dump& dump, const Submission& submission, const std::string& path) {
    const bool is_new = ChooseEngine(submission);
    folding_.Flush();
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "submission")
                         .Text("file", path)
                         .Number("index", submission.index)
                         .Text("engine", submission.engine)
                         .Number("space", submission.space)
                         .Number("address", submission.batch_address)
                         .Take());
    } else if (!Quiet()) {
      folding_.Line(absl::StrCat("submission ", submission.index, "  ", submission.engine, "  ",
                                 Hex(submission.batch_address)));
    }
    if (is_new) StartFromImage(dump, submission);
    if (submission.ring && submission.ring->size != 0 &&
        submission.batch_address >= submission.ring->address) {
      sim::Streamer::Ring ring{submission.ring->address, submission.ring->size, 0, 0};
      ring.head = (submission.batch_address - ring.address) % ring.size;
      ring.tail = (ring.head + submission.batch_length) % ring.size;
      streamer_->EnterRing(ring);
    } else {
      streamer_->EnterBatch(submission.space, submission.batch_address);
    }
    const sim::Stop stop = Run();
    switch (stop) {
      case sim::Stop::kEnded:
      case sim::Stop::kFault:
        return;
      case sim::Stop::kWaiting:
        good_ = false;
        Stopped("waits", "nothing in the dump satisfies the wait");
        return;
      case sim::Stop::kBudget:
        if (until_) return;
        good_ = false;
        Stopped("stopped",
                late_ ? absl::StrCat(options_.max_seconds, " seconds have passed (--max-seconds)")
                      : absl::StrCat(options_.max_commands,
                                     " commands were executed (--max-commands)"));
        return;
    }
  }

  sim::Stop Run() {
    // The clock is read between pieces.
    constexpr uint64_t kPiece = 4096;
    uint64_t left = options_.max_commands;
    while (left != 0) {
      until_ = options_.until && streamer_->address() == *options_.until;
      if (until_ || IsLate()) return sim::Stop::kBudget;
      const uint64_t piece = options_.until ? 1 : std::min(left, kPiece);
      const sim::Stop stop = streamer_->Run(piece);
      if (stop != sim::Stop::kBudget) return stop;
      left -= piece;
    }
    return sim::Stop::kBudget;
  }

  bool IsLate() {
    late_ = late_ || (options_.max_seconds != 0 && std::chrono::steady_clock::now() - began_ >=
                                                       std::chrono::seconds(options_.max_seconds));
    return late_;
  }

  void Stopped(absl::string_view kind, const std::string& text) {
    ++stops_;
    folding_.Flush();
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "problem")
                         .Text("kind", kind)
                         .Number("space", streamer_->space())
                         .Number("address", streamer_->address())
                         .Text("text", text)
                         .Take());
    } else {
      output_.Append(absl::StrCat("! ", kind, " at ", Hex(streamer_->address()), ": ", text, "\n"));
    }
  }

  void WriteRegisters() {
    for (const auto& [key, one] : engines_) {
      const auto& written = one->streamer->registers().written();
      std::vector<std::pair<uint32_t, uint32_t>> all(written.begin(), written.end());
      std::sort(all.begin(), all.end());
      const std::string& engine = std::get<2>(key);
      if (!options_.jsonl) {
        output_.Append(absl::StrCat("registers of context ", std::get<0>(key), " on ",
                                    engine.empty() ? "the first engine" : engine, ":\n"));
      }
      for (const auto& [offset, value] : all) {
        if (options_.jsonl) {
          output_.Append(JsonLine()
                             .Text("type", "register")
                             .Number("context", std::get<0>(key))
                             .Text("engine", engine)
                             .Number("offset", offset)
                             .Text("name", RegisterName(tables_, offset))
                             .Number("value", value)
                             .Take());
        } else {
          output_.Append(absl::StrFormat("  0x%05x  %-28s 0x%08x\n", offset,
                                         RegisterName(tables_, offset), value));
        }
      }
    }
  }

  void Summarize() {
    uint64_t counts[sim::kProblemKinds] = {};
    for (const auto& [problem, count] : problems_) {
      counts[static_cast<size_t>(problem.first)] += count;
    }
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "summary")
                         .Number("commands", executed_)
                         .Number("skipped", skipped_)
                         .Number("draws", draws_)
                         .Number("dispatches", dispatches_)
                         .Number("stores", stores_)
                         .Number("register_writes", register_writes_)
                         .Number("approximate", counts[2])
                         .Number("unsupported", counts[3])
                         .Number("privileged", counts[4])
                         .Number("stale", counts[1])
                         .Number("early", counts[5])
                         .Number("faults", counts[0])
                         .Number("unfinished", stops_)
                         .Take());
      return;
    }
    output_.Append(absl::StrCat("executed ", executed_, " commands (", skipped_, " skipped), ",
                                draws_, " draws, ", dispatches_, " dispatches; ", stores_,
                                " writes to memory, ", register_writes_, " to registers\n"));
    if (problems_.empty()) output_.Append("all of it exactly\n");
    for (const auto& [problem, count] : problems_) {
      output_.Append(absl::StrCat(KindName(problem.first), ", ", count,
                                  " times: ", decode::Harmless(problem.second), "\n"));
    }
  }

  const tables::Tables tables_;
  const RunOptions options_;
  decode::Output& output_;
  const Memory empty_;
  sim::OverlayMemory memory_;
  RunDescription description_;
  Folding folding_;
  std::map<std::tuple<uint32_t, uint32_t, std::string>, std::unique_ptr<Engine>> engines_;
  // Of the submission at hand.
  const Dump* dump_ = nullptr;
  const Submission* submission_ = nullptr;
  Engine* engine_ = nullptr;
  sim::Streamer* streamer_ = nullptr;
  std::map<std::pair<sim::ProblemKind, std::string>, uint64_t> problems_;
  uint64_t executed_ = 0, skipped_ = 0, draws_ = 0, dispatches_ = 0, stores_ = 0;
  uint64_t register_writes_ = 0, stops_ = 0, last_work_ = 0;
  bool good_ = true, found_ = false, until_ = false;
  bool late_ = false;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  // Space and address of batches of the dump that are executed unless others start them.
  absl::flat_hash_set<std::pair<uint32_t, uint64_t>> unreached_;
};

absl::Status SimulatedRun::Check(const tables::Tables& tables) {
  for (const tables::Container& container : tables.containers()) {
    if (container.operations.count != 0) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the description of ", tables.title(),
                   " does not say what packets do when they are executed: --run needs "
                   "<operation> elements, which those of Intel's GPUs have"));
}

SimulatedRun::SimulatedRun(const tables::Tables& tables, const RunOptions& options,
                           decode::Output& output)
    : impl_(std::make_unique<Impl>(tables, options, output)) {}
SimulatedRun::~SimulatedRun() = default;
void SimulatedRun::Add(const Dump& dump, const std::string& path) { impl_->Add(dump, path); }
bool SimulatedRun::Finish() { return impl_->Finish(); }

}  // namespace packsmith::tools
