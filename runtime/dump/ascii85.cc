#include "runtime/dump/ascii85.h"

#include <algorithm>
#include <cstring>

namespace packsmith {
namespace {

constexpr uint32_t kBase = 85;
constexpr uint64_t kLargest = 0xffffffff;

uint32_t Digit(char c) { return static_cast<uint8_t>(c) - uint32_t{'!'}; }

void StoreWord(uint32_t word, uint8_t* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(word >> 8 * i);
}

}  // namespace

size_t Ascii85Decoder::Decode(absl::string_view& text, absl::Span<uint8_t> out) {
  const char* in = text.data();
  const char* const end = in + text.size();
  uint8_t* to = out.data();
  uint8_t* const full = to + out.size() / 4 * 4;
  while (!failed_ && in != end && to != full) {
    if (digits_ == 0) {
      if (*in == 'z') {
        StoreWord(0, to);
        to += 4;
        ++in;
        continue;
      }
      // A whole group at once, which is nearly all there is.
      if (end - in >= 5) {
        uint64_t value = 0;
        bool good = true;
        for (int i = 0; i < 5; ++i) {
          const uint32_t digit = Digit(in[i]);
          good &= digit < kBase;
          value = value * kBase + digit;
        }
        if (good && value <= kLargest) {
          StoreWord(static_cast<uint32_t>(value), to);
          to += 4;
          in += 5;
          continue;
        }
      }
    }
    const uint32_t digit = Digit(*in);
    if (IsAscii85Space(*in)) break;
    if (digit >= kBase || value_ * kBase + digit > kLargest) {
      failed_ = true;
      break;
    }
    value_ = value_ * kBase + digit;
    ++in;
    if (++digits_ == 5) {
      StoreWord(static_cast<uint32_t>(value_), to);
      to += 4;
      value_ = 0;
      digits_ = 0;
    }
  }
  text.remove_prefix(static_cast<size_t>(in - text.data()));
  return static_cast<size_t>(to - out.data());
}

void AppendAscii85(absl::Span<const uint8_t> bytes, std::string& text) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word = 0;
    for (size_t i = 0; i < std::min<size_t>(4, bytes.size() - at); ++i) {
      word |= uint32_t{bytes[at + i]} << 8 * i;
    }
    if (word == 0) {
      text.push_back('z');
      continue;
    }
    char group[5];
    for (int i = 4; i >= 0; --i) {
      group[i] = static_cast<char>('!' + word % kBase);
      word /= kBase;
    }
    text.append(group, sizeof(group));
  }
}

}  // namespace packsmith
