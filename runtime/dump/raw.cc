#include "runtime/dump/raw.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace packsmith {

Submission SubmissionOf(const RawOptions& options, uint64_t begin, const Memory& memory) {
  Submission submission;
  submission.engine = options.engine;
  submission.context = options.context;
  submission.slot = options.slot;
  submission.space = options.space;
  submission.stream = options.stream;
  submission.bare = true;
  submission.batch_address = options.batch_address.value_or(begin);
  const Memory::Segment* run = memory.Find(options.space, submission.batch_address);
  submission.batch_length = options.batch_length.value_or(
      run == nullptr ? 0 : run->memory_size - (submission.batch_address - run->address));
  return submission;
}

absl::StatusOr<Dump> ReadRaw(FileBytes file, const RawOptions& options) {
  Dump dump;
  dump.device = DeviceOfGeneration(options.generation);
  const absl::Status mapped =
      dump.memory.Map(options.space, options.address, file.bytes, file.bytes.size());
  if (!mapped.ok()) return mapped;
  if (file.bytes.empty()) dump.AddProblem(0, "the input is empty");
  if (file.bytes.size() % 4 != 0) {
    dump.AddProblem(file.bytes.size() - file.bytes.size() % 4,
                    absl::StrFormat("the last %u bytes are no whole word; kept as they are",
                                    file.bytes.size() % 4));
  }
  dump.submissions.push_back(SubmissionOf(options, options.address, dump.memory));
  dump.backing = std::move(file.owner);
  return dump;
}

}  // namespace packsmith
