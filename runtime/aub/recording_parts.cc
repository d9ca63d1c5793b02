#include "runtime/aub/recording_parts.h"

namespace packsmith::aub {
namespace {

constexpr uint64_t kPage = kPageBytes;

absl::Status Visit(const Dump& dump, const Memory::Segment& segment, uint64_t page,
                   absl::FunctionRef<absl::Status(const DumpPage&)> visit) {
  if (page >= segment.address && segment.last() - page >= kPage - 1) {
    const uint64_t offset = page - segment.address;
    if (offset >= segment.bytes.size()) return visit({page, {}, true});
    if (segment.bytes.size() - offset >= kPage) {
      return visit({page, segment.bytes.subspan(offset, kPage), true});
    }
  }
  // Pieces of segments.
  uint64_t copied = 0;
  std::array<uint8_t, kPage> bytes = {};
  for (uint64_t at = 0; at < kPage;) {
    const size_t now =
        dump.memory.Copy(segment.space, page + at, absl::MakeSpan(bytes).subspan(at));
    copied += now;
    at += now;
    if (at >= kPage) break;
    const Memory::Segment* const next = dump.memory.FindFrom(segment.space, page + at);
    if (next == nullptr || next->address - page >= kPage) break;
    at = std::max(at + 1, next->address - page);
  }
  return visit({page, absl::MakeConstSpan(bytes), copied == kPage});
}

}  // namespace

absl::Status ForEachPage(const Dump& dump, uint32_t space,
                         absl::FunctionRef<absl::Status(const DumpPage&)> visit) {
  std::optional<uint64_t> done;  // the last page
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    if (mapped.space != space) continue;
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    uint64_t page = segment.address - segment.address % kPage;
    if (done && page <= *done) {
      if (*done == segment.last() - segment.last() % kPage) continue;
      page = *done + kPage;
    }
    for (;; page += kPage) {
      absl::Status status = Visit(dump, segment, page, visit);
      if (!status.ok()) return status;
      done = page;
      if (segment.last() - page < kPage) break;
    }
  }
  return absl::OkStatus();
}

}  // namespace packsmith::aub
