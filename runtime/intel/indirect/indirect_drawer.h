// Executes draws whose numbers lie in memory, each list in the way that suits it: by the command
// streamer, or by a kernel that turns the numbers into commands.
//
//   IndirectDrawer<Gfx9> drawer(batch, {.device = device, .kernel = &kernel, .chunks = &chunks,
//                                       .states = &states});
//   drawer.Draw({.arguments = {buffer.address, buffer.handle}, .draws = 50}, [&](bool dispatched) {
//     if (dispatched) state.Emitted<gfx9::PIPELINE_SELECT>();
//     return state.Flush(batch);
//   });
//   drawer.Close();   // before a barrier that makes draws' numbers visible, before other batches
//   run … drawer.End();     // before batch.End()
//
// In place: the batch jumps into a generation batch, which dispatches the kernel for one list after
// the other, and jumps back to the packet after the jump; lists are added to it until Close().
//
//   batch               … jump | state | slots of list 0 | state | slots of list 1 | …
//                            |  ^
//   generation batch         v  +------------------------------------+
//                       select GPGPU | dispatch 0 | dispatch 1 | select 3D | barrier | jump
//
// In a ring: the batch has a loop that fills a ring of slots, and enters it. The kernel has written
// a jump after the last slot, to where the loop continues, or after the last draw, to its end.
//
//   batch    draw_base = 0 | barrier | dispatch | barrier | state | jump | draw_base += items | …
//                          ^                                        |    ^                  |  ^
//                          +----------------------------------------|----|------------------+  |
//   ring                                                            +-> slots | jump ----------+
//
// Up to Gfx11 selecting a pipeline writes back and invalidates, so that the only barriers are those
// for vertices. From Gfx12 on the pre-parser is turned off before the streamer may see slots, and
// on after.

#ifndef PACKSMITH_RUNTIME_INTEL_INDIRECT_INDIRECT_DRAWER_H_
#define PACKSMITH_RUNTIME_INTEL_INDIRECT_INDIRECT_DRAWER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/batch/stores.h"
#include "runtime/intel/generated_draws/parameters.h"
#include "runtime/intel/indirect/draw_list.h"
#include "runtime/intel/indirect/generation_dispatch.h"
#include "runtime/intel/indirect/generation_kernel.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// What is pointed to must outlive the drawer.
struct IndirectDrawerOptions {
  ComputeDevice device = {};
  // Null: the command streamer executes all draws.
  const GenerationKernel* kernel = nullptr;
  // Memory for the generation batch and for the ring. Required with a kernel.
  gpu::ChunkSource* chunks = nullptr;
  // Memory for parameters, of the dynamic state base (from Gfx12.5 on the general state base).
  // Required with a kernel, and up to Gfx9 for lists whose draws read their numbers. The caller
  // flushes it before the job.
  gpu::StateStream* states = nullptr;
  DrawThresholds thresholds = {};
  // Slots of the ring: the draws of a pass.
  uint32_t ring_items = kMostGeneratedDraws;
  // Up to Gfx9: the vertex buffers, by index, in which vertex shaders read what
  // DrawList::reads_base and reads_number say. Defaults are those of Mesa's anv.
  uint32_t base_buffer = 31, number_buffer = 32;
  // Caching policy of draws' numbers and of these vertex buffers. Not zero.
  uint32_t mocs = 2;
};

// Of one recording of a batch. Not thread-safe.
//
// Caches are the caller's: what wrote draws' numbers, or a count, must be visible to the command
// streamer (CacheDomain::kOtherRead) and to the kernel (GenerationKernel::reads). Up to Gfx9, where
// the cache of vertices compares 32 bits of addresses (VertexReach), the caller counts the draws'
// numbers and, of `states` and `chunks`, the buffers as vertex buffers.
//
// Rings and instance multipliers overwrite general-purpose registers, the classic way also the
// 3DPRIM_ registers and, with a count, the predicate.
template <class Gen>
class IndirectDrawer {
 public:
  IndirectDrawer(Batch<Gen>& batch, const IndirectDrawerOptions& options)
      : batch_(batch), options_(options) {
    if (options.kernel != nullptr && options.chunks != nullptr && options.states != nullptr) {
      dispatch_.emplace(options.device, *options.kernel, *options.states);
    }
  }
  IndirectDrawer(const IndirectDrawer&) = delete;
  IndirectDrawer& operator=(const IndirectDrawer&) = delete;

  // Draws a list, while 3D is the selected pipeline.
  //
  // state(dispatched) emits the state of the draws; it is called once. It returns false on errors,
  // and the batch has one then, too.
  // dispatched: the kernel runs before this state, so that what PIPELINE_SELECT invalidates must be
  // emitted again, and before later dispatches all of a ComputeState.
  //
  // False, and the batch has the error, if a list or the kernel does not fit, or memory is missing.
  // The batch must be Reset() then, unless it is an error of ChooseDrawWay(), with which nothing
  // has changed.
  template <class State>
  bool Draw(const DrawList& list, const State& state);

  // Ends the current group of lists in place: the next one begins with another jump. Before a
  // barrier that makes draws' numbers visible, before other batches are executed, and before the
  // selected pipeline or the bases of states and kernels change. Nothing, if there is no group.
  bool Close();
  bool has_open_group() const { return open_; }
  // Before the batch ends. No draws after this.
  bool End();

  // The way in which the last list was drawn.
  DrawWay way() const { return way_; }
  // For decoders: the generation batch, if there is one.
  const Batch<Gen>* generation_batch() const { return generation_ ? &*generation_ : nullptr; }

 private:
  using Parameters = packsmith_generate_draws;
  using Item = GeneratedDraw<Gen>;
  // Whether selecting a pipeline writes back and invalidates all that the kernel and the streamer
  // share: no barrier is needed then.
  static constexpr bool kSelectingSuffices = Gen::kFacts.select_forgets;
  // Whether draws themselves tell vertices where they begin.
  static constexpr bool kExtended = requires { typename Gen::Packets::_3DPRIMITIVE_EXTENDED; };

  // In memory: what the kernel reads, and 16 bytes for barriers.
  struct Block {
    gpu::State state = {};
    Parameters parameters = {};

    address At(size_t member) const {
      return address(state.address + member, state.buffer, access::write);
    }
    address Scratch() const { return At(sizeof(Parameters)); }
    void Write() const { std::memcpy(state.cpu, &parameters, sizeof(parameters)); }
  };

  // An error of the caller's is the batch's, too: it may end in the middle of a loop.
  template <class State>
  bool EmitState(const State& state, bool dispatched) {
    if (state(dispatched)) return batch_.status().ok();
    if (!batch_.status().ok()) return false;
    return batch_.Refuse(
        absl::FailedPreconditionError("the state of draws in memory was not emitted"));
  }
  bool DrawClassic(const DrawList& list);
  template <class State>
  bool DrawInPlace(const DrawList& list, const State& state);
  template <class State>
  bool DrawInRing(const DrawList& list, const State& state);

  uint32_t VertexBuffers(const DrawList& list) const {
    return kExtended ? 0u : (list.reads_base ? 1u : 0u) + (list.reads_number ? 1u : 0u);
  }
  // Memory of the states.
  bool Allocate(uint64_t bytes, gpu::State& to) {
    if (options_.states == nullptr) {
      return batch_.Refuse(absl::FailedPreconditionError(
          "draws in memory need IndirectDrawerOptions::states for what their vertices read"));
    }
    const absl::StatusOr<gpu::State> state = options_.states->Allocate(bytes, 64);
    if (!state.ok()) return batch_.Refuse(state.status());
    to = *state;
    return true;
  }
  bool MakeBlock(const DrawList& list, Block& block);
  bool MakeRing();
  // Emits packets, at least a no-op, and returns the place of the first one.
  template <size_t N>
  static absl::StatusOr<address> EmitMark(
      Batch<Gen>& batch, const std::array<typename Gen::Packets::MI_ARB_CHECK, N>& packets);
  static absl::StatusOr<address> EmitMark(Batch<Gen>& batch) { return EmitMark<0>(batch, {}); }
  static bool SetPreParser(Batch<Gen>& batch, bool enable) {
    bool good = true;
    for (const auto& packet : PreParser<Gen>(enable)) good &= batch.Emit(packet);
    return good;
  }
  bool Open();
  // Makes what the streamer has stored visible to the kernel. GPGPU is selected after it.
  bool GiveNumbers(const address& scratch) {
    if constexpr (kSelectingSuffices) return true;
    return WaitForStores<Gen>::Emit(batch_) &&
           EmitBarrier(batch_, {.invalidate = SetOf(options_.kernel->reads), .from_memory = true},
                       scratch);
  }
  // Makes what the kernel has written visible to the streamer and, with vertex buffers, to
  // vertices. 3D has been selected before it.
  bool TakeDraws(Batch<Gen>& batch, bool vertices, const address& scratch) {
    if constexpr (!kSelectingSuffices) {
      if (!EmitBetween(batch, options_.kernel->writes, std::array{CacheDomain::kOtherRead},
                       scratch)) {
        return false;
      }
    }
    // Vertices are invalidated after a write that follows the flush.
    return !vertices ||
           EmitBarrier(batch, {.invalidate = SetOf(CacheDomain::kVertex), .wait = true}, scratch);
  }
  void UseOf(const DrawList& list) {
    batch_.Use(list.arguments.buffer, gpu::kReads);
    if (list.count.has_value()) batch_.Use(list.count->buffer, gpu::kReads);
  }

  Batch<Gen>& batch_;
  const IndirectDrawerOptions options_;
  std::optional<GenerationDispatch<Gen>> dispatch_;
  DrawWay way_ = DrawWay::kNone;
  // In place.
  std::optional<Batch<Gen>> generation_;
  bool open_ = false, open_vertices_ = false;
  address back_, scratch_;
  // The ring: [MI_ARB_CHECK], slots, a jump, draws' numbers.
  gpu::Chunk ring_;
};

// -- How it is done -------------------------------------------------------------------------------

template <class Gen>
template <class State>
bool IndirectDrawer<Gen>::Draw(const DrawList& list, const State& state) {
  const absl::StatusOr<DrawWay> way =
      ChooseDrawWay(list,
                    {.executes_indirect_draws = Gen::kFacts.executes_indirect_draws,
                     .has_kernel = dispatch_.has_value(),
                     .second_level = batch_.is_second_level(),
                     .relocations = batch_.has_relocations(),
                     .global = batch_.is_global()},
                    options_.thresholds);
  if (!way.ok()) return batch_.Refuse(way.status());
  way_ = *way;
  switch (way_) {
    case DrawWay::kNone:
      return true;
    case DrawWay::kOnePacket:
    case DrawWay::kClassic:
      return EmitState(state, false) && DrawClassic(list);
    case DrawWay::kInPlace:
      return DrawInPlace(list, state);
    case DrawWay::kRing:
      return DrawInRing(list, state);
  }
  return false;
}

template <class Gen>
bool IndirectDrawer<Gen>::DrawClassic(const DrawList& list) {
  IndirectDraws from{.arguments = list.arguments,
                     .draws = list.draws,
                     .stride = list.stride,
                     .count = list.count,
                     .mocs = options_.mocs,
                     .instance_multiplier = list.instance_multiplier};
  const auto emit = [&](auto packet) {
    using Packet = decltype(packet);
    packet.predicate_enable = list.predicated;
    packet.vertex_access_type =
        list.indexed ? Packet::VERTEX_ACCESS_TYPE_RANDOM : Packet::VERTEX_ACCESS_TYPE_SEQUENTIAL;
    if constexpr (requires { packet.tbimr_enable; }) packet.tbimr_enable = list.tbimr;
    return EmitIndirectDraws(batch_, packet, from);
  };
  if constexpr (kExtended) {
    if (list.reads_base || list.reads_number) return emit(typename Item::Packet());
  } else {
    if (list.reads_base) from.values.base_buffer = options_.base_buffer;
    if (list.reads_number) {
      gpu::State numbers;
      if (!Allocate(uint64_t{list.draws} * 4, numbers)) return false;
      for (uint32_t i = 0; i < list.draws; ++i) {
        std::memcpy(numbers.cpu + uint64_t{i} * 4, &i, sizeof(i));
      }
      from.values.number_buffer = options_.number_buffer;
      from.values.numbers = {numbers.address, numbers.buffer};
    }
  }
  return emit(typename Gen::Packets::_3DPRIMITIVE());
}

template <class Gen>
bool IndirectDrawer<Gen>::MakeBlock(const DrawList& list, Block& block) {
  if (!Allocate(sizeof(Parameters) + 16, block.state)) return false;
  UseOf(list);
  batch_.Use(block.state.buffer, gpu::kReads | gpu::kWrites);
  uint32_t flags = 0;
  if (list.indexed) flags |= PACKSMITH_GENERATE_INDEXED;
  if (list.predicated) flags |= PACKSMITH_GENERATE_PREDICATED;
  if (list.tbimr) flags |= PACKSMITH_GENERATE_TBIMR;
  if (!kExtended && list.reads_base) flags |= PACKSMITH_GENERATE_BASE;
  if (!kExtended && list.reads_number) flags |= PACKSMITH_GENERATE_DRAW_ID;
  block.parameters = {.indirect = list.arguments.gpu,
                      .commands = 0,
                      .count = list.count.has_value() ? list.count->gpu : 0,
                      .draw_ids = 0,
                      .next_pass = 0,
                      .end = 0,
                      .stride = list.Stride(),
                      .flags = flags,
                      .draw_base = 0,
                      .max_draws = list.draws,
                      .items = list.draws,
                      .instance_multiplier = list.instance_multiplier,
                      .mocs = options_.mocs,
                      .base_buffer = options_.base_buffer,
                      .draw_id_buffer = options_.number_buffer,
                      .unused = 0};
  return true;
}

template <class Gen>
template <size_t N>
absl::StatusOr<address> IndirectDrawer<Gen>::EmitMark(
    Batch<Gen>& batch, const std::array<typename Gen::Packets::MI_ARB_CHECK, N>& packets) {
  using Check = typename Gen::Packets::MI_ARB_CHECK;
  uint32_t* to = batch.Reserve(N == 0 ? 1 : N * Check::length);
  if (to == nullptr) return batch.status();
  const gpu::Chunk& chunk = batch.parts().back().chunk;
  const address place(chunk.gpu + static_cast<uint64_t>(to - chunk.words.data()) * 4, chunk.buffer);
  if (N == 0) *to = BatchCommandsOf<Gen>::kNoop.dw[0];
  for (const Check& packet : packets) {
    (void)packet.template pack<checks::off>(to);
    to += Check::length;
  }
  batch.StayInPlace();
  return place;
}

template <class Gen>
bool IndirectDrawer<Gen>::Open() {
  if (!dispatch_->status().ok()) return batch_.Refuse(dispatch_->status());
  if (!generation_) generation_.emplace(*options_.chunks);
  gpu::State scratch;
  if (!Allocate(16, scratch)) return false;
  scratch_ = address(scratch.address, scratch.buffer, access::write);
  batch_.Use(scratch.buffer, gpu::kReads | gpu::kWrites);
  const absl::StatusOr<address> begin = EmitMark(*generation_);
  if (!begin.ok()) return batch_.Refuse(begin.status());
  if (!batch_.Jump(*begin)) return false;
  const absl::StatusOr<address> back = EmitMark(batch_, PreParser<Gen>(true));
  if (!back.ok()) return false;
  back_ = *back;
  dispatch_->Forget();
  open_ = true;
  open_vertices_ = false;
  return dispatch_->Select(*generation_, Pipeline::kGpgpu) || batch_.Refuse(generation_->status());
}

template <class Gen>
template <class State>
bool IndirectDrawer<Gen>::DrawInPlace(const DrawList& list, const State& state) {
  const bool opens = !open_;
  if (opens && !Open()) return false;
  if (!EmitState(state, opens)) return false;
  const uint32_t vertex_buffers = VertexBuffers(list);
  const absl::StatusOr<GeneratedPlace> place =
      EmitRoomForDraws(batch_, {.items = list.draws, .vertex_buffers = vertex_buffers});
  if (!place.ok()) return false;
  Block block;
  if (!MakeBlock(list, block)) return false;
  Parameters& parameters = block.parameters;
  parameters.commands = place->first.gpu;
  parameters.end = place->first.gpu + uint64_t{list.draws} * place->stride;
  if ((parameters.flags & PACKSMITH_GENERATE_DRAW_ID) != 0) {
    gpu::State numbers;
    if (!Allocate(uint64_t{list.draws} * 4, numbers)) return false;
    batch_.Use(numbers.buffer, gpu::kReads | gpu::kWrites);
    parameters.draw_ids = numbers.address;
  }
  block.Write();
  open_vertices_ |= vertex_buffers != 0;
  return dispatch_->Emit(*generation_, block.state.address, list.draws) ||
         batch_.Refuse(generation_->status());
}

template <class Gen>
bool IndirectDrawer<Gen>::Close() {
  if (!open_) return true;
  open_ = false;
  return (dispatch_->Select(*generation_, Pipeline::k3D) &&
          TakeDraws(*generation_, open_vertices_, scratch_) && SetPreParser(*generation_, false) &&
          generation_->Jump(back_)) ||
         batch_.Refuse(generation_->status());
}

template <class Gen>
bool IndirectDrawer<Gen>::End() {
  if (!Close()) return false;
  if (!generation_ || generation_->ended()) return true;
  if (absl::Status ended = generation_->End(); !ended.ok()) return batch_.Refuse(ended);
  for (const gpu::BufferUse& use : generation_->uses().all()) batch_.Use(use.buffer, use.flags);
  return true;
}

template <class Gen>
bool IndirectDrawer<Gen>::MakeRing() {
  using Commands = BatchCommandsOf<Gen>;
  const uint32_t items = options_.ring_items;
  if (items == 0 || items > kMostGeneratedDraws) {
    return batch_.Refuse(CheckGeneratedDraws({.items = items}));
  }
  // Numbers of draws are needed where vertex buffers are.
  const size_t item = Item::Dwords(kExtended ? 0 : 2) + (kExtended ? 0 : 1);
  const auto on = PreParser<Gen>(true);
  const size_t dwords = on.size() + items * item + Commands::Start::length;
  const absl::StatusOr<gpu::Chunk> chunk = options_.chunks->NewChunk(dwords);
  if (!chunk.ok()) return batch_.Refuse(chunk.status());
  uint32_t* to = chunk->words.data();
  for (const auto& packet : on) {
    (void)packet.template pack<checks::off>(to);
    to += packet.length;
  }
  // Until the kernel runs, or if it does not, the batch ends here.
  uint32_t* const end = chunk->words.data() + dwords - Commands::kEnd.length;
  std::fill(to, end, Commands::kNoop.dw[0]);
  std::copy_n(Commands::kEnd.dw, Commands::kEnd.length, end);
  if (absl::Status flushed = options_.chunks->Flush(*chunk, dwords); !flushed.ok()) {
    return batch_.Refuse(flushed);
  }
  ring_ = *chunk;
  return true;
}

template <class Gen>
template <class State>
bool IndirectDrawer<Gen>::DrawInRing(const DrawList& list, const State& state) {
  using Math = Arithmetic<Gen>;
  if (!dispatch_->status().ok()) return batch_.Refuse(dispatch_->status());
  if (ring_.words.empty() && !MakeRing()) return false;
  Block block;
  if (!MakeBlock(list, block)) return false;
  Parameters& parameters = block.parameters;
  const uint32_t vertex_buffers = VertexBuffers(list);
  const uint32_t items = std::min(list.draws, options_.ring_items);
  parameters.flags |= PACKSMITH_GENERATE_RING;
  parameters.items = items;
  parameters.commands = ring_.gpu + PreParser<Gen>(true).size() * 4;
  parameters.draw_ids = parameters.commands + uint64_t{items} * Item::Dwords(vertex_buffers) * 4 +
                        BatchCommandsOf<Gen>::Start::length * 4;
  batch_.Use(ring_.buffer, gpu::kReads | gpu::kWrites);
  const address draw_base = block.At(offsetof(Parameters, draw_base));
  Math math(batch_);
  // The batch may run again, also after a run that was aborted.
  if (!math.Store32(draw_base, math.Constant(0))) return false;
  const Label again = batch_.Here();
  // What the loop emits must not depend on what was emitted before it.
  dispatch_->Forget();
  if (!GiveNumbers(block.Scratch()) || !dispatch_->Select(batch_, Pipeline::kGpgpu) ||
      !dispatch_->Emit(batch_, block.state.address, items) ||
      !dispatch_->Select(batch_, Pipeline::k3D) ||
      !TakeDraws(batch_, vertex_buffers != 0, block.Scratch()) || !EmitState(state, true) ||
      !SetPreParser(batch_, false) || !batch_.Jump({ring_.gpu, ring_.buffer})) {
    return false;
  }
  const absl::StatusOr<address> next = EmitMark(batch_);
  if (!next.ok()) return false;
  if (!math.Store32(draw_base, math.Load32(draw_base) + math.Constant(items)) ||
      !batch_.Jump(batch_.At(again))) {
    return false;
  }
  const absl::StatusOr<address> end = EmitMark(batch_);
  if (!end.ok()) return false;
  parameters.next_pass = next->gpu;
  parameters.end = end->gpu;
  block.Write();
  return true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_INDIRECT_INDIRECT_DRAWER_H_
