// Draws that a shader writes: packets that do not exist yet when the batch is built.
//
// Either the draws have their place in the batch,
//
//   const auto draws = EmitRoomForDraws(batch, {.items = 50});
// // draws->first is where a shader writes them, before the streamer gets there
//
// or there are many, and they are written and drawn some at a time, in a ring:
//
//   DrawRing<Gfx9> ring(chunks, {.items = 1000});
//   EmitRing(batch, ring, {.block = {block.address, block.handle}, .draws = 100000}, [&] {
//     return batch.Emit(…);  // the draw or the dispatch that fills the ring
//   });
//
// A shader writes items: a draw each, or no-ops, with the packets and the size of GeneratedDraw.
// The CPU writes no draws.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_GENERATED_DRAWS_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_GENERATED_DRAWS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"

namespace packsmith::intel {

// The most items of a place; rings of Mesa's drivers have as many. A ring draws more in several
// passes.
inline constexpr uint32_t kMostGeneratedDraws = 8192;

// The draw packet of an item: from Gfx11 on 3DPRIMITIVE_EXTENDED, so that vertices can read a
// draw's first vertex and its number.
template <class Gen>
struct GeneratedDraw {
  using G = typename Gen::Packets;
  static constexpr auto Choose() {
    if constexpr (requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
      return typename G::_3DPRIMITIVE_EXTENDED();
    } else {
      return typename G::_3DPRIMITIVE();
    }
  }
  using Packet = decltype(Choose());

  // Dwords from the item's start to its draw.
  static constexpr uint32_t Before(uint32_t vertex_buffers) {
    return vertex_buffers == 0 ? 0 : G::_3DSTATE_VERTEX_BUFFERS::dwords_needed(vertex_buffers);
  }
  // Dwords of the whole item.
  static constexpr uint32_t Dwords(uint32_t vertex_buffers) {
    return Before(vertex_buffers) + Packet::length;
  }
};

struct GeneratedDraws {
  uint32_t items = 0;  // 1 to kMostGeneratedDraws
  // Before its draw an item has a 3DSTATE_VERTEX_BUFFERS with this many buffers, or none if it is
  // 0. Up to Gfx9 vertices read the draw's number from there. At most 2: for where the draw begins,
  // and for its number.
  uint32_t vertex_buffers = 0;
};

// Where items are, one after the other.
struct GeneratedPlace {
  address first;              // written by shaders
  uint32_t stride = 0;        // bytes from one item to the next
  uint32_t draw_at = 0;       // bytes from an item's start to its draw
  absl::Span<uint32_t> view;  // all items, for the CPU; may be write-combined
};

inline absl::Status CheckGeneratedDraws(const GeneratedDraws& draws) {
  if (draws.items == 0 || draws.items > kMostGeneratedDraws) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", draws.items, " generated draws; it must be 1 to ",
                     kMostGeneratedDraws, "; a ring draws any number, in several passes"));
  }
  if (draws.vertex_buffers > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("a generated draw has at most 2 vertex buffers, not ", draws.vertex_buffers));
  }
  return absl::OkStatus();
}

// Whether the streamer has a pre-parser, from Gfx12 on: it reads packets long before they are
// executed, and would read what was there before a shader wrote others.
template <class Gen>
inline constexpr bool kHasPreParser = requires(typename Gen::Packets::MI_ARB_CHECK check) {
  check.pre_parser_disable;
};

// Turns it off or on; no packets if there is none.
template <class Gen>
constexpr auto PreParser(bool enable) {
  using Check = typename Gen::Packets::MI_ARB_CHECK;
  if constexpr (kHasPreParser<Gen>) {
    return std::array{Check{.pre_parser_disable = !enable, .pre_parser_disable_mask = true}};
  } else {
    return std::array<Check, 0>();
  }
}

// Emits packets, and room for draws directly after them.
template <class Gen, size_t N>
absl::StatusOr<GeneratedPlace> EmitRoomBehind(
    Batch<Gen>& batch, const std::array<typename Gen::Packets::MI_ARB_CHECK, N>& packets,
    const GeneratedDraws& draws) {
  using Draw = GeneratedDraw<Gen>;
  using Check = typename Gen::Packets::MI_ARB_CHECK;
  if (absl::Status wrong = CheckGeneratedDraws(draws); !wrong.ok()) {
    batch.Refuse(wrong);
    return wrong;
  }
  const uint32_t item = Draw::Dwords(draws.vertex_buffers);
  const size_t dwords = size_t{draws.items} * item;
  uint32_t* to = batch.Reserve(N * Check::length + dwords);
  if (to == nullptr) return batch.status();
  for (const Check& packet : packets) {
    (void)packet.template pack<checks::off>(to);
    to += Check::length;
  }
  std::fill_n(to, dwords, BatchCommandsOf<Gen>::kNoop.dw[0]);
  const gpu::Chunk& chunk = batch.parts().back().chunk;
  batch.Use(chunk.buffer, gpu::kReads | gpu::kWrites);
  batch.StayInPlace();
  const uint64_t offset = static_cast<uint64_t>(to - chunk.words.data()) * 4;
  return GeneratedPlace{.first = address(chunk.gpu + offset, chunk.buffer, access::write),
                        .stride = item * 4,
                        .draw_at = Draw::Before(draws.vertex_buffers) * 4,
                        .view = absl::MakeSpan(to, dwords)};
}

// Emits contiguous room for draws. It holds no-ops until a shader writes draws there. The items
// must be in memory before the streamer fetches them, and it fetches ahead: the shader must have
// finished well before, in an earlier batch for example. An error if the batch has refused it,
// which is also the batch's status(); then nothing has changed.
template <class Gen>
absl::StatusOr<GeneratedPlace> EmitRoomForDraws(Batch<Gen>& batch, const GeneratedDraws& draws) {
  return EmitRoomBehind<Gen, 0>(batch, {}, draws);
}

// A batch of its own: pre-parser off, the items, and a jump back to the last caller. One batch at a
// time runs it, but it may be emitted several times. The source must outlive it.
template <class Gen>
class DrawRing {
 public:
  DrawRing(gpu::ChunkSource& source, const GeneratedDraws& draws)
      : ring_(source), draws_(draws), status_(Build()) {}

  // OK if there is a ring; else InvalidArgument, or the error of the source.
  const absl::Status& status() const { return status_; }

  // The following are valid only if there is a ring.
  uint32_t items() const { return draws_.items; }
  uint32_t vertex_buffers() const { return draws_.vertex_buffers; }
  const GeneratedPlace& place() const { return place_; }
  // Where a batch enters it, and where the batch writes the return address, 8 bytes, before.
  address entry() const {
    const gpu::Chunk& chunk = ring_.parts()[0].chunk;
    return address(chunk.gpu, chunk.buffer);
  }
  const address& return_slot() const { return return_slot_; }

 private:
  absl::Status Build() {
    absl::StatusOr<GeneratedPlace> place = EmitRoomBehind(ring_, PreParser<Gen>(false), draws_);
    if (!place.ok()) return place.status();
    const absl::StatusOr<address> slot = ring_.EndReturning();
    if (!slot.ok()) return slot.status();
    place_ = *place;
    return_slot_ = *slot;
    return absl::OkStatus();
  }

  Batch<Gen> ring_;
  const GeneratedDraws draws_;
  GeneratedPlace place_;
  address return_slot_;
  const absl::Status status_;
};

// What the streamer passes to the shader, in memory: item i of the ring is draw draw_base + i, or
// no-ops if there is no such draw.
struct DrawRingBlock {
  uint32_t draw_base = 0;
  uint32_t items = 0;  // of the ring
  uint32_t draws = 0;  // of all passes
  uint32_t unused = 0;
  uint64_t scratch = 0;  // for barriers
};

struct RingDraws {
  address block;       // of a DrawRingBlock, at a multiple of 8; the streamer fills it
  uint32_t draws = 1;  // at most
  // Address of a 32-bit count that limits the draws. Caches that wrote it must be flushed before.
  std::optional<address> count = std::nullopt;
  // The cache through which the shader reads the block.
  CacheDomain reads = CacheDomain::kConstant;
  // The cache through which it writes items.
  CacheDomain writes = CacheDomain::kData;
};

template <class Gen>
class RingEmitter {
  using Math = Arithmetic<Gen>;

 public:
  RingEmitter(Batch<Gen>& batch, const DrawRing<Gen>& ring, const RingDraws& from)
      : batch_(batch), ring_(ring), from_(from), math_(batch) {}

  template <class Generate>
  bool Emit(const Generate& generate) {
    if (!ring_.status().ok()) return batch_.Refuse(ring_.status());
    if (from_.block.gpu % 8 != 0) {
      return batch_.Refuse(absl::InvalidArgumentError(
          absl::StrCat("the block of a ring is at ", absl::Hex(from_.block.gpu),
                       " (hexadecimal); it must be a multiple of 8")));
    }
    if (from_.draws == 0) return true;
    const address entry = ring_.entry();
    batch_.Use(entry.buffer, gpu::kReads | gpu::kWrites);
    const Label back = batch_.NewLabel();
    // The pre-parser is turned off before it can reach the ring. The return address is the same in
    // each pass; it is written here, so that a barrier is between the write and its use.
    if (!Turn(false) || !FillBlock() || !batch_.StoreLabel(ring_.return_slot(), back)) {
      return false;
    }
    bool good = true;
    const bool repeats = math_.Repeat([&] {
      good = TellShader() && generate() && TakeItems() && batch_.Jump(entry) && batch_.Bind(back);
      return Advance();
    });
    return good && repeats && Turn(true);
  }

 private:
  using Block = DrawRingBlock;

  address At(size_t member) const {
    return address(from_.block.gpu + member, from_.block.buffer, access::write);
  }
  bool Turn(bool on) {
    bool good = true;
    for (const auto& packet : PreParser<Gen>(on)) good &= batch_.Emit(packet);
    return good;
  }
  // draw_base as well: a batch that runs again begins anew.
  bool FillBlock() {
    auto draws = math_.Constant(from_.draws);
    if (from_.count.has_value()) {
      const auto count = math_.Load32(*from_.count);
      draws = math_.Select(math_.Less(count, draws), count, draws);
    }
    return math_.Store32(At(offsetof(Block, draw_base)), math_.Constant(0)) &&
           math_.Store32(At(offsetof(Block, items)), math_.Constant(ring_.items())) &&
           math_.Store32(At(offsetof(Block, draws)), draws);
  }
  // Draws of the last pass no longer read their items' data then.
  template <size_t N>
  bool Separate(CacheDomain written, const std::array<CacheDomain, N>& read) {
    return EmitBetween(batch_, written, read, At(offsetof(Block, scratch)));
  }
  bool TellShader() { return Separate(CacheDomain::kOtherWrite, std::array{from_.reads}); }
  // The streamer reads an item, and the shader may have written the data of its vertex buffers,
  // too.
  bool TakeItems() {
    if (ring_.vertex_buffers() == 0) {
      return Separate(from_.writes, std::array{CacheDomain::kOtherRead});
    }
    return Separate(from_.writes, std::array{CacheDomain::kOtherRead, CacheDomain::kVertex});
  }
  // Whether draws are left.
  typename Math::Condition Advance() {
    const auto next = math_.Load32(At(offsetof(Block, draw_base))) + math_.Constant(ring_.items());
    math_.Store32(At(offsetof(Block, draw_base)), next);
    return math_.Less(next, math_.Load32(At(offsetof(Block, draws))));
  }

  Batch<Gen>& batch_;
  const DrawRing<Gen>& ring_;
  const RingDraws& from_;
  Math math_;
};

// Has a shader write the ring's draws and draws them, in as many passes as needed: in order, each
// once. generate() emits the draw or dispatch that runs the shader, and its state; it returns false
// on errors, and leaves the 3D pipeline selected. It is called once: what it emits is a loop's
// body.
//
// Not for second-level batches. Overwrites general-purpose registers, and the predicate of
// MI_PREDICATE, so that draws cannot depend on one. generate() must set the shader's state, and
// then set that of the draws again.
//
// False if the batch has refused a packet. If there is no ring, or the block is not aligned,
// nothing has changed; else the batch has part of the loop, and must be Reset().
template <class Gen, class Generate>
bool EmitRing(Batch<Gen>& batch, const DrawRing<Gen>& ring, const RingDraws& from,
              const Generate& generate) {
  return RingEmitter<Gen>(batch, ring, from).Emit(generate);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_GENERATED_DRAWS_H_
