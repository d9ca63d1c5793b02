// Builds command streams: packets in chunks of memory, with every address recorded.
//
//   #include "runtime/intel/batch/batch.h"
//   #include "runtime/intel/batch/gfx9.h"
//
//   Batch<Gfx9> batch(chunks);  // chunks: where memory comes from, see chunks.h
//   batch.Emit(gfx9::PIPE_CONTROL{.command_streamer_stall_enable = true},
//              gfx9::MI_STORE_DATA_IMM{.address = {0x10000, handle}, .immediate_data = 42});
//   absl::Status status = batch.End();
//   for (const BufferUse& use : batch.uses().all()) { … }   // what the kernel must make resident
//
// A call that fails returns false (or null), and leaves the batch as it was: if one of several
// packets does not fit, none is emitted. status() keeps the first error, so that drivers can check
// it once, and End() fails while there is an error.
//
// A full chunk continues in another one with a jump; room for the jump or the end is always kept.
// Emitting allocates only chunks, and occasionally grows lists.
//
// Not thread-safe. The source must outlive the batch, and the batch its groups. A batch whose
// source was destroyed has lost its packets, and refuses new ones (base/lifetime.h).

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/batch_core.h"

namespace packsmith::intel {

// The position of a packet's only address.
struct AddressPlace {
  unsigned dword = 0, bit = 0, width = 0;
};
template <class P>
constexpr AddressPlace AddressPlaceIn() {
  AddressPlace place;
  const auto note = [&](const address&, unsigned dword, unsigned bit, unsigned width, access) {
    place = {dword, bit, width};
  };
  bits::addresses(P{}, note);
  return place;
}

// The bits of a packet, counted from its start, that a member has.
struct MemberBits {
  unsigned bit = ~0u, width = 0;
};
struct MemberFinder : bits::visitor<MemberFinder> {
  const char* wanted;
  MemberBits found = {};

  constexpr explicit MemberFinder(const char* name) : wanted(name) {}
  constexpr void member(const auto&, const auto&, unsigned bit, unsigned width, const char* name) {
    const char* rest = wanted;
    while (*rest != 0 && *rest == *name) ++rest, ++name;
    if (*rest == *name && found.width == 0) found = {bit, width};
  }
};
// Deliberately not constexpr: the compiler names it in the error if a packet lacks a member.
inline void PacketHasNoSuchMember(const char*) {}
// Of a member of any kind, by its name in C++. A name that the packet lacks does not compile.
template <class P>
consteval MemberBits MemberBitsIn(const char* member) {
  MemberFinder finder(member);
  P packet;
  P::ps_layout(packet, finder);
  if (finder.found.width == 0) PacketHasNoSuchMember(member);
  return finder.found;
}

template <class Gen>
struct BatchCommandsOf {
  using Start = typename Gen::BatchStart;

  // Whether batches can be called, by a start that is not a jump.
  static constexpr bool kHasSecondLevel = requires {
    Start::SECOND_LEVEL_BATCH_BUFFER_SECOND_LEVEL_BATCH;
  };

  static Start StartTo(const address& target, bool second_level, bool global) {
    Start start{.batch_buffer_start_address = target};
    if constexpr (requires { start.buffer_security_indicator; }) {
      // There is one address space.
      start.memory_space_select = Start::MEMORY_SPACE_SELECT_GTT;
      start.buffer_security_indicator = global ? Start::BUFFER_SECURITY_INDICATOR_SECURE
                                               : Start::BUFFER_SECURITY_INDICATOR_NON_SECURE;
    } else {
      start.address_space_indicator =
          global ? Start::ADDRESS_SPACE_INDICATOR_GGTT : Start::ADDRESS_SPACE_INDICATOR_PPGTT;
    }
    if constexpr (kHasSecondLevel) {
      start.second_level_batch_buffer = second_level
                                            ? Start::SECOND_LEVEL_BATCH_BUFFER_SECOND_LEVEL_BATCH
                                            : Start::SECOND_LEVEL_BATCH_BUFFER_FIRST_LEVEL_BATCH;
    }
    return start;
  }
  static error PackStart(uint32_t* to, const address& target, bool second_level, bool global) {
    return StartTo(target, second_level, global).template pack<checks::on>(to);
  }
  static constexpr auto kEnd = packed(typename Gen::BatchEnd{});
  static constexpr auto kNoop = packed(typename Gen::Noop{});
  static_assert(kNoop.length == 1, "padding is done dword by dword");
  static constexpr AddressPlace kTarget = AddressPlaceIn<Start>();
  // Whether addresses take one dword.
  static constexpr bool kShortAddresses = kTarget.bit + kTarget.width <= 32;
  static constexpr BatchCommands kCommands = {
      .generation = Gen::kName,
      .start_dwords = Start::length,
      .start_address_dword = kTarget.dword,
      .start_address_bit = kTarget.bit,
      .start_address_width = kTarget.width,
      .has_second_level = kHasSecondLevel,
      .start = PackStart,
      .end_dwords = kEnd.length,
      .end = kEnd.dw,
      .noop = kNoop.dw[0],
  };
};

// The number of dwords that these packets take.
template <class... P>
PACKSMITH_INLINE constexpr size_t DwordsOf(const P&... packets) {
  return (size_t{0} + ... + bits::words_of(packets));
}

// As memcpy, but for dwords: compilers know that it does not read the batch itself.
template <unsigned N>
PACKSMITH_INLINE inline void CopyDwords(uint32_t* to, const uint32_t (&from)[N]) {
  typedef uint32_t Four __attribute__((vector_size(16), aligned(4)));
  typedef uint32_t Two __attribute__((vector_size(8), aligned(4)));
  unsigned i = 0;
#pragma GCC unroll 16
  for (; i + 4 <= N; i += 4) {
    *reinterpret_cast<Four*>(to + i) = *reinterpret_cast<const Four*>(from + i);
  }
  if (N % 4 >= 2) {
    *reinterpret_cast<Two*>(to + i) = *reinterpret_cast<const Two*>(from + i);
    i += 2;
  }
  if (N % 2 != 0) to[i] = from[i];
}

template <class Gen>
class Batch : public BatchCore {
 public:
  explicit Batch(gpu::ChunkSource& source, const BatchOptions& options = {})
      : BatchCore(source, options, BatchCommandsOf<Gen>::kCommands) {}

  // -- Packets ----------------------------------------------------------------------------------

  // Emits all of these packets, contiguous in one chunk, or none.
  template <checks Checks = default_checks, class... P>
  PACKSMITH_INLINE bool Emit(const P&... packets) {
    const size_t dwords = DwordsOf(packets...);
    uint32_t* to;
    if (!FindRoom(dwords, to)) return false;
    if (bits::rarely(!(AllKnown<false>(packets, to) && ...) ||
                     (Doubtful<Checks>(packets) || ...))) {
      StoreCursor(to);
      return EmitNew<Checks>(P(packets)...);
    }
    uint32_t* at = to;
    (Write(at, packets), ...);
    cursor_ = at;
    return true;
  }

  // A packet and the items that follow it.
  template <checks Checks = default_checks, class P>
  PACKSMITH_INLINE bool EmitItems(const P& packet, span<const typename P::ps_item> items) {
    const size_t dwords = P::dwords_needed(items.size());
    uint32_t* to;
    if (!FindRoom(dwords, to)) return false;
    if (bits::rarely(!WriteItems<Checks, false>(to, packet, items))) return false;
    cursor_ = to + dwords;
    return true;
  }
  template <checks Checks = default_checks, class P, unsigned N>
  PACKSMITH_INLINE bool EmitItems(const P& packet, const typename P::ps_item (&items)[N]) {
    return EmitItems<Checks>(packet, span<const typename P::ps_item>(items));
  }

  // Packets that were packed before: constants, or state that rarely changes. Pass the buffers
  // whose addresses they hold to Use().
  template <unsigned N>
  PACKSMITH_INLINE bool EmitDwords(const uint32_t (&dwords)[N]) {
    uint32_t* to;
    if (!FindRoom(N, to)) return false;
    CopyDwords(to, dwords);
    cursor_ = to + N;
    return true;
  }
  bool EmitDwords(absl::Span<const uint32_t> dwords) {
    if (dwords.empty()) return true;
    uint32_t* const to = Reserve(dwords.size());
    if (to != nullptr) std::memcpy(to, dwords.data(), dwords.size() * 4);
    return to != nullptr;
  }
  // The result of packed(…). Refused if a value did not fit.
  template <unsigned N>
  bool EmitDwords(const packed_words<N>& packet) {
    if (packet.status) return RefuseAs<packed_words<N>>(packet.status);
    return EmitDwords(absl::MakeConstSpan(packet.dw, packet.length));
  }

  // Contiguous room for `dwords` dwords, at least 1, or null. They are part of the batch from now
  // on; the caller fills them in.
  uint32_t* Reserve(size_t dwords) {
    uint32_t* const to = Room(dwords);
    if (to != nullptr) cursor_ = to + dwords;
    return to;
  }

  // For code that knows only afterwards how much it has written: the place of the next packet, if
  // `most` dwords fit without a new chunk, or null. EndAt() makes what was written part of the
  // batch: all up to `end`.
  PACKSMITH_INLINE uint32_t* BeginAt(size_t most) {
    if (bits::rarely(!Fits(most))) return nullptr;
    // What compilers do not see: where there is room, there is a chunk.
    if (cursor_ == nullptr) __builtin_unreachable();
    return cursor_;
  }
  PACKSMITH_INLINE void EndAt(uint32_t* end) { cursor_ = end; }

  // Packets that must be in one chunk. Compilers can keep the group's cursor in a register, and
  // omit checks of what is known to fit: the fastest way to emit many packets.
  //
  //   {
  //     Batch<Gfx9>::Group group(batch, 40);
  //     group.Emit(…);
  //     group.Emit(…);
  //   }  // part of the batch from here on
  //
  // It takes at most the dwords that it was opened with. All of a group becomes part of the batch,
  // or nothing if there was no room for it or a packet was refused. (Buffers that it named stay
  // listed.) While it is open, the batch itself takes no packets.
  class Group;

  // -- Other batches ----------------------------------------------------------------------------

  // Copies all of `other`'s packets, with uses of buffers, relocations and labels. The copy is at
  // other addresses, so its labels are its own. `other` may have ended or not.
  bool Append(const Batch& other) { return AppendCore(other); }

  // Continues at `target`, and does not return.
  bool Jump(const address& target) { return EmitStart(target, options().second_level); }

  // Calls a second-level batch, whose end returns here. The hardware has one such level:
  // second-level batches cannot call. Before Gfx7.5 it has none.
  bool Call(const address& target) requires(BatchCommandsOf<Gen>::kHasSecondLevel) {
    if (options().second_level) {
      return Refuse(absl::FailedPreconditionError(
          "a second-level batch cannot call another one: the hardware stores one return address"));
    }
    return EmitStart(target, true);
  }

  // Ends the batch with a jump whose target its caller fills in; returns the address of that
  // target, for CallReturning(). Batches that call second-level ones can be called this way, and
  // those of generations without second-level batches. One caller at a time: the next one
  // overwrites the target. It can no longer be copied.
  absl::StatusOr<address> EndReturning();
  // Calls a batch that ended with EndReturning(): stores the return address, and jumps. The
  // streamer may have fetched ahead: if the called batch is less than the prefetch distance after
  // this place, the caller must pad or disable prefetching.
  bool CallReturning(const address& target, const address& return_slot);

  // Stores a label's address to memory when the GPU gets here: 8 bytes, before Gfx8 4 bytes.
  // Refused with BatchOptions::relocations from Gfx8 on.
  bool StoreLabel(const address& where, Label label);

 private:
  template <class G>
  friend class Arithmetic;

  template <class P>
  [[gnu::cold, gnu::noinline]] bool RefuseAs(const error& e) {
    return RefusePacket(e, __PRETTY_FUNCTION__);
  }

  bool EmitStart(const address& target, bool second_level) {
    using Commands = BatchCommandsOf<Gen>;
    uint32_t* const to = Room(Commands::Start::length);
    if (to == nullptr) return false;
    const error e = Commands::PackStart(to, target, second_level, options().global);
    if (e) return RefuseAs<typename Commands::Start>(e);
    constexpr AddressPlace kTarget = Commands::kTarget;
    if (target.buffer != 0 && !Record(to + kTarget.dword, kTarget.bit, kTarget.width, target.gpu,
                                      target.buffer, gpu::kReads)) {
      DropFrom(to);
      return false;
    }
    cursor_ = to + Commands::Start::length;
    return true;
  }

  // Whether a packet may hold a value that does not fit.
  template <checks Checks, class P>
  PACKSMITH_INLINE static bool Doubtful(const P& packet) {
    return Checks == checks::on && bits::doubtful(packet);
  }
  // Of a packet that is not doubtful.
  template <class P>
  PACKSMITH_INLINE static void Write(uint32_t*& at, const P& packet) {
    (void)packet.template pack<checks::off>(at);
    at += bits::words_of(packet);
  }

  // Whether all buffers of a packet's addresses are known, or have become so. Checked before the
  // packet is packed: afterwards the compiler must assume that the writes changed the packet. to:
  // where the packet goes.
  template <bool InGroup>
  struct Knower {
    Batch& batch;
    uint32_t* to;
    bool all = true;

    PACKSMITH_INLINE void operator()(const address& a, unsigned, unsigned, unsigned, access how) {
      // If the caller states the use, that is handled elsewhere.
      all &= a.use == access::from_xml;
      if (__builtin_constant_p(a.buffer) && a.buffer == 0) return;  // folds
      if (bits::rarely(!batch.uses().Known(a.buffer, gpu::UseOf(how)))) {
        if (!InGroup) batch.StoreCursor(to);
        all = all && batch.template NoteUse<InGroup>(a.buffer, gpu::UseOf(how));
      }
    }
  };
  template <bool InGroup, class P>
  PACKSMITH_INLINE bool AllKnown(const P& packet, uint32_t* to) {
    Knower<InGroup> knower{*this, to};
    bits::addresses(packet, knower);
    return knower.all;
  }
  // Records those that are not.
  template <class P>
  bool Note(const uint32_t* to, const P& packet) {
    bool good = true;
    const auto note = [&](const address& a, unsigned dword, unsigned bit, unsigned width,
                          access how) {
      const gpu::UseFlags flags = gpu::UseOf(how);
      if (a.buffer != 0 && !uses().Known(a.buffer, flags)) {
        good &= Record(to + dword, bit, width, a.gpu, a.buffer, flags);
      }
    };
    bits::addresses(packet, note);
    return good;
  }

  // The slow path of Emit(). It takes copies: if the packets themselves were passed to a function,
  // the compiler would have to keep them in memory, and would not know their values.
  template <checks Checks, class... P>
  [[gnu::cold, gnu::noinline]] bool EmitNew(const P&... packets) {
    const size_t dwords = DwordsOf(packets...);
    uint32_t* const to = Room(dwords);
    if (to == nullptr || !WriteNew<Checks>(to, packets...)) return false;
    cursor_ = to + dwords;
    return true;
  }
  // Packs and records addresses; the cursor does not move.
  template <checks Checks, class... P>
  bool WriteNew(uint32_t* to, const P&... packets) {
    uint32_t* at = to;
    if (!(PackAt<Checks>(at, packets) && ...)) return false;
    at = to;
    bool good = true;
    ((good &= Note(at, packets), at += bits::words_of(packets)), ...);
    if (!good) DropFrom(to);
    return good;
  }
  template <checks Checks, class P>
  bool PackAt(uint32_t*& at, const P& packet) {
    if (const error e = packet.template pack<Checks>(at); bits::rarely(static_cast<bool>(e)))
      return RefuseAs<P>(e);
    at += bits::words_of(packet);
    return true;
  }
  template <checks Checks, bool InGroup, class P>
  PACKSMITH_INLINE bool WriteItems(uint32_t* to, const P& packet,
                                   span<const typename P::ps_item> items) {
    if (const error e = packet.template pack<Checks>(to, items); bits::rarely(static_cast<bool>(e)))
      return RefuseAs<P>(e);
    bool known = AllKnown<InGroup>(packet, to);
    for (unsigned i = 0; i < items.size(); ++i) known &= AllKnown<InGroup>(items[i], to);
    return bits::rarely(!known) ? NoteItems(to, packet, items) : true;
  }
  template <class P>
  [[gnu::cold, gnu::noinline]] bool NoteItems(uint32_t* to, const P& packet,
                                              span<const typename P::ps_item> items) {
    bool good = Note(to, packet);
    for (unsigned i = 0; i < items.size(); ++i) good &= Note(to + P::dwords_needed(i), items[i]);
    if (!good) DropFrom(to);
    return good;
  }
};

template <class Gen>
class Batch<Gen>::Group {
 public:
  // If there is no room, ok() is false.
  PACKSMITH_INLINE Group(Batch& batch, size_t dwords)
      : batch_(batch), size_(dwords), begin_(batch.OpenGroup(dwords)) {}
  PACKSMITH_INLINE ~Group() { Close(); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Whether no error has occurred so far.
  bool ok() const { return open_ && !batch_.group_failed(); }
  size_t room() const { return size_ - used_; }

  // As the batch's.
  template <checks Checks = default_checks, class... P>
  PACKSMITH_INLINE bool Emit(const P&... packets) {
    const size_t dwords = DwordsOf(packets...);
    if (bits::rarely(room() < dwords)) return batch_.RefuseInGroup(dwords, room());
    uint32_t* const to = Take(dwords);
    if (bits::rarely(!(batch_.template AllKnown<true>(packets, to) && ...) ||
                     (batch_.template Doubtful<Checks>(packets) || ...))) {
      return EmitNew<Checks>(batch_, to, P(packets)...);
    }
    uint32_t* at = to;
    (Write(at, packets), ...);
    return true;
  }
  template <checks Checks = default_checks, class P>
  PACKSMITH_INLINE bool EmitItems(const P& packet, span<const typename P::ps_item> items) {
    const size_t dwords = P::dwords_needed(items.size());
    if (bits::rarely(room() < dwords)) return batch_.RefuseInGroup(dwords, room());
    return batch_.template WriteItems<Checks, true>(Take(dwords), packet, items);
  }
  template <checks Checks = default_checks, class P, unsigned N>
  PACKSMITH_INLINE bool EmitItems(const P& packet, const typename P::ps_item (&items)[N]) {
    return EmitItems<Checks>(packet, span<const typename P::ps_item>(items));
  }
  template <unsigned N>
  PACKSMITH_INLINE bool EmitDwords(const uint32_t (&dwords)[N]) {
    if (bits::rarely(room() < N)) return batch_.RefuseInGroup(N, room());
    std::memcpy(Take(N), dwords, sizeof(dwords));
    return true;
  }
  bool EmitDwords(absl::Span<const uint32_t> dwords) {
    if (room() < dwords.size()) return batch_.RefuseInGroup(dwords.size(), room());
    if (!dwords.empty()) std::memcpy(Take(dwords.size()), dwords.data(), dwords.size() * 4);
    return true;
  }
  // Room for `dwords` dwords, part of the group from now on; the caller fills them in. Never null:
  // if there is no room, the group is lost, and what is written is discarded.
  PACKSMITH_INLINE uint32_t* Reserve(size_t dwords) {
    if (bits::rarely(room() < dwords)) {
      batch_.RefuseInGroup(dwords, room());
      return batch_.Nowhere(dwords);
    }
    return Take(dwords);
  }
  // Records an address that the caller filled in: `width` bits from `bit` of *dword on, which is of
  // Reserve(). Emit() does the same for a packet's. False if the address is of a label that the
  // batch does not have; the group is then lost.
  PACKSMITH_INLINE bool Note(const uint32_t* dword, unsigned bit, unsigned width, const address& a,
                             gpu::UseFlags flags) {
    if (a.buffer == 0 || batch_.uses().Known(a.buffer, flags)) return true;
    return batch_.Record(dword, bit, width, a.gpu, a.buffer, flags);
  }
  // The label's place is exactly the next packet's.
  bool Bind(Label label) { return ok() && batch_.BindAt(label, begin_ + used_); }

  // Makes the packets part of the batch, if none was refused. The destructor calls it.
  PACKSMITH_INLINE void Close() {
    if (open_) batch_.CloseGroup(begin_ + used_);
    open_ = false;
    used_ = size_;
  }

 private:
  // The place of a packet that fits. Its room is taken even if it is refused: the compiler then
  // knows the places of the next ones, and can omit checks for room. The group is lost then anyway.
  PACKSMITH_INLINE uint32_t* Take(size_t dwords) {
    uint32_t* const to = begin_ + used_;
    used_ += dwords;
    return to;
  }
  // Not a member: the compiler would have to keep the group in memory.
  template <checks Checks, class... P>
  [[gnu::cold, gnu::noinline]] static bool EmitNew(Batch& batch, uint32_t* to,
                                                   const P&... packets) {
    return batch.template WriteNew<Checks>(to, packets...);
  }

  Batch& batch_;
  size_t size_, used_ = 0;
  uint32_t* const begin_;
  bool open_ = true;
};

// The dwords that Batch::StoreLabel() takes.
template <class Gen>
constexpr size_t StoreLabelDwords() {
  using Store = typename Gen::StoreData;
  if constexpr (BatchCommandsOf<Gen>::kShortAddresses) {
    return Store::dwords_needed(1);
  } else {
    return 2 * Store::length;
  }
}

template <class Gen>
bool Batch<Gen>::StoreLabel(const address& where, Label label) {
  using Store = typename Gen::StoreData;
  if constexpr (BatchCommandsOf<Gen>::kShortAddresses) {
    // The packet's data is a word that kernels can correct, as if it were the packet's address.
    constexpr size_t kLength = StoreLabelDwords<Gen>();
    uint32_t* const to = Room(kLength);
    if (to == nullptr) return false;
    Store store{.address = where};
    if constexpr (requires { store.memory_address_type; }) {
      store.memory_address_type = true;  // not a physical address
    }
    const typename Store::ps_item data[] = {{}};
    if (!WriteItems<checks::on, false>(to, store, span<const typename Store::ps_item>(data))) {
      return false;
    }
    constexpr unsigned kData = MemberBitsIn<typename Store::ps_item>("immediate_data").bit;
    const address place = At(label);
    if (!Record(to + Store::dwords_needed(0) + kData / 32, kData % 32, 32, place.gpu, place.buffer,
                gpu::kReads)) {
      DropFrom(to);
      return false;
    }
    cursor_ = to + kLength;
  } else {
    if (options().relocations) {
      return Refuse(absl::FailedPreconditionError(
          "a label's address cannot be stored with BatchOptions::relocations: the kernel would not "
          "update it"));
    }
    const address upper(where.gpu + 4, where.buffer, where.use);
    uint32_t* const to = Room(2 * Store::length);
    if (to == nullptr ||
        !WriteNew<checks::on>(to, Store{.address = where}, Store{.address = upper})) {
      return false;
    }
    constexpr unsigned kData = MemberBitsIn<Store>("immediate_data").bit;
    Patch(to + kData / 32, kData % 32, 32, 0, label);
    Patch(to + Store::length + kData / 32, kData % 32, 32, 32, label);
    cursor_ = to + 2 * Store::length;
  }
  return true;
}

template <class Gen>
absl::StatusOr<address> Batch<Gen>::EndReturning() {
  using Commands = BatchCommandsOf<Gen>;
  constexpr AddressPlace kTarget = Commands::kTarget;
  static_assert(kTarget.dword + (Commands::kShortAddresses ? 1 : 2) <= Commands::Start::length,
                "the slot takes what StoreLabel() stores");
  if (options().second_level) {
    Refuse(absl::FailedPreconditionError("a second-level batch returns when it ends: call End()"));
    return status();
  }
  if (!EmitStart(address(), false)) return status();
  const address slot = PlaceOf(cursor_ - Commands::Start::length + kTarget.dword, access::write);
  if (absl::Status ended = End(); !ended.ok()) {
    Retract(Commands::Start::length);
    return ended;
  }
  StayInPlace();  // callers store into this one's jump
  return slot;
}

template <class Gen>
bool Batch<Gen>::CallReturning(const address& target, const address& return_slot) {
  using Commands = BatchCommandsOf<Gen>;
  // The target is checked first, and all room taken at once, so that nothing fails half-way.
  uint32_t jump[Commands::Start::length];
  if (const error e = Commands::PackStart(jump, target, false, options().global)) {
    return RefuseAs<typename Commands::Start>(e);
  }
  if (Room(StoreLabelDwords<Gen>() + Commands::Start::length) == nullptr) return false;
  const Label back = NewLabel();
  return StoreLabel(return_slot, back) && Jump(target) && Bind(back);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_BATCH_H_
