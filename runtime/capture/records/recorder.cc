#include "runtime/capture/records/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/records/index_line.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/run_folder.h"

namespace packsmith::capture {
namespace {

// Of a core and its line, beside its pages; a guess that decides only when memory is counted first.
constexpr uint64_t kRoomForCore = 65536;

std::string NameOfRun() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) absl::StrAppendFormat(&name, "%08x", random());
  return name;
}

bool IsZero(const uint8_t* bytes, size_t size) {
  static constexpr uint8_t kZeros[kMemoryPage] = {};
  return std::memcmp(bytes, kZeros, size) == 0;
}

uint64_t PagesOf(uint64_t bytes) { return bytes / kMemoryPage + (bytes % kMemoryPage != 0); }

void AppendPages(std::vector<PageRun>& runs, uint64_t count, uint32_t first) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  if (count != 0 && !runs.empty()) {
    PageRun& last = runs.back();
    const bool joins = first == 0 ? last.first == 0
                                  : last.first != 0 && uint64_t{last.first} + last.count == first;
    if (joins) {
      const uint32_t more = static_cast<uint32_t>(std::min<uint64_t>(count, kMost - last.count));
      last.count += more;
      count -= more;
    }
  }
  while (count != 0) {
    const uint32_t some = static_cast<uint32_t>(std::min<uint64_t>(count, kMost));
    runs.push_back({some, first});
    count -= some;
  }
}

// The bytes that may differ from zero, in order, from the segment's address on.
std::vector<Extent> DataOf(const Memory::Segment& segment, const MemoryPart* part) {
  const uint64_t size = segment.bytes.size();
  if (part == nullptr || part->fd < 0) return {{0, size}};
  const uint64_t file_offset = part->fd_offset + (segment.address - part->address);
  constexpr uint64_t kMost = std::numeric_limits<off_t>::max();
  if (file_offset > kMost || size > kMost - file_offset) return {{0, size}};
  std::vector<Extent> data;
  uint64_t at = 0;
  while (at < size) {
    const off_t begin = lseek(part->fd, static_cast<off_t>(file_offset + at), SEEK_DATA);
    if (begin < 0) {
      if (errno != ENXIO) data.push_back({at, size - at});  // no holes are known
      break;
    }
    const uint64_t from = static_cast<uint64_t>(begin) - file_offset;
    if (from >= size) break;
    const off_t end = lseek(part->fd, begin, SEEK_HOLE);
    const uint64_t to =
        end <= begin ? size : std::min(static_cast<uint64_t>(end) - file_offset, size);
    data.push_back({from, to - from});
    at = to;
  }
  return data;
}

// Whether pages are in one of several extents, asked in the order of the pages.
class Ahead {
 public:
  // `shift` is subtracted from the extents.
  Ahead(absl::Span<const Extent> extents, uint64_t shift)
      : extents_(extents.begin(), extents.end()), shift_(shift) {
    std::sort(extents_.begin(), extents_.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  }
  bool Touches(uint64_t page) {
    const uint64_t begin = page * kMemoryPage + shift_;
    while (next_ < extents_.size() && (extents_[next_].begin + extents_[next_].size <= begin &&
                                       extents_[next_].begin <= begin)) {
      ++next_;
    }
    for (size_t i = next_; i < extents_.size() && extents_[i].begin < begin + kMemoryPage; ++i) {
      if (extents_[i].size != 0 && extents_[i].begin + extents_[i].size > begin) return true;
    }
    return false;
  }

 private:
  std::vector<Extent> extents_;
  const uint64_t shift_;
  size_t next_ = 0;
};

bool Contains(const MemoryPart& part, const Memory::Segment& segment) {
  return part.space == segment.space && part.address <= segment.address &&
         segment.address - part.address < part.size &&
         segment.memory_size <= part.size - (segment.address - part.address);
}

// The parts in the order of their addresses, for one dump.
class Parts {
 public:
  explicit Parts(absl::Span<const MemoryPart> parts) {
    sorted_.reserve(parts.size());
    for (const MemoryPart& part : parts) sorted_.push_back(&part);
    std::sort(sorted_.begin(), sorted_.end(), [](const MemoryPart* a, const MemoryPart* b) {
      return std::make_pair(a->space, a->address) < std::make_pair(b->space, b->address);
    });
  }
  const MemoryPart* Find(const Memory::Segment& segment) const {
    const auto after = std::upper_bound(sorted_.begin(), sorted_.end(),
                                        std::make_pair(segment.space, segment.address),
                                        [](const auto& place, const MemoryPart* part) {
                                          return place < std::make_pair(part->space, part->address);
                                        });
    if (after == sorted_.begin()) return nullptr;
    const MemoryPart* const part = *std::prev(after);
    return Contains(*part, segment) ? part : nullptr;
  }

 private:
  std::vector<const MemoryPart*> sorted_;
};

// Bytes of the pages that are not zero.
uint64_t ContentOf(const Memory& memory, const Parts& parts) {
  uint64_t content = 0;
  for (const Memory::Segment& mapped : memory.segments()) {
    const Memory::Segment& segment = memory.Resolve(mapped);
    uint64_t next = 0;  // page
    for (const Extent& data : DataOf(segment, parts.Find(segment))) {
      next = std::max(next, data.begin / kMemoryPage);
      for (const uint64_t end = PagesOf(data.begin + data.size); next < end; ++next) {
        const uint64_t at = next * kMemoryPage;
        const uint64_t size = std::min<uint64_t>(kMemoryPage, segment.bytes.size() - at);
        if (!IsZero(&segment.bytes[at], size)) content += kMemoryPage;
      }
    }
  }
  return content;
}

SubmissionFacts Completed(const Submitted& submitted) {
  SubmissionFacts facts = submitted.facts;
  if (!submitted.dump.submissions.empty()) {
    const Submission& first = submitted.dump.submissions.front();
    if (facts.engine.empty()) facts.engine = first.engine;
    if (!facts.context) facts.context = first.context;
  }
  return facts;
}

template <typename T>
bool IsAny(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

absl::Status CheckFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make the folder ", folder));
  }
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == kIndexFile || name == kMemoryFile || absl::EndsWith(name, ".core")) {
      return absl::AlreadyExistsError(absl::StrCat(folder, " has a record already (", name,
                                                   "); remove it, or name another folder"));
    }
  }
  if (error) {
    return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot read the folder ", folder));
  }
  return absl::OkStatus();
}

}  // namespace

struct Recorder::Draft {
  SubmissionFacts facts;
  std::vector<PagedSegment> segments;
  uint64_t memory_bytes = 0;
  uint64_t data_bytes = 0;
  uint64_t stored_bytes = 0;
  std::vector<PageRun>* runs = nullptr;  // of the segment in progress
};

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Create(const RecordOptions& options,
                                                           const RunFacts& run) {
  if (absl::Status status = CheckFolder(options.folder); !status.ok()) return status;
  std::string name = NameOfRun();
  absl::StatusOr<IndexWriter> index = IndexWriter::Create(options.folder);
  if (!index.ok()) return index.status();
  absl::StatusOr<std::unique_ptr<PageStore>> store = PageStore::Create(options.folder, name);
  if (!store.ok()) return store.status();
  IndexLine line("run");
  line.Put("version", uint64_t{1});
  line.Put("run", name);
  line.Put("program", run.program);
  line.Put("command", run.command);
  line.Put("time", absl::Now());
  line.Put("options", RecordArguments(options));
  std::unique_ptr<Recorder> recorder(
      new Recorder(options, std::move(name), *std::move(store), *std::move(index)));
  const MutexLock lock(recorder->mutex_);
  if (absl::Status status = recorder->kept_.Start(line.End()); !status.ok()) return status;
  return recorder;
}

Recorder::Recorder(RecordOptions options, std::string run, std::unique_ptr<PageStore> store,
                   IndexWriter index)
    : options_(std::move(options)),
      run_(std::move(run)),
      process_(getpid()),
      store_(std::move(store)),
      kept_(options_, *store_, std::move(index)),
      trigger_(options_.trigger) {}

Recorder::~Recorder() { Close().IgnoreError(); }

bool Recorder::Matches(const SubmissionFacts& facts) const {
  const Only& only = options_.only;
  return facts.number >= only.from && IsAny(only.engines, facts.engine) &&
         IsAny(only.processes, facts.process) && IsAny(only.pids, facts.pid) &&
         IsAny(only.contexts, facts.context.value_or(0));
}

bool Recorder::Wants(const SubmissionFacts& facts) const {
  if (!Matches(facts) || !CheckProcess().ok()) return false;
  const MutexLock lock(mutex_);
  return !closed_ && counted_ < options_.only.count && trigger_.MayBeOn();
}

absl::Status Recorder::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a recorder belongs to the process that made it, and not to its children");
}

absl::Status Recorder::CheckOpen() const {
  if (closed_) return absl::FailedPreconditionError("the recorder is closed");
  return absl::OkStatus();
}

absl::StatusOr<bool> Recorder::Add(const Submitted& submitted) {
  Draft draft;
  draft.facts = Completed(submitted);
  const uint64_t number = draft.facts.number;
  if (absl::Status status = CheckProcess(); !status.ok()) return status;
  const MutexLock lock(mutex_);
  if (absl::Status status = CheckOpen(); !status.ok()) return status;
  if (number == 0 || kept_.Has(number)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "submission ", number, ": each needs a number of its own, from 1; see NextNumber()"));
  }
  if (!Matches(draft.facts) || counted_ >= options_.only.count) return false;
  if (absl::Status status = trigger_.Poll(); !status.ok()) return status;
  if (!trigger_.on()) return false;

  absl::Status status = store_->CheckFile();
  if (status.ok()) status = MakeDraft(submitted, draft);
  status.Update(store_->Flush());
  if (status.ok()) status = WriteDraft(submitted, draft);
  if (!status.ok()) {
    for (const PagedSegment& segment : draft.segments) store_->Release(segment.runs);
    return status;
  }
  seen_.Next();
  ++counted_;
  trigger_.Use();
  ++totals_.recorded;
  totals_.memory_bytes += draft.memory_bytes;
  totals_.stored_bytes += draft.stored_bytes;
  return true;
}

absl::Status Recorder::MakeDraft(const Submitted& submitted, Draft& draft) {
  const Memory& memory = submitted.dump.memory;
  const Parts parts(submitted.parts);
  if (options_.limit != 0) {
    // Older records are thrown away only for one that has room without them. What is stored already
    // counts too: it may be only in those records.
    uint64_t most = 0;
    for (const Memory::Segment& mapped : memory.segments()) {
      most += memory.Resolve(mapped).bytes.size() + kMemoryPage;
    }
    if (most + kRoomForCore > options_.limit) {
      const uint64_t content = ContentOf(memory, parts);
      if (content + kMemoryPage > options_.limit) {
        return absl::ResourceExhaustedError(
            absl::StrFormat("submission %u has %u bytes of memory that are not zero, more than the "
                            "limit of the record (%u bytes); raise it",
                            draft.facts.number, content, options_.limit));
      }
    }
  }
  draft.segments.reserve(memory.segments().size());
  for (const Memory::Segment& mapped : memory.segments()) {
    const Memory::Segment& segment = memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    const absl::Status status = AddSegment(segment, parts.Find(segment), draft);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Recorder::AddSegment(const Memory::Segment& segment, const MemoryPart* part,
                                  Draft& draft) {
  draft.segments.push_back({segment.space, segment.address, segment.memory_size, {}});
  draft.runs = &draft.segments.back().runs;
  draft.memory_bytes += segment.memory_size;

  // Memory without an identity is taken for the same buffer as what was at its address before:
  // contents are compared, so that a wrong guess costs time only.
  uint64_t space = uint64_t{segment.space} + 1, buffer = segment.address, first_page = 0;
  bool has_places = true;
  std::optional<Ahead> changed;
  if (part != nullptr) {
    const uint64_t in_part = segment.address - part->address;
    const uint64_t in_buffer = part->offset + in_part;
    space = 0;
    buffer = part->buffer;
    first_page = in_buffer / kMemoryPage;
    has_places = in_buffer % kMemoryPage == 0;
    if (part->changed) changed.emplace(*part->changed, in_part);
  }
  SeenPages::Group* group = nullptr;

  const uint64_t size = segment.bytes.size();
  uint64_t next = 0;  // page
  for (const Extent& data : DataOf(segment, part)) {
    const uint64_t begin = std::max(next, data.begin / kMemoryPage);
    AppendPages(*draft.runs, begin - next, 0);
    next = begin;
    for (const uint64_t end = PagesOf(data.begin + data.size); next < end; ++next) {
      PageStore::Place* seen = nullptr;
      if (has_places) {
        const uint64_t page = first_page + next;
        if (group == nullptr || page % SeenPages::kGroupPages == 0) {
          group = &seen_.Of(space, buffer, page);
        }
        seen = &(*group)[page % SeenPages::kGroupPages];
      }
      if (changed && seen != nullptr && !changed->Touches(next)) {
        if (store_->IsCurrent(*seen)) {
          if (absl::Status status = Use(seen->number, draft); !status.ok()) return status;
          continue;
        }
        if (seen->number == 0 && seen->version == SeenPages::kZero) {
          AppendPages(*draft.runs, 1, 0);
          continue;
        }
      }
      const uint64_t at = next * kMemoryPage;
      const absl::Status status =
          AddPage(segment.bytes.data() + at,
                  static_cast<size_t>(std::min<uint64_t>(kMemoryPage, size - at)), seen, draft);
      if (!status.ok()) return status;
    }
  }
  AppendPages(*draft.runs, PagesOf(segment.memory_size) - next, 0);
  return absl::OkStatus();
}

absl::Status Recorder::AddPage(const uint8_t* bytes, size_t size, PageStore::Place* seen,
                               Draft& draft) {
  if (size == kMemoryPage && seen != nullptr && seen->number != 0 &&
      store_->Holds(seen->number, bytes)) {
    *seen = store_->PlaceOf(seen->number);
    return Use(seen->number, draft);
  }
  if (IsZero(bytes, size)) {
    if (seen != nullptr) *seen = {0, SeenPages::kZero};
    AppendPages(*draft.runs, 1, 0);
    return absl::OkStatus();
  }
  // The page may change at any time: what is compared must be what is stored.
  alignas(64) uint8_t page[kMemoryPage];
  std::memcpy(page, bytes, size);
  std::memset(page + size, 0, kMemoryPage - size);
  return Store(page, seen, draft);
}

absl::Status Recorder::Store(const uint8_t* page, PageStore::Place* seen, Draft& draft) {
  const uint64_t hash = PageStore::HashOf(page);
  uint32_t number = store_->Find(page, hash);
  if (number != 0) {
    if (absl::Status status = Use(number, draft); !status.ok()) return status;
  } else {
    if (absl::Status status = kept_.MakeRoom(kMemoryPage); !status.ok()) return status;
    number = store_->Insert(page, hash);
    if (number == 0) {
      return absl::ResourceExhaustedError(
          "the record has 2^32 pages, and no room for more; set a limit, or record less");
    }
    AppendPages(*draft.runs, 1, number);
    draft.data_bytes += kMemoryPage;
    draft.stored_bytes += kMemoryPage;
  }
  if (seen != nullptr) *seen = store_->PlaceOf(number);
  return absl::OkStatus();
}

absl::Status Recorder::Use(uint32_t number, Draft& draft) {
  // First, so that making room cannot take the page away.
  const bool is_used = store_->IsReferenced(number);
  store_->Refer(number);
  AppendPages(*draft.runs, 1, number);
  draft.data_bytes += kMemoryPage;
  return is_used ? absl::OkStatus() : kept_.MakeRoom(0);
}

absl::Status Recorder::WriteDraft(const Submitted& submitted, Draft& draft) {
  const SubmissionFacts& facts = draft.facts;
  Dump about;
  about.device = submitted.dump.device;
  about.submissions = submitted.dump.submissions;
  about.buffers = submitted.dump.buffers;
  about.memory_is_complete = submitted.dump.memory_is_complete;
  about.physical_space = submitted.dump.physical_space;
  for (Submission& submission : about.submissions) {
    submission.index = static_cast<uint32_t>(
        std::min<uint64_t>(facts.number, std::numeric_limits<uint32_t>::max()));
  }
  const absl::StatusOr<std::vector<uint8_t>> core = MakePagedCore(about, run_, draft.segments);
  if (!core.ok()) return core.status();

  IndexLine line("submission");
  line.Put("number", facts.number);
  line.Put("file", RecordFile(facts.number));
  line.Put("time", facts.time.value_or(absl::Now()));
  line.Put("process", facts.process);
  line.Put("pid", facts.pid);
  line.Put("engine", facts.engine);
  line.Put("context", facts.context.value_or(0));
  if (!about.submissions.empty()) {
    line.Put("batch_address", absl::StrFormat("0x%x", about.submissions[0].batch_address));
  }
  line.Put("segments", uint64_t{draft.segments.size()});
  line.Put("memory_bytes", draft.memory_bytes);
  line.Put("data_bytes", draft.data_bytes);
  line.Put("stored_bytes", draft.stored_bytes);
  line.Put("flags", facts.flags);
  line.Put("warnings", facts.warnings);
  return kept_.Add(facts.number, {facts.pid, facts.context.value_or(0)}, *core, line.End(),
                   draft.segments);
}

absl::Status Recorder::Finish(uint64_t number, RecordOutcome outcome, absl::string_view detail) {
  if (absl::Status status = CheckProcess(); !status.ok()) return status;
  const MutexLock lock(mutex_);
  if (absl::Status status = CheckOpen(); !status.ok()) return status;
  return kept_.Finish(number, outcome, detail);
}

absl::Status Recorder::Close() {
  if (!CheckProcess().ok()) return absl::OkStatus();
  const MutexLock lock(mutex_);
  if (closed_) return absl::OkStatus();
  closed_ = true;
  return kept_.End(totals_.recorded);
}

Recorder::Totals Recorder::totals() const {
  if (!CheckProcess().ok()) return {};
  const MutexLock lock(mutex_);
  Totals totals = totals_;
  totals.dropped = kept_.dropped();
  totals.folder_bytes = kept_.folder_bytes();
  return totals;
}

}  // namespace packsmith::capture
