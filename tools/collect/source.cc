#include "tools/collect/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::collect {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kCoreDumps = "/sys/class/devcoredump";
constexpr absl::string_view kCards = "/sys/class/drm";
// What i915 writes there until something hangs.
constexpr absl::string_view kNoError = "No error state collected";
// Bytes of an error file that tell hangs apart.
constexpr size_t kBeginning = 4096;

bool IsNumbered(absl::string_view name, absl::string_view prefix) {
  return absl::ConsumePrefix(&name, prefix) && !name.empty() && name.size() < 10 &&
         name.find_first_not_of("0123456789") == absl::string_view::npos;
}

// The last name of the target of a link; empty: it has none.
std::string NameOf(const std::string& link) {
  std::error_code error;
  const fs::path path = fs::canonical(link, error);
  return error ? std::string() : path.filename().string();
}

// FNV-1a.
std::string DigestOf(absl::string_view text) {
  uint64_t state = 0xcbf29ce484222325;
  for (const char c : text) state = (state ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return absl::StrFormat("%016x", state);
}

// The id of the hang that a card's file has; empty: it has none.
std::string IdOfCard(const std::string& name, const std::string& file) {
  const std::string beginning = ReadSmall(file, kBeginning);
  if (beginning.empty() || absl::StartsWith(beginning, kNoError)) return "";
  return absl::StrCat(name, "-", DigestOf(beginning));
}

}  // namespace

std::string ReadSmall(const std::string& path, size_t most) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return "";
  std::string text(most, '\0');
  size_t size = 0;
  while (size < most) {
    const ssize_t got = ::read(fd.get(), text.data() + size, most - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool IsSourceName(absl::string_view name) {
  return IsNumbered(name, "devcd") || IsNumbered(name, "card");
}

std::optional<Source> FindSource(const std::string& root, const std::string& name) {
  if (!IsSourceName(name)) return std::nullopt;
  Source source;
  source.name = name;
  if (IsNumbered(name, "card")) {
    const std::string folder = absl::StrCat(root, kCards, "/", name);
    source.data = folder + "/error";
    source.device = folder + "/device";
    source.id = IdOfCard(name, source.data);
    if (source.id.empty()) return std::nullopt;
  } else {
    const std::string folder = absl::StrCat(root, kCoreDumps, "/", name);
    source.id = name;
    source.data = folder + "/data";
    source.device = folder + "/failing_device";
    if (::access(source.data.c_str(), F_OK) != 0) return std::nullopt;
  }
  source.address = NameOf(source.device);
  source.driver = NameOf(source.device + "/driver");
  return source;
}

std::vector<Source> FindSources(const std::string& root) {
  std::vector<Source> sources;
  for (const absl::string_view folder : {kCoreDumps, kCards}) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(absl::StrCat(root, folder), error), end; !error && at != end;
         at.increment(error)) {
      names.push_back(at->path().filename().string());
    }
    // devcd2 before devcd10.
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    for (const std::string& name : names) {
      if (std::optional<Source> source = FindSource(root, name)) {
        sources.push_back(*std::move(source));
      }
    }
  }
  return sources;
}

std::string Drop(const Source& source) {
  if (IsNumbered(source.name, "card") && IdOfCard(source.name, source.data) != source.id) return "";
  // Any text; it is not truncated, which these files do not know.
  const UniqueFd fd(::open(source.data.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), "1", 1) == 1) return "";
  if (errno == ENOENT || errno == ENODEV) return "";
  return absl::StrCat("cannot write to ", source.data, ": ", std::strerror(errno));
}

}  // namespace packsmith::collect
