// Records as text for people.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_TEXT_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_TEXT_SINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"

namespace packsmith::decode {

struct TextOptions {
  bool color = false;
  // Fields that are zero (or false, or 0.0) are omitted; their packet has the number of these.
  bool hide_zero_fields = false;
  // The addresses of records. Without them, the same work gives the same text wherever the driver
  // has put it, except for the addresses in packets.
  bool offsets = true;
  // Bits that are set and that the XML does not describe are shown.
  bool undescribed = false;
  // Counts them.
  UndescribedSeen* undescribed_seen = nullptr;
  // Written after the device: an overview of the dump.
  std::string overview = {};
  // Lines that are written below a program: its disassembly.
  std::function<std::string(const Record&)> about_kernel = {};
};

// Packets of one dword that come several times in a row are shown once. Hands text over in chunks
// of 64 KiB, the last one with the summary. `output` must outlive the sink.
std::unique_ptr<Sink> MakeTextSink(Output& output, const TextOptions& options = {});

// "1 packet", "2 packets".
std::string Counted(uint64_t count, absl::string_view what);

// The text with characters escaped that a terminal would interpret, or not show: hidden characters
// (IsHidden) and bytes that are not UTF-8. Strings of a dump may hold anything.
std::string Harmless(absl::string_view text);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_TEXT_SINK_H_
