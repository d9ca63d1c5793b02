// Writes programs that a dump's packets point to into files, or passes them to a disassembler.
#ifndef PACKSMITH_TOOLS_KERNELS_H_
#define PACKSMITH_TOOLS_KERNELS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

// Writes programs to DIR/STAGE-ADDRESS-simdN.bin; another program at the same place gets a number.
class KernelFiles {
 public:
  // Makes the directory if there is none. `inputs`: files that are not overwritten.
  KernelFiles(std::string directory, std::vector<std::string> inputs);

  // Writes the program of a record that has one. After an error nothing more is written.
  void Add(const decode::Record& record);

  // The first error.
  const absl::Status& status() const { return status_; }

 private:
  std::string directory_;
  std::vector<std::string> inputs_;
  std::map<std::string, size_t> written_;  // hash of the code by name
  absl::Status status_;
};

// Passes all records on to `next`, programs to `files` too. Both must outlive the sink.
class KernelSink : public decode::Sink {
 public:
  KernelSink(decode::Sink& next, KernelFiles& files) : next_(next), files_(files) {}

  void OnSchema(const tables::Tables& tables) override { next_.OnSchema(tables); }
  void OnDevice(const Device& device, uint64_t id) override { next_.OnDevice(device, id); }
  void OnDump(const Dump* dump) override { next_.OnDump(dump); }
  void OnInsert(absl::string_view text) override { next_.OnInsert(text); }
  void OnSubmission(const Submission& s, uint64_t id) override { next_.OnSubmission(s, id); }
  void OnLead(const decode::Lead& lead) override { next_.OnLead(lead); }
  void OnRecord(const decode::Record& record) override {
    if (record.kernel != nullptr) files_.Add(record);
    next_.OnRecord(record);
  }
  void OnPackets(absl::Span<const decode::Brief> packets) override { next_.OnPackets(packets); }
  void OnRemark(absl::string_view text, bool is_problem) override {
    next_.OnRemark(text, is_problem);
  }
  void OnSummary(const decode::Summary& summary) override { next_.OnSummary(summary); }
  void OnPause() override { next_.OnPause(); }

 private:
  decode::Sink& next_;
  KernelFiles& files_;
};

// Runs a command for each distinct program.
class Disassembler {
 public:
  // `{}` in the command stands for the name of a file with the program's code; without it, the name
  // is appended. The command comes from the user, and the shell runs it.
  explicit Disassembler(std::string command) : command_(std::move(command)) {}
  // The command's output (at most 1 MiB, for at most 10 seconds), or an error.
  std::string Text(const decode::Record& record);

  // For a user who does not see the text: how often the command failed, and its first message.
  // Empty if it never failed.
  std::string Failures() const;

 private:
  std::string command_;
  std::map<size_t, bool> seen_;  // by the code's hash: whether the command failed
  uint64_t failed_ = 0;
  std::string first_failure_;
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_KERNELS_H_
