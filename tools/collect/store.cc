#include "tools/collect/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace packsmith::collect {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kTemporary = ".tmp_";
constexpr absl::string_view kTimeForm = "%E4Y%m%dT%H%M%SZ";
constexpr char kData[] = "data.zst";

absl::Status Failed(absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " ", path));
}

}  // namespace

bool Kept::Parse(absl::string_view name, Kept& kept) {
  kept = Kept();
  kept.name = std::string(name);
  kept.temporary = absl::ConsumePrefix(&name, kTemporary);
  const std::vector<std::string> parts = absl::StrSplit(name, '_');
  if (parts.size() < 4) return false;
  absl::Time time;
  if (!absl::ParseTime(kTimeForm, parts[0], absl::UTCTimeZone(), &time, nullptr)) return false;
  kept.time = absl::ToUnixSeconds(time);
  kept.address = parts[1];
  kept.id = parts[2];
  kept.boot = parts[3];
  for (size_t i = 4; i < parts.size(); ++i) {
    kept.first = kept.first || parts[i] == "first";
    kept.partial = kept.partial || parts[i] == "partial";
  }
  return true;
}

std::string Kept::FolderName() const {
  return absl::StrCat(temporary ? kTemporary : "",
                      absl::FormatTime(kTimeForm, absl::FromUnixSeconds(time), absl::UTCTimeZone()),
                      "_", address, "_", id, "_", boot, first ? "_first" : "",
                      partial ? "_partial" : "");
}

class Store::Lock {
 public:
  // The file's lock is the process's, so threads need one of their own.
  explicit Lock(const Store& store) : mutex_(*store.mutex_), fd_(store.folder_.get()) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() { ::flock(fd_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const MutexLock mutex_;
  const int fd_;
};

absl::StatusOr<Store> Store::Open(const std::string& path, const Limits& limits) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Failed("make the folder", path);
  Store store;
  store.path_ = path;
  store.limits_ = limits;
  store.folder_.Reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!store.folder_) return Failed("open the folder", path);
  return store;
}

Store::Claim::~Claim() {
  if (path_.empty() || !fd_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

absl::StatusOr<UniqueFd> Store::Claim::Create(const std::string& name) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Failed("make the file", path_ + "/" + name);
  return fd;
}

absl::Status Store::Claim::Write(const std::string& name, absl::string_view content) const {
  const absl::StatusOr<UniqueFd> fd = Create(name);
  if (!fd.ok()) return fd.status();
  while (!content.empty()) {
    const ssize_t wrote = ::write(fd->get(), content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Failed("write", path_ + "/" + name);
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  if (::fsync(fd->get()) != 0) return Failed("sync", path_ + "/" + name);
  return absl::OkStatus();
}

std::vector<Kept> Store::All() const {
  std::vector<Kept> all;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    Kept kept;
    if (Kept::Parse(at->path().filename().native(), kept)) all.push_back(std::move(kept));
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.time, a.name) < std::tie(b.time, b.name);
  });
  return all;
}

uint64_t Store::SizeOf(const Kept& kept) const {
  uint64_t size = 0;
  std::error_code error;
  for (fs::directory_iterator at(PathOf(kept.name), error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const uint64_t one = at->file_size(gone);
    if (!gone) size += one;
  }
  return size;
}

UniqueFd Store::LockAbandoned(const std::string& name) const {
  UniqueFd fd(::openat(folder_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  return UniqueFd();
}

std::string Store::RoomFor(uint64_t written, const std::string& except) const {
  std::vector<Kept> all = All();
  uint64_t size = written;
  std::vector<uint64_t> sizes;
  for (const Kept& kept : all) {
    sizes.push_back(kept.name == except ? 0 : SizeOf(kept));
    size += sizes.back();
  }
  const auto is_free = [&] {
    struct statvfs about {};
    return ::fstatvfs(folder_.get(), &about) != 0 ||
           uint64_t{about.f_bavail} * about.f_frsize >= limits_.keep_free;
  };
  // The oldest first.
  for (size_t i = 0; i < all.size() && (size > limits_.max_size || !is_free()); ++i) {
    if (all[i].first || all[i].temporary) continue;
    std::error_code ignored;
    fs::remove_all(PathOf(all[i].name), ignored);
    size -= sizes[i];
  }
  if (size > limits_.max_size) {
    return absl::StrCat(path_, " may have ", limits_.max_size,
                        " bytes (--max-size), and what is there is the first dump of its burst or "
                        "being written; move some elsewhere, or raise the limit");
  }
  if (!is_free()) {
    return absl::StrCat("less than ", limits_.keep_free, " bytes of the disk of ", path_,
                        " are free (--keep-free); make room");
  }
  return "";
}

void Store::RemoveOld(int64_t now) const {
  if (limits_.max_age == 0) return;
  for (const Kept& kept : All()) {
    if (kept.temporary || now - kept.time <= limits_.max_age) continue;
    std::error_code ignored;
    fs::remove_all(PathOf(kept.name), ignored);
  }
}

absl::StatusOr<Store::Answer> Store::Take(const std::string& address, const std::string& id,
                                          const std::string& boot, int64_t now, Claim& claim,
                                          std::string& why) const {
  Kept wanted;
  // Names are for shells and rsync too.
  wanted.address = absl::StrReplaceAll(address.empty() ? "unknown" : address,
                                       {{":", "-"}, {"_", "-"}, {"/", "-"}});
  wanted.id = id;
  wanted.boot = boot;
  wanted.time = now;
  wanted.temporary = true;
  const Lock lock(*this);
  RemoveOld(now);
  uint64_t in_burst = 0;
  std::optional<int64_t> last;
  const auto is_other_burst = [&](int64_t time) { return last && time - *last >= limits_.burst; };
  for (const Kept& kept : All()) {
    if (kept.id == id && kept.boot == boot) {
      if (!kept.temporary) return kept.partial ? Answer::kPartial : Answer::kHave;
      const UniqueFd abandoned = LockAbandoned(kept.name);
      if (!abandoned) return Answer::kBusy;
      // The kernel still has it: it is read again.
      std::error_code ignored;
      fs::remove_all(PathOf(kept.name), ignored);
      continue;
    }
    if (kept.address != wanted.address) continue;
    if (is_other_burst(kept.time)) in_burst = 0;
    ++in_burst;
    last = kept.time;
  }
  if (is_other_burst(now)) in_burst = 0;
  if (in_burst >= limits_.per_burst) return Answer::kEnough;
  if (why = RoomFor(0, ""); !why.empty()) return Answer::kNoRoom;
  wanted.first = in_burst == 0;
  wanted.name = wanted.FolderName();
  const std::string path = PathOf(wanted.name);
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno == ENOSPC || errno == EDQUOT) {
      why = absl::StrCat("the disk of ", path_, " is full; make room");
      return Answer::kNoRoom;
    }
    return Failed("make the folder", path);
  }
  claim.fd_.Reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!claim.fd_ || ::flock(claim.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Failed("lock the folder", path);
  }
  claim.path_ = path;
  claim.kept_ = wanted;
  return Answer::kTaken;
}

std::string Store::MakeRoom(const Claim& claim, uint64_t written) const {
  const Lock lock(*this);
  return RoomFor(written, claim.kept_.name);
}

absl::StatusOr<std::string> Store::Publish(Claim& claim, bool partial) const {
  if (::fsync(claim.fd_.get()) != 0) return Failed("sync", claim.path_);
  Kept kept = claim.kept_;
  kept.temporary = false;
  kept.partial = partial;
  const std::string path = PathOf(kept.FolderName());
  const Lock lock(*this);
  if (::rename(claim.path_.c_str(), path.c_str()) != 0) return Failed("rename", claim.path_);
  claim.path_.clear();
  if (::fsync(folder_.get()) != 0) return Failed("sync", path_);
  return path;
}

void Store::Exclusively(const std::function<void()>& act) const {
  const Lock lock(*this);
  act();
}

absl::Status Store::Tidy(const std::string& boot, absl::Span<const std::string> present,
                         int64_t now) const {
  const Lock lock(*this);
  RemoveOld(now);
  for (const Kept& kept : All()) {
    // What the kernel still has is read again by Take().
    if (!kept.temporary || (kept.boot == boot && absl::c_linear_search(present, kept.id))) continue;
    const UniqueFd abandoned = LockAbandoned(kept.name);
    if (!abandoned) continue;
    struct stat about {};
    std::error_code ignored;
    if (::fstatat(abandoned.get(), kData, &about, 0) != 0 || about.st_size == 0) {
      fs::remove_all(PathOf(kept.name), ignored);
      continue;
    }
    Kept left = kept;
    left.temporary = false;
    left.partial = true;
    if (::rename(PathOf(kept.name).c_str(), PathOf(left.FolderName()).c_str()) != 0) {
      return Failed("rename", PathOf(kept.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace packsmith::collect
