// What a packet points to, for packets that point to the same: a program, its data, its code.
// Records are found by their places and recognized by their bits, without repeating the rest of the
// decoder's work for a record. recorder.h makes traces, player.h shows them.
#ifndef PACKSMITH_RUNTIME_DECODE_TRACE_TRACE_H_
#define PACKSMITH_RUNTIME_DECODE_TRACE_TRACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// A record of a trace. At first all bits must be the same; a field that is found to hold another
// value may vary from then on, unless that makes it another trace.
struct Guard {
  static constexpr uint32_t kBehind = ~uint32_t{0};

  // Bits of earlier packets when a pointer is followed. `memory`: as in Actions. `raw`
  // empty: there was no such packet.
  struct StateRead {
    uint32_t memory;
    uint64_t bit;
    uint32_t width;
    std::optional<uint64_t> raw;
  };
  // What later packets may ask for.
  struct Remembered {
    uint32_t memory;
    uint64_t byte, size;
  };
  // A base that the record sets, or not.
  struct Set {
    const FieldAt* at;
    bool holds;
  };

  uint32_t parent = 0;
  // The pointer of the parent's shape that points here; kBehind: the record comes `distance` bytes
  // after the beginning of the record `before`.
  uint32_t pointer = kBehind;
  uint32_t before = 0;
  uint64_t distance = 0;
  const tables::Pointer* to = nullptr;  // the meaning of that pointer
  bool chosen = false;                  // it depends on states
  std::vector<StateRead> reads;
  // For a packet in a stream of its own, if engines have their own packets: finds what else it
  // might be.
  tables::PacketFinder* finder = nullptr;

  // For packets and structures; null: data.
  const Shape* shape = nullptr;
  uint64_t shape_number = 0;
  uint32_t container = tables::kNone;
  std::vector<Remembered> remembered;
  std::vector<Set> sets;
  bool has_kernel = false;
  Kernel kernel;
  // The last place of the kernel where its size was the trace's.
  uint64_t code_epoch = 0, code_address = 0;
  uint32_t code_space = 0;

  uint64_t bytes = 0;
  uint64_t first_byte = 0;  // of the trace's
};

struct Trace {
  static constexpr size_t kMostGuards = 96;

  uint64_t number = 0;
  // The conditions besides bits for which it was made.
  uint64_t engines = 0;
  uint32_t nested_streams = 0;
  // What it adds to the decoder's counts. The bounds limit the costs.
  struct Counts {
    uint64_t packets_cost, structs_cost;
    uint64_t packets, structs, data;
  };
  Counts counts{};

  std::vector<Guard> guards;
  std::vector<Record> records;
  // The guards' bytes, one guard's after the other's: the bytes when the record was seen first; the
  // bits that identify this trace; the bits that vary.
  std::vector<uint8_t> seen, must, varying;
  std::vector<absl::Span<const uint8_t>> varying_of;  // each guard

  absl::Span<uint8_t> Of(const Guard& guard, std::vector<uint8_t>& bytes) {
    return absl::MakeSpan(bytes).subspan(guard.first_byte, guard.bytes);
  }

  // What playing always reads, close together: a step for each guard.
  struct Step {
    // Null: the record comes after another one.
    const ShapePointer* from = nullptr;
    uint32_t parent = 0, before = 0;
    uint32_t bytes = 0;
    // Bytes whose constant bits are compared. Adjacent records are compared together, at the first
    // one; the others have 0.
    uint32_t compared = 0;
    uint32_t words = 0, words_count = 0;
    uint64_t distance = 0;
    bool chosen = false;  // the pointer's meaning depends on states, or it is not plain
    // Varying bits may make it another packet, or exceed limits.
    bool asks_finder = false, asks_limits = false;
    bool more = false;  // there are conditions besides constant bits
  };
  std::vector<Step> steps;
  std::vector<MaskedBytes::Word> words;
  // ShapeCache::made() when the guards' shapes were last verified.
  uint64_t shapes = 0;

  // Makes `steps` from the guards.
  void MakeSteps();
  // Whether shapes are still those of the guards.
  bool HasShapes() const;
  // Lets fields of a guard vary in which `bytes` differ. False: it would be another trace.
  // Afterwards the steps must be made anew.
  bool Widen(const tables::Tables& tables, Guard& guard, absl::Span<const uint8_t> bytes);
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TRACE_TRACE_H_
