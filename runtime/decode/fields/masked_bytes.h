// Some of a record's bits, for testing quickly whether another record has the same.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_MASKED_BYTES_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_MASKED_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"

namespace packsmith::decode {

// Compares eight bytes at a time, and only those with bits to compare.
class MaskedBytes {
 public:
  // Eight bytes from `offset` on.
  struct Word {
    size_t offset;
    uint64_t mask;
    uint64_t value;
  };

  MaskedBytes() = default;

  // Those bits of `bytes` that are set in `mask`, which has as many bytes.
  MaskedBytes(absl::Span<const uint8_t> bytes, absl::Span<const uint8_t> mask)
      : size_(bytes.size()) {
    words_.reserve((size_ + 7) / 8);
    AddWords(bytes, mask, words_);
  }

  // Of the record that `bytes` begin with; there may be more of them.
  bool AreIn(absl::Span<const uint8_t> bytes) const { return AreIn(words_, size_, bytes); }

  // The same, for users that keep the words of several records together.
  static void AddWords(absl::Span<const uint8_t> bytes, absl::Span<const uint8_t> mask,
                       std::vector<Word>& words) {
    const size_t size = bytes.size();
    for (size_t at = 0; at < size; at += 8) {
      // The last eight bytes of a record may begin anywhere.
      const size_t offset = size < 8 ? 0 : std::min(at, size - 8);
      Word word{offset, 0, 0};
      for (size_t i = at - offset; i < 8 && offset + i < size; ++i) {
        word.mask |= uint64_t{mask[offset + i]} << 8 * i;
        word.value |= uint64_t{bytes[offset + i]} << 8 * i;
      }
      word.value &= word.mask;
      if (word.mask != 0) words.push_back(word);
    }
  }
  static bool AreIn(absl::Span<const Word> words, size_t size, absl::Span<const uint8_t> bytes) {
    if (bytes.size() < size) return false;
    const uint8_t* data = bytes.data();
    uint8_t padded[8] = {};
    if (bytes.size() < sizeof(padded)) {
      std::copy(bytes.begin(), bytes.end(), padded);
      data = padded;
    }
    uint64_t differences = 0;
    for (const Word& word : words) {
      uint64_t bits = 0;
      std::memcpy(&bits, data + word.offset, 8);
      differences |= (bits & word.mask) ^ word.value;
    }
    return differences == 0;
  }

  // Sets the bits that are compared in `mask`, which has as many bytes.
  void AddMask(absl::Span<uint8_t> mask) const {
    for (const Word& word : words_) {
      for (size_t i = 0; i < 8 && word.offset + i < mask.size(); ++i) {
        mask[word.offset + i] |= static_cast<uint8_t>(word.mask >> 8 * i);
      }
    }
  }

 private:
  size_t size_ = 0;
  std::vector<Word> words_;
};

// Sets `width` bits of a mask from `bit` on, as far as it has them.
inline void SetBits(uint64_t bit, uint64_t width, absl::Span<uint8_t> mask) {
  const uint64_t end = std::min<uint64_t>(bit + width, mask.size() * 8);
  for (; bit < end; ++bit) mask[bit / 8] = static_cast<uint8_t>(mask[bit / 8] | 1u << bit % 8);
}

// Whether any of `width` bits of a mask from `bit` on is set; it has them all.
inline bool HasBits(uint64_t bit, uint64_t width, absl::Span<const uint8_t> mask) {
  for (const uint64_t end = bit + width; bit < end; ++bit) {
    if ((mask[bit / 8] >> bit % 8 & 1) != 0) return true;
  }
  return false;
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_MASKED_BYTES_H_
