// Decodes dumps: walks their streams and everything that they point to, and hands the records to a
// sink. All knowledge of packets is in the tables.
//
//   StringOutput text;
//   const std::unique_ptr<Sink> sink = MakeTextSink(text);
//   Decoder decoder(tables, *sink, {.deepest_pointer = 4});
//   for (const Dump& dump : dumps) decoder.Decode(dump);
//   const Summary summary = decoder.Finish();
#ifndef PACKSMITH_RUNTIME_DECODE_DECODER_H_
#define PACKSMITH_RUNTIME_DECODE_DECODER_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

enum class Follow : uint8_t {
  kNone,     // the submission's own batch, no jumps
  kBatches,  // jumps and calls
  kAll,      // and every pointer
};

struct Options {
  Follow follow = Follow::kAll;
  // Bounds for hostile input, for one submission. Reaching one is reported as a problem that says
  // where, once a submission; calls that are too deep are reported one by one. A long packet counts
  // as several, 64 bytes each, and so does a long structure or program, 1 KiB each.
  //
  // A submission may have at most as many as its dump's size allows (kFewest, kRepeats), and fewer
  // by these.
  uint64_t most_packets = ~uint64_t{0};
  uint64_t most_structs = ~uint64_t{0};
  uint64_t most_stores = ~uint64_t{0};  // dwords, for packets that read them later
  // But at least this many, whatever the dump's size is.
  uint64_t least_packets = 0;
  uint64_t least_structs = 0;
  uint64_t least_stores = 0;
  uint32_t deepest_call = 16;
  uint32_t deepest_pointer = 8;
  uint64_t most_data_bytes = 64;                 // shown of each piece of data that has no rows
  uint64_t most_rows = 8;                        // shown of vertices, indices and constants
  uint64_t most_row_bytes = 4096;                // and at most this many bytes of them
  uint64_t most_code_bytes = uint64_t{1} << 20;  // of a program; a remark says that one is cut
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
// to those for which its dump has memory: each dword up to kRepeats times. The limit grows with the
// dump, so that large batches are decoded whole.
inline constexpr uint64_t kFewest = uint64_t{1} << 14;
inline constexpr uint64_t kRepeats = 2;

// Decodes any number of dumps, in order; state bases persist from one to the next per (context,
// slot). Not thread-safe.
class Decoder {
 public:
  // Tables and sink must outlive the decoder.
  Decoder(const tables::Tables& tables, Sink& sink, const Options& options = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

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
  void Pause();
  // The summary of what has been decoded so far.
  const Summary& summary() const;
  // The id that the next record gets.
  uint64_t next_id() const;
  // Writes the summary and returns it. The last call.
  Summary Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_DECODER_H_
