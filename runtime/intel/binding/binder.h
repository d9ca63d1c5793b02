// Binding tables of one context: the surfaces of each shader stage.
//
//   auto binder = Binder<Gfx9>::Create(*buffers, {.zone = zone, .surface_base = base, …});
//   absl::Status status = (*binder)->Begin(batch);
//   …
//   status = (*binder)->Bind(batch, BindingStage::kPixel, {texture.offset, target.offset});
//   if ((*binder)->TakeEvents() != 0) …   // emit pointers, and what other events require
//
// A table is an array of offsets of surface states. Equal tables share a place. When a block of
// tables is full, the binder allocates another one, moves the base there with the necessary waits
// and flushes, rewrites the tables that are bound, and reports it in its events.
//
// A call that fails changes neither batch nor binder, with one exception: if the base has moved and
// the new block cannot be flushed for the GPU, no stage has a table any more, and all must be bound
// again. Binding allocates nothing except new blocks.
//
// Not thread-safe: one for each context, as batches.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/binding/base_moves.h"
#include "runtime/intel/binding/binder_core.h"
#include "runtime/intel/binding/binding_rules.h"
#include "runtime/intel/binding/table_limits.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

template <class Gen>
class Binder : public BinderCore {
  using Packets = typename Gen::Packets;

 public:
  using Bases = typename Packets::STATE_BASE_ADDRESS;

  struct Options {
    BindingModel model = BindingModel::kBinder;
    // The zone of blocks. If tables have no base of their own, all of the zone must be before
    // surface_base, and begin at most 4 GiB before the last surface state.
    gpu::ZoneId zone = {};
    std::string name = "binding tables";
    gpu::Heap heap = gpu::Heap::kSystem;  // the CPU must have access
    // Offsets of surface states count from GPU address surface_base, and are less than
    // surface_bytes.
    uint64_t surface_base = 0, surface_bytes = 0;
    // All bases, with the driver's values: emitted by Begin() and by moves, with the surface state
    // base address filled in. Caching policies apply even if nothing else is modified.
    Bases bases = {};
    uint32_t mocs = 0;     // of the table's own base; not 0
    address scratch = {};  // 8 bytes that are overwritten
    // RenderDevice::forgets_before_moves, of runtime/intel/state.
    bool forgets_before_moves = false;
  };

  // Errors of Buffers::Create(); FailedPrecondition if surface states cannot be reached from the
  // zone, InvalidArgument if surface_bytes is 0 or more than 4 GiB, or if there is no scratch.
  // `buffers` must outlive the result.
  static absl::StatusOr<std::unique_ptr<Binder>> Create(gpu::Buffers& buffers,
                                                        const Options& options);

  // Once for each context: sets the unit of pointers, if the generation has a choice.
  absl::Status EmitSetup(Batch<Gen>& batch);
  // Emits all bases: when the batch begins, or its bases are lost for another reason. Tables are
  // kept; their pointers must be emitted again.
  absl::Status Begin(Batch<Gen>& batch);

  // Sets the stage's table; none if it is empty. Offsets of surface states are multiples of 64.
  // InvalidArgument if one is not, or is out of range; else errors of the batch, and of
  // Buffers::Create().
  absl::Status Bind(Batch<Gen>& batch, BindingStage stage, absl::Span<const uint32_t> surfaces);

  // Emits the pointers of these stages of the 3D pipeline, to a batch or a group, for drivers that
  // do not use DrawState. (On several generations this commits constants: see
  // 3DSTATE_BINDING_TABLE_POINTERS_VS in their descriptions.) False if they were refused.
  template <class To>
  bool EmitPointers(To& to, BindingEvents stages) const;

 private:
  using Entry = typename Packets::BINDING_TABLE_STATE;
  using PoolAlloc = typename Packets::_3DSTATE_BINDING_TABLE_POOL_ALLOC;
  static_assert(Entry::length == 1);

  Binder(gpu::Buffers& buffers, const BindingRules& rules, const Options& options)
      : BinderCore(buffers, rules,
                   {options.zone, options.name, options.heap, options.surface_base,
                    options.surface_bytes}),
        gen_options_(options) {}

  Bases BasesWith(const address& surface_base) const {
    Bases bases = gen_options_.bases;
    bases.surface_state_base_address_modify_enable = true;
    bases.surface_state_base_address = surface_base;
    return bases;
  }
  PoolAlloc PoolAt(const gpu::Buffer& block) const {
    PoolAlloc pool{.mocs = gen_options_.mocs,
                   .binding_table_pool_base_address = {block.address, block.handle},
                   .binding_table_pool_buffer_size = rules_.block / 4096};
    if constexpr (requires { pool.binding_table_pool_enable; }) {
      pool.binding_table_pool_enable = true;
    }
    return pool;
  }
  // Moves the base of tables to a block: all of it is emitted, or nothing.
  absl::Status EmitBase(Batch<Gen>& batch, const gpu::Buffer& block, bool all_bases);
  // The events of emitting a base.
  BindingEvents EventsOf(bool all_bases) const;

  // The bits that must be zero in offsets of surface states.
  static constexpr uint32_t kUnaligned = [] {
    uint32_t unaligned = 0;
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
      if (Entry{.surface_state_pointer = bit}.check()) unaligned |= bit;
    }
    return unaligned;
  }();

  // Writes a new table, for which there is room. False if a surface is invalid: then the table does
  // not exist, whatever has been written.
  bool Write(uint64_t hash, absl::Span<const uint32_t> surfaces);
  [[gnu::cold, gnu::noinline]] absl::Status Move(Batch<Gen>& batch, BindingStage stage,
                                                 absl::Span<const uint32_t> surfaces);

  const Options gen_options_;
};

template <class Gen>
absl::StatusOr<std::unique_ptr<Binder<Gen>>> Binder<Gen>::Create(gpu::Buffers& buffers,
                                                                 const Options& options) {
  if (options.scratch.gpu == 0) {
    return absl::InvalidArgumentError(
        "a binder needs 8 bytes that moves of the base may write to: Options::scratch");
  }
  std::unique_ptr<Binder> binder(
      new Binder(buffers, BindingRulesOf(options.model, Gen::kFacts), options));
  const absl::StatusOr<gpu::Buffer> block = binder->NewBlock();
  if (!block.ok()) return block.status();
  binder->UseBlock(*block);
  return binder;
}

template <class Gen>
absl::Status Binder<Gen>::EmitSetup(Batch<Gen>& batch) {
  if constexpr (requires { Packets::GT_MODE::BINDING_TABLE_ALIGNMENT_BTP_18_8; }) {
    using Mode = typename Packets::GT_MODE;
    const auto mode = packed(Mode{
        .binding_table_alignment = rules_.pointer_shift != 0
                                       ? Mode::BINDING_TABLE_ALIGNMENT_BTP_18_8
                                       : Mode::BINDING_TABLE_ALIGNMENT_BTP_15_5,
        .binding_table_alignment_mask = true,
    });
    if (!batch.Emit(typename Gen::LoadRegisterConstant{.register_offset_ = Mode::register_offset,
                                                       .data_dword = mode.dw[0]})) {
      return batch.status();
    }
  }
  return absl::OkStatus();
}

template <class Gen>
BindingEvents Binder<Gen>::EventsOf(bool all_bases) const {
  BindingEvents events = rules_.own_base ? kTablePoolMoved : kSurfaceBaseMoved;
  if (all_bases) events |= kSurfaceBaseMoved;
  if (BaseMoveRulesOf<Gen>(BaseKind::kSurfaceState, pipeline_).through_3d) {
    events |= kPipelineReselected;
  }
  for (unsigned stage = 0; stage < kBindingStages; ++stage) {
    if (bound_[stage].count != 0) events |= PointerOf(static_cast<BindingStage>(stage));
  }
  return events;
}

template <class Gen>
absl::Status Binder<Gen>::EmitBase(Batch<Gen>& batch, const gpu::Buffer& block, bool all_bases) {
  typename Batch<Gen>::Group group(batch,
                                   Bases::length + PoolAlloc::length + 2 * BaseMoveDwords<Gen>());
  bool good = true;
  if (!rules_.own_base) {
    good =
        EmitBaseMove<Gen>(group, BasesWith({block.address, block.handle}), BaseKind::kSurfaceState,
                          pipeline_, gen_options_.scratch, gen_options_.forgets_before_moves);
  } else {
    if (all_bases) {
      good = EmitBaseMove<Gen>(group, BasesWith(gen_options_.surface_base), BaseKind::kSurfaceState,
                               pipeline_, gen_options_.scratch, gen_options_.forgets_before_moves);
    }
    good = good && EmitBaseMove<Gen>(group, PoolAt(block), BaseKind::kBindingTablePool, pipeline_,
                                     gen_options_.scratch);
  }
  group.Close();
  return good ? absl::OkStatus() : batch.status();
}

template <class Gen>
absl::Status Binder<Gen>::Begin(Batch<Gen>& batch) {
  if (lifetime_.lost()) return lifetime_.status();
  if (absl::Status status = EmitBase(batch, block(), true); !status.ok()) return status;
  SetBegun(batch);
  events_ |= EventsOf(true);
  return absl::OkStatus();
}

template <class Gen>
bool Binder<Gen>::Write(uint64_t hash, absl::Span<const uint32_t> surfaces) {
  const auto delta = static_cast<uint32_t>(Delta(block()));
  uint32_t* to = EntriesAt(next());
  std::memcpy(CopyAt(next()), surfaces.data(), surfaces.size() * 4);
  // Offsets after the last surface sum up to 2^32 or more.
  const uint64_t behind = kSurfaceReach - gen_options_.surface_bytes;
  uint32_t bits = 0;
  uint64_t carries = 0;
  for (const uint32_t surface : surfaces) {
    bits |= surface;
    carries |= surface + behind;
    (void)Entry{.surface_state_pointer = surface + delta}.template pack<checks::off>(to++);
  }
  if (ABSL_PREDICT_FALSE((bits & kUnaligned) != 0 || carries >= kSurfaceReach)) return false;
  Keep(hash, surfaces.size());
  return true;
}

template <class Gen>
absl::Status Binder<Gen>::Bind(Batch<Gen>& batch, BindingStage stage,
                               absl::Span<const uint32_t> surfaces) {
  if (ABSL_PREDICT_FALSE(!IsBegun(batch))) return NotBegun();
  Table& bound = bound_[static_cast<unsigned>(stage)];
  if (bound.count == surfaces.size() && (surfaces.empty() || Holds(bound.offset, surfaces))) {
    ++statistics_.unchanged;
    return absl::OkStatus();
  }
  if (surfaces.empty()) {
    bound = Table();
    events_ |= PointerOf(stage);
    return absl::OkStatus();
  }
  if (ABSL_PREDICT_FALSE(surfaces.size() > kMostTableSurfaces)) return TooMany(surfaces.size());
  const uint64_t hash = HashOf(surfaces);
  uint32_t offset = next();
  if (const auto found = Find(hash, surfaces)) {
    ++statistics_.shared;
    offset = *found;
  } else if (ABSL_PREDICT_FALSE(room() < BytesFor(surfaces.size()))) {
    return Move(batch, stage, surfaces);
  } else if (ABSL_PREDICT_FALSE(!Write(hash, surfaces))) {
    return CheckSurfaces(surfaces, kUnaligned);
  } else if (ABSL_PREDICT_FALSE(flushes())) {
    if (absl::Status status = FlushFrom(offset); !status.ok()) return status;
  }
  if (offset != bound.offset || bound.count == 0) events_ |= PointerOf(stage);
  bound = {offset, static_cast<uint32_t>(surfaces.size())};
  return absl::OkStatus();
}

template <class Gen>
absl::Status Binder<Gen>::Move(Batch<Gen>& batch, BindingStage stage,
                               absl::Span<const uint32_t> surfaces) {
  if (absl::Status status = CheckSurfaces(surfaces, kUnaligned); !status.ok()) return status;
  const absl::StatusOr<gpu::Buffer> block = NewBlock();
  if (!block.ok()) return block.status();
  if (absl::Status status = EmitBase(batch, *block, false); !status.ok()) {
    (void)buffers_->Release(block->handle);
    return status;
  }
  // The tables that stages have, as they were given: the caller's one among them.
  std::array<uint32_t, kBindingStages * kMostTableSurfaces> copies;
  std::array<uint32_t, kBindingStages> counts;
  for (unsigned i = 0; i < kBindingStages; ++i) {
    const absl::Span<const uint32_t> from =
        i == static_cast<unsigned>(stage) ? surfaces : SurfacesAt(bound_[i]);
    counts[i] = static_cast<uint32_t>(from.size());
    std::copy(from.begin(), from.end(), copies.begin() + i * kMostTableSurfaces);
  }
  old_.push_back(this->block());
  UseBlock(*block);
  ++statistics_.moves;
  for (unsigned i = 0; i < kBindingStages; ++i) {
    const auto table = absl::MakeConstSpan(copies.data() + i * kMostTableSurfaces, counts[i]);
    bound_[i] = Table();
    if (table.empty()) continue;
    const uint64_t hash = HashOf(table);
    const auto found = Find(hash, table);
    bound_[i] = {found ? *found : next(), counts[i]};
    if (!found) (void)Write(hash, table);  // all have been looked at
  }
  events_ |= EventsOf(false);
  if (!flushes()) return absl::OkStatus();
  absl::Status status = FlushFrom(rules_.first);
  // The base has moved, to a block without tables.
  if (!status.ok()) bound_ = {};
  return status;
}

template <class Gen>
template <class To>
bool Binder<Gen>::EmitPointers(To& to, BindingEvents stages) const {
  using enum BindingStage;
  bool good = true;
  if ((stages & PointerOf(kVertex)) != 0) {
    good &= to.Emit(typename Packets::_3DSTATE_BINDING_TABLE_POINTERS_VS{
        .pointer_to_vs_binding_table = pointer(kVertex)});
  }
  if ((stages & PointerOf(kHull)) != 0) {
    good &= to.Emit(typename Packets::_3DSTATE_BINDING_TABLE_POINTERS_HS{
        .pointer_to_hs_binding_table = pointer(kHull)});
  }
  if ((stages & PointerOf(kDomain)) != 0) {
    good &= to.Emit(typename Packets::_3DSTATE_BINDING_TABLE_POINTERS_DS{
        .pointer_to_ds_binding_table = pointer(kDomain)});
  }
  if ((stages & PointerOf(kGeometry)) != 0) {
    good &= to.Emit(typename Packets::_3DSTATE_BINDING_TABLE_POINTERS_GS{
        .pointer_to_gs_binding_table = pointer(kGeometry)});
  }
  if ((stages & PointerOf(kPixel)) != 0) {
    good &= to.Emit(typename Packets::_3DSTATE_BINDING_TABLE_POINTERS_PS{
        .pointer_to_ps_binding_table = pointer(kPixel)});
  }
  return good;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_H_
