#include "runtime/base/program/manual.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/base/unicode.h"

namespace packsmith::tools {
namespace {

// Text in which roff interprets nothing.
std::string Escaped(absl::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const CodePoint next = FirstCodePoint(text);
    if (next.value == '\\') {
      absl::StrAppend(&escaped, "\\e");
    } else if (next.value == '-') {
      absl::StrAppend(&escaped, "\\-");
    } else if (next.value == '\'') {
      absl::StrAppend(&escaped, "\\(aq");
    } else if (next.value == '^' || next.value == '~' || next.value == '`') {
      absl::StrAppend(&escaped, next.value == '^'   ? "\\(ha"
                                : next.value == '~' ? "\\(ti"
                                                    : "\\(ga");
    } else if (next.value >= 0x80) {
      absl::StrAppendFormat(&escaped, "\\[u%04X]", next.value);
    } else {
      escaped += static_cast<char>(next.value);
    }
    text.remove_prefix(next.bytes);
  }
  return escaped;
}

// A line of text: one that begins with a period would be a request.
std::string Line(absl::string_view text) {
  return absl::StrCat(absl::StartsWith(text, ".") ? "\\&" : "", Escaped(text), "\n");
}

// A macro's single argument.
std::string Macro(absl::string_view macro, absl::string_view argument) {
  return absl::StrCat(".", macro, " \"",
                      absl::StrJoin(Escaped(argument), "",
                                    [](std::string* out, char c) {
                                      c == '"' ? out->append("\\(dq") : out->append(1, c);
                                    }),
                      "\"\n");
}

std::string Entry(absl::string_view left, absl::string_view right) {
  return absl::StrCat(".TP\n", Macro("B", left), right.empty() ? "\\&\n" : Line(right));
}

// What OneOf() takes, unless the text already has all of it.
std::string ChoicesLeftOut(const HelpEntry& entry, const std::vector<ProgramOption>& options) {
  for (const ProgramOption& option : options) {
    if (option.choices.empty()) continue;
    // "--format" of "--format=FORMAT", and not of "--format-long".
    const std::string& name = option.names.back();
    const size_t at = entry.left.find(name);
    if (at == std::string::npos) continue;
    const size_t end = at + name.size();
    if (end < entry.left.size() &&
        absl::ascii_isalnum(static_cast<unsigned char>(entry.left[end]))) {
      continue;
    }
    for (const std::string& choice : option.choices) {
      if (absl::StrContains(entry.right, choice)) continue;
      return absl::StrCat("; one of: ", absl::StrJoin(option.choices, ", "));
    }
  }
  return "";
}

}  // namespace

std::string ManualPage(const ProgramFacts& program) {
  const HelpText& help = program.help;
  const std::string page = PageName(program.name);
  // No date: the same sources make the same page.
  std::string text =
      absl::StrCat(".TH \"", Escaped(absl::AsciiStrToUpper(page)), "\" \"1\" \"\" \"packsmith ",
                   Escaped(program.version), "\" \"packsmith\"\n.nh\n.ad l\n.SH NAME\n",
                   Escaped(page), " \\- ", Escaped(help.summary), "\n.SH SYNOPSIS\n");
  if (help.usage.empty()) absl::StrAppend(&text, Macro("B", program.name + " [options]"));
  for (size_t i = 0; i < help.usage.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ".br\n", Macro("B", help.usage[i].left));
  }
  absl::StrAppend(&text, ".SH DESCRIPTION\n");
  for (size_t i = 0; i < help.paragraphs.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ".PP\n", Line(help.paragraphs[i]));
  }
  for (const HelpEntry& usage : help.usage) {
    if (!usage.right.empty()) absl::StrAppend(&text, Entry(usage.left, usage.right));
  }
  if (!program.verbs.empty()) {
    absl::StrAppend(&text, ".SH COMMANDS\n");
    for (const Verb& verb : program.verbs) {
      absl::StrAppend(&text, Entry(absl::StrCat(program.name, " ", verb.name),
                                   absl::StrCat(verb.about, *verb.about == '\0' ? "See " : ": see ",
                                                page, "-", verb.name, "(1).")));
    }
  }
  if (!help.sections.empty()) absl::StrAppend(&text, ".SH OPTIONS\n");
  for (const HelpSection& section : help.sections) {
    if (!section.title.empty()) absl::StrAppend(&text, Macro("SS", section.title));
    for (const HelpEntry& entry : section.entries) {
      absl::StrAppend(
          &text,
          Entry(entry.left, absl::StrCat(entry.right, ChoicesLeftOut(entry, program.options))));
    }
  }
  if (!help.exit_code.empty()) {
    absl::StrAppend(&text, ".SH \"EXIT STATUS\"\n", Line(help.exit_code));
  }
  if (!help.examples.empty()) {
    absl::StrAppend(&text, ".SH EXAMPLES\n");
    for (const HelpEntry& example : help.examples) {
      absl::StrAppend(&text, Entry(example.left, example.right));
    }
  }
  std::vector<std::string> others;
  const size_t space = program.name.find(' ');
  if (space != std::string::npos) {
    others.push_back(absl::StrCat(".BR ", Escaped(program.name.substr(0, space)), " (1)"));
  }
  for (const Verb& verb : program.verbs) {
    others.push_back(absl::StrCat(".BR ", Escaped(absl::StrCat(page, "-", verb.name)), " (1)"));
  }
  if (!others.empty()) {
    absl::StrAppend(&text, ".SH \"SEE ALSO\"\n", absl::StrJoin(others, ",\n"), "\n");
  }
  return text;
}

}  // namespace packsmith::tools
