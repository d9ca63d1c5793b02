// The part of the auxiliary table (runtime/intel/memory/aux_table.h) that depends on the
// generation: its entries, and how engines learn of it.
//
//   auto table = AuxTable::Create(pool, AuxTableHardwareOf<Gfx12>());
//   EmitAuxTableBase(batch, AuxEngine::kRender, (*table)->base());     // once for each context
//   ...
//   if ((*table)->version() != known) EmitAuxInvalidation(batch, AuxEngine::kRender, scratch);
//
// For Gfx12 and Gfx12.5, except DG2, which has no such table. Sources: what Mesa's drivers do, and
// the workaround HSD 22012751911 that they quote.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_AUX_TABLES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_AUX_TABLES_H_

#include <array>
#include <bit>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/memory/aux_table.h"

namespace packsmith::intel {

template <class Gen>
concept HasAuxTable = requires {
  typename Gen::Packets::AUX_TABLE_L1_ENTRY;
};

// Engines that have their own register for the table.
enum class AuxEngine : uint8_t { kRender, kCompute, kVideo, kCopy };

namespace aux_tables {

// Which bits of an address are the index into each level's table.
template <class Address>
constexpr std::array<AuxTableHardware::Level, AuxTableHardware::kLevels> LevelsIn() {
  static_assert(AuxTableHardware::kLevels == 3);
  constexpr MemberBits kIndices[] = {MemberBitsIn<Address>("l1_index"),
                                     MemberBitsIn<Address>("l2_index"),
                                     MemberBitsIn<Address>("l3_index")};
  std::array<AuxTableHardware::Level, AuxTableHardware::kLevels> levels = {};
  for (size_t i = 0; i < levels.size(); ++i) {
    levels[i].index_bit = kIndices[i].bit;
    levels[i].index_bits = kIndices[i].width;
  }
  return levels;
}

// The alignment of the address in an entry, in bytes.
template <class Entry>
constexpr uint64_t AlignmentIn() {
  uint64_t alignment = 0;
  const auto note = [&](const address&, unsigned dword, unsigned bit, unsigned, access) {
    alignment = uint64_t{1} << (dword * 32 + bit);
  };
  bits::addresses(Entry{}, note);
  return alignment;
}

template <class Entry>
constexpr uint64_t Packed(const Entry& entry) {
  static_assert(Entry::length == 2);
  const auto dwords = packed(entry);
  return dwords.dw[0] | uint64_t{dwords.dw[1]} << 32;
}

// A format that can be compressed, and its codes in entries.
struct FormatRow {
  uint32_t format;
  uint32_t channels;
  uint32_t depth;
};

template <class Entry>
constexpr auto FormatRows() {
  using S = SurfaceFormat;
  using E = Entry;
  return std::to_array<FormatRow>({
      {S::R32G32B32A32_FLOAT, E::FORMAT_FLOAT32, E::DEPTH_128},
      {S::R32G32B32X32_FLOAT, E::FORMAT_FLOAT32, E::DEPTH_128},
      {S::R32G32B32A32_SINT, E::FORMAT_SINT32, E::DEPTH_128},
      {S::R32G32B32A32_UINT, E::FORMAT_UINT32, E::DEPTH_128},
      {S::R16G16B16A16_UNORM, E::FORMAT_UNORM16, E::DEPTH_64},
      {S::R16G16B16A16_SNORM, E::FORMAT_SNORM16, E::DEPTH_64},
      {S::R16G16B16A16_SINT, E::FORMAT_SINT16, E::DEPTH_64},
      {S::R16G16B16A16_UINT, E::FORMAT_UINT16, E::DEPTH_64},
      {S::R16G16B16A16_FLOAT, E::FORMAT_FLOAT16, E::DEPTH_64},
      {S::R16G16B16X16_FLOAT, E::FORMAT_FLOAT16, E::DEPTH_64},
      {S::R32G32_FLOAT, E::FORMAT_FLOAT32, E::DEPTH_64},
      {S::R32G32_SINT, E::FORMAT_SINT32, E::DEPTH_64},
      {S::R32G32_UINT, E::FORMAT_UINT32, E::DEPTH_64},
      {S::B8G8R8A8_UNORM, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::B8G8R8A8_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::B8G8R8X8_UNORM, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::R8G8B8A8_UNORM, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::R8G8B8A8_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::R8G8B8X8_UNORM, E::FORMAT_UNORM8, E::DEPTH_32},
      {S::R8G8B8A8_SNORM, E::FORMAT_SNORM8, E::DEPTH_32},
      {S::R8G8B8A8_SINT, E::FORMAT_SINT8, E::DEPTH_32},
      {S::R8G8B8A8_UINT, E::FORMAT_UINT8, E::DEPTH_32},
      {S::R10G10B10A2_UNORM, E::FORMAT_UNORM10_10_10_2, E::DEPTH_32},
      {S::R10G10B10A2_UNORM_SRGB, E::FORMAT_UNORM10_10_10_2, E::DEPTH_32},
      {S::R10G10B10_FLOAT_A2_UNORM, E::FORMAT_FLOAT10_10_10_2, E::DEPTH_32},
      {S::R10G10B10A2_UINT, E::FORMAT_UINT10_10_10_2, E::DEPTH_32},
      {S::B10G10R10A2_UNORM, E::FORMAT_UNORM10_10_10_2, E::DEPTH_32},
      {S::B10G10R10A2_UNORM_SRGB, E::FORMAT_UNORM10_10_10_2, E::DEPTH_32},
      {S::R11G11B10_FLOAT, E::FORMAT_FLOAT11_11_10, E::DEPTH_32},
      {S::R16G16_UNORM, E::FORMAT_UNORM16, E::DEPTH_32},
      {S::R16G16_SNORM, E::FORMAT_SNORM16, E::DEPTH_32},
      {S::R16G16_SINT, E::FORMAT_SINT16, E::DEPTH_32},
      {S::R16G16_UINT, E::FORMAT_UINT16, E::DEPTH_32},
      {S::R16G16_FLOAT, E::FORMAT_FLOAT16, E::DEPTH_32},
      {S::R32_SINT, E::FORMAT_SINT32, E::DEPTH_32},
      {S::R32_UINT, E::FORMAT_UINT32, E::DEPTH_32},
      {S::R32_FLOAT, E::FORMAT_FLOAT32, E::DEPTH_32},
      {S::R24_UNORM_X8_TYPELESS, E::FORMAT_UINT32, E::DEPTH_32},
      {S::B5G6R5_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B5G6R5_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B5G5R5A1_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B5G5R5A1_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B5G5R5X1_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B5G5R5X1_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::A1B5G5R5_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B4G4R4A4_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::B4G4R4A4_UNORM_SRGB, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::A4B4G4R4_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::R8G8_UNORM, E::FORMAT_UNORM8, E::DEPTH_16},
      {S::R8G8_SNORM, E::FORMAT_SNORM8, E::DEPTH_16},
      {S::R8G8_SINT, E::FORMAT_SINT8, E::DEPTH_16},
      {S::R8G8_UINT, E::FORMAT_UINT8, E::DEPTH_16},
      {S::R16_UNORM, E::FORMAT_UNORM16, E::DEPTH_16},
      {S::R16_SNORM, E::FORMAT_SNORM16, E::DEPTH_16},
      {S::R16_SINT, E::FORMAT_SINT16, E::DEPTH_16},
      {S::R16_UINT, E::FORMAT_UINT16, E::DEPTH_16},
      {S::R16_FLOAT, E::FORMAT_FLOAT16, E::DEPTH_16},
      {S::R8_UNORM, E::FORMAT_UNORM8, E::DEPTH_8},
      {S::R8_SNORM, E::FORMAT_SNORM8, E::DEPTH_8},
      {S::R8_SINT, E::FORMAT_SINT8, E::DEPTH_8},
      {S::R8_UINT, E::FORMAT_UINT8, E::DEPTH_8},
      {S::A8_UNORM, E::FORMAT_UNORM8, E::DEPTH_8},
  });
}

}  // namespace aux_tables

template <HasAuxTable Gen>
constexpr AuxTableHardware AuxTableHardwareOf() {
  using G = typename Gen::Packets;
  using L1 = typename G::AUX_TABLE_L1_ENTRY;
  using L2 = typename G::AUX_TABLE_L2_ENTRY;
  using L3 = typename G::AUX_TABLE_L3_ENTRY;
  AuxTableHardware hardware;
  hardware.levels = aux_tables::LevelsIn<typename G::AUX_TABLE_ADDRESS>();
  hardware.levels[0].alignment = aux_tables::AlignmentIn<L2>();
  hardware.levels[1].alignment = aux_tables::AlignmentIn<L3>();
  // The registers take any address; tables of the two upper levels have the same alignment.
  hardware.levels[2].alignment = hardware.levels[1].alignment;
  hardware.table_entry[1] = [](uint64_t table) {
    return aux_tables::Packed(L2{.valid = true, .l1_table_address = table});
  };
  hardware.table_entry[2] = [](uint64_t table) {
    return aux_tables::Packed(L3{.valid = true, .l2_table_address = table});
  };
  hardware.surface_entry = [](uint64_t auxiliary) {
    return aux_tables::Packed(L1{.valid = true, .auxiliary_address = auxiliary});
  };
  hardware.valid = aux_tables::Packed(L1{.valid = true});
  hardware.auxiliary_alignment = aux_tables::AlignmentIn<L1>();
  // A page has as much compression data as the alignment of an entry's address.
  hardware.auxiliary_ratio = hardware.page() / hardware.auxiliary_alignment;
  return hardware;
}

// InvalidArgument for formats and tilings that cannot be compressed. From Gfx12.5 on the format is
// in the surface's state only, not in entries.
template <HasAuxTable Gen>
absl::StatusOr<AuxFormat> AuxFormatOf(uint32_t format, SurfaceTiling tiling) {
  using Entry = typename Gen::Packets::AUX_TABLE_L1_ENTRY;
  if constexpr (requires(Entry entry) { entry.format; }) {
    static constexpr auto kRows = aux_tables::FormatRows<Entry>();
    const bool ys = tiling == SurfaceTiling::kYs;
    for (const aux_tables::FormatRow& row : kRows) {
      if (row.format != format || (tiling != SurfaceTiling::kY && !ys)) continue;
      return AuxFormat{
          aux_tables::Packed(Entry{.tile_mode = ys ? Entry::TILE_MODE_YS : Entry::TILE_MODE_Y,
                                   .depth = row.depth,
                                   .format = row.channels})};
    }
    return absl::InvalidArgumentError(
        absl::StrFormat("%s cannot compress surfaces of format 0x%x and tiling %d", Gen::kName,
                        format, static_cast<int>(tiling)));
  } else {
    return AuxFormat{};
  }
}

namespace aux_tables {

// Calls use(base register, invalidation register) with those of an engine; false if it has none.
template <class Gen, class Use>
bool WithRegisters(AuxEngine engine, const Use& use) {
  using G = typename Gen::Packets;
  switch (engine) {
    case AuxEngine::kRender:
      return use(typename G::GFX_AUX_TABLE_BASE_ADDR(), typename G::GFX_CCS_AUX_INV());
    case AuxEngine::kCompute:
      return use(typename G::COMPCS0_AUX_TABLE_BASE_ADDR(), typename G::COMPCS0_CCS_AUX_INV());
    case AuxEngine::kVideo:
      return use(typename G::VD0_AUX_TABLE_BASE_ADDR(), typename G::VD0_CCS_AUX_INV());
    case AuxEngine::kCopy:
      if constexpr (requires { typename G::BCS_AUX_TABLE_BASE_ADDR; }) {
        return use(typename G::BCS_AUX_TABLE_BASE_ADDR(), typename G::BCS_CCS_AUX_INV());
      }
      break;
  }
  return false;
}

template <class Gen>
bool RefuseEngine(Batch<Gen>& batch) {
  return batch.Refuse(absl::InvalidArgumentError(
      absl::StrFormat("%s has no auxiliary table register for this engine", Gen::kName)));
}

}  // namespace aux_tables

// Sets the table's address of an engine: once, before a context's first compressed surface. base:
// AuxTable::base(). The engine must be idle, as it is when a context begins. False if the batch has
// refused it, or the engine has no table.
template <HasAuxTable Gen>
bool EmitAuxTableBase(Batch<Gen>& batch, AuxEngine engine, uint64_t base) {
  using Load = typename Gen::LoadRegisterConstant;
  bool emitted = false;
  const bool known = aux_tables::WithRegisters<Gen>(engine, [&](auto base_register, auto) {
    using Register = decltype(base_register);
    static_assert(Register::length == 2);
    base_register.address = base;
    const auto dwords = packed(base_register);
    emitted = batch.Emit(
        Load{.register_offset_ = Register::register_offset, .data_dword = dwords.dw[0]},
        Load{.register_offset_ = Register::register_offset + 4, .data_dword = dwords.dw[1]});
    return true;
  });
  return known ? emitted : aux_tables::RefuseEngine(batch);
}

// Invalidates what an engine has read of the table: before a compressed surface is used, when
// AuxTable::version() has changed. All that was drawn is written back first. scratch: 8 bytes that
// are overwritten. False if the batch has refused it, or the engine has no table.
template <HasAuxTable Gen>
bool EmitAuxInvalidation(Batch<Gen>& batch, AuxEngine engine, const address& scratch) {
  using G = typename Gen::Packets;
  using Pipe = typename Gen::PipeControl;
  using Flush = typename G::MI_FLUSH_DW;
  using Load = typename Gen::LoadRegisterConstant;
  using Wait = typename G::MI_SEMAPHORE_WAIT;
  bool emitted = false;
  const bool known = aux_tables::WithRegisters<Gen>(engine, [&](auto, auto invalidation) {
    using Register = decltype(invalidation);
    static_assert(Register::length == 1);
    invalidation.aux_inv = true;
    const Load load{.register_offset_ = Register::register_offset,
                    .data_dword = packed(invalidation).dw[0]};
    // The register reads as zero when that is done.
    const Wait wait{.compare_operation = Wait::COMPARE_OPERATION_SAD_EQUAL_SDD,
                    .wait_mode = Wait::WAIT_MODE_POLLING_MODE,
                    .register_poll_mode = true,
                    .semaphore_address = Register::register_offset};
    if (engine == AuxEngine::kRender || engine == AuxEngine::kCompute) {
      const bool render = engine == AuxEngine::kRender;
      Pipe pipe{.depth_cache_flush_enable = render,
                .dc_flush_enable = true,
                .render_target_cache_flush_enable = render,
                .post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
                .command_streamer_stall_enable = true,
                .address = scratch};
      if constexpr (requires { pipe.ccs_flush_enable; }) pipe.ccs_flush_enable = true;
      emitted = batch.Emit(pipe, load, wait);
    } else {
      Flush flush;
      if constexpr (requires { flush.flush_ccs; }) flush.flush_ccs = true;
      emitted = batch.Emit(flush, load, wait);
    }
    return true;
  });
  return known ? emitted : aux_tables::RefuseEngine(batch);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_AUX_TABLES_H_
