// One run: a program with a mock kernel.
#ifndef PACKSMITH_TOOLS_MOCK_RUN_H_
#define PACKSMITH_TOOLS_MOCK_RUN_H_

#include <string>
#include <vector>

#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/kernel.h"
#include "tools/mock/call_log.h"
#include "tools/mock/launcher.h"

namespace packsmith::mock {

struct RunOptions {
  std::vector<std::string> arguments;  // the program and its arguments
  std::string library;                 // to preload; empty: FindPreloadLibrary()
  bool summary = false;                // on standard error, at the end
  // How long processes may keep device files open after the program has ended.
  double linger_seconds = 10;
};

// `launcher` was made before the kernel. Returns the exit code: the program's, 128 + the signal
// that killed it, or 126 or 127 if it cannot be started. All files are closed and all submissions
// are done, or given up, when it returns.
int Run(Launcher& launcher, capture::MockKernel& kernel, capture::VirtualFiles& files, CallLog& log,
        const RunOptions& options);

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_RUN_H_
