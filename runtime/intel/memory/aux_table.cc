#include "runtime/intel/memory/aux_table.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"

namespace packsmith::intel {

absl::StatusOr<std::unique_ptr<AuxTable>> AuxTable::Create(gpu::StatePool& pool,
                                                           const AuxTableHardware& hardware) {
  auto made = std::unique_ptr<AuxTable>(new AuxTable(pool, hardware));
  MutexLock lock(made->mutex_);
  absl::StatusOr<Table> root = made->NewTable(kHighest);
  if (!root.ok()) return root.status();
  made->root_ = *std::move(root);
  return made;
}

AuxTable::~AuxTable() {
  if (!pool_) return;
  MutexLock lock(mutex_);
  if (root_.state.size != 0) FreeAll(root_);
}

void AuxTable::FreeAll(const Table& table) {
  for (const std::unique_ptr<Table>& below : table.below) {
    if (below != nullptr) FreeAll(*below);
  }
  (void)FreeTable(table);
}

absl::StatusOr<AuxTable::Table> AuxTable::NewTable(unsigned level) {
  const AuxTableHardware::Level& rule = hardware_.levels[level];
  const size_t entries = size_t{1} << rule.index_bits;
  const absl::StatusOr<gpu::State> state =
      pool_->Allocate(entries * sizeof(uint64_t), rule.alignment);
  if (!state.ok()) return state.status();
  // It is zeroed before the GPU can read it.
  std::memset(state->cpu, 0, entries * sizeof(uint64_t));
  Table table;
  table.state = *state;
  if (level == kLowest) {
    table.pages.resize(entries);
  } else {
    table.below.resize(entries);
  }
  ++buffers_[state->buffer];
  ++statistics_.tables;
  statistics_.memory_bytes += state->size;
  return table;
}

absl::Status AuxTable::FreeTable(const Table& table) {
  const auto buffer = buffers_.find(table.state.buffer);
  if (--buffer->second == 0) buffers_.erase(buffer);
  --statistics_.tables;
  statistics_.memory_bytes -= table.state.size;
  return pool_->Free(table.state.offset);
}

uint32_t AuxTable::IndexIn(unsigned level, uint64_t surface) const {
  const AuxTableHardware::Level& rule = hardware_.levels[level];
  return surface >> rule.index_bit & ((uint64_t{1} << rule.index_bits) - 1);
}

// Engines may read the entry concurrently: it is written atomically, and after the table that it
// points to.
void AuxTable::Write(const Table& table, uint32_t index, uint64_t entry) {
  std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(table.state.cpu)[index])
      .store(entry, std::memory_order_release);
}

AuxTable::Table* AuxTable::Lowest(uint64_t surface) {
  Table* table = &root_;
  for (unsigned level = kHighest; level != kLowest && table != nullptr; --level) {
    table = table->below[IndexIn(level, surface)].get();
  }
  return table;
}

absl::StatusOr<AuxTable::Table*> AuxTable::MakeLowest(uint64_t surface) {
  Table* table = &root_;
  for (unsigned level = kHighest; level != kLowest; --level) {
    const uint32_t index = IndexIn(level, surface);
    std::unique_ptr<Table>& below = table->below[index];
    if (below == nullptr) {
      absl::StatusOr<Table> made = NewTable(level - 1);
      if (!made.ok()) return made.status();
      below = std::make_unique<Table>(*std::move(made));
      Write(*table, index, hardware_.table_entry[level](below->state.address));
      ++table->used;
    }
    table = below.get();
  }
  return table;
}

absl::StatusOr<uint64_t> AuxTable::PlainSurface(uint64_t surface, uint64_t size) const {
  const std::optional<uint64_t> plain = PlainIfAddress(surface, bits());
  if (!plain.has_value() || *plain % page() != 0 || size == 0 ||
      size > (uint64_t{1} << bits()) - *plain) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a compressed surface of 0x%x bytes at 0x%x; its address must be a "
                        "multiple of 0x%x, and all of it within addresses of %d bits",
                        size, surface, page(), bits()));
  }
  return *plain;
}

absl::Status AuxTable::Map(const AuxRange& range) {
  if (lifetime_.lost()) return lifetime_.status();
  const absl::StatusOr<uint64_t> surface = PlainSurface(range.surface, range.size);
  if (!surface.ok()) return surface.status();
  const std::optional<uint64_t> auxiliary = PlainIfAddress(range.auxiliary, bits());
  const uint64_t pages = (range.size + page() - 1) / page();
  if (!auxiliary.has_value() || *auxiliary % hardware_.auxiliary_alignment != 0 ||
      pages * auxiliary_page() > (uint64_t{1} << bits()) - *auxiliary) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "compression data of 0x%x bytes at 0x%x; its address must be a multiple of 0x%x, and all "
        "of it within addresses of %d bits",
        pages * auxiliary_page(), range.auxiliary, hardware_.auxiliary_alignment, bits()));
  }
  const auto entry_of = [&](uint64_t page_number) {
    return hardware_.surface_entry(*auxiliary + page_number * auxiliary_page()) |
           static_cast<uint64_t>(range.format);
  };
  MutexLock lock(mutex_);
  // First everything that may fail.
  for (uint64_t i = 0; i < pages; ++i) {
    const uint64_t at = *surface + i * page();
    const absl::StatusOr<Table*> table = MakeLowest(at);
    if (!table.ok()) return table.status();
    const Page& page = (*table)->pages[IndexIn(kLowest, at)];
    if (page.users != 0 && page.entry != entry_of(i)) {
      return absl::AlreadyExistsError(
          absl::StrFormat("the page at 0x%x is already mapped to compression data at 0x%x, of this "
                          "or another format; unmap that surface first",
                          Canonical(at, bits()), Canonical(page.auxiliary, bits())));
    }
  }
  bool changed = false;
  for (uint64_t i = 0; i < pages; ++i) {
    const uint64_t at = *surface + i * page();
    Table& table = *Lowest(at);
    const uint32_t index = IndexIn(kLowest, at);
    Page& page = table.pages[index];
    if (page.users++ != 0) continue;
    const uint64_t entry = entry_of(i);
    // Engines cannot have cached an entry that was never valid; one that equals the cached one is
    // fine.
    changed |= page.entry != 0 && page.entry != entry;
    page.entry = entry;
    page.auxiliary = *auxiliary + i * auxiliary_page();
    page.format = range.format;
    Write(table, index, entry);
    ++table.used;
    ++statistics_.pages;
  }
  if (changed) ++version_;
  return absl::OkStatus();
}

absl::Status AuxTable::Unmap(uint64_t surface, uint64_t size) {
  if (lifetime_.lost()) return lifetime_.status();
  const absl::StatusOr<uint64_t> plain = PlainSurface(surface, size);
  if (!plain.ok()) return plain.status();
  const uint64_t pages = (size + page() - 1) / page();
  MutexLock lock(mutex_);
  for (const bool check : {true, false}) {
    for (uint64_t i = 0; i < pages; ++i) {
      const uint64_t at = *plain + i * page();
      Table* const table = Lowest(at);
      const uint32_t index = IndexIn(kLowest, at);
      if (table == nullptr || table->pages[index].users == 0) {
        return absl::NotFoundError(
            absl::StrFormat("the page at 0x%x is not mapped to compression data: it was never "
                            "mapped, or was unmapped as often as it was mapped",
                            Canonical(at, bits())));
      }
      if (check || --table->pages[index].users != 0) continue;
      Write(*table, index, table->pages[index].entry & ~hardware_.valid);
      --table->used;
      --statistics_.pages;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<AuxRange> AuxTable::Find(uint64_t surface) const {
  const std::optional<uint64_t> plain = PlainIfAddress(surface, bits());
  if (plain.has_value()) {
    const uint64_t begin = *plain & ~(page() - 1);
    MutexLock lock(mutex_);
    const Table* const table = Lowest(begin);
    if (table != nullptr) {
      const Page& page = table->pages[IndexIn(kLowest, begin)];
      if (page.users != 0) {
        return AuxRange{Canonical(begin, bits()), Canonical(page.auxiliary, bits()), this->page(),
                        page.format};
      }
    }
  }
  return absl::NotFoundError(absl::StrFormat("0x%x is not mapped to compression data", surface));
}

uint64_t AuxTable::version() const {
  MutexLock lock(mutex_);
  return version_;
}

absl::Status AuxTable::AddTo(gpu::Residency& residency) const {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  for (const auto& [buffer, tables] : buffers_) {
    const absl::Status status = residency.Add(buffer, /*written=*/false);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AuxTable::FreeEmpty(Table& table, bool& any) {
  for (uint32_t index = 0; index < table.below.size(); ++index) {
    std::unique_ptr<Table>& below = table.below[index];
    if (below == nullptr) continue;
    absl::Status status = FreeEmpty(*below, any);
    if (!status.ok()) return status;
    if (below->used != 0) continue;
    Write(table, index, 0);
    --table.used;
    any = true;
    status = FreeTable(*below);
    below = nullptr;
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AuxTable::Trim() {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  bool any = false;
  const absl::Status status = FreeEmpty(root_, any);
  if (any) ++version_;
  return status;
}

AuxTableStatistics AuxTable::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

}  // namespace packsmith::intel
