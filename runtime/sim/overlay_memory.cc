#include "runtime/sim/overlay_memory.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace packsmith::sim {
namespace {

// Memory that is expensive to make stays so until it is read.
class LowerSegment : public DeferredBytes {
 public:
  LowerSegment(const Memory& memory, const Memory::Segment& segment)
      : memory_(memory), segment_(segment) {}

 protected:
  absl::Span<const uint8_t> Make() override { return memory_.Resolve(segment_).bytes; }

 private:
  const Memory& memory_;
  const Memory::Segment& segment_;
};

}  // namespace

OverlayMemory::Page* OverlayMemory::FindPage(uint32_t space, uint64_t number) const {
  Recent& recent = recent_[number % kRecent];
  if (recent.number != number || recent.space != space) {
    const auto found = pages_.find(Place{space, number});
    recent = {space, number, found == pages_.end() ? nullptr : found->second.get()};
  }
  return recent.page;
}

absl::Span<const uint8_t> OverlayMemory::Below(uint32_t space, uint64_t address,
                                               uint64_t size) const {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (space != run_.space || address - run_.address >= run_.bytes.size()) {
    run_ = {space, address, base_->Read(space, address, kMost)};
  }
  return run_.bytes.subspan(address - run_.address, size);
}

size_t OverlayMemory::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    if (at < address) break;  // addresses do not wrap
    const uint64_t wanted = std::min<uint64_t>(out.size() - done, kPage - at % kPage);
    const Page* const page = FindPage(space, at / kPage);
    if (page != nullptr && page->whole) {
      std::memcpy(out.data() + done, page->now.data() + at % kPage, wanted);
      done += wanted;
      continue;
    }
    const absl::Span<const uint8_t> mapped = Below(space, at, wanted);
    if (mapped.empty()) break;
    std::memcpy(out.data() + done, page == nullptr ? mapped.data() : page->now.data() + at % kPage,
                mapped.size());
    done += mapped.size();
  }
  return done;
}

bool OverlayMemory::ReadBelow(uint32_t space, uint64_t begin,
                              std::array<uint8_t, kPage>& page) const {
  uint64_t mapped = 0;
  for (uint64_t i = 0; i < kPage;) {
    const absl::Span<const uint8_t> run = base_->Read(space, begin + i, kPage - i);
    std::copy(run.begin(), run.end(), page.begin() + static_cast<ptrdiff_t>(i));
    mapped += run.size();
    if (!run.empty()) {
      i += run.size();
      continue;
    }
    const Memory::Segment* const next = base_->FindFrom(space, begin + i);
    if (next == nullptr || next->address <= begin + i || next->address - begin >= kPage) break;
    i = next->address - begin;
  }
  return mapped == kPage;
}

void OverlayMemory::Continue(const Memory& next) {
  base_ = &next;
  run_ = {};
  for (auto& [place, page] : pages_) {
    std::array<uint8_t, kPage> below = page->below;
    page->whole = ReadBelow(place.first, place.second * kPage, below);
    for (size_t i = 0; i < kPage; ++i) {
      if (below[i] != page->below[i]) page->now[i] = below[i];
    }
    page->below = below;
  }
}

void OverlayMemory::Detach() {
  static const Memory& nothing = *new Memory();
  base_ = &nothing;
  run_ = {};
  for (auto& [place, page] : pages_) page->whole = false;
}

Memory OverlayMemory::Snapshot() const {
  std::map<Place, const Page*> pages;
  for (const auto& [place, page] : pages_) pages.emplace(place, page.get());
  Memory all;
  // Pieces of what is mapped do not overlap: mapping them again succeeds.
  for (const Memory::Segment& mapped : base_->segments()) {
    auto page = pages.lower_bound(Place{mapped.space, mapped.address / kPage});
    const auto is_of = [&](const Memory::Segment& segment) {
      return page != pages.end() && page->first.first == segment.space &&
             page->first.second <= segment.last() / kPage;
    };
    if (mapped.deferred != nullptr && !is_of(mapped)) {
      all.MapDeferred(mapped.space, mapped.address, std::make_shared<LowerSegment>(*base_, mapped),
                      mapped.memory_size)
          .IgnoreError();
      continue;
    }
    const Memory::Segment& segment = base_->Resolve(mapped);
    if (segment.memory_size == 0) continue;
    const auto map = [&](uint64_t at, uint64_t size, absl::Span<const uint8_t> bytes) {
      all.Map(segment.space, at,
              bytes.subspan(0, static_cast<size_t>(std::min<uint64_t>(size, bytes.size()))), size)
          .IgnoreError();
    };
    const auto below = [&](uint64_t at, uint64_t size) {
      const uint64_t offset = at - segment.address;
      map(at, size, segment.bytes.subspan(std::min<uint64_t>(offset, segment.bytes.size())));
    };
    uint64_t at = segment.address;
    for (; is_of(segment); ++page) {
      const uint64_t begin = std::max(page->first.second * kPage, segment.address);
      if (begin > at) below(at, begin - at);
      const uint64_t last = std::min(page->first.second * kPage + (kPage - 1), segment.last());
      map(begin, last - begin + 1,
          absl::MakeConstSpan(page->second->now).subspan(static_cast<size_t>(begin % kPage)));
      at = last + 1;
      if (at == 0) break;  // the end of all addresses
    }
    if (at != 0 && at <= segment.last()) below(at, segment.last() - at + 1);
  }
  return all;
}

size_t OverlayMemory::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    if (at < address) break;
    uint64_t size = std::min<uint64_t>(bytes.size() - done, kPage - at % kPage);
    Page* page = FindPage(space, at / kPage);
    if (page == nullptr || !page->whole) {
      size = Below(space, at, size).size();
      if (size == 0) break;
    }
    if (page == nullptr) {
      page = CopyPage(space, at / kPage);
      if (page == nullptr) break;
    }
    std::memcpy(page->now.data() + at % kPage, bytes.data() + done, size);
    done += size;
  }
  return done;
}

OverlayMemory::Page* OverlayMemory::CopyPage(uint32_t space, uint64_t number) {
  if (pages_.size() >= most_pages_) {
    exhausted_ = true;
    return nullptr;
  }
  auto copy = std::make_unique<Page>();
  copy->whole = ReadBelow(space, number * kPage, copy->below);
  copy->now = copy->below;
  Page* const page = pages_.emplace(Place{space, number}, std::move(copy)).first->second.get();
  recent_[number % kRecent] = {space, number, page};
  return page;
}

}  // namespace packsmith::sim
