#include "tools/trace/face/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <cstring>

#include "tools/mock/face/channel.h"
#include "tools/mock/face/raw.h"

namespace packsmith::mock::face {

const ServerNames kServer = {trace::kTokenVariable, trace::kNamePrefix};

}  // namespace packsmith::mock::face

namespace packsmith::trace::face {
namespace {

using mock::face::Answer;
using mock::face::Raw;
using mock::face::TransactBytes;

constexpr unsigned kDrmMajor = 226;

// By descriptor, so that calls of a known one cost a look. Files are never freed: programs open
// few.
constexpr unsigned kMostDescriptors = 4096;
std::atomic<const File*> by_descriptor[kMostDescriptors];
constexpr unsigned kMostFiles = 512;
File files[kMostFiles];
std::atomic<unsigned> files_used = 0;
const File kNotTraced;

// The number that Linux gives an open file of a GPU, which fdinfo has since 5.19; 0: it does not.
uint64_t ClientId(int fd) {
  char path[40] = "/proc/self/fdinfo/";
  size_t at = std::strlen(path);
  char digits[12];
  size_t count = 0;
  for (unsigned rest = static_cast<unsigned>(fd); count == 0 || rest != 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count > 0) path[at++] = digits[--count];
  path[at] = '\0';
  const int info = static_cast<int>(Raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
  if (info < 0) return 0;
  char text[2048];
  size_t size = 0;
  while (size < sizeof(text) - 1) {
    const long done = Raw(SYS_read, info, text + size, sizeof(text) - 1 - size);
    if (done <= 0) break;
    size += static_cast<size_t>(done);
  }
  Raw(SYS_close, info);
  text[size] = '\0';
  constexpr char kKey[] = "drm-client-id:";
  const char* found = std::strstr(text, kKey);
  if (found == nullptr) return 0;
  uint64_t id = 0;
  for (found += sizeof(kKey) - 1; *found == ' ' || *found == '\t'; ++found) {
  }
  for (; *found >= '0' && *found <= '9'; ++found)
    id = id * 10 + static_cast<uint64_t>(*found - '0');
  return id;
}

// Whether it is an open file of a GPU's node. `fstat` may be another preload library's, which gives
// programs files that are not devices.
bool Identify(int fd, uint64_t& number, unsigned& minor_number) {
  struct stat facts, raw;
  if (fstat(fd, &facts) != 0 || !S_ISCHR(facts.st_mode) || major(facts.st_rdev) != kDrmMajor) {
    return false;
  }
  if (Raw(SYS_fstat, fd, &raw) != 0) return false;
  minor_number = minor(facts.st_rdev);
  // The kinds have their own highest bits.
  if (!S_ISCHR(raw.st_mode)) {
    number = uint64_t{1} << 63 | raw.st_ino;
    return true;
  }
  const uint64_t id = ClientId(fd);
  const auto process = static_cast<uint64_t>(Raw(SYS_getpid));
  number = id != 0 ? id : uint64_t{1} << 62 | process << 20 | static_cast<unsigned>(fd);
  return true;
}

// False: the recorder is gone.
bool Ask(int fd, File& out) {
  out = File();
  unsigned minor_number = 0;
  if (!Identify(fd, out.number, minor_number)) return true;
  mock::Request request;
  request.op = kOpen;
  request.file = out.number;
  request.request = minor_number;
  request.flags = fd;
  Answer answer;
  if (TransactBytes(request, nullptr, 0, -1, answer) < 0) return false;
  std::memcpy(out.interests, answer.path, sizeof(out.interests));
  return true;
}

}  // namespace

const File* FindFile(int fd, File& scratch) {
  if (fd < 0 || mock::face::Token() == nullptr) return nullptr;
  const bool kept = static_cast<unsigned>(fd) < kMostDescriptors;
  if (kept) {
    const File* const known = by_descriptor[fd].load(std::memory_order_acquire);
    if (known != nullptr) return known == &kNotTraced ? nullptr : known;
  }
  if (!Ask(fd, scratch)) return nullptr;
  if (!kept) return scratch.number == 0 ? nullptr : &scratch;
  const File* file = &kNotTraced;
  if (scratch.number != 0) {
    const unsigned used = files_used.load(std::memory_order_acquire);
    for (unsigned i = 0; i < used && i < kMostFiles && file == &kNotTraced; ++i) {
      if (__atomic_load_n(&files[i].number, __ATOMIC_ACQUIRE) == scratch.number) file = &files[i];
    }
    if (file == &kNotTraced) {
      const unsigned place = files_used.load(std::memory_order_relaxed) < kMostFiles
                                 ? files_used.fetch_add(1, std::memory_order_acq_rel)
                                 : kMostFiles;
      if (place >= kMostFiles) return &scratch;
      std::memcpy(files[place].interests, scratch.interests, sizeof(scratch.interests));
      // Others find it from now on.
      __atomic_store_n(&files[place].number, scratch.number, __ATOMIC_RELEASE);
      file = &files[place];
    }
  }
  by_descriptor[fd].store(file, std::memory_order_release);
  return file == &kNotTraced ? nullptr : file;
}

void ForgetFiles(unsigned first, unsigned last) {
  for (unsigned fd = first; fd <= last && fd < kMostDescriptors; ++fd) {
    // Most are not known, and are not written to.
    if (by_descriptor[fd].load(std::memory_order_relaxed) == nullptr) continue;
    const File* const file = by_descriptor[fd].exchange(nullptr, std::memory_order_acq_rel);
    if (file == nullptr || file == &kNotTraced) continue;
    mock::Request request;
    request.op = kClose;
    request.file = file->number;
    Answer answer;
    TransactBytes(request, nullptr, 0, -1, answer);
  }
}

}  // namespace packsmith::trace::face
