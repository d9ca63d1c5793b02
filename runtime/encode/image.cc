#include "runtime/encode/image.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace packsmith::encode {

Image::Page* Image::PageAt(uint32_t space, uint64_t number) {
  const Key key{space, number};
  if (last_ != nullptr && last_key_ == key) return last_;
  auto at = pages_.find(key);
  if (at == pages_.end()) {
    if (pages_.size() >= most_bytes_ / kPage) return nullptr;
    at = pages_.emplace(key, std::make_unique<Page>()).first;
  }
  last_key_ = key;
  last_ = at->second.get();
  return last_;
}

// Inside one page. Null bytes are zeros.
absl::Status Image::PutPiece(uint32_t space, uint64_t address, const uint8_t* bytes,
                             uint64_t size) {
  Page* const page = PageAt(space, address / kPage);
  if (page == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", most_bytes_, " bytes of memory"));
  }
  const uint64_t begin = address % kPage;
  // Mostly none of them is there.
  uint64_t there = 0;
  for (uint64_t i = begin; i < begin + size;) {
    const uint64_t n = std::min(64 - i % 64, begin + size - i);
    const uint64_t mask = (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << i % 64;
    there |= page->there[i / 64] & mask;
    i += n;
  }
  if (there == 0) {
    for (uint64_t i = begin; i < begin + size;) {
      const uint64_t n = std::min(64 - i % 64, begin + size - i);
      page->there[i / 64] |= (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << i % 64;
      i += n;
    }
    if (bytes != nullptr) std::memcpy(page->bytes.data() + begin, bytes, size);
    return absl::OkStatus();
  }
  for (uint64_t i = 0; i < size; ++i) {
    const uint8_t byte = bytes == nullptr ? uint8_t{0} : bytes[i];
    if (page->Has(begin + i)) {
      if (page->bytes[begin + i] == byte) continue;
      return absl::AlreadyExistsError(absl::StrCat("the byte at 0x", absl::Hex(address + i),
                                                   " of space ", space,
                                                   " has been given before, and is another one"));
    }
    page->there[(begin + i) / 64] |= uint64_t{1} << (begin + i) % 64;
    page->bytes[begin + i] = byte;
  }
  return absl::OkStatus();
}

absl::Status Image::Put(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  if (bytes.empty()) return absl::OkStatus();
  if (address + (bytes.size() - 1) < address) {
    return absl::OutOfRangeError("the bytes go past the end of the address space");
  }
  while (!bytes.empty()) {
    const uint64_t size = std::min<uint64_t>(bytes.size(), kPage - address % kPage);
    absl::Status status = PutPiece(space, address, bytes.data(), size);
    if (!status.ok()) return status;
    bytes.remove_prefix(size);
    address += size;
  }
  return absl::OkStatus();
}

absl::Status Image::PutZeros(uint32_t space, uint64_t address, uint64_t size) {
  if (size == 0) return absl::OkStatus();
  if (address + (size - 1) < address) {
    return absl::OutOfRangeError("the bytes go past the end of the address space");
  }
  if (size > most_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", most_bytes_, " bytes of memory"));
  }
  while (size != 0) {
    const uint64_t now = std::min<uint64_t>(size, kPage - address % kPage);
    absl::Status status = PutPiece(space, address, nullptr, now);
    if (!status.ok()) return status;
    size -= now;
    address += now;
  }
  return absl::OkStatus();
}

std::vector<Image::Run> Image::Runs() const {
  std::vector<Run> runs;
  for (const auto& [key, page] : pages_) {
    const uint64_t base = key.second * kPage;
    for (uint64_t i = 0; i < kPage;) {
      if (!page->Has(i)) {
        ++i;
        continue;
      }
      uint64_t end = i;
      while (end < kPage && page->Has(end)) ++end;
      const bool continues = !runs.empty() && runs.back().space == key.first &&
                             runs.back().address + runs.back().bytes.size() == base + i;
      if (!continues) runs.push_back({key.first, base + i, {}});
      runs.back().bytes.insert(runs.back().bytes.end(), page->bytes.begin() + i,
                               page->bytes.begin() + end);
      i = end;
    }
  }
  return runs;
}

uint64_t Image::SizeFrom(uint32_t space, uint64_t address) const {
  uint64_t size = 0;
  for (auto at = pages_.find({space, address / kPage}); at != pages_.end(); ++at) {
    const uint64_t begin = address + size;
    if (at->first != Key{space, begin / kPage}) break;
    uint64_t i = begin % kPage;
    while (i < kPage && at->second->Has(i)) {
      ++i;
      ++size;
    }
    if (i != kPage) break;
  }
  return size;
}

}  // namespace packsmith::encode
