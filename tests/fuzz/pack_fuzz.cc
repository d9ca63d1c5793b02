// Any bytes as a text for pack: the first byte chooses records of JSON, the short form, or bytes of
// a packet that the short form must give back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/dump/dump.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/json.h"
#include "runtime/encode/source.h"
#include "runtime/generations/generations.h"
#include "tests/fuzz/touch_dump.h"

namespace packsmith::encode {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

absl::StatusOr<tables::Tables> Find(absl::string_view name) { return FindGeneration(name); }

// What was read is written and read again, and must be the same.
void Check(absl::StatusOr<Packed> packed) {
  if (!packed.ok()) {
    // No terminal control characters.
    for (const char c : packed.status().message()) {
      Demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    }
    Demand(!packed.status().message().empty());
    return;
  }
  if (!packed->tables) return;
  const tables::Tables tables = *packed->tables;
  const Dump dump = ToDump(*std::move(packed));
  TouchDump(dump);
  const std::string text = WriteSource(tables, dump);
  const Source source{"again.asm", text};
  absl::StatusOr<Packed> again = Assemble(source, Find, {.most_bytes = 64 * kMostBytes});
  Demand(again.ok());
  const Dump second = ToDump(*std::move(again));
  Demand(second.submissions == dump.submissions);
  Demand(WriteSource(tables, second) == text);
}

void CheckRecord(absl::Span<const uint8_t> data) {
  if (data.size() < 2) return;
  const tables::Tables tables = *FindGeneration("gfx125");
  const uint32_t index = static_cast<uint32_t>(data[0] | data[1] << 8) %
                         static_cast<uint32_t>(tables.containers().size());
  data.remove_prefix(2);
  if (data.empty()) return;
  const tables::Container& container = tables.container(index);
  const std::string text = absl::StrCat(".gen gfx125\n", RecordSource(tables, container, data));
  const Source source{"record.asm", text};
  const absl::StatusOr<Packed> packed = Assemble(source, Find);
  Demand(packed.ok());
  const absl::StatusOr<std::vector<uint8_t>> bytes = ToBytes(*packed);
  Demand(bytes.ok() && absl::MakeConstSpan(*bytes) == data);
}

}  // namespace
}  // namespace packsmith::encode

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith::encode;
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Source source{"a", text};
  switch (data[0] % 3) {
    case 0:
      Check(Assemble(source, Find, {.generation = "gfx9", .most_bytes = kMostBytes}));
      break;
    case 1:
      Check(ReadJson(source, Find, {.generation = "gfx9"}));
      Check(ReadJson(source, Find, {.fields_only = true, .generation = "gfx9"}));
      break;
    default:
      CheckRecord({data + 1, size - 1});
  }
  return 0;
}
