#include "runtime/dump/compressed.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "runtime/base/growing_bytes.h"

namespace packsmith {
namespace {

uint32_t FirstWord(absl::Span<const uint8_t> bytes) {
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[3]} << 24;
}

bool IsZstd(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < 4) return false;
  const uint32_t magic = FirstWord(bytes);
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

bool IsGzip(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == Z_DEFLATED;
}

// The result for both formats: `out` so far, and why it ends there (empty: it is complete).
struct Unpacked {
  GrowingBytes out;
  std::string trouble;
  bool too_large = false;
  bool no_memory = false;
};

Unpacked UnpackZstd(absl::Span<const uint8_t> bytes, uint64_t max_bytes) {
  Unpacked result;
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) {
    result.no_memory = true;
    return result;
  }
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  size_t left = 0;  // 0 between frames
  while (true) {
    const absl::Span<uint8_t> room = result.out.Room();
    if (room.empty()) {
      result.no_memory = true;
      return result;
    }
    ZSTD_outBuffer out = {room.data(), room.size(), 0};
    const size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    result.out.Wrote(out.pos);
    if (result.out.size() > max_bytes) {
      result.too_large = true;
      return result;
    }
    if (ZSTD_isError(left)) {
      result.trouble = absl::StrFormat("zstd data damaged near its byte %u: %s", in.pos,
                                       ZSTD_getErrorName(left));
      return result;
    }
    if (left == 0 && in.pos == in.size) return result;
    if (in.pos == before && out.pos == 0) {
      result.trouble = absl::StrFormat("zstd data cut off at its byte %u", in.size);
      return result;
    }
  }
}

Unpacked UnpackGzip(absl::Span<const uint8_t> bytes, uint64_t max_bytes) {
  Unpacked result;
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
    result.no_memory = true;
    return result;
  }
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};
  constexpr size_t kAtOnce = size_t{1} << 30;  // zlib counts in 32 bits
  size_t pos = 0;
  while (true) {
    const absl::Span<uint8_t> room = result.out.Room();
    if (room.empty()) {
      result.no_memory = true;
      return result;
    }
    const uInt given = static_cast<uInt>(std::min(bytes.size() - pos, kAtOnce));
    const uInt offered = static_cast<uInt>(std::min(room.size(), kAtOnce));
    stream.next_in = const_cast<Bytef*>(bytes.data() + pos);  // zlib only reads it
    stream.avail_in = given;
    stream.next_out = room.data();
    stream.avail_out = offered;
    const int code = inflate(&stream, Z_NO_FLUSH);
    pos += given - stream.avail_in;
    result.out.Wrote(offered - stream.avail_out);
    if (result.out.size() > max_bytes) {
      result.too_large = true;
      return result;
    }
    if (code == Z_STREAM_END) {
      const absl::Span<const uint8_t> rest = bytes.subspan(pos);
      if (IsGzip(rest)) {
        inflateReset(&stream);
        continue;
      }
      // Tapes and block devices pad with zeros.
      if (std::any_of(rest.begin(), rest.end(), [](uint8_t byte) { return byte != 0; })) {
        result.trouble = absl::StrFormat("%u bytes after the gzip data ignored", rest.size());
      }
      return result;
    }
    if (code == Z_BUF_ERROR && pos == bytes.size()) {
      result.trouble = absl::StrFormat("gzip data cut off at its byte %u", pos);
      return result;
    }
    if (code == Z_MEM_ERROR) {
      result.no_memory = true;
      return result;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) {
      result.trouble = absl::StrFormat("gzip data damaged near its byte %u: %s", pos,
                                       stream.msg != nullptr ? stream.msg : zError(code));
      return result;
    }
  }
}

}  // namespace

bool IsCompressed(absl::Span<const uint8_t> bytes) { return IsZstd(bytes) || IsGzip(bytes); }

absl::StatusOr<Decompressed> Decompress(FileBytes file, uint64_t max_bytes) {
  Decompressed result;
  if (!IsCompressed(file.bytes)) {
    result.file = std::move(file);
    return result;
  }
  Unpacked unpacked =
      IsZstd(file.bytes) ? UnpackZstd(file.bytes, max_bytes) : UnpackGzip(file.bytes, max_bytes);
  if (unpacked.too_large) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%s: unpacks to more than %u bytes; raise the limit (unpack --max-input=SIZE), or unpack "
        "it to a file first",
        file.name, max_bytes));
  }
  if (unpacked.no_memory) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: no memory to unpack more than %u bytes; unpack it to a file first",
                        file.name, unpacked.out.size()));
  }
  if (!unpacked.trouble.empty()) {
    if (unpacked.out.size() == 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: %s; nothing could be read, fetch it again", file.name, unpacked.trouble));
    }
    result.problem =
        Problem{unpacked.out.size(),
                absl::StrFormat("%s; the data before that was read", unpacked.trouble)};
  }
  result.file = std::move(unpacked.out).Take(std::move(file.name));
  return result;
}

}  // namespace packsmith
