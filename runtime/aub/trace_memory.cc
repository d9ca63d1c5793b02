#include "runtime/aub/trace_memory.h"

#include "absl/strings/str_format.h"
#include "runtime/aub/recorded_memory.h"
#include "runtime/aub/spaces.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::aub {

absl::Status TraceMemory::WritePhysical(uint64_t page, absl::Span<const uint8_t> bytes) {
  return packets_.MemoryWrite(AubSpace::kSystem, page, bytes);
}

absl::StatusOr<uint64_t> TraceMemory::ZeroPage() {
  if (zero_page_ == 0) {
    zero_page_ = NewPage();
    absl::Status status = WritePhysical(zero_page_, kZeroPage);
    if (!status.ok()) return status;
  }
  return zero_page_;
}

absl::Status TraceMemory::MapGlobal(uint64_t address, uint64_t physical) {
  const auto format = sim::PageTableFormat::Make(tables_, sim::PageTableKind::kGlobal, 0);
  if (!format.ok()) return format.status();
  const absl::StatusOr<uint64_t> value = format->EncodePage(0, physical, {}, false);
  if (!value.ok()) return value.status();
  uint8_t encoded[sizeof(uint64_t)];
  decode::WriteBits(absl::MakeSpan(encoded), 0, 64, *value);
  const uint64_t bytes = format->levels().front().entry.size();
  return packets_.MemoryWrite(AubSpace::kGlobalEntry, address / kPageBytes * bytes,
                              absl::MakeConstSpan(encoded, bytes));
}

absl::StatusOr<uint64_t> TraceMemory::NewGlobal(const Dump& dump, uint64_t bytes) {
  uint64_t at = next_global_;
  while (at + bytes <= kGlobalEnd) {
    const Memory::Segment* const next = dump.memory.FindFrom(kGlobalSpace, at);
    if (next == nullptr || next->address >= at + bytes) break;
    at = next->last() >= kGlobalEnd ? kGlobalEnd
                                    : next->last() - next->last() % kPageBytes + kPageBytes;
  }
  if (at + bytes > kGlobalEnd) {
    return absl::ResourceExhaustedError(
        "the dump's global space has no room for rings and contexts; write a GPU core dump");
  }
  next_global_ = at + bytes;
  for (uint64_t page = at; page < at + bytes; page += kPageBytes) {
    const uint64_t physical = NewPage();
    absl::Status status = MapGlobal(page, physical);
    if (status.ok()) status = WritePhysical(physical, kZeroPage);
    if (!status.ok()) return status;
  }
  return at;
}

absl::Status TraceMemory::Begin(const Dump& dump) {
  roots_.clear();
  return ForEachPage(dump, kGlobalSpace, [&](const DumpPage& page) -> absl::Status {
    if (page.address >= kGlobalEnd) {
      lost_.Add("the global space above 4 GiB");
      return absl::OkStatus();
    }
    if (!page.whole) lost_.AddPartOfPage();
    const uint64_t physical = NewPage();
    absl::Status status = MapGlobal(page.address, physical);
    if (status.ok()) status = WritePhysical(physical, page.content());
    return status;
  });
}

absl::StatusOr<sim::PageTableRoot> TraceMemory::RootOf(const Dump& dump, uint32_t space) {
  const auto known = roots_.find(space);
  if (known != roots_.end()) return known->second;
  const sim::PageTableRoot root = {.kind = sim::PageTableKind::kFourLevels, .tables = {NewPage()}};
  RecordedMemory tables(~uint64_t{0});
  tables.Write(RecordedMemory::kSystem, root.tables[0], kZeroPage);
  sim::PhysicalSpaces spaces = kPhysicalSpaces;
  spaces.tables = RecordedMemory::kSystem;
  absl::StatusOr<sim::PageTables> made = sim::PageTables::Open(tables_, tables, root, spaces);
  if (!made.ok()) return made.status();
  const auto new_table = [this]() -> absl::StatusOr<uint64_t> { return NewPage(); };
  const auto add = [&](const DumpPage& page) -> absl::Status {
    if (page.address >= made->limit()) {
      lost_.Add(absl::StrFormat("memory at 0x%x and above", made->limit()));
      return absl::OkStatus();
    }
    if (!page.whole) lost_.AddPartOfPage();
    const bool zero = IsZero(page.bytes);
    const absl::StatusOr<uint64_t> physical =
        zero ? ZeroPage() : absl::StatusOr<uint64_t>(NewPage());
    if (!physical.ok()) return physical.status();
    absl::Status status =
        made->Map({.address = page.address, .physical = *physical, .bytes = kPageBytes}, new_table);
    if (status.ok() && !zero) status = WritePhysical(*physical, page.bytes);
    return status;
  };
  absl::Status status;
  // A context that only uses the global space has empty tables.
  if (space != kGlobalSpace) status = ForEachPage(dump, space, add);
  for (const auto& [page, version] : tables.pages(RecordedMemory::kSystem)) {
    if (status.ok()) status = WritePhysical(page, absl::MakeConstSpan(version.bytes, kPageBytes));
  }
  if (!status.ok()) return status;
  roots_.emplace(space, root);
  return root;
}

}  // namespace packsmith::aub
