#include "tools/mock/record_watcher.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/capture/execute/work_dump.h"

namespace packsmith::mock {

void RecordWatcher::OnSubmit(const std::shared_ptr<const capture::Work>& work) {
  capture::SubmissionFacts facts = {
      .number = work->number,
      .engine = work->engine,
      .context = work->context,
      .process = work->process,
      .pid = static_cast<uint64_t>(work->pid),
      .warnings = work->warnings,
  };
  if (!recorder_->Wants(facts)) return;
  const capture::WorkDump made = capture::DumpOf(*work);
  std::vector<capture::MemoryPart> parts;
  parts.reserve(made.parts.size());
  for (const capture::WorkPart& part : made.parts) {
    parts.push_back({.space = part.space,
                     .address = part.address,
                     .size = part.size,
                     .buffer = part.object,
                     .offset = part.offset,
                     .fd = part.fd,
                     .fd_offset = part.offset});
  }
  Note(recorder_->Add({.dump = made.dump, .parts = parts, .facts = std::move(facts)}).status());
}

void RecordWatcher::OnDone(const capture::Work& work, capture::Outcome outcome,
                           absl::string_view why) {
  Note(recorder_->Finish(work.number,
                         outcome == capture::Outcome::kHung ? capture::RecordOutcome::kHung
                                                            : capture::RecordOutcome::kCompleted,
                         why));
}

bool RecordWatcher::Finish() {
  Note(recorder_->Close());
  return failures_ == 0;
}

void RecordWatcher::Note(const absl::Status& status) {
  // Later ones follow from the first: a full disk stays full.
  if (!status.ok() && failures_++ == 0) complain_(absl::StrCat("--record: ", status.message()));
}

}  // namespace packsmith::mock
