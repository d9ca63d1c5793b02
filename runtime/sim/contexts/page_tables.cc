#include "runtime/sim/contexts/page_tables.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kLargePage = PageTableFormat::kLargePage;
constexpr uint64_t kPartsOfLargePage = PageTableFormat::kPartsOfLargePage;

// By WalkEnd.
constexpr absl::string_view kWords[] = {"mapped", "above what the tables can map", "unreadable",
                                        "not present"};

}  // namespace

std::string PageWalk::Explain() const {
  if (mapped()) {
    return absl::StrFormat("0x%x is at 0x%x of space %d, in a page of %d bytes%s%s", address,
                           physical, space, page_bytes, attributes.writable ? "" : ", read-only",
                           attributes.null ? ", null" : "");
  }
  const absl::string_view what = kWords[static_cast<size_t>(end)];
  if (steps.empty()) return absl::StrFormat("0x%x is not mapped: %s", address, what);
  const WalkStep& last = steps.back();
  if (end == WalkEnd::kUnreadable) {
    return absl::StrFormat("0x%x is not mapped: %s at 0x%x is %s", address, last.entry,
                           last.address, what);
  }
  return absl::StrFormat("0x%x is not mapped: %s at 0x%x, 0x%x, is %s", address, last.entry,
                         last.address, last.value, what);
}

absl::StatusOr<PageTables> PageTables::Open(const tables::Tables& tables, MemoryAccess& memory,
                                            const PageTableRoot& root,
                                            const PhysicalSpaces& spaces) {
  absl::StatusOr<PageTableFormat> format = PageTableFormat::Make(tables, root.kind, root.entries);
  if (!format.ok()) return format.status();
  return PageTables(memory, root, spaces, *std::move(format));
}

uint64_t PageTables::limit() const {
  const PageTableFormat::Level& top = format_.levels().front();
  const uint64_t tables = root_.kind == PageTableKind::kThreeLevels ? root_.tables.size() : 1;
  const uint64_t entries = std::min(top.entries, (~uint64_t{0} >> top.shift) / tables);
  return entries * tables << top.shift;
}

const uint64_t& PageTables::RootTable(uint64_t address) const {
  if (root_.kind != PageTableKind::kThreeLevels) return root_.tables[0];
  const PageTableFormat::Level& top = format_.levels().front();
  return root_.tables[(address >> top.shift) / top.entries % root_.tables.size()];
}

uint64_t PageTables::EntryAddress(size_t level, uint64_t table, uint64_t address,
                                  PageArrangement arranged) const {
  const PageTableFormat::Level& at = format_.levels()[level];
  uint64_t index = (address >> at.shift) % std::max<uint64_t>(at.entries, 1);
  if (format_.is_last(level)) {
    if (arranged == PageArrangement::kSparse) index -= index % kPartsOfLargePage;
    if (arranged == PageArrangement::kDense) index /= kPartsOfLargePage;
  }
  return table + index * at.entry.size();
}

bool PageTables::ReadEntry(size_t level, uint64_t address, uint64_t* value) const {
  uint8_t bytes[sizeof(uint64_t)] = {};
  const absl::Span<uint8_t> entry =
      absl::MakeSpan(bytes).subspan(0, format_.levels()[level].entry.size());
  if (memory_->Read(spaces_.tables, address, entry) != entry.size()) return false;
  *value = decode::ReadBits(bytes, 0, 64);
  return true;
}

absl::Status PageTables::WriteEntry(size_t level, uint64_t address, uint64_t value) {
  const Structure& structure = format_.levels()[level].entry;
  uint8_t bytes[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  const absl::Span<const uint8_t> entry = absl::MakeSpan(bytes).subspan(0, structure.size());
  if (memory_->Write(spaces_.tables, address, entry) == entry.size()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrFormat("%s at 0x%x cannot be written: there is no memory",
                                             structure.name(), address));
}

PageWalk PageTables::Walk(uint64_t address) const {
  PageWalk walk;
  walk.address = address;
  const uint64_t most = limit();
  // A canonical address repeats its highest bit.
  const bool canonical =
      root_.kind == PageTableKind::kFourLevels || root_.kind == PageTableKind::kFiveLevels;
  if (canonical && address >= ~uint64_t{0} - (most / 2 - 1)) {
    address &= most - 1;
  }
  if (address >= most) {
    walk.end = WalkEnd::kBeyond;
    return walk;
  }
  uint64_t table = RootTable(address);
  PageArrangement arranged = PageArrangement::kSmall;
  for (size_t i = 0; i < format_.levels().size(); ++i) {
    const uint64_t at = EntryAddress(i, table, address, arranged);
    walk.steps.push_back({format_.levels()[i].entry.name(), at, 0});
    uint64_t& value = walk.steps.back().value;
    if (!ReadEntry(i, at, &value)) {
      walk.end = WalkEnd::kUnreadable;
      return walk;
    }
    const PageEntry entry = format_.Decode(i, value);
    if (!entry.present) {
      walk.end = WalkEnd::kNotPresent;
      return walk;
    }
    if (!entry.is_page) {
      arranged = entry.below;
      table = entry.table;
      continue;
    }
    walk.end = WalkEnd::kMapped;
    walk.page_bytes = format_.PageBytes(i, entry, arranged);
    // Of the parts of a page of 64 KiB each has its own address.
    const bool small = format_.is_last(i) && arranged == PageArrangement::kSmall;
    const uint64_t span = small ? kPage : walk.page_bytes;
    walk.physical = entry.physical - entry.physical % span + address % span;
    walk.attributes = entry.attributes;
    walk.space = entry.attributes.device ? spaces_.device : spaces_.system;
    return walk;
  }
  return walk;
}

size_t PageTables::Read(uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    const PageWalk walk = Walk(at);
    if (!walk.mapped()) break;
    const size_t now = std::min<uint64_t>(out.size() - done, kPage - at % kPage);
    const absl::Span<uint8_t> part = out.subspan(done, now);
    if (walk.attributes.null) {
      std::fill(part.begin(), part.end(), uint8_t{0});
      done += now;
      continue;
    }
    const size_t read = memory_->Read(walk.space, walk.physical, part);
    done += read;
    if (read != now) break;
  }
  return done;
}

size_t PageTables::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    const PageWalk walk = Walk(at);
    if (!walk.mapped() || !walk.attributes.writable) break;
    const size_t now = std::min<uint64_t>(bytes.size() - done, kPage - at % kPage);
    if (!walk.attributes.null) {
      const size_t written = memory_->Write(walk.space, walk.physical, bytes.subspan(done, now));
      done += written;
      if (written != now) break;
      continue;
    }
    done += now;
  }
  return done;
}

// --- Writing tables ---

absl::StatusOr<uint64_t> PageTables::NewTable(
    absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table) {
  absl::StatusOr<uint64_t> table = new_table();
  if (!table.ok()) return table;
  if (*table == 0 || *table % kPage != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x cannot be the address of a page table: it must be a multiple of 4096, not 0",
        *table));
  }
  const uint8_t zeros[kPage] = {};
  if (memory_->Write(spaces_.tables, *table, zeros) != kPage) {
    return absl::NotFoundError(
        absl::StrFormat("there is no memory for the page table at 0x%x", *table));
  }
  return table;
}

absl::Status PageTables::CheckRequest(const MappingRequest& request) const {
  const auto refuse = [](std::string text) { return absl::InvalidArgumentError(std::move(text)); };
  const uint64_t size = request.page_bytes;
  if (!format_.HasPagesOf(size)) {
    return refuse(absl::StrCat("there are no pages of ", size, " bytes"));
  }
  if (request.address % size != 0 || request.physical % size != 0 || request.bytes % size != 0) {
    return refuse(absl::StrFormat("0x%x, 0x%x and 0x%x must be multiples of the page's 0x%x bytes",
                                  request.address, request.physical, request.bytes, size));
  }
  if (request.bytes / size > kMostPages) {
    return refuse(absl::StrCat("more than ", kMostPages, " pages in one request"));
  }
  const uint64_t most = limit();
  if (request.address > most || request.bytes > most - request.address) {
    return absl::OutOfRangeError(
        absl::StrFormat("0x%x bytes at 0x%x do not fit: the tables map the addresses below 0x%x",
                        request.bytes, request.address, most));
  }
  return absl::OkStatus();
}

absl::Status PageTables::Map(const MappingRequest& request,
                             absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table) {
  absl::Status status = CheckRequest(request);
  for (uint64_t done = 0; status.ok() && done < request.bytes; done += request.page_bytes) {
    status = MapPage(request, request.address + done, request.physical + done, new_table);
  }
  return status;
}

absl::Status PageTables::WritePages(uint64_t entry, uint64_t physical,
                                    const PageAttributes& attributes, uint64_t count) {
  const size_t last = format_.levels().size() - 1;
  const Structure& structure = format_.levels()[last].entry;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = entry + i * structure.size();
    uint64_t value = 0;
    if (!ReadEntry(last, at, &value)) {
      return absl::NotFoundError(
          absl::StrFormat("%s at 0x%x is not in memory", structure.name(), at));
    }
    if (format_.Decode(last, value).present) {
      return absl::AlreadyExistsError(
          absl::StrFormat("%s at 0x%x is present: 0x%x", structure.name(), at, value));
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    const absl::StatusOr<uint64_t> value =
        format_.EncodePage(last, physical + i * kPage, attributes, count > 1);
    if (!value.ok()) return value.status();
    absl::Status written = WriteEntry(last, entry + i * structure.size(), *value);
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

absl::Status PageTables::MapPage(const MappingRequest& request, uint64_t address, uint64_t physical,
                                 absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table) {
  if (RootTable(address) == 0 && root_.kind != PageTableKind::kGlobal) {
    const absl::StatusOr<uint64_t> table = NewTable(new_table);
    if (!table.ok()) return table.status();
    root_.tables[static_cast<size_t>(&RootTable(address) - root_.tables.data())] = *table;
  }
  uint64_t table = RootTable(address);
  PageArrangement arranged = PageArrangement::kSmall;
  const bool large = request.page_bytes == kLargePage;
  for (size_t i = 0; !format_.is_last(i); ++i) {
    const PageTableFormat::Level& level = format_.levels()[i];
    const uint64_t at = EntryAddress(i, table, address, arranged);
    uint64_t value = 0;
    if (!ReadEntry(i, at, &value)) {
      return absl::NotFoundError(
          absl::StrFormat("%s at 0x%x is not in memory", level.entry.name(), at));
    }
    PageEntry entry = format_.Decode(i, value);
    const bool wanted = level.is_page && request.page_bytes == level.span();
    if (entry.present && (entry.is_page || wanted)) {
      return absl::AlreadyExistsError(
          absl::StrFormat("%s at 0x%x is present: 0x%x", level.entry.name(), at, value));
    }
    if (wanted) {
      const absl::StatusOr<uint64_t> page =
          format_.EncodePage(i, physical, request.attributes, false);
      if (!page.ok()) return page.status();
      return WriteEntry(i, at, *page);
    }
    if (!entry.present) {
      const absl::StatusOr<uint64_t> added = NewTable(new_table);
      if (!added.ok()) return added.status();
      // The first page decides how a new table of the last level is arranged.
      const absl::StatusOr<uint64_t> points =
          format_.EncodeTable(i, *added, large && format_.is_last(i + 1));
      if (!points.ok()) return points.status();
      if (absl::Status written = WriteEntry(i, at, *points); !written.ok()) return written;
      entry = format_.Decode(i, *points);
    }
    table = entry.table;
    arranged = entry.below;
  }
  const size_t last = format_.levels().size() - 1;
  if (!large && arranged != PageArrangement::kSmall) {
    return absl::AlreadyExistsError(
        absl::StrFormat("0x%x cannot be a page of 4 KiB: its table has pages of 64 KiB", address));
  }
  const bool parts = large && arranged == PageArrangement::kSmall;
  if (parts && !format_.levels()[last].part) {
    return absl::AlreadyExistsError(
        absl::StrFormat("0x%x cannot be a page of 64 KiB: its table has pages of 4 KiB", address));
  }
  return WritePages(EntryAddress(last, table, address, arranged), physical, request.attributes,
                    parts ? kPartsOfLargePage : 1);
}

absl::Status PageTables::Unmap(uint64_t address, uint64_t bytes) {
  const uint64_t most = limit();
  if (address > most || bytes > most - address || address % kPage != 0 || bytes % kPage != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes at 0x%x: pages of 4 KiB below 0x%x can be unmapped", bytes, address, most));
  }
  const uint64_t end = address + bytes;
  // Tables that point to themselves map more pages than there is memory.
  for (uint64_t steps = 0; address < end; ++steps) {
    if (steps == kMostPages) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "more than %d pages: 0x%x and what follows are still mapped", kMostPages, address));
    }
    const PageWalk walk = Walk(address);
    if (!walk.mapped()) {
      // No page begins before the end of what the missing entry covers.
      const size_t level = walk.steps.empty() ? format_.levels().size() - 1 : walk.steps.size() - 1;
      const uint64_t span = format_.levels()[level].span();
      const uint64_t next = address - address % span + span;
      if (next <= address) break;
      address = next;
      continue;
    }
    if (address % walk.page_bytes != 0 || end - address < walk.page_bytes) {
      return absl::InvalidArgumentError(
          absl::StrFormat("0x%x is in a page of 0x%x bytes, which can only be unmapped as a whole",
                          address, walk.page_bytes));
    }
    // The entries of a page: one, except for parts of a page of 64 KiB.
    const size_t level = walk.steps.size() - 1;
    const WalkStep& step = walk.steps.back();
    const uint64_t entries = format_.Decode(level, step.value).part ? kPartsOfLargePage : 1;
    for (uint64_t i = 0; i < entries; ++i) {
      absl::Status written =
          WriteEntry(level, step.address + i * format_.levels()[level].entry.size(), 0);
      if (!written.ok()) return written;
    }
    address += walk.page_bytes;
  }
  return absl::OkStatus();
}

// --- Listing ---

struct PageTables::Lister {
  const PageTables& of;
  absl::FunctionRef<void(const MappedRange&)> visit;
  uint64_t most_tables;
  PageTableListing listing = {};
  std::optional<MappedRange> pending = std::nullopt;
  absl::InlinedVector<uint64_t, 4> path = {};  // tables above the one that is read

  void Add(const MappedRange& range) {
    if (pending && pending->address + pending->bytes == range.address &&
        pending->page_bytes == range.page_bytes && pending->attributes == range.attributes &&
        pending->space == range.space &&
        (range.attributes.null || pending->physical + pending->bytes == range.physical)) {
      pending->bytes += range.bytes;
      return;
    }
    Flush();
    pending = range;
  }

  void Flush() {
    if (pending) visit(*pending);
    pending.reset();
  }

  void List(size_t index, uint64_t table, uint64_t address, PageArrangement arranged) {
    const PageTableFormat::Level& level = of.format_.levels()[index];
    const bool last = of.format_.is_last(index);
    const uint64_t size = level.entry.size();
    uint64_t count = level.entries;
    if (last && arranged == PageArrangement::kDense) count /= kPartsOfLargePage;
    std::vector<uint8_t> bytes;
    for (uint64_t first = 0; first < count; first += kPage / size) {
      if (listing.tables >= most_tables) {
        ++listing.skipped;
        return;
      }
      ++listing.tables;
      const uint64_t now = std::min(count - first, kPage / size);
      bytes.assign(now * size, 0);
      const size_t read =
          of.memory_->Read(of.spaces_.tables, table + first * size, absl::MakeSpan(bytes));
      if (read != bytes.size()) ++listing.unreadable;
      for (uint64_t i = 0; i < read / size; ++i) {
        if (last && arranged == PageArrangement::kSparse && i % kPartsOfLargePage != 0) continue;
        const uint64_t value =
            decode::ReadBits(bytes, i * size * 8, static_cast<uint32_t>(size * 8));
        if (value == 0) continue;
        const bool dense = last && arranged == PageArrangement::kDense;
        const uint64_t step = dense ? kLargePage : level.span();
        Entry(index, value, address + (first + i) * step, arranged, table);
      }
    }
  }

  void Entry(size_t index, uint64_t value, uint64_t address, PageArrangement arranged,
             uint64_t table) {
    const PageEntry entry = of.format_.Decode(index, value);
    if (!entry.present) return;
    if (entry.is_page) {
      const uint64_t page = of.format_.PageBytes(index, entry, arranged);
      const bool small = of.format_.is_last(index) && arranged == PageArrangement::kSmall;
      const uint64_t span = small ? kPage : page;
      Add({address, span, entry.attributes.device ? of.spaces_.device : of.spaces_.system,
           entry.physical - entry.physical % span, page, entry.attributes});
      return;
    }
    if (entry.table == table || std::count(path.begin(), path.end(), entry.table) != 0) {
      ++listing.loops;
      return;
    }
    path.push_back(table);
    List(index + 1, entry.table, address, entry.below);
    path.pop_back();
  }
};

PageTableListing PageTables::List(absl::FunctionRef<void(const MappedRange&)> visit,
                                  uint64_t most_tables) const {
  Lister lister{*this, visit, most_tables};
  const bool three = root_.kind == PageTableKind::kThreeLevels;
  const PageTableFormat::Level& top = format_.levels().front();
  for (size_t i = 0; i < (three ? root_.tables.size() : 1); ++i) {
    if (root_.tables[i] == 0 && root_.kind != PageTableKind::kGlobal) continue;
    lister.List(0, root_.tables[i], i * (top.entries << top.shift), PageArrangement::kSmall);
  }
  lister.Flush();
  return lister.listing;
}

}  // namespace packsmith::sim
