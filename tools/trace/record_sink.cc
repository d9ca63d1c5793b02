#include "tools/trace/record_sink.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/capture/execute/work_dump.h"
#include "runtime/capture/trace/object.h"

namespace packsmith::trace {
namespace {

using capture::Extent;
using capture::SharedMemory;
using capture::TracedObject;

capture::SubmissionFacts FactsOf(const capture::Work& work) {
  return {.number = work.number,
          .engine = work.engine,
          .context = work.context,
          .process = work.process,
          .pid = static_cast<uint64_t>(work.pid),
          .warnings = work.warnings};
}

}  // namespace

bool RecordSink::Wants(const capture::Work& work) { return recorder_->Wants(FactsOf(work)); }

void RecordSink::OnSubmit(const capture::Work& work) {
  const capture::WorkDump made = capture::DumpOf(work);
  absl::flat_hash_map<uint64_t, TracedObject*> objects;
  for (const auto& [address, mapping] : work.memory->mappings()) {
    if (mapping.object != nullptr) {
      objects[mapping.object->id()] = static_cast<TracedObject*>(mapping.object.get());
    }
  }
  std::vector<capture::MemoryPart> parts;
  parts.reserve(made.parts.size());
  std::deque<std::vector<Extent>> changes;  // of the parts
  for (const capture::WorkPart& part : made.parts) {
    std::vector<Extent>& changed = changes.emplace_back();
    for (const SharedMemory::Extent& extent :
         objects.at(part.object)->Changed(part.offset, part.size)) {
      const uint64_t begin = std::max(extent.offset, part.offset) - part.offset;
      const uint64_t end = std::min(extent.offset + extent.size - part.offset, part.size);
      changed.push_back({begin, end - begin});
    }
    parts.push_back({.space = part.space,
                     .address = part.address,
                     .size = part.size,
                     .buffer = part.object,
                     .offset = part.offset,
                     .fd = part.fd,
                     .fd_offset = part.offset,
                     .changed = changed});
  }
  const absl::StatusOr<bool> added =
      recorder_->Add({.dump = made.dump, .parts = parts, .facts = FactsOf(work)});
  Note(added.status());
  if (!added.ok() || !*added) return;
  for (const capture::WorkPart& part : made.parts) {
    objects.at(part.object)->NoteRecorded(part.offset, part.size);
  }
}

bool RecordSink::Finish() {
  Note(recorder_->Close());
  return failures_ == 0;
}

void RecordSink::Note(const absl::Status& status) {
  // Later ones follow from the first: a full disk stays full.
  if (!status.ok() && failures_++ == 0) complain_(absl::StrCat("--record: ", status.message()));
}

}  // namespace packsmith::trace
