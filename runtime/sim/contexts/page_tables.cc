#include "runtime/sim/contexts/page_tables.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/value.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kPage = PageTables::kPage;
// What the fields "Intermediate Page Size", "64 KiB Page Table" and "64 KiB Page" are about.
constexpr uint64_t kLargePage = 65536;
constexpr uint64_t kPartsOfLargePage = kLargePage / kPage;

// The directory of two levels: 2 GiB of 4 MiB each.
// Source: Linux, drivers/gpu/drm/i915/gt/gen6_ppgtt.c.
constexpr uint64_t kDirectoryEntries = 512;

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

absl::Status PageTables::AddLevel(const tables::Tables& tables, absl::string_view name,
                                  absl::string_view next) {
  const absl::StatusOr<Structure> found = Structure::Find(tables, name);
  if (!found.ok()) return found.status();
  Level level(*found);
  const Structure& entry = level.entry;
  if (entry.size() == 0 || entry.size() > sizeof(uint64_t)) {
    return absl::InvalidArgumentError(absl::StrCat(name, " must have 4 or 8 bytes"));
  }
  level.present = entry.Field("Present");
  if (!level.present) level.present = entry.Field("Valid");
  level.writable = entry.Field("Writable");
  level.user = entry.Field("User");
  level.null = entry.Field("Null");
  level.device = entry.Field("Device Memory");
  level.page = entry.Field("Page Address");
  if (!level.page) level.page = entry.Field("Physical Page Address");
  level.is_page = entry.Field("Page Size");
  level.sparse = entry.Field("Intermediate Page Size");
  level.dense = entry.Field("64 KiB Page Table");
  level.part = entry.Field("64 KiB Page");
  for (size_t i = 0; i < level.pat.size(); ++i) {
    level.pat[i] = entry.Field(absl::StrCat("PAT Index Bit ", i));
  }
  if (!next.empty()) {
    absl::StatusOr<StructureField> field = entry.Require(next);
    if (!field.ok()) return field.status();
    level.next = *field;
  }
  if (!level.present || (!level.next && !level.page)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must say whether it is present, and an address"));
  }
  level.entries = kPage / entry.size();
  levels_.push_back(level);
  return absl::OkStatus();
}

absl::StatusOr<PageTables> PageTables::Open(const tables::Tables& tables, MemoryAccess& memory,
                                            const PageTableRoot& root,
                                            const PhysicalSpaces& spaces) {
  PageTables opened(memory, root, spaces);
  absl::Status status;
  const auto add = [&](absl::string_view name, absl::string_view next) {
    if (status.ok()) status = opened.AddLevel(tables, name, next);
  };
  switch (root.kind) {
    case PageTableKind::kGlobal: {
      const bool old = tables.FindContainer("GGTT_ENTRY") == tables::kNone;
      add(old ? "GTT_ENTRY" : "GGTT_ENTRY", "");
      break;
    }
    case PageTableKind::kTwoLevels:
      add("PPGTT_PAGE_DIRECTORY_ENTRY", "Page Table Address");
      add("PPGTT_PAGE_TABLE_ENTRY", "");
      break;
    case PageTableKind::kFourLevels:
      add("PPGTT_PML4_ENTRY", "Page Directory Pointer Table Address");
      add("PPGTT_PDP_ENTRY", "Page Directory Address");
      [[fallthrough]];
    case PageTableKind::kThreeLevels:
      add("PPGTT_PD_ENTRY", "Page Table Address");
      add("PPGTT_PT_ENTRY", "");
      break;
  }
  if (!status.ok()) return status;
  if (root.kind == PageTableKind::kTwoLevels) opened.levels_[0].entries = kDirectoryEntries;
  if (root.kind == PageTableKind::kGlobal) opened.levels_[0].entries = root.entries;
  uint32_t shift = static_cast<uint32_t>(__builtin_ctzll(kPage));
  for (size_t i = opened.levels_.size(); i-- > 0;) {
    Level& level = opened.levels_[i];
    level.shift = shift;
    if (level.entries != 0) shift += static_cast<uint32_t>(__builtin_ctzll(level.entries));
  }
  return opened;
}

uint64_t PageTables::limit() const {
  const Level& top = levels_.front();
  const uint64_t tables = root_.kind == PageTableKind::kThreeLevels ? root_.tables.size() : 1;
  const uint64_t entries = std::min(top.entries, (~uint64_t{0} >> top.shift) / tables);
  return entries * tables << top.shift;
}

uint64_t* PageTables::RootTable(uint64_t address) {
  if (root_.kind != PageTableKind::kThreeLevels) return root_.tables.data();
  const Level& top = levels_.front();
  return &root_.tables[(address >> top.shift) / top.entries % root_.tables.size()];
}

uint64_t PageTables::EntryAddress(size_t level, uint64_t table, uint64_t address,
                                  Arrangement arranged) const {
  const Level& at = levels_[level];
  uint64_t index = (address >> at.shift) % std::max<uint64_t>(at.entries, 1);
  if (is_last(level)) {
    if (arranged == Arrangement::kSparse) index -= index % kPartsOfLargePage;
    if (arranged == Arrangement::kDense) index /= kPartsOfLargePage;
  }
  return table + index * at.entry.size();
}

bool PageTables::ReadEntry(const Level& level, uint64_t address, uint64_t* value) const {
  uint8_t bytes[sizeof(uint64_t)] = {};
  const absl::Span<uint8_t> entry = absl::MakeSpan(bytes).subspan(0, level.entry.size());
  if (memory_->Read(spaces_.tables, address, entry) != entry.size()) return false;
  *value = decode::ReadBits(bytes, 0, 64);
  return true;
}

absl::Status PageTables::WriteEntry(const Level& level, uint64_t address, uint64_t value) {
  uint8_t bytes[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  const absl::Span<const uint8_t> entry = absl::MakeSpan(bytes).subspan(0, level.entry.size());
  if (memory_->Write(spaces_.tables, address, entry) == entry.size()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrFormat("%s at 0x%x cannot be written: there is no memory",
                                             level.entry.name(), address));
}

PageTables::Decoded PageTables::Decode(const Level& level, uint64_t value) const {
  uint8_t bytes[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  const Structure& entry = level.entry;
  Decoded decoded;
  decoded.present = entry.Get(bytes, level.present) != 0;
  decoded.is_page = !level.next || entry.Get(bytes, level.is_page) != 0;
  decoded.table = entry.Get(bytes, level.next);
  decoded.physical = entry.Get(bytes, level.page);
  PageAttributes& attributes = decoded.attributes;
  attributes.writable = !level.writable || entry.Get(bytes, level.writable) != 0;
  attributes.null = entry.Get(bytes, level.null) != 0;
  attributes.device = entry.Get(bytes, level.device) != 0;
  for (size_t i = 0; i < level.pat.size(); ++i) {
    attributes.pat |= static_cast<uint32_t>(entry.Get(bytes, level.pat[i])) << i;
  }
  return decoded;
}

PageTables::Arrangement PageTables::ArrangementBelow(const Level& level, uint64_t value) const {
  uint8_t bytes[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  if (level.entry.Get(bytes, level.dense) != 0) return Arrangement::kDense;
  if (level.entry.Get(bytes, level.sparse) != 0) return Arrangement::kSparse;
  return Arrangement::kSmall;
}

uint64_t PageTables::PageBytes(size_t level, uint64_t value, Arrangement arranged) const {
  const Level& at = levels_[level];
  if (!is_last(level)) return uint64_t{1} << at.shift;
  uint8_t bytes[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  const bool large = arranged != Arrangement::kSmall || at.entry.Get(bytes, at.part) != 0;
  return large ? kLargePage : kPage;
}

PageWalk PageTables::Walk(uint64_t address) const {
  PageWalk walk;
  walk.address = address;
  const uint64_t most = limit();
  // A canonical address repeats its highest bit.
  if (root_.kind == PageTableKind::kFourLevels && address >= ~uint64_t{0} - (most / 2 - 1)) {
    address &= most - 1;
  }
  if (address >= most) {
    walk.end = WalkEnd::kBeyond;
    return walk;
  }
  uint64_t table = *const_cast<PageTables*>(this)->RootTable(address);
  Arrangement arranged = Arrangement::kSmall;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const uint64_t at = EntryAddress(i, table, address, arranged);
    walk.steps.push_back({level.entry.name(), at, 0});
    uint64_t& value = walk.steps.back().value;
    if (!ReadEntry(level, at, &value)) {
      walk.end = WalkEnd::kUnreadable;
      return walk;
    }
    const Decoded decoded = Decode(level, value);
    if (!decoded.present) {
      walk.end = WalkEnd::kNotPresent;
      return walk;
    }
    if (!decoded.is_page) {
      arranged = ArrangementBelow(level, value);
      table = decoded.table;
      continue;
    }
    walk.end = WalkEnd::kMapped;
    walk.page_bytes = PageBytes(i, value, arranged);
    // Of the parts of a page of 64 KiB each has its own address.
    const bool parts = is_last(i) && arranged == Arrangement::kSmall;
    const uint64_t span = parts ? kPage : walk.page_bytes;
    walk.physical = decoded.physical - decoded.physical % span + address % span;
    walk.attributes = decoded.attributes;
    walk.space = decoded.attributes.device ? spaces_.device : spaces_.system;
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

absl::StatusOr<uint64_t> PageTables::EncodePage(const Level& level, uint64_t physical,
                                                const PageAttributes& attributes) const {
  uint8_t bytes[sizeof(uint64_t)] = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  absl::Status status = level.entry.Set(out, level.page, physical);
  const auto set = [&](StructureField field, uint64_t value) {
    if (status.ok()) status = level.entry.Set(out, field, value);
  };
  set(level.present, 1);
  if (level.writable) set(level.writable, attributes.writable ? 1 : 0);
  set(level.null, attributes.null ? 1 : 0);
  set(level.device, attributes.device ? 1 : 0);
  for (size_t i = 0; i < level.pat.size(); ++i) set(level.pat[i], attributes.pat >> i & 1);
  if (level.next) set(level.is_page, 1);
  if (status.ok() && attributes.pat >> level.pat.size() != 0) {
    status =
        absl::InvalidArgumentError(absl::StrCat("PAT index ", attributes.pat, " is too large"));
  }
  if (!status.ok()) return status;
  return decode::ReadBits(bytes, 0, 64);
}

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
  bool known = size == kPage;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    if (level.is_page) known = known || size == uint64_t{1} << level.shift;
    if (level.sparse || level.dense || level.part) known = known || size == kLargePage;
  }
  if (!known) return refuse(absl::StrCat("there are no pages of ", size, " bytes"));
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

absl::Status PageTables::WriteSmallPages(const Level& level, uint64_t entry, uint64_t physical,
                                         const PageAttributes& attributes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    if (!ReadEntry(level, entry + i * level.entry.size(), &value)) {
      return absl::NotFoundError(absl::StrFormat("%s at 0x%x is not in memory", level.entry.name(),
                                                 entry + i * level.entry.size()));
    }
    if (Decode(level, value).present) {
      return absl::AlreadyExistsError(absl::StrFormat("%s at 0x%x is present: 0x%x",
                                                      level.entry.name(),
                                                      entry + i * level.entry.size(), value));
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    absl::StatusOr<uint64_t> value = EncodePage(level, physical + i * kPage, attributes);
    if (!value.ok()) return value.status();
    if (count > 1) {
      uint8_t bytes[sizeof(uint64_t)];
      decode::WriteBits(absl::MakeSpan(bytes), 0, 64, *value);
      if (absl::Status set = level.entry.Set(absl::MakeSpan(bytes), level.part, 1); !set.ok()) {
        return set;
      }
      *value = decode::ReadBits(bytes, 0, 64);
    }
    absl::Status written = WriteEntry(level, entry + i * level.entry.size(), *value);
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

absl::Status PageTables::MapPage(const MappingRequest& request, uint64_t address, uint64_t physical,
                                 absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table) {
  uint64_t* root = RootTable(address);
  if (*root == 0 && root_.kind != PageTableKind::kGlobal) {
    absl::StatusOr<uint64_t> table = NewTable(new_table);
    if (!table.ok()) return table.status();
    *root = *table;
  }
  uint64_t table = *root;
  Arrangement arranged = Arrangement::kSmall;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const uint64_t at = EntryAddress(i, table, address, arranged);
    if (is_last(i)) {
      if (request.page_bytes == kPage && arranged != Arrangement::kSmall) {
        return absl::AlreadyExistsError(absl::StrFormat(
            "0x%x cannot be a page of 4 KiB: its table has pages of 64 KiB", address));
      }
      if (request.page_bytes == kLargePage && arranged == Arrangement::kSmall && !level.part) {
        return absl::AlreadyExistsError(absl::StrFormat(
            "0x%x cannot be a page of 64 KiB: its table has pages of 4 KiB", address));
      }
      const bool parts = request.page_bytes == kLargePage && arranged == Arrangement::kSmall;
      return WriteSmallPages(level, at, physical, request.attributes,
                             parts ? kPartsOfLargePage : 1);
    }
    uint64_t value = 0;
    if (!ReadEntry(level, at, &value)) {
      return absl::NotFoundError(
          absl::StrFormat("%s at 0x%x is not in memory", level.entry.name(), at));
    }
    const Decoded decoded = Decode(level, value);
    const bool wanted = level.is_page && request.page_bytes == uint64_t{1} << level.shift;
    if (decoded.present && (decoded.is_page || wanted)) {
      return absl::AlreadyExistsError(
          absl::StrFormat("%s at 0x%x is present: 0x%x", level.entry.name(), at, value));
    }
    if (wanted) {
      const absl::StatusOr<uint64_t> page = EncodePage(level, physical, request.attributes);
      if (!page.ok()) return page.status();
      return WriteEntry(level, at, *page);
    }
    if (decoded.present) {
      table = decoded.table;
      arranged = ArrangementBelow(level, value);
      continue;
    }
    absl::StatusOr<uint64_t> added = NewTable(new_table);
    if (!added.ok()) return added.status();
    uint8_t bytes[sizeof(uint64_t)] = {};
    const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
    absl::Status status = level.entry.Set(out, level.next, *added);
    const auto set = [&](StructureField field) {
      if (status.ok() && field) status = level.entry.Set(out, field, 1);
    };
    set(level.present);
    set(level.writable);
    // The first page decides how a new table of the last level is arranged.
    if (is_last(i + 1) && request.page_bytes == kLargePage)
      set(level.dense ? level.dense : level.sparse);
    if (!status.ok()) return status;
    value = decode::ReadBits(bytes, 0, 64);
    status = WriteEntry(level, at, value);
    if (!status.ok()) return status;
    table = *added;
    arranged = ArrangementBelow(level, value);
  }
  return absl::OkStatus();
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
      const size_t level = walk.steps.empty() ? levels_.size() - 1 : walk.steps.size() - 1;
      const uint64_t span = uint64_t{1} << levels_[level].shift;
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
    const Level& level = levels_[walk.steps.size() - 1];
    const WalkStep& step = walk.steps.back();
    uint8_t value[sizeof(uint64_t)];
    decode::WriteBits(absl::MakeSpan(value), 0, 64, step.value);
    const uint64_t entries = level.entry.Get(value, level.part) != 0 ? kPartsOfLargePage : 1;
    for (uint64_t i = 0; i < entries; ++i) {
      absl::Status written = WriteEntry(level, step.address + i * level.entry.size(), 0);
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

  void List(size_t index, uint64_t table, uint64_t address, Arrangement arranged) {
    const Level& level = of.levels_[index];
    const bool last = of.is_last(index);
    const uint64_t size = level.entry.size();
    uint64_t count = level.entries;
    if (last && arranged == Arrangement::kDense) count /= kPartsOfLargePage;
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
        if (last && arranged == Arrangement::kSparse && i % kPartsOfLargePage != 0) continue;
        const uint64_t value =
            decode::ReadBits(bytes, i * size * 8, static_cast<uint32_t>(size * 8));
        if (value == 0) continue;
        const bool dense = last && arranged == Arrangement::kDense;
        const uint64_t step = dense ? kLargePage : uint64_t{1} << level.shift;
        Entry(index, value, address + (first + i) * step, arranged, table);
      }
    }
  }

  void Entry(size_t index, uint64_t value, uint64_t address, Arrangement arranged, uint64_t table) {
    const Level& level = of.levels_[index];
    const Decoded decoded = of.Decode(level, value);
    if (!decoded.present) return;
    if (decoded.is_page) {
      const uint64_t page = of.PageBytes(index, value, arranged);
      const bool small = of.is_last(index) && arranged == Arrangement::kSmall;
      const uint64_t span = small ? kPage : page;
      Add({address, span, decoded.attributes.device ? of.spaces_.device : of.spaces_.system,
           decoded.physical - decoded.physical % span, page, decoded.attributes});
      return;
    }
    if (decoded.table == table || std::count(path.begin(), path.end(), decoded.table) != 0) {
      ++listing.loops;
      return;
    }
    path.push_back(table);
    List(index + 1, decoded.table, address, of.ArrangementBelow(level, value));
    path.pop_back();
  }
};

PageTableListing PageTables::List(absl::FunctionRef<void(const MappedRange&)> visit,
                                  uint64_t most_tables) const {
  Lister lister{*this, visit, most_tables};
  const bool three = root_.kind == PageTableKind::kThreeLevels;
  const Level& top = levels_.front();
  for (size_t i = 0; i < (three ? root_.tables.size() : 1); ++i) {
    if (root_.tables[i] == 0 && root_.kind != PageTableKind::kGlobal) continue;
    lister.List(0, root_.tables[i], i * (top.entries << top.shift), Arrangement::kSmall);
  }
  lister.Flush();
  return lister.listing;
}

}  // namespace packsmith::sim
