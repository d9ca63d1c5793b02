// Recordings of generations with execution lists. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_TRACE_RECORDING_H_
#define PACKSMITH_RUNTIME_AUB_TRACE_RECORDING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/aub/commands.h"
#include "runtime/aub/recording_parts.h"
#include "runtime/aub/trace_memory.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// Contexts, their rings, and their submission to engines.
class TraceRecording {
 public:
  // All must outlive this.
  TraceRecording(const tables::Tables& tables, AubWriter& packets, Lost& lost)
      : tables_(tables), packets_(packets), lost_(lost), memory_(tables, packets, lost) {}

  absl::Status Add(const Dump& dump);

 private:
  // A context on an engine, with a ring. Contexts continue from dump to dump.
  struct Image {
    uint32_t base = 0;  // of the engine's registers
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t ring = 0;
    uint64_t ring_bytes = 0;
    uint64_t descriptor = 0;
    uint64_t root = 0;  // of the page tables that it names
    // Addresses of the registers' values.
    uint64_t head_at = 0, tail_at = 0, root_at = 0, root_high_at = 0;
  };
  // Context, slot, engine, and where the dump has the ring.
  using ImageKey = std::tuple<uint32_t, uint32_t, std::string, std::optional<uint64_t>>;

  absl::StatusOr<Image*> ImageOf(const Dump& dump, const Submission& submission);
  absl::string_view LayoutOf(absl::string_view engine) const;
  absl::StatusOr<uint64_t> DescriptorOf(uint64_t image, uint32_t number) const;
  // Where in the image the registers are.
  absl::Status FindRing(absl::Span<const uint8_t> list, Image& image) const;
  // The context goes on with other page tables.
  absl::Status SetRoot(Image& image, uint64_t root);

  // Execution lists, and a status page.
  absl::Status StartEngine(const Dump& dump, uint32_t base);
  absl::Status Submit(const Dump& dump, const Submission& submission);
  absl::Status ReadRing(const Dump& dump, const Submission& submission,
                        std::vector<uint8_t>& commands);
  absl::Status WriteRing(const Image& image, uint64_t offset, absl::Span<const uint8_t> commands);
  // Gives the engine the context, and waits until it has taken it.
  absl::Status Load(uint32_t base, uint64_t descriptor);
  absl::Status Poll(uint32_t base, absl::string_view field, uint64_t value, absl::Status status);

  absl::Status WriteDword(uint64_t address, uint64_t value);
  absl::Status WriteRegister(const RegisterValue& write);

  const tables::Tables& tables_;
  AubWriter& packets_;
  Lost& lost_;
  TraceMemory memory_;
  std::map<ImageKey, Image> images_;
  std::set<uint32_t> engines_;     // that were started, by base
  std::set<uint64_t> ring_pages_;  // of rings that are written again
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_TRACE_RECORDING_H_
