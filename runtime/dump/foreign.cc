#include "runtime/dump/foreign.h"

#include <algorithm>
#include <cstddef>

namespace packsmith {
namespace {

using Bytes = absl::Span<const uint8_t>;

constexpr absl::string_view kArchive = "unpack it first, and name the dump in it or its folder";

// Bytes that only this format has at this offset.
struct Signature {
  size_t offset;
  absl::string_view bytes;
  Foreign foreign;
};
constexpr Signature kSignatures[] = {
    {0, {"\xfd\x37zXZ\0", 6}, {"an xz file", "unpack it first: xz -dc FILE | unpack -"}},
    {0, "LZIP", {"an lzip file", "unpack it first: lzip -dc FILE | unpack -"}},
    {0, {"\x04\x22\x4d\x18", 4}, {"an lz4 file", "unpack it first: lz4 -dc FILE | unpack -"}},
    {0, "\x89LZO", {"an lzop file", "unpack it first: lzop -dc FILE | unpack -"}},
    {0, "PK\x03\x04", {"a zip archive", kArchive}},
    {0, "PK\x05\x06", {"an empty zip archive", "it has no dump; fetch it again"}},
    {0, "7z\xbc\xaf\x27\x1c", {"a 7z archive", kArchive}},
    {0, "Rar!\x1a\x07", {"a rar archive", kArchive}},
    {0, "!<arch>\n", {"an ar archive", kArchive}},
    {257, "ustar", {"a tar archive", kArchive}},
};

bool Has(Bytes bytes, size_t offset, absl::string_view wanted) {
  return bytes.size() >= offset + wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), bytes.begin() + static_cast<ptrdiff_t>(offset),
                    [](char c, uint8_t byte) { return static_cast<uint8_t>(c) == byte; });
}

// "BZh" and a level, then the number of pi that a block begins with, or that of the square root
// that ends an empty file.
bool IsBzip2(Bytes bytes) {
  return Has(bytes, 0, "BZh") && bytes.size() >= 10 && bytes[3] >= '1' && bytes[3] <= '9' &&
         (Has(bytes, 4, "1AY&SY") || Has(bytes, 4, "\x17\x72\x45\x38\x50\x90"));
}

// Properties of one byte, a dictionary's size and, as all programs write it, no size of the text.
bool IsLzma(Bytes bytes) {
  return Has(bytes, 0, {"\x5d\0\0", 3}) && Has(bytes, 5, "\xff\xff\xff\xff\xff\xff\xff\xff");
}

// Of compress: codes of 9 to 16 bits, with or without block mode.
bool IsCompress(Bytes bytes) {
  return Has(bytes, 0, "\x1f\x9d") && bytes.size() >= 3 && (bytes[2] & 0x60) == 0 &&
         (bytes[2] & 0x1f) >= 9 && (bytes[2] & 0x1f) <= 16;
}

// Archives from before 1988 have no signature, but a sum of their header's bytes, in octal, in
// which its own eight bytes count as blanks.
bool IsOldTar(Bytes bytes) {
  constexpr size_t kHeader = 512, kSum = 148, kSumDigits = 8;
  if (bytes.size() < kHeader || bytes[0] == 0) return false;
  uint32_t sum = 0, said = 0;
  bool any = false;
  for (size_t i = 0; i < kHeader; ++i) {
    const bool own = i >= kSum && i < kSum + kSumDigits;
    sum += own ? ' ' : bytes[i];
    if (!own) continue;
    if (bytes[i] >= '0' && bytes[i] <= '7') {
      said = said * 8 + (bytes[i] - '0');
      any = true;
    } else if (bytes[i] != ' ' && bytes[i] != 0) {
      return false;
    }
  }
  return any && said == sum;
}

// Text in words of 16 bits, one half of each zero, which holds for the beginning of dumps. It has a
// byte order mark, or is long enough not to be a batch.
bool IsUtf16(Bytes bytes) {
  const bool marked = Has(bytes, 0, "\xff\xfe") || Has(bytes, 0, "\xfe\xff");
  if (marked) bytes.remove_prefix(2);
  constexpr size_t kLooked = 32;
  if (bytes.size() < (marked ? 2 : kLooked) || bytes.size() % 2 != 0) return false;
  const auto text_with_empty = [&](size_t empty) {
    for (size_t i = 0; i < std::min(kLooked, bytes.size()); i += 2) {
      const uint8_t c = bytes[i + 1 - empty];
      const bool is_text = (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r');
      if (bytes[i + empty] != 0 || !is_text) return false;
    }
    return true;
  };
  return text_with_empty(0) || text_with_empty(1);
}

}  // namespace

Foreign ForeignFormat(Bytes bytes) {
  for (const Signature& signature : kSignatures) {
    if (Has(bytes, signature.offset, signature.bytes)) return signature.foreign;
  }
  if (IsBzip2(bytes)) return {"a bzip2 file", "unpack it first: bzip2 -dc FILE | unpack -"};
  if (IsLzma(bytes)) return {"an lzma file", "unpack it first: xz -dc FILE | unpack -"};
  if (IsCompress(bytes)) {
    return {"a compress (.Z) file", "unpack it first: gzip -dc FILE | unpack -"};
  }
  if (IsOldTar(bytes)) return {"a tar archive", kArchive};
  if (IsUtf16(bytes)) {
    return {"text in UTF-16", "convert it first: iconv -f UTF-16 -t UTF-8 FILE | unpack -"};
  }
  return {};
}

}  // namespace packsmith
