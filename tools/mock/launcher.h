// Starting a program, and waiting for it and for what it leaves running.
#ifndef PACKSMITH_TOOLS_MOCK_LAUNCHER_H_
#define PACKSMITH_TOOLS_MOCK_LAUNCHER_H_

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packsmith::mock {

// Exit codes, as shells have them.
inline constexpr int kCannotRun = 126, kNotFound = 127, kKilledBy = 128;

struct Program {
  std::vector<std::string> arguments;  // the first is searched for in PATH
  std::string preload;                 // the library's path
  std::string variable;                // of the environment: what the library finds `token` in
  std::string token;
};

// Whether a library with that path can be preloaded.
absl::Status CheckPreloadPath(const std::string& path);

// The preload library of that name beside this program, or where it is installed. NotFound with the
// places.
absl::StatusOr<std::string> FindPreloadLibrary(const std::string& library);

class Launcher {
 public:
  // Before anything changes the limits and signals that the program inherits. `name`: this
  // program's, for messages.
  explicit Launcher(std::string name);

  // Starts the program: 0, or the exit code if that cannot be done, with the reason on standard
  // error.
  int Start(const Program& program);
  // Waits for the program: its exit code.
  int Wait();
  // Waits until `done` or until no process is left that descends from the program, at most so
  // long. Whether `done` is true.
  bool WaitForOthers(const std::function<bool()>& done, double seconds);

 private:
  const std::string name_;
  // What the program inherits.
  rlimit files_ = {};
  sigset_t signals_ = {};
  struct sigaction child_action_ = {};
  pid_t program_ = 0;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_LAUNCHER_H_
