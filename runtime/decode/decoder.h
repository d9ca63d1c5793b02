// Walks the streams of a dump and everything that they point to. All knowledge of packets is in the
// tables.
#ifndef PACKSMITH_RUNTIME_DECODE_DECODER_H_
#define PACKSMITH_RUNTIME_DECODE_DECODER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/field_checks.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/part_finder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/trace/trace.h"
#include "runtime/decode/walk/overlay.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

enum class Follow : uint8_t {
  kNone,     // the submission's own batch, no jumps
  kBatches,  // jumps and calls
  kAll,      // and every pointer
};

struct Options {
  Follow follow = Follow::kAll;
  // Bounds for hostile input, for one submission. Reaching one is reported as a problem, once a
  // submission; calls that are too deep are reported one by one. A long packet counts as several,
  // 64 bytes each. Small dumps have lower bounds, see kFewest and kRepeats.
  uint64_t most_packets = uint64_t{1} << 24;
  uint64_t most_structs = uint64_t{1} << 22;
  // A small dump may have at least this many.
  uint64_t least_packets = 0;
  uint64_t least_structs = 0;
  uint32_t deepest_call = 16;
  uint32_t deepest_pointer = 8;
  uint64_t most_data_bytes = 64;                 // shown of each piece of data that has no rows
  uint64_t most_rows = 8;                        // shown of vertices, indices and constants
  uint64_t most_row_bytes = 4096;                // and at most this many bytes of them
  uint64_t most_code_bytes = uint64_t{1} << 20;  // of a program
  // Only lists packets: Sink::OnPackets is called instead of OnRecord. Fields are not decoded (so
  // there are no faults), and of the pointers only jumps and calls are followed. Ten times as fast.
  bool brief = false;
  // A batch continues after the packet that ends it, to the end of the memory: drivers put several
  // batches into one buffer, and a GPU that has lost its way may run into the next. With
  // Follow::kNone it continues after jumps, too.
  bool continue_past_end = false;
  // Results for a record are reused for similar ones. The output is the same without this, but
  // slower.
  bool shapes = true;
  // The id of the first record: if several decoders write to one output, ids continue.
  uint64_t first_id = 0;
  // So do the numbers of draws and dispatches.
  uint64_t draws_before = 0;
  uint64_t dispatches_before = 0;
  // Sink::OnLead is called.
  bool leads = false;
  // Below draws and dispatches, the packets whose settings they use (settings.h) are shown once
  // more, with what these point to by then. Not counted in the summary.
  struct Bound {
    // Below all of them, the packets that serve one role (Container::serves).
    bool each = false;
    // Below this one, all packets from before the previous draw (for a dispatch: draw or dispatch),
    // or from an earlier submission. Counted from 1; 0: none.
    uint64_t draw = 0;
    uint64_t dispatch = 0;

    bool any() const { return each || draw != 0 || dispatch != 0; }
  } bound = {};
};

// Batches may call others many times, and tables may refer to each other, so that a few bytes could
// cause endless work. A submission may have this many packets, and as many structures, in addition
// to those for which its dump has memory: each dword up to kRepeats times.
inline constexpr uint64_t kFewest = uint64_t{1} << 14;
inline constexpr uint64_t kRepeats = 2;
// What is shown once more below draws may be this many times as much.
inline constexpr uint64_t kBoundRepeats = 16;
// The largest size that is assumed for memory whose bytes are not made yet.
inline constexpr uint64_t kDeferredSize = uint64_t{1} << 24;

// Decodes any number of dumps, in order; state bases persist from one to the next per (context,
// slot). Not thread-safe.
class Decoder {
 public:
  // Tables and sink must outlive the decoder.
  Decoder(const tables::Tables& tables, Sink& sink, const Options& options = {});

  // Writes a dump's records. Never fails as a whole: what cannot be decoded is shown as such.
  void Decode(const Dump& dump);
  // The same for these submissions only, which need not be the dump's own.
  void Decode(const Dump& dump, absl::Span<const Submission> submissions);
  // Writes a draw or dispatch that was executed by other means, and below it the packets of
  // `settings` that it uses, with what all of them point to in the dump's memory: as Decode() with
  // Options::bound, which must be `each`, but in another order. The submission has the engine, the
  // context and the space of addresses. What draws read of vertices is not shown.
  void DecodeExecuted(const Dump& dump, const Submission& submission, const Setting& work,
                      const Settings& settings);
  // The text of what has been decoded so far reaches the sink's output, if it is written as
  // decoded.
  void Pause() { sink_.OnPause(); }
  // The summary of what has been decoded so far.
  const Summary& summary() const { return summary_; }
  // The id that the next record gets.
  uint64_t next_id() const { return next_id_; }
  // Writes the summary and returns it. The last call.
  Summary Finish();

 private:
  struct Visited;
  struct Frame {
    uint32_t space;
    uint64_t address;
    uint64_t end;  // no packet begins at or after this
    uint32_t depth;
    uint64_t call = 0;      // where the frame began
    bool ring = false;      // a piece of a ring: it ends without a packet that ends it
    bool past_end = false;  // after its end: it stops where the memory does
    // The part of a ring that wraps to its beginning.
    uint64_t wrapped_begin = 0, wrapped_end = 0;
    uint64_t version = 0;      // of the stored memory when the frame began
    uint64_t begin = address;  // of the memory that has been decoded without a jump
    // On a path that begins at a jump which may have been taken, after the path that ignores the
    // jump. Ends where the frame has been before.
    bool branching = false;
    std::unique_ptr<Visited> visited = nullptr;  // from the first jump on
  };
  // Where a frame has been, and where else it might go.
  struct Visited {
    // The frame's beginning and its jumps' targets (space, address), with the version of the stored
    // memory: a frame that returns to one of these repeats itself.
    absl::flat_hash_set<std::tuple<uint32_t, uint64_t, uint64_t>> seen;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> been;      // (space, begin) to end
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> branches;  // (space, address) to the jump
  };
  // Streams rarely call others; those that pointers point to are many, and short.
  using Stack = absl::InlinedVector<Frame, 2>;
  // Vertices, indices: data whose type is in other packets, and that a draw reads.
  struct Slot {
    bool set = false;
    uint32_t space = 0;
    uint64_t address = 0, size = 0, stride = 0;
    bool per_instance = false;
    uint32_t step = 1;
    const tables::Format* format = nullptr;
    absl::string_view name;  // of the format
  };
  struct RowElement {
    bool set = false;
    uint64_t slot = 0, offset = 0;
    const tables::Format* format = nullptr;
    absl::string_view name;
    bool per_instance = false;
    uint32_t step = 1;
  };
  struct Rows {
    std::vector<Slot> slots;
    std::vector<RowElement> elements;
    uint64_t version = 0;  // counts changes
  };
  // What a draw reads of its data; the same again is not shown.
  struct Read {
    uint64_t rows_version, indices_version, first, count, first_instance, instances, bias;
    bool indexed;
    std::optional<uint64_t> cut;  // the index that ends a primitive
    bool operator==(const Read&) const = default;
  };
  // A context's state from earlier packets.
  struct State {
    std::vector<std::optional<uint64_t>> bases;
    // By Actions::memory; empty: there was none.
    std::vector<std::vector<uint8_t>> last;
    // The same for packets between here and the next draw. A pointer's target is read by the draw,
    // and drivers set the pointer before they set the number of elements.
    struct Ahead {
      uint64_t look;  // by which it was found; results of earlier looks are ignored
      uint64_t address;
      std::vector<uint8_t> bytes;
    };
    absl::flat_hash_map<uint32_t, Ahead> ahead;
    uint64_t looks = 0;
    std::vector<Rows> rows;  // by kind of data; only those that draws read have slots
    // Counts changes of bases and of `last`.
    uint64_t changes = 0;
    std::optional<Read> last_read;
    std::vector<Settings> settings;  // by stream; only with Options::bound
    uint32_t ahead_space = 0;
    uint64_t ahead_begin = 1, ahead_end = 0;  // addresses that were read ahead
  };
  // What a container requires besides being shown, so that most packets cost nothing.
  struct Actions {
    bool pointers = false;
    bool asks_state = false;  // a pointer's count or size is in another packet, or in its target
    bool sets_or_writes = false;
    bool remembered = false;
    bool parts_remembered = false;
    bool points_to_remembered = false;  // pointers of its fixed part, to structures
    bool describes_data = false;        // sets slots or elements that draws read
    uint32_t memory = 0;                // where State keeps what is remembered
  };

  // A record's shape is not replaced while the record, and what it points to, is being shown.
  class ShapeUse {
   public:
    explicit ShapeUse(Shape* shape) : form_(shape) {
      if (form_ != nullptr) ++form_->users;
    }
    ~ShapeUse() {
      if (form_ != nullptr) --form_->users;
    }
    ShapeUse(const ShapeUse&) = delete;
    ShapeUse& operator=(const ShapeUse&) = delete;

   private:
    Shape* const form_;
  };

  struct Target {
    uint32_t space;
    uint64_t address;
    bool base_known;
  };

  // The bits of a finder's marks.
  enum Mark : uint8_t { kDraw = 1, kDispatch = 2, kBusy = 4 };

  tables::PacketFinder& Finder(uint32_t stream, uint64_t engines) const;
  // With Options::brief: passes over packets that require nothing of the decoder, within one piece
  // of memory.
  void WalkBriefly(tables::PacketFinder& finder, Frame& frame);
  void AddBrief(const Brief& brief);
  void FlushBriefs();
  void ShowRegisters(absl::string_view engine, absl::Span<const ErrorRegister> registers);
  // What holds before the first packet of a submission. Returns the id of its record.
  uint64_t BeginSubmission(const Dump& dump, const Submission& submission);
  void WalkSubmission(const Dump& dump, const Submission& submission);
  void WalkStream(uint32_t stream, uint64_t engines, Frame frame, uint64_t parent);
  // Shows the packet in `bytes` and all that it points to. `now` are the bytes after stores by
  // earlier packets, `shape` the bytes' shape, or null.
  void Packet(uint32_t container, const Frame& frame, absl::Span<const uint8_t> bytes,
              absl::Span<const uint8_t> now, uint64_t length, uint64_t parent, Shape* shape);
  // The bytes of a packet with what was stored in them; fills stored_.
  absl::Span<const uint8_t> Patched(uint32_t space, uint64_t address,
                                    absl::Span<const uint8_t> bytes, std::vector<uint8_t>& scratch);
  // Reads later packets of the same draw, and the structures that they point to.
  void LookAhead(uint32_t stream, uint64_t engines, const Frame& frame);
  // Notes the structures that a packet ahead points to, if expressions use their fields.
  void LookBehind(uint32_t packet, absl::Span<const uint8_t> bytes, uint64_t address);
  void NoteAhead(uint32_t container, absl::Span<const uint8_t> bytes, uint64_t address);
  // Shows dwords that no packet matches, up to the next plausible packet. Returns their bytes.
  uint64_t Unknown(uint32_t stream, uint64_t engines, const Frame& frame, uint64_t parent);
  // Shows a packet and all that it points to, if that equals what an earlier packet of the shape
  // points to. `bytes` are the packet's, and more. False: nothing has changed.
  bool Replays(Shape& shape, const Frame& frame, absl::Span<const uint8_t> bytes, uint64_t parent);
  // The place of a record of a trace: one piece of memory, which may be longer than the record.
  struct Place {
    uint32_t space = 0;
    uint64_t address = 0;
    absl::Span<const uint8_t> bytes;
  };
  // Fills places_ from the second one on.
  bool FindAll(Trace& trace);
  // Lets fields of the node vary. False: the record is a different one.
  bool Widen(Trace& trace, size_t index);
  // Whether no other packet has such an opcode.
  static bool IsItself(const Guard& node, absl::Span<const uint8_t> bytes);
  // Tests the node's other conditions, and applies the record's effects to the state.
  bool HasMore(Trace& trace, size_t index);
  // The target of a pointer whose meaning depends on states, or that is not plain. Its base is not
  // known if its meaning has changed.
  Target ChosenTarget(const Trace& trace, size_t index) const;
  // Bits of what State::last remembers.
  std::optional<uint64_t> Said(uint32_t memory, uint64_t bit, uint32_t width) const;
  bool IsSaid(absl::Span<const Guard::StateRead> all) const;
  // Whether the memory has the node's program.
  bool IsCodeOf(Guard& node, const Place& place);
  // Reverts the effects of FindAll() on the state.
  void Undo();
  void Show(Trace& trace, uint32_t depth, uint64_t parent);
  // Packet() or QuietPacket(), which may record what is shown and make a trace of it.
  void ShowRecording(Shape& shape, const tables::Container& container, const Frame& frame,
                     absl::Span<const uint8_t> bytes, uint64_t parent);
  struct TraceRecorder;
  bool IsRecording() const;
  // No trace can be made of what is being shown.
  void Abort();
  void NotePointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                   const Target& target, uint64_t parent);
  void NoteRecord(const Record& record, const Shape* shape);
  // False: what it points to does not follow from bits alone.
  bool Finish(TraceRecorder& recorder);
  // Packet() for a shape that is quiet.
  void QuietPacket(Shape& shape, const tables::Container& container, const Frame& frame,
                   absl::Span<const uint8_t> bytes, uint64_t parent);
  // Makes the shape of a record that has none, if that is possible.
  void Learn(uint32_t index, const RecordView& record, uint64_t size);
  void Remember(uint32_t index, const RecordView& record);
  bool UseShapes() const { return options_.shapes && !options_.brief; }
  // For later packets' expressions. `memory`: as in Actions.
  void RememberBytes(uint32_t memory, absl::Span<const uint8_t> bytes);
  // Calls visit(memory, byte, size) for the remembered parts of a record.
  template <class Visit>
  void ForEachRemembered(uint32_t index, const RecordView& record, const Visit& visit) const {
    if (actions_[index].remembered) visit(actions_[index].memory, 0, record.bytes.size());
    if (!actions_[index].parts_remembered) return;
    for (const PlacedPart& placed : record.parts) {
      const uint32_t part = placed.part->container;
      if (!actions_[part].remembered) continue;
      // The last of several, which may be cut.
      const uint64_t bytes = tables_.container(part).bytes;
      const uint64_t at = placed.bit / 8 + (placed.count - 1) * bytes;
      visit(actions_[part].memory, at, std::min(bytes, record.bytes.size() - at));
    }
  }
  // If the field sets a base. `holds`: its condition does.
  void SetBase(const FieldAt& at, absl::Span<const uint8_t> bytes, bool holds);
  void RememberRegister(uint32_t index, absl::Span<const uint8_t> written);
  // Whether a known packet is here, and after it another one or the end.
  bool Plausible(uint32_t stream, uint64_t engines, absl::Span<const uint8_t> bytes) const;
  // Whether skipping unknown packets by the lengths that the stream declares for them reaches a
  // known one, or the end.
  bool ReachesPacket(uint32_t stream, uint64_t engines, absl::Span<const uint8_t> bytes) const;
  // Reports that a frame of `depth` ends without a packet that ends it.
  void SayWhereItEnds(const Frame& frame, size_t depth);
  // Applies the flow of a packet to the stack of frames. False: the stream ends here.
  bool Flow(const tables::Container& container, absl::Span<const uint8_t> bytes, uint64_t next,
            Stack& stack);
  // Whether the frame has decoded what is there.
  static bool HasBeen(const Frame& frame, uint32_t space, uint64_t address);
  // The frame continues there.
  static void Go(Frame& frame, uint32_t space, uint64_t address);
  // The last frame's path has ended. It continues at targets of jumps that may have been taken, or
  // is done.
  void Leave(Stack& stack);

  // `own_length`: the length is the one that the record states.
  void CheckFields(const RecordView& record, uint64_t length, bool own_length);
  // A field that points to existing memory.
  struct Lead {
    const FieldAt* at;
    const tables::Pointer* pointer;
    Target target;
    size_t number;                 // of the field among the record's pointers, from 0
    std::optional<uint64_t> size;  // SizeOf() data
  };
  // A record's leads, valid while the state does not change.
  struct Targets {
    absl::InlinedVector<Lead, 4> all;
    absl::InlinedVector<FieldAt, 4> fields;  // theirs, if the record has no shape
    uint64_t changes = 0;                    // of the state when they were found
  };
  void CheckPointers(const RecordView& record, const Shape* shape, Targets& leads);
  // Whether a pointer with IsUnread() points to memory that the submission may not use. False
  // unless the dump declares that it has all memory, and for records in tables of guessed length.
  bool IsForbidden(const tables::Pointer& pointer, const Target& target) const;
  // Whether that holds for any pointer of a record with a shape, which is at `record_`.
  bool HasForbidden(const Shape& shape, absl::Span<const uint8_t> bytes) const;
  // The reason why the target has no memory.
  std::string WhyMissing(const FieldAt& at, const Target& target) const;
  // TargetOf() for a plain pointer.
  Target PlainTarget(const ShapePointer& known, absl::Span<const uint8_t> bytes) const;
  // Adds a lead, or a fault, or nothing. `somewhere`: PointsNowhere() is known to be false.
  void CheckPointer(const FieldAt& at, const tables::Pointer& pointer, const Target& target,
                    bool somewhere, const Scope& scope, size_t number, Targets& leads);
  void SetsAndWrites(const RecordView& record, const Shape* shape, uint32_t space, uint64_t address,
                     uint64_t parent);
  void FollowPointers(const RecordView& record, const Targets& leads, uint64_t parent,
                      uint32_t depth);
  void FollowPointer(const RecordView& record, const FieldAt& at, const tables::Pointer& pointer,
                     const Scope& scope, const Target& target, std::optional<uint64_t> size,
                     uint64_t parent, uint32_t depth);
  // Calls visit(at, pointer, scope, number) for each field that points somewhere now.
  template <class Visit>
  void ForEachPointer(const RecordView& record, const Visit& visit);
  void FollowStructs(const tables::Pointer& pointer, const Scope& scope, uint32_t space,
                     uint64_t address, uint64_t parent, uint32_t depth);

  // Structures one after the other.
  struct Table {
    uint32_t target;
    uint32_t other;  // what each may be instead, or kNone
    uint64_t count;
    std::optional<uint64_t> size;  // of each, if it is stated elsewhere
    bool is_table;                 // even if it has only one element
    bool until_zero;
  };
  // False: it ends before its last one.
  bool ShowTable(const Table& table, uint32_t space, uint64_t address, uint64_t parent,
                 uint32_t depth);
  // The evidence against a structure being in `bytes`: bits that are not described, values without
  // a name, pointers to missing memory, faults.
  int Misfits(const RecordView& record);
  // The current value of a base.
  std::optional<uint64_t> BaseNow(uint32_t base) const;
  Target TargetOf(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                  absl::Span<const uint8_t> bytes) const;
  struct Count {
    uint64_t count;
    bool known;  // else `count` is the most that are read
  };
  // The same by the number alone, without the size of a bounded table.
  Count SaidCountOf(const tables::Pointer& pointer, const Scope& scope) const;
  bool IsBoundedTable(const tables::Pointer& pointer) const;
  // The expressions for the amount of data, and its kind.
  static std::array<uint32_t, 8> ExpressionsOf(const tables::Pointer& pointer) {
    return {pointer.count, pointer.size,   pointer.stride, pointer.end,
            pointer.slot,  pointer.format, pointer.step,   pointer.simd};
  }
  // The first of a field's pointers whose condition holds, or null.
  const tables::Pointer* PointerOf(const tables::Extra& extra, const Scope& scope) const;
  // No structures, or no bytes. Of data `size` is set, then.
  bool PointsNowhere(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                     std::optional<uint64_t>& size) const;
  // Bytes of data at a target.
  uint64_t SizeOf(const tables::Pointer& pointer, const Scope& scope, const Target& target) const;
  // Whether it points to the beginning of a bare batch, and not to a stream.
  bool IsNull(const tables::Pointer& pointer, const Target& target) const {
    return target.address == bare_begin_ && pointer.target_kind != tables::TargetKind::kStream;
  }
  struct Formatted {
    const tables::Format* format = nullptr;
    absl::string_view name;
  };
  Formatted FormatOf(const tables::Pointer& pointer, const Scope& scope) const;
  // Notes a packet's description of data that draws read.
  void DescribeData(const RecordView& record);
  // Shows the data that a draw reads.
  void DrawData(const tables::Container& container, absl::Span<const uint8_t> bytes,
                uint64_t parent);
  // Shows rows of a slot from `first` on; `elements_` are filled. Returns the bytes that are shown.
  absl::Span<const uint8_t> ShowRows(absl::string_view name, const Slot& slot, int64_t number,
                                     uint64_t first, uint64_t most, uint64_t parent);
  void FollowData(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                  uint64_t size, uint64_t parent);
  void FollowCode(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                  uint64_t parent);
  struct Code {
    uint64_t size;
    absl::string_view ends;
  };
  Code CodeOf(const tables::DataKind& kind, const tables::Pointer& pointer, const Scope& scope,
              const Target& target);
  // Whether one more structure or piece of data is within the bounds; else reports a problem.
  bool MayFollow(uint64_t bytes);
  Count CountOf(const tables::Pointer& pointer, const Scope& scope) const;
  std::optional<uint64_t> Evaluate(uint32_t expression, const Scope& scope) const;
  // The value that a leaf of another packet has now.
  std::optional<uint64_t> Ask(uint32_t container, uint32_t leaf) const;
  // Memory::Find().
  const Memory::Segment* Find(uint32_t space, uint64_t address) const {
    for (const Memory::Segment* segment : recent_) {
      if (segment != nullptr && segment->Contains(space, address)) return segment;
    }
    return FindAnew(space, address);
  }
  const Memory::Segment* FindAnew(uint32_t space, uint64_t address) const;
  // The part of them that is in one piece, without a copy; may be empty.
  absl::Span<const uint8_t> There(uint32_t space, uint64_t address, uint64_t size) const {
    const Memory::Segment* const segment = Find(space, address);
    if (segment == nullptr || address - segment->address > segment->bytes.size()) return {};
    // A size may be of more bytes than this machine's pointers reach.
    const auto at = static_cast<size_t>(address - segment->address);
    return segment->bytes.subspan(
        at, static_cast<size_t>(std::min<uint64_t>(size, segment->bytes.size() - at)));
  }
  // Bytes of memory, in one piece; fewer where the memory ends.
  absl::Span<const uint8_t> Bytes(uint32_t space, uint64_t address, uint64_t size,
                                  std::vector<uint8_t>& scratch) const {
    const Memory::Segment* const segment = Find(space, address);
    if (segment == nullptr) return {};
    return BytesFrom(*segment, address, size, scratch);
  }
  // The same, of memory that begins in the segment.
  absl::Span<const uint8_t> BytesFrom(const Memory::Segment& segment, uint64_t address,
                                      uint64_t size, std::vector<uint8_t>& scratch) const {
    const uint64_t offset = address - segment.address;
    if (offset <= segment.bytes.size() && size <= segment.bytes.size() - offset) {
      return {segment.bytes.data() + offset, static_cast<size_t>(size)};
    }
    return BytesAcross(segment.space, address, size, scratch);
  }
  // The same, of memory that is not in one piece.
  absl::Span<const uint8_t> BytesAcross(uint32_t space, uint64_t address, uint64_t size,
                                        std::vector<uint8_t>& scratch) const;
  // While it lives, records belong to a packet of this role: the next draw or dispatch.
  class Working {
   public:
    Working(Decoder& decoder, tables::Role role)
        : decoder_(decoder), draw_(decoder.draw_), dispatch_(decoder.dispatch_) {
      if (role == tables::Role::kDraw) {
        decoder.draw_ = decoder.options_.draws_before + ++decoder.summary_.draws;
      }
      if (role == tables::Role::kDispatch) {
        decoder.dispatch_ = decoder.options_.dispatches_before + ++decoder.summary_.dispatches;
      }
    }
    ~Working() {
      decoder_.draw_ = draw_;
      decoder_.dispatch_ = dispatch_;
    }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

   private:
    Decoder& decoder_;
    const uint64_t draw_, dispatch_;
  };
  // Remembers what a packet sets, or shows the settings that the draw or dispatch `id` uses.
  void KeepOrShowBound(uint32_t container, const Frame& frame, absl::Span<const uint8_t> bytes,
                       uint64_t id);
  void ShowBound(tables::Role role, uint64_t id);
  // Later packets may ask for fields of these, and of structures that these point to.
  void RememberAll(absl::Span<const std::shared_ptr<const Setting>> all);
  void ShowSetting(const Setting& setting, uint64_t id);
  // While a packet is shown once more: whether no later packet has set the pointer.
  bool IsBound(const RecordView& record, const FieldAt& at, const tables::Pointer& pointer) const;
  void SayLead(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
               const Target& target);
  // Sets what the record belongs to.
  void Attribute(Record& record) const {
    record.submission = submission_;
    record.draw = draw_;
    record.dispatch = dispatch_;
  }
  void Emit(Record& record);
  // For a packet or structure. Returns its id.
  uint64_t EmitDescribed(RecordType type, const RecordView& view, uint32_t space, uint64_t address,
                         uint64_t parent, uint32_t depth, int64_t index, const Shape* shape);
  // A string of the tables, without counting its characters each time.
  absl::string_view Text(uint32_t string);
  void Problem(absl::string_view text);
  void ProblemOnce(bool& said, absl::string_view text);
  void AddFault(FaultKind kind, uint64_t bit, uint64_t width, uint64_t value, std::string text);
  void CountFaults(const Record& record);
  void CountUnknown(uint32_t space, uint64_t address, uint64_t bytes);

  const tables::Tables& tables_;
  const uint64_t address_mask_;  // of the tables
  Sink& sink_;
  Options options_;
  std::vector<Actions> actions_;
  uint32_t memories_ = 0;  // Actions::memory
  FieldChecks checks_;
  PartFinder parts_;
  ShapeCache shapes_;
  std::unique_ptr<SettingRules> rules_;  // only with Options::bound
  ChosenLeaves pointers_, acting_, describing_;
  struct KnownText {
    uint32_t string = 0;
    absl::string_view text;
  };
  std::array<KnownText, 64> texts_;
  // By container: Mark.
  std::vector<uint8_t> marks_;
  // Few: one for each stream and engine that a dump uses. Caching does not change results.
  mutable std::vector<std::unique_ptr<tables::PacketFinder>> finders_;
  std::vector<Brief> briefs_;
  std::map<std::pair<uint32_t, uint32_t>, State> states_;
  Summary summary_;
  uint64_t next_id_;
  bool device_shown_ = false;

  // Of the submission at hand.
  const Memory* memory_ = nullptr;
  const Dump* complete_ = nullptr;  // the dump at hand, if it has all memory that may be used
  // The segments found last: streams, records and programs alternate.
  static constexpr size_t kRecent = 4;
  mutable std::array<const Memory::Segment*, kRecent> recent_{};
  State* state_ = nullptr;
  uint64_t engines_ = ~uint64_t{0};
  uint32_t own_space_ = 0;
  uint32_t submission_ = 0;           // its index
  uint64_t draw_ = 0, dispatch_ = 0;  // that the record at hand belongs to; 0: none
  uint32_t stream_ = 0;               // of the packet at hand
  uint64_t settings_ = 0;             // packets kept, of all submissions
  uint64_t after_work_ = 0;           // of them, those before the last draw or dispatch
  uint64_t bound_packets_ = 0, bound_structs_ = 0;  // cost of what was shown once more
  const Setting* bound_ = nullptr;                  // is being shown once more
  bool bound_itself_ = false;                       // and not what it points to
  uint64_t most_packets_ = 0;
  // The targets of the dump's streams, if it has submissions with `unless_reached`.
  absl::flat_hash_set<std::pair<uint32_t, uint64_t>> reached_;
  // The beginning of a bare batch (0 by default): pointers to it, except those to streams, are
  // null. kNoAddress for other batches.
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  uint64_t bare_begin_ = kNoAddress;
  bool note_reached_ = false;
  uint64_t most_structs_ = 0;
  uint64_t packets_ = 0;
  uint64_t structs_ = 0;
  uint32_t nested_streams_ = 0;
  uint32_t guesses_ = 0;  // tables of unknown length that the record at hand is in
  bool said_packets_ = false, said_structs_ = false, said_pointers_ = false, said_streams_ = false;
  bool looked_ahead_ = false;  // `ahead` is that of the packet at hand
  uint64_t here_ = 0;          // address of the packet at hand
  uint64_t record_ = 0;        // address of the packet or structure whose pointers are checked
  bool said_stores_ = false;
  std::vector<Fault> faults_;
  Record described_;  // members that are the same for all packets and structures are never written
  Overlay overlay_;
  std::vector<Stored> stored_;  // in the packet at hand
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, Code> code_;
  uint64_t code_epoch_ = 0;  // counts submissions, each of which begins without code
  absl::btree_set<std::pair<uint32_t, uint64_t>> code_begins_;
  std::vector<bool> drawn_;  // by kind of data
  std::vector<DataElement> elements_;
  std::vector<uint8_t> row_bytes_;

  static constexpr size_t kReplayed = ShapeCache::kLongest;  // bytes of memory that replay reads
  TraceRecorder* recorder_ = nullptr;                        // null: nothing is being noted
  uint64_t last_trace_ = 0;
  std::array<Place, Trace::kMostGuards> places_;
  // What the state was before a replay, the last change last.
  struct Done {
    bool is_base;
    size_t number;  // of the base, or Actions::memory
    std::optional<uint64_t> base;
    size_t bytes;  // number of done_bytes_, from the end
  };
  std::vector<Done> done_;
  std::vector<uint8_t> done_bytes_;
  bool replaying_ = false;
};

inline std::optional<uint64_t> Decoder::BaseNow(uint32_t base) const {
  // Each base is read at most once: descriptions may be circular.
  for (size_t i = 0; i < state_->bases.size() && base != tables::kNone; ++i) {
    if (state_->bases[base].has_value()) return state_->bases[base];
    base = tables_.bases()[base].otherwise;
    if (base == tables::kZeroBase) return 0;
  }
  return std::nullopt;
}

// Inline where it is called: replaying a trace does little else.
[[gnu::always_inline]] inline Decoder::Target Decoder::PlainTarget(
    const ShapePointer& known, absl::Span<const uint8_t> bytes) const {
  Target target{known.in_other_space ? known.pointer->space : own_space_, 0, true};
  target.address =
      ReadBits(bytes, known.at.bit, known.at.width) << known.at.leaf->shift & known.address_mask;
  if (known.high != nullptr) {
    target.address +=
        Apply(*known.high, ReadBits(bytes, known.high_bit, known.high_width) << known.high_shift);
  }
  if (known.pointer->relative != 0) target.address += record_;
  if (known.pointer->base != tables::kNone) {
    const std::optional<uint64_t> base = BaseNow(known.pointer->base);
    target.base_known = base.has_value();
    target.address += base.value_or(0);
  }
  target.address = MaskAddress(target.address, address_mask_);
  return target;
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_DECODER_H_
