#include "runtime/capture/records/page_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace packsmith::capture {
namespace {

// Of the file, mapped at a time.
constexpr uint64_t kWindow = uint64_t{64} << 20;
constexpr uint64_t kWindowPages = kWindow / kMemoryPage;
// Pages that are gathered before they are written.
constexpr size_t kMostStaged = 256;
constexpr uint32_t kMostReferences = std::numeric_limits<uint32_t>::max();

}  // namespace

absl::StatusOr<std::unique_ptr<PageStore>> PageStore::Create(const std::string& folder,
                                                             absl::string_view run) {
  std::unique_ptr<PageStore> store(new PageStore(absl::StrCat(folder, "/", kMemoryFile)));
  store->fd_ = open(store->path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (store->fd_ < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", store->path_));
  }
  const std::string header = MemoryFileHeader(run);
  const absl::Status status = store->WriteAt(
      0, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(header.data()), header.size()));
  if (!status.ok()) return status;
  store->written_pages_ = 1;
  store->slots_.resize(1);
  return store;
}

PageStore::~PageStore() {
  for (const uint8_t* const window : windows_) {
    if (window != nullptr) munmap(const_cast<uint8_t*>(window), kWindow);
  }
  if (fd_ >= 0) close(fd_);
}

const uint8_t* PageStore::ContentOf(uint32_t number) const {
  if (slots_[number].staged) {
    return staged_bytes_.data() + staged_at_.find(number)->second * kMemoryPage;
  }
  // Beyond the end of the file a mapping faults.
  if (number >= written_pages_) return nullptr;
  const size_t window = number / kWindowPages;
  if (window >= windows_.size()) windows_.resize(window + 1, nullptr);
  if (windows_[window] == nullptr) {
    void* const mapped =
        mmap(nullptr, kWindow, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(window * kWindow));
    if (mapped == MAP_FAILED) return nullptr;
    windows_[window] = static_cast<const uint8_t*>(mapped);
  }
  return windows_[window] + number % kWindowPages * kMemoryPage;
}

bool PageStore::Holds(uint32_t number, const uint8_t* page) const {
  const uint8_t* const content = ContentOf(number);
  return content != nullptr && std::memcmp(content, page, kMemoryPage) == 0;
}

bool PageStore::IsCurrent(const Place& place) const {
  const Slot& slot = slots_[place.number];
  return place.number != 0 && slot.version == place.version && !slot.returned;
}

uint64_t PageStore::HashOf(const uint8_t* page) {
  return absl::Hash<absl::string_view>()(
      absl::string_view(reinterpret_cast<const char*>(page), kMemoryPage));
}

uint32_t PageStore::Find(const uint8_t* page, uint64_t hash) const {
  const auto found = by_hash_.find(hash);
  return found != by_hash_.end() && Holds(found->second, page) ? found->second : 0;
}

uint32_t PageStore::Insert(const uint8_t* page, uint64_t hash) {
  uint32_t number = 0;
  while (number == 0 && !free_.empty()) {
    number = free_.back();
    free_.pop_back();
    slots_[number].free = false;
    if (slots_[number].references != 0) number = 0;  // referred to again
  }
  if (number == 0) {
    if (slots_.size() > std::numeric_limits<uint32_t>::max()) return 0;
    number = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  Slot& slot = slots_[number];
  // Unused content is replaced.
  if (const auto old = by_hash_.find(slot.hash); old != by_hash_.end() && old->second == number) {
    by_hash_.erase(old);
  }
  if (slot.returned) {
    slot.returned = false;
    --returned_;
  }
  slot.hash = hash;
  slot.references = 1;
  ++slot.version;
  ++used_;
  by_hash_[hash] = number;
  // A place may be used again before what it had is written.
  if (slot.staged || staged_.size() == kMostStaged) failed_.Update(WriteStaged());
  slot.staged = true;
  staged_at_[number] = staged_.size();
  staged_.push_back(number);
  since_flush_.push_back(number);
  staged_bytes_.insert(staged_bytes_.end(), page, page + kMemoryPage);
  return number;
}

void PageStore::Refer(uint32_t number) {
  Slot& slot = slots_[number];
  if (slot.references == 0) ++used_;
  if (slot.references != kMostReferences) ++slot.references;
}

void PageStore::Release(absl::Span<const PageRun> runs) {
  // Backwards: the lowest number is used next, so that places that are used one after the other
  // are contiguous.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->first == 0) continue;
    for (uint32_t number = run->first + run->count; number-- > run->first;) {
      Slot& slot = slots_[number];
      // A count that has reached its end is not exact any more: such a page stays.
      if (slot.references == kMostReferences || --slot.references != 0) continue;
      --used_;
      if (!slot.free) free_.push_back(number);
      slot.free = true;
    }
  }
}

absl::Status PageStore::WriteAt(uint64_t offset, absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
    }
    offset += static_cast<uint64_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status PageStore::WriteStaged() {
  absl::Status status;
  for (size_t begin = 0; begin < staged_.size() && status.ok();) {
    size_t end = begin + 1;
    while (end < staged_.size() && staged_[end] == staged_[end - 1] + 1) ++end;
    status = WriteAt(uint64_t{staged_[begin]} * kMemoryPage,
                     absl::MakeConstSpan(staged_bytes_)
                         .subspan(begin * kMemoryPage, (end - begin) * kMemoryPage));
    if (status.ok()) {
      written_pages_ = std::max(written_pages_, uint64_t{staged_[end - 1]} + 1);
    }
    begin = end;
  }
  for (const uint32_t number : staged_) slots_[number].staged = false;
  staged_.clear();
  staged_at_.clear();
  staged_bytes_.clear();
  return status;
}

absl::Status PageStore::Flush() {
  failed_.Update(WriteStaged());
  if (!failed_.ok()) {
    // Nobody may find what is not there.
    for (const uint32_t number : since_flush_) {
      Slot& slot = slots_[number];
      ++slot.version;
      const auto found = by_hash_.find(slot.hash);
      if (found != by_hash_.end() && found->second == number) by_hash_.erase(found);
    }
  }
  since_flush_.clear();
  return std::exchange(failed_, absl::OkStatus());
}

absl::Status PageStore::CheckFile() const {
  struct stat about {};
  if (fstat(fd_, &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat ", path_));
  }
  if (static_cast<uint64_t>(about.st_size) >= written_pages_ * kMemoryPage) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path_, ": was shortened while it is recorded; record into another folder"));
}

void PageStore::ReturnUnused() {
  std::vector<uint32_t> unused;
  for (const uint32_t number : free_) {
    const Slot& slot = slots_[number];
    if (slot.references == 0 && !slot.returned && !slot.staged && number < written_pages_) {
      unused.push_back(number);
    }
  }
  std::sort(unused.begin(), unused.end());
  for (size_t begin = 0; begin < unused.size();) {
    size_t end = begin + 1;
    while (end < unused.size() && unused[end] == unused[end - 1] + 1) ++end;
    if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(uint64_t{unused[begin]} * kMemoryPage),
                  static_cast<off_t>((end - begin) * kMemoryPage)) != 0) {
      return;  // this file system cannot
    }
    returned_ += end - begin;
    for (; begin < end; ++begin) slots_[unused[begin]].returned = true;
  }
}

}  // namespace packsmith::capture
