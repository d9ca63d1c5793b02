#include "runtime/aub/write.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/aub/classic_recording.h"
#include "runtime/aub/recording_parts.h"
#include "runtime/aub/trace_recording.h"
#include "runtime/base/file.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/losses.h"

namespace packsmith::aub {

class RecordingWriter::Impl {
 public:
  Impl(const tables::Tables& tables, const Device& device, FileWriter out)
      : tables_(tables), out_(std::move(out)), packets_(out_) {
    Device named = device;
    if (named.verx10 == 0) named.verx10 = device.kernel_verx10;
    if (tables_.FindContainer("CONTEXT_DESCRIPTOR") == tables::kNone) {
      classic_.emplace(tables_, packets_, lost_);
      status_ = packets_.ClassicHeader(named, tables_.title());
    } else {
      trace_.emplace(tables_, packets_, lost_);
      status_ = packets_.Version(named, tables_.title());
    }
  }

  absl::Status Add(const Dump& dump) {
    if (status_.ok()) status_ = CheckSize(dump);
    if (status_.ok()) status_ = classic_ ? classic_->Add(dump) : trace_->Add(dump);
    if (status_.ok()) Lose(dump);
    return status_;
  }

  absl::StatusOr<std::vector<std::string>> Finish() {
    if (status_.ok()) status_ = out_.Commit();
    if (!status_.ok()) return status_;
    return lost_.phrases();
  }

 private:
  void Lose(const Dump& dump) {
    const auto chosen = [](const Submission& one) { return one.kind != "context image"; };
    std::set<uint32_t> used = {kGlobalSpace};
    bool renumbered = false, images = false;
    for (const Submission& submission : dump.submissions) {
      if (!chosen(submission)) {
        images = true;
        continue;
      }
      used.insert(submission.space);
      used.insert(OwnSpace(submission));
      renumbered = renumbered || submission.context != 0;
    }
    if (classic_) used.erase(kGlobalSpace);
    if (!dump.buffers.empty()) lost_.Add("buffers: names and extents");
    for (std::string& phrase : LostOfSubmissions(dump, {.engines = true, .rings = true}, chosen)) {
      lost_.Add(std::move(phrase));
    }
    if (renumbered) lost_.Add("numbers of contexts, which count from 0 in their order");
    if (images) lost_.Add("which memory is an image of a context");
    if (std::any_of(dump.memory.segments().begin(), dump.memory.segments().end(),
                    [&](const Memory::Segment& one) { return used.count(one.space) == 0; })) {
      lost_.Add("address spaces of no submission");
    }
    if (!dump.device.driver.empty() || !dump.device.uapi.empty()) {
      lost_.Add("names of the driver and of its interface");
    }
    for (std::string& phrase : LostBesides(dump)) lost_.Add(std::move(phrase));
  }

  static absl::Status CheckSize(const Dump& dump) {
    uint64_t pages = 0;
    for (const Memory::Segment& segment : dump.memory.segments()) {
      const uint64_t size = dump.memory.Resolve(segment).memory_size;
      pages += size / kPageBytes + (size % kPageBytes == 0 ? 0 : 1);
      if (pages <= kMostPages) continue;
      return absl::ResourceExhaustedError(
          absl::StrCat("the dump has more than ", kMostPages,
                       " pages of memory, too many for a recording; write a GPU core dump"));
    }
    return absl::OkStatus();
  }

  const tables::Tables tables_;
  FileWriter out_;
  AubWriter packets_;
  Lost lost_;
  // One of them.
  std::optional<ClassicRecording> classic_;
  std::optional<TraceRecording> trace_;
  absl::Status status_;
};

RecordingWriter::RecordingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

absl::StatusOr<RecordingWriter> RecordingWriter::Create(const tables::Tables& tables,
                                                        const Device& device,
                                                        const std::string& path) {
  if (tables.family() != "intel") {
    return absl::FailedPreconditionError(
        absl::StrCat("a recording is of Intel's GPUs, and the dump is of ", tables.title(),
                     "; write a GPU core dump"));
  }
  absl::StatusOr<FileWriter> out = FileWriter::Create(path);
  if (!out.ok()) return out.status();
  return RecordingWriter(std::make_unique<Impl>(tables, device, *std::move(out)));
}

absl::Status RecordingWriter::Add(const Dump& dump) { return impl_->Add(dump); }

absl::StatusOr<std::vector<std::string>> RecordingWriter::Finish() { return impl_->Finish(); }

}  // namespace packsmith::aub
