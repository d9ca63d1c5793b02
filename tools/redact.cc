#include "tools/redact.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {
namespace {

constexpr absl::string_view kGone = "…";

// What commands wait for and write, such as a semaphore: the longest is a number of 64 bits.
// Without it the analysis of a hang would come to another result.
constexpr uint64_t kMostWord = 8;

struct Free {
  void operator()(uint8_t* bytes) const { std::free(bytes); }
};
using Block = std::unique_ptr<uint8_t, Free>;

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

// The number that the text begins with: "12", "85dffffb", "0xfff0". Empty: there is none, or
// letters follow it.
absl::string_view NumberAt(absl::string_view text) {
  if (text.empty() || !IsDigit(text[0])) return {};
  size_t end = absl::StartsWith(text, "0x") || absl::StartsWith(text, "0X") ? 2 : 0;
  while (end < text.size() && IsHexDigit(text[end])) ++end;
  if (end < text.size() &&
      (absl::ascii_isalpha(static_cast<unsigned char>(text[end])) || (text[end] & 0x80) != 0)) {
    return {};
  }
  return text.substr(0, end);
}

// Numbers, and punctuation between them; the rest of a word after anything else is gone.
std::string RedactedWord(absl::string_view word) {
  constexpr absl::string_view kWords[] = {"yes",  "no",   "true",  "false",   "s",    "us",
                                          "ms",   "pid",  "seqno", "prio",    "ago",  "start",
                                          "head", "tail", "ring",  "emitted", "hung", "batch"};
  absl::string_view bare = word;
  while (!bare.empty() && absl::ascii_ispunct(static_cast<unsigned char>(bare.back()))) {
    bare.remove_suffix(1);
  }
  if (std::find(std::begin(kWords), std::end(kWords), bare) != std::end(kWords)) {
    return std::string(word);
  }
  std::string shown;
  while (!word.empty()) {
    const absl::string_view number = NumberAt(word);
    const size_t length = number.empty() ? 1 : number.size();
    if (number.empty() && !absl::ascii_ispunct(static_cast<unsigned char>(word[0]))) {
      return absl::StrCat(shown, kGone);
    }
    absl::StrAppend(&shown, word.substr(0, length));
    word.remove_prefix(length);
  }
  return shown;
}

// Messages quote the input.
std::string WithoutQuotations(absl::string_view text) {
  std::string shown;
  while (true) {
    const size_t open = text.find('"');
    const size_t close = open == absl::string_view::npos ? open : text.find('"', open + 1);
    if (close == absl::string_view::npos) break;
    absl::StrAppend(&shown, text.substr(0, open + 1), kGone, "\"");
    text.remove_prefix(close + 1);
  }
  return absl::StrCat(shown, text);
}

}  // namespace

std::string RedactedLine(absl::string_view text) {
  std::string shown;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
    const std::string one = RedactedWord(word);
    if (one == kGone && absl::EndsWith(shown, kGone)) continue;
    absl::StrAppend(&shown, shown.empty() ? "" : " ", one);
  }
  return shown;
}

std::string RedactedReason(absl::string_view text) {
  const size_t process = text.find(", in ");
  if (process == absl::string_view::npos) return std::string(text);
  return absl::StrCat(text.substr(0, process), ", in ", kGone);
}

// Where commands and state are, in the dumps so far of one GPU.
class Redactor::Reached : public decode::Sink {
 public:
  explicit Reached(const tables::Tables& tables) : decoder_(tables, *this) {}

  // Of this dump, merged, in order, by space.
  std::map<uint32_t, std::map<uint64_t, uint64_t>> Find(const Dump& dump) {
    found_.clear();
    decoder_.Decode(dump);
    return std::exchange(found_, {});
  }

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}
  void OnRecord(const decode::Record& record) override {
    switch (record.type) {
      case decode::RecordType::kPacket:
      case decode::RecordType::kStruct:
        // The value of a register is in a packet, or not in memory.
        if (record.register_offset < 0) Add(record.space, record.address, record.bytes.size());
        return;
      case decode::RecordType::kData:
        if (record.elements.empty() && record.kernel == nullptr && record.data_size <= kMostWord) {
          Add(record.space, record.address, record.bytes.size());
        }
        return;
      case decode::RecordType::kUnknown:
      case decode::RecordType::kRegister:
        return;
    }
  }

 private:
  void Add(uint32_t space, uint64_t address, uint64_t size) {
    if (size == 0) return;
    std::map<uint64_t, uint64_t>& ranges = found_[space];
    uint64_t last = address + (size - 1);
    auto next = ranges.upper_bound(address);
    if (next != ranges.begin()) {
      const auto before = std::prev(next);
      if (before->second >= last) return;
      if (before->second >= address || before->second + 1 == address) {
        address = before->first;
        ranges.erase(before);
      }
    }
    while (next != ranges.end() && next->first <= last) {
      last = std::max(last, next->second);
      next = ranges.erase(next);
    }
    ranges[address] = last;
  }

  std::map<uint32_t, std::map<uint64_t, uint64_t>> found_;  // first and last byte
  decode::Decoder decoder_;
};

Redactor::Redactor() = default;
Redactor::~Redactor() = default;

std::string Redactor::Number(absl::string_view kind, const std::string& name) {
  if (name.empty()) return "";
  std::map<std::string, size_t>& known = numbers_[std::string(kind)];
  return absl::StrCat(kind, " ", known.emplace(name, known.size() + 1).first->second);
}

void Redactor::RedactMemory(const tables::Tables& tables, Dump& dump) {
  if (!gpu_ || !gpu_->IsSame(tables, dump.device)) {
    gpu_ = Gpu{tables, dump.device};
    reached_ = std::make_unique<Reached>(gpu_->tables);
  }
  const auto kept = reached_->Find(dump);
  const auto blocks = std::make_shared<std::vector<Block>>();
  Memory memory;
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    // Page tables are not commands, and physical memory without them is of no use.
    if (dump.physical_space && mapped.space == *dump.physical_space) continue;
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    // What is kept of it: [first, last] in the segment.
    struct Piece {
      uint64_t at, size;
    };
    std::vector<Piece> pieces;
    if (const auto ranges = kept.find(segment.space); ranges != kept.end()) {
      auto one = ranges->second.upper_bound(segment.address);
      if (one != ranges->second.begin()) --one;
      for (; one != ranges->second.end() && one->first <= segment.last(); ++one) {
        if (one->second < segment.address) continue;
        const uint64_t first = std::max(one->first, segment.address);
        const uint64_t at = first - segment.address;
        const uint64_t end = std::min<uint64_t>(
            std::min(one->second, segment.last()) - segment.address + 1, segment.bytes.size());
        if (at < end) pieces.push_back({at, end - at});
      }
    }
    const uint64_t size = pieces.empty() ? 0 : pieces.back().at + pieces.back().size;
    // Pages that nothing is copied to take no memory.
    Block block(size == 0 ? nullptr : static_cast<uint8_t*>(std::calloc(size, 1)));
    const uint64_t had = block == nullptr ? 0 : size;
    for (const Piece& piece : pieces) {
      if (had != 0) std::memcpy(block.get() + piece.at, &segment.bytes[piece.at], piece.size);
    }
    // It cannot overlap: the segments did not.
    (void)memory.Map(segment.space, segment.address, {block.get(), had}, segment.memory_size);
    blocks->push_back(std::move(block));
  }
  if (dump.late_problems != nullptr) {
    for (Problem& problem : dump.late_problems->All()) {
      dump.AddProblem(problem.offset, std::move(problem.text));
    }
    dump.late_problems = nullptr;
  }
  dump.memory = std::move(memory);
  dump.physical_space.reset();
  dump.recording = nullptr;
  dump.backing = blocks;
}

ErrorState Redactor::Redacted(const ErrorState& state) {
  ErrorState redacted = state;
  redacted.title = RedactedReason(state.title);
  const auto redact = [this](std::vector<ErrorFact>& facts) {
    for (ErrorFact& fact : facts) {
      const bool is_process = fact.key == "Process" || fact.key == "comm";
      fact.value = is_process ? Number("process", fact.value) : RedactedLine(fact.value);
    }
  };
  redact(redacted.facts);
  for (ErrorEngine& engine : redacted.engines) {
    engine.process = Number("process", engine.process);
    for (ErrorRequest& request : engine.requests) request.text = RedactedLine(request.text);
    redact(engine.facts);
  }
  return redacted;
}

void Redactor::Redact(const tables::Tables& tables, Dump& dump) {
  if (done_.contains(dump.backing)) return;
  RedactMemory(tables, dump);
  done_.insert(dump.backing);
  if (dump.error_state != nullptr) {
    dump.error_state = std::make_shared<const ErrorState>(Redacted(*dump.error_state));
  } else {
    // Kernels' dumps name kinds: "ring", "batch", "user".
    for (Buffer& buffer : dump.buffers) buffer.name = Number("buffer", buffer.name);
  }
  for (Problem& problem : dump.problems) problem.text = WithoutQuotations(problem.text);
}

}  // namespace packsmith::tools
