#include "runtime/aub/classic_recording.h"

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "runtime/aub/commands.h"
#include "runtime/aub/engines.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::aub {

absl::Status ClassicRecording::Add(const Dump& dump) {
  std::optional<uint32_t> space;  // that is mapped
  for (const Submission& submission : dump.submissions) {
    if (!IsBatch(submission)) {
      if (submission.kind != "context image") lost_.Add("rings");
      continue;
    }
    if (space != submission.space) {
      space = submission.space;
      absl::Status status = WriteSpace(dump, *space);
      if (!status.ok()) return status;
    }
    const absl::StatusOr<std::vector<uint8_t>> start =
        StartOfBatch(tables_, submission.batch_address, false);
    if (!start.ok()) return start.status();
    const absl::string_view engine = ClassOf(tables_, submission.engine);
    absl::Status status = packets_.ClassicRing(engine.empty() ? "render" : engine, *start);
    if (!status.ok()) return status;
  }
  if (space) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a recording needs a batch: this dump has none; write a GPU core dump");
}

// Everything that is mapped afterwards is of this space.
absl::Status ClassicRecording::WriteSpace(const Dump& dump, uint32_t space) {
  const auto format = sim::PageTableFormat::Make(tables_, sim::PageTableKind::kGlobal, 0);
  if (!format.ok()) return format.status();
  std::set<uint64_t> stale = mapped_;
  absl::Status status = ForEachPage(dump, space, [&](const DumpPage& page) -> absl::Status {
    if (page.address >= kGlobalEnd) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "a recording of this generation has addresses of 32 bits, and the dump has memory at "
          "0x%x; write a GPU core dump",
          page.address));
    }
    if (!page.whole) lost_.AddPartOfPage();
    stale.erase(page.address);
    if (mapped_.insert(page.address).second) {
      absl::Status written = WriteEntry(*format, page.address, true);
      if (!written.ok()) return written;
    }
    return packets_.ClassicWrite(AubSpace::kGlobal, page.address, page.content());
  });
  for (const uint64_t page : stale) {
    if (!status.ok()) return status;
    mapped_.erase(page);
    status = WriteEntry(*format, page, false);
  }
  return status;
}

// A page is at the same physical address, after the first page.
absl::Status ClassicRecording::WriteEntry(const sim::PageTableFormat& format, uint64_t page,
                                          bool present) {
  const sim::Structure& entry = format.levels().front().entry;
  uint8_t encoded[sizeof(uint64_t)] = {};
  if (present) {
    const absl::StatusOr<uint64_t> value = format.EncodePage(0, page + kPageBytes, {}, false);
    if (!value.ok()) return value.status();
    decode::WriteBits(absl::MakeSpan(encoded), 0, 64, *value);
  }
  return packets_.ClassicWrite(AubSpace::kGlobalEntry, page / kPageBytes * entry.size(),
                               absl::MakeConstSpan(encoded, entry.size()));
}

}  // namespace packsmith::aub
