#include "runtime/capture/trace/object.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace packsmith::capture {
namespace {

constexpr uint64_t kPage = 4096;

bool IsZero(absl::Span<const uint8_t> bytes) {
  // Each byte equals the next one, and the first is zero.
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

MappingReader::MappingReader() : copy_(SharedMemory::Create(kMost, "packsmith-trace")) {}

absl::Span<const uint8_t> MappingReader::Read(const uint8_t* from, uint64_t size) {
  if (copy_ == nullptr) return {};
  size = std::min(size, kMost);
  const ssize_t done = pwrite(copy_->fd(), from, size, 0);
  return done <= 0 ? absl::Span<const uint8_t>()
                   : absl::MakeConstSpan(copy_->bytes()).first(static_cast<size_t>(done));
}

std::shared_ptr<TracedObject> TracedObject::Create(uint64_t id, uint64_t size) {
  // More than any GPU has.
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (size > kMost) return nullptr;
  std::shared_ptr<SharedMemory> copy = SharedMemory::Create(size, "packsmith-trace");
  return copy == nullptr ? nullptr : std::make_shared<TracedObject>(id, std::move(copy), size);
}

std::shared_ptr<TracedObject> TracedObject::CreateUser(uint64_t id,
                                                       std::shared_ptr<const UserMemory> user,
                                                       uint64_t address, uint64_t size) {
  std::shared_ptr<TracedObject> object = Create(id, size);
  if (object == nullptr) return nullptr;
  object->process_ = std::move(user);
  object->process_address_ = address;
  object->written = true;
  return object;
}

bool TracedObject::Refresh(MappingReader& reader, const Mapper& mapper) {
  if (!written) return true;
  if (process_ != nullptr) return RefreshUser();
  if (mapped_ == nullptr) mapped_ = mapper(size());
  if (mapped_ == nullptr) return false;
  const auto* const bytes = static_cast<const uint8_t*>(mapped_);
  for (uint64_t at = 0; at < size();) {
    const absl::Span<const uint8_t> now = reader.Read(bytes + at, size() - at);
    if (now.empty()) return false;
    Update(at, now);
    at += now.size();
  }
  return true;
}

bool TracedObject::RefreshUser() {
  constexpr uint64_t kStep = uint64_t{256} << 10;
  std::vector<uint8_t> now(std::min(kStep, size()));
  // Where nothing is mapped, nothing is for long.
  constexpr uint64_t kMostUnreadable = 65536;
  uint64_t unreadable = 0;
  for (uint64_t at = 0; at < size() && unreadable < kMostUnreadable; at += kStep) {
    const absl::Span<uint8_t> piece = absl::MakeSpan(now).first(std::min(kStep, size() - at));
    if (process_->Read(process_address_ + at, piece)) {
      Update(at, piece);
      continue;
    }
    for (uint64_t page = 0; page < piece.size(); page += kPage) {
      const absl::Span<uint8_t> one = piece.subspan(page, kPage);
      if (process_->Read(process_address_ + at + page, one)) {
        Update(at + page, one);
      } else {
        ++unreadable;
      }
    }
  }
  return unreadable == 0;
}

void TracedObject::Update(uint64_t offset, absl::Span<const uint8_t> now) {
  const absl::Span<uint8_t> copy = memory()->bytes();
  while (!now.empty()) {
    const uint64_t page = offset / kPage;
    const absl::Span<const uint8_t> one = now.first(std::min(now.size(), kPage - offset % kPage));
    now.remove_prefix(one.size());
    // A hole is not read: that would fill it.
    const bool is_present = page < present_.size() && present_[page];
    const bool same =
        is_present ? std::memcmp(copy.data() + offset, one.data(), one.size()) == 0 : IsZero(one);
    if (!same) {
      std::memcpy(copy.data() + offset, one.data(), one.size());
      if (present_.size() <= page) {
        present_.resize(page + 1);
        changed_.resize(page + 1);
      }
      present_[page] = changed_[page] = true;
    }
    offset += one.size();
  }
}

std::vector<SharedMemory::Extent> TracedObject::Changed(uint64_t offset, uint64_t size) const {
  std::vector<SharedMemory::Extent> extents;
  const uint64_t end = std::min<uint64_t>((offset + size + kPage - 1) / kPage, changed_.size());
  for (uint64_t page = offset / kPage; page < end; ++page) {
    if (!changed_[page]) continue;
    if (!extents.empty() && extents.back().offset + extents.back().size == page * kPage) {
      extents.back().size += kPage;
    } else {
      extents.push_back({page * kPage, kPage});
    }
  }
  return extents;
}

void TracedObject::NoteRecorded(uint64_t offset, uint64_t size) {
  // A page at the edge has more than the range.
  const uint64_t end = std::min<uint64_t>((offset + size) / kPage, changed_.size());
  for (uint64_t page = (offset + kPage - 1) / kPage; page < end; ++page) changed_[page] = false;
}

void TracedObject::Unmap() {
  if (mapped_ != nullptr) munmap(mapped_, size());
  mapped_ = nullptr;
}

}  // namespace packsmith::capture
