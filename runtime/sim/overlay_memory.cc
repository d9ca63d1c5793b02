#include "runtime/sim/overlay_memory.h"

#include <algorithm>
#include <cstring>

namespace packsmith::sim {

size_t OverlayMemory::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    if (at < address) break;  // addresses do not wrap
    const uint64_t wanted = std::min<uint64_t>(out.size() - done, kPage - at % kPage);
    const absl::Span<const uint8_t> mapped = base_->Read(space, at, wanted);
    if (mapped.empty()) break;
    const auto page = pages_.empty() ? pages_.end() : pages_.find(Place{space, at / kPage});
    const uint8_t* const from =
        page == pages_.end() ? mapped.data() : page->second->now.data() + at % kPage;
    std::memcpy(out.data() + done, from, mapped.size());
    done += mapped.size();
  }
  return done;
}

void OverlayMemory::ReadBelow(uint32_t space, uint64_t begin,
                              std::array<uint8_t, kPage>& page) const {
  for (uint64_t i = 0; i < kPage;) {
    const absl::Span<const uint8_t> run = base_->Read(space, begin + i, kPage - i);
    std::copy(run.begin(), run.end(), page.begin() + static_cast<ptrdiff_t>(i));
    if (!run.empty()) {
      i += run.size();
      continue;
    }
    const Memory::Segment* const next = base_->FindFrom(space, begin + i);
    if (next == nullptr || next->address <= begin + i || next->address - begin >= kPage) break;
    i = next->address - begin;
  }
}

void OverlayMemory::Continue(const Memory& next) {
  base_ = &next;
  for (auto& [place, page] : pages_) {
    std::array<uint8_t, kPage> below = page->below;
    ReadBelow(place.first, place.second * kPage, below);
    for (size_t i = 0; i < kPage; ++i) {
      if (below[i] != page->below[i]) page->now[i] = below[i];
    }
    page->below = below;
  }
}

void OverlayMemory::Detach() {
  static const Memory& nothing = *new Memory();
  base_ = &nothing;
}

size_t OverlayMemory::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    if (at < address) break;
    const uint64_t wanted = std::min<uint64_t>(bytes.size() - done, kPage - at % kPage);
    const absl::Span<const uint8_t> mapped = base_->Read(space, at, wanted);
    if (mapped.empty()) break;
    auto page = pages_.find(Place{space, at / kPage});
    if (page == pages_.end()) {
      if (pages_.size() >= most_pages_) {
        exhausted_ = true;
        break;
      }
      auto copy = std::make_unique<Page>();
      ReadBelow(space, at - at % kPage, copy->below);
      copy->now = copy->below;
      page = pages_.emplace(Place{space, at / kPage}, std::move(copy)).first;
    }
    std::memcpy(page->second->now.data() + at % kPage, bytes.data() + done, mapped.size());
    done += mapped.size();
  }
  return done;
}

}  // namespace packsmith::sim
