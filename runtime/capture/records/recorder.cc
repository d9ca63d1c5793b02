#include "runtime/capture/records/recorder.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
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
#include "absl/strings/str_join.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/run_folder.h"

namespace packsmith::capture {
namespace {

// The index may have as many bytes of records that were thrown away, and these beside.
constexpr uint64_t kLeastToShorten = 16384;
// Of a core and its line, beside its pages; a guess that decides only when memory is counted first.
constexpr uint64_t kRoomForCore = 65536;

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// A line of the index.
class Line {
 public:
  explicit Line(absl::string_view type) : writer_(out_) {
    writer_.StartObject();
    Put("type", type);
  }
  void Put(const char* name, absl::string_view value) {
    if (value.empty()) return;
    writer_.Key(name);
    PutText(value);
  }
  void Put(const char* name, uint64_t value) {
    writer_.Key(name);
    writer_.Uint64(value);
  }
  void Put(const char* name, absl::Span<const std::string> values) {
    if (values.empty()) return;
    writer_.Key(name);
    writer_.StartArray();
    for (const std::string& value : values) PutText(value);
    writer_.EndArray();
  }
  std::string End() {
    writer_.EndObject();
    return absl::StrCat(absl::string_view(out_.GetString(), out_.GetSize()), "\n");
  }

 private:
  void PutText(absl::string_view value) {
    const std::string text = ValidUtf8(value);
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }

  rapidjson::StringBuffer out_;
  Writer writer_;
};

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

absl::string_view NameOf(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::kCompleted:
      return "completed";
    case RecordOutcome::kFaulted:
      return "faulted";
    case RecordOutcome::kHung:
      return "hung";
  }
  return "";
}

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
  Line line("run");
  line.Put("version", uint64_t{1});
  line.Put("run", name);
  line.Put("program", run.program);
  line.Put("command", run.command);
  line.Put("time", TimeText(absl::Now()));
  line.Put("options", RecordArguments(options));
  std::string text = line.End();
  if (absl::Status status = index->Append(text); !status.ok()) return status;
  std::unique_ptr<Recorder> recorder(
      new Recorder(options, std::move(name), *std::move(store), *std::move(index)));
  const MutexLock lock(recorder->mutex_);
  recorder->live_lines_bytes_ = text.size();
  recorder->run_line_ = std::move(text);
  return recorder;
}

Recorder::Recorder(RecordOptions options, std::string run, std::unique_ptr<PageStore> store,
                   IndexWriter index)
    : options_(std::move(options)),
      run_(std::move(run)),
      process_(getpid()),
      store_(std::move(store)),
      index_(std::move(index)),
      trigger_(options_.trigger) {}

Recorder::~Recorder() { Close().IgnoreError(); }

bool Recorder::Matches(const SubmissionFacts& facts) const {
  const Only& only = options_.only;
  return facts.number >= only.from && IsAny(only.engines, facts.engine) &&
         IsAny(only.processes, facts.process) && IsAny(only.pids, facts.pid) &&
         IsAny(only.contexts, facts.context.value_or(0));
}

bool Recorder::Wants(const SubmissionFacts& facts) const {
  if (!Matches(facts)) return false;
  const MutexLock lock(mutex_);
  return !closed_ && counted_ < options_.only.count && trigger_.MayBeOn();
}

absl::Status Recorder::Check() const {
  if (getpid() != process_) {
    return absl::FailedPreconditionError(
        "a recorder belongs to the process that made it, and not to its children");
  }
  if (closed_) return absl::FailedPreconditionError("the recorder is closed");
  return absl::OkStatus();
}

absl::StatusOr<bool> Recorder::Add(const Submitted& submitted) {
  Draft draft;
  draft.facts = Completed(submitted);
  const uint64_t number = draft.facts.number;
  const MutexLock lock(mutex_);
  if (absl::Status status = Check(); !status.ok()) return status;
  if (number == 0 || records_.count(number) != 0) {
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
  if (options_.keep == Keep::kHung) {
    const Context context{draft.facts.pid, draft.facts.context.value_or(0)};
    undecided_[context].push_back(number);
    context_of_.emplace(number, context);
  }
  if (options_.limit != 0 && store_->file_bytes() + cores_bytes_ + index_.size() > options_.limit) {
    store_->ReturnUnused();
  }
  return true;
}

absl::Status Recorder::MakeDraft(const Submitted& submitted, Draft& draft) {
  const Memory& memory = submitted.dump.memory;
  const Parts parts(submitted.parts);
  if (options_.limit != 0) {
    // Older records are thrown away only for one that has room without them. What is stored already
    // counts too: it may be only in those records.
    uint64_t most = 0, content = 0;
    for (const Memory::Segment& mapped : memory.segments()) {
      most += memory.Resolve(mapped).bytes.size() + kMemoryPage;
    }
    if (most + kRoomForCore > options_.limit) {
      for (const Memory::Segment& mapped : memory.segments()) {
        const Memory::Segment& segment = memory.Resolve(mapped);
        uint64_t next = 0;
        for (const Extent& data : DataOf(segment, parts.Find(segment))) {
          for (uint64_t page = std::max(next, data.begin / kMemoryPage);
               page < PagesOf(data.begin + data.size); next = ++page) {
            const uint64_t at = page * kMemoryPage;
            content += IsZero(&segment.bytes[at],
                              std::min<uint64_t>(kMemoryPage, segment.bytes.size() - at))
                           ? 0
                           : kMemoryPage;
          }
        }
      }
      if (content + kMemoryPage > options_.limit) {
        return absl::ResourceExhaustedError(
            absl::StrFormat("submission %u has %u bytes of memory, more than the limit of the "
                            "record (%u bytes); raise it",
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
    if (absl::Status status = MakeRoom(kMemoryPage); !status.ok()) return status;
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
  return is_used ? absl::OkStatus() : MakeRoom(0);
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

  Line line("submission");
  line.Put("number", facts.number);
  line.Put("file", RecordFile(facts.number));
  line.Put("time", TimeText(facts.time.value_or(absl::Now())));
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
  std::string text = line.End();

  if (absl::Status status = MakeRoom(core->size() + text.size()); !status.ok()) return status;
  const std::string file = RecordFile(facts.number);
  absl::Status status =
      WriteNewFile(options_.folder, file,
                   absl::string_view(reinterpret_cast<const char*>(core->data()), core->size()));
  if (!status.ok()) return status;
  status = index_.Append(text);
  if (!status.ok()) {
    unlink(absl::StrCat(options_.folder, "/", file).c_str());
    return status;
  }
  Record record;
  record.core_bytes = core->size();
  cores_bytes_ += core->size();
  live_lines_bytes_ += text.size();
  if (ThrowsAway()) {
    record.line = std::move(text);
    for (const PagedSegment& segment : draft.segments) {
      for (const PageRun& run : segment.runs) {
        if (run.first != 0) record.runs.push_back(run);
      }
    }
  }
  records_.emplace(facts.number, std::move(record));
  return absl::OkStatus();
}

uint64_t Recorder::FolderBytes() const {
  return store_->used_bytes() + cores_bytes_ + index_.size();
}

absl::Status Recorder::MakeRoom(uint64_t bytes) {
  if (options_.limit == 0) return absl::OkStatus();
  while (FolderBytes() + bytes > options_.limit) {
    if (records_.empty()) {
      if (index_.size() > live_lines_bytes_ + kLeastToShorten / 4) {
        if (absl::Status status = ShortenIndex(); !status.ok()) return status;
        continue;
      }
      return absl::ResourceExhaustedError(
          absl::StrFormat("a submission alone has more than the limit of the record (%u bytes); "
                          "raise it",
                          options_.limit));
    }
    if (absl::Status status = Drop(records_.begin()->first, "limit"); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Recorder::Drop(uint64_t number, absl::string_view reason) {
  const auto found = records_.find(number);
  Line line("dropped");
  line.Put("number", number);
  line.Put("reason", reason);
  // In this order, so that the folder can be read whenever the process is killed: the line, the
  // file, and only then its pages may get other content.
  if (absl::Status status = index_.Append(line.End()); !status.ok()) return status;
  const std::string path = absl::StrCat(options_.folder, "/", RecordFile(number));
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path));
  }
  const Record& record = found->second;
  store_->Release(record.runs);
  cores_bytes_ -= record.core_bytes;
  live_lines_bytes_ -= record.line.size() + record.outcome_line.size();
  records_.erase(found);
  context_of_.erase(number);
  ++totals_.dropped;
  return index_.size() > 2 * live_lines_bytes_ + kLeastToShorten ? ShortenIndex()
                                                                 : absl::OkStatus();
}

absl::Status Recorder::ShortenIndex() {
  Line dropped("shortened");
  dropped.Put("dropped", totals_.dropped);
  std::string lines = absl::StrCat(run_line_, dropped.End());
  for (const auto& [number, record] : records_) {
    absl::StrAppend(&lines, record.line, record.outcome_line);
  }
  return index_.Replace(lines);
}

absl::Status Recorder::Finish(uint64_t number, RecordOutcome outcome, absl::string_view detail) {
  const MutexLock lock(mutex_);
  if (absl::Status status = Check(); !status.ok()) return status;
  const auto found = records_.find(number);
  if (found == records_.end() || found->second.outcome) return absl::OkStatus();
  Line line("outcome");
  line.Put("number", number);
  line.Put("outcome", NameOf(outcome));
  line.Put("detail", detail);
  std::string text = line.End();
  if (absl::Status status = index_.Append(text); !status.ok()) return status;
  found->second.outcome = outcome;
  live_lines_bytes_ += text.size();
  if (ThrowsAway()) found->second.outcome_line = std::move(text);
  const auto context = context_of_.find(number);
  return context == context_of_.end() ? absl::OkStatus()
                                      : Settle(undecided_[context->second], /*at_end=*/false);
}

// Throws away, from the oldest on, what is known to be neither hung nor followed by what hung.
absl::Status Recorder::Settle(std::deque<uint64_t>& numbers, bool at_end) {
  while (!numbers.empty()) {
    const uint64_t number = numbers.front();
    const auto record = records_.find(number);
    if (record == records_.end()) {  // thrown away already
      numbers.pop_front();
      continue;
    }
    if (!record->second.outcome) {
      if (!at_end) break;
    } else if (*record->second.outcome == RecordOutcome::kCompleted) {
      const auto next = numbers.size() > 1 ? records_.find(numbers[1]) : records_.end();
      const bool has_next = next != records_.end();
      if (!at_end && (numbers.size() == 1 || (has_next && !next->second.outcome))) break;
      if (!has_next || next->second.outcome == RecordOutcome::kCompleted) {
        if (absl::Status status = Drop(number, "completed"); !status.ok()) return status;
        numbers.pop_front();
        continue;
      }
    }
    context_of_.erase(number);
    numbers.pop_front();
  }
  return absl::OkStatus();
}

absl::Status Recorder::Close() {
  const MutexLock lock(mutex_);
  if (closed_ || getpid() != process_) return absl::OkStatus();
  closed_ = true;
  absl::Status status;
  for (auto& [context, numbers] : undecided_) status.Update(Settle(numbers, /*at_end=*/true));
  Line line("end");
  line.Put("recorded", totals_.recorded);
  line.Put("dropped", totals_.dropped);
  status.Update(index_.Append(line.End()));
  return status;
}

Recorder::Totals Recorder::totals() const {
  const MutexLock lock(mutex_);
  Totals totals = totals_;
  totals.folder_bytes = store_->file_bytes() + cores_bytes_ + index_.size();
  return totals;
}

}  // namespace packsmith::capture
