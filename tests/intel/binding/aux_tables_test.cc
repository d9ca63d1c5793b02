// The table from surfaces to their compression data: as a walker of its levels finds it, compared
// with a map, and with a table that a driver has made.
#include "runtime/intel/binding/aux_tables.h"

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/base/addresses.h"
#include "runtime/dump/read.h"
#include "runtime/intel/memory/driver_zones.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {
namespace {

// A qword of GPU memory; empty if it is not mapped.
using Reader = std::function<std::optional<uint64_t>(uint64_t address)>;

template <class Entry>
Entry Unpack(uint64_t bits) {
  const uint32_t dwords[] = {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  return Entry::unpack(dwords);
}

// What the hardware does: an address's entry in the lowest level; 0 if there is none.
template <class Gen>
uint64_t Walk(const Reader& read, uint64_t base, uint64_t surface) {
  using G = typename Gen::Packets;
  const auto split = Unpack<typename G::AUX_TABLE_ADDRESS>(surface);
  const auto l3 = Unpack<typename G::AUX_TABLE_L3_ENTRY>(read(base + 8 * split.l3_index).value());
  if (!l3.valid) return 0;
  const auto l2 = Unpack<typename G::AUX_TABLE_L2_ENTRY>(
      read(l3.l2_table_address.gpu + 8 * split.l2_index).value());
  if (!l2.valid) return 0;
  const uint64_t entry = read(l2.l1_table_address.gpu + 8 * split.l1_index).value();
  return Unpack<typename G::AUX_TABLE_L1_ENTRY>(entry).valid ? entry : 0;
}

template <class Gen>
uint64_t AuxiliaryOf(uint64_t entry) {
  return Unpack<typename Gen::Packets::AUX_TABLE_L1_ENTRY>(entry).auxiliary_address.gpu;
}

template <class Gen>
class AuxTablesTest : public testing::Test {
 protected:
  AuxTablesTest()
      : memory_(AnvZones(), Gen::kVersion, Gen::kName),
        pool_(Pool(64 * gpu::kMiB)),
        table_(Value(AuxTable::Create(*pool_, kHardware))) {}

  std::unique_ptr<gpu::StatePool> Pool(uint64_t bytes) {
    return Value(gpu::StatePool::Create(*memory_.buffers, *memory_.space,
                                        {.zone = memory_.Zone("aux tables"),
                                         .end = bytes,
                                         .first_block = 64 * gpu::kKiB,
                                         .largest_block = 64 * gpu::kKiB}));
  }
  Reader FromDevice() const {
    return [this](uint64_t address) -> std::optional<uint64_t> {
      uint64_t value = 0;
      const absl::Status status = memory_.host->Read(
          0, address, absl::MakeSpan(reinterpret_cast<uint8_t*>(&value), sizeof(value)));
      EXPECT_TRUE(status.ok()) << status;
      return status.ok() ? std::optional(value) : std::nullopt;
    };
  }
  uint64_t EntryOf(uint64_t surface) const {
    return Walk<Gen>(FromDevice(), table_->base(), surface);
  }

  static constexpr AuxTableHardware kHardware = AuxTableHardwareOf<Gen>();
  static constexpr uint64_t kPage = kHardware.page();
  static constexpr uint64_t kAuxiliary = kPage / kHardware.auxiliary_ratio;

  BindingMemory memory_;
  std::unique_ptr<gpu::StatePool> pool_;
  std::unique_ptr<AuxTable> table_;
};

template <class Gen>
struct HasTable : std::bool_constant<HasAuxTable<Gen>> {};
using AuxGenerations = GenerationsWith<HasTable>;
TYPED_TEST_SUITE(AuxTablesTest, AuxGenerations);

TYPED_TEST(AuxTablesTest, APageIsWhatTheGenerationSays) {
  constexpr bool kGfx12 = TypeParam::kVersion == 120;
  EXPECT_EQ(this->kPage, kGfx12 ? 64 * gpu::kKiB : gpu::kMiB);
  EXPECT_EQ(this->kHardware.auxiliary_ratio, 256u);
  EXPECT_EQ(this->kHardware.auxiliary_alignment, kGfx12 ? 256u : 4096u);
  EXPECT_EQ(this->table_->base() % (32 * gpu::kKiB), 0u);
}

TYPED_TEST(AuxTablesTest, EachPageOfASurfaceLeadsToItsOwnCompressionData) {
  // Across a table of the lowest level, one of the middle one, and in the upper half.
  for (const uint64_t end : {uint64_t{1} << 24, uint64_t{1} << 36, uint64_t{0xffff} << 32}) {
    const uint64_t surface = Canonical(end - 2 * this->kPage, 48);
    const uint64_t auxiliary = Canonical(0xfffe12340000, 48);
    ASSERT_TRUE(
        this->table_->Map({.surface = surface, .auxiliary = auxiliary, .size = 4 * this->kPage - 1})
            .ok());
    for (uint64_t i = 0; i < 4; ++i) {
      const uint64_t page = surface + i * this->kPage;
      EXPECT_EQ(Plain(AuxiliaryOf<TypeParam>(this->EntryOf(page + i)), 48),
                Plain(auxiliary + i * this->kAuxiliary, 48));
      const AuxRange found = Value(this->table_->Find(page + 17));
      EXPECT_EQ(found.surface, page);
      EXPECT_EQ(found.auxiliary, auxiliary + i * this->kAuxiliary);
      EXPECT_EQ(found.size, this->kPage);
    }
    EXPECT_EQ(this->EntryOf(surface - 1), 0u);
    EXPECT_EQ(this->EntryOf(surface + 4 * this->kPage), 0u);
    EXPECT_FALSE(this->table_->Find(surface + 4 * this->kPage).ok());
  }
  EXPECT_EQ(this->table_->statistics().pages, 12u);
}

TYPED_TEST(AuxTablesTest, WhatIsMappedTwiceIsUnmappedTwice) {
  const AuxRange range{
      .surface = 8 * gpu::kGiB, .auxiliary = 9 * gpu::kGiB, .size = 3 * this->kPage};
  ASSERT_TRUE(this->table_->Map(range).ok());
  ASSERT_TRUE(this->table_->Map({range.surface, range.auxiliary, this->kPage}).ok());
  ASSERT_TRUE(this->table_->Unmap(range.surface, range.size).ok());
  EXPECT_NE(this->EntryOf(range.surface), 0u);
  EXPECT_EQ(this->EntryOf(range.surface + this->kPage), 0u);
  EXPECT_EQ(this->table_->statistics().pages, 1u);
  EXPECT_EQ(this->table_->Unmap(range.surface, range.size).code(), absl::StatusCode::kNotFound);
  EXPECT_NE(this->EntryOf(range.surface), 0u) << "what fails changes nothing";
  ASSERT_TRUE(this->table_->Unmap(range.surface, this->kPage).ok());
  EXPECT_EQ(this->EntryOf(range.surface), 0u);
  EXPECT_EQ(this->table_->Unmap(range.surface, this->kPage).code(), absl::StatusCode::kNotFound);
}

TYPED_TEST(AuxTablesTest, APageDoesNotLeadToTwoPlaces) {
  const uint64_t surface = 8 * gpu::kGiB;
  ASSERT_TRUE(
      this->table_
          ->Map({.surface = surface + this->kPage, .auxiliary = 9 * gpu::kGiB, .size = this->kPage})
          .ok());
  const absl::Status status =
      this->table_->Map({.surface = surface, .auxiliary = 10 * gpu::kGiB, .size = 3 * this->kPage});
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_NE(status.message().find(absl::StrCat("0x", absl::Hex(surface + this->kPage))),
            std::string::npos)
      << status;
  EXPECT_EQ(this->EntryOf(surface), 0u);
  EXPECT_EQ(this->EntryOf(surface + 2 * this->kPage), 0u);
  EXPECT_EQ(this->table_->statistics().pages, 1u);
  const absl::Status format = this->table_->Map({.surface = surface + this->kPage,
                                                 .auxiliary = 9 * gpu::kGiB,
                                                 .size = this->kPage,
                                                 .format = AuxFormat{uint64_t{1} << 58}});
  EXPECT_EQ(format.code(), absl::StatusCode::kAlreadyExists);
}

TYPED_TEST(AuxTablesTest, RefusesWhatIsNoSurface) {
  const uint64_t good = 8 * gpu::kGiB, top = uint64_t{1} << 48;
  const AuxRange kWrong[] = {
      {.surface = good, .auxiliary = good, .size = 0},
      {.surface = good + this->kPage / 2, .auxiliary = good, .size = 1},
      {.surface = good, .auxiliary = good + this->kAuxiliary / 2, .size = 1},
      {.surface = uint64_t{1} << 50, .auxiliary = good, .size = 1},
      {.surface = good, .auxiliary = uint64_t{1} << 50, .size = 1},
      {.surface = good, .auxiliary = good, .size = ~uint64_t{0}},
      {.surface = good, .auxiliary = good, .size = top - good + 1},
      {.surface = top - this->kPage, .auxiliary = good, .size = this->kPage + 1},
      {.surface = good, .auxiliary = top - this->kAuxiliary, .size = this->kPage + 1},
  };
  for (const AuxRange& range : kWrong) {
    EXPECT_EQ(this->table_->Map(range).code(), absl::StatusCode::kInvalidArgument)
        << std::hex << range.surface << " " << range.auxiliary << " " << range.size;
  }
  EXPECT_FALSE(this->table_->Unmap(good, 0).ok());
  EXPECT_FALSE(this->table_->Unmap(good, ~uint64_t{0}).ok());
  EXPECT_FALSE(this->table_->Unmap(good + 1, 1).ok());
  EXPECT_FALSE(this->table_->Find(uint64_t{1} << 50).ok());
  EXPECT_EQ(this->table_->statistics().pages, 0u);
  // The last page of the address space can be mapped.
  EXPECT_TRUE(this->table_
                  ->Map({.surface = top - this->kPage,
                         .auxiliary = top - this->kAuxiliary,
                         .size = this->kPage})
                  .ok());
}

TYPED_TEST(AuxTablesTest, EnginesHaveToForgetWhatHasChangedAndNothingElse) {
  const uint64_t surface = 8 * gpu::kGiB;
  const uint64_t begin = this->table_->version();
  ASSERT_TRUE(this->table_->Map({surface, 9 * gpu::kGiB, 2 * this->kPage}).ok());
  ASSERT_TRUE(this->table_->Unmap(surface, 2 * this->kPage).ok());
  ASSERT_TRUE(this->table_->Map({surface, 9 * gpu::kGiB, 2 * this->kPage}).ok());
  EXPECT_EQ(this->table_->version(), begin) << "the same as it was";
  ASSERT_TRUE(this->table_->Unmap(surface, 2 * this->kPage).ok());
  ASSERT_TRUE(this->table_->Map({surface, 10 * gpu::kGiB, this->kPage}).ok());
  EXPECT_EQ(this->table_->version(), begin + 1);
  ASSERT_TRUE(this->table_->Unmap(surface, this->kPage).ok());
  EXPECT_EQ(this->table_->version(), begin + 1);
}

TYPED_TEST(AuxTablesTest, TablesWithNothingInThemAreGivenBack) {
  const AuxTableStatistics before = this->table_->statistics();
  for (uint64_t i = 1; i < 9; ++i) {
    ASSERT_TRUE(this->table_->Map({i << 37, 9 * gpu::kGiB, this->kPage}).ok());
  }
  EXPECT_EQ(this->table_->statistics().tables, 1u + 8 * 2);
  for (uint64_t i = 2; i < 9; ++i) {
    ASSERT_TRUE(this->table_->Unmap(i << 37, this->kPage).ok());
  }
  const uint64_t version = this->table_->version();
  ASSERT_TRUE(this->table_->Trim().ok());
  EXPECT_EQ(this->table_->version(), version + 1);
  EXPECT_EQ(this->table_->statistics().tables, 3u);
  EXPECT_NE(this->EntryOf(uint64_t{1} << 37), 0u);
  EXPECT_EQ(this->EntryOf(uint64_t{2} << 37), 0u);
  ASSERT_TRUE(this->table_->Trim().ok());
  EXPECT_EQ(this->table_->version(), version + 1) << "there was nothing to give back";
  ASSERT_TRUE(this->table_->Unmap(uint64_t{1} << 37, this->kPage).ok());
  ASSERT_TRUE(this->table_->Trim().ok());
  EXPECT_EQ(this->table_->statistics().tables, before.tables);
  EXPECT_EQ(this->table_->statistics().memory_bytes, before.memory_bytes);
  this->table_ = nullptr;
  EXPECT_EQ(this->pool_->statistics().live_states, 0u);
}

TYPED_TEST(AuxTablesTest, WhenThereIsNoRoomForATableNothingIsMapped) {
  // However many tables there is room for, a surface in two of the highest level's
  // entries is mapped whole or not at all.
  for (uint64_t room = 1; room < 8; ++room) {
    this->table_ = nullptr;
    this->pool_ = this->Pool(room * 64 * gpu::kKiB);
    auto made = AuxTable::Create(*this->pool_, this->kHardware);
    ASSERT_TRUE(made.ok()) << made.status();
    this->table_ = *std::move(made);
    const uint64_t surface = (uint64_t{1} << 37) - this->kPage;
    const absl::Status status = this->table_->Map({surface, 9 * gpu::kGiB, 2 * this->kPage});
    EXPECT_EQ(status.ok(), room >= 2) << status;
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(this->EntryOf(surface), 0u);
    EXPECT_EQ(this->EntryOf(surface + this->kPage), 0u);
    EXPECT_EQ(this->table_->statistics().pages, 0u);
    ASSERT_TRUE(this->table_->Trim().ok());
    EXPECT_EQ(this->table_->statistics().tables, 1u);
  }
}

TYPED_TEST(AuxTablesTest, EachStepOfMappingCanFailAndBeTriedAgain) {
  const AuxRange range{(uint64_t{1} << 40) - this->kPage, 9 * gpu::kGiB, 2 * this->kPage};
  for (int step = 0;; ++step) {
    ASSERT_LT(step, 30);
    this->memory_.device.FailAfter(step);
    const absl::Status status = this->table_->Map(range);
    const bool failed = this->memory_.device.failed();
    this->memory_.device.FailAfter(-1);
    if (status.ok()) {
      EXPECT_GT(step, 0) << "tables take memory";
      break;
    }
    EXPECT_TRUE(failed);
    EXPECT_EQ(this->EntryOf(range.surface), 0u);
    EXPECT_EQ(this->table_->statistics().pages, 0u);
  }
  EXPECT_NE(this->EntryOf(range.surface), 0u);
  EXPECT_NE(this->EntryOf(range.surface + this->kPage), 0u);
}

TYPED_TEST(AuxTablesTest, AgreesWithAMapWhateverIsDone) {
  std::mt19937_64 random(1);
  struct Mapped {
    uint64_t auxiliary;
    int users;
  };
  std::map<uint64_t, Mapped> model;  // by page
  std::vector<AuxRange> live;
  for (int step = 0; step < 2000; ++step) {
    if (random() % 16 == 0) {
      ASSERT_TRUE(this->table_->Trim().ok());
    } else if (live.empty() || random() % 2 == 0) {
      const uint64_t number = (random() % 4) << 20 | random() % 24;
      const AuxRange range{number * this->kPage,
                           (uint64_t{1} << 40) + (number + random() % 2) * this->kAuxiliary,
                           (1 + random() % 3) * this->kPage};
      bool fits = true;
      for (uint64_t i = 0; i * this->kPage < range.size; ++i) {
        const auto page = model.find(number + i);
        fits &=
            page == model.end() || page->second.auxiliary == range.auxiliary + i * this->kAuxiliary;
      }
      ASSERT_EQ(this->table_->Map(range).ok(), fits);
      if (!fits) continue;
      for (uint64_t i = 0; i * this->kPage < range.size; ++i) {
        model.try_emplace(number + i, Mapped{range.auxiliary + i * this->kAuxiliary, 0})
            .first->second.users++;
      }
      live.push_back(range);
    } else {
      std::swap(live[random() % live.size()], live.back());
      const AuxRange gone = live.back();
      live.pop_back();
      ASSERT_TRUE(this->table_->Unmap(gone.surface, gone.size).ok());
      for (uint64_t at = gone.surface / this->kPage; at < (gone.surface + gone.size) / this->kPage;
           ++at) {
        if (--model[at].users == 0) model.erase(at);
      }
    }
    ASSERT_EQ(this->table_->statistics().pages, model.size());
    if (step % 50 != 0) continue;
    for (uint64_t high = 0; high < 4; ++high) {
      for (uint64_t low = 0; low < 28; ++low) {
        const uint64_t number = high << 20 | low;
        const uint64_t entry = this->EntryOf(number * this->kPage);
        const auto page = model.find(number);
        ASSERT_EQ(entry != 0, page != model.end());
        if (entry != 0) {
          ASSERT_EQ(AuxiliaryOf<TypeParam>(entry), page->second.auxiliary);
        }
      }
    }
  }
}

TYPED_TEST(AuxTablesTest, AJobReadsEachBufferOfTheTable) {
  for (uint64_t i = 1; i < 9; ++i) {
    ASSERT_TRUE(this->table_->Map({i << 37, 9 * gpu::kGiB, this->kPage}).ok());
  }
  gpu::Residency residency(*this->memory_.buffers);
  ASSERT_TRUE(this->table_->AddTo(residency).ok());
  EXPECT_EQ(residency.handles().size(), this->pool_->statistics().blocks);
  for (const gpu::Resident& resident : residency.residents()) EXPECT_FALSE(resident.written);
}

TYPED_TEST(AuxTablesTest, ThreadsMayMapAtOnce) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      for (uint64_t i = 0; i < 100; ++i) {
        const AuxRange range{(t << 37) + i * this->kPage, 9 * gpu::kGiB, this->kPage};
        EXPECT_TRUE(this->table_->Map(range).ok());
        EXPECT_TRUE(this->table_->Find(range.surface).ok());
        if (i % 2 == 0) {
          EXPECT_TRUE(this->table_->Unmap(range.surface, range.size).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->table_->statistics().pages, 150u);
}

TYPED_TEST(AuxTablesTest, EnginesAreToldWhereItIsAndHaveToForget) {
  using G = typename TypeParam::Packets;
  const address scratch(0x5000, 7, access::write);
  for (const AuxEngine engine :
       {AuxEngine::kRender, AuxEngine::kCompute, AuxEngine::kVideo, AuxEngine::kCopy}) {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    const bool has = engine != AuxEngine::kCopy || TypeParam::kVersion == 125;
    EXPECT_EQ(EmitAuxTableBase(batch, engine, this->table_->base()), has);
    if (!has) {
      EXPECT_EQ(batch.TakeStatus().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(EmitAuxInvalidation(batch, engine, scratch));
      EXPECT_EQ(batch.dwords(), 0u);
      continue;
    }
    EXPECT_TRUE(EmitAuxInvalidation(batch, engine, scratch));
    ASSERT_TRUE(batch.End().ok());
    const std::vector<uint32_t> words = PacketsOf(batch);
    using Load = typename G::MI_LOAD_REGISTER_IMM;
    const Load low = Load::unpack(&words[0]), high = Load::unpack(&words[Load::length]);
    EXPECT_EQ(high.register_offset_, low.register_offset_ + 4);
    EXPECT_EQ(low.data_dword | uint64_t{high.data_dword} << 32, this->table_->base());
    const bool pipe = engine == AuxEngine::kRender || engine == AuxEngine::kCompute;
    const size_t flush = 2 * Load::length;
    const size_t load = flush + (pipe ? G::PIPE_CONTROL::length : G::MI_FLUSH_DW::length);
    if (pipe) {
      const auto control = G::PIPE_CONTROL::unpack(&words[flush]);
      EXPECT_TRUE(control.command_streamer_stall_enable);
      EXPECT_TRUE(control.dc_flush_enable);
      EXPECT_EQ(control.render_target_cache_flush_enable, engine == AuxEngine::kRender);
      EXPECT_EQ(control.address.gpu, 0x5000u);
      EXPECT_TRUE(batch.uses().Find(7)->writes());
    }
    const Load forget = Load::unpack(&words[load]);
    const auto wait = G::MI_SEMAPHORE_WAIT::unpack(&words[load + Load::length]);
    EXPECT_EQ(forget.data_dword, 1u);
    EXPECT_EQ(forget.register_offset_, low.register_offset_ + 8);
    EXPECT_TRUE(wait.register_poll_mode);
    EXPECT_EQ(wait.semaphore_address.gpu, forget.register_offset_);
    EXPECT_EQ(words.size(), load + Load::length + G::MI_SEMAPHORE_WAIT::length);
  }
}

TEST(AuxFormats, AreWhatEntriesCallThem) {
  const auto entry = [](uint32_t format, SurfaceTiling tiling) {
    return Unpack<gfx12::AUX_TABLE_L1_ENTRY>(
        static_cast<uint64_t>(Value(AuxFormatOf<Gfx12>(format, tiling))));
  };
  using E = gfx12::AUX_TABLE_L1_ENTRY;
  EXPECT_EQ(entry(SurfaceFormat::R8G8B8A8_UNORM, SurfaceTiling::kY).format, E::FORMAT_UNORM8);
  EXPECT_EQ(entry(SurfaceFormat::R8G8B8A8_UNORM, SurfaceTiling::kY).depth, E::DEPTH_32);
  EXPECT_EQ(entry(SurfaceFormat::R8G8B8A8_UNORM, SurfaceTiling::kY).tile_mode, E::TILE_MODE_Y);
  EXPECT_EQ(entry(SurfaceFormat::R8_UINT, SurfaceTiling::kYs).tile_mode, E::TILE_MODE_YS);
  EXPECT_EQ(entry(SurfaceFormat::R8_UINT, SurfaceTiling::kYs).depth, E::DEPTH_8);
  EXPECT_FALSE(entry(SurfaceFormat::R8_UINT, SurfaceTiling::kYs).valid);
  EXPECT_FALSE(AuxFormatOf<Gfx12>(SurfaceFormat::R32G32B32_FLOAT, SurfaceTiling::kY).ok());
  EXPECT_FALSE(AuxFormatOf<Gfx12>(SurfaceFormat::R8_UINT, SurfaceTiling::kX).ok());
  EXPECT_EQ(Value(AuxFormatOf<Gfx125>(SurfaceFormat::R8_UINT, SurfaceTiling::k4)), AuxFormat{});
}

// iris on Tiger Lake has compressed its depth and stencil buffers. Its table, made anew for
// surfaces of these formats, has the same entries, bit for bit.
TEST(AuxTableOfADriver, IsMadeAgainBitForBit) {
  absl::StatusOr<Dump> dump = ReadDump("tests/data/captures/tgl-gl-basic/04.core.zst");
  ASSERT_TRUE(dump.ok()) << dump.status();
  // As GFX_AUX_TABLE_BASE_ADDR has it, in the first submission.
  const uint64_t base = 0xfffefff00000;
  const Reader read = [&](uint64_t address) -> std::optional<uint64_t> {
    uint64_t value = 0;
    const absl::Span<const uint8_t> bytes = dump->memory.Read(0, Plain(address, 48), 8);
    // Memory after a segment's bytes reads as zero.
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  };
  using E = gfx12::AUX_TABLE_L1_ENTRY;
  constexpr AuxTableHardware kHardware = AuxTableHardwareOf<Gfx12>();
  std::map<uint64_t, uint64_t> theirs;  // entries by page
  for (uint64_t l3 = 0; l3 < 4096; ++l3) {
    const auto upper = Unpack<gfx12::AUX_TABLE_L3_ENTRY>(*read(base + 8 * l3));
    for (uint64_t l2 = 0; upper.valid && l2 < 4096; ++l2) {
      const auto middle =
          Unpack<gfx12::AUX_TABLE_L2_ENTRY>(*read(upper.l2_table_address.gpu + 8 * l2));
      for (uint64_t l1 = 0; middle.valid && l1 < 256; ++l1) {
        const uint64_t page = l3 << 36 | l2 << 24 | l1 << 16;
        if (const uint64_t entry = Walk<Gfx12>(read, base, page)) theirs[page] = entry;
      }
    }
  }
  ASSERT_GT(theirs.size(), 1u);

  BindingMemory memory(AnvZones(), 120, "gfx12");
  const auto pool = memory.Pool("aux tables", memory.Begin("aux tables"));
  const auto table = Value(AuxTable::Create(*pool, kHardware));
  std::set<uint32_t> formats;
  for (const auto& [page, entry] : theirs) {
    const E e = Unpack<E>(entry);
    EXPECT_EQ(e.tile_mode, E::TILE_MODE_Y);
    const uint32_t format = e.format == E::FORMAT_UINT32  ? SurfaceFormat::R24_UNORM_X8_TYPELESS
                            : e.format == E::FORMAT_UINT8 ? SurfaceFormat::R8_UINT
                                                          : SurfaceFormat::R8G8B8A8_UNORM;
    formats.insert(format);
    const AuxFormat same = Value(AuxFormatOf<Gfx12>(format, SurfaceTiling::kY));
    ASSERT_TRUE(
        table
            ->Map(
                {.surface = page, .auxiliary = e.auxiliary_address.gpu, .size = 1, .format = same})
            .ok());
  }
  EXPECT_EQ(formats.size(), 3u);
  const Reader ours = [&](uint64_t address) -> std::optional<uint64_t> {
    uint64_t value = 0;
    EXPECT_TRUE(
        memory.host
            ->Read(0, address, absl::MakeSpan(reinterpret_cast<uint8_t*>(&value), sizeof(value)))
            .ok());
    return value;
  };
  for (const auto& [page, entry] : theirs) {
    EXPECT_EQ(Walk<Gfx12>(ours, table->base(), page), entry) << std::hex << page;
  }
}

}  // namespace
}  // namespace packsmith::intel
