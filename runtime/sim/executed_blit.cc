#include "runtime/sim/executed_blit.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/streamer.h"

namespace packsmith::sim {

using tables::kNone;
using tables::OperandRole;

std::optional<uint64_t> ExecutedBlit::Number(OperandRole role) const {
  const tables::Operand* const operand = operation_.operand(role);
  return operand == nullptr ? std::nullopt : std::optional(execution_.Evaluate(*operand));
}

absl::string_view ExecutedBlit::Name(OperandRole role) const {
  const std::optional<uint64_t> raw = execution_.Raw(operation_, role);
  if (!raw) return {};
  const tables::Tables& tables = execution_.tables_;
  const tables::Leaf& leaf = tables.leaf(LeafOf(tables, *operation_.operand(role)));
  if (leaf.named == kNone) return {};
  for (const tables::NamedValue& value : tables.values(tables.enumeration(leaf.named).values)) {
    if (value.value == *raw) return tables.string(value.name);
  }
  return {};
}

std::optional<BlitOperands::Place> ExecutedBlit::Memory() const {
  const tables::Operand* const memory = operation_.operand(OperandRole::kMemory);
  if (memory == nullptr) return std::nullopt;
  const uint32_t leaf = LeafOf(execution_.tables_, *memory);
  if (leaf == kNone) return std::nullopt;
  const sim::Place place = execution_.PlaceOf(leaf);
  return Place{place.space, place.address};
}

std::vector<uint8_t> ExecutedBlit::Stored() const {
  std::vector<uint8_t> bytes;
  execution_.ForEachStored([&](uint64_t value, uint64_t size) {
    for (uint64_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  });
  return bytes;
}

bool ExecutedBlit::RegisterSays(tables::Meaning meaning) const {
  return execution_.streamer_.registers_.Says(meaning);
}

size_t ExecutedBlit::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  const size_t read = execution_.streamer_.seen_.Read(tables::ClientKind::kBlitter, space, address,
                                                      out, execution_.command_);
  met_unmapped_ |= read < out.size();
  return read;
}

size_t ExecutedBlit::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  Streamer& streamer = execution_.streamer_;
  const size_t written = streamer.seen_.Write(tables::ClientKind::kBlitter, space, address, bytes,
                                              execution_.command_);
  met_unmapped_ |= written < bytes.size() && !streamer.memory_.exhausted();
  if (written == 0) return 0;
  streamer.window_.OnWrite(space, address, written);
  streamer.observer_.OnStore(execution_.command_, space, address, bytes.first(written));
  return written;
}

void Execution::DoBlit(const Operation& operation) {
  ExecutedBlit blit(*this, operation);
  const BlitOutcome outcome = streamer_.blits_.Do(operation.kind, blit, blit);
  if (!outcome.status.ok()) {
    std::string text =
        absl::StrCat(tables_.string(plan_.container->name), ": ", outcome.status.message());
    if (blit.met_unmapped()) {
      streamer_.ReportUnmapped(std::move(text));
    } else {
      streamer_.Report(absl::IsOutOfRange(outcome.status) ? ProblemKind::kApproximate
                                                          : ProblemKind::kUnsupported,
                       std::move(text));
    }
  }
  if (outcome.overlap_undefined) {
    streamer_.Report(ProblemKind::kApproximate,
                     absl::StrCat(tables_.string(plan_.container->name),
                                  ": source and destination overlap such that the result depends ",
                                  "on how far the hardware reads ahead"));
  }
}

}  // namespace packsmith::sim
