#include "runtime/kernel/drm/connection.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace packsmith::gpu {
namespace {

constexpr char kFolder[] = "/dev/dri";
// Linux numbers the nodes of all DRM drivers under this device type.
constexpr unsigned kDrmMajor = 226;

int ResultOf(int result) { return result < 0 ? -errno : result; }

class Node : public Connection {
 public:
  Node(std::string path, UniqueFd fd, unsigned minor)
      : Connection(std::move(path)), fd_(std::move(fd)), minor_(minor) {}

  int Ioctl(uint32_t request, void* argument) override {
    return IoctlOn(fd_.get(), request, argument);
  }
  int IoctlOn(int fd, uint32_t request, void* argument) override {
    return ResultOf(ioctl(fd, request, argument));
  }
  int Map(uint64_t offset, uint64_t size, uint8_t*& bytes) override {
    if (size != static_cast<size_t>(size)) return -ENOMEM;
    void* const made = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED,
                            fd_.get(), static_cast<off_t>(offset));
    if (made == MAP_FAILED) return -errno;
    bytes = static_cast<uint8_t*>(made);
    return 0;
  }
  void Unmap(uint8_t* bytes, uint64_t size) override { munmap(bytes, static_cast<size_t>(size)); }
  std::string sysfs() const override {
    std::error_code error;
    const auto found = std::filesystem::canonical(
        absl::StrCat("/sys/dev/char/", kDrmMajor, ":", minor_, "/device"), error);
    return error ? std::string() : found.string();
  }

 private:
  const UniqueFd fd_;
  const unsigned minor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> OpenNode(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    std::string text = absl::StrCat(path, ": ", std::strerror(error));
    if (error == EACCES) {
      absl::StrAppend(&text, "; users of the GPU must be in the group \"render\"");
    }
    return absl::Status(absl::ErrnoToStatusCode(error), text);
  }
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0 || !S_ISCHR(info.st_mode) || major(info.st_rdev) != kDrmMajor) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a GPU's node, such as /dev/dri/renderD128"));
  }
  const unsigned number = minor(info.st_rdev);
  return std::make_unique<Node>(path, std::move(fd), number);
}

std::vector<std::string> RenderNodes() {
  namespace fs = std::filesystem;
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator at(kFolder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    absl::string_view digits = name;
    int number = 0;
    if (absl::ConsumePrefix(&digits, "renderD") && absl::SimpleAtoi(digits, &number)) {
      found.emplace_back(number, at->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace packsmith::gpu
