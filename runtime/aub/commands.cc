#include "runtime/aub/commands.h"

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::aub {
namespace {

// Registers whose writes are masked have the mask in their upper half.
constexpr uint32_t kMaskShift = 16;

}  // namespace

absl::StatusOr<std::vector<uint8_t>> StartOfBatch(const tables::Tables& tables, uint64_t address,
                                                  bool process) {
  constexpr absl::string_view kStart = "MI_BATCH_BUFFER_START";
  const uint32_t index = tables.FindContainer(kStart);
  if (index == tables::kNone) {
    return absl::NotFoundError(absl::StrCat(tables.generation(), " has no ", kStart));
  }
  const tables::Container& container = tables.container(index);
  std::vector<uint8_t> bytes(container.bytes);
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  decode::WriteBits(out, 0, 32, container.identify_value);
  if (container.length_leaf != tables::kNone && container.length_unit != 0) {
    const tables::Leaf& length = tables.leaf(container.length_leaf);
    decode::WriteBits(out, length.bit, length.width,
                      container.bytes / container.length_unit - container.length_bias);
  }
  bool fits = false;
  for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
    const absl::string_view name = tables.string(leaf.name);
    if (name == "Batch Buffer Start Address") {
      decode::Value value;
      value.unsigned_value = address;
      const std::optional<uint64_t> raw = decode::EncodeValue(tables, leaf, value);
      fits = raw.has_value();
      if (fits) decode::WriteBits(out, leaf.bit, leaf.width, *raw);
      continue;
    }
    const absl::string_view choice = name == "Address Space Indicator" ? process ? "PPGTT" : "GGTT"
                                     : name == "Memory Space Select"   ? "GTT"
                                                                       : "";
    const std::optional<uint64_t> raw =
        choice.empty() ? std::nullopt : tables.NamedValueOf(leaf, choice);
    if (raw) decode::WriteBits(out, leaf.bit, leaf.width, *raw);
  }
  if (fits) return bytes;
  return absl::InvalidArgumentError(
      absl::StrFormat("a batch cannot be at 0x%x on %s", address, tables.generation()));
}

RegisterValue FieldOfRegister(const tables::Tables& tables, uint32_t base, absl::string_view name,
                              absl::string_view field, uint64_t value) {
  const absl::StatusOr<sim::Structure> found = sim::Structure::Find(tables, name);
  if (!found.ok()) return {};
  const sim::StructureField of = found->Field(field);
  if (!of) return {};
  const absl::StatusOr<uint32_t> bits = found->Dword(of, value);
  const absl::StatusOr<uint32_t> mask = found->Dword(of, 1);
  if (!bits.ok() || !mask.ok()) return {};
  const tables::Container& container = found->container();
  RegisterValue out;
  out.offset = container.register_offset - sim::DescribedBase(tables) + base;
  out.value = *bits;
  if (container.masked != 0) out.value |= *mask << kMaskShift;
  return out;
}

}  // namespace packsmith::aub
