// Builds the streams that the vertex and the compute data master read: blocks in chunks of memory,
// with the use of every address noted.
//
//   #include "packsmith/agx_g13.h"
//   #include "runtime/agx/control_stream.h"
//
//   using G13 = packsmith::agx_g13::generation;
//   gpu::BufferUses uses;                        // of the whole job
//   VdmStream<G13> vdm(chunks, uses);            // chunks: see runtime/command/chunks.h
//   vdm.Emit(state, draw);                       // both, consecutively, or none
//   absl::Status status = vdm.End();
//   … vdm.parts()[0].chunk.gpu                   // where the stream begins
//
// A call that fails returns false and leaves the stream unchanged. The first error is kept as
// status(), and End() fails while there is an error.
//
// A full chunk is continued in another one by a stream link; room for the link, or for the end of
// the stream, is always kept. Only chunks are allocated, apart from the lists' occasional growth.
//
// Not thread-safe. The source and the uses must outlive the stream; a stream that has lost them
// rejects everything (memory/lifetime.h).

#ifndef PACKSMITH_RUNTIME_AGX_CONTROL_STREAM_H_
#define PACKSMITH_RUNTIME_AGX_CONTROL_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/base/lifetime.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/chunks.h"

namespace packsmith::agx {

// One chunk of a stream.
struct StreamPart {
  gpu::Chunk chunk;
  uint32_t bytes = 0;  // blocks
  uint32_t total = 0;  // with the link to the next part, or what ends the stream
};

// Blocks that the streams of a generation write by themselves.
struct StreamBlocks {
  const char* name;
  uint32_t link_bytes;
  error (*link)(uint8_t* to, const address& target);
  absl::Span<const uint8_t> terminate, give_back;  // what ends a stream, and one that was called
};

class StreamCore {
 public:
  StreamCore(const StreamCore&) = delete;
  StreamCore& operator=(const StreamCore&) = delete;

  // The first error since the beginning, or since TakeStatus().
  const absl::Status& status() const { return status_; }
  // Returns and clears the error, for callers that have corrected its cause.
  absl::Status TakeStatus();

  size_t bytes() const;                                          // blocks so far
  size_t room() const { return size_t(limit_ - cursor_); }       // without a new chunk
  absl::Span<const StreamPart> parts() const { return parts_; }  // after the end
  bool ended() const { return ended_; }

  // Blocks that were packed before: whole dwords. The caller must note the buffers that they point
  // to.
  bool EmitBytes(absl::Span<const uint8_t> blocks);

  // No block after this. Returns the error, if there was any; the stream is then unchanged.
  absl::Status End() { return Finish(blocks_.terminate); }
  // Ends a stream that others call: returns to the block after the link that called.
  absl::Status EndReturning() { return Finish(blocks_.give_back); }
  // Forgets everything. The source gets the chunks back; noted uses stay.
  void Reset();

 protected:
  StreamCore(gpu::ChunkSource& source, gpu::BufferUses& uses, const StreamBlocks& blocks)
      : lifetime_("stream", this,
                  [](void* stream) { static_cast<StreamCore*>(stream)->LoseChunks(); }),
        source_(source, lifetime_),
        uses_(uses, lifetime_),
        blocks_(blocks) {}
  ~StreamCore() = default;

  // Where `bytes` may be written, or null. They belong to the stream once cursor_ is advanced.
  PACKSMITH_INLINE uint8_t* Room(size_t bytes) {
    if (bits::rarely(room() < bytes) && !MakeRoom(bytes)) return nullptr;
    return cursor_;
  }
  bool Refuse(absl::Status status);
  [[gnu::cold, gnu::noinline]] bool RefuseBlock(const error& e, const char* function);
  gpu::BufferUses& uses() { return *uses_; }

  uint8_t* cursor_ = nullptr;  // the next block

 private:
  [[gnu::cold, gnu::noinline]] bool MakeRoom(size_t bytes);
  absl::Status Finish(absl::Span<const uint8_t> last);
  // For when the chunks or the list of uses are gone.
  void LoseChunks();
  uint8_t* begin() const { return reinterpret_cast<uint8_t*>(parts_.back().chunk.words.data()); }
  // Appends a link or end, for which room is kept, to the current chunk.
  void Close(const uint8_t* last, uint32_t bytes);

  Lifetime lifetime_;
  const Reference<gpu::ChunkSource> source_;
  const Reference<gpu::BufferUses> uses_;
  const StreamBlocks& blocks_;
  absl::Status status_;
  bool ended_ = false;
  uint8_t* limit_ = nullptr;  // the end of blocks
  std::vector<StreamPart> parts_;
};

// The blocks of the two kinds of stream. The stream itself writes links and ends.
template <class Gen>
struct Vdm {
  static constexpr char kName[] = "VDM";
  using Link = typename Gen::VDM_Stream_Link;
  using Terminate = typename Gen::VDM_Stream_Terminate;
  using Barrier = typename Gen::VDM_Barrier;
  template <class Block>
  static constexpr bool kHas =
      std::is_same_v<Block, Barrier> || std::is_same_v<Block, typename Gen::PPP_State> ||
      std::is_same_v<Block, typename Gen::VDM_State> ||
      std::is_same_v<Block, typename Gen::Index_List> ||
      std::is_same_v<Block, typename Gen::VDM_Tessellate>;
};
template <class Gen>
struct Cdm {
  static constexpr char kName[] = "CDM";
  using Link = typename Gen::CDM_Stream_Link;
  using Terminate = typename Gen::CDM_Stream_Terminate;
  using Barrier = typename Gen::CDM_Barrier;
  template <class Block>
  static constexpr bool kHas =
      std::is_same_v<Block, Barrier> || std::is_same_v<Block, typename Gen::CDM_Launch_Word_0>;
};

template <class Kind>
class ControlStream : public StreamCore {
 public:
  ControlStream(gpu::ChunkSource& source, gpu::BufferUses& uses)
      : StreamCore(source, uses, kBlocks) {}

  // Writes all of these blocks, consecutively in one chunk, or none.
  template <checks Checks = default_checks, class... Block>
  bool Emit(const Block&... blocks) {
    static_assert((Kind::template kHas<Block> && ...), "not a block of this kind of stream");
    return Write<Checks>(blocks...);
  }

  // Continues in another stream, and does not return.
  bool Jump(const address& target) { return Write<checks::on>(LinkTo(target)); }
  // Calls another stream, which must end with EndReturning().
  bool Call(const address& target) {
    static_assert(
        requires(typename Kind::Link link) { link.with_return; },
        "a link of the compute data master cannot return");
    typename Kind::Link link = LinkTo(target);
    link.with_return = true;
    return Write<checks::on>(link);
  }

 private:
  static typename Kind::Link LinkTo(const address& target) {
    return {.target_hi = High(target), .target_lo = Low(target)};
  }
  static error PackLink(uint8_t* to, const address& target) {
    return LinkTo(target).template pack<checks::on>(to);
  }
  static constexpr auto kTerminate = packed(typename Kind::Terminate{});
  static constexpr auto kReturn = packed(typename Kind::Barrier{.returns = true});
  static constexpr StreamBlocks kBlocks = {Kind::kName, Kind::Link::size, PackLink,
                                           absl::MakeConstSpan(kTerminate.bytes),
                                           absl::MakeConstSpan(kReturn.bytes)};

  template <checks Checks, class... Block>
  bool Write(const Block&... blocks) {
    uint8_t* const to = Room((size_t{0} + ... + SizeOf(blocks)));
    if (bits::rarely(to == nullptr)) return false;
    uint8_t* at = to;
    if (bits::rarely(!(PackAt<Checks>(at, blocks) && ...))) return false;
    cursor_ = at;
    (NoteUses(uses(), blocks), ...);
    return true;
  }
  template <checks Checks, class Block>
  bool PackAt(uint8_t*& at, const Block& block) {
    if (const error e = block.template pack<Checks>(at); bits::rarely(static_cast<bool>(e))) {
      return RefuseBlock(e, __PRETTY_FUNCTION__);
    }
    at += SizeOf(block);
    return true;
  }
};

template <class Gen>
using VdmStream = ControlStream<Vdm<Gen>>;
template <class Gen>
using CdmStream = ControlStream<Cdm<Gen>>;

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_CONTROL_STREAM_H_
