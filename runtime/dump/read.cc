#include "runtime/dump/read.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/compressed.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/hex_text.h"
#include "runtime/dump/i915_error.h"
#include "runtime/dump/xe_devcoredump.h"

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

absl::StatusOr<Dump> ReadHex(FileBytes file, const RawOptions& options) {
  absl::StatusOr<Dump> dump = ReadHexText(TextOf(file.bytes), options);
  if (dump.ok()) return dump;
  return absl::Status(dump.status().code(), absl::StrCat(file.name, ":", dump.status().message()));
}

// Asked in this order; the last one takes everything but text.
struct Format {
  absl::string_view name;
  bool (*is)(absl::Span<const uint8_t> bytes);
  absl::StatusOr<Dump> (*read)(FileBytes file, const RawOptions& options);
};
constexpr Format kFormats[] = {
    {"elf", IsElf, [](FileBytes file, const RawOptions&) { return ReadElfCore(std::move(file)); }},
    {"xe-devcoredump",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeXeDevcoredump(TextOf(bytes));
     },
     ReadXeDevcoredump},
    {"i915-error",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeI915Error(TextOf(bytes));
     },
     ReadI915Error},
    {"hex",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeHexText(TextOf(bytes));
     },
     ReadHex},
    {"raw", [](absl::Span<const uint8_t> bytes) { return !IsText(bytes); }, ReadRaw},
};

std::string AllFormats() { return absl::StrJoin(DumpFormats(), ", "); }

absl::StatusOr<Dump> ReadFormat(FileBytes file, const RawOptions& options) {
  for (const Format& format : kFormats) {
    if (options.format.empty() ? format.is(file.bytes) : format.name == options.format) {
      return format.read(std::move(file), options);
    }
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: this is text, but in no format that is known; give a GPU core dump, an i915 error "
      "state, an xe device core dump or words of 8 hex digits, or name the format (%s)",
      file.name, AllFormats()));
}

}  // namespace

std::vector<absl::string_view> DumpFormats() {
  std::vector<absl::string_view> names;
  for (const Format& format : kFormats) names.push_back(format.name);
  return names;
}

absl::StatusOr<Dump> ReadDump(FileBytes file, const RawOptions& options) {
  const std::vector<absl::string_view> formats = DumpFormats();
  if (!options.format.empty() &&
      std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown format \"%s\": expected one of %s", options.format, AllFormats()));
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
