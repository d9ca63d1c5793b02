#include "tools/mock/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace packsmith::mock {
namespace {

// What is passed on to the program.
constexpr int kPassed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Those, and what says that a child has ended.
sigset_t Awaited() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassed) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

// This environment with the run's token and the library in front of others.
std::vector<std::string> MakeEnvironment(const Program& program) {
  constexpr absl::string_view kPreload = "LD_PRELOAD=";
  const std::string token = absl::StrCat(program.variable, "=");
  std::string preload = absl::StrCat(kPreload, program.preload);
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view text = *variable;
    if (absl::StartsWith(text, token)) continue;
    if (absl::StartsWith(text, kPreload)) {
      if (text.size() > kPreload.size()) {
        absl::StrAppend(&preload, ":", text.substr(kPreload.size()));
      }
      continue;
    }
    variables.emplace_back(text);
  }
  variables.push_back(std::move(preload));
  variables.push_back(token + program.token);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int ExitCode(int status) {
  return WIFSIGNALED(status) ? kKilledBy + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

absl::Status CheckPreloadPath(const std::string& path) {
  if (path.find_first_of(" :") == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the preload library's path has a blank or a colon, which LD_PRELOAD takes for an end: ",
      path, "; move packsmith to a folder without them"));
}

absl::StatusOr<std::string> FindPreloadLibrary(const std::string& library) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::ErrnoToStatus(error.value(), "/proc/self/exe");
  const std::filesystem::path folder = program.parent_path();
  const std::filesystem::path places[] = {
      folder / "face" / library,
      folder / library,
      folder.parent_path() / "lib" / "packsmith" / library,
  };
  std::string searched;
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place, error)) return place.string();
    absl::StrAppend(&searched, searched.empty() ? "" : ", ", place.string());
  }
  return absl::NotFoundError(
      absl::StrCat("the preload library ", library, " is not where it should be: ", searched));
}

Launcher::Launcher(std::string name) : name_(std::move(name)) {
  getrlimit(RLIMIT_NOFILE, &files_);
  // In all threads: Wait() takes them, one after the other, where anything may be done.
  const sigset_t awaited = Awaited();
  pthread_sigmask(SIG_BLOCK, &awaited, &signals_);
  // Where it is ignored, children that end say nothing.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_action_);
  // Processes that lose their parent become children of this one: it can wait for them, and read
  // their memory where only ancestors may.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int Launcher::Start(const Program& program) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = MakeEnvironment(program);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    std::fprintf(stderr, "%s: pipe: %s\n", name_.c_str(), std::strerror(errno));
    return kCannotRun;
  }
  program_ = fork();
  if (program_ == 0) {
    sigaction(SIGCHLD, &child_action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    setrlimit(RLIMIT_NOFILE, &files_);
    execvpe(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
    const int error = errno;
    (void)!write(failure[1], &error, sizeof(error));
    _exit(kNotFound);
  }
  const int fork_error = errno;
  // The terminal sends these to the program, too, which decides.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  close(failure[1]);
  int error = 0;
  if (program_ < 0) {
    error = fork_error;
  } else {
    ssize_t size;
    do {
      size = read(failure[0], &error, sizeof(error));
    } while (size < 0 && errno == EINTR);
  }
  close(failure[0]);
  if (error != 0) {
    std::fprintf(stderr, "%s: %s: %s\n", name_.c_str(), arguments[0].c_str(), std::strerror(error));
    if (program_ > 0) waitpid(program_, nullptr, 0);
    return error == ENOENT ? kNotFound : kCannotRun;
  }
  return 0;
}

int Launcher::Wait() {
  const sigset_t awaited = Awaited();
  while (true) {
    // One signal may stand for several children.
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == program_) return ExitCode(status);
    }
    if (ended < 0 && errno != EINTR) return kCannotRun;
    const int signal = sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != SIGCHLD) kill(program_, signal);
  }
}

bool Launcher::WaitForOthers(const std::function<bool()>& done, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      // Their files are closed, which the server notices soon.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (done()) return true;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    if (ended <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace packsmith::mock
