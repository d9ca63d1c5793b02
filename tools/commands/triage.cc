#include "tools/commands/triage.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/command_line.h"
#include "runtime/base/file.h"
#include "runtime/base/program/program.h"
#include "runtime/base/progress.h"
#include "runtime/base/same_file.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"
#include "runtime/triage/groups.h"
#include "runtime/triage/known_issues.h"
#include "runtime/triage/state_file.h"
#include "runtime/triage/survey.h"
#include "tools/commands/command.h"
#include "tools/descriptions.h"
#include "tools/output.h"

namespace packsmith::commands {
namespace {

constexpr const char* kTriageHelp =
    R"(unpack triage sorts dumps of GPU hangs into groups of one cause.

Examples:
  unpack triage /var/lib/packsmith                   what hung, how often, a dump of each group
  unpack triage --known=issues.txt --format=markdown DIR
  unpack triage --state=fleet.jsonl DIR              the next time only new dumps are read
  unpack triage --format=jsonl DIR | sqlite-utils insert fleet.db dumps - --nl
  unpack triage --by=engine,command,reason DIR       coarser groups

unpack triage [options] PATH...
                        PATH is a dump that a kernel made of a hang (i915 error state, xe device
                        core dump), plain or compressed, or a folder: all dumps in and below it.
                        Two dumps are in one group if their signatures are the same: generation,
                        class of the engine, the kernel's reason, where the engine stopped, in which
                        command with which fields (no addresses), hash of the state that was set for
                        the last draw, versions of GuC firmware and kernel. The kernel's ecode does
                        not count.

  --by=FIELD,...        the fields of the signature that count (default: all): generation, engine,
                        reason, verdict, command, fields, state_hash, firmware, kernel
  --known=FILE          known issues: rules over these fields, see docs/fleet.md
  --state=FILE          keep what was read in FILE, a line of JSON for each dump, and read only
                        files that are new or changed (path, size, time); a run that was interrupted
                        goes on
  --format=FORMAT       text (default), markdown, or jsonl: a record for each file, then one for
                        each group
  --top=N               text, markdown: show the N largest groups (default: 20; 0: all)
  --jobs=N              threads (default: one for each processor); each has one dump in memory
  --max-input=SIZE      bytes of a file after decompression (default: 4 GiB, or what memory allows)
  -o, --output=FILE     a file, which is created when the output is complete
  --no-pager            not through $PAGER
  --version, -h, --help

Exit code: 0 all dumps were read whole; 1 some are damaged, which are listed, or could not be read;
2 wrong usage.
)";

struct TriageArguments {
  std::vector<std::string> paths;
  std::string by, known, state, format = "text", output;
  size_t top = 20;
  unsigned jobs = 0;       // 0: one for each processor
  uint64_t max_input = 0;  // 0: what memory allows
  bool no_pager = false;
};

// Reads the command line. An exit code: there is nothing left to do.
std::optional<int> ParseTriage(int argc, char** argv, TriageArguments& arguments) {
  CLI::App app("", "unpack triage");
  app.set_help_flag();
  app.add_option("PATH", arguments.paths);
  app.add_option("--by", arguments.by);
  app.add_option("--known", arguments.known);
  app.add_option("--state", arguments.state);
  app.add_option("--format", arguments.format)->check(tools::OneOf({"text", "markdown", "jsonl"}));
  app.add_option("--top", arguments.top);
  app.add_option("--jobs", arguments.jobs)->check(CLI::Range(1, 1024));
  app.add_option("--max-input", arguments.max_input)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, ~uint64_t{0} >> 1));
  app.add_option("-o,--output", arguments.output);
  app.add_flag("--no-pager", arguments.no_pager);
  const tools::Program program = {
      .name = "unpack triage", .help = kTriageHelp, .descriptions = BuiltInDigest};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, argc, argv, Complain)) {
    return done;
  }
  if (arguments.paths.empty()) {
    return Refuse("no dump or folder was given; unpack triage --help says more");
  }
  return std::nullopt;
}

// Of one dump: all threads together use at most half of the memory.
uint64_t MaxInput(const TriageArguments& arguments, unsigned jobs) {
  if (arguments.max_input != 0) return arguments.max_input;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kDefaultMaxBytes / jobs;
  const uint64_t memory = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  return std::min(kDefaultMaxBytes, std::max<uint64_t>(1, memory / 2 / jobs));
}

absl::StatusOr<triage::KnownIssues> ReadKnown(const std::string& path) {
  if (path.empty()) return triage::KnownIssues();
  const absl::StatusOr<FileBytes> file = OpenFile(path);
  if (!file.ok()) return file.status();
  return triage::ParseKnownIssues(
      absl::string_view(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()),
      path);
}

// The files that are no inputs, though they may be in a folder of dumps, and must not be
// overwritten.
absl::Status CheckFiles(const TriageArguments& arguments, std::vector<triage::Found>& files) {
  std::vector<std::string> read;
  for (const std::string& own : {arguments.known, arguments.state, arguments.output}) {
    if (own.empty()) continue;
    std::erase_if(
        files, [&](const triage::Found& one) { return !one.named && IsSameFile(one.path, own); });
  }
  for (const triage::Found& one : files) read.push_back(one.path);
  if (!arguments.known.empty()) read.push_back(arguments.known);
  if (!arguments.state.empty()) {
    if (absl::Status status = RefuseToOverwrite(arguments.state, read); !status.ok()) return status;
    read.push_back(arguments.state);
  }
  return RefuseToOverwrite(arguments.output.empty() ? "-" : arguments.output, read);
}

}  // namespace

int TriageDumps(int argc, char** argv) {
  TriageArguments arguments;
  if (const std::optional<int> done = ParseTriage(argc, argv, arguments)) return *done;
  absl::StatusOr<triage::FieldSet> fields = triage::kAllFields;
  if (!arguments.by.empty()) fields = triage::FieldsNamed(arguments.by);
  if (!fields.ok()) return Refuse(absl::StrCat("--by: ", fields.status().message()));
  absl::StatusOr<triage::KnownIssues> known = ReadKnown(arguments.known);
  if (!known.ok()) return Refuse(absl::StrCat("--known: ", known.status().message()));

  int result = kGood;
  std::vector<std::string> problems;
  std::vector<triage::Found> files = triage::FindFiles(arguments.paths, problems);
  for (const std::string& problem : problems) {
    Complain(problem);
    result = kNotDecoded;
  }
  if (absl::Status status = CheckFiles(arguments, files); !status.ok()) {
    return Refuse(status.message());
  }
  std::optional<triage::StateFile> state;
  if (!arguments.state.empty()) {
    absl::StatusOr<triage::StateFile> opened = triage::StateFile::Open(arguments.state);
    if (!opened.ok()) return Refuse(absl::StrCat("--state: ", opened.status().message()));
    state = *std::move(opened);
  }

  const bool lines = arguments.format == "jsonl";
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = tools::OpenOutput(
      {arguments.output, !arguments.no_pager && !lines, [] { std::_Exit(kGood); }});
  if (!output.ok()) {
    Complain(output.status().message());
    return kNotDecoded;
  }
  triage::SurveyOptions options;
  options.jobs =
      arguments.jobs != 0 ? arguments.jobs : std::max(1u, std::thread::hardware_concurrency());
  options.max_bytes = MaxInput(arguments, options.jobs);
  options.describe = [](const Dump& dump) {
    // A guess of the generation from the platform's name is as good for all dumps of that platform.
    std::string note;
    return tools::TablesOf("", dump, note);
  };
  triage::Groups groups(*fields, *std::move(known));
  const ShowProgress progress("unpack triage");
  size_t read = 0;
  SetProgress(absl::StrCat("0 of ", files.size(), " files"));
  const absl::StatusOr<triage::SurveyCount> count =
      triage::Survey(files, options, state ? &*state : nullptr, [&](const triage::Record& record) {
        const std::string more = groups.Add(record);
        SetProgress(absl::StrCat(++read, " of ", files.size(), " files"));
        if (lines) (*output)->Append(triage::ToJson(record, more) + "\n");
      });
  absl::Status status = count.status();
  if (status.ok() && state) status = state->Finish();
  if (!status.ok()) {
    Complain(status.message());
    result = kNotDecoded;
  }
  const triage::Triage triaged = groups.Take();
  (*output)->Append(lines                            ? triage::ToJsonLines(triaged)
                    : arguments.format == "markdown" ? triage::ToMarkdown(triaged, arguments.top)
                                                     : triage::ToText(triaged, arguments.top));
  status = (*output)->Finish();
  if (!status.ok()) {
    Complain(status.message());
    return kNotDecoded;
  }
  return triaged.unreadable + triaged.damaged != 0 ? kNotDecoded : result;
}

}  // namespace packsmith::commands
