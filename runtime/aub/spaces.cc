#include "runtime/aub/spaces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/addresses.h"

namespace packsmith::aub {
namespace {

constexpr uint64_t kPage = RecordedMemory::kPage;
// 4 GiB of pages: the most that any generation has.
constexpr uint64_t kGlobalEntries = uint64_t{1} << 20;

}  // namespace

void AddRun(Runs& runs, const Run& added) {
  if (!runs.empty()) {
    Run& last = runs.back();
    const bool follows = last.address + last.size == added.address;
    const bool both_zero = last.bytes == nullptr && added.bytes == nullptr;
    const bool adjacent = last.bytes != nullptr && last.bytes + last.size == added.bytes;
    if (follows && (both_zero || adjacent)) {
      last.size += added.size;
      return;
    }
  }
  runs.push_back(added);
}

// --- The global space ---

absl::StatusOr<GlobalSpace> GlobalSpace::Make(const tables::Tables& tables,
                                              RecordedMemory& memory) {
  const sim::PageTableRoot root = {.kind = sim::PageTableKind::kGlobal, .entries = kGlobalEntries};
  sim::PhysicalSpaces spaces = kPhysicalSpaces;
  spaces.tables = RecordedMemory::kEntries;
  const auto format = sim::PageTableFormat::Make(tables, root.kind, root.entries);
  if (!format.ok()) return format.status();
  absl::StatusOr<sim::PageTables> entries = sim::PageTables::Open(tables, memory, root, spaces);
  if (!entries.ok()) return entries.status();
  return GlobalSpace(memory, *std::move(entries), format->levels().front().entry.size());
}

const uint8_t* GlobalSpace::Page(uint64_t address) const {
  const sim::PageWalk walk = entries_.Walk(address);
  const uint8_t* page = nullptr;
  if (walk.mapped()) page = memory_->Page(walk.space, walk.physical - walk.physical % kPage);
  return page != nullptr ? page : memory_->Page(RecordedMemory::kGlobal, address);
}

size_t GlobalSpace::Read(uint32_t, uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    const uint8_t* const page = at < address ? nullptr : Page(at - at % kPage);
    if (page == nullptr) break;
    const size_t now = std::min<uint64_t>(out.size() - done, kPage - at % kPage);
    std::copy_n(page + at % kPage, now, out.begin() + static_cast<ptrdiff_t>(done));
    done += now;
  }
  return done;
}

size_t GlobalSpace::Write(uint32_t, uint64_t address, absl::Span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    if (at < address) break;
    const size_t now = std::min<uint64_t>(bytes.size() - done, kPage - at % kPage);
    const sim::PageWalk walk = entries_.Walk(at);
    const size_t written =
        walk.mapped() ? memory_->Write(walk.space, walk.physical, bytes.subspan(done, now))
                      : memory_->Write(RecordedMemory::kGlobal, at, bytes.subspan(done, now));
    done += written;
    if (written != now) break;
  }
  return done;
}

Runs GlobalSpace::List(Budget& budget) const {
  std::vector<uint64_t> pages;
  for (const auto& [begin, version] : memory_->pages(RecordedMemory::kEntries)) {
    for (uint64_t at = 0; at < kPage; at += entry_bytes_) {
      const uint8_t* const entry = version.bytes + at;
      if (std::all_of(entry, entry + entry_bytes_, [](uint8_t byte) { return byte == 0; }))
        continue;
      const uint64_t index = (begin + at) / entry_bytes_;
      if (index < kGlobalEntries) pages.push_back(index * kPage);
    }
  }
  for (const auto& [begin, version] : memory_->pages(RecordedMemory::kGlobal)) {
    pages.push_back(begin);
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  Runs runs;
  for (const uint64_t address : pages) {
    if (budget.pages == 0) break;
    --budget.pages;
    if (const uint8_t* const page = Page(address)) AddRun(runs, {address, page, kPage});
  }
  return runs;
}

// --- Those of contexts ---

absl::StatusOr<ProcessSpace> ProcessSpace::Make(const tables::Tables& tables,
                                                RecordedMemory& memory,
                                                const sim::PageTableRoot& root) {
  absl::StatusOr<sim::PageTables> found =
      sim::PageTables::Open(tables, memory, root, kPhysicalSpaces);
  if (!found.ok()) return found.status();
  return ProcessSpace(memory, *std::move(found));
}

// Whether the last listing is still what the page tables say.
bool ProcessSpace::IsListed() const {
  return !reads_.empty() &&
         std::all_of(reads_.begin(), reads_.end(), [&](const RecordedMemory::TableRead& read) {
           return memory_->Page(RecordedMemory::kTables, read.address) == read.bytes;
         });
}

Runs ProcessSpace::List(Budget& budget, std::string& problem) {
  if (!IsListed()) {
    ranges_.clear();
    reads_.clear();
    problem_.clear();
    memory_->NoteTables(&reads_);
    const sim::PageTableListing listing = tables_.List(
        [&](const sim::MappedRange& range) {
          // One more than can be listed, which is then reported.
          if (ranges_.size() <= budget.pages) ranges_.push_back(range);
        },
        std::min(budget.tables, sim::PageTables::kMostTables));
    memory_->NoteTables(nullptr);
    budget.tables -= std::min(budget.tables, listing.tables);
    if (!listing.complete()) {
      problem_ = absl::StrCat("of the page tables ", listing.unreadable, " are not in the file, ",
                              listing.loops, " contain themselves, and ", listing.skipped,
                              " were left out, since there are too many");
      reads_.clear();  // those that are missing may be written later
    }
  }
  problem = problem_;
  Runs runs;
  for (const sim::MappedRange& range : ranges_) {
    if (budget.pages == 0) {
      problem = "page tables map more than a file of this size can fill; the rest is unmapped";
      break;
    }
    AddRange(range, budget, runs);
  }
  return runs;
}

// Pages that were not written are unknown, and stay unmapped.
void ProcessSpace::AddRange(const sim::MappedRange& range, Budget& budget, Runs& runs) const {
  --budget.pages;
  if (range.attributes.null) {
    AddRun(runs, {PlainAddress(range.address), nullptr, range.bytes});
    return;
  }
  const RecordedMemory::Pages& pages = memory_->pages(range.space);
  for (auto at = pages.lower_bound(range.physical); at != pages.end(); ++at) {
    if (at->first - range.physical >= range.bytes || budget.pages == 0) return;
    --budget.pages;
    // Pages of zeros are joined, wherever they are: many may be the same physical page.
    const uint8_t* const bytes = at->second.IsZero() ? nullptr : at->second.bytes;
    AddRun(runs, {PlainAddress(range.address + (at->first - range.physical)), bytes, kPage});
  }
}

}  // namespace packsmith::aub
