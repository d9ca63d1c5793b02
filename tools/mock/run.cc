#include "tools/mock/run.h"

#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "tools/mock/server.h"

namespace packsmith::mock {

int Run(Launcher& launcher, capture::MockKernel& kernel, capture::VirtualFiles& files, CallLog& log,
        const RunOptions& options) {
  const absl::StatusOr<std::string> library =
      options.library.empty() ? FindPreloadLibrary("libpacksmith-mock.so") : options.library;
  const absl::Status usable = library.ok() ? CheckPreloadPath(*library) : library.status();
  if (!usable.ok()) {
    absl::FPrintF(stderr, "packsmith-mock: %s\n", usable.message());
    return kCannotRun;
  }
  auto server = Server::Start(kernel, files, log);
  if (!server.ok()) {
    absl::FPrintF(stderr, "packsmith-mock: %s\n", server.status().message());
    return kCannotRun;
  }
  const Program program = {.arguments = options.arguments,
                           .preload = *library,
                           .variable = kTokenVariable,
                           .token = (*server)->token()};
  if (const int code = launcher.Start(program); code != 0) return code;
  const int code = launcher.Wait();
  if (!launcher.WaitForOthers([&] { return (*server)->files_open() == 0; },
                              options.linger_seconds)) {
    absl::FPrintF(stderr, "packsmith-mock: %d device files are still open; they end now\n",
                  (*server)->files_open());
  }
  const uint64_t opened = (*server)->files_opened(), calls = (*server)->calls();
  server->reset();
  constexpr int64_t kSecond = 1'000'000'000;
  kernel.WaitIdle(10 * kSecond);
  if (options.summary) {
    absl::FPrintF(stderr,
                  "packsmith-mock: %d device files, %d calls, %d submissions, %d warnings\n",
                  opened, calls, log.submissions(), log.warnings());
  }
  return code;
}

}  // namespace packsmith::mock
