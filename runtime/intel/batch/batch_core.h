// The part of batches that does not depend on the generation: chunks, labels, and the addresses
// that packets hold. Use batch.h.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_CORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/handles.h"
#include "runtime/base/lifetime.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/chunks.h"

namespace packsmith::intel {

struct BatchOptions {
  // The batch is called by others: its end returns to the caller, and it cannot call in turn.
  // Refused before Gfx7.5, where the hardware has one level of batches.
  bool second_level = false;
  // Record the positions of addresses, for kernels that move buffers.
  bool relocations = false;
  // Addresses of chunks are in the global address space, not in the context's own. Gfx4 to Gfx5
  // have the global one only; there, jumps to chunks then keep the privileges of a secure batch.
  bool global = false;
  // The first packet is an end, so that the GPU does nothing; everything else is unchanged.
  bool noop = false;
  // The address after the end is a multiple of this many bytes: a power of two, at least 8 (which
  // kernels require of a batch's length), 64 for a whole cache line.
  uint32_t end_alignment = 8;
  // Room that is reserved until OpenKept(): for what every batch ends with, even if memory has run
  // out.
  uint32_t kept_dwords = 0;
};

// A place in a batch, known now or later. Valid for one batch only.
class Label {
 public:
  Label() = default;

 private:
  friend class BatchCore;
  explicit Label(uint32_t index) : index_(index) {}
  uint32_t index_ = ~uint32_t{0};
};

// One chunk of a batch.
struct BatchPart {
  gpu::Chunk chunk;
  uint32_t dwords = 0;  // packets
  uint32_t total = 0;   // with the jump to the next part, or the end
};

// An address in a batch, of a buffer that the kernel may move.
struct Relocation {
  uint32_t part = 0;
  uint32_t dword = 0;  // in the part; the address begins there
  uint8_t bit = 0;     // its lowest bit
  uint8_t width = 0;
  gpu::UseFlags flags = 0;
  uint32_t buffer = 0;
  uint64_t gpu = 0;  // as packed
};

// What the core needs to know of a generation's packets.
struct BatchCommands {
  const char* generation;
  unsigned start_dwords;
  unsigned start_address_dword, start_address_bit, start_address_width;
  bool has_second_level;
  // Packs the jump, or the call, to a batch.
  error (*start)(uint32_t* to, const address& target, bool second_level, bool global);
  unsigned end_dwords;
  const uint32_t* end;
  uint32_t noop;
};

class BatchCore {
 public:
  BatchCore(const BatchCore&) = delete;
  BatchCore& operator=(const BatchCore&) = delete;

  // The first error since the beginning, or since TakeStatus().
  const absl::Status& status() const { return status_; }
  // Returns the error and clears it, for callers that have corrected it.
  absl::Status TakeStatus();
  // For code that builds on a batch: keeps the first error, and drops the open group. Returns
  // false, for callers to pass on.
  bool Refuse(absl::Status status);
  // A number of 1 or more that no other batch has, nor this one before Reset(). For code that
  // remembers what it has emitted to a batch.
  uint64_t number() const { return number_; }

  // -- Labels -----------------------------------------------------------------------------------

  Label NewLabel();
  // The label's place is the next packet's, or that of a jump to another chunk if one comes first.
  // False if the label is already bound, or of another batch.
  bool Bind(Label label);
  Label Here();
  // `bytes` after the label, for any address member of this batch's packets. The bits are filled in
  // when the batch ends.
  address At(Label label, uint64_t bytes = 0) const;

  // Emits no-ops until the next packet's address is a multiple of `bytes`: a power of two from 4 to
  // 4096.
  bool AlignTo(uint32_t bytes);

  // -- Sizes, all in dwords ---------------------------------------------------------------------

  // Packets so far.
  size_t dwords() const;
  // What fits without a new chunk.
  size_t room() const { return static_cast<size_t>(limit_ - cursor_); }

  // -- What the batch uses ----------------------------------------------------------------------

  // Adds a buffer that no packet's address names: one that is reached by an offset from a base, for
  // example.
  void Use(uint32_t buffer, gpu::UseFlags flags) {
    if (buffer != 0 && !uses_.Known(buffer, flags)) AddUse(buffer, flags);
  }
  // All buffers whose addresses packets hold, each once; after End() also the batch's own.
  const gpu::BufferUses& uses() const { return uses_; }
  // With BatchOptions::relocations. Those of labels and of jumps between chunks come with End().
  absl::Span<const Relocation> relocations() const { return relocations_; }
  // What a kernel adds to the buffer's address, and writes from the relocation's dword on: the
  // distance from `base`, the presumed address of the buffer, together with the other bits of that
  // dword.
  uint32_t Delta(const Relocation& relocation, uint64_t base) const;

  // As BatchOptions.
  bool is_second_level() const { return options_.second_level; }
  bool has_relocations() const { return options_.relocations; }
  bool is_global() const { return options_.global; }

  // Others know addresses in the batch that no label stands for: a shader writes packets into it,
  // for example. It can no longer be copied into another batch.
  void StayInPlace() { stays_ = true; }
  bool stays_in_place() const { return stays_; }

  // -- Ending -----------------------------------------------------------------------------------

  // Fills in labels, and adds the end: no packets after this. An error if an earlier call failed,
  // or if a label that packets refer to was never bound; the batch is then unchanged. Errors of
  // ChunkSource::Flush(); the batch has then ended, and a GPU may not see it.
  absl::Status End();
  bool ended() const { return ended_; }
  // After End(): the GPU continues at `next`, where another batch begins, instead of ending;
  // several batches become one submission. The caller adds what the other one uses. With address 0
  // the batch ends again. The GPU must be done with the batch. FailedPrecondition if it has not
  // ended, or is second-level; InvalidArgument if a jump cannot reach `next`. On an error nothing
  // has changed, but for errors of ChunkSource::Flush().
  absl::Status ContinueAt(const address& next);
  absl::Span<const BatchPart> parts() const { return parts_; }
  // Makes the room of BatchOptions::kept_dwords usable.
  void OpenKept();
  // Forgets everything. The chunks belong to the source again.
  void Reset();

 protected:
  BatchCore(gpu::ChunkSource& source, const BatchOptions& options, const BatchCommands& commands);
  ~BatchCore();
  // For objects that refer to this batch.
  Lifetime& lifetime() const { return lifetime_; }

  // Where `dwords` may be written; false if there is no room, and no new chunk. After writing,
  // cursor_ must be advanced.
  PACKSMITH_INLINE bool FindRoom(size_t dwords, uint32_t*& to) {
    to = cursor_;
    if (bits::rarely(!Fits(dwords))) {
      StoreCursor(to);
      if (!MakeRoom(dwords)) return false;
      to = cursor_;
    }
    return true;
  }
  // The same, or null.
  uint32_t* Room(size_t dwords) {
    uint32_t* to;
    return FindRoom(dwords, to) ? to : nullptr;
  }
  // For slow paths: makes cursor_ visible to them as `to`, its value. If each of them begins with
  // this, compilers know that nothing reads the cursors between packets, and store only the last
  // one. (They would drop a store of the same value.)
  PACKSMITH_INLINE void StoreCursor(uint32_t* to) {
    asm("" : "+r"(to));
    cursor_ = to;
  }
  // Whether there is room for `dwords`.
  PACKSMITH_INLINE bool Fits(size_t dwords) const {
    // A packet's end is needed anyway, and if its size is known to be small the sum is a valid
    // address. Compared as numbers, since no array need be after the chunk.
    if (__builtin_constant_p(dwords <= kSmall) && dwords <= kSmall) {
      return reinterpret_cast<uintptr_t>(cursor_) + dwords * sizeof(uint32_t) <=
             reinterpret_cast<uintptr_t>(limit_);
    }
    return room() >= dwords;
  }
  // Continues in a new chunk, in which `dwords` fit.
  bool MakeRoom(size_t dwords);

  // Records an address that was packed from `bit` of *dword on. False if its label is unknown: the
  // packet must not become part of the batch then.
  bool Record(const uint32_t* dword, unsigned bit, unsigned width, uint64_t gpu, uint32_t buffer,
              gpu::UseFlags flags);
  // Lists a buffer of a packet that is about to be emitted; if the packet is refused, the buffer is
  // removed again, unless the packet is a group's. False, and nothing happens, if more must be
  // recorded than the use.
  template <bool InGroup>
  PACKSMITH_INLINE bool NoteUse(uint32_t buffer, gpu::UseFlags flags) {
    if (buffer == 0) return true;
    if (buffer >= special_from_) return false;
    if (!InGroup && noted_at_ != cursor_) {
      noted_at_ = cursor_;
      noted_from_ = uses_.mark();
    }
    return uses_.AddLater(buffer, flags);
  }
  // Forgets what was recorded of dwords from `end` on.
  void DropFrom(const uint32_t* end);
  // When the batch ends, `width` bits of the label's address, from its bit `from` on, are written
  // at `bit` of *dword.
  void Patch(const uint32_t* dword, unsigned bit, unsigned width, unsigned from, Label label);

  // function: __PRETTY_FUNCTION__ of a template whose P is the packet.
  bool RefusePacket(const error& e, const char* function);

  // How often Reset() was called: places from before a Reset() are invalid.
  uint32_t resets() const { return resets_; }
  // Removes the last `dwords`, unless a label is bound after their start.
  bool Retract(size_t dwords);

  // Until CloseGroup() only the group emits packets. Never null: if there is no room, or a group is
  // already open, what is written is discarded.
  PACKSMITH_INLINE uint32_t* OpenGroup(size_t dwords) {
    // If the batch cannot be written to, there is no room either.
    if (bits::rarely(dwords == 0 || !Fits(dwords))) return OpenSlowly(dwords);
    group_begin_ = cursor_;
    cursor_ = limit_;  // the batch itself has no room now
    return group_begin_;
  }
  PACKSMITH_INLINE void CloseGroup(uint32_t* end) {
    if (bits::rarely(group_failed_)) return DropGroup();
    group_begin_ = nullptr;
    cursor_ = end;
  }
  bool group_failed() const { return group_failed_; }
  // Memory for the writes of a group that is already lost.
  [[gnu::cold, gnu::noinline]] uint32_t* Nowhere(size_t dwords);
  [[gnu::cold, gnu::noinline]] bool RefuseInGroup(size_t dwords, size_t room);

  // Bind(), at a place in the current chunk.
  bool BindAt(Label label, const uint32_t* dword);

  bool AppendCore(const BatchCore& other);

  const BatchOptions& options() const { return options_; }
  // GPU address and handle of a place in the current chunk.
  address PlaceOf(const uint32_t* dword, access use) const;

  uint32_t* cursor_ = nullptr;  // the next packet
  uint32_t* limit_ = nullptr;   // packets end at most here

 private:
  static constexpr uint32_t kUnbound = ~uint32_t{0};

  static uint64_t NewNumber();
  absl::Status FlushPart(const BatchPart& part) { return source_->Flush(part.chunk, part.total); }
  // The chunks are gone, and all packets with them.
  void LoseChunks();
  // No chunk is so near the end of memory that adding this many dwords would wrap around.
  static constexpr size_t kSmall = 1024;
  // Handles from here on are labels.
  static constexpr uint32_t kFirstLabel = kFirstReservedHandle;

  struct Place {
    uint32_t part = kUnbound;
    uint32_t dword = 0;
  };
  // Bits that are the address of a label.
  struct LabelUse {
    Place place;
    uint8_t bit, width, from;
    bool is_address;  // not data
    gpu::UseFlags flags;
    uint32_t label;
    uint64_t bytes;  // after the label
  };

  [[gnu::cold, gnu::noinline]] uint32_t* OpenSlowly(size_t dwords);
  [[gnu::cold, gnu::noinline]] void DropGroup();
  // Room that is reserved for the jump or the end.
  size_t Reserve() const;
  uint32_t* begin() const { return parts_.back().chunk.words.data(); }
  bool in_group() const { return group_begin_ != nullptr || group_failed_; }
  // Where the batch's packets end.
  uint32_t* end() const { return in_group() ? group_begin_ : cursor_; }
  // special_from_, unless a group is lost.
  uint32_t FirstSpecial() const { return options_.relocations ? 0 : kFirstLabel; }
  // Drops the open group. Buffers that it names are not listed from now on.
  void FailGroup() {
    group_failed_ = true;
    special_from_ = 0;
  }
  Place PlaceAt(const uint32_t* dword) const;
  void AddUse(uint32_t buffer, gpu::UseFlags flags) {
    // Every address needs its relocation, so none may be skipped as known.
    uses_.Add(buffer, flags, /*remember=*/!options_.relocations);
  }
  absl::StatusOr<uint64_t> Resolve(const LabelUse& use) const;
  void Fill(const LabelUse& use, uint64_t gpu);
  void AddRelocation(const Place& place, unsigned bit, unsigned width, gpu::UseFlags flags,
                     uint32_t buffer, uint64_t gpu);

  mutable Lifetime lifetime_;
  const Reference<gpu::ChunkSource> source_;
  const BatchOptions options_;
  const BatchCommands& commands_;
  absl::Status status_;
  bool ended_ = false;
  bool kept_open_ = false;
  bool stays_ = false;
  uint32_t resets_ = 0;
  uint64_t number_ = NewNumber();
  uint32_t* group_begin_ = nullptr;  // cursor_, while a group is open
  bool group_failed_ = false;
  // Groups that were opened within another one, which is an error, and the memory for their writes.
  unsigned groups_within_ = 0;
  std::vector<std::unique_ptr<uint32_t[]>> nowhere_;
  const uint32_t* fence_ = nullptr;  // nothing before this is retracted
  std::vector<BatchPart> parts_;
  gpu::BufferUses uses_;
  // The place of the packet for which NoteUse() was called last, and the uses before it.
  const uint32_t* noted_at_ = nullptr;
  gpu::BufferUses::Mark noted_from_;
  // Handles from here on need more than a recorded use: those of labels; all, with relocations; and
  // all while a group is lost.
  uint32_t special_from_;
  // After End(): how many of uses_ and relocations_ are of packets, not of the batch itself.
  size_t packet_uses_ = 0, packet_relocations_ = 0;
  // After End(): the number of relocations without that of ContinueAt().
  size_t own_relocations_ = 0;
  std::vector<Place> labels_;
  std::vector<LabelUse> label_uses_;
  std::vector<Relocation> relocations_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_CORE_H_
