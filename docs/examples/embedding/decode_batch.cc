// Prints a batch that is still in memory, as a driver does in its verbose mode.
#include <cstdint>
#include <cstdio>
#include <memory>

#include "packsmith/gfx9.h"
#include "packsmith/runtime/decode/decoder.h"
#include "packsmith/runtime/decode/sinks/text_sink.h"
#include "packsmith/runtime/dump/dump.h"
#include "packsmith/runtime/generations/generations.h"

int main() {
  namespace gfx9 = packsmith::gfx9;
  uint32_t batch[gfx9::MI_STORE_DATA_IMM::length + gfx9::MI_BATCH_BUFFER_END::length];
  const gfx9::MI_STORE_DATA_IMM store{.address = 0x200008, .immediate_data = 42};
  if (store.pack(batch)) return 1;
  if (gfx9::MI_BATCH_BUFFER_END{}.pack(batch + gfx9::MI_STORE_DATA_IMM::length)) return 1;

  // The part of the GPU's memory that is available. Bytes are not copied.
  constexpr uint64_t kAddress = 0x100000;
  packsmith::Dump dump;
  const absl::Status mapped = dump.memory.Map(
      /*space=*/0, kAddress, {reinterpret_cast<const uint8_t*>(batch), sizeof(batch)},
      sizeof(batch));
  if (!mapped.ok()) {
    std::fprintf(stderr, "%s\n", mapped.ToString().c_str());
    return 1;
  }
  dump.submissions.push_back(
      {.engine = "render", .batch_address = kAddress, .batch_length = sizeof(batch)});

  const absl::StatusOr<packsmith::tables::Tables> tables = packsmith::FindGeneration("gfx9");
  if (!tables.ok()) {
    std::fprintf(stderr, "%s\n", tables.status().ToString().c_str());
    return 1;
  }
  packsmith::decode::StringOutput output;
  const std::unique_ptr<packsmith::decode::Sink> sink =
      packsmith::decode::MakeTextSink(output, {.hide_zero_fields = true});
  packsmith::decode::Decoder decoder(*tables, *sink);
  decoder.Decode(dump);
  const packsmith::decode::Summary summary = decoder.Finish();
  std::fputs(output.text().c_str(), stdout);
  return summary.problems == 0 && summary.unknown_dwords == 0 ? 0 : 1;
}
