#include "runtime/decode/walk/programs.h"

#include <algorithm>

#include "absl/types/span.h"
#include "runtime/decode/fields/data.h"

namespace packsmith::decode {
namespace {

// Read at first; most programs are shorter. The next pieces are each several times as long.
constexpr uint64_t kFirstPiece = 4096;
constexpr uint64_t kGrowth = 4;

}  // namespace

void Programs::Clear() {
  codes_.clear();
  begins_.clear();
  ++epoch_;
}

Programs::Code Programs::Find(const tables::DataKind& kind, uint32_t space, uint64_t address,
                              uint64_t stated) {
  const Place place{space, address};
  const auto known = codes_.find(place);
  if (known != codes_.end()) return known->second;
  begins_.insert(place);
  Code code{walk_.options.most_code_bytes, "limit"};
  const bool is_longer = stated > code.size;
  if (stated != 0 && !is_longer) code = {stated, "size"};
  // The next program that is known, if it begins before this one ends.
  const auto next = begins_.upper_bound(place);
  if (next != begins_.end() && next->first == space && next->second - address < code.size) {
    code = {next->second - address, "next kernel"};
  }
  for (uint64_t want = std::min(code.size, kFirstPiece);;) {
    const absl::Span<const uint8_t> bytes = walk_.memory.Bytes(space, address, want, scratch_);
    const CodeEnd end = FindCodeEnd(walk_.tables, kind, bytes);
    const bool is_all = bytes.size() < want || want == code.size;
    if (!end.found && !is_all) {
      want = end.unknown ? code.size : std::min(code.size, want * kGrowth);
      continue;
    }
    if (bytes.size() < want) code = {bytes.size(), "memory"};
    if (end.found) code = {end.bytes, "end"};
    walk_.costs.AddStruct(bytes.size());
    // Where no instruction follows, more bytes would not help. Where none is described, nobody
    // knows.
    const bool goes_on = is_longer || !end.unknown || walk_.tables.instructions(kind).empty();
    // `bytes` are not valid after this.
    code.is_cut = code.ends == "limit" && goes_on &&
                  !walk_.memory.Bytes(space, address + code.size, 1, scratch_).empty();
    break;
  }
  codes_.emplace(place, code);
  return code;
}

const Programs::Code* Programs::FindKnown(uint32_t space, uint64_t address) const {
  const auto known = codes_.find({space, address});
  return known == codes_.end() ? nullptr : &known->second;
}

}  // namespace packsmith::decode
