#include "runtime/describe/sentences.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace packsmith::describe {
namespace {

// Joins pieces; what is not a name becomes part of the piece before it.
class Builder {
 public:
  template <class... Parts>
  Builder& Add(const Parts&... parts) {
    std::string text = absl::StrCat(parts...);
    if (text.empty()) return *this;
    if (!sentence_.empty() && sentence_.back().kind.empty()) {
      sentence_.back().text += text;
    } else {
      sentence_.push_back({std::move(text), ""});
    }
    return *this;
  }
  Builder& Name(absl::string_view kind, absl::string_view name) {
    sentence_.push_back({std::string(name), kind});
    return *this;
  }
  // The value of a member, where it has one.
  Builder& Value(const Json& object, const char* key, absl::string_view before,
                 absl::string_view after = "") {
    const absl::string_view value = Text(object, key);
    return value.empty() ? *this : Add(before, value, after);
  }
  Builder& If(const Json& object, const char* key = "when") { return Value(object, key, ", if "); }
  Sentence Take() { return std::move(sentence_); }

 private:
  Sentence sentence_;
};

std::vector<absl::string_view> Texts(absl::Span<const Json> all) {
  std::vector<absl::string_view> texts;
  for (const Json& one : all) {
    if (one.IsString()) texts.emplace_back(one.GetString(), one.GetStringLength());
  }
  return texts;
}

Sentence PointerSentence(const Json& pointer) {
  // The kinds of targets are those of entries, by names that outlive the document.
  const absl::string_view kind = Text(pointer, "kind");
  const absl::string_view target = kind == "stream" ? "stream" : kind == "data" ? "data" : "struct";
  Builder out;
  out.Value(pointer, "when", "if ", ": ").Add("points to ").Name(target, Text(pointer, "to"));
  if (const absl::string_view other = Text(pointer, "or"); !other.empty()) {
    out.Add(" or ").Name("struct", other);
  }
  out.Value(pointer, "count", ", ", " of them");
  out.Value(pointer, "unlimited_when", ", or any number if ");
  if (Flag(pointer, "until_zero")) out.Add(", up to an entry of zeros");
  out.Value(pointer, "size", ", ", " bytes").Value(pointer, "end", ", up to the byte at ");
  out.Value(pointer, "stride", ", ", " bytes apart").Value(pointer, "format", ", of the format ");
  out.Value(pointer, "slot", ", slot ").Value(pointer, "step", ", a row for ", " instances");
  out.Value(pointer, "stage", ", ", " stage").Value(pointer, "simd", ", SIMD ");
  out.Value(pointer, "scale", ", multiplied by ").Value(pointer, "align", ", a multiple of ");
  if (const absl::string_view base = Text(pointer, "base"); !base.empty()) {
    out.Add(", relative to the base ").Name("base", base);
  }
  if (Flag(pointer, "relative")) out.Add(", relative to the start of the structure");
  if (const absl::string_view space = Text(pointer, "space"); !space.empty()) {
    out.Add(", in the space ").Name("space", space);
  }
  out.Value(pointer, "space_when", " if ");
  if (const absl::string_view access = Text(pointer, "access"); !access.empty()) {
    out.Add(", ", access == "readwrite" ? "read and written"
                  : access == "write"   ? "written"
                                        : "read");
  }
  return out.Take();
}

Sentence ElementSentence(const Json& element) {
  Builder out;
  out.Add(Flag(element, "step") ? "instances that share a row of " : "format of an element of ");
  out.Name("data", Text(element, "of"));
  out.Value(element, "element", ", element ").Value(element, "slot", ", slot ");
  return out.Value(element, "offset", ", offset ").If(element).Take();
}

Sentence PartSentence(const Json& part) {
  const absl::string_view type = Text(part, "struct"), name = Text(part, "name");
  Builder out;
  out.Add("then ");
  if (type == name) {
    out.Name("struct", name);
  } else {
    out.Add(name, " (").Name("struct", type).Add(")");
  }
  return out.Value(part, "repeat", ", ", " times").If(part).Take();
}

Sentence FlowSentence(const Json& flow) {
  const absl::string_view kind = Text(flow, "kind"), to = Text(flow, "to");
  Builder out;
  if (kind == "jump" || kind == "call") {
    out.Add(kind == "jump" ? "jumps to " : "calls ", to);
  } else {
    out.Add(kind == "return" ? "returns from the last call"
            : kind == "end"  ? "ends the batch"
                             : "ends everything");
  }
  return out.If(flow).Value(flow, "maybe", "; if ", ", the GPU may continue instead").Take();
}

Sentence OperationSentence(const Json& operation) {
  Builder out;
  out.Add("executed: ", Text(operation, "kind"));
  for (const Json::Member& member : operation.GetObject()) {
    const absl::string_view key = member.name.GetString();
    if (key != "kind" && key != "when") out.Add(", ", key, " ", member.value.GetString());
  }
  return out.If(operation).Take();
}

// What `means` says of registers; the rest of its words are about work.
constexpr absl::string_view kMeaningsOfEngines[] = {
    "ring-head",         "ring-tail",       "active-head",  "batch-head", "header",
    "fault-address",     "fault",           "fault-global", "idle",       "idle-execution",
    "instruction-error", "current-context", "ring-start"};

absl::string_view ContainerKind(absl::string_view kind) {
  // Names that outlive the document.
  return kind == "packet" ? "packet" : kind == "struct" ? "struct" : "register";
}

// What a workaround asks for. `it`: what the reader is looking at, which the words omit.
void AddAsk(const Json& ask, bool is_at_it, Builder& out) {
  const absl::string_view kind = Text(ask, "kind"), of = Text(ask, "of"),
                          field = Text(ask, "field"), value = Text(ask, "value");
  const auto subject = [&] {
    if (is_at_it || of.empty()) {
      out.Add("this ", of.empty() ? "" : Text(ask, "of_kind"));
    } else {
      out.Name(ContainerKind(Text(ask, "of_kind")), of);
    }
  };
  if (kind == "shader" || kind == "memory") {
    out.Add(kind == "shader" ? "about the code of shaders" : "about the layout of memory");
    if (!is_at_it && !of.empty()) {
      out.Add(" and ").Name(ContainerKind(Text(ask, "of_kind")), of);
    }
    return;
  }
  if (kind == "before" || kind == "after" || kind == "around") {
    out.Name(ContainerKind(Text(ask, "with_kind")), Text(ask, "with"));
    if (!field.empty()) out.Add(" with ", field, value.empty() ? "" : " ", value);
    out.Add(kind == "before"  ? " must precede "
            : kind == "after" ? " must follow "
                              : " must precede and follow ");
    subject();
    return;
  }
  if (kind == "again" || kind == "stall") {
    subject();
    out.Add(kind == "again" ? " must be emitted again" : " needs a drained pipeline");
    return;
  }
  if (kind == "avoid") {
    if (!field.empty()) out.Add(field, " of ");
    subject();
    out.Add(" must not be used");
    if (!value.empty()) out.Add(" with ", value);
    return;
  }
  if (!field.empty()) out.Add(field, " of ");
  subject();
  out.Add(kind == "limit" ? " is limited" : " has a required value");
  if (!value.empty()) out.Add(kind == "limit" ? " to " : ": ", value);
}

// At the packet, structure or register that the workaround is about.
Sentence WorkaroundSentence(const Json& workaround) {
  Builder out;
  out.Name("workaround", Text(workaround, "name")).Add(" on ");
  out.Add(absl::StrJoin(Texts(Array(workaround, "on")), ", "), ": ");
  AddAsk(workaround, true, out);
  if (Flag(workaround, "honored")) out.Add(" (the runtime does it)");
  return out.Value(workaround, "doc", ". ").Take();
}

Sentence AskSentence(const Json& ask) {
  Builder out;
  AddAsk(ask, false, out);
  return out.Take();
}

Sentence RuleSentence(const Json& rule) {
  Builder out;
  out.Add("rule ", Text(rule, "number"), ": ");
  const absl::string_view is = Text(rule, "is"), left = Text(rule, "left");
  if (is.empty()) {
    out.Add("not ", Text(rule, "when"));
  } else {
    const absl::string_view words = is == "equal"       ? " is "
                                    : is == "different" ? " is not "
                                    : is == "below"     ? " is less than "
                                    : is == "at-most"   ? " is at most "
                                                        : " is a multiple of ";
    out.Add(left, words, Text(rule, "right")).If(rule);
  }
  return out.Value(rule, "doc", ". ").Take();
}

Sentence DrawsSentence(const Json& draws) {
  Builder out;
  out.Add("draws ").Name("data", Text(draws, "data"));
  if (const absl::string_view indices = Text(draws, "indices"); !indices.empty()) {
    out.Add(", indices ").Name("data", indices).Value(draws, "indexed", " (if ", ")");
  }
  for (const char* key : {"first", "count", "first_instance", "instances", "bias", "cuts", "cut"}) {
    out.Value(draws, key, absl::StrCat(", ", absl::StrJoin(absl::StrSplit(key, '_'), " "), " "));
  }
  return out.If(draws).Take();
}

}  // namespace

std::string PlainText(const Sentence& sentence) {
  std::string text;
  for (const Piece& piece : sentence) text += piece.text;
  return text;
}

std::vector<Sentence> FieldSentences(const Json& field) {
  std::vector<Sentence> all;
  for (const Json& pointer : Array(field, "points")) all.push_back(PointerSentence(pointer));
  for (const Json& sets : Array(field, "sets")) {
    const char* what = sets.HasMember("state") ? "state" : "base";
    Builder out;
    out.Add("sets the ", what, " ").Name(what, Text(sets, what)).If(sets);
    out.Value(sets, "size", "; of which ", " bytes are used").If(sets, "size_when");
    all.push_back(out.Take());
  }
  const auto add = [&](const char* key, absl::string_view before, const char* when = "") {
    if (Text(field, key).empty()) return;
    all.push_back(Builder().Value(field, key, before).If(field, when).Take());
  };
  add("writes_register", "is written to the register at ");
  add("writes_memory", "is written to memory at ", "writes_when");
  add("high", "the higher bits are in ");
  for (const Json& element : Array(field, "elements")) all.push_back(ElementSentence(element));
  if (const absl::string_view means = Text(field, "means"); !means.empty()) {
    const bool of_engine = std::find(std::begin(kMeaningsOfEngines), std::end(kMeaningsOfEngines),
                                     means) != std::end(kMeaningsOfEngines);
    Builder out;
    out.Add("gives the ", absl::StrJoin(absl::StrSplit(means, '-'), " "),
            of_engine ? " of an engine" : " of a draw or dispatch");
    if (const uint64_t at = Number(field, "at"); at != 0) {
      out.Add(of_engine ? ", from bit " : ", number ", at);
    }
    all.push_back(out.Take());
  }
  return all;
}

std::vector<Sentence> ContainerSentences(const Json& record) {
  std::vector<Sentence> all;
  for (const Json& part : Array(record, "parts")) all.push_back(PartSentence(part));
  if (record.HasMember("pad")) {
    Builder out;
    out.Add("then zeros up to a multiple of ", NumberText(record["pad"]), " bytes");
    all.push_back(out.If(record, "pad_when").Take());
  }
  for (const Json& variant : Array(record, "variants")) {
    Builder out;
    out.Add(SizeText(Number(variant, "bytes"), Text(record, "unit") == "byte"));
    all.push_back(out.If(variant).Take());
  }
  for (const Json& flow : Array(record, "flows")) all.push_back(FlowSentence(flow));
  for (const Json& operation : Array(record, "operations")) {
    all.push_back(OperationSentence(operation));
  }
  for (const Json& relation : Array(record, "relations")) {
    Builder out;
    out.Value(relation, "kind", "", " ").Name("packet", Text(relation, "packet"));
    all.push_back(out.Take());
  }
  for (const Json& rule : Array(record, "rules")) all.push_back(RuleSentence(rule));
  for (const Json& draws : Array(record, "draws")) all.push_back(DrawsSentence(draws));
  for (const Json& ask : Array(record, "asks")) all.push_back(AskSentence(ask));
  for (const Json& workaround : Array(record, "workarounds")) {
    all.push_back(WorkaroundSentence(workaround));
  }
  return all;
}

std::string FieldFacts(const Json& field) {
  std::vector<std::string> facts;
  const auto add = [&](absl::string_view before, absl::string_view value) {
    if (!value.empty()) facts.push_back(absl::StrCat(before, value));
  };
  const auto number = [&](absl::string_view before, const char* key) {
    if (field.HasMember(key)) facts.push_back(absl::StrCat(before, NumberText(field[key])));
  };
  add("", Text(field, "unit").empty() ? "" : absl::StrCat("[", Text(field, "unit"), "]"));
  if (const absl::string_view forced = Text(field, "forced"); !forced.empty()) {
    uint64_t value = 0;
    facts.push_back(absl::SimpleHexAtoi(forced, &value) && value < 10
                        ? absl::StrCat("always ", value)
                        : absl::StrCat("always ", forced));
  }
  if (Flag(field, "length")) facts.emplace_back("the packet's length");
  add("default ", Text(field, "default"));
  if (field.HasMember("min") && field.HasMember("max")) {
    facts.push_back(absl::StrCat(NumberText(field["min"]), " to ", NumberText(field["max"])));
  } else {
    number("at least ", "min");
    number("at most ", "max");
  }
  if (Flag(field, "clamp")) facts.emplace_back("others are clamped");
  if (Flag(field, "nonzero")) facts.emplace_back("not zero");
  if (Flag(field, "packed_nonzero")) facts.emplace_back("packing refuses zero");
  number("a multiple of ", "multiple");
  std::string stored;
  if (field.HasMember("minus")) absl::StrAppend(&stored, " minus ", NumberText(field["minus"]));
  if (const uint64_t shift = Number(field, "shift"); shift != 0 && shift < 64) {
    absl::StrAppend(&stored, stored.empty() ? "" : ",", " divided by ", uint64_t{1} << shift);
  } else if (field.HasMember("shift")) {
    stored += " whole";
  }
  if (Flag(field, "log2")) stored += " as log2";
  if (field.HasMember("groups"))
    absl::StrAppend(&stored, " in groups of ", NumberText(field["groups"]));
  if (!stored.empty()) facts.push_back(absl::StrCat("stored", stored));
  number("rounded up to ", "align");
  if (Flag(field, "overlap")) facts.emplace_back("shares its bits");
  add("if ", Text(field, "when"));
  return absl::StrJoin(facts, ", ");
}

std::string NumberText(const Json& value) {
  if (value.IsUint64()) return absl::StrCat(value.GetUint64());
  if (value.IsInt64()) return absl::StrCat(value.GetInt64());
  if (value.IsDouble()) return absl::StrCat(value.GetDouble());
  return "";
}

std::string SizeText(uint64_t bytes, bool byte_unit) {
  if (byte_unit || bytes % 4 != 0) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  return absl::StrCat(bytes / 4, bytes == 4 ? " dword" : " dwords");
}

}  // namespace packsmith::describe
