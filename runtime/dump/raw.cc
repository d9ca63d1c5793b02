#include "runtime/dump/raw.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"

namespace packsmith {

Submission SubmissionOf(const RawOptions& options, uint64_t begin, const Memory& memory) {
  Submission submission;
  submission.engine = options.engine;
  submission.context = options.context;
  submission.slot = options.slot;
  submission.space = options.space;
  submission.stream = options.stream;
  submission.bare = true;
  submission.batch_address = AddressFor(options, options.batch_address.value_or(begin));
  const Memory::Segment* run = memory.Find(options.space, submission.batch_address);
  submission.batch_length = options.batch_length.value_or(
      run == nullptr ? 0 : run->memory_size - (submission.batch_address - run->address));
  return submission;
}

uint64_t AddressFor(const RawOptions& options, uint64_t address) {
  // Without a generation the width of addresses is unknown.
  const absl::string_view generation = options.generation;
  const bool is_agx = absl::StartsWith(generation, "agx") || absl::StartsWith(generation, "g1");
  return generation.empty() || is_agx ? address : PlainAddress(address);
}

absl::StatusOr<Dump> ReadRaw(FileBytes file, const RawOptions& options) {
  Dump dump;
  dump.device = DeviceOfGeneration(options.generation);
  const uint64_t begin = AddressFor(options, options.address);
  const absl::Status mapped = dump.memory.Map(options.space, begin, file.bytes, file.bytes.size());
  if (!mapped.ok()) return mapped;
  if (file.bytes.empty()) dump.AddProblem(0, "the input is empty");
  if (file.bytes.size() % 4 != 0) {
    dump.AddProblem(file.bytes.size() - file.bytes.size() % 4,
                    absl::StrFormat("the last %u bytes are not a whole word; kept as they are",
                                    file.bytes.size() % 4));
  }
  dump.submissions.push_back(SubmissionOf(options, begin, dump.memory));
  dump.backing = std::move(file.owner);
  return dump;
}

}  // namespace packsmith
