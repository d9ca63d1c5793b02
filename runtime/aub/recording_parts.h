// What the writers of both families of recordings share. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_RECORDING_PARTS_H_
#define PACKSMITH_RUNTIME_AUB_RECORDING_PARTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/memory.h"

namespace packsmith::aub {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kGlobalEnd = uint64_t{1} << 32;
inline constexpr uint8_t kZeroPage[kPageBytes] = {};

inline bool IsBatch(const Submission& submission) {
  return submission.kind.empty() || submission.kind == "batch";
}

inline uint32_t OwnSpace(const Submission& submission) {
  return submission.own_space.value_or(submission.space);
}

inline bool IsZero(absl::Span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

// What a recording cannot hold of the dumps, once each.
class Lost {
 public:
  void Add(std::string phrase) {
    if (std::find(phrases_.begin(), phrases_.end(), phrase) == phrases_.end()) {
      phrases_.push_back(std::move(phrase));
    }
  }
  void AddPartOfPage() { Add("ends of memory within pages of 4 KiB, which zeros fill"); }
  const std::vector<std::string>& phrases() const { return phrases_; }

 private:
  std::vector<std::string> phrases_;
};

// A page of a dump: `bytes` are all of it, or empty for zeros; of a page that is not `whole` the
// dump has only a part, and the rest is zero.
struct DumpPage {
  uint64_t address = 0;
  absl::Span<const uint8_t> bytes;
  bool whole = true;

  absl::Span<const uint8_t> content() const {
    return bytes.empty() ? absl::MakeConstSpan(kZeroPage) : bytes;
  }
};

// Calls `visit` for each page of 4 KiB that the memory of `space` touches, in the order of
// addresses, until there is an error, which it returns.
absl::Status ForEachPage(const Dump& dump, uint32_t space,
                         absl::FunctionRef<absl::Status(const DumpPage&)> visit);

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_RECORDING_PARTS_H_
