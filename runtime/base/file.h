// Whole files in and out: read by mmap, written all or nothing.

#ifndef PACKSMITH_RUNTIME_BASE_FILE_H_
#define PACKSMITH_RUNTIME_BASE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

// Bytes and what keeps them alive. Copies share the owner.
struct FileBytes {
  absl::Span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;  // null: the caller keeps the bytes alive
  std::string name;                   // for messages
};

// More than any legal dump needs.
inline constexpr uint64_t kDefaultMaxBytes = uint64_t{4} << 30;

// Opens a file for reading; "-" is standard input. Large regular files are mapped, so that only
// pages that are read cost memory; small files, pipes and devices are read whole.
// If a mapped file is shortened while it is read, the reader's access faults, as with any mapping:
// do not decode a dump that is still being written.
//
// NotFound, PermissionDenied, FailedPrecondition (a directory), or the code of another system
// error; ResourceExhausted when input that cannot be mapped has more than `max_bytes`.
absl::StatusOr<FileBytes> OpenFile(const std::string& path, uint64_t max_bytes = kDefaultMaxBytes);

// Bytes owned by the result.
FileBytes BytesOf(std::string content, std::string name = "<memory>");
FileBytes BytesOf(std::vector<uint8_t> content, std::string name = "<memory>");

// Writes a file that appears under its name only when it is complete: a temporary file in the same
// folder, synced, then renamed. Until Commit() succeeds, an older file of that name stays as it
// was; a writer destroyed before that removes its temporary file. A symbolic link's target is
// replaced, not the link. Devices and pipes (/dev/null, and "-", which is standard output) are
// written directly.
//
//   auto writer = FileWriter::Create(path);
//   writer->Append(header); writer->Append(data);
//   return writer->Commit();
class FileWriter {
 public:
  // NotFound if the folder is missing, FailedPrecondition if `path` is a folder, ...
  static absl::StatusOr<FileWriter> Create(const std::string& path);

  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) noexcept;
  ~FileWriter();

  // Small pieces are gathered. After an error every later call returns that error.
  absl::Status Append(absl::Span<const uint8_t> bytes);
  absl::Status Append(absl::string_view text);

  // Bytes appended so far.
  uint64_t size() const { return size_; }

  // Makes the file appear. Nothing can be appended afterwards.
  absl::Status Commit();

 private:
  FileWriter() = default;
  absl::Status WriteAll(const uint8_t* data, size_t size);
  absl::Status Flush();
  void Abandon();

  int fd_ = -1;
  bool owns_fd_ = false;
  std::string path_;       // final name, links resolved
  std::string temporary_;  // empty: written directly
  std::vector<uint8_t> pending_;
  uint64_t size_ = 0;
  absl::Status status_;
};

// FileWriter in one call.
absl::Status WriteFileWhole(const std::string& path, absl::Span<const uint8_t> bytes);
absl::Status WriteFileWhole(const std::string& path, absl::string_view text);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_FILE_H_
