// What a text describes: a dump, before it is one.
#ifndef PACKSMITH_RUNTIME_ENCODE_PACKED_H_
#define PACKSMITH_RUNTIME_ENCODE_PACKED_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/encode/image.h"
#include "runtime/tables/tables.h"

namespace packsmith::encode {

struct Packed {
  std::optional<tables::Tables> tables = {};  // of its generation, if the text names one
  Device device;
  std::vector<Submission> submissions;
  std::vector<Buffer> buffers;
  Image image;
  bool memory_is_complete = false;
  std::optional<uint32_t> physical_space = {};
  // What the text has and a dump cannot hold.
  std::vector<std::string> remarks;
};

// The tables of a generation, by its name or alias. Those of a text are found when it names its
// generation.
using FindTables = std::function<absl::StatusOr<tables::Tables>(absl::string_view generation)>;

// A dump that owns its memory. Without submissions, the memory that comes first is one.
Dump ToDump(Packed packed);

// The bytes, if they are one run; else FailedPrecondition says where there are gaps.
absl::StatusOr<std::vector<uint8_t>> ToBytes(const Packed& packed);

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_PACKED_H_
