#include "tools/commands/diff.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/aub/play.h"
#include "runtime/base/command_line.h"
#include "runtime/base/program/program.h"
#include "runtime/base/progress.h"
#include "runtime/base/same_file.h"
#include "runtime/compare/compare.h"
#include "runtime/compare/report.h"
#include "runtime/compare/trail.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/raw.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/rings.h"
#include "runtime/hang/verdict.h"
#include "tools/commands/command.h"
#include "tools/commands/diff_descriptions.h"
#include "tools/descriptions.h"
#include "tools/inputs.h"
#include "tools/output.h"

namespace packsmith::commands {
namespace {

using compare::Trail;
using tools::Then;

constexpr int kSame = 0, kDifferent = 1, kTrouble = 2;

constexpr const char* kDiffHelp =
    R"(unpack diff shows what differs between two dumps of GPU command streams.

Examples:
  unpack diff good.core bad.core              packets that were added, removed, changed
  unpack diff --side-by-side good.core bad.core
  unpack diff --format=jsonl a.core b.core | jq .
  unpack diff --draw=3,7 hang.core            the state of two draws of one dump
  unpack diff --draw=3 good.core bad.core     the state of the third draw of each
  unpack diff error1 error2                   two hangs: their registers, too
  unpack diff --descriptions gfx9 gfx11       the descriptions of two generations
  unpack diff --descriptions old.xml new.xml

unpack diff [options] A [B]   A and B are dumps as unpack reads them, or directories of the dumps of
                              one run. B is omitted to compare two draws of A.

Packets are aligned by content, else by name. What pointers point to is compared along with them:
structures field by field, data by its bytes. Addresses do not count, except where the dump does not
have the memory: then they must be at the same place in buffers that correspond.

  --draw=N[,M]          compare the state of draw N of A and of draw M of B (default: N), or of A if
                        there is no B: the last packet of each kind, and what they point to
  --dispatch=N[,M]      the same for dispatches
  --descriptions        A and B are generations, XML files, or decode tables (.tables)
  --format=FORMAT       text (default) or jsonl
  --side-by-side        text: A at the left, B at the right
  --width=N             columns of --side-by-side (default: 130; at least 40)
  --color=WHEN          auto (default), always or never
  --gen=NAME            generation of both, if the dumps do not name it, or are wrong
  --engine=NAME, --address=A, --stream=NAME, --input=FORMAT
                        of bare batches, as for unpack
  --xml=FILE            decode both with this description
  --max-input=SIZE      bytes of a dump after decompression
  -o, --output=FILE     a file, which is created when the output is complete
  --no-pager            not through $PAGER
  --version, -h, --help

Exit code: 0 nothing differs; 1 something differs; 2 wrong usage, or an input could not be read
whole.
)";

struct DiffArguments {
  std::vector<std::string> inputs;
  std::string draw, dispatch, format = "text", color = "auto";
  std::string generation, engine, address, stream, input_format, xml, output;
  uint64_t max_input = 0;
  size_t width = 130;
  bool descriptions = false, side_by_side = false, no_pager = false;
};

int RefuseDiff(absl::string_view text) {
  Complain(text);
  return kTrouble;
}

// Reads the command line. An exit code: there is nothing left to do.
std::optional<int> ParseDiff(int argc, char** argv, DiffArguments& arguments) {
  CLI::App app("", "unpack diff");
  app.set_help_flag();
  app.add_option("INPUT", arguments.inputs);
  app.add_option("--draw", arguments.draw);
  app.add_option("--dispatch", arguments.dispatch);
  app.add_flag("--descriptions", arguments.descriptions);
  app.add_option("--format", arguments.format)->check(tools::OneOf({"text", "jsonl"}));
  app.add_flag("--side-by-side", arguments.side_by_side);
  app.add_option("--width", arguments.width)->check(CLI::Range(40, 10'000));
  app.add_option("--color", arguments.color)->check(tools::OneOf({"auto", "always", "never"}));
  app.add_option("--gen", arguments.generation);
  app.add_option("--engine", arguments.engine);
  app.add_option("--address", arguments.address);
  app.add_option("--stream", arguments.stream);
  std::vector<std::string> formats;
  for (const absl::string_view format : DumpFormats()) formats.emplace_back(format);
  app.add_option("--input", arguments.input_format)->check(tools::OneOf(formats));
  app.add_option("--xml", arguments.xml);
  app.add_option("--max-input", arguments.max_input)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, ~uint64_t{0} >> 1));
  app.add_option("-o,--output", arguments.output);
  app.add_flag("--no-pager", arguments.no_pager);
  const tools::Program program = {
      .name = "unpack diff", .help = kDiffHelp, .descriptions = BuiltInDigest};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, argc, argv, Complain)) {
    return done;
  }
  const std::vector<std::string> given = tools::GivenOptions(app);
  if (arguments.side_by_side && arguments.format == "jsonl") {
    return RefuseDiff("--side-by-side is for --format=text");
  }
  if (!arguments.draw.empty() && !arguments.dispatch.empty()) {
    return RefuseDiff("--draw and --dispatch do not go together");
  }
  if (!arguments.descriptions) return std::nullopt;
  for (const std::string& name : given) {
    const bool allowed = name == "--descriptions" || name == "--format" || name == "--output" ||
                         name == "--no-pager";
    if (!allowed) {
      return RefuseDiff(absl::StrCat("--descriptions and ", name,
                                     " do not go together: no dump is read; --descriptions takes "
                                     "only --format, --output, --no-pager"));
    }
  }
  return std::nullopt;
}

// The numbers of "3,7"; "3" is both. Empty text: zeros.
std::optional<std::array<uint64_t, 2>> ParseNumbers(absl::string_view text) {
  std::array<uint64_t, 2> numbers = {0, 0};
  if (text.empty()) return numbers;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() > 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const absl::string_view part = parts[std::min(i, parts.size() - 1)];
    if (!absl::SimpleAtoi(part, &numbers[i]) || numbers[i] == 0) return std::nullopt;
  }
  return numbers;
}

// Writes all of the output, then returns `result`.
int Finish(const DiffArguments& arguments, absl::string_view text, int result) {
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output =
      tools::OpenOutput({arguments.output, !arguments.no_pager && arguments.format != "jsonl",
                         [result] { std::_Exit(result); }});
  absl::Status status = output.status();
  if (status.ok()) {
    (*output)->Append(text);
    status = (*output)->Finish();
  }
  if (status.ok()) return result;
  return RefuseDiff(status.message());
}

// A generation's name, or the file of a description.
tools::Described FindDescription(const std::string& name) {
  struct stat about {};
  if (::stat(name.c_str(), &about) == 0) {
    constexpr absl::string_view kTables = ".tables";
    const bool tables =
        name.size() > kTables.size() &&
        name.compare(name.size() - kTables.size(), kTables.size(), kTables.data()) == 0;
    return tables ? tools::ReadTables(name) : tools::ReadXml(name);
  }
  tools::Described found;
  found.tables = FindGeneration(name);
  return found;
}

int DescriptionsDiff(const DiffArguments& arguments) {
  const tools::Described a = FindDescription(arguments.inputs[0]);
  const tools::Described b = FindDescription(arguments.inputs[1]);
  for (const tools::Described* one : {&a, &b}) {
    if (!one->tables.ok()) return RefuseDiff(one->tables.status().message());
  }
  std::vector<std::string> read = a.inputs;
  read.insert(read.end(), b.inputs.begin(), b.inputs.end());
  const std::string output = arguments.output.empty() ? "-" : arguments.output;
  if (const absl::Status refused = RefuseToOverwrite(output, read); !refused.ok()) {
    return RefuseDiff(refused.message());
  }
  const absl::StatusOr<std::string> lines =
      DiffDescriptions(*a.tables, *b.tables, arguments.format == "jsonl");
  if (!lines.ok()) return RefuseDiff(lines.status().message());
  return Finish(arguments, *lines, lines->empty() ? kSame : kDifferent);
}

// One side of the comparison.
class Side {
 public:
  Side(const DiffArguments& arguments, const std::optional<tables::Tables>& own)
      : arguments_(arguments), own_(own) {}

  // False: the input could not be read whole, which was said. `trail()` may have some of it.
  bool Read(const std::string& path, const RawOptions& raw, uint64_t draw, uint64_t dispatch) {
    std::vector<std::string> files = {path};
    struct stat about {};
    bool whole = true;
    if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
      const absl::StatusOr<FoundDumps> found = FindDumps(path);
      if (!found.ok()) {
        Complain(found.status().message());
        return false;
      }
      files = found->paths;
      for (const std::string& problem : found->problems) {
        Complain(problem);
        whole = false;
      }
    }
    files_ = files;
    decode::Options options;
    options.leads = true;
    options.bound.draw = draw;
    options.bound.dispatch = dispatch;
    tools::Inputs inputs(files, raw, Complain);
    inputs.ForEach(false, [&](Dump& dump, const std::string& file) {
      const absl::StatusOr<tables::Tables> tables = Describe(dump, file);
      if (!tables.ok()) return Then::kRefuse;
      if (gpu_ && !gpu_->IsSame(*tables, dump.device)) {
        inputs.Fail(absl::StrCat(file, " is from another GPU than the dumps before it"));
        return Then::kStop;
      }
      if (!gpu_) {
        gpu_ = tools::Gpu{*tables, dump.device};
        trail_ = std::make_unique<Trail>(*tables);
        sink_ = draw != 0 || dispatch != 0 ? compare::MakeStateSink(*trail_, draw, dispatch)
                                           : compare::MakeTrailSink(*trail_);
        decoder_ = std::make_unique<decode::Decoder>(gpu_->tables, *sink_, options);
      }
      decoder_->Decode(dump);
      if (dump.error_state != nullptr) AddFacts(*tables, dump);
      for (const Problem& problem : dump.problems) {
        Complain(absl::StrCat(file, ", byte ", problem.offset, ": ", problem.text));
        whole = false;
      }
      return Then::kGoOn;
    });
    if (decoder_ != nullptr) summary_ = decoder_->Finish();
    // Damage that shows only while streams are decoded, and streams without an end.
    if (whole && summary_.problems != 0) {
      Complain(absl::StrCat(path, ": ", summary_.problems,
                            summary_.problems == 1 ? " problem: " : " problems; the first: ",
                            summary_.first_problem));
      whole = false;
    }
    return whole && !inputs.failed() && trail_ != nullptr;
  }

  const Trail* trail() const { return trail_.get(); }
  const decode::Summary& summary() const { return summary_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  // Why and where the engines stopped, without addresses: these are not the same in two runs.
  void AddFacts(const tables::Tables& tables, const Dump& dump) {
    const hang::HangReport report = hang::MakeHangReport(tables, dump);
    const auto add = [&](std::string name, absl::string_view value) {
      if (!value.empty()) trail_->facts.emplace_back(std::move(name), std::string(value));
    };
    add("kind", report.kind);
    add("reason", report.reason);
    add("kernel", report.kernel);
    add("process", report.process);
    if (!report.verdicts.empty()) {
      add("verdict", hang::NameOf(report.verdicts[0].kind));
      add("engine at fault", report.verdicts[0].engine);
    }
    for (const hang::EngineReport& engine : report.engines) {
      add(engine.name + " hung", engine.hung ? "true" : "false");
      if (engine.active && engine.commands[*engine.active].container != nullptr) {
        const tables::Container& container = *engine.commands[*engine.active].container;
        add(engine.name + " stopped in", tables.string(container.name));
      }
      if (engine.work_draw) add(engine.name + " last draw", absl::StrCat(*engine.work_draw));
    }
  }

  absl::StatusOr<tables::Tables> Describe(Dump& dump, const std::string& file) const {
    std::string note;
    // A dump that does not name its GPU is assumed to be of the same GPU as the dump before it.
    const bool as_before = gpu_ && arguments_.generation.empty() && !tools::NamesGpu(dump.device);
    absl::StatusOr<tables::Tables> found = own_ ? *own_
                                           : as_before
                                               ? gpu_->tables
                                               : tools::TablesOf(arguments_.generation, dump, note);
    if (!note.empty()) Complain(absl::StrCat("note: ", file, ": ", note));
    if (!found.ok()) {
      Complain(absl::StrCat(file, ": ", found.status().message()));
      return found;
    }
    aub::Play(*found, dump, {});
    hang::AddRings(*found, dump);
    return found;
  }

  const DiffArguments& arguments_;
  const std::optional<tables::Tables>& own_;
  std::vector<std::string> files_;
  std::optional<tools::Gpu> gpu_;
  std::unique_ptr<Trail> trail_;
  std::unique_ptr<decode::Sink> sink_;
  std::unique_ptr<decode::Decoder> decoder_;
  decode::Summary summary_;
};

// Of one dump: both use at most half of the memory.
uint64_t MaxInput(const DiffArguments& arguments) {
  if (arguments.max_input != 0) return arguments.max_input;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kDefaultMaxBytes;
  return std::min(kDefaultMaxBytes, static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 4);
}

}  // namespace

int Diff(int argc, char** argv) {
  DiffArguments arguments;
  if (const std::optional<int> done = ParseDiff(argc, argv, arguments)) return *done;
  const auto draws = ParseNumbers(arguments.draw), dispatches = ParseNumbers(arguments.dispatch);
  if (!draws || !dispatches) {
    return RefuseDiff(
        absl::StrCat(draws ? "--dispatch=" : "--draw=", draws ? arguments.dispatch : arguments.draw,
                     ": give one number or two, counted from 1: 3 or 3,7"));
  }
  const bool state = !arguments.draw.empty() || !arguments.dispatch.empty();
  const bool one_dump = arguments.inputs.size() == 1;
  if (arguments.inputs.empty() || arguments.inputs.size() > 2 || (one_dump && !state)) {
    return RefuseDiff("give two inputs, or one with --draw=N,M; unpack diff --help says more");
  }
  if (arguments.descriptions) return DescriptionsDiff(arguments);
  if (one_dump && (*draws)[0] == (*draws)[1] && (*dispatches)[0] == (*dispatches)[1]) {
    return RefuseDiff(arguments.dispatch.empty()
                          ? "of one input, give two draws: --draw=3,7"
                          : "of one input, give two dispatches: --dispatch=3,7");
  }

  RawOptions raw;
  raw.format = arguments.input_format;
  raw.generation = arguments.generation;
  raw.stream = arguments.stream;
  raw.max_bytes = MaxInput(arguments);
  if (!arguments.engine.empty()) raw.engine = arguments.engine;
  if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    return RefuseDiff(
        absl::StrCat("--address=", arguments.address, " is not a hexadecimal number"));
  }
  tools::Described described;
  std::optional<tables::Tables> own;
  if (!arguments.xml.empty()) {
    described = tools::ReadXml(arguments.xml);
    if (!described.tables.ok()) return RefuseDiff(described.tables.status().message());
    own = *described.tables;
  } else if (!arguments.generation.empty()) {
    const absl::Status known = FindGeneration(arguments.generation).status();
    if (!known.ok()) return RefuseDiff(absl::StrCat("--gen: ", known.message()));
  }

  const ShowProgress progress("unpack diff");
  Side a(arguments, own), b(arguments, own);
  const std::string& of_b = arguments.inputs.back();
  bool whole = a.Read(arguments.inputs[0], raw, (*draws)[0], (*dispatches)[0]);
  whole &= b.Read(of_b, raw, (*draws)[1], (*dispatches)[1]);
  if (a.trail() == nullptr || b.trail() == nullptr) return kTrouble;
  std::vector<std::string> read = described.inputs;
  for (const Side* side : {&a, &b}) {
    read.insert(read.end(), side->files().begin(), side->files().end());
  }
  const std::string output = arguments.output.empty() ? "-" : arguments.output;
  if (const absl::Status refused = RefuseToOverwrite(output, read); !refused.ok()) {
    return RefuseDiff(refused.message());
  }
  compare::ReportOptions options{arguments.inputs[0], of_b};
  for (const bool is_a : {true, false}) {
    const Side& side = is_a ? a : b;
    const uint64_t draw = (*draws)[is_a ? 0 : 1], dispatch = (*dispatches)[is_a ? 0 : 1];
    if (!state) continue;
    std::string& name = is_a ? options.a : options.b;
    const uint64_t there = draw != 0 ? side.summary().draws : side.summary().dispatches;
    const absl::string_view kind = draw != 0 ? "draw" : "dispatch";
    if (side.trail()->sequences.empty()) {
      return RefuseDiff(
          absl::StrCat(name, ": there is no ", kind, " ", draw + dispatch, "; it has ", there));
    }
    absl::StrAppend(&name, ", ", kind, " ", draw + dispatch);
  }
  SetProgress("comparing");
  const compare::Comparison comparison =
      compare::Compare(*a.trail(), *b.trail(), {.one_dump = one_dump});
  decode::StringOutput text;
  if (arguments.format == "jsonl") {
    compare::WriteJsonLines(comparison, options, text);
  } else {
    options.color = tools::UseColor(arguments.color, arguments.output);
    if (arguments.side_by_side) options.side_by_side = arguments.width;
    compare::WriteText(comparison, options, text);
  }
  const int result = !whole ? kTrouble : comparison.counts.IsSame() ? kSame : kDifferent;
  return Finish(arguments, text.text(), result);
}

}  // namespace packsmith::commands
