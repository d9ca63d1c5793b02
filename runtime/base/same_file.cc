#include "runtime/base/same_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace packsmith {
namespace {

bool LookAt(const std::string& path, int standard, struct stat& about) {
  return (path == "-" ? fstat(standard, &about) : stat(path.c_str(), &about)) == 0;
}

}  // namespace

bool IsSameFile(const std::string& input, const std::string& output) {
  struct stat in {};
  struct stat out {};
  if (!LookAt(input, STDIN_FILENO, in) || !LookAt(output, STDOUT_FILENO, out)) return false;
  // A block device may have several nodes.
  if (S_ISBLK(in.st_mode) && S_ISBLK(out.st_mode)) return in.st_rdev == out.st_rdev;
  return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

absl::Status RefuseToOverwrite(const std::string& output, absl::Span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    if (!IsSameFile(input, output)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(output == "-" ? "standard output" : output, " is the same file as the input ",
                     input == "-" ? "(standard input)" : input,
                     ", which would be overwritten; write to another file"));
  }
  return absl::OkStatus();
}

}  // namespace packsmith
