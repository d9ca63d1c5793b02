#include "runtime/sim/blit/raster.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace packsmith::sim {
namespace {

// `which` bit by bit: where it is set `one`, elsewhere `zero`.
template <typename Word>
Word Choose(Word which, Word one, Word zero) {
  return (which & one) | (~which & zero);
}

template <typename Word>
Word Combine(const std::array<Word, 8>& results, Word pattern, Word source, Word destination) {
  const Word p0s0 = Choose(destination, results[1], results[0]);
  const Word p0s1 = Choose(destination, results[3], results[2]);
  const Word p1s0 = Choose(destination, results[5], results[4]);
  const Word p1s1 = Choose(destination, results[7], results[6]);
  return Choose(pattern, Choose(source, p1s1, p1s0), Choose(source, p0s1, p0s0));
}

}  // namespace

void RasterOperation::Apply(const uint8_t* pattern, const uint8_t* source, uint8_t* destination,
                            size_t size) const {
  std::array<uint64_t, 8> results;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = (code_ >> i & 1) != 0 ? ~uint64_t{0} : 0;
  }
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t p, s, d;
    std::memcpy(&p, pattern + at, sizeof(p));
    std::memcpy(&s, source + at, sizeof(s));
    std::memcpy(&d, destination + at, sizeof(d));
    d = Combine(results, p, s, d);
    std::memcpy(destination + at, &d, sizeof(d));
  }
  for (; at < size; ++at) {
    destination[at] =
        static_cast<uint8_t>(Combine<uint64_t>(results, pattern[at], source[at], destination[at]));
  }
}

}  // namespace packsmith::sim
