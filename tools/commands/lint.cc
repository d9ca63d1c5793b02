#include "tools/commands/lint.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/aub/play.h"
#include "runtime/base/command_line.h"
#include "runtime/base/file.h"
#include "runtime/base/program/program.h"
#include "runtime/base/progress.h"
#include "runtime/base/same_file.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/raw.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/rings.h"
#include "runtime/lint/lint.h"
#include "runtime/lint/report.h"
#include "runtime/lint/rules.h"
#include "runtime/lint/zones.h"
#include "tools/commands/command.h"
#include "tools/descriptions.h"
#include "tools/inputs.h"
#include "tools/output.h"

namespace packsmith::commands {
namespace {

using tools::Then;

constexpr int kClean = 0, kAlarms = 1, kTrouble = 2;

constexpr const char* kLintHelp =
    R"(unpack lint holds the batches of dumps against rules: what hardware does not take, what drivers
forget, what is of no use.

Examples:
  unpack lint hang.core
  unpack lint --fail-on=warning run/              all dumps of a run, in order
  unpack lint --without=L601,Wa_1409600907 hang.core
  unpack lint --format=sarif -o lint.sarif hang.core
  unpack lint --rules                             what is checked, why, and by which source

unpack lint [options] FILE...
                        FILE is a dump as unpack reads it, or a directory of the dumps of one run

  --fail-on=SEVERITY    the exit code is 1 if there are alarms of this severity or of a higher one:
                        error (default), warning, note; or never
  --without=RULE,...    leave out rules (L601), all of a kind (L6), or workarounds (Wa_1409600907)
  --format=FORMAT       text (default), jsonl or sarif (2.1.0)
  --most=N              list at most N alarms of a rule, and count the others (default: 100)
  --platform=NAME       the product, for workarounds, with what the dump does not say: dg2-g10,
                        dg2-g10(b0), tgl(c0). Without a stepping, workarounds that depend on one are
                        not checked
  --history=WHEN        whether the files have all batches of their contexts, so that state that no
                        packet has set is missing: auto (default: if the dumps' submissions are
                        numbered from 0 on), whole, part
  --zones=FILE          how the driver divides the address space, so that pointers into another part
                        are found: a line for each part, BEGIN END NAME, or BEGIN END NAME: BASE, BASE
                        with the bases whose offsets point into it
  --rules               list the rules
  --gen=NAME            generation, if the dump does not name it, or is wrong
  --engine=NAME, --address=A, --stream=NAME, --input=FORMAT
                        of bare batches, as for unpack
  --xml=FILE            decode with this description
  --max-input=SIZE      bytes of a dump after decompression
  -o, --output=FILE     a file, which is created when the output is complete
  --no-pager            not through $PAGER
  --version, -h, --help

Exit code: 0 no alarms that count; 1 there are some; 2 wrong usage, or an input could not be read
whole.
)";

struct LintArguments {
  std::vector<std::string> inputs;
  std::string fail_on = "error", without, format = "text", platform, history = "auto", zones;
  std::string generation, engine, address, stream, input_format, xml, output;
  uint64_t max_input = kDefaultMaxBytes, most = 100;
  bool rules = false, no_pager = false;
};

int RefuseLint(absl::string_view text) {
  Complain(text);
  return kTrouble;
}

// Reads the command line. An exit code: there is nothing left to do.
std::optional<int> ParseLint(int argc, char** argv, LintArguments& arguments) {
  CLI::App app("", "unpack lint");
  app.set_help_flag();
  app.add_option("FILE", arguments.inputs);
  app.add_option("--fail-on", arguments.fail_on)
      ->check(tools::OneOf({"error", "warning", "note", "never"}));
  app.add_option("--without", arguments.without);
  app.add_option("--format", arguments.format)->check(tools::OneOf({"text", "jsonl", "sarif"}));
  app.add_option("--most", arguments.most);
  app.add_option("--platform", arguments.platform);
  app.add_option("--history", arguments.history)->check(tools::OneOf({"auto", "whole", "part"}));
  app.add_option("--zones", arguments.zones);
  app.add_flag("--rules", arguments.rules);
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
      .name = "unpack lint", .help = kLintHelp, .descriptions = BuiltInDigest};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, argc, argv, Complain)) {
    return done;
  }
  if (!arguments.rules && arguments.inputs.empty()) {
    return RefuseLint("no file was given; - is standard input; unpack lint --help says more");
  }
  if (arguments.rules && !arguments.inputs.empty()) {
    return RefuseLint("--rules reads no dumps: give either it or files");
  }
  if (arguments.rules && arguments.format == "sarif") {
    return RefuseLint("--rules writes text or, with --format=jsonl, JSON lines");
  }
  return std::nullopt;
}

// The lowest severity that counts; none: "never".
std::optional<lint::Severity> FailOn(absl::string_view name) {
  for (const lint::Severity one :
       {lint::Severity::kNote, lint::Severity::kWarning, lint::Severity::kError}) {
    if (lint::NameOf(one) == name) return one;
  }
  return std::nullopt;
}

// "L601,L5,Wa_1" as numbers of rules. InvalidArgument names what is none.
absl::StatusOr<absl::flat_hash_set<std::string>> Without(absl::string_view text,
                                                         absl::Span<const lint::ListedRule> rules) {
  absl::flat_hash_set<std::string> all;
  for (const absl::string_view one : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    size_t found = absl::StartsWith(one, "Wa_") ? 1 : 0;
    if (found != 0) all.insert(std::string(one));
    for (const lint::ListedRule& rule : rules) {
      const bool kind = one.size() == 2 && absl::StartsWith(rule.number, one);
      if (rule.number != one && !kind) continue;
      all.insert(rule.number);
      ++found;
    }
    if (found == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--without: there is no rule ", one, "; unpack lint --rules lists them"));
    }
  }
  return all;
}

// `known`: the descriptions whose bases the file may name.
absl::StatusOr<lint::Zones> ReadZones(const std::string& path,
                                      absl::Span<const tables::Tables> known) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const absl::StatusOr<FileBytes> file = OpenFile(path, kMostBytes);
  if (!file.ok()) return file.status();
  absl::StatusOr<lint::Zones> zones =
      lint::Zones::Parse({reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()});
  const absl::Status status = zones.ok() ? zones->CheckBases(known) : zones.status();
  if (status.ok()) return zones;
  return absl::InvalidArgumentError(absl::StrCat(path, ", ", status.message()));
}

// Reads the inputs, and hands their alarms to the report.
class LintRun {
 public:
  LintRun(const LintArguments& arguments, const std::optional<tables::Tables>& own,
          lint::LintOptions options, lint::Report& report)
      : arguments_(arguments), own_(own), options_(std::move(options)), report_(report) {}

  void Read(const std::vector<std::string>& files, const RawOptions& raw) {
    tools::Inputs inputs(files, raw, Complain);
    do {
      One(inputs);
    } while (inputs.NextGroup());
    whole_ = whole_ && !inputs.failed();
  }
  // A folder of dumps that could not be read whole, or the like.
  void Miss() { whole_ = false; }

  const lint::AlarmCounts& counts() const { return counts_; }
  bool is_whole() const { return whole_; }

 private:
  // The dumps of one GPU.
  void One(tools::Inputs& inputs) {
    std::optional<tools::Gpu> gpu;
    std::unique_ptr<lint::LintSink> sink;
    std::unique_ptr<decode::Decoder> decoder;
    tools::IndexOrder order;
    inputs.ForEach(false, [&](Dump& dump, const std::string& file) {
      const absl::StatusOr<tables::Tables> tables = Describe(dump, file, gpu);
      if (!tables.ok()) return Then::kRefuse;
      if (gpu && !gpu->IsSame(*tables, dump.device)) return Then::kLater;
      if (const std::string note = order.Add(dump, file); !note.empty()) Complain(note);
      if (!gpu) {
        gpu = tools::Gpu{*tables, dump.device};
        sink = lint::MakeLintSink(report_, options_);
        decoder = std::make_unique<decode::Decoder>(gpu->tables, *sink, lint::LintDecoding());
      }
      report_.BeginFile(file);
      decoder->Decode(dump);
      for (const Problem& problem : dump.problems) {
        Complain(absl::StrCat(file, ", byte ", problem.offset, ": ", problem.text));
        whole_ = false;
      }
      return Then::kGoOn;
    });
    if (decoder == nullptr) return;
    decoder->Finish();
    const lint::AlarmCounts& counts = sink->counts();
    for (size_t i = 0; i < counts.by_severity.size(); ++i) {
      counts_.by_severity[i] += counts.by_severity[i];
    }
    for (const auto& [number, count] : counts.by_rule) counts_.by_rule[number] += count;
    counts_.not_shown += counts.not_shown;
  }

  absl::StatusOr<tables::Tables> Describe(Dump& dump, const std::string& file,
                                          const std::optional<tools::Gpu>& before) const {
    std::string note;
    const bool as_before = before && arguments_.generation.empty() && !tools::NamesGpu(dump.device);
    absl::StatusOr<tables::Tables> found = own_ ? *own_
                                           : as_before
                                               ? before->tables
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

  const LintArguments& arguments_;
  const std::optional<tables::Tables>& own_;
  const lint::LintOptions options_;
  lint::Report& report_;
  lint::AlarmCounts counts_;
  bool whole_ = true;
};

lint::ReportFormat FormatOf(absl::string_view name) {
  return name == "jsonl"   ? lint::ReportFormat::kJsonLines
         : name == "sarif" ? lint::ReportFormat::kSarif
                           : lint::ReportFormat::kText;
}

// The files of the inputs, those of directories in their order.
std::vector<std::string> FilesOf(const std::vector<std::string>& inputs, bool& whole) {
  std::vector<std::string> files;
  for (const std::string& path : inputs) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
      files.push_back(path);
      continue;
    }
    const absl::StatusOr<FoundDumps> found = FindDumps(path);
    if (!found.ok()) {
      Complain(found.status().message());
      whole = false;
      continue;
    }
    for (const std::string& problem : found->problems) {
      Complain(problem);
      whole = false;
    }
    files.insert(files.end(), found->paths.begin(), found->paths.end());
  }
  return files;
}

int Run(const LintArguments& arguments, const tools::Described& described,
        const std::optional<tables::Tables>& own, lint::LintOptions options,
        std::vector<lint::ListedRule> rules) {
  RawOptions raw;
  raw.format = arguments.input_format;
  raw.generation = arguments.generation;
  raw.stream = arguments.stream;
  raw.max_bytes = arguments.max_input;
  if (!arguments.engine.empty()) raw.engine = arguments.engine;
  if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    return RefuseLint(
        absl::StrCat("--address=", arguments.address, " is not a hexadecimal number"));
  }
  const ShowProgress progress("unpack lint");
  bool whole = true;
  const std::vector<std::string> files = FilesOf(arguments.inputs, whole);
  std::vector<std::string> read = described.inputs;
  if (!arguments.zones.empty()) read.push_back(arguments.zones);
  read.insert(read.end(), files.begin(), files.end());
  const std::string name = arguments.output.empty() ? "-" : arguments.output;
  if (const absl::Status refused = RefuseToOverwrite(name, read); !refused.ok()) {
    return RefuseLint(refused.message());
  }
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output =
      tools::OpenOutput({arguments.output, !arguments.no_pager && arguments.format == "text",
                         [] { std::_Exit(kTrouble); }});
  if (!output.ok()) return RefuseLint(output.status().message());
  const std::unique_ptr<lint::Report> report =
      lint::MakeReport(FormatOf(arguments.format), std::move(rules), **output);
  LintRun run(arguments, own, std::move(options), *report);
  if (!whole) run.Miss();
  run.Read(files, raw);
  report->Finish(run.counts(), run.is_whole());
  if (const absl::Status status = (*output)->Finish(); !status.ok()) {
    return RefuseLint(status.message());
  }
  if (!run.is_whole()) return kTrouble;
  const std::optional<lint::Severity> least = FailOn(arguments.fail_on);
  return least && run.counts().From(*least) != 0 ? kAlarms : kClean;
}

int ShowRules(const LintArguments& arguments, absl::Span<const lint::ListedRule> rules) {
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output =
      tools::OpenOutput({arguments.output, !arguments.no_pager && arguments.format == "text",
                         [] { std::_Exit(kClean); }});
  if (!output.ok()) return RefuseLint(output.status().message());
  lint::WriteRules(rules, FormatOf(arguments.format), **output);
  const absl::Status status = (*output)->Finish();
  return status.ok() ? kClean : RefuseLint(status.message());
}

}  // namespace

int Lint(int argc, char** argv) {
  LintArguments arguments;
  if (const std::optional<int> done = ParseLint(argc, argv, arguments)) return *done;
  tools::Described described;
  std::optional<tables::Tables> own;
  std::vector<tables::Tables> generations;
  if (!arguments.xml.empty()) {
    described = tools::ReadXml(arguments.xml);
    if (!described.tables.ok()) return RefuseLint(described.tables.status().message());
    own = *described.tables;
    generations = {*own};
  } else if (!arguments.generation.empty()) {
    const absl::StatusOr<tables::Tables> known = FindGeneration(arguments.generation);
    if (!known.ok()) return RefuseLint(absl::StrCat("--gen: ", known.status().message()));
    generations = {*known};
  } else {
    generations.assign(BuiltInGenerations().begin(), BuiltInGenerations().end());
  }
  std::vector<lint::ListedRule> rules = lint::ListRules(generations);
  if (arguments.rules) return ShowRules(arguments, rules);
  lint::LintOptions options;
  absl::StatusOr<absl::flat_hash_set<std::string>> without = Without(arguments.without, rules);
  if (!without.ok()) return RefuseLint(without.status().message());
  options.without = *std::move(without);
  options.most_of_a_rule = arguments.most;
  options.history = arguments.history == "whole"  ? lint::History::kWhole
                    : arguments.history == "part" ? lint::History::kPart
                                                  : lint::History::kAuto;
  if (!arguments.platform.empty()) {
    const absl::StatusOr<lint::Product> product = lint::ParseProduct(arguments.platform);
    if (!product.ok()) {
      return RefuseLint(absl::StrCat("--platform: ", product.status().message()));
    }
    options.product = *product;
  }
  if (!arguments.zones.empty()) {
    // A file of zones may be for more GPUs than this one.
    std::vector<tables::Tables> known(BuiltInGenerations().begin(), BuiltInGenerations().end());
    if (own) known.push_back(*own);
    absl::StatusOr<lint::Zones> zones = ReadZones(arguments.zones, known);
    if (!zones.ok()) return RefuseLint(absl::StrCat("--zones: ", zones.status().message()));
    options.zones = *std::move(zones);
  }
  return Run(arguments, described, own, std::move(options), std::move(rules));
}

}  // namespace packsmith::commands
