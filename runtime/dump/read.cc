#include "runtime/dump/read.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/compressed.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/hex_text.h"
#include "runtime/dump/i915_error.h"

namespace packsmith {
namespace {

absl::string_view TextOf(absl::Span<const uint8_t> bytes) {
  return absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A batch is never this long without a byte that no text has.
bool IsText(absl::Span<const uint8_t> bytes) {
  const absl::Span<const uint8_t> start = bytes.subspan(0, 4096);
  return !start.empty() && std::all_of(start.begin(), start.end(), [](uint8_t c) {
    return (c >= 0x20 && c != 0x7f) || (c >= '\t' && c <= '\r');
  });
}

absl::StatusOr<Dump> ReadText(const FileBytes& file, const RawOptions& options) {
  absl::StatusOr<Dump> dump = ReadHexText(TextOf(file.bytes), options);
  if (dump.ok()) return dump;
  return absl::Status(dump.status().code(), absl::StrCat(file.name, ":", dump.status().message()));
}

absl::StatusOr<Dump> ReadFormat(FileBytes file, const RawOptions& options) {
  if (options.format == "elf") return ReadElfCore(std::move(file));
  if (options.format == "hex") return ReadText(file, options);
  if (options.format == "raw") return ReadRaw(std::move(file), options);
  if (IsElf(file.bytes)) return ReadElfCore(std::move(file));
  if (options.format == "i915-error") return ReadI915Error(std::move(file), options);
  if (IsText(file.bytes)) {
    if (LooksLikeI915Error(TextOf(file.bytes))) return ReadI915Error(std::move(file), options);
    if (LooksLikeHexText(TextOf(file.bytes))) return ReadText(file, options);
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: this is text, but in no format that is known; give a GPU core dump, an "
        "i915 error state, words of 8 hex digits, or name the format (elf, hex, "
        "raw, i915-error)",
        file.name));
  }
  return ReadRaw(std::move(file), options);
}

}  // namespace

absl::StatusOr<Dump> ReadDump(FileBytes file, const RawOptions& options) {
  constexpr absl::string_view kFormats[] = {"", "elf", "hex", "raw", "i915-error"};
  if (std::find(std::begin(kFormats), std::end(kFormats), options.format) == std::end(kFormats)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "unknown format \"%s\": expected elf, hex, raw or i915-error", options.format));
  }
  absl::StatusOr<Decompressed> unpacked = Decompress(std::move(file), options.max_bytes);
  if (!unpacked.ok()) return unpacked.status();
  absl::StatusOr<Dump> dump = ReadFormat(std::move(unpacked->file), options);
  if (unpacked->problem) {
    // An error in what came out is most likely where it broke off: say so too.
    if (!dump.ok()) {
      return absl::Status(dump.status().code(), absl::StrCat(dump.status().message(), " (",
                                                             unpacked->problem->text, ")"));
    }
    dump->AddProblem(unpacked->problem->offset, unpacked->problem->text);
  }
  return dump;
}

absl::StatusOr<Dump> ReadDump(const std::string& path, const RawOptions& options) {
  absl::StatusOr<FileBytes> file = OpenFile(path, options.max_bytes);
  if (!file.ok()) return file.status();
  return ReadDump(*std::move(file), options);
}

}  // namespace packsmith
