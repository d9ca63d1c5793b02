// Draws and dispatches whose parameters are in memory: the command streamer reads them when it
// reaches the packet. A shader may have written them.
//
//   EmitIndirectDraws(batch, gfx9::_3DPRIMITIVE{},
//                     {.arguments = {buffer.address, buffer.handle}, .draws = 3});
//
// The packet has what is not in memory: whether there are indices (Vertex Access Type), and on
// Gfx12.5 how tiles are rendered. From Gfx11 on it may be 3DPRIMITIVE_EXTENDED, with which vertices
// can read the first vertex, the first instance and the draw's number.
//
// The streamer does not wait: caches that wrote the parameters must be flushed before; for a
// CacheTracker this use is CacheDomain::kOtherRead. The 3DPRIM_ registers of the render engine are
// overwritten.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_INDIRECT_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_INDIRECT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// Parameters in memory, as Vulkan, Direct3D 12 and OpenGL have them.
struct DrawArguments {
  uint32_t vertex_count = 0;
  uint32_t instance_count = 0;
  uint32_t first_vertex = 0;
  uint32_t first_instance = 0;
};
struct IndexedDrawArguments {
  uint32_t index_count = 0;
  uint32_t instance_count = 0;
  uint32_t first_index = 0;
  int32_t vertex_offset = 0;  // added to each index
  uint32_t first_instance = 0;
};
struct DispatchArguments {
  uint32_t groups_x = 0, groups_y = 0, groups_z = 0;
};

// Vertex buffers, by their index, in which vertices read values of their draw, where they cannot
// read them from 3DPRIMITIVE_EXTENDED: up to Gfx9. A 3DSTATE_VERTEX_BUFFERS precedes each draw.
struct DrawValues {
  // The first vertex (of an indexed draw the vertex offset) and the first instance, 4 bytes each:
  // the buffer is in the draw's parameters.
  std::optional<uint32_t> base_buffer = std::nullopt;
  // The draw's number, 4 bytes: the buffer is in `numbers`, which has 0, 1, 2, ….
  std::optional<uint32_t> number_buffer = std::nullopt;
  address numbers = {};

  constexpr uint32_t count() const {
    return (base_buffer.has_value() ? 1u : 0u) + (number_buffer.has_value() ? 1u : 0u);
  }
};

struct IndirectDraws {
  address arguments;    // of the first draw; a multiple of 4, as all that follows
  uint32_t draws = 1;   // the most that there are
  uint32_t stride = 0;  // bytes from one draw's parameters to the next's; 0: they are contiguous
  // Address of a 32-bit count that limits the draws. This uses the predicate of MI_PREDICATE, so
  // that the packet cannot depend on another one.
  std::optional<address> count = std::nullopt;
  // Caching policy of the parameters on Xe2, and of vertex buffers. Not zero.
  uint32_t mocs = 2;
  // Instance counts are multiplied by it: by the number of views, for example. Then
  // general-purpose registers are overwritten.
  uint32_t instance_multiplier = 1;
  DrawValues values = {};
};

template <class Draw>
constexpr bool IsIndexed(const Draw& draw) {
  return draw.vertex_access_type == Draw::VERTEX_ACCESS_TYPE_RANDOM;
}
// The bytes that a draw's parameters take.
template <class Draw>
constexpr uint32_t ArgumentBytesOf(const Draw& draw) {
  return IsIndexed(draw) ? sizeof(IndexedDrawArguments) : sizeof(DrawArguments);
}

// The emitter of one kind of draw: Draw is 3DPRIMITIVE or 3DPRIMITIVE_EXTENDED.
template <class Gen, class Draw>
class IndirectDrawEmitter {
  using G = typename Gen::Packets;
  using Group = typename Batch<Gen>::Group;
  using Load = typename Gen::LoadRegister;
  using LoadConstant = typename Gen::LoadRegisterConstant;
  using Predicate = typename Gen::Predicate;

  static constexpr bool kExtended = !std::is_same_v<Draw, typename G::_3DPRIMITIVE>;
  // One packet for all draws, without extended parameters.
  static constexpr bool kAllInOne = Gen::kFacts.executes_indirect_draws && !kExtended;

 public:
  // The draw packet to emit, and where the parameters are.
  IndirectDrawEmitter(const Draw& draw, const IndirectDraws& from)
      : draw_(draw),
        from_(from),
        stride_(from.stride == 0 ? ArgumentBytesOf(draw) : from.stride),
        indexed_(IsIndexed(draw)) {
    draw_.indirect_parameter_enable = true;
  }

  bool Emit(Batch<Gen>& batch) {
    if (from_.stride % 4 != 0) {
      return batch.Refuse(
          absl::InvalidArgumentError(absl::StrCat("the stride of draw parameters is ", from_.stride,
                                                  " bytes; it must be a multiple of 4")));
    }
    if (from_.draws == 0) return true;
    if constexpr (kAllInOne) {
      if (stride_ == ArgumentBytesOf(draw_) && from_.instance_multiplier == 1 &&
          from_.values.count() == 0) {
        return EmitAll(batch);
      }
    }
    return EmitOneByOne(batch);
  }

 private:
  static address At(const address& base, uint64_t offset) {
    return address(base.gpu + offset, base.buffer, base.use);
  }
  static LoadConstant Constant(uint32_t offset, uint32_t value) {
    return {.register_offset_ = offset, .data_dword = value};
  }
  template <class Register>
  static Load From(const address& where) {
    return {.register_address = Register::register_offset, .memory_address = where};
  }

  bool EmitAll(Batch<Gen>& batch) {
    using Execute = typename G::EXECUTE_INDIRECT_DRAW;
    return batch.Emit(Execute{.predicate_enable = draw_.predicate_enable,
                              .tbimr_enabled = draw_.tbimr_enable,
                              .argument_format = indexed_ ? Execute::ARGUMENT_FORMAT_DRAWINDEXED
                                                          : Execute::ARGUMENT_FORMAT_DRAW,
                              .mocs = from_.mocs,
                              .max_count = from_.draws,
                              .count_buffer_indirect_enable = from_.count.has_value(),
                              .count_buffer_address = from_.count.value_or(address()),
                              .argument_buffer_start_address = from_.arguments});
  }

  bool EmitOneByOne(Batch<Gen>& batch) {
    if (from_.count.has_value()) {
      draw_.predicate_enable = true;
      if (!EmitCount(batch)) return false;
    }
    for (uint32_t i = 0; i < from_.draws; ++i) {
      const address at = At(from_.arguments, uint64_t{i} * stride_);
      if (from_.instance_multiplier != 1 && !EmitInstances(batch, at)) return false;
      Group group(batch, kMostDwords);
      if (from_.values.count() != 0) EmitValues(group, at, i);
      if (from_.count.has_value()) EmitPredicate(group, i);
      EmitParameters(group, at, i);
      group.Emit(draw_);
      if (!group.ok()) return false;
    }
    return true;
  }

  bool EmitCount(Batch<Gen>& batch) {
    constexpr uint32_t kCount = Gen::PredicateSource0::register_offset;
    constexpr uint32_t kNumber = Gen::PredicateSource1::register_offset;
    return batch.Emit(Load{.register_address = kCount, .memory_address = *from_.count},
                      Constant(kCount + 4, 0), Constant(kNumber + 4, 0));
  }
  // The first draw is executed unless the count is 0. The predicate becomes false at the draw whose
  // number equals the count, and stays false, since later numbers differ from it.
  void EmitPredicate(Group& group, uint32_t number) {
    group.Emit(Constant(Gen::PredicateSource1::register_offset, number),
               Predicate{.compare_operation = Predicate::COMPARE_OPERATION_SRCS_EQUAL,
                         .combine_operation = number == 0 ? Predicate::COMBINE_OPERATION_SET
                                                          : Predicate::COMBINE_OPERATION_XOR,
                         .load_operation = number == 0 ? Predicate::LOAD_OPERATION_LOADINV
                                                       : Predicate::LOAD_OPERATION_LOAD});
  }
  bool EmitInstances(Batch<Gen>& batch, const address& at) {
    Arithmetic<Gen> math(batch);
    return math.StoreRegister32(G::_3DPRIM_INSTANCE_COUNT::register_offset,
                                math.Load32(At(at, offsetof(DrawArguments, instance_count))) *
                                    math.Constant(from_.instance_multiplier));
  }
  void EmitValues(Group& group, const address& at, uint32_t number) {
    using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;
    const uint64_t base = indexed_ ? offsetof(IndexedDrawArguments, vertex_offset)
                                   : offsetof(DrawArguments, first_vertex);
    const auto buffer = [&](uint32_t index, const address& where, uint32_t bytes) {
      typename Buffers::ps_item item;
      item.vertex_buffer_index = index;
      item.address_modify_enable = true;
      item.mocs = from_.mocs;
      item.buffer_starting_address = where;
      item.buffer_size = bytes;
      return item;
    };
    typename Buffers::ps_item items[2];
    unsigned count = 0;
    const DrawValues& values = from_.values;
    if (values.base_buffer.has_value()) {
      items[count++] = buffer(*values.base_buffer, At(at, base), 8);
    }
    if (values.number_buffer.has_value()) {
      items[count++] = buffer(*values.number_buffer, At(values.numbers, uint64_t{number} * 4), 4);
    }
    group.EmitItems(Buffers(), span<const typename Buffers::ps_item>(items, count));
  }
  void EmitParameters(Group& group, const address& at, uint32_t number) {
    using I = IndexedDrawArguments;
    using D = DrawArguments;
    const address first = At(at, indexed_ ? offsetof(I, first_index) : offsetof(D, first_vertex));
    const address base = indexed_ ? At(at, offsetof(I, vertex_offset)) : first;
    const address instance =
        At(at, indexed_ ? offsetof(I, first_instance) : offsetof(D, first_instance));
    static_assert(offsetof(I, index_count) == offsetof(D, vertex_count));
    static_assert(offsetof(I, instance_count) == offsetof(D, instance_count));
    group.Emit(From<typename G::_3DPRIM_VERTEX_COUNT>(At(at, offsetof(D, vertex_count))),
               From<typename G::_3DPRIM_START_VERTEX>(first),
               From<typename G::_3DPRIM_START_INSTANCE>(instance));
    if (from_.instance_multiplier == 1) {
      group.Emit(From<typename G::_3DPRIM_INSTANCE_COUNT>(At(at, offsetof(D, instance_count))));
    }
    if (indexed_) {
      group.Emit(From<typename G::_3DPRIM_BASE_VERTEX>(base));
    } else {
      group.Emit(Constant(G::_3DPRIM_BASE_VERTEX::register_offset, 0));
    }
    if constexpr (kExtended) {
      group.Emit(From<typename G::_3DPRIM_XP0>(base), From<typename G::_3DPRIM_XP1>(instance),
                 Constant(G::_3DPRIM_XP2::register_offset, number));
    }
  }

  // All packets above, for one draw.
  static constexpr size_t kMostDwords =
      DwordsOf(LoadConstant(), LoadConstant(), LoadConstant(), Predicate(), Draw()) +
      7 * Load::length + G::_3DSTATE_VERTEX_BUFFERS::dwords_needed(2);

  Draw draw_;
  const IndirectDraws& from_;
  const uint32_t stride_;
  const bool indexed_;
};

// Emits draws whose parameters are consecutive in memory, with up to 40 dwords for each draw; from
// Xe2 on one packet for any number, if they are contiguous and the draw has no extended parameters.
// False if the batch has refused a packet: the draws before it are part of the batch.
template <class Gen, class Draw>
bool EmitIndirectDraws(Batch<Gen>& batch, const Draw& draw, const IndirectDraws& from) {
  return IndirectDrawEmitter<Gen, Draw>(draw, from).Emit(batch);
}

// Packets that load the DispatchArguments at `from`, a multiple of 4, for a GPGPU_WALKER or
// COMPUTE_WALKER with `indirect_parameter_enable`. From Gfx11 on they load the registers of the
// engine that executes them; before, those of the render engine.
template <class Gen>
std::array<typename Gen::LoadRegister, 3> DispatchLoads(const address& from) {
  using G = typename Gen::Packets;
  using A = DispatchArguments;
  const auto load = [&](uint32_t offset, size_t member) {
    typename Gen::LoadRegister packet{
        .register_address = offset,
        .memory_address = address(from.gpu + member, from.buffer, from.use)};
    if constexpr (requires { packet.add_cs_mmio_start_offset; }) {
      packet.add_cs_mmio_start_offset = 1;
      packet.register_address = offset - kRenderRegisters;
    }
    return packet;
  };
  return {load(G::GPGPU_DISPATCHDIMX::register_offset, offsetof(A, groups_x)),
          load(G::GPGPU_DISPATCHDIMY::register_offset, offsetof(A, groups_y)),
          load(G::GPGPU_DISPATCHDIMZ::register_offset, offsetof(A, groups_z))};
}
template <class Gen>
bool LoadDispatchArguments(Batch<Gen>& batch, const address& from) {
  const auto loads = DispatchLoads<Gen>(from);
  return batch.Emit(loads[0], loads[1], loads[2]);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_INDIRECT_H_
