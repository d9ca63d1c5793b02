// A job's memory, seen through the decoder: packets, and what their pointers point to.
#ifndef PACKSMITH_TESTS_INTEL_BINDING_DECODED_H_
#define PACKSMITH_TESTS_INTEL_BINDING_DECODED_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/intel/batch/batch_core.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {

struct DecodedRecord {
  std::string name;
  uint64_t id = 0, parent = 0;
  uint64_t address = 0;
  int64_t index = -1;
  bool is_packet = false;
  std::vector<uint32_t> dwords;
};

struct DecodedJob {
  std::vector<DecodedRecord> records;
  std::unordered_map<uint64_t, std::vector<size_t>> children;  // of a record, by its id
  std::vector<std::string> problems;  // unknown dwords and faults among them
  decode::Summary summary;

  // The records of that name that this record points to, in order.
  std::vector<const DecodedRecord*> Below(uint64_t parent, absl::string_view name) const;
  std::vector<std::string> Packets() const;
};

// Everything that is bound, and the batch, which has ended.
DecodedJob DecodeJob(const BindingMemory& memory, const BatchCore& batch);

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BINDING_DECODED_H_
