#include "runtime/dump/memory_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace packsmith {
namespace {

constexpr absl::string_view kTitle = "packsmith memory of run ";

}  // namespace

std::string MemoryFileHeader(absl::string_view run) {
  std::string page = absl::StrCat(kTitle, run, "\n");
  page.resize(kMemoryPage);
  return page;
}

absl::string_view RunOfMemoryFile(absl::string_view content) {
  if (!absl::StartsWith(content, kTitle)) return "";
  content = content.substr(kTitle.size(), kMemoryPage - kTitle.size());
  size_t size = 0;
  while (size < content.size() && absl::ascii_isalnum(static_cast<unsigned char>(content[size]))) {
    ++size;
  }
  return content.substr(size, 1) == "\n" ? content.substr(0, size) : "";
}

absl::StatusOr<FileBytes> OpenMemoryFile(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/", kMemoryFile);
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  if (!S_ISREG(about.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is not a regular file"));
  }
  return OpenFile(path);
}

}  // namespace packsmith
