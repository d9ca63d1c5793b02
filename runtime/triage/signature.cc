#include "runtime/triage/signature.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/hang/engine_state.h"

namespace packsmith::triage {
namespace {

// Numbers that are wider hold addresses, counts and data, which differ from run to run.
constexpr uint32_t kWidestNumber = 16;
constexpr size_t kMostFields = 64;
// Bytes of a packet that count.
constexpr uint64_t kMostBytes = 1024;

// FNV-1a, 64 bits.
class Hash {
 public:
  void Add(absl::string_view text) {
    for (const char c : text) {
      state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    }
    // The end counts too: "ab" and "c" differ from "a" and "bc".
    state_ = (state_ ^ 0xff) * 0x100000001b3;
  }
  std::string Digits() const { return absl::StrFormat("%016x", state_); }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

// "Name=value; Name=value": without addresses, opcodes, lengths and wide numbers.
std::string FieldsWithoutAddresses(const tables::Tables& tables, const tables::Container& container,
                                   absl::Span<const uint8_t> bytes) {
  constexpr uint16_t kNotShown =
      tables::kForced | tables::kLength | tables::kMustBeZero | tables::kMustBeOne;
  std::string text;
  size_t count = 0;
  decode::ForEachField(tables, container, bytes, [&](const decode::FieldAt& at) {
    const tables::Leaf& leaf = *at.leaf;
    if (at.cut || (leaf.flags & kNotShown) != 0 || count == kMostFields || at.width > 64 ||
        leaf.type == tables::LeafType::kAddress || leaf.type == tables::LeafType::kOffset) {
      return;
    }
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    if (raw == 0) return;
    const decode::Value value = decode::DecodeValue(tables, leaf, at.width, raw);
    const absl::string_view name = tables.ValueName(leaf, decode::NumberOf(value, raw));
    if (name.empty() && at.width > kWidestNumber) return;
    absl::StrAppend(&text, count++ == 0 ? "" : "; ");
    decode::AppendFieldName(at.name, text);
    absl::StrAppend(&text, "=");
    if (!name.empty()) {
      absl::StrAppend(&text, name);
    } else if (value.kind == decode::ValueKind::kReal) {
      absl::StrAppendFormat(&text, "%.9g", value.real);
    } else if (value.kind == decode::ValueKind::kSigned) {
      absl::StrAppend(&text, value.signed_value);
    } else {
      absl::StrAppend(&text, value.unsigned_value);
    }
  });
  return text;
}

// Of the packets that set the state of the last draw or dispatch, and of the kinds of memory that
// they point to.
std::string StateHash(const tables::Tables& tables, const Dump& dump,
                      const hang::EngineReport& engine) {
  if (!engine.work) return "";
  Hash hash;
  const auto add_packet = [&](uint64_t address) {
    uint8_t bytes[kMostBytes];
    const size_t size =
        dump.memory.Copy(engine.work->space, address, absl::MakeSpan(bytes, kMostBytes));
    if (size < 4) return;
    const uint32_t first = uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                           uint32_t{bytes[3]} << 24;
    const uint32_t packet = tables.FindPacket(0, hang::EngineMask(tables, engine.name), first, 4);
    if (packet == tables::kNone) return;
    const tables::Container& container = tables.container(packet);
    const absl::Span<const uint8_t> whole(bytes, size);
    const uint64_t length = std::min<uint64_t>(size, decode::LengthOf(tables, container, whole));
    hash.Add(FieldsWithoutAddresses(tables, container, whole.first(length)));
  };
  if (engine.work->container != nullptr) {
    hash.Add(tables.string(engine.work->container->name));
    hash.Add(FieldsWithoutAddresses(tables, *engine.work->container, engine.work->bytes));
  }
  for (const hang::Bound& bound : engine.bound) {
    hash.Add(bound.packet);
    add_packet(bound.address);
    for (const hang::Reached& reached : bound.reached) {
      hash.Add(reached.name);
      hash.Add(reached.about);
    }
  }
  return hash.Digits();
}

// The class of an engine, as the description calls it: "render" of "rcs0".
std::string ClassOf(const tables::Tables& tables, const std::string& name) {
  const uint32_t engine = tables.FindEngine(name);
  if (engine != tables::kNone) return std::string(tables.string(tables.engines()[engine].name));
  return std::string(absl::string_view(name).substr(0, name.find_first_of("0123456789")));
}

const hang::EngineReport* BlamedOf(const hang::HangReport& report) {
  for (const hang::EngineReport& engine : report.engines) {
    if (engine.hung) return &engine;
  }
  return report.engines.empty() ? nullptr : &report.engines.front();
}

}  // namespace

absl::StatusOr<FieldSet> FieldsNamed(absl::string_view names) {
  FieldSet set = 0;
  for (const absl::string_view piece : absl::StrSplit(names, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(piece);
    size_t i = 0;
    while (i < kSignatureFields.size() && kSignatureFields[i].name != name) ++i;
    if (i == kSignatureFields.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", name, "\" is not a field of a signature; these are: ",
          absl::StrJoin(kSignatureFields, ", ", [](std::string* out, const SignatureField& field) {
            absl::StrAppend(out, field.name);
          })));
    }
    set |= FieldSet{1} << i;
  }
  return set;
}

Signature Only(const Signature& signature, FieldSet fields) {
  Signature only;
  for (size_t i = 0; i < kSignatureFields.size(); ++i) {
    if ((fields >> i & 1) == 0) continue;
    only.*kSignatureFields[i].member = signature.*kSignatureFields[i].member;
  }
  return only;
}

std::string KeyOf(const Signature& signature, FieldSet fields) {
  std::string key;
  for (size_t i = 0; i < kSignatureFields.size(); ++i) {
    if ((fields >> i & 1) == 0) continue;
    const std::string& value = signature.*kSignatureFields[i].member;
    // With lengths, so that no value can look like the next one's name.
    absl::StrAppend(&key, kSignatureFields[i].name, " ", value.size(), " ", value, "\n");
  }
  return key;
}

std::string IdOf(const Signature& signature, FieldSet fields) {
  Hash hash;
  hash.Add(KeyOf(signature, fields));
  return hash.Digits();
}

std::string VerdictOf(const hang::HangReport& report) {
  if (!report.verdicts.empty()) return std::string(NameOf(report.verdicts.front().kind));
  if (const hang::EngineReport* const engine = BlamedOf(report); engine != nullptr) {
    if (engine->in_ring) return "in-ring";
    if (engine->where && engine->where->mapped) return "in-batch";
    if (engine->where) return "outside-memory";
  }
  for (const hang::Context& context : report.contexts) {
    if (context.state == hang::JobState::kRuns) return "not-ended";
  }
  for (const hang::Context& context : report.contexts) {
    if (context.state == hang::JobState::kEnded) return "ended";
  }
  return "";
}

std::string ReasonOf(absl::string_view title) {
  // What follows a dash are numbers: "Timedout job - seqno=…", "CTB is dead - 0x7".
  title = title.substr(0, title.find(" - "));
  absl::string_view first;
  for (absl::string_view piece : absl::StrSplit(title, ", ")) {
    piece = absl::StripAsciiWhitespace(piece);
    // i915 says itself what it saw.
    if (absl::ConsumePrefix(&piece, "reason: ")) {
      first = piece;
      break;
    }
    const bool differs = absl::StartsWith(piece, "in ") || absl::StrContains(piece, '=') ||
                         absl::StartsWith(piece, "ecode");
    if (first.empty() && !differs) first = piece;
  }
  // "Hang on rcs0" names an engine, which is a field of its own; codes are hexadecimal.
  std::vector<absl::string_view> words;
  for (absl::string_view word : absl::StrSplit(first, ' ', absl::SkipEmpty())) {
    if (word == "ecode") break;
    if (absl::StartsWith(word, "[") || absl::StrContains(word, "0x")) continue;
    words.push_back(word.substr(0, word.find_first_of("0123456789")));
    if (words.back().empty()) words.pop_back();
  }
  return std::string(absl::StripSuffix(absl::StrJoin(words, " "), ":"));
}

std::string EcodeOf(absl::string_view title) {
  constexpr absl::string_view kWord = "ecode ";
  const size_t at = title.find(kWord);
  if (at == absl::string_view::npos) return "";
  const absl::string_view rest = title.substr(at + kWord.size());
  return std::string(rest.substr(0, rest.find_first_of(", ")));
}

int64_t SecondsOf(absl::string_view time) {
  time = absl::StripAsciiWhitespace(time);
  int64_t seconds = 0;
  const absl::string_view digits = time.substr(0, time.find_first_not_of("0123456789"));
  return absl::SimpleAtoi(digits, &seconds) ? seconds : 0;
}

Signature MakeSignature(const tables::Tables& tables, const Dump& dump,
                        const hang::HangReport& report) {
  Signature signature;
  signature.generation = std::string(tables.generation());
  signature.reason = ReasonOf(report.reason);
  signature.verdict = VerdictOf(report);
  signature.kernel = report.kernel.substr(0, report.kernel.find(' '));
  signature.firmware = report.versions.guc;
  const hang::EngineReport* const engine = BlamedOf(report);
  if (engine == nullptr) {
    if (!report.contexts.empty()) {
      signature.engine = ClassOf(tables, report.contexts.front().said.engine);
    }
    return signature;
  }
  signature.engine = ClassOf(tables, engine->name);
  // The command with IPEHR's header was executed; the one at ACTHD may only have been fetched.
  const std::optional<size_t> at = engine->header ? engine->header : engine->active;
  if (at && *at < engine->commands.size() && (engine->header || engine->header_name.empty())) {
    const hang::Command& command = engine->commands[*at];
    if (command.container != nullptr) {
      signature.command = std::string(tables.string(command.container->name));
      signature.fields = FieldsWithoutAddresses(tables, *command.container, command.bytes);
    }
  } else {
    signature.command = engine->header_name;
  }
  signature.state_hash = StateHash(tables, dump, *engine);
  return signature;
}

}  // namespace packsmith::triage
