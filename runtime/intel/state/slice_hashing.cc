#include "runtime/intel/state/slice_hashing.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace packsmith::intel {

unsigned PixelPipes::present() const {
  return static_cast<unsigned>(
      std::count_if(subslices.begin(), subslices.end(), [](uint8_t n) { return n != 0; }));
}

PixelPipes PixelPipesOf(absl::Span<const uint32_t> slices, const GenerationFacts& facts,
                        unsigned subslices_of_slice) {
  const unsigned in_pipe = facts.pixel_hashing == PixelHashing::kTwoPipes ? 4 : 2;
  unsigned in_slice = std::max(in_pipe, (subslices_of_slice + in_pipe - 1) / in_pipe * in_pipe);
  for (const uint32_t mask : slices) {
    const auto width = static_cast<unsigned>(std::bit_width(mask));
    in_slice = std::max(in_slice, (width + in_pipe - 1) / in_pipe * in_pipe);
  }
  PixelPipes pipes;
  for (size_t slice = 0; slice < slices.size(); ++slice) {
    for (unsigned subslice = 0; subslice < in_slice; ++subslice) {
      const size_t pipe = (slice * in_slice + subslice) / in_pipe;
      if (pipe < kMostPixelPipes && (uint64_t{slices[slice]} >> subslice & 1) != 0) {
        ++pipes.subslices[pipe];
      }
    }
  }
  return pipes;
}

absl::Status CheckPixelPipes(const PixelPipes& pipes, unsigned most) {
  for (unsigned pipe = most; pipe < kMostPixelPipes; ++pipe) {
    if (pipes.subslices[pipe] != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "pixel pipe %d has subslices; the generation has pipes 0 to %d", pipe, most - 1));
    }
  }
  if (pipes.present() != 0) return absl::OkStatus();
  return absl::InvalidArgumentError("no pixel pipe has a subslice");
}

PixelTable SpreadPixels(const PixelPipes& pipes) {
  // An order of the pipes in which each comes as often as it weighs, spread evenly: at each step
  // the one that lacks most of its share.
  std::array<int, kMostPixelPipes> owed = {};
  int total = 0;
  bool equal = true;
  int first = 0;
  const auto weight = [&](unsigned pipe) { return std::min<int>(pipes.subslices[pipe], 2); };
  for (unsigned pipe = 0; pipe < kMostPixelPipes; ++pipe) {
    if (weight(pipe) == 0) continue;
    if (first == 0) first = weight(pipe);
    equal &= weight(pipe) == first;
    total += weight(pipe);
  }
  PixelTable table = {};
  if (total == 0) return table;
  const auto share = [&](unsigned pipe) {
    return equal ? std::min(weight(pipe), 1) : weight(pipe);
  };
  if (equal) total /= first;
  std::vector<uint8_t> order;
  for (int step = 0; step < total; ++step) {
    unsigned next = 0;
    for (unsigned pipe = 0; pipe < kMostPixelPipes; ++pipe) {
      owed[pipe] += share(pipe);
      if (share(pipe) != 0 && (share(next) == 0 || owed[pipe] > owed[next])) next = pipe;
    }
    owed[next] -= total;
    order.push_back(static_cast<uint8_t>(next));
  }
  // The order repeats: its ends are neighbours, too.
  if (order.size() > 2 && order.front() == order.back()) {
    const uint8_t moved = order.back();
    for (size_t i = 2; i + 1 < order.size(); ++i) {
      if (order[i - 1] == moved || order[i] == moved) continue;
      order.pop_back();
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(i), moved);
      break;
    }
  }
  // Row y is shifted by the rank of y among numbers with mirrored binary digits: each further row
  // is as far from those before it as possible.
  const auto count = static_cast<unsigned>(order.size());
  const auto mirrored = [](unsigned value) {
    unsigned result = 0;
    for (unsigned bit = 0; bit < 8; ++bit) result |= (value >> bit & 1) << (7 - bit);
    return result;
  };
  std::vector<unsigned> shift(count);
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned k = 0; k < count; ++k) shift[i] += mirrored(k) < mirrored(i) ? 1 : 0;
  }
  for (unsigned y = 0; y < 16; ++y) {
    for (unsigned x = 0; x < 16; ++x) table[y][x] = order[(x + shift[y % count]) % count];
  }
  return table;
}

absl::StatusOr<LogicalPipes> ThreePipes(const PixelPipes& pipes) {
  if (absl::Status status = CheckPixelPipes(pipes, 3); !status.ok()) return status;
  std::array<unsigned, 3> sorted = {pipes.subslices[0], pipes.subslices[1], pipes.subslices[2]};
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted == std::array<unsigned, 3>{2, 2, 2} || sorted[1] == 0) return LogicalPipes();
  if (sorted == std::array<unsigned, 3>{2, 2, 0}) return LogicalPipes{true, 2, false};
  if (sorted == std::array<unsigned, 3>{2, 1, 0}) return LogicalPipes{true, 3, false};
  if (sorted == std::array<unsigned, 3>{2, 2, 1}) return LogicalPipes{true, 5, true};
  return absl::InvalidArgumentError(absl::StrFormat(
      "pixel pipes with %s dual subslices: no device of this generation is known to be fused so",
      absl::StrJoin(sorted, ", ")));
}

}  // namespace packsmith::intel
