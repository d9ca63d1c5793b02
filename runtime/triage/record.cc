#include "runtime/triage/record.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/compressed.h"
#include "runtime/dump/foreign.h"
#include "runtime/dump/i915_error.h"
#include "runtime/dump/read.h"
#include "runtime/dump/xe_devcoredump.h"
#include "runtime/hang/beside.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/hang/report.h"
#include "runtime/hang/rings.h"

namespace packsmith::triage {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

void AddProblems(const Dump& dump, Record& record) {
  const auto add = [&](const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      if (record.problems++ == 0) {
        record.trouble = absl::StrCat("byte ", problem.offset, ": ", problem.text);
      }
    }
  };
  add(dump.problems);
  // Memory that was read for the report.
  if (dump.late_problems != nullptr) add(dump.late_problems->All());
}

// Whether a file that ReadDump() refuses is whole, and of another kind: a README, a log.
bool IsOther(const std::string& path, uint64_t max_bytes) {
  absl::StatusOr<FileBytes> file = OpenFile(path, max_bytes);
  if (!file.ok()) return false;
  const absl::StatusOr<Decompressed> unpacked = Decompress(*std::move(file), max_bytes);
  if (!unpacked.ok() || unpacked->problem) return false;
  const absl::Span<const uint8_t> bytes = unpacked->file.bytes;
  // Of an archive, or a dump in a compression that is not read, the message names the remedy.
  if (bytes.empty() || !ForeignFormat(bytes).format.empty()) return false;
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !LooksLikeXeDevcoredump(text) && !LooksLikeI915Error(text);
}

// A message without the name that it begins with: the record has it.
std::string WithoutName(absl::string_view message, const std::string& path) {
  if (absl::ConsumePrefix(&message, path) && absl::ConsumePrefix(&message, ":")) {
    message = absl::StripLeadingAsciiWhitespace(message);
  }
  return ValidUtf8(message);
}

}  // namespace

absl::StatusOr<FileStamp> StampOf(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  FileStamp file;
  file.path = path;
  file.size = static_cast<uint64_t>(about.st_size);
  file.modified_ns = about.st_mtim.tv_sec * kNsPerSecond + about.st_mtim.tv_nsec;
  return file;
}

Record ReadRecord(const FileStamp& file, uint64_t max_bytes, const Describe& describe) {
  Record record;
  record.file = file;
  record.time = file.modified_ns / kNsPerSecond;
  record.time_is_file = true;
  RawOptions options;
  options.max_bytes = max_bytes;
  absl::StatusOr<Dump> dump = ReadDump(file.path, options);
  if (!dump.ok()) {
    if (IsOther(file.path, max_bytes)) record.outcome = Outcome::kOther;
    record.trouble = WithoutName(dump.status().message(), file.path);
    return record;
  }
  if (dump->error_state == nullptr) {
    record.outcome = Outcome::kOther;
    record.trouble = "not a dump that a kernel made of a hang";
    return record;
  }
  const ErrorState& state = *dump->error_state;
  record.format = state.kind;
  record.title = state.title;
  record.ecode = EcodeOf(state.title);
  if (dump->device.pci_id) record.pci_id = absl::StrFormat("0x%04x", *dump->device.pci_id);
  const absl::StatusOr<tables::Tables> tables = describe(*dump);
  if (!tables.ok()) {
    record.trouble = ValidUtf8(tables.status().message());
    return record;
  }
  hang::AddRings(*tables, *dump);
  const hang::Beside beside = hang::ReadBeside(file.path);
  const hang::HangReport report =
      hang::MakeHangReport(*tables, *dump, hang::EventsNear(*dump, beside.events, beside.device));
  record.signature = MakeSignature(*tables, *dump, report);
  record.process = report.process;
  for (const hang::EngineReport& engine : report.engines) {
    if (record.process.empty()) record.process = engine.process;
  }
  if (const int64_t seconds = SecondsOf(report.time); seconds != 0) {
    record.time = seconds;
    record.time_is_file = false;
  }
  AddProblems(*dump, record);
  record.outcome = Outcome::kHang;
  return record;
}

}  // namespace packsmith::triage
