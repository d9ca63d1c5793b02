// packsmith-mock: runs a program on GPUs that are not there.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/command_line.h"
#include "runtime/base/program/program.h"
#include "runtime/capture/execute/planned_hang.h"
#include "runtime/capture/records/command_line.h"
#include "runtime/generations/generations.h"
#include "tools/mock/launcher.h"
#include "tools/mock/run.h"
#include "tools/mock/session.h"

namespace packsmith::mock {
namespace {

constexpr char kHelp[] =
    R"(packsmith-mock --device=NAME[,NAME...] [OPTIONS] -- APP [ARGS...]
Runs APP as if the machine had the named GPUs: their kernel drivers' calls, and the files in /dev
and /sys that show them, are answered by a mock kernel.

  --device=NAME[,...]   the GPUs: platforms (tgl), variants (skl_gt4) or PCI ids (8086:9a49).
                        NAME:xe, NAME:i915: with that driver's interface
  --kernel=DRIVER       the interface of GPUs that name none, instead of the usual one
  --run                 execute submissions in a simulator: what command streamers and copy engines
                        do, not shaders. Otherwise each is done at once, without effect
  --unpack[=OPTIONS]    show each submission, decoded, as it is made; with options of unpack:
                        "hide-zero filter=3DPRIMITIVE"
  --unpack-file=FILE    show them in FILE, not on standard error
  --hang-at=HANG[,...]  hangs of submissions, each N[:KIND][@ADDRESS]: the Nth one hangs at the command
                        at ADDRESS, with --run after what comes before it. KIND: command (default),
                        which does not end; refused; shader, of the draw or dispatch before; a unit of
                        the pipeline (CL), which does not finish it; not-started; not-yielding; reset,
                        before registers were read; reset-by-other, along with another queue
  --patience=SECONDS    what waits or runs longer hangs (default: 10)
  --kernel-log=FILE     what the kernel's log would say of hangs
  --linger=SECONDS      how long processes that APP leaves behind may keep the GPU (default: 10)
  --verbose             show each call on standard error, and why it fails
  --warnings            show what is accepted and is wrong all the same: in calls, and in submissions
  --summary             show at the end how many calls there were
  --list                list the GPUs
  --version
  -h, --help

Records, each submission as a GPU core dump:
)";
constexpr char kExitCodes[] = R"(
Exit codes: those of APP; 128 + N if signal N killed it; 2 for wrong usage; 126 and 127 if APP
cannot be started or is not found; 1 if APP succeeded and something could not be written.
)";

constexpr int kGood = 0, kWrongUsage = 2;

void Complain(absl::string_view text) {
  std::fprintf(stderr, "packsmith-mock: %.*s\n", static_cast<int>(text.size()), text.data());
}

int Main(int argc, char** argv) {
  Launcher launcher("packsmith-mock");
  // What comes after "--" is the program's.
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  RunOptions run;
  if (own < argc) run.arguments.assign(argv + own + 1, argv + argc);
  SessionOptions options;
  CLI::App app("", "packsmith-mock");
  app.set_help_flag();
  bool list = false;
  std::vector<std::string> words;
  app.add_flag("--list", list);
  app.add_option("WORDS", words);
  app.add_option("--device", options.devices)->delimiter(',')->allow_extra_args(false);
  app.add_option("--kernel", options.kernel)->check(tools::OneOf(KernelNames()));
  std::vector<std::string> hangs;
  app.add_option("--hang-at", hangs)->delimiter(',')->allow_extra_args(false);
  app.add_option("--patience", options.patience)->check(CLI::Range(1, 3600));
  app.add_option("--kernel-log", options.kernel_log);
  app.add_option("--linger", run.linger_seconds)->check(CLI::Range(0.0, 1e6));
  app.add_flag("--run", options.run);
  std::string unpack;
  CLI::Option* const unpack_option = app.add_option("--unpack", unpack)->expected(0, 1);
  app.add_option("--unpack-file", options.unpack_file)->needs(unpack_option);
  capture::AddRecordOptions(app, options.record);
  app.add_flag("--verbose", options.log.calls);
  app.add_flag("--warnings", options.log.warnings);
  app.add_flag("--summary", run.summary);
  const tools::Program program = {.name = "packsmith-mock",
                                  .help = absl::StrCat(kHelp, capture::kRecordHelp, kExitCodes),
                                  .descriptions = BuiltInDigest};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, own, argv, Complain)) {
    return *done;
  }
  if (list) {
    std::fputs(ListDevices().c_str(), stdout);
    return kGood;
  }
  if (!words.empty()) {
    Complain(absl::StrCat("the program and its arguments come after --: packsmith-mock … -- ",
                          words[0]));
    return kWrongUsage;
  }
  if (run.arguments.empty()) {
    Complain("no program is given: packsmith-mock --device=NAME -- APP [ARGS...]");
    return kWrongUsage;
  }
  if (options.devices.empty()) {
    Complain("--device is required; packsmith-mock --list shows the GPUs");
    return kWrongUsage;
  }
  for (const std::string& hang : hangs) {
    absl::StatusOr<capture::PlannedHang> planned = capture::ParsePlannedHang(hang);
    if (!planned.ok()) {
      Complain(absl::StrCat("--hang-at=", planned.status().message()));
      return kWrongUsage;
    }
    options.hang_at.push_back(*std::move(planned));
  }
  if (unpack_option->count() != 0) options.unpack = unpack;
  options.arguments = run.arguments;
  const absl::StatusOr<std::unique_ptr<Session>> session = Session::Make(options);
  if (!session.ok()) {
    Complain(session.status().message());
    return kWrongUsage;
  }
  const int code = Run(launcher, (*session)->kernel(), (*session)->files(), (*session)->log(), run);
  const bool good = (*session)->Finish();
  if (run.summary) std::fputs((*session)->Summary().c_str(), stderr);
  return code == 0 && !good ? 1 : code;
}

}  // namespace
}  // namespace packsmith::mock

int main(int argc, char** argv) { return packsmith::mock::Main(argc, argv); }
