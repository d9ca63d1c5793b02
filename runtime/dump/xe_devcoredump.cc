#include "runtime/dump/xe_devcoredump.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "runtime/base/addresses.h"
#include "runtime/dump/ascii85.h"
#include "runtime/dump/text_bytes.h"
#include "runtime/dump/text_lines.h"
#include "runtime/dump/vma_properties.h"

namespace packsmith {
namespace {

constexpr absl::string_view kStars = "****";
constexpr absl::string_view kLogged = "Capture";
constexpr uint32_t kContextSpace = 0;
// The status page comes first, the image of the registers next.
constexpr uint64_t kStatusPage = 4096;
// Longer values are blobs; their start is enough to recognise them.
constexpr size_t kLongestFact = 400;

// Engine classes, as the driver numbers them.
constexpr absl::string_view kClasses[] = {"render", "video", "video-enhance",
                                          "copy",   "other", "compute"};

std::optional<absl::string_view> TitleOf(absl::string_view line) {
  line = Trimmed(line);
  if (line.size() < 2 * kStars.size() + 2 || !absl::StartsWith(line, kStars) ||
      !absl::EndsWith(line, kStars)) {
    return std::nullopt;
  }
  return Trimmed(line.substr(kStars.size(), line.size() - 2 * kStars.size()));
}

// What follows `Capture,N: ` or `Capture N.M: ` in a line of the kernel log; the line itself
// elsewhere.
absl::string_view Unlogged(absl::string_view line) {
  const size_t at = line.substr(0, 256).find(kLogged);
  if (at == absl::string_view::npos) return line;
  absl::string_view rest = line.substr(at + kLogged.size());
  if (!absl::ConsumePrefix(&rest, ",") && !absl::ConsumePrefix(&rest, " ")) return line;
  if (!TakeNumber(rest, 10)) return line;
  if (absl::ConsumePrefix(&rest, ".") && !TakeNumber(rest, 10)) return line;
  if (rest.empty() || rest[0] != ':') return line;
  rest.remove_prefix(1);
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  return rest;
}

// `[name].property: value`
struct BlobLine {
  absl::string_view name, property, value;
};
std::optional<BlobLine> BlobLineOf(absl::string_view line) {
  if (line.empty() || line[0] != '[') return std::nullopt;
  const size_t end = line.substr(0, 64).find("].");
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = line.substr(end + 2);
  const size_t colon = rest.substr(0, 64).find(':');
  if (colon == absl::string_view::npos || colon == 0) return std::nullopt;
  for (const char c : rest.substr(0, colon)) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return std::nullopt;
  }
  return BlobLine{line.substr(1, end - 1), rest.substr(0, colon), Trimmed(rest.substr(colon + 1))};
}

bool IsAllAscii85(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsAscii85);
}

struct Blob {
  uint64_t address = 0;
  uint32_t space = kContextSpace;
  std::string name;
  uint64_t offset = 0;  // of its first line
  std::optional<uint64_t> length;
  std::vector<TextPiece> pieces;
  VmaProperties properties;
  bool failed = false;  // the kernel reports that it could not read it

  // Reads of it yield zero: the kernel writes no data for it.
  bool sparse() const { return properties.values[VmaProperties::kKind] == VmaProperties::kSparse; }
};

// Bytes that are there already.
class GivenBytes : public DeferredBytes {
 public:
  explicit GivenBytes(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

 protected:
  absl::Span<const uint8_t> Make() override { return bytes_; }

 private:
  const std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  Reader(FileBytes file, const RawOptions& options)
      : file_(std::move(file)),
        options_(options),
        lines_(absl::string_view(reinterpret_cast<const char*>(file_.bytes.data()),
                                 file_.bytes.size())) {}

  absl::StatusOr<Dump> Read() {
    state_.kind = "xe devcoredump";
    while (std::optional<TextLine> line = lines_.Next()) {
      if (logged_ || !recognized_) {
        const absl::string_view inner = Unlogged(line->text);
        if (inner.size() != line->text.size()) {
          logged_ = true;
          line->offset += line->text.size() - inner.size();
          line->text = inner;
        }
      }
      ReadLine(*line);
    }
    if (!recognized_) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: no section of an xe device core dump was found; read it from "
                          "/sys/class/drm/card0/device/devcoredump/data",
                          file_.name));
    }
    const std::optional<uint32_t> pci_id = dump_.device.pci_id;
    if (!options_.generation.empty()) dump_.device = DeviceOfGeneration(options_.generation);
    dump_.device.pci_id = pci_id;
    dump_.device.family = "intel";
    dump_.device.uapi = "xe";
    dump_.device.kernel_verx10 = version_;
    state_.title = state_.FactOf("Reason");
    ReadJob();
    Place();
    dump_.error_state = std::make_shared<const ErrorState>(std::move(state_));
    dump_.backing = std::move(file_.owner);
    dump_.SortBuffers();
    return std::move(dump_);
  }

 private:
  void ReadLine(const TextLine& line) {
    if (const std::optional<absl::string_view> title = TitleOf(line.text)) {
      recognized_ = true;
      section_ = ValidUtf8(title->substr(0, kLongestFact));
      blob_ = nullptr;
      in_data_ = false;
      engine_ = -1;
      return;
    }
    const absl::string_view text = Trimmed(line.text);
    if (text.empty()) {
      in_data_ = false;
      return;
    }
    if (const std::optional<BlobLine> blob = BlobLineOf(text)) return ReadBlobLine(line, *blob);
    // Some kernels break long lines, anywhere.
    if (in_data_ && IsAllAscii85(text)) {
      if (blob_ != nullptr) blob_->pieces.push_back({text, OffsetOf(line, text)});
      return;
    }
    in_data_ = false;
    ReadFact(line, text);
  }

  static uint64_t OffsetOf(const TextLine& line, absl::string_view part) {
    return line.offset + static_cast<uint64_t>(part.data() - line.text.data());
  }

  void ReadBlobLine(const TextLine& line, const BlobLine& part) {
    blob_ = BlobOf(line, part.name);
    in_data_ = part.property == "data";
    if (blob_ == nullptr) {
      if (!in_data_) AddFact(line, absl::StrCat(part.name, ".", part.property), part.value);
      return;
    }
    absl::string_view value = part.value;
    if (part.property == "data") {
      if (!blob_->pieces.empty()) {
        dump_.AddProblem(
            line.offset,
            absl::StrCat("\"", blob_->name, "\" has data already; further data were ignored"));
        blob_ = nullptr;
      } else if (!value.empty()) {
        blob_->pieces.push_back({value, OffsetOf(line, value)});
      }
    } else if (part.property == "length") {
      blob_->length = TakeNumber(value, 16);
    } else if (part.property == "error") {
      blob_->failed = true;
      dump_.AddProblem(line.offset, absl::StrCat("the kernel could not read the memory at ",
                                                 blob_->name, ": error ", ValidUtf8(value)));
    } else if (part.property == "properties" && blob_->properties.Parse(value)) {
      // All of it is in the buffer's words.
    } else if (blob_->space == kGlobalSpace && part.property == "replay_offset") {
      Lrc()->replay_offset = TakeNumber(value, 16);
    } else if (blob_->space == kGlobalSpace && part.property == "replay_length") {
      Lrc()->replay_length = TakeNumber(value, 16);
    } else {
      AddFact(line, absl::StrCat(part.name, ".", part.property), part.value);
    }
  }

  // The buffer that `[name]` means in this section, or null: what has no address is not memory.
  Blob* BlobOf(const TextLine& line, absl::string_view name) {
    const bool is_vm = absl::StartsWith(section_, "VM");
    if (!is_vm && absl::StartsWith(section_, "GuC") && (name == "CTB" || name == "LOG")) {
      return FirmwareBlob(line, name);
    }
    if (!is_vm && name != "HWSP" && name != "HWCTX") return nullptr;
    Blob blob;
    blob.offset = line.offset;
    if (is_vm) {
      absl::string_view digits = name;
      const std::optional<uint64_t> address = TakeNumber(digits, 16);
      if (!address || !digits.empty()) return nullptr;
      blob.address = PlainAddress(*address);
      blob.name = absl::StrFormat("0x%x", *address);
    } else {
      if (state_.contexts.empty() || !Lrc()->image) return nullptr;
      const ErrorContext& context = state_.contexts.back();
      blob.space = kGlobalSpace;
      blob.address = *Lrc()->image + (name == "HWCTX" ? kStatusPage : 0);
      blob.name = absl::StrCat(name == "HWCTX" ? "context image" : "status page", " of GuC ID ",
                               context.id);
      if (!context.parallel.empty()) {
        absl::StrAppend(&blob.name, ", engine ", context.parallel.size());
      }
    }
    const auto key = std::make_pair(blob.space, blob.address);
    const auto [found, is_new] = index_.emplace(key, blobs_.size());
    if (is_new) blobs_.push_back(std::make_unique<Blob>(std::move(blob)));
    return blobs_[found->second].get();
  }

  // The state that the lines are of.
  ErrorLrc* Lrc() {
    ErrorContext& context = state_.contexts.back();
    return context.parallel.empty() ? &context : &context.parallel.back();
  }

  // Of a GT's firmware: a dump of several has the one that hangs.
  Blob* FirmwareBlob(const TextLine& line, absl::string_view name) {
    for (const std::unique_ptr<Blob>& blob : firmware_) {
      if (blob->name == name) return blob.get();
    }
    firmware_.push_back(std::make_unique<Blob>());
    firmware_.back()->name = std::string(name);
    firmware_.back()->offset = line.offset;
    return firmware_.back().get();
  }

  void ReadFact(const TextLine& line, absl::string_view text) {
    const size_t colon = text.find(':');
    // `rcs0 (physical), logical instance=0`
    if (absl::StartsWith(section_, "HW Engines") && line.text[0] != '\t' && line.text[0] != ' ') {
      if (state_.engines.size() == kMostEngines) return;
      engine_ = static_cast<int>(state_.engines.size());
      ErrorEngine engine;
      engine.name = ValidUtf8(text.substr(0, std::min(text.find(' '), kLongestFact)));
      state_.engines.push_back(std::move(engine));
      AddFact(line, "", text);
      return;
    }
    if (colon == absl::string_view::npos) return AddFact(line, "", text);
    const absl::string_view key = Trimmed(text.substr(0, colon));
    const absl::string_view value = Trimmed(text.substr(colon + 1));
    if (engine_ >= 0 && ReadRegister(key, value)) return;
    // Linux 6.13: `CTB data:`, which later kernels write as `[CTB].data:`.
    if (absl::StartsWith(section_, "GuC") && (key == "CTB data" || key == "Log data")) {
      return ReadBlobLine(line, {key == "CTB data" ? "CTB" : "LOG", "data", value});
    }
    if (absl::StartsWith(section_, "GuC") && ReadMessageLine(key, value)) return;
    if (key == "VM.uapi_flags") {
      absl::string_view number = value;
      if (const std::optional<uint64_t> flags = TakeNumber(number, 16)) {
        dump_.vm_flags = static_cast<uint32_t>(*flags);
      }
    } else if (key == "PCI ID") {
      absl::string_view number = value;
      if (const std::optional<uint64_t> id = TakeNumber(number, 16)) {
        dump_.device.pci_id = static_cast<uint32_t>(*id);
      }
    } else if (key == "IP ver" && version_ == 0) {
      // The first is that of the graphics unit; media have others.
      ReadVersion(value);
    }
    if (key == "GuC ID") {
      if (state_.contexts.size() == kMostContexts) return;
      state_.contexts.emplace_back().id = ValidUtf8(value.substr(0, kLongestFact));
    } else if (absl::StartsWith(key, "batch_addr[")) {
      absl::string_view number = value;
      const std::optional<uint64_t> address = TakeNumber(number, 16);
      if (address && *address != 0 && state_.batches.size() < kMostEngines) {
        state_.batches.push_back(PlainAddress(*address));
      }
    } else if (!state_.contexts.empty()) {
      ReadContext(key, value);
    }
    AddFact(line, key, value);
  }

  // `ARCHITECTURE.RELEASE.STEPPING` of the graphics unit; 0.0.0 where the hardware does not say.
  // Releases count in hundredths: 12.70 is Gfx12.7.
  void ReadVersion(absl::string_view value) {
    const std::optional<uint64_t> architecture = TakeNumber(value, 10);
    if (!architecture || *architecture == 0 || *architecture > 1000) return;
    if (!absl::ConsumePrefix(&value, ".")) return;
    const uint64_t release = TakeNumber(value, 10).value_or(0);
    version_ = static_cast<int>(*architecture * 10 + std::min<uint64_t>(release, 99) / 10);
  }

  // Linux 6.8 to 6.12: a message is a line for each dword, `cmd[N]: 0x…`, below the heading of its
  // direction.
  bool ReadMessageLine(absl::string_view key, absl::string_view value) {
    if (absl::StartsWith(key, "H2G CTB") || absl::StartsWith(key, "G2H CTB")) {
      messages_ = absl::StartsWith(key, "H2G") ? &to_guc_ : &from_guc_;
      return false;
    }
    if (!absl::StartsWith(key, "cmd[") || messages_ == nullptr) return false;
    const std::optional<uint64_t> dword = TakeNumber(value, 16);
    if (!dword || *dword > 0xffffffff) return false;
    for (int shift = 0; shift < 32 && messages_->size() < kMostMessageBytes; shift += 8) {
      messages_->push_back(static_cast<uint8_t>(*dword >> shift));
    }
    return true;
  }

  // A line of a context.
  void ReadContext(absl::string_view key, absl::string_view value) {
    ErrorContext& context = state_.contexts.back();
    if (key == "HW Context Desc" && Lrc()->image && context.parallel.size() < kMostEngines) {
      context.parallel.emplace_back();
    }
    ErrorLrc& lrc = *Lrc();
    absl::string_view number = value;
    if (key == "Name") {
      context.engine = ValidUtf8(value.substr(0, kLongestFact));
    } else if (key == "Class" && context.engine.empty()) {
      const std::optional<uint64_t> index = TakeNumber(number, 10);
      if (index && *index < std::size(kClasses)) context.engine = std::string(kClasses[*index]);
    } else if (key == "HW Context Desc") {
      lrc.image = TakeNumber(number, 16);
    } else if (key == "LRC Head") {
      lrc.head = Unsigned(InMemory(value));
    } else if (key == "LRC Tail") {
      lrc.tail = Unsigned(InMemory(value));
    } else if (key == "Start seqno") {
      lrc.started = InMemory(value);
    } else if (key == "Seqno") {
      lrc.finished = InMemory(value);
    } else if (key == "Timestamp") {
      lrc.timestamp = TakeNumber(number, 16);
    } else if (key == "Job Timestamp") {
      lrc.job_timestamp = TakeNumber(number, 16);
    } else if (key == "Width") {
      context.width = static_cast<uint32_t>(
          std::clamp<uint64_t>(TakeNumber(number, 10).value_or(1), 1, kMostEngines));
    } else if (key == "Schedule State") {
      if (const std::optional<uint64_t> flags = TakeNumber(number, 16)) {
        context.schedule_state = static_cast<uint32_t>(*flags);
      }
    } else if (key == "WQ head") {
      context.work_head = BeforeMemory(value);
    } else if (key == "WQ tail") {
      context.work_tail = BeforeMemory(value);
    } else if (key == "WQ status") {
      context.work_status = BeforeMemory(value);
    }
  }

  // `N (internal), N (memory)`, `N (memory)`: the number in memory.
  static std::optional<uint64_t> BeforeMemory(absl::string_view value) {
    const size_t at = value.find(" (memory)");
    if (at == absl::string_view::npos) return std::nullopt;
    value = value.substr(0, at);
    const size_t blank = value.rfind(' ');
    if (blank != absl::string_view::npos) value.remove_prefix(blank + 1);
    return TakeNumber(value, 10);
  }

  // `(memory) N`, which may follow the driver's own value.
  static std::optional<int64_t> InMemory(absl::string_view value) {
    constexpr absl::string_view kWhere = "(memory)";
    const size_t at = value.find(kWhere);
    if (at == absl::string_view::npos) return std::nullopt;
    value = Trimmed(value.substr(at + kWhere.size()));
    const bool negative = absl::ConsumePrefix(&value, "-");
    const std::optional<uint64_t> number = TakeNumber(value, 10);
    if (!number || *number > 0xffffffff) return std::nullopt;
    const int64_t magnitude = static_cast<int64_t>(*number);
    return negative ? -magnitude : magnitude;
  }
  static std::optional<uint64_t> Unsigned(std::optional<int64_t> number) {
    if (!number || *number < 0) return std::nullopt;
    return static_cast<uint64_t>(*number);
  }

  // The numbers after `lrc_seqno=` and `guc_id=` in the kernel's reason.
  void ReadJob() {
    const auto after = [this](absl::string_view key) -> std::optional<uint32_t> {
      absl::string_view reason = state_.title;
      const size_t at = reason.find(key);
      if (at == absl::string_view::npos) return std::nullopt;
      reason.remove_prefix(at + key.size());
      const std::optional<uint64_t> number = TakeNumber(reason, 10);
      if (!number || *number > 0xffffffff) return std::nullopt;
      return static_cast<uint32_t>(*number);
    };
    state_.job = after("lrc_seqno=");
    state_.job_queue = after("guc_id=");
  }

  bool ReadRegister(absl::string_view key, absl::string_view value) {
    if (!absl::StartsWith(value, "0x") || key.find(' ') != absl::string_view::npos) return false;
    ErrorEngine& engine = state_.engines[static_cast<size_t>(engine_)];
    ErrorRegister one;
    one.name = ValidUtf8(key);
    const size_t before = value.size();
    const std::optional<uint64_t> number = TakeNumber(value, 16);
    if (!number) return false;
    one.value = *number;
    one.is_64 = before - value.size() > 10;
    if (engine.registers.size() < kMostRegisters) engine.registers.push_back(std::move(one));
    return true;
  }

  void AddFact(const TextLine& line, absl::string_view key, absl::string_view value) {
    if (state_.facts.size() >= ErrorState::kMaxFacts) return;
    ErrorFact fact;
    fact.section = section_ == "Xe Device Coredump" ? "" : section_;
    fact.key = ValidUtf8(key.substr(0, kLongestFact));
    fact.value = ValidUtf8(value.substr(0, kLongestFact));
    if (value.size() > kLongestFact) {
      absl::StrAppend(&fact.value, "... (", value.size(), " characters)");
    }
    fact.offset = line.offset;
    state_.facts.push_back(std::move(fact));
  }

  // --- All lines are read ---

  void Place() {
    auto budget = std::make_shared<TextBudget>();
    budget->bytes_left = options_.max_bytes;
    dump_.late_problems = std::make_shared<LateProblems>();
    // index_ has them in the order of space and address.
    for (auto at = index_.begin(); at != index_.end(); ++at) {
      const Blob& blob = *blobs_[at->second];
      if (blob.sparse()) {
        PlaceSparse(blob, at);
        continue;
      }
      if (blob.pieces.empty()) {
        if (!blob.failed) {
          dump_.AddProblem(blob.offset, absl::StrCat("\"", blob.name, "\" has no data"));
        }
        continue;
      }
      const uint64_t room = RoomOf(at);
      const uint64_t most = std::min(room, blob.length.value_or(room));
      const absl::Status mapped = dump_.memory.MapDeferred(
          blob.space, blob.address,
          DeferText(TextEncoding::kAscii85, blob.pieces, budget, dump_.late_problems), most);
      if (!mapped.ok()) dump_.AddProblem(blob.offset, std::string(mapped.message()));
      Buffer buffer;
      buffer.space = blob.space;
      buffer.address = blob.address;
      buffer.size = most;
      buffer.size_is_memory = true;
      buffer.name = blob.space == kGlobalSpace ? blob.name : "";
      blob.properties.Describe(buffer);
      dump_.buffers.push_back(std::move(buffer));
      if (blob.space == kGlobalSpace && absl::StartsWith(blob.name, "context image")) {
        images_.push_back({blob.address, most});
      }
    }
    for (const std::unique_ptr<Blob>& blob : firmware_) {
      if (blob->pieces.empty()) continue;
      state_.blobs.push_back({blob->name, DeferText(TextEncoding::kAscii85, blob->pieces, budget,
                                                    dump_.late_problems)});
    }
    for (const auto& [name, bytes] : {std::pair{"H2G", &to_guc_}, std::pair{"G2H", &from_guc_}}) {
      if (!bytes->empty()) state_.blobs.push_back({name, std::make_shared<GivenBytes>(*bytes)});
    }
    const std::string engine = JobEngine();
    Blame(engine);
    for (const uint64_t batch : state_.batches) {
      Submission submission;
      submission.index = static_cast<uint32_t>(dump_.submissions.size());
      submission.engine = engine;
      submission.batch_address = batch;
      submission.kind = "batch";
      submission.unless_reached = true;
      dump_.submissions.push_back(std::move(submission));
    }
    for (const auto& [address, length] : images_) {
      Submission submission;
      submission.index = static_cast<uint32_t>(dump_.submissions.size());
      submission.engine = engine;
      submission.slot = 1 + submission.index;
      submission.space = kGlobalSpace;
      submission.own_space = kContextSpace;
      submission.batch_address = address;
      submission.batch_length = length;
      submission.kind = "context image";
      dump_.submissions.push_back(std::move(submission));
    }
  }

  using BlobAt = std::map<std::pair<uint32_t, uint64_t>, size_t>::const_iterator;

  // Bytes from a blob to the next one of its space.
  uint64_t RoomOf(BlobAt at) const {
    const auto next = std::next(at);
    const bool has_next = next != index_.end() && next->first.first == at->first.first;
    return (has_next ? next->first.second : ~uint64_t{0}) - at->first.second;
  }

  void PlaceSparse(const Blob& blob, BlobAt at) {
    Buffer buffer;
    buffer.space = blob.space;
    buffer.address = blob.address;
    buffer.size = std::min(blob.length.value_or(0), RoomOf(at));
    if (buffer.size == 0) return;
    const absl::Status mapped = dump_.memory.Map(blob.space, blob.address, {}, buffer.size);
    if (!mapped.ok()) dump_.AddProblem(blob.offset, std::string(mapped.message()));
    blob.properties.Describe(buffer);
    dump_.buffers.push_back(std::move(buffer));
  }

  // The job's engines hang. A context's name counts contexts, not engines, so that all engines of
  // its class are meant.
  void Blame(absl::string_view job) {
    if (state_.contexts.empty() && state_.batches.empty()) return;
    const auto class_of = [](absl::string_view name) {
      return name.substr(0, name.find_last_not_of("0123456789") + 1);
    };
    for (ErrorEngine& engine : state_.engines) {
      if (class_of(engine.name) != class_of(job)) continue;
      engine.hung = true;
      engine.process = state_.FactOf("Process");
      for (const ErrorContext& context : state_.contexts) {
        if (!context.head || !context.tail || !IsOfJob(context)) continue;
        ErrorRequest request;
        request.text = absl::StrCat("GuC ID ", context.id, ", ring from ", *context.head, " to ",
                                    *context.tail);
        request.head = context.head;
        request.tail = context.tail;
        if (context.started) {
          request.seqno = static_cast<uint64_t>(*context.started) & 0xffffffff;
        }
        if (engine.requests.size() < kMostEngines) engine.requests.push_back(std::move(request));
      }
    }
  }

  // Whether the job at fault may be one of this queue.
  bool IsOfJob(const ErrorContext& context) const {
    if (!state_.job_queue) return true;
    const std::string id = absl::StrCat(*state_.job_queue);
    const bool known = std::any_of(state_.contexts.begin(), state_.contexts.end(),
                                   [&](const ErrorContext& one) { return one.id == id; });
    return !known || context.id == id;
  }

  // Of the context that the job ran in: the one that the reason names, the only one, or the first.
  std::string JobEngine() const {
    for (const ErrorContext& context : state_.contexts) {
      if (!context.engine.empty() && IsOfJob(context)) return context.engine;
    }
    return state_.engines.empty() ? "render" : state_.engines[0].name;
  }

  static constexpr size_t kMostEngines = 256;
  static constexpr size_t kMostRegisters = 4096;
  static constexpr size_t kMostContexts = 4096;
  static constexpr size_t kMostMessageBytes = 1 << 20;

  FileBytes file_;
  const RawOptions& options_;
  TextLines lines_;
  Dump dump_;
  ErrorState state_;
  std::vector<std::unique_ptr<Blob>> blobs_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> index_;
  std::vector<std::unique_ptr<Blob>> firmware_;  // no memory of the GPU's
  std::vector<uint8_t> to_guc_, from_guc_;       // messages, dword by dword
  std::vector<std::pair<uint64_t, uint64_t>> images_;
  bool recognized_ = false;
  bool logged_ = false;
  // The reader's state.
  std::string section_;
  Blob* blob_ = nullptr;
  std::vector<uint8_t>* messages_ = nullptr;
  bool in_data_ = false;
  int engine_ = -1;
  int version_ = 0;
};

}  // namespace

bool LooksLikeXeDevcoredump(absl::string_view text) {
  TextLines lines(text.substr(0, 1 << 16));
  for (int i = 0; i < 100; ++i) {
    const std::optional<TextLine> line = lines.Next();
    if (!line) break;
    if (TitleOf(Unlogged(line->text))) return true;
  }
  return false;
}

absl::StatusOr<Dump> ReadXeDevcoredump(FileBytes file, const RawOptions& options) {
  return Reader(std::move(file), options).Read();
}

}  // namespace packsmith
