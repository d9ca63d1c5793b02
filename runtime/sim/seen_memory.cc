#include "runtime/sim/seen_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::sim {
namespace {

using tables::ClientKind;

// More pairs of writer and reader are not reported until the next request.
constexpr size_t kMostReports = 4096;
// Reads that have no bytes to replace.
constexpr absl::Span<uint8_t> kNoBytes;

}  // namespace

size_t SeenMemory::Write(ClientKind writer, uint32_t space, uint64_t address,
                         absl::Span<const uint8_t> bytes, const Command& packet) {
  if (!tracks_ || !rules_.Has(writer)) return memory_.Write(space, address, bytes);
  old_.clear();
  if (tracker_.WantsOld(writer, bytes.size())) {
    old_.resize(bytes.size());
    old_.resize(memory_.Read(space, address, absl::MakeSpan(old_)));
    // What the streamer does not see yet stays what it sees.
    if (tracker_.MayBeEarly(ClientKind::kStreamer, {space, address, old_.size()})) {
      tracker_.Read(ClientKind::kStreamer, {space, address, old_.size()}, absl::MakeSpan(old_),
                    [](const EarlyRead&) {});
    }
  }
  const size_t written = memory_.Write(space, address, bytes);
  if (written == 0) return 0;
  if (old_.size() > written) old_.resize(written);
  if (old_.size() < written) old_.clear();
  tracker_.Write(writer, {space, address, written},
                 {packet.container, packet.space, packet.address}, old_);
  return written;
}

void SeenMemory::Mark(ClientKind writer, const MemoryRange& range, const Command& packet) {
  if (!tracks_) return;
  tracker_.Write(writer, range, {packet.container, packet.space, packet.address});
}

size_t SeenMemory::Read(ClientKind reader, uint32_t space, uint64_t address,
                        absl::Span<uint8_t> out, const Command& packet) {
  const size_t read = memory_.Read(space, address, out);
  if (tracker_.idle() || read == 0) return read;
  const MemoryRange range{space, address, read};
  if (reader == ClientKind::kStreamer && !tracker_.MayBeEarly(reader, range)) return read;
  // Old bytes are those that the streamer sees; others see whatever their caches hold.
  const bool replaces = reader == ClientKind::kStreamer || reader == ClientKind::kBlitter;
  tracker_.Read(reader, range, replaces ? out.first(read) : kNoBytes,
                [&](const EarlyRead& early) { Report(early, packet, {}, replaces); });
  return read;
}

void SeenMemory::Look(ClientKind reader, const MemoryRange& range, const Command& packet,
                      absl::string_view what) {
  if (tracker_.idle()) return;
  tracker_.Read(reader, range, kNoBytes,
                [&](const EarlyRead& early) { Report(early, packet, what, false); });
}

void SeenMemory::Report(const EarlyRead& early, const Command& packet, absl::string_view what,
                        bool is_read) {
  const WritingPacket& writer = early.write.packet;
  if (reported_.size() >= kMostReports) return;
  if (!reported_
           .emplace(writer.space, writer.address, tables_.IndexOf(*writer.container), early.reader)
           .second) {
    return;
  }
  const std::string names = rules_.NamesOf(early.missing.clauses, engine_);
  std::string text = absl::StrFormat(
      "%s reads %d bytes at 0x%x%s%s before %s sees what %s at 0x%x has written there%s: %s is "
      "needed in between",
      tables_.string(packet.container->name), early.range.size, early.range.address,
      what.empty() ? "" : ", ", what, NameOf(early.reader), tables_.string(writer.container->name),
      writer.address,
      early.write.client == ClientKind::kPostSync || early.write.client == ClientKind::kStreamer
          ? ""
          : absl::StrCat(" through ", NameOf(early.write.client)),
      names);
  if (early.missing.too_early) {
    absl::StrAppend(&text, ", in a packet after the one that writes back");
  }
  if (is_read && !early.write.old.empty()) absl::StrAppend(&text, "; the old bytes are read");
  observer_.OnProblem({ProblemKind::kEarly, packet.space, packet.address, std::move(text)});
}

void SeenMemory::Synchronize() {
  tracker_.Synchronize();
  if (!reported_.empty()) reported_.clear();
}

}  // namespace packsmith::sim
