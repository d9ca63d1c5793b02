#include "runtime/compare/report.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::compare {
namespace {

using decode::Harmless;

constexpr absl::string_view kRed = "\033[31m", kGreen = "\033[32m", kYellow = "\033[33m",
                            kBold = "\033[1m", kPlain = "\033[0m";

// "#12 0x1000, draw 3".
std::string WhereText(const std::optional<Where>& place) {
  if (!place) return "";
  const Where& where = *place;
  std::string text;
  if (where.number != 0) absl::StrAppend(&text, "#", where.number, " ");
  absl::StrAppendFormat(&text, "0x%x", where.address);
  if (where.draw != 0) absl::StrAppend(&text, ", draw ", where.draw);
  if (where.dispatch != 0) absl::StrAppend(&text, ", dispatch ", where.dispatch);
  return text;
}

std::string NameOf(const Change& change) {
  std::string name = absl::StrJoin(change.path, " > ");
  if (!change.field.empty()) absl::StrAppend(&name, name.empty() ? "" : " > ", change.field);
  return Harmless(name);
}

class TextReport {
 public:
  TextReport(const ReportOptions& options, decode::Output& output)
      : options_(options), output_(output) {}

  void Write(const Comparison& comparison) {
    if (comparison.differences.empty()) return;
    if (options_.side_by_side != 0) {
      Columns(kBold, ' ', Harmless(options_.a), Harmless(options_.b));
    } else {
      Line(kBold, absl::StrCat("--- ", Harmless(options_.a)));
      Line(kBold, absl::StrCat("+++ ", Harmless(options_.b)));
    }
    for (const Difference& difference : comparison.differences) {
      Heading(difference);
      if (options_.side_by_side != 0) {
        Beside(difference);
      } else {
        Below(difference);
      }
    }
    const Counts& counts = comparison.counts;
    std::string summary =
        absl::StrCat("\n", counts.changed, " changed, ", counts.removed, " removed, ", counts.added,
                     " added, ", counts.same, " the same");
    if (comparison.repeated != 0) {
      absl::StrAppend(&summary, "; ", comparison.repeated,
                      comparison.repeated == 1 ? " more pointer" : " more pointers",
                      " to memory that was shown");
    }
    Line("", summary);
  }

 private:
  void Line(absl::string_view color, absl::string_view text) {
    output_.Append(options_.color && !color.empty() ? absl::StrCat(color, text, kPlain, "\n")
                                                    : absl::StrCat(text, "\n"));
  }

  // Where the next differences are, if that has changed.
  void Heading(const Difference& difference) {
    std::string heading = difference.of == Of::kRegister ? "registers" : "hang";
    if (difference.of == Of::kPacket) {
      const std::optional<Where>&a = difference.a, &b = difference.b;
      heading = absl::StrCat("submission ", (a ? a : b)->submission);
      if (a && b && a->submission != b->submission) {
        absl::StrAppend(&heading, ", ", b->submission);
      }
      if (!difference.engine.empty()) absl::StrAppend(&heading, ", ", Harmless(difference.engine));
    }
    if (heading == heading_) return;
    heading_ = heading;
    Line(kBold, absl::StrCat("\n", heading));
  }

  void Below(const Difference& difference) {
    const bool changed = difference.kind == Kind::kChanged;
    const bool removed = difference.kind == Kind::kRemoved;
    std::string title = absl::StrCat(changed   ? "~ "
                                     : removed ? "- "
                                               : "+ ",
                                     Harmless(difference.name));
    if (difference.of == Of::kFact) {
      const Change& fact = difference.changes.front();
      if (changed) {
        absl::StrAppend(&title, "  ", Harmless(*fact.a), " -> ", Harmless(*fact.b));
      } else {
        absl::StrAppend(&title, "  ", Harmless(fact.a ? *fact.a : *fact.b));
      }
      Line(changed ? kYellow : removed ? kRed : kGreen, title);
      return;
    }
    const std::string a = WhereText(difference.a), b = WhereText(difference.b);
    if (!a.empty() || !b.empty()) absl::StrAppend(&title, "  ", a.empty() ? b : a);
    if (!a.empty() && !b.empty() && a != b) absl::StrAppend(&title, " | ", b);
    Line(changed ? kYellow : removed ? kRed : kGreen, title);
    for (const Change& change : difference.changes) {
      const std::string name = NameOf(change);
      if (!changed) {
        Line("", absl::StrCat("    ", name, "  ", Harmless(change.a ? *change.a : *change.b)));
      } else if (change.field.empty()) {
        Line("", absl::StrCat("    ", name, change.a ? "  removed, was at " : "  added, at ",
                              change.a ? *change.a : *change.b));
      } else {
        Line("", absl::StrCat("    ", name, "  ", Value(change.a, kRed), " -> ",
                              Value(change.b, kGreen)));
      }
    }
  }

  std::string Value(const std::optional<std::string>& value, absl::string_view color) const {
    const std::string text = value ? Harmless(*value) : "(none)";
    return options_.color ? absl::StrCat(color, text, kPlain) : text;
  }

  void Beside(const Difference& difference) {
    const char mark = difference.kind == Kind::kChanged   ? '|'
                      : difference.kind == Kind::kRemoved ? '<'
                                                          : '>';
    const absl::string_view color = mark == '|' ? kYellow : mark == '<' ? kRed : kGreen;
    const auto title = [&](bool there, const std::optional<Where>& where) {
      if (!there) return std::string();
      const std::string at = WhereText(where);
      return absl::StrCat(Harmless(difference.name), at.empty() ? "" : "  ", at);
    };
    if (difference.of != Of::kFact) {
      Columns(color, mark, title(difference.kind != Kind::kAdded, difference.a),
              title(difference.kind != Kind::kRemoved, difference.b));
    }
    for (const Change& change : difference.changes) {
      const std::string name = NameOf(change);
      const auto text = [&](const std::optional<std::string>& value) {
        if (!value) return std::string();
        return absl::StrCat("  ", name, change.field.empty() ? " at " : " = ", Harmless(*value));
      };
      Columns("", mark, text(change.a), text(change.b));
    }
  }

  // Takes the text of one line of a column from the beginning of `rest`.
  static std::string Take(std::string& rest, size_t width) {
    size_t columns = 0, bytes = 0;
    while (bytes < rest.size() && columns < width) {
      bytes += FirstCodePoint(absl::string_view(rest).substr(bytes)).bytes;
      ++columns;
    }
    std::string line = rest.substr(0, bytes) + std::string(width - columns, ' ');
    rest.erase(0, bytes);
    // The rest is indented.
    if (!rest.empty()) rest.insert(0, "      ");
    return line;
  }

  void Columns(absl::string_view color, char mark, std::string a, std::string b) {
    const size_t width = (std::max<size_t>(options_.side_by_side, 40) - 3) / 2;
    do {
      std::string line = Take(a, width);
      absl::StrAppend(&line, " ", std::string(1, mark), " ", Take(b, width));
      line.erase(line.find_last_not_of(' ') + 1);
      Line(color, line);
    } while (!a.empty() || !b.empty());
  }

  const ReportOptions& options_;
  decode::Output& output_;
  std::string heading_;
};

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void String(Writer& json, absl::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void WhereJson(Writer& json, const char* key, const std::optional<Where>& where) {
  if (!where) return;
  json.Key(key);
  json.StartObject();
  json.Key("submission");
  json.Uint(where->submission);
  if (where->number != 0) {
    json.Key("number");
    json.Uint64(where->number);
  }
  json.Key("space");
  json.Uint(where->space);
  json.Key("address");
  String(json, absl::StrFormat("0x%x", where->address));
  if (where->draw != 0) {
    json.Key("draw");
    json.Uint64(where->draw);
  }
  if (where->dispatch != 0) {
    json.Key("dispatch");
    json.Uint64(where->dispatch);
  }
  json.EndObject();
}

void ChangeJson(Writer& json, const Change& change) {
  json.StartObject();
  if (!change.path.empty()) {
    json.Key("path");
    json.StartArray();
    for (const std::string& name : change.path) String(json, name);
    json.EndArray();
  }
  if (change.field.empty()) {
    json.Key("record");
    json.String(change.a ? "removed" : "added");
  } else {
    json.Key("field");
    String(json, change.field);
  }
  if (change.a) {
    json.Key("a");
    String(json, *change.a);
  }
  if (change.b) {
    json.Key("b");
    String(json, *change.b);
  }
  json.EndObject();
}

// Writes what `write` adds to one object, as a line.
template <class Write>
void JsonLine(decode::Output& output, const Write& write) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  write(json);
  json.EndObject();
  output.Append(JsonWithHiddenEscaped(std::string(buffer.GetString(), buffer.GetSize())) + "\n");
}

}  // namespace

void WriteText(const Comparison& comparison, const ReportOptions& options, decode::Output& output) {
  TextReport(options, output).Write(comparison);
}

void WriteJsonLines(const Comparison& comparison, const ReportOptions& options,
                    decode::Output& output) {
  for (const Difference& difference : comparison.differences) {
    JsonLine(output, [&](Writer& json) {
      json.Key("type");
      json.String(difference.kind == Kind::kChanged   ? "changed"
                  : difference.kind == Kind::kRemoved ? "removed"
                                                      : "added");
      json.Key("of");
      json.String(difference.of == Of::kRegister ? "register"
                  : difference.of == Of::kFact   ? "fact"
                                                 : "packet");
      json.Key("name");
      String(json, difference.name);
      if (!difference.engine.empty()) {
        json.Key("engine");
        String(json, difference.engine);
      }
      if (difference.of == Of::kFact) {
        const Change& fact = difference.changes.front();
        for (const auto& [key, value] :
             {std::make_pair("a", &fact.a), std::make_pair("b", &fact.b)}) {
          if (!*value) continue;
          json.Key(key);
          String(json, **value);
        }
        return;
      }
      WhereJson(json, "a", difference.a);
      WhereJson(json, "b", difference.b);
      json.Key(difference.kind == Kind::kChanged ? "changes" : "fields");
      json.StartArray();
      for (const Change& change : difference.changes) ChangeJson(json, change);
      json.EndArray();
    });
  }
  JsonLine(output, [&](Writer& json) {
    json.Key("type");
    json.String("summary");
    json.Key("a");
    String(json, options.a);
    json.Key("b");
    String(json, options.b);
    const Counts& counts = comparison.counts;
    for (const auto& [key, count] :
         {std::make_pair("same", counts.same), std::make_pair("changed", counts.changed),
          std::make_pair("removed", counts.removed), std::make_pair("added", counts.added),
          std::make_pair("repeated", comparison.repeated)}) {
      json.Key(key);
      json.Uint64(count);
    }
  });
}

}  // namespace packsmith::compare
