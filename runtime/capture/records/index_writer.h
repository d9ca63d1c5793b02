// The index of a run while it is written: runtime/dump/run_folder.h.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_WRITER_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace packsmith::capture {

// Appends whole lines: each is in the file when Append() returns, and none is ever there in part,
// unless the process is ended in the middle of the write.
class IndexWriter {
 public:
  // Creates the index in `folder`; AlreadyExists if there is one.
  static absl::StatusOr<IndexWriter> Create(const std::string& folder);
  IndexWriter(IndexWriter&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
  IndexWriter& operator=(IndexWriter&&) = delete;
  ~IndexWriter();

  // line: with its newline.
  absl::Status Append(absl::string_view line);

  // Replaces the content, whole or not at all.
  absl::Status Replace(absl::string_view lines);

  uint64_t size() const { return size_; }  // bytes

 private:
  explicit IndexWriter(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Writes a new file that appears under its name when it is complete. Unlike FileWriter it does not
// wait for the disk: what a killed process wrote stays, what a crashed system wrote may not.
absl::Status WriteNewFile(const std::string& folder, absl::string_view name,
                          absl::string_view content);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_INDEX_WRITER_H_
