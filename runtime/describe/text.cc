#include "runtime/describe/text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/describe/sentences.h"

namespace packsmith::describe {
namespace {

constexpr size_t kColumns = 100;
// Enumerations of more values are named at a field, not listed.
constexpr size_t kMostValues = 16;
constexpr size_t kWidestName = 44;

// The size of a whole container: "9 dwords", "4 or 5 dwords", "3 dwords and more".
std::string WholeSizeText(const Json& record) {
  const bool byte_unit = Text(record, "unit") == "byte";
  const uint64_t bytes = Number(record, "bytes");
  std::string text = SizeText(bytes, byte_unit);
  const absl::Span<const Json> variants = Array(record, "variants");
  if (!variants.empty()) {
    text = byte_unit ? absl::StrCat(bytes) : absl::StrCat(bytes / 4);
    for (const Json& variant : variants) {
      absl::StrAppend(&text, " or ",
                      &variant == &variants.back()
                          ? SizeText(Number(variant, "bytes"), byte_unit)
                          : absl::StrCat(Number(variant, "bytes") / (byte_unit ? 1 : 4)));
    }
  } else if (Flag(record, "variable")) {
    text += " and more";
  }
  return text;
}

// The number of devices that a platform has.
std::string IdsText(size_t pci, size_t chip) {
  const size_t count = pci + chip;
  return absl::StrCat(count, pci != 0 || chip == 0 ? " PCI id" : " chip id", count == 1 ? "" : "s");
}

std::string FirstSentence(absl::string_view doc) {
  const size_t end = doc.find(". ");
  return std::string(end == absl::string_view::npos ? doc : doc.substr(0, end + 1));
}

// Characters, not bytes, of UTF-8 text.
size_t Columns(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

class Printer {
 public:
  explicit Printer(bool color) : color_(color) {}

  std::string Take() { return std::move(text_); }

  // Text from a description may contain anything.
  static std::string Clean(absl::string_view text) { return decode::Harmless(text); }
  std::string Bold(absl::string_view text) const { return Styled("\x1b[1m", text); }
  std::string Dim(absl::string_view text) const { return Styled("\x1b[2m", text); }

  void Line(absl::string_view text) {
    absl::StrAppend(&text_, absl::StripTrailingAsciiWhitespace(text), "\n");
  }

  // Words in lines that fit a terminal. All lines are indented by `indent`; the first begins after
  // `first`, if given.
  void Wrapped(size_t indent, absl::string_view text, const std::string& first = "") {
    std::string line = first.empty() ? std::string(indent, ' ') : first;
    size_t column = Columns(line);
    bool begun = false;
    for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
      const std::string clean = Clean(word);
      const size_t width = Columns(clean);
      if (begun && column + 1 + width > kColumns) {
        Line(line);
        line.assign(indent, ' ');
        column = indent;
        begun = false;
      }
      if (begun) {
        line += ' ';
        ++column;
      }
      line += clean;
      column += width;
      begun = true;
    }
    Line(line);
  }

 private:
  std::string Styled(absl::string_view style, absl::string_view text) const {
    return color_ ? absl::StrCat(style, text, "\x1b[0m") : std::string(text);
  }

  bool color_;
  std::string text_;
};

std::string Padded(std::string text, size_t width) {
  const size_t columns = Columns(text);
  if (columns < width) text.append(width - columns, ' ');
  return text;
}

// --- Dword by dword ---

// A line of a layout: a field, reserved run, group, or (no item) bits that are not described.
struct Row {
  uint32_t bit;
  uint32_t width;
  const Json* item;
};

// By dword, and from the highest bit down within a dword, as in manuals.
std::vector<Row> RowsOf(absl::Span<const Json> items, uint32_t bits) {
  std::vector<Row> rows;
  std::vector<bool> described(bits);
  for (const Json& item : items) {
    const Place place = PlaceOf(item);
    rows.push_back({place.bit, place.width, &item});
    uint64_t end = uint64_t{place.bit} + place.width;
    const auto count = item.FindMember("count");
    if (count != item.MemberEnd()) {
      end = count->value.IsUint() ? place.bit + uint64_t{place.width} * count->value.GetUint()
                                  : uint64_t{bits};
    }
    for (uint64_t bit = place.bit; bit < std::min<uint64_t>(end, bits); ++bit) {
      described[bit] = true;
    }
  }
  for (uint32_t bit = 0; bit < bits;) {
    if (described[bit]) {
      ++bit;
      continue;
    }
    uint32_t end = bit;
    while (end < bits && !described[end]) ++end;
    // Whole dwords in one row, the rest of a dword in its own.
    const uint32_t rest = 32 - bit % 32;
    const uint32_t width =
        rest == 32 && end - bit >= 32 ? (end - bit) / 32 * 32 : std::min(rest, end - bit);
    rows.push_back({bit, width, nullptr});
    bit += width;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.bit / 32 != b.bit / 32 ? a.bit / 32 < b.bit / 32 : a.bit > b.bit;
  });
  return rows;
}

class Describer {
 public:
  Describer(absl::Span<const Reference> references, size_t generation, const History& history,
            const TextOptions& options)
      : references_(references),
        reference_(references[generation]),
        history_(history),
        field_(options.field),
        out_(options.color) {
    for (const Version& version : history.versions) {
      const auto& names = version.generations;
      if (std::find(names.begin(), names.end(), reference_.generation()) != names.end()) {
        version_ = &version;
      }
    }
    if (version_ == nullptr) version_ = &history.versions.back();
  }

  std::string Run() {
    const Json& record = version_->record;
    Head(record);
    if (field_.empty()) {
      Facts(record);
      Body(record);
    } else {
      OneField(record);
    }
    Changes();
    return out_.Take();
  }

 private:
  // --- The head ---

  void Head(const Json& record) {
    std::string line = out_.Bold(out_.Clean(history_.name));
    if (!field_.empty()) absl::StrAppend(&line, ".", out_.Bold(out_.Clean(field_)));
    absl::StrAppend(&line, "  ", history_.kind);
    if (history_.kind != "generation") {
      absl::StrAppend(&line, " of ", out_.Clean(reference_.generation()));
    }
    if (record.HasMember("bytes")) absl::StrAppend(&line, ", ", WholeSizeText(record));
    if (history_.kind == "register") absl::StrAppend(&line, ", at ", Text(record, "offset"));
    out_.Line(line);
    if (field_.empty()) Documentation(record, 2);
  }

  void Documentation(const Json& object, size_t indent) {
    if (const absl::string_view doc = Text(object, "doc"); !doc.empty()) out_.Wrapped(indent, doc);
    if (const absl::string_view source = Text(object, "source"); !source.empty()) {
      out_.Wrapped(indent, absl::StrCat("(", source, ")"));
    }
  }

  void Fact(absl::string_view what, absl::string_view text) {
    if (!text.empty()) out_.Wrapped(16, text, Padded(absl::StrCat("  ", what), 16));
  }

  // The generations that have what is described: the whole, or the one field.
  void Generations() {
    std::vector<absl::string_view> have;
    for (const Version& version : history_.versions) {
      const std::vector<Member> members = MembersOf(version.record);
      const auto is_asked_for = [this](const Member& member) { return member.path == field_; };
      if (field_.empty() || std::any_of(members.begin(), members.end(), is_asked_for)) {
        have.insert(have.end(), version.generations.begin(), version.generations.end());
      }
    }
    Fact("generations", GenerationsText(references_, have));
  }

  static std::string Joined(absl::Span<const Json> texts) {
    std::vector<absl::string_view> all;
    for (const Json& text : texts) {
      if (text.IsString()) all.emplace_back(text.GetString(), text.GetStringLength());
    }
    return absl::StrJoin(all, ", ");
  }

  void Facts(const Json& record) {
    Generations();
    Fact("aliases", Joined(Array(record, "aliases")));
    if (const absl::string_view opcode = Text(record, "opcode"); !opcode.empty()) {
      Fact("opcode", absl::StrCat(opcode, " in the bits ", Text(record, "opcode_mask")));
    }
    if (const absl::string_view length = Text(record, "length"); !length.empty()) {
      const bool byte_unit = Text(record, "unit") == "byte";
      const uint64_t bias = Number(record, "bias");
      Fact("length", absl::StrCat(length, ", counted in ", byte_unit ? "bytes" : "dwords",
                                  bias == 0 ? "" : absl::StrCat(" minus ", bias)));
    }
    if (const absl::string_view stream = Text(record, "stream"); !stream.empty()) {
      const std::string engines = Joined(Array(record, "engines"));
      Fact("stream", absl::StrCat(stream, engines.empty() ? "" : ", for ", engines));
    } else {
      Fact("engines", Joined(Array(record, "engines")));
    }
    Fact("role", Text(record, "role"));
    Fact("in dumps", Joined(Array(record, "dumped_as")));
    if (Flag(record, "masked")) {
      Fact("writes", "change only the bits of 15:0 whose mask bit in 31:16 is 1");
    }
    if (Flag(record, "privileged")) {
      Fact("privilege", Text(record, "kind") == "space" ? "a batch without it has no access"
                                                        : "a batch without it cannot write it");
    }
    if (const absl::string_view other = Text(record, "else"); !other.empty()) {
      Fact("until set", other == "0" ? std::string("offsets are relative to address 0")
                                     : absl::StrCat("the base ", other, " applies"));
    }
    if (record.HasMember("align")) {
      Fact("align", absl::StrCat(NumberText(record["align"]), " bytes"));
    }
    if (record.HasMember("number")) Fact("number", NumberText(record["number"]));
    Fact("values", Text(record, "of"));
    Fact("components", Text(record, "components"));
    Fact("client", Text(record, "client"));
    Fact("on", Joined(Array(record, "on")));
    Fact("done in", Joined(Array(record, "honored")));
    Fact("level", Text(record, "level"));
    Fact("flush", Text(record, "flush"));
    Fact("to memory", Text(record, "to_memory"));
    Fact("complete after", Text(record, "after"));
    Fact("invalidate", Text(record, "invalidate"));
    Fact("from memory", Text(record, "from_memory"));
    Fact("own writes", Text(record, "own"));
    if (Flag(record, "code")) Fact("is", "a program");
    for (const Json& platform : Array(record, "platforms")) {
      Fact("platform", absl::StrCat(Text(platform, "name"), ", ", Text(platform, "title"), ", ",
                                    IdsText(Array(platform, "pci_ids").size(),
                                            Array(platform, "chip_ids").size())));
    }
  }

  // --- The body ---

  void Body(const Json& record) {
    out_.Line("");
    const absl::Span<const Json> fields = Array(record, "fields");
    if (record.HasMember("bytes")) {
      uint64_t bits = Number(record, "bytes") * 8;
      bits = std::max(bits, Number(record, "max_bytes") * 8);
      Layout(fields, static_cast<uint32_t>(std::min<uint64_t>(bits, 1u << 22)), 0);
    }
    Values(Array(record, "values"), 2, SIZE_MAX);
    for (const Sentence& sentence : ContainerSentences(record)) {
      out_.Wrapped(4, PlainText(sentence), "  ");
    }
  }

  // Width of the column of names.
  static size_t NameColumn(const std::vector<Row>& rows) {
    size_t width = 0;
    for (const Row& row : rows) {
      if (row.item != nullptr) width = std::max(width, Columns(Text(*row.item, "name")));
    }
    return std::min(width, kWidestName);
  }

  void Layout(absl::Span<const Json> items, uint32_t bits, size_t indent) {
    const std::vector<Row> rows = RowsOf(items, bits);
    const size_t names = NameColumn(rows);
    uint32_t dword = ~0u;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      if (row.item != nullptr && row.item->HasMember("count")) {
        Group(*row.item, indent);
        dword = ~0u;
        continue;
      }
      // An item of less than a dword needs no heading.
      if (row.bit / 32 != dword && (indent == 0 || bits > 32)) {
        dword = row.bit / 32;
        uint32_t last = dword;
        for (size_t j = i; j < rows.size() && rows[j].bit / 32 == dword; ++j) {
          const bool group = rows[j].item != nullptr && rows[j].item->HasMember("count");
          if (!group) last = std::max(last, (rows[j].bit + rows[j].width - 1) / 32);
        }
        out_.Line(absl::StrCat(std::string(indent, ' '),
                               last == dword ? absl::StrCat("dword ", dword)
                                             : absl::StrCat("dwords ", dword, " to ", last)));
      }
      OneRow(row, names, indent);
    }
  }

  void OneRow(const Row& row, size_t names, size_t indent) {
    const uint32_t low = row.bit % 32, high = low + row.width - 1;
    const std::string bits = row.width == 1 ? absl::StrCat(low) : absl::StrCat(high, ":", low);
    std::string line = absl::StrCat(std::string(indent, ' '), absl::StrFormat("%8s  ", bits));
    const size_t below = indent + 14;
    if (row.item == nullptr) {
      out_.Line(line + out_.Dim("(not described)"));
      return;
    }
    const Json& item = *row.item;
    if (item.HasMember("must")) {
      const absl::string_view name = Text(item, "name");
      out_.Line(line + out_.Dim(absl::StrCat(
                           "reserved, must be ", Text(item, "must"),
                           name.empty() ? "" : absl::StrCat(" (", out_.Clean(name), ")"))));
      Documentation(item, below);
      return;
    }
    const std::string name = out_.Clean(Text(item, "name"));
    absl::StrAppend(&line, out_.Bold(name),
                    std::string(names - std::min(names, Columns(name)), ' '), "  ",
                    Padded(out_.Clean(Text(item, "type")), 7));
    const std::string facts = FieldFacts(item);
    if (!facts.empty()) absl::StrAppend(&line, "  ", out_.Clean(facts));
    out_.Line(line);
    Documentation(item, below);
    for (const Sentence& sentence : FieldSentences(item)) {
      out_.Wrapped(below, PlainText(sentence));
    }
    Values(Array(item, "values"), below, SIZE_MAX);
    ValuesOfType(item, below, kMostValues);
  }

  void Group(const Json& item, size_t indent) {
    const Place place = PlaceOf(item);
    const Json& count = item["count"];
    const absl::string_view name = Text(item, "name");
    std::string text = absl::StrCat("from dword ", place.bit / 32);
    if (place.bit % 32 != 0) absl::StrAppend(&text, ", bit ", place.bit % 32);
    absl::StrAppend(&text, ": ");
    if (!name.empty()) absl::StrAppend(&text, name, ", ");
    absl::StrAppend(
        &text,
        place.width % 32 == 0 ? SizeText(place.width / 8, false)
                              : absl::StrCat(place.width, " bits"),
        ", ",
        count.IsUint() ? absl::StrCat(count.GetUint(), " times") : "repeated up to the length");
    out_.Wrapped(indent, text);
    Documentation(item, indent + 4);
    Layout(Array(item, "items"), place.width, indent + 4);
  }

  void Values(absl::Span<const Json> values, size_t indent, size_t most) {
    size_t width = 0;
    for (const Json& value : values) width = std::max(width, NumberText(value["value"]).size());
    size_t shown = 0;
    for (const Json& value : values) {
      if (shown++ == most) break;
      std::string line = absl::StrCat(std::string(indent, ' '),
                                      absl::StrFormat("%*s  ", width, NumberText(value["value"])),
                                      out_.Clean(Text(value, "name")));
      if (Flag(value, "avoid")) line += "  (avoid)";
      if (const absl::string_view c = Text(value, "components"); !c.empty()) {
        absl::StrAppend(&line, "  (", out_.Clean(c), ")");
      }
      out_.Line(line);
      Documentation(value, indent + width + 4);
    }
  }

  // The values of the enumeration that the field's type is, or takes names from.
  void ValuesOfType(const Json& item, size_t indent, size_t most) {
    const absl::string_view name =
        Text(item, "of") == "enum" ? Text(item, "type") : Text(item, "names");
    const Entry* entry = name.empty() ? nullptr : reference_.Find("enum", name);
    if (entry == nullptr) return;
    const rapidjson::Document record = Parse(entry->line);
    const absl::Span<const Json> values = Array(record, "values");
    if (values.size() > most) {
      out_.Wrapped(
          indent, absl::StrCat(values.size(), " values: --describe=",
                               absl::StrContains(name, ' ') ? absl::StrCat("'", name, "'") : name));
      return;
    }
    Values(values, indent, most);
  }

  void OneField(const Json& record) {
    Generations();
    for (const Member& member : MembersOf(record)) {
      if (member.path != field_) continue;
      const Place place = PlaceOf(*member.item);
      const bool inside = absl::StrContains(member.path, "[]");
      out_.Line(absl::StrCat("  ", inside ? "in each item " : "", PlaceText(place)));
      if (member.item->HasMember("count")) {
        Group(*member.item, 2);
        continue;
      }
      const std::string facts = FieldFacts(*member.item);
      out_.Wrapped(2, absl::StrCat(Text(*member.item, "type"), facts.empty() ? "" : ", ", facts));
      Documentation(*member.item, 2);
      for (const Sentence& sentence : FieldSentences(*member.item)) {
        out_.Wrapped(2, PlainText(sentence));
      }
      Values(Array(*member.item, "values"), 4, SIZE_MAX);
      ValuesOfType(*member.item, 4, SIZE_MAX);
    }
  }

  // --- What changed ---

  bool Concerns(const Change& change) const {
    if (field_.empty()) return true;
    return change.field == field_ ||
           (change.what == "renamed" && (change.from == field_ || change.to == field_));
  }

  void Changes() {
    bool any = false;
    for (const Version& version : history_.versions) {
      if (&version == &history_.versions.front()) continue;
      std::vector<std::string> lines;
      for (const Change& change : version.changes) {
        if (Concerns(change)) lines.push_back(ChangeText(change));
      }
      if (lines.empty()) continue;
      if (!any) out_.Line("\nchanges");
      any = true;
      // For one field, the next generations of a range may have other changes.
      out_.Line(absl::StrCat("  ", field_.empty()
                                       ? GenerationsText(references_, version.generations)
                                       : std::string(version.generations[0])));
      for (const std::string& line : lines) out_.Wrapped(6, line, "    ");
    }
  }

  static std::string ChangeText(const Change& change) {
    const absl::string_view what = change.what;
    const std::string& name = change.field;
    const std::string owner = name.empty() ? "" : name + ": ";
    if (what == "added") return absl::StrCat("+ ", name, ": ", change.to);
    if (what == "removed") return absl::StrCat("- ", name, ": ", change.from);
    if (what == "renamed") return absl::StrCat("~ ", name, ": was called ", change.from);
    if (what == "moved") return absl::StrCat("~ ", name, ": from ", change.from, " to ", change.to);
    if (what == "value added") return absl::StrCat("+ ", owner, "value ", change.to);
    if (what == "value removed") return absl::StrCat("- ", owner, "value ", change.from);
    const std::string from = change.from.empty() ? "none" : change.from;
    const std::string to = change.to.empty() ? "none" : change.to;
    const std::string words = absl::StrReplaceAll(what, {{"_", " "}});
    // Texts with commas are long, and may contain a "to" themselves.
    const bool lists = absl::StrContains(from, ", ") || absl::StrContains(to, ", ");
    return lists ? absl::StrCat("~ ", owner, words, ": ", to, "; before: ", from)
                 : absl::StrCat("~ ", owner, words, " from ", from, " to ", to);
  }

  absl::Span<const Reference> references_;
  const Reference& reference_;
  const History& history_;
  const std::string& field_;
  const Version* version_ = nullptr;
  Printer out_;
};

}  // namespace

std::string DescriptionText(absl::Span<const Reference> references, size_t generation,
                            const History& history, const TextOptions& options) {
  return Describer(references, generation, history, options).Run();
}

std::string GenerationsText(absl::Span<const Reference> references,
                            absl::Span<const absl::string_view> names) {
  std::vector<size_t> have;
  for (size_t i = 0; i < references.size(); ++i) {
    if (std::find(names.begin(), names.end(), references[i].generation()) != names.end()) {
      have.push_back(i);
    }
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < have.size();) {
    size_t last = i;
    while (last + 1 < have.size() && have[last + 1] == have[last] + 1) ++last;
    if (last - i >= 2) {
      parts.push_back(absl::StrCat(references[have[i]].generation(), " to ",
                                   references[have[last]].generation()));
      i = last + 1;
    } else {
      parts.push_back(std::string(references[have[i++]].generation()));
    }
  }
  return absl::StrJoin(parts, ", ");
}

std::string ListText(absl::Span<const Reference> references, bool color) {
  Printer out(color);
  const auto line = [&](absl::string_view what, absl::string_view text) {
    if (!text.empty()) out.Wrapped(14, text, Padded(absl::StrCat("  ", what), 14));
  };
  for (const Reference& reference : references) {
    const tables::Tables& tables = reference.tables();
    out.Line(
        absl::StrCat(out.Bold(out.Clean(tables.generation())), "  ", out.Clean(tables.title())));
    line("also called",
         absl::StrJoin(absl::StrSplit(tables.aliases(), ' ', absl::SkipEmpty()), ", "));
    std::vector<std::string> engines, platforms;
    for (const tables::Engine& engine : tables.engines()) {
      const absl::string_view aliases = tables.string(engine.aliases);
      engines.push_back(
          absl::StrCat(tables.string(engine.name), aliases.empty() ? "" : " (",
                       absl::StrJoin(absl::StrSplit(aliases, ' ', absl::SkipEmpty()), ", "),
                       aliases.empty() ? "" : ")"));
    }
    for (const tables::Platform& platform : tables.platforms()) {
      platforms.push_back(
          absl::StrCat(tables.string(platform.name), " (", tables.string(platform.title), ", ",
                       IdsText(platform.pci_ids.count, platform.chip_ids.count), ")"));
    }
    line("engines", absl::StrJoin(engines, ", "));
    line("platforms", absl::StrJoin(platforms, ", "));
    std::map<absl::string_view, size_t> counts;
    for (const Entry& entry : reference.entries()) ++counts[entry.kind];
    line("described",
         absl::StrCat(counts["packet"], " packets, ", counts["struct"], " structures, ",
                      counts["register"], " registers, ", counts["enum"], " enumerations"));
  }
  return out.Take();
}

std::string NamesText(const Reference& reference, bool color) {
  constexpr struct {
    absl::string_view kind, title;
  } kKinds[] = {{"packet", "Packets"},
                {"struct", "Structures"},
                {"register", "Registers"},
                {"enum", "Enumerations"},
                {"stream", "Streams"},
                {"engine", "Engines"},
                {"data", "Data"},
                {"base", "Base addresses"},
                {"state", "States"},
                {"space", "Address spaces"},
                {"client", "Clients of memory"},
                {"workaround", "Workarounds"}};
  Printer out(color);
  for (const auto& [kind, title] : kKinds) {
    std::vector<const Entry*> entries;
    size_t width = 0;
    for (const Entry& entry : reference.entries()) {
      if (entry.kind != kind) continue;
      entries.push_back(&entry);
      width = std::max(width, Columns(entry.name));
    }
    if (entries.empty()) continue;
    std::sort(entries.begin(), entries.end(),
              [](const Entry* a, const Entry* b) { return a->name < b->name; });
    out.Line(out.Bold(title));
    for (const Entry* entry : entries) {
      const rapidjson::Document record = Parse(entry->line);
      std::string size;
      if (kind == "register") {
        size = std::string(Text(record, "offset"));
      } else if (record.HasMember("bytes")) {
        size = WholeSizeText(record);
      } else if (kind == "enum") {
        size = absl::StrCat(Array(record, "values").size(), " values");
      }
      out.Line(absl::StrCat("  ", Padded(out.Clean(entry->name), std::min(width, kWidestName)),
                            "  ", size.empty() ? "" : Padded(size, 19),
                            out.Clean(FirstSentence(Text(record, "doc")))));
    }
  }
  return out.Take();
}

}  // namespace packsmith::describe
