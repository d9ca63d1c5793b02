// packsmith-trace: runs a program and records what it submits to GPUs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/base/program/program.h"
#include "runtime/capture/records/command_line.h"
#include "runtime/capture/records/recorder.h"
#include "runtime/capture/trace/tracer.h"
#include "tools/mock/launcher.h"
#include "tools/trace/protocol.h"
#include "tools/trace/record_sink.h"
#include "tools/trace/server.h"

namespace packsmith::trace {
namespace {

constexpr char kHelp[] =
    R"(packsmith-trace --record=DIR [OPTIONS] -- APP [ARGS...]
Runs APP and records what it submits to the machine's GPUs, through the kernel drivers i915, xe and
asahi: each submission as a GPU core dump, with the memory as APP had written it.

  --linger=SECONDS      how long processes that APP leaves behind are recorded (default: 10)
  --summary             show at the end how many submissions there were
  --version
  -h, --help

Records:
)";
constexpr char kExitCodes[] = R"(
Kernels do not say at once what becomes of a submission: --keep=hung keeps all.

Exit codes: those of APP; 128 + N if signal N killed it; 2 for wrong usage; 126 and 127 if APP
cannot be started or is not found; 1 if APP succeeded and something could not be recorded.
)";

constexpr int kNotRecorded = 1, kWrongUsage = 2;

void Complain(absl::string_view text) {
  std::fprintf(stderr, "packsmith-trace: %.*s\n", static_cast<int>(text.size()), text.data());
}

struct Options {
  std::vector<std::string> arguments;
  capture::RecordOptions record;
  double linger_seconds = 10;
  bool summary = false;
};

int Run(mock::Launcher& launcher, const Options& options) {
  const absl::StatusOr<std::string> library = mock::FindPreloadLibrary("libpacksmith-trace.so");
  if (!library.ok()) {
    Complain(library.status().message());
    return mock::kCannotRun;
  }
  auto recorder = capture::Recorder::Create(
      options.record,
      {.program = "packsmith-trace", .command = absl::StrJoin(options.arguments, " ")});
  if (!recorder.ok()) {
    Complain(absl::StrCat("--record: ", recorder.status().message()));
    return kWrongUsage;
  }
  RecordSink sink(*std::move(recorder), Complain);
  capture::Tracer tracer(sink);
  auto server = Server::Start(tracer);
  if (!server.ok()) {
    Complain(server.status().message());
    return mock::kCannotRun;
  }
  int code = launcher.Start({.arguments = options.arguments,
                             .preload = *library,
                             .variable = kTokenVariable,
                             .token = (*server)->token()});
  if (code == 0) {
    code = launcher.Wait();
    launcher.WaitForOthers([&] { return (*server)->idle(); }, options.linger_seconds);
  }
  server->reset();
  const bool good = sink.Finish();
  if (options.summary) {
    const capture::Recorder::Totals totals = sink.totals();
    absl::FPrintF(stderr,
                  "packsmith-trace: %d device files, %d submissions; recorded %d: %d bytes of "
                  "memory in %d bytes\n",
                  tracer.files(), tracer.submissions(), totals.recorded - totals.dropped,
                  totals.memory_bytes, totals.folder_bytes);
  }
  return code == 0 && !good ? kNotRecorded : code;
}

int Main(int argc, char** argv) {
  mock::Launcher launcher("packsmith-trace");
  // What comes after "--" is the program's.
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  Options options;
  if (own < argc) options.arguments.assign(argv + own + 1, argv + argc);
  CLI::App app("", "packsmith-trace");
  app.set_help_flag();
  std::vector<std::string> words;
  app.add_option("WORDS", words);
  app.add_option("--linger", options.linger_seconds)->check(CLI::Range(0.0, 1e6));
  app.add_flag("--summary", options.summary);
  capture::AddRecordOptions(app, options.record);
  const tools::Program program = {.name = "packsmith-trace",
                                  .help = absl::StrCat(kHelp, capture::kRecordHelp, kExitCodes)};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, own, argv, Complain)) {
    return *done;
  }
  if (!words.empty()) {
    Complain(absl::StrCat("the program and its arguments come after --: packsmith-trace … -- ",
                          words[0]));
    return kWrongUsage;
  }
  if (options.arguments.empty()) {
    Complain("no program is given: packsmith-trace --record=DIR -- APP [ARGS...]");
    return kWrongUsage;
  }
  if (options.record.folder.empty()) {
    Complain("--record is required: the folder for the record");
    return kWrongUsage;
  }
  return Run(launcher, options);
}

}  // namespace
}  // namespace packsmith::trace

int main(int argc, char** argv) { return packsmith::trace::Main(argc, argv); }
