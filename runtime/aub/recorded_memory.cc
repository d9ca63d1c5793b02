#include "runtime/aub/recorded_memory.h"

#include <algorithm>
#include <cstring>

namespace packsmith::aub {

bool RecordedMemory::Version::IsZero() const {
  if (zero_ == Zero::kUnknown) {
    const bool zero = std::all_of(bytes, bytes + kPage, [](uint8_t byte) { return byte == 0; });
    zero_ = zero ? Zero::kYes : Zero::kNo;
  }
  return zero_ == Zero::kYes;
}

uint8_t* RecordedMemory::NewPage() {
  if (taken_ + kPage > most_bytes_) {
    exhausted_ = true;
    return nullptr;
  }
  // Pages that are written one after the other are adjacent, so that they become one segment.
  if (used_ == slab_) {
    slab_ = std::clamp(slab_ * 2, kFirstSlab, kMostOfSlab);
    slabs_->push_back(std::make_unique<uint8_t[]>(slab_ * kPage));
    used_ = 0;
  }
  taken_ += kPage;
  return slabs_->back().get() + kPage * used_++;
}

const uint8_t* RecordedMemory::Page(uint32_t space, uint64_t address) const {
  const auto find = [&](Space in) -> const uint8_t* {
    const auto found = pages_[in].find(address);
    return found == pages_[in].end() ? nullptr : found->second.bytes;
  };
  if (space != kTables) return find(static_cast<Space>(space));
  const uint8_t* const system = device_tables_.contains(address) ? nullptr : find(kSystem);
  return system != nullptr ? system : find(kDevice);
}

size_t RecordedMemory::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    if (at < address) break;
    const uint8_t* const page = Page(space, at - at % kPage);
    if (page == nullptr) break;
    if (space == kTables && reads_ != nullptr) reads_->push_back({at - at % kPage, page});
    const size_t now = std::min<uint64_t>(out.size() - done, kPage - at % kPage);
    std::memcpy(out.data() + done, page + at % kPage, now);
    done += now;
  }
  return done;
}

size_t RecordedMemory::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  if (space == kTables) return 0;
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    if (at < address) break;
    const size_t now = std::min<uint64_t>(bytes.size() - done, kPage - at % kPage);
    Version& version = pages_[space][at - at % kPage];
    const bool is_new = version.bytes == nullptr;
    const uint8_t* const from = bytes.data() + done;
    done += now;
    if (!is_new && std::memcmp(version.bytes + at % kPage, from, now) == 0) continue;
    if (is_new || version.moment != moment_) {
      uint8_t* const page = NewPage();
      if (page == nullptr) {
        if (is_new) pages_[space].erase(at - at % kPage);
        return done - now;
      }
      if (!is_new) std::memcpy(page, version.bytes, kPage);
      version.bytes = page;
      version.moment = moment_;
      version.zero_ = Version::Zero::kUnknown;
    }
    std::memcpy(version.bytes + at % kPage, from, now);
  }
  return done;
}

void RecordedMemory::MarkTables(uint64_t address, uint64_t size) {
  if (size == 0 || size - 1 > ~address) return;
  for (uint64_t page = address - address % kPage; page <= address + (size - 1); page += kPage) {
    device_tables_.insert(page);
    if (page > ~uint64_t{0} - kPage) break;
  }
}

}  // namespace packsmith::aub
