#include "runtime/sim/contexts/page_table_format.h"

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {
namespace {

// The directory of two levels: 2 GiB of 4 MiB each.
// Source: Linux, drivers/gpu/drm/i915/gt/gen6_ppgtt.c.
constexpr uint64_t kDirectoryEntries = 512;

using Bytes = std::array<uint8_t, sizeof(uint64_t)>;

uint64_t ValueOf(const Bytes& bytes) { return decode::ReadBits(bytes, 0, 64); }

}  // namespace

absl::Status PageTableFormat::AddLevel(const tables::Tables& tables, absl::string_view name,
                                       absl::string_view next) {
  const absl::StatusOr<Structure> found = Structure::Find(tables, name);
  if (!found.ok()) return found.status();
  Level level(*found);
  const Structure& entry = level.entry;
  if (entry.size() != sizeof(uint32_t) && entry.size() != sizeof(uint64_t)) {
    return absl::InvalidArgumentError(absl::StrCat(name, " must have 4 or 8 bytes"));
  }
  level.present = entry.Field("Present");
  if (!level.present) level.present = entry.Field("Valid");
  level.writable = entry.Field("Writable");
  level.null = entry.Field("Null");
  level.device = entry.Field("Device Memory");
  level.page = entry.Field("Page Address");
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

absl::StatusOr<PageTableFormat> PageTableFormat::Make(const tables::Tables& tables,
                                                      PageTableKind kind, uint64_t global_entries) {
  PageTableFormat format;
  absl::Status status;
  const auto add = [&](absl::string_view name, absl::string_view next) {
    if (status.ok()) status = format.AddLevel(tables, name, next);
  };
  switch (kind) {
    case PageTableKind::kGlobal: {
      const bool old = tables.FindContainer("GGTT_ENTRY") == tables::kNone;
      add(old ? "GTT_ENTRY" : "GGTT_ENTRY", "");
      break;
    }
    case PageTableKind::kTwoLevels:
      add("PPGTT_PAGE_DIRECTORY_ENTRY", "Page Table Address");
      add("PPGTT_PAGE_TABLE_ENTRY", "");
      break;
    case PageTableKind::kFiveLevels:
      add("PPGTT_PML5_ENTRY", "Page Map Level 4 Address");
      [[fallthrough]];
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
  if (kind == PageTableKind::kTwoLevels) format.levels_[0].entries = kDirectoryEntries;
  if (kind == PageTableKind::kGlobal) format.levels_[0].entries = global_entries;
  uint32_t shift = static_cast<uint32_t>(__builtin_ctzll(kPage));
  for (size_t i = format.levels_.size(); i-- > 0;) {
    Level& level = format.levels_[i];
    level.shift = shift;
    // Of all levels below others the number is a power of two.
    if (level.entries != 0) shift += static_cast<uint32_t>(__builtin_ctzll(level.entries));
  }
  return format;
}

bool PageTableFormat::HasPagesOf(uint64_t bytes) const {
  if (bytes == kPage) return true;
  for (const Level& level : levels_) {
    if (level.is_page && bytes == level.span()) return true;
    if ((level.sparse || level.dense || level.part) && bytes == kLargePage) return true;
  }
  return false;
}

PageEntry PageTableFormat::Decode(size_t index, uint64_t value) const {
  const Level& level = levels_[index];
  Bytes bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  const auto get = [&](StructureField field) { return level.entry.Get(bytes, field); };
  PageEntry entry;
  entry.present = get(level.present) != 0;
  entry.is_page = !level.next || get(level.is_page) != 0;
  entry.table = get(level.next);
  entry.physical = get(level.page);
  entry.below = get(level.dense) != 0    ? PageArrangement::kDense
                : get(level.sparse) != 0 ? PageArrangement::kSparse
                                         : PageArrangement::kSmall;
  entry.part = get(level.part) != 0;
  entry.attributes.writable = !level.writable || get(level.writable) != 0;
  entry.attributes.null = get(level.null) != 0;
  entry.attributes.device = get(level.device) != 0;
  for (size_t i = 0; i < level.pat.size(); ++i) {
    entry.attributes.pat |= static_cast<uint32_t>(get(level.pat[i])) << i;
  }
  return entry;
}

uint64_t PageTableFormat::PageBytes(size_t level, const PageEntry& entry,
                                    PageArrangement arranged) const {
  if (!is_last(level)) return levels_[level].span();
  return entry.part || arranged != PageArrangement::kSmall ? kLargePage : kPage;
}

absl::StatusOr<uint64_t> PageTableFormat::EncodePage(size_t index, uint64_t physical,
                                                     const PageAttributes& attributes,
                                                     bool part) const {
  const Level& level = levels_[index];
  Bytes bytes = {};
  absl::Status status;
  const auto set = [&](StructureField field, uint64_t value) {
    if (status.ok()) status = level.entry.Set(absl::MakeSpan(bytes), field, value);
  };
  set(level.page, physical);
  set(level.present, 1);
  if (level.writable) set(level.writable, attributes.writable ? 1 : 0);
  set(level.null, attributes.null ? 1 : 0);
  set(level.device, attributes.device ? 1 : 0);
  for (size_t i = 0; i < level.pat.size(); ++i) set(level.pat[i], attributes.pat >> i & 1);
  if (level.next) set(level.is_page, 1);
  set(level.part, part ? 1 : 0);
  if (status.ok() && attributes.pat >> level.pat.size() != 0) {
    status =
        absl::InvalidArgumentError(absl::StrCat("PAT index ", attributes.pat, " is too large"));
  }
  if (!status.ok()) return status;
  return ValueOf(bytes);
}

absl::StatusOr<uint64_t> PageTableFormat::EncodeTable(size_t index, uint64_t table,
                                                      bool large) const {
  const Level& level = levels_[index];
  Bytes bytes = {};
  absl::Status status = level.entry.Set(absl::MakeSpan(bytes), level.next, table);
  const auto set = [&](StructureField field) {
    if (status.ok() && field) status = level.entry.Set(absl::MakeSpan(bytes), field, 1);
  };
  set(level.present);
  set(level.writable);
  if (large) set(level.dense ? level.dense : level.sparse);
  if (!status.ok()) return status;
  return ValueOf(bytes);
}

}  // namespace packsmith::sim
