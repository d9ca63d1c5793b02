// Writes dumps as recordings: with the page tables and contexts that a simulator, and tools that
// read nothing else, need to find their memory.
//
//   absl::StatusOr<RecordingWriter> writer = RecordingWriter::Create(description, device, path);
//   writer->Add(dump);
//   absl::StatusOr<std::vector<std::string>> lost = writer->Finish();
#ifndef PACKSMITH_RUNTIME_AUB_WRITE_H_
#define PACKSMITH_RUNTIME_AUB_WRITE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// A file of the memory trace family for generations with execution lists (Gfx8 and later), else of
// the classic family. It appears whole, by Finish(), or not at all.
class RecordingWriter {
 public:
  // FailedPrecondition: the GPU is not Intel's; errors of FileWriter.
  static absl::StatusOr<RecordingWriter> Create(const tables::Tables& tables, const Device& device,
                                                const std::string& path);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  // The dump's memory, then its submissions in their order. Dumps of one run may be added one after
  // the other; each has address spaces of its own. All memory is in system memory, at addresses of
  // this class's choice; the global space keeps its addresses, and also holds rings and contexts,
  // at addresses that it does not use.
  //
  // FailedPrecondition: the dump has no submission; ResourceExhausted: more memory than kMostPages,
  // or no room in the global space; errors of FileWriter. Nothing can be added afterwards.
  absl::Status Add(const Dump& dump);

  // Of 4 KiB, of a dump; pages of zeros count, too.
  static constexpr uint64_t kMostPages = uint64_t{1} << 22;

  // Returns a phrase for each thing of the dumps that the format cannot hold.
  absl::StatusOr<std::vector<std::string>> Finish();

 private:
  class Impl;
  explicit RecordingWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_WRITE_H_
