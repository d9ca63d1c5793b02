// Limits for hostile input: what a submission may cost, and which limits have been reported.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_LIMITS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_LIMITS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/decode/decoder.h"
#include "runtime/decode/walk/emitter.h"
#include "runtime/dump/dump.h"

namespace packsmith::decode {

// Work that a submission may cause, and has caused so far.
struct Costs {
  uint64_t packets = 0, structs = 0;
  uint64_t most_packets = 0, most_structs = 0;

  // A long packet counts as several, so does a long structure.
  void AddPacket(uint64_t bytes) { packets += 1 + bytes / 64; }
  void AddStruct(uint64_t bytes) { structs += bytes / 1024; }
};

// Dwords that the dump has. The limits of a submission grow with them, and are bounded by options.
uint64_t DwordsOf(const Dump& dump);
// Nothing has been caused yet.
Costs CostsOf(const Options& options, uint64_t dump_dwords);
// Dwords that the submission's packets may store.
uint64_t MostStores(const Options& options, uint64_t dump_dwords);

enum class Limit : uint8_t { kPackets, kStructs, kPointers, kStreams, kStores, kCode };
inline constexpr size_t kLimits = 6;

// The first time in a submission that each limit is reached is reported. `text` makes the text.
class LimitReports {
 public:
  // `out` must outlive this.
  explicit LimitReports(Emitter& out) : out_(out) {}

  void BeginSubmission() { reported_.fill(false); }
  // Something is not decoded: a problem.
  template <class Text>
  void Report(Limit limit, const Text& text) {
    if (IsFirst(limit)) out_.Problem(text());
  }
  // Something is shown in part: a remark.
  template <class Text>
  void Note(Limit limit, const Text& text) {
    if (IsFirst(limit)) out_.Remark(text());
  }

 private:
  bool IsFirst(Limit limit) {
    bool& reported = reported_[static_cast<size_t>(limit)];
    const bool is_first = !reported;
    reported = true;
    return is_first;
  }

  Emitter& out_;
  std::array<bool, kLimits> reported_{};
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_LIMITS_H_
