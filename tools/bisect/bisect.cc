// packsmith-bisect: leaves packets out of a dump as long as a command says that it still fails.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/aub/play.h"
#include "runtime/base/command_line.h"
#include "runtime/base/program/program.h"
#include "runtime/base/same_file.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/rings.h"
#include "runtime/reduce/minimize.h"
#include "runtime/reduce/packets.h"
#include "tools/bisect/command.h"
#include "tools/descriptions.h"

namespace packsmith::bisect {
namespace {

constexpr int kGood = 0, kFailed = 1, kWrongUsage = 2;

constexpr char kHelp[] =
    R"(packsmith-bisect [OPTIONS] -o OUTPUT DUMP -- COMMAND [ARGUMENT...]
Leaves packets out of a dump, by halves, as long as COMMAND says that it still fails, and writes the
smallest dump that does. Packets that are left out become no-ops: all others keep their addresses.

{} in an argument stands for the candidate, a GPU core dump; without any it is the last argument.
The exit code of COMMAND is its answer: 0 yes, it still fails; any other no. Being killed by a
signal, or by --timeout, is no.

Examples:
  packsmith-bisect -o small.core hang.core -- ./replays-and-hangs {}
  packsmith-bisect -o small.core hang.core -- sh -c 'unpack --run {} | grep -q "wild write"'

  -o, --output=FILE     the smallest dump, written when the search ends
  --timeout=SECONDS     of one run of COMMAND (default: 60)
  --seconds=SECONDS     of the search (default: no limit)
  --max-runs=N          runs of COMMAND (default: no limit)
  --show                shows what COMMAND prints, on standard error
  --gen=NAME            generation, if the dump does not name it, or is wrong
  --xml=FILE            a description of your own
  -h, --help            this text
  --version             the version

Limits and Ctrl-C end the search; the smallest dump until then is written.

Exit code: 0 the dump was written; 1 COMMAND says no for DUMP itself or cannot be started, or a file
could not be read or written; 2 wrong usage.
)";

void Complain(absl::string_view text) {
  std::fprintf(stderr, "packsmith-bisect: %s\n", decode::Harmless(text).c_str());
}

volatile std::sig_atomic_t interrupted = 0;

void OnSignal(int) { interrupted = 1; }

struct Arguments {
  std::string dump, output, generation, xml;
  CommandLine command;
  double timeout = 60, seconds = 0;
  uint64_t most_runs = 0;
};

// A folder that goes with all that is in it.
class Folder {
 public:
  static absl::StatusOr<Folder> Create() {
    std::error_code failed;
    const std::filesystem::path base = std::filesystem::temp_directory_path(failed);
    std::string path = (failed ? std::filesystem::path("/tmp") : base) / "packsmith-bisect-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("cannot make a folder for candidates in ",
                                                        base.string(),
                                                        "; TMPDIR names another place"));
    }
    return Folder(std::move(path));
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string File() const { return path_ + "/candidate.core"; }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Runs the command on candidates, within the limits.
class Asker {
 public:
  Asker(const Arguments& arguments, const Dump& dump, const std::vector<reduce::Packet>& packets,
        std::string file)
      : arguments_(arguments), dump_(dump), packets_(packets), file_(std::move(file)) {}

  reduce::Answer operator()(const std::vector<size_t>& kept) {
    if (const std::string why = Limit(); !why.empty()) {
      Complain(absl::StrCat(why, "; the smallest dump until now is written"));
      return reduce::Answer::kStop;
    }
    const Dump candidate = reduce::WithoutOthers(dump_, packets_, kept);
    status_ = WriteElfCore(candidate, file_);
    if (!status_.ok()) return reduce::Answer::kStop;
    const absl::StatusOr<Outcome> outcome = Ask(arguments_.command, file_, interrupted);
    if (!outcome.ok()) {
      status_ = outcome.status();
      return reduce::Answer::kStop;
    }
    if (*outcome == Outcome::kInterrupted) return (*this)(kept);
    ++runs_;
    std::fprintf(stderr, "run %llu: %zu of %zu packets: %s\n",
                 static_cast<unsigned long long>(runs_), kept.size(), packets_.size(),
                 *outcome == Outcome::kYes       ? "yes"
                 : *outcome == Outcome::kSignal  ? "no (killed by a signal)"
                 : *outcome == Outcome::kTimeout ? "no (timeout)"
                                                 : "no");
    return *outcome == Outcome::kYes ? reduce::Answer::kYes : reduce::Answer::kNo;
  }

  // An error that ended the search.
  const absl::Status& status() const { return status_; }

 private:
  std::string Limit() const {
    if (interrupted != 0) return "interrupted";
    if (arguments_.most_runs != 0 && runs_ >= arguments_.most_runs) {
      return absl::StrCat("--max-runs=", arguments_.most_runs, " is reached");
    }
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - start_;
    if (arguments_.seconds > 0 && past.count() >= arguments_.seconds) {
      return absl::StrCat("--seconds=", arguments_.seconds, " are over");
    }
    return {};
  }

  const Arguments& arguments_;
  const Dump& dump_;
  const std::vector<reduce::Packet>& packets_;
  const std::string file_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t runs_ = 0;
  absl::Status status_;
};

int Bisect(const Arguments& arguments) {
  absl::StatusOr<Dump> dump = ReadDump(arguments.dump);
  if (!dump.ok()) {
    Complain(dump.status().message());
    return kFailed;
  }
  for (const Problem& problem : dump->problems) {
    Complain(absl::StrCat(arguments.dump, ", byte ", problem.offset, ": ", problem.text));
  }
  tools::Described own;
  std::string note;
  if (!arguments.xml.empty()) {
    own = tools::ReadXml(arguments.xml);
  } else {
    own.tables = tools::TablesOf(arguments.generation, *dump, note);
  }
  if (!own.tables.ok()) {
    Complain(own.tables.status().message());
    return kFailed;
  }
  if (!note.empty()) Complain(absl::StrCat("note: ", note));
  const tables::Tables& tables = *own.tables;
  aub::Play(tables, *dump, {});
  hang::AddRings(tables, *dump);
  std::vector<std::string> inputs = own.inputs;
  inputs.push_back(arguments.dump);
  if (const absl::Status refused = RefuseToOverwrite(arguments.output, inputs); !refused.ok()) {
    Complain(refused.message());
    return kWrongUsage;
  }
  const absl::StatusOr<std::vector<reduce::Packet>> packets = reduce::FindPackets(tables, *dump);
  if (!packets.ok()) {
    Complain(packets.status().message());
    return kFailed;
  }
  const absl::StatusOr<Folder> folder = Folder::Create();
  if (!folder.ok()) {
    Complain(folder.status().message());
    return kFailed;
  }

  std::vector<size_t> all(packets->size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Asker asker(arguments, *dump, *packets, folder->File());
  const reduce::Answer first = asker(all);
  if (first != reduce::Answer::kYes) {
    if (!asker.status().ok()) {
      Complain(asker.status().message());
    } else if (first == reduce::Answer::kNo) {
      Complain(absl::StrCat("the command says no for ", arguments.dump,
                            " itself: its exit code must be 0 if the dump still fails"));
    }
    return kFailed;
  }
  const reduce::Minimum minimum = reduce::Minimize(
      packets->size(), [&](const std::vector<size_t>& kept) { return asker(kept); });
  if (!asker.status().ok()) Complain(asker.status().message());
  const absl::Status written =
      WriteElfCore(reduce::WithoutOthers(*dump, *packets, minimum.kept), arguments.output);
  if (!written.ok()) {
    Complain(written.message());
    return kFailed;
  }
  std::string text = absl::StrCat(minimum.kept.size(), " of ", packets->size(), " packets are left",
                                  minimum.complete ? "; none of them can be left out" : "", "\n");
  for (const size_t i : minimum.kept) {
    const reduce::Packet& packet = (*packets)[i];
    absl::StrAppendFormat(&text, "  0x%x  %s\n", packet.address, packet.name);
  }
  std::fputs(text.c_str(), stdout);
  return asker.status().ok() ? kGood : kFailed;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  // The command's own options are not ours.
  int own = argc;
  for (int i = 1; i < argc; ++i) {
    if (absl::string_view(argv[i]) != "--") continue;
    own = i;
    arguments.command.words.assign(argv + i + 1, argv + argc);
    break;
  }
  CLI::App app("", "packsmith-bisect");
  app.set_help_flag();
  app.add_option("DUMP", arguments.dump);
  app.add_option("-o,--output", arguments.output);
  const CLI::Range time(0.001, 1e9);
  app.add_option("--timeout", arguments.timeout)->check(time);
  app.add_option("--seconds", arguments.seconds)->check(time);
  app.add_option("--max-runs", arguments.most_runs)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_flag("--show", arguments.command.shows_output);
  app.add_option("--gen", arguments.generation);
  app.add_option("--xml", arguments.xml);
  const tools::Program program = {
      .name = "packsmith-bisect", .help = kHelp, .descriptions = BuiltInDigest};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, own, argv, Complain)) {
    return *done;
  }
  const char* missing = arguments.dump.empty()            ? "a dump must be given"
                        : arguments.output.empty()        ? "--output=FILE must be given"
                        : arguments.command.words.empty() ? "a command must follow --"
                                                          : nullptr;
  if (missing != nullptr) {
    Complain(absl::StrCat(missing, "; packsmith-bisect --help says more"));
    return kWrongUsage;
  }
  bool named = false;
  for (const std::string& word : arguments.command.words) named |= absl::StrContains(word, "{}");
  if (!named) arguments.command.words.emplace_back("{}");
  arguments.command.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(arguments.timeout));
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return Bisect(arguments);
}

}  // namespace
}  // namespace packsmith::bisect

int main(int argc, char** argv) { return packsmith::bisect::Main(argc, argv); }
