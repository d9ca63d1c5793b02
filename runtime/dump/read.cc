#include "runtime/dump/read.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/compressed.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/foreign.h"
#include "runtime/dump/hang_dump.h"
#include "runtime/dump/hex_text.h"
#include "runtime/dump/i915_error.h"
#include "runtime/dump/kernel_log.h"
#include "runtime/dump/memory_file.h"
#include "runtime/dump/run_folder.h"
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

// Tried in this order; the last one takes everything but text.
struct Format {
  absl::string_view name;
  bool (*is)(absl::Span<const uint8_t> bytes);
  // folder: of the file, for formats that refer to other files; "": unknown.
  absl::StatusOr<Dump> (*read)(FileBytes file, const RawOptions& options, absl::string_view folder);
};

template <absl::StatusOr<Dump> (*kRead)(FileBytes file, const RawOptions& options)>
absl::StatusOr<Dump> Alone(FileBytes file, const RawOptions& options, absl::string_view) {
  return kRead(std::move(file), options);
}

constexpr Format kFormats[] = {
    {"elf", IsElf,
     [](FileBytes file, const RawOptions&, absl::string_view folder) {
       return ReadElfCore(std::move(file), CoreAddresses::kPlain, folder);
     }},
    {"aub", IsAub, Alone<ReadAub>},
    {"hang-dump", IsHangDump, Alone<ReadHangDump>},
    {"xe-devcoredump",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeXeDevcoredump(TextOf(bytes));
     },
     Alone<ReadXeDevcoredump>},
    {"i915-error",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeI915Error(TextOf(bytes));
     },
     Alone<ReadI915Error>},
    {"hex",
     [](absl::Span<const uint8_t> bytes) {
       return IsText(bytes) && LooksLikeHexText(TextOf(bytes));
     },
     Alone<ReadHex>},
    {"raw", [](absl::Span<const uint8_t> bytes) { return !IsText(bytes); }, Alone<ReadRaw>},
};

// Text without what other programs added: a byte order mark, the prefixes of a kernel log.
FileBytes Bare(FileBytes file) {
  constexpr uint8_t kMark[] = {0xef, 0xbb, 0xbf};
  if (file.bytes.size() > sizeof(kMark) &&
      std::equal(std::begin(kMark), std::end(kMark), file.bytes.begin())) {
    file.bytes.remove_prefix(sizeof(kMark));
  }
  if (!IsText(file.bytes) || !LooksLikeKernelLog(TextOf(file.bytes))) return file;
  return BytesOf(WithoutLogPrefixes(TextOf(file.bytes)), file.name);
}

std::string AllFormats() { return absl::StrJoin(DumpFormats(), ", "); }

// An error with a remedy for input that cannot be decoded but would be taken for a batch.
absl::Status CheckIsDump(const FileBytes& file) {
  if (file.bytes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file.name, ": is empty; fetch the dump again"));
  }
  const Foreign foreign = ForeignFormat(file.bytes);
  if (foreign.format.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file.name, ": ", foreign.format,
                                                 " cannot be read; ", foreign.remedy,
                                                 " (if it only looks like one: --input=raw)"));
}

absl::StatusOr<Dump> ReadFormat(FileBytes file, const RawOptions& options,
                                absl::string_view folder) {
  for (const Format& format : kFormats) {
    if (options.format.empty() && &format == &kFormats[std::size(kFormats) - 1]) {
      if (absl::Status status = CheckIsDump(file); !status.ok()) return status;
    }
    if (options.format.empty() ? format.is(file.bytes) : format.name == options.format) {
      return format.read(std::move(file), options, folder);
    }
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: text in an unknown format; give a GPU core dump, an i915 error state, an xe device core "
      "dump or words of 8 hex digits, or name the format (%s)",
      file.name, AllFormats()));
}

// Names with numbers in the order of the numbers: job-2, job-10. Of equal ones, the order of bytes.
bool IsBefore(absl::string_view a, absl::string_view b) {
  const auto digits = [](absl::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
    return text.substr(at, end - at);
  };
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    const absl::string_view one = digits(a, i), two = digits(b, k);
    if (one.empty() || two.empty()) {
      if (a[i] != b[k]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[k]);
      ++i;
      ++k;
      continue;
    }
    const auto value = [](absl::string_view number) {
      return number.substr(std::min(number.find_first_not_of('0'), number.size()));
    };
    const absl::string_view x = value(one), y = value(two);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i += one.size();
    k += two.size();
  }
  if ((i == a.size()) != (k == b.size())) return i == a.size();
  return a < b;
}

// Levels of compression; a file that unpacks to itself has infinitely many.
constexpr int kMostLevels = 4;

// A file that is compressed twice, by a browser or a mail program, say, is unpacked twice.
absl::StatusOr<Decompressed> UnpackAll(FileBytes file, uint64_t max_bytes) {
  std::optional<Problem> problem;
  for (int level = 0; level < kMostLevels; ++level) {
    absl::StatusOr<Decompressed> unpacked = Decompress(std::move(file), max_bytes);
    if (!unpacked.ok()) return unpacked;
    if (!problem) problem = std::move(unpacked->problem);
    if (!IsCompressed(unpacked->file.bytes)) {
      unpacked->problem = std::move(problem);
      return unpacked;
    }
    file = std::move(unpacked->file);
  }
  return absl::InvalidArgumentError(absl::StrCat(file.name, ": is compressed more than ",
                                                 kMostLevels, " times; unpack it first"));
}

// ReadDump() for a file of `folder`.
absl::StatusOr<Dump> ReadIn(absl::string_view folder, FileBytes file, const RawOptions& options) {
  const std::vector<absl::string_view> formats = DumpFormats();
  if (!options.format.empty() &&
      std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown format \"%s\": expected one of %s", options.format, AllFormats()));
  }
  absl::StatusOr<Decompressed> unpacked = UnpackAll(std::move(file), options.max_bytes);
  if (!unpacked.ok()) return unpacked.status();
  // Raw input is not treated as text.
  if (options.format != "raw") unpacked->file = Bare(std::move(unpacked->file));
  absl::StatusOr<Dump> dump = ReadFormat(std::move(unpacked->file), options, folder);
  if (unpacked->problem) {
    // An error in the unpacked data is most likely due to this problem: report both.
    if (!dump.ok()) {
      return absl::Status(dump.status().code(), absl::StrCat(dump.status().message(), " (",
                                                             unpacked->problem->text, ")"));
    }
    dump->AddProblem(unpacked->problem->offset, unpacked->problem->text);
  }
  return dump;
}

}  // namespace

std::vector<absl::string_view> DumpFormats() {
  std::vector<absl::string_view> names;
  for (const Format& format : kFormats) names.push_back(format.name);
  return names;
}

absl::StatusOr<FoundDumps> FindDumps(const std::string& directory) {
  FoundDumps found;
  absl::StatusOr<RunFolder> run = ReadRunFolder(directory);
  if (!run.ok() || (run->run.empty() && run->records.empty())) {
    absl::StatusOr<std::vector<std::string>> paths = DumpsIn(directory);
    if (!paths.ok()) return paths.status();
    found.paths = *std::move(paths);
    return found;
  }
  for (const absl::string_view other : {kIndexFile, kMemoryFile}) {
    found.others.push_back(absl::StrCat(directory, "/", other));
  }
  for (const std::string& problem : run->problems) {
    found.problems.push_back(absl::StrCat(directory, "/", kIndexFile, ", ", problem));
  }
  for (const RunRecord& record : run->records) {
    found.paths.push_back((std::filesystem::path(directory) / record.file).string());
  }
  if (found.paths.empty()) {
    return absl::NotFoundError(
        absl::StrCat(directory, ": the run has no submissions",
                     found.problems.empty() ? "" : "; " + found.problems.front()));
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> DumpsIn(const std::string& directory) {
  namespace fs = std::filesystem;
  // Names without .gz and .zst, in order of preference: a device core dump disappears soon, an
  // error state stays, and every card of the i915 driver has a file for it.
  constexpr absl::string_view kKernels[] = {"data", "error", "i915_error_state"};
  std::error_code error;
  const fs::path inner = fs::path(directory) / "device" / "devcoredump";
  if (fs::is_directory(inner, error)) return DumpsIn(inner.string());
  std::vector<std::string> kernels[std::size(kKernels)], cores, others;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable)) continue;
    const std::string path = at->path().string();
    const std::string name = at->path().filename().string();
    absl::string_view plain = name;
    if (!absl::ConsumeSuffix(&plain, ".gz")) absl::ConsumeSuffix(&plain, ".zst");
    const auto* const kernel = std::find(std::begin(kKernels), std::end(kKernels), plain);
    if (kernel != std::end(kKernels)) {
      kernels[kernel - std::begin(kKernels)].push_back(path);
    } else if (absl::EndsWith(plain, ".core")) {
      cores.push_back(path);
    } else {
      others.push_back(path);
    }
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(directory, ": ", error.message()));
  }
  for (std::vector<std::string>& found : kernels) {
    // There may be several: the same one plain and compressed.
    if (!found.empty())
      return std::vector<std::string>{*std::min_element(found.begin(), found.end())};
  }
  std::sort(cores.begin(), cores.end(), IsBefore);
  if (!cores.empty()) return cores;
  if (others.size() == 1) return others;
  return absl::NotFoundError(absl::StrCat(directory, " has no dump: none of ",
                                          absl::StrJoin(kKernels, ", "),
                                          ", no *.core, and not exactly one file; name the file"));
}

absl::StatusOr<Dump> ReadDump(FileBytes file, const RawOptions& options) {
  return ReadIn("", std::move(file), options);
}

absl::StatusOr<Dump> ReadDump(const std::string& path, const RawOptions& options) {
  absl::StatusOr<FileBytes> file = OpenFile(path, options.max_bytes);
  if (!file.ok()) return file.status();
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  return ReadIn(path != "-" && folder.empty() ? "." : folder, *std::move(file), options);
}

}  // namespace packsmith
