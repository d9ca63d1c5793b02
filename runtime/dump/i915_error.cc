#include "runtime/dump/i915_error.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/addresses.h"
#include "runtime/dump/text_bytes.h"
#include "runtime/dump/text_lines.h"

namespace packsmith {
namespace {

constexpr absl::string_view kStream = " command stream:";
constexpr absl::string_view kOwnerEnd = " --- ";
// Before an engine's name, where its registers are those that the firmware (GuC) saved. Source:
// Linux, gt/uc/intel_guc_capture.c.
constexpr absl::string_view kCapture = "global --- GuC Error Capture on ";
constexpr absl::string_view kNoCapture = "  Missing GuC capture node for ";
// The status page with which the image of a context begins, where contexts have one.
constexpr uint64_t kStatusPage = 4096;
// The upper bound of a buffer's size if no other one begins after it.
constexpr uint64_t kMostBuffer = uint64_t{1} << 40;

enum class Kind { kBatch, kRing, kContextImage, kWorkaroundBatch, kOther };

// `<owner> --- <name> = <address>` and the data that follow.
struct Object {
  std::string engine;
  std::string name;
  uint64_t address = 0;
  uint64_t offset = 0;  // of its line
  Kind kind = Kind::kOther;
  bool global = false;  // in the global space
  bool two_words = false;
  TextEncoding encoding = TextEncoding::kHexWords;
  std::vector<TextPiece> pieces;
};

Kind KindOf(absl::string_view name) {
  if (name == "gtt_offset" || name == "batch") return Kind::kBatch;
  if (name == "ring" || name == "ringbuffer") return Kind::kRing;
  if (name == "hw context") return Kind::kContextImage;
  if (name == "wa batch" || name == "wa batchbuffer") return Kind::kWorkaroundBatch;
  return Kind::kOther;
}

// The driver's own buffers are in the global space, those of programs in their own.
bool IsGlobal(absl::string_view owner, absl::string_view name, Kind kind) {
  if (owner == "global" || absl::StartsWith(name, "guc")) return true;
  if (kind != Kind::kOther) return kind != Kind::kBatch;
  return name == "hw status" || name == "semaphores" || name == "wa context" ||
         name == "null context";
}

// Old kernels named the batch after its location, and the ring after its type.
std::string NameOf(absl::string_view name) {
  if (name == "gtt_offset") return "batch";
  if (name == "ringbuffer") return "ring";
  return ValidUtf8(name);
}

// What reads and writes a buffer, by the bits of the kernel's interface (I915_GEM_DOMAIN_*).
std::string Domains(uint64_t mask) {
  constexpr absl::string_view kNames[] = {"CPU",          "render",   "sampler", "command streamer",
                                          "instructions", "vertices", "GTT",     "WC"};
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if ((mask >> i & 1) != 0) names.push_back(kNames[i]);
  }
  return absl::StrJoin(names, ", ");
}

// A row of a list of buffers.
struct Row {
  Buffer buffer;
  std::string owner;  // what its list belongs to: "global", "rcs0"; empty: the heading does not say
};

// `00000010 :  01234567`, or `[0010] 01234567 01234567 01234567 01234567`, as status pages were
// written up to Linux 4.9.
bool IsHexWordsLine(absl::string_view line) {
  absl::string_view rest = line;
  if (absl::StartsWith(rest, "[")) {
    rest.remove_prefix(1);
    const bool offset = !absl::StartsWith(rest, "0x") && TakeNumber(rest, 16);
    if (!offset || !absl::StartsWith(rest, "] ")) return false;
    rest.remove_prefix(2);
    const size_t before = rest.size();
    return TakeNumber(rest, 16) && before - rest.size() == 8;
  }
  if (rest.size() < 10 || !absl::ascii_isxdigit(static_cast<unsigned char>(rest[0]))) return false;
  if (absl::StartsWith(rest, "0x")) return false;
  if (!TakeNumber(rest, 16)) return false;
  if (line.size() - rest.size() != 8) return false;
  rest = Trimmed(rest);
  if (rest.empty() || rest[0] != ':') return false;
  rest = Trimmed(rest.substr(1));
  return rest.size() >= 8 && TakeNumber(rest, 16).has_value();
}

class Reader {
 public:
  Reader(FileBytes file, const RawOptions& options)
      : file_(std::move(file)),
        options_(options),
        lines_(absl::string_view(reinterpret_cast<const char*>(file_.bytes.data()),
                                 file_.bytes.size())) {}

  absl::StatusOr<Dump> Read() {
    state_.kind = "i915 error state";
    while (const std::optional<TextLine> line = lines_.Next()) ReadLine(*line);
    if (!recognized_) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: no line of an i915 error state was found; read it from "
                          "/sys/class/drm/card0/error, before anything is written to that file",
                          file_.name));
    }
    SetDevice();
    Place();
    dump_.error_state = std::make_shared<const ErrorState>(std::move(state_));
    dump_.backing = std::move(file_.owner);
    dump_.SortBuffers();
    return std::move(dump_);
  }

 private:
  void ReadLine(const TextLine& line) {
    const absl::string_view text = line.text;
    if (text.empty()) return;
    if (text[0] == ':' || text[0] == '~') return ReadData(line);
    if (IsHexWordsLine(text)) return ReadHexWords(line);
    if (text[0] != ' ' && text[0] != '\t') {
      if (absl::EndsWith(text, kStream)) {
        absl::string_view name = text.substr(0, text.size() - kStream.size());
        absl::ConsumePrefix(&name, kCapture);
        engine_ = &EngineOf(name);
        section_ = std::string(text.substr(0, text.size() - 1));
        has_object_ = false;
        recognized_ = true;
        return;
      }
      if (engine_ != nullptr && absl::StartsWith(text, "Coverage:")) {
        return ReadRegister(line, *engine_);
      }
      const size_t owner_end = text.find(kOwnerEnd);
      if (owner_end != absl::string_view::npos) {
        return ReadHeader(line, text.substr(0, owner_end),
                          text.substr(owner_end + kOwnerEnd.size()));
      }
      // From kernels that knew only one ring; and an object whose line has another form.
      if (absl::StartsWith(text, kOwnerEnd.substr(1))) {
        return ReadHeader(line, "render", text.substr(kOwnerEnd.size() - 1));
      }
      if (absl::StartsWith(text, "Semaphore page = ")) return ReadHeader(line, "global", text);
      // A line that some kernels write before the data.
      if (absl::StartsWith(text, "gtt_page_sizes") || absl::StartsWith(text, "metadata UUIDs")) {
        return;
      }
      if (ReadList(line)) return;
      engine_ = nullptr;
      requests_of_.clear();
      section_.clear();
    } else if (ReadList(line)) {
      return;
    } else if (absl::StartsWith(text, kNoCapture)) {
      engine_ = &EngineOf(text.substr(kNoCapture.size()));
      section_ = engine_->name;
      has_object_ = false;
    }
    if (absl::StrContains(text, "UUID: ")) {
      // Data that follow belong to this record, and are not GPU memory.
      has_object_ = false;
      skip_data_ = true;
      return Fact(line);
    }
    if (!requests_of_.empty() && ReadRequest(line, requests_of_)) return;
    if (list_rows_ && ReadRow(line)) return;
    if (engine_ != nullptr) return ReadRegister(line, *engine_);
    if (state_.title.empty() && absl::StartsWith(text, "GPU HANG")) {
      state_.title = ValidUtf8(text);
      recognized_ = true;
      return;
    }
    Fact(line);
  }

  ErrorEngine& EngineOf(absl::string_view name) {
    if (absl::EndsWith(name, " ring")) name.remove_suffix(5);
    // Up to Linux 4.16 rings had other names than their registers' sections.
    if (name == "blitter") name = "blt";
    if (name == "video enhancement") name = "vebox";
    const std::string clean = ValidUtf8(name);
    for (ErrorEngine& engine : state_.engines) {
      if (engine.name == clean) return engine;
    }
    // More than this cannot be engines.
    if (state_.engines.size() == kMostEngines) return state_.engines.back();
    state_.engines.reserve(kMostEngines);
    state_.engines.emplace_back().name = clean;
    return state_.engines.back();
  }

  // --- `owner --- name = address`, `owner --- N requests` ---

  void ReadHeader(const TextLine& line, absl::string_view owner, absl::string_view rest) {
    recognized_ = true;
    engine_ = nullptr;
    list_rows_ = false;
    skip_data_ = false;
    requests_of_.clear();
    section_.clear();
    const size_t submitted = owner.find(" (submitted by ");
    absl::string_view submitter;
    if (submitted != absl::string_view::npos) {
      submitter = owner.substr(submitted + 15);
      owner = owner.substr(0, submitted);
      if (absl::EndsWith(submitter, ")")) submitter.remove_suffix(1);
    }
    const bool is_workaround = absl::ConsumeSuffix(&owner, " (w/a)");
    if (absl::EndsWith(owner, " ring")) owner.remove_suffix(5);
    const size_t equals = rest.find(" = ");
    if (equals == absl::string_view::npos) {
      has_object_ = false;
      if (absl::EndsWith(rest, " requests") || absl::EndsWith(rest, " waiters")) {
        requests_of_ = std::string(EngineOf(owner).name);
      }
      return Fact(line);
    }
    const absl::string_view name = Trimmed(rest.substr(0, equals));
    absl::string_view address = Trimmed(rest.substr(equals + 3));
    Object object;
    const std::optional<uint64_t> at = TakeAddress(address, object.two_words);
    if (!at) {
      has_object_ = false;
      skip_data_ = true;
      Problem(line.offset, "a buffer without an address was left out");
      return;
    }
    object.address = PlainAddress(*at);
    object.engine = ValidUtf8(owner);
    object.name = NameOf(name);
    object.offset = line.offset;
    const std::string lower = absl::AsciiStrToLower(object.name);
    object.kind = is_workaround ? Kind::kWorkaroundBatch : KindOf(lower);
    object.global = IsGlobal(owner, lower, object.kind);
    if (owner != "global") {
      ErrorEngine& engine = EngineOf(owner);
      if (!submitter.empty() && engine.process.empty()) engine.process = ValidUtf8(submitter);
      if (object.kind == Kind::kRing) engine.ring_address = object.address;
    }
    objects_.push_back(std::move(object));
    has_object_ = true;
  }

  void ReadData(const TextLine& line) {
    if (skip_data_) return;
    if (!has_object_) {
      Problem(line.offset, "data that do not belong to a buffer were ignored");
      return;
    }
    Object& object = objects_.back();
    if (!object.pieces.empty()) {
      Problem(line.offset,
              absl::StrCat("\"", object.name, "\" has data already; further data were ignored"));
      return;
    }
    object.encoding = line.text[0] == ':' ? TextEncoding::kAscii85Zlib : TextEncoding::kAscii85;
    object.pieces.push_back({line.text.substr(1), line.offset + 1});
  }

  void ReadHexWords(const TextLine& first) {
    // All lines up to the first of another form are one piece.
    const char* const begin = first.text.data();
    const char* end = begin + first.text.size();
    while (const std::optional<TextLine> line = lines_.Next()) {
      if (!IsHexWordsLine(line->text)) {
        lines_.Back();
        break;
      }
      end = line->text.data() + line->text.size();
    }
    if (skip_data_) return;
    if (!has_object_) {
      Problem(first.offset, "data that do not belong to a buffer were ignored");
      return;
    }
    Object& object = objects_.back();
    if (!object.pieces.empty()) {
      Problem(first.offset,
              absl::StrCat("\"", object.name, "\" has data already; further data were ignored"));
      return;
    }
    object.encoding = TextEncoding::kHexWords;
    object.pieces.push_back(
        {absl::string_view(begin, static_cast<size_t>(end - begin)), first.offset});
  }

  // --- Lists of buffers and of requests ---

  bool ReadList(const TextLine& line) {
    // Indented where each address space has its own.
    const absl::string_view text = Trimmed(line.text);
    if (!absl::StartsWith(text, "Active") && !absl::StartsWith(text, "Pinned")) return false;
    if (!absl::EndsWith(text, "]:")) return false;
    engine_ = nullptr;
    requests_of_.clear();
    has_object_ = false;
    list_rows_ = true;
    list_owner_.clear();
    const size_t open = text.find('(');
    if (open != absl::string_view::npos) {
      const absl::string_view owner = text.substr(open + 1);
      list_owner_ = ValidUtf8(owner.substr(0, owner.find(')')));
    }
    section_ = ValidUtf8(text.substr(0, text.size() - 1));
    return true;
  }

  // `offset size read write seqnos flags...`
  bool ReadRow(const TextLine& line) {
    absl::string_view rest = Trimmed(line.text);
    bool two = false;
    const std::optional<uint64_t> address = TakeAddress(rest, two);
    if (!address || rest.empty() || rest[0] != ' ') return false;
    rest = Trimmed(rest);
    const std::optional<uint64_t> size = TakeNumber(rest, 10);
    if (!size || *size == 0) return false;
    if (rows_.size() == kMostRows) return true;
    wide_ = wide_ || two;
    // Without data, but the extent is known.
    Row row;
    row.owner = list_owner_;
    row.buffer.address = PlainAddress(*address);
    row.buffer.size = *size;
    const std::optional<uint64_t> reads = TakeWord(rest);
    const std::optional<uint64_t> writes = reads ? TakeWord(rest) : std::nullopt;
    if (reads && *reads != 0) row.buffer.access = absl::StrCat("read by ", Domains(*reads));
    if (writes && *writes != 0) {
      absl::StrAppend(&row.buffer.access, row.buffer.access.empty() ? "" : "; ", "written by ",
                      Domains(*writes));
    }
    // Numbers of requests, some of them in brackets.
    while (TakeWord(rest) || absl::ConsumePrefix(&rest, "[") || absl::ConsumePrefix(&rest, "]") ||
           absl::ConsumePrefix(&rest, " ")) {
    }
    std::vector<absl::string_view> flags;
    for (const absl::string_view word : absl::StrSplit(rest, ' ', absl::SkipEmpty())) {
      if (word == "X" || word == "Y") {
        row.buffer.tiling = std::string(word);
      } else {
        flags.push_back(word);
      }
    }
    row.buffer.flags = ValidUtf8(absl::StrJoin(flags, " "));
    rows_.push_back(std::move(row));
    return true;
  }

  // A number of hex digits before a blank or the end.
  static std::optional<uint64_t> TakeWord(absl::string_view& text) {
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(text);
    const std::optional<uint64_t> number = TakeNumber(rest, 16);
    if (!number || (!rest.empty() && rest[0] != ' ')) return std::nullopt;
    text = rest;
    return number;
  }

  static std::optional<uint64_t> After(absl::string_view text, absl::string_view word, int base) {
    const size_t at = text.find(word);
    if (at == absl::string_view::npos) return std::nullopt;
    text = Trimmed(text.substr(at + word.size()));
    return TakeNumber(text, base);
  }

  ErrorRequest RequestOf(absl::string_view text) {
    ErrorRequest request;
    request.text = ValidUtf8(Trimmed(text));
    request.seqno = After(text, "seqno ", 16);
    request.head = After(text, "head ", 16);
    request.tail = After(text, "tail ", 16);
    if (const std::optional<uint64_t> pid = After(text, "pid ", 10)) {
      request.pid = static_cast<int64_t>(*pid & 0x7fffffff);
    }
    return request;
  }

  bool ReadRequest(const TextLine& line, const std::string& engine) {
    if (line.text[0] != ' ' || !absl::StrContains(line.text, "seqno")) return false;
    EngineOf(engine).requests.push_back(RequestOf(line.text));
    return true;
  }

  // --- `  NAME: value` of an engine, `Key: value` of the whole ---

  void ReadRegister(const TextLine& line, ErrorEngine& engine) {
    const absl::string_view text = Trimmed(line.text);
    const size_t colon = text.find(':');
    if (colon == absl::string_view::npos) {
      AddFact(engine.facts, {section_, "", ValidUtf8(text), line.offset});
      return;
    }
    const absl::string_view key = text.substr(0, colon);
    const absl::string_view value = Trimmed(text.substr(colon + 1));
    if (absl::StartsWith(key, "ELSP[")) {
      engine.requests.push_back(RequestOf(text));
      return;
    }
    if (key == "hung" || key == "hangcheck stall") engine.hung = SaysYes(value);
    if (key == "hangcheck") engine.hung = absl::StartsWith(value, "hung");
    if (key == "Active context") engine.process = ValidUtf8(value);
    if (key == "batch") ReadBatch(value, engine.name);
    if (ReadCaptured(key, value, engine)) return;
    std::optional<ErrorRegister> one = RegisterOf(key, value);
    if (one) {
      if (const std::optional<Half> half = HalfOf(one->name)) {
        wide_ = true;
        return Join(*half, one->value, engine);
      }
      if (key == "ring->head") engine.ring_kept = one->value;
      if (absl::StartsWith(key, "PDP") || one->is_64) wide_ = true;
      if (engine.registers.size() < kMostRegisters) engine.registers.push_back(*std::move(one));
      return;
    }
    AddFact(engine.facts, {section_, ValidUtf8(key), ValidUtf8(value), line.offset});
  }

  // What the firmware's capture says of the queue that it is of. False: the line is another one.
  bool ReadCaptured(absl::string_view key, absl::string_view value, ErrorEngine& engine) {
    if (key == "GuC-Context-Id") {
      if (state_.contexts.size() == kMostContexts) return true;
      ErrorContext& context = state_.contexts.emplace_back();
      context.id = ValidUtf8(value);
      context.engine = engine.name;
      captured_ = &engine;
      return true;
    }
    if (key != "LRCA" || captured_ != &engine) return false;
    // Flags are below the page's address.
    if (const std::optional<uint64_t> image = TakeNumber(value, 16)) {
      state_.contexts.back().image = *image & ~(kStatusPage - 1);
    }
    return true;
  }

  // A half of a register of two words, which the firmware's capture has as registers of their own.
  struct Half {
    std::string name;
    bool upper = false;
  };
  static std::optional<Half> HalfOf(absl::string_view name) {
    constexpr std::pair<absl::string_view, bool> kSuffixes[] = {
        {"_LDW", false}, {"_UDW", true}, {"_LOW32", false}, {"_UP32", true}};
    for (const auto& [suffix, upper] : kSuffixes) {
      if (absl::ConsumeSuffix(&name, suffix)) return Half{std::string(name), upper};
    }
    return std::nullopt;
  }
  void Join(const Half& half, uint64_t value, ErrorEngine& engine) {
    // They are near each other in their list.
    constexpr size_t kNear = 64;
    std::vector<ErrorRegister>& all = engine.registers;
    const auto from = all.end() - static_cast<ptrdiff_t>(std::min(kNear, all.size()));
    auto found = std::find_if(from, all.end(),
                              [&](const ErrorRegister& one) { return one.name == half.name; });
    if (found == all.end()) {
      if (all.size() == kMostRegisters) return;
      found = all.insert(all.end(), {half.name, 0, false, {}});
    }
    found->value |= half.upper ? value << 32 : value & 0xffffffff;
    found->is_64 = found->is_64 || half.upper;
  }

  // "yes", or, from Linux 5.3 on, a number that is not zero.
  static bool SaysYes(absl::string_view value) {
    return value == "yes" || TakeNumber(value, 10).value_or(0) != 0;
  }

  // `[0xhhhhhhhh_hhhhhhhh, 0xhhhhhhhh_hhhhhhhh]`: where the batch of the request at fault begins,
  // and where it ends.
  void ReadBatch(absl::string_view value, const std::string& engine) {
    bool two = false;
    if (!absl::ConsumePrefix(&value, "[")) return;
    const std::optional<uint64_t> begin = TakeAddress(value, two);
    if (!begin || !absl::ConsumePrefix(&value, ",")) return;
    value = Trimmed(value);
    const std::optional<uint64_t> end = TakeAddress(value, two);
    if (!end || *end <= *begin) return;
    batches_[engine] = {PlainAddress(*begin), *end - *begin};
  }

  static std::optional<ErrorRegister> RegisterOf(absl::string_view key, absl::string_view value) {
    if (!absl::StartsWith(value, "0x")) return std::nullopt;
    for (const char c : key) {
      if (c == ' ') return std::nullopt;
    }
    ErrorRegister one;
    one.name = ValidUtf8(key);
    const size_t length = value.size();
    const std::optional<uint64_t> number = TakeAddress(value, one.is_64);
    if (!number) return std::nullopt;
    one.value = *number;
    if (*number > 0xffffffff || length - value.size() > 10) one.is_64 = true;
    value = Trimmed(value);
    if (!value.empty() && value[0] == '[') {
      value.remove_prefix(1);
      bool two = false;
      while (const std::optional<uint64_t> extra = TakeAddress(value, two)) {
        one.extra.push_back(*extra);
        while (!value.empty() && (value[0] == ',' || value[0] == ' ')) value.remove_prefix(1);
      }
    }
    return one;
  }

  void Fact(const TextLine& line) {
    list_rows_ = list_rows_ && line.text[0] == ' ';
    const absl::string_view text = Trimmed(line.text);
    size_t colon = text.find(": ");
    if (colon == absl::string_view::npos && absl::EndsWith(text, ":")) colon = text.size() - 1;
    ErrorFact fact{section_, "", "", line.offset};
    // Indented lines belong to something else, except a few registers of the device.
    if (colon == absl::string_view::npos || (line.text[0] == ' ' && !section_.empty())) {
      fact.value = ValidUtf8(text);
    } else {
      fact.key = ValidUtf8(text.substr(0, colon));
      fact.value = ValidUtf8(Trimmed(text.substr(colon + 1)));
    }
    if (fact.key == "PCI ID") {
      absl::string_view number = fact.value;
      if (const std::optional<uint64_t> id = TakeNumber(number, 16)) {
        dump_.device.pci_id = static_cast<uint32_t>(*id);
        recognized_ = true;
      }
    } else if (fact.key.empty() && absl::StartsWith(fact.value, "fence[")) {
      ReadFence(fact.value);
    } else if (!fact.key.empty()) {
      std::optional<ErrorRegister> one = RegisterOf(fact.key, fact.value);
      if (one && state_.registers.size() < kMostRegisters) {
        if (fact.key == "FAULT_TLB_DATA" && !one->is_64) {
          absl::string_view rest = absl::string_view(fact.value);
          (void)TakeNumber(rest, 16);  // the upper half
          rest = Trimmed(rest);
          if (const std::optional<uint64_t> low = TakeNumber(rest, 16)) {
            state_.registers.push_back({"FAULT_TLB_DATA1", one->value, false, {}});
            state_.registers.push_back({"FAULT_TLB_DATA0", *low, false, {}});
          }
        } else {
          state_.registers.push_back(*std::move(one));
        }
      }
    }
    AddFact(state_.facts, std::move(fact));
  }

  // `fence[N] = 1f5700001f4800d`: one register of 64 bits. Unused ones are skipped.
  void ReadFence(absl::string_view text) {
    const size_t equals = text.find(" = ");
    if (equals == absl::string_view::npos || state_.registers.size() >= kMostRegisters) return;
    absl::string_view digits = Trimmed(text.substr(equals + 3));
    const std::optional<uint64_t> value = TakeNumber(digits, 16);
    if (!value || *value == 0 || !digits.empty()) return;
    state_.registers.push_back({ValidUtf8(text.substr(0, equals)), *value, true, {}});
  }

  void AddFact(std::vector<ErrorFact>& facts, ErrorFact fact) {
    if (facts.size() < ErrorState::kMaxFacts) facts.push_back(std::move(fact));
  }
  void Problem(uint64_t offset, std::string text) { dump_.AddProblem(offset, std::move(text)); }

  // --- All lines are read ---

  void SetDevice() {
    const std::optional<uint32_t> pci_id = dump_.device.pci_id;
    if (!options_.generation.empty()) dump_.device = DeviceOfGeneration(options_.generation);
    dump_.device.pci_id = pci_id;
    dump_.device.family = "intel";
    dump_.device.uapi = "i915";
    ReadVersion();
    if (dump_.device.platform.empty()) {
      dump_.device.platform = absl::AsciiStrToLower(state_.FactOf("Platform"));
    }
  }

  // `GPU HANG: ecode 9:1:0x85dffffb`: the generation, without the digit after its point.
  void ReadVersion() {
    constexpr absl::string_view kCode = "ecode ";
    absl::string_view title = state_.title;
    const size_t at = title.find(kCode);
    if (at == absl::string_view::npos) return;
    title.remove_prefix(at + kCode.size());
    const std::optional<uint64_t> version = TakeNumber(title, 10);
    if (version && *version < 100 && absl::StartsWith(title, ":")) {
      dump_.device.kernel_verx10 = static_cast<int>(*version * 10);
    }
  }

  void Place() {
    // Contexts have address spaces of their own if addresses have two words. Before that, all share
    // the global one.
    for (const Object& object : objects_) wide_ = wide_ || object.two_words;
    uint32_t next = 0;
    for (ErrorEngine& engine : state_.engines) {
      engine.space = wide_ ? next : 0;
      next = next == 0 ? kGlobalSpace + 1 : next + 1;
    }
    auto budget = std::make_shared<TextBudget>();
    budget->bytes_left = options_.max_bytes;
    dump_.late_problems = std::make_shared<LateProblems>();

    struct Placed {
      uint32_t space;
      const Object* object;
      std::shared_ptr<DeferredBytes> bytes;
      uint64_t most;
    };
    std::vector<Placed> placed;
    for (const Object& object : objects_) {
      if (object.pieces.empty()) {
        Problem(object.offset, absl::StrCat("\"", object.name, "\" has no data"));
        continue;
      }
      std::shared_ptr<DeferredBytes> bytes =
          DeferText(object.encoding, object.pieces, budget, dump_.late_problems);
      if (!wide_) {
        placed.push_back({0, &object, bytes, 0});
        placed.push_back({kGlobalSpace, &object, bytes, 0});
      } else {
        placed.push_back({SpaceOf(object), &object, bytes, 0});
      }
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return a.space != b.space ? a.space < b.space : a.object->address < b.object->address;
    });
    for (size_t i = 0; i < placed.size(); ++i) {
      const uint64_t address = placed[i].object->address;
      uint64_t most = std::min(kMostBuffer, ~uint64_t{0} - address);
      size_t after = i + 1;
      while (after < placed.size() && placed[after].space == placed[i].space &&
             placed[after].object->address == address) {
        ++after;
      }
      if (after < placed.size() && placed[after].space == placed[i].space) {
        most = std::min(most, placed[after].object->address - address);
      }
      // The same buffer may be listed twice: as the batch, and as one of those that it uses.
      if (i == 0 || placed[i - 1].space != placed[i].space ||
          placed[i - 1].object->address != address) {
        const absl::Status mapped =
            dump_.memory.MapDeferred(placed[i].space, address, placed[i].bytes, most);
        if (!mapped.ok()) Problem(placed[i].object->offset, std::string(mapped.message()));
      }
      placed[i].most = most;
    }
    PlaceRows();
    for (const Placed& one : placed) AddBuffer(one.space, *one.object, one.most);
    for (const Placed& one : placed) {
      if (wide_ || one.space == kGlobalSpace) continue;
      AddSubmission(one.space, *one.object, one.most);
    }
    if (wide_) {
      for (const Placed& one : placed) AddSubmission(one.space, *one.object, one.most);
    }
  }

  // The rows of the lists, each once however many lists it is in: with an object's name where they
  // are of its memory.
  void PlaceRows() {
    std::map<std::pair<uint32_t, uint64_t>, const Object*> objects;
    for (const Object& object : objects_) {
      if (!object.pieces.empty()) {
        objects.emplace(std::make_pair(wide_ ? SpaceOf(object) : 0, object.address), &object);
      }
    }
    for (Row& row : rows_) {
      row.buffer.space = 0;
      if (wide_ && row.owner == "global") row.buffer.space = kGlobalSpace;
      for (const ErrorEngine& engine : state_.engines) {
        if (wide_ && engine.name == row.owner) row.buffer.space = engine.space;
      }
      const auto key = std::make_pair(row.buffer.space, row.buffer.address);
      if (!listed_.emplace(key, row.buffer.size).second) continue;
      const auto object = objects.find(key);
      if (object != objects.end()) {
        row.buffer.name = absl::StrCat(object->second->engine, " ", object->second->name);
      }
      if (!wide_) {
        Buffer global = row.buffer;
        global.space = kGlobalSpace;
        dump_.buffers.push_back(std::move(global));
      }
      dump_.buffers.push_back(std::move(row.buffer));
    }
    std::vector<Row>().swap(rows_);
  }
  // The size that the lists give the buffer at this address.
  std::optional<uint64_t> ListedSize(uint32_t space, uint64_t address) const {
    const auto found = listed_.find({wide_ ? space : 0, address});
    if (found == listed_.end()) return std::nullopt;
    return found->second;
  }

  uint32_t SpaceOf(const Object& object) {
    if (object.global) return kGlobalSpace;
    return EngineOf(object.engine).space;
  }

  void AddBuffer(uint32_t space, const Object& object, uint64_t most) {
    if (ListedSize(space, object.address)) return;
    Buffer buffer;
    buffer.space = space;
    buffer.address = object.address;
    buffer.size = most;
    buffer.size_is_memory = true;
    buffer.name = absl::StrCat(object.engine, " ", object.name);
    dump_.buffers.push_back(std::move(buffer));
  }

  void AddSubmission(uint32_t space, const Object& object, uint64_t most) {
    if (object.kind != Kind::kBatch && object.kind != Kind::kContextImage &&
        object.kind != Kind::kWorkaroundBatch) {
      return;
    }
    const ErrorEngine& engine = EngineOf(object.engine);
    Submission submission;
    submission.index = static_cast<uint32_t>(dump_.submissions.size());
    submission.engine = engine.name;
    submission.context = static_cast<uint32_t>(&engine - state_.engines.data());
    submission.space = space;
    if (space != engine.space) submission.own_space = engine.space;
    submission.batch_address = object.address;
    submission.unless_reached = true;
    submission.kind = object.kind == Kind::kContextImage ? "context image" : "batch";
    if (object.kind == Kind::kContextImage) submission.batch_length = most;
    if (object.kind == Kind::kBatch) {
      submission.batch_length = ListedSize(space, object.address).value_or(0);
      const auto said = batches_.find(engine.name);
      if (said != batches_.end() && said->second.first == object.address) {
        submission.batch_length = said->second.second;
      }
    }
    if (object.kind == Kind::kContextImage && wide_ && most > kStatusPage) {
      submission.batch_address += kStatusPage;
      submission.batch_length -= kStatusPage;
    }
    // What a context image or the driver's own batch sets is not what the batch set.
    if (object.kind != Kind::kBatch) {
      submission.slot = 1 + static_cast<uint32_t>(dump_.submissions.size());
    }
    dump_.submissions.push_back(std::move(submission));
  }

  static constexpr size_t kMostEngines = 256;
  static constexpr size_t kMostRegisters = 4096;
  static constexpr size_t kMostContexts = 4096;
  static constexpr size_t kMostRows = 1 << 20;

  FileBytes file_;
  const RawOptions& options_;
  TextLines lines_;
  Dump dump_;
  ErrorState state_;
  std::vector<Object> objects_;
  std::vector<Row> rows_;                                     // of the lists: extents without data
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> listed_;  // their sizes, by space and address
  // By engine: address and bytes.
  std::map<std::string, std::pair<uint64_t, uint64_t>> batches_;
  bool recognized_ = false;
  bool wide_ = false;
  // The reader's state.
  ErrorEngine* engine_ = nullptr;
  const ErrorEngine* captured_ = nullptr;  // whose queue is the last one of the firmware's capture
  std::string section_;
  std::string requests_of_;
  bool has_object_ = false;
  bool skip_data_ = false;
  bool list_rows_ = false;
  std::string list_owner_;
};

}  // namespace

bool LooksLikeI915Error(absl::string_view text) {
  // Whatever the kernel, one of these comes soon. A line may be long: only its start counts.
  TextLines lines(text);
  for (int i = 0; i < 400; ++i) {
    const std::optional<TextLine> line = lines.Next();
    if (!line) break;
    const absl::string_view start = line->text.substr(0, 4096);
    if (absl::StartsWith(start, "GPU HANG: ") || absl::EndsWith(start, kStream) ||
        absl::StartsWith(start, "PCI ID: 0x") || absl::StartsWith(start, "PGTBL_ER: 0x")) {
      return true;
    }
    if (absl::StartsWith(start, "**** ")) return false;
    const size_t owner = start.find(kOwnerEnd);
    if (owner != absl::string_view::npos && owner != 0 && start[0] != ' ' &&
        absl::StrContains(start.substr(owner), " = 0x")) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<Dump> ReadI915Error(FileBytes file, const RawOptions& options) {
  return Reader(std::move(file), options).Read();
}

}  // namespace packsmith
