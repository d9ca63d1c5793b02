#include "runtime/base/program/completions.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace packsmith::tools {
namespace {

using Kind = ProgramOption::Kind;
using Value = ProgramOption::Value;

// "unpack diff" is a subcommand, of unpack.
bool IsVerb(const ProgramFacts& program) { return absl::StrContains(program.name, ' '); }
std::string OwnerOf(const ProgramFacts& program) {
  return program.name.substr(0, program.name.find(' '));
}
std::string VerbOf(const ProgramFacts& program) {
  return program.name.substr(program.name.find(' ') + 1);
}

// The name of a shell's function: "_unpack_diff".
std::string Function(absl::string_view program) {
  return absl::StrCat("_", absl::StrReplaceAll(program, {{" ", "_"}, {"-", "_"}}));
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The beginning of a description: one clause.
std::string Brief(absl::string_view about) {
  constexpr size_t kMost = 70;
  about = about.substr(0, std::min({about.find(';'), about.find(". "), about.find(" (")}));
  if (about.size() > kMost) about = about.substr(0, about.rfind(' ', kMost));
  return std::string(about);
}

std::string Names(const std::vector<Verb>& verbs) {
  return absl::StrJoin(verbs, " ",
                       [](std::string* out, const Verb& verb) { out->append(verb.name); });
}

// Bash takes = for the end of a word: "--format=te" is three words.
std::string Bash(const ProgramFacts& program) {
  std::string cases, words;
  for (const ProgramOption& option : program.options) {
    for (const std::string& name : option.names) {
      const bool is_long = absl::StartsWith(name, "--");
      absl::StrAppend(&words, words.empty() ? "" : " ", name);
      if (is_long && option.value == Value::kRequired) absl::StrAppend(&words, "=");
    }
    if (option.value == Value::kNone) continue;
    std::string answer = "COMPREPLY=()";
    if (!option.choices.empty()) {
      answer = absl::StrCat("mapfile -t COMPREPLY < <(compgen -W ",
                            Quoted(absl::StrJoin(option.choices, " ")), " -- \"$value\")");
    } else if (option.kind == Kind::kFolder) {
      answer =
          "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$value\")";
    } else if (option.kind == Kind::kFile) {
      answer =
          "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$value\")";
    }
    absl::StrAppend(&cases, "    ", absl::StrJoin(option.names, " | "), ") ", answer,
                    "; return ;;\n");
  }
  std::string verbs_first, verbs_word;
  if (!program.verbs.empty()) {
    for (const Verb& verb : program.verbs) {
      absl::StrAppend(&verbs_first, "      ", verb.name, ") ",
                      Function(absl::StrCat(program.name, " ", verb.name)), "; return ;;\n");
    }
    verbs_first = absl::StrCat("  if ((COMP_CWORD > 1)); then\n    case ${COMP_WORDS[1]} in\n",
                               verbs_first, "    esac\n  fi\n");
    verbs_word = absl::StrCat(
        "  if ((COMP_CWORD == 1)); then\n    mapfile -t -O ${#COMPREPLY[@]} "
        "COMPREPLY < <(compgen -W ",
        Quoted(Names(program.verbs)), " -- \"$value\")\n  fi\n");
  }
  const std::string function = Function(program.name);
  std::string text = absl::StrCat(
      function, "() {\n  local option= value=${COMP_WORDS[COMP_CWORD]} at\n", verbs_first,
      // What follows -- belongs to another program.
      "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
      "    if [[ ${COMP_WORDS[at]} == -- ]]; then\n"
      "      compopt -o filenames 2>/dev/null\n"
      "      mapfile -t COMPREPLY < <(compgen -c -f -- \"$value\")\n      return\n    fi\n  done\n"
      "  if [[ $value == = ]]; then\n    option=${COMP_WORDS[COMP_CWORD-1]} value=\n"
      "  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then\n"
      "    option=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  elif [[ $value != -* ]]; then\n    option=${COMP_WORDS[COMP_CWORD-1]}\n  fi\n"
      "  case $option in\n",
      cases,
      "  esac\n"
      "  if [[ $value == -* ]]; then\n    mapfile -t COMPREPLY < <(compgen -W ",
      Quoted(words),
      " -- \"$value\")\n"
      "    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then\n"
      "      compopt -o nospace 2>/dev/null\n    fi\n    return\n  fi\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  mapfile -t COMPREPLY < <(compgen -f -- \"$value\")\n",
      verbs_word, "}\n");
  if (!IsVerb(program)) absl::StrAppend(&text, "complete -F ", function, " ", program.name, "\n");
  return text;
}

std::string Zsh(const ProgramFacts& program) {
  // In descriptions and values these characters have a meaning.
  const auto escaped = [](absl::string_view text) {
    return absl::StrReplaceAll(
        text, {{"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"(", "\\("}, {")", "\\)"}});
  };
  const std::string function = Function(program.name);
  // A completer that finds something returns 0: otherwise zsh asks the user's next completer, too,
  // which may take "tri" for a misspelt file.
  std::string text = absl::StrCat(function, "() {\n  local ret=1\n");
  if (!program.verbs.empty()) {
    absl::StrAppend(&text, "  if (( CURRENT > 2 )); then\n    case $words[2] in\n");
    for (const Verb& verb : program.verbs) {
      absl::StrAppend(&text, "      ", verb.name, ") shift words; (( CURRENT-- )); ",
                      Function(absl::StrCat(program.name, " ", verb.name)), "; return ;;\n");
    }
    absl::StrAppend(&text, "    esac\n  elif [[ $words[2] != -* ]]; then\n    local -a verbs=(");
    for (const Verb& verb : program.verbs) {
      // Only the first colon has a meaning here.
      absl::StrAppend(&text, " ", Quoted(absl::StrCat(verb.name, ":", verb.about)));
    }
    absl::StrAppend(&text, " )\n    _describe command verbs && ret=0\n  fi\n");
  }
  absl::StrAppend(&text, "  _arguments -S");
  for (const ProgramOption& option : program.options) {
    for (const std::string& name : option.names) {
      const bool is_long = absl::StartsWith(name, "--");
      std::string spec = absl::StrCat("*", name);
      if (option.value == Value::kRequired) absl::StrAppend(&spec, is_long ? "=" : "+");
      if (option.value == Value::kOptional) absl::StrAppend(&spec, is_long ? "=-" : "-");
      absl::StrAppend(&spec, "[", escaped(Brief(option.about)), "]");
      if (option.value != Value::kNone) {
        const std::string action = !option.choices.empty()
                                       ? absl::StrCat("(", absl::StrJoin(option.choices, " "), ")")
                                   : option.kind == Kind::kFile   ? "_files"
                                   : option.kind == Kind::kFolder ? "_files -/"
                                                                  : " ";
        absl::StrAppend(&spec, option.value == Value::kOptional ? "::" : ":",
                        escaped(option.value_name.empty() ? "value" : option.value_name), ":",
                        action);
      }
      absl::StrAppend(&text, " \\\n    ", Quoted(spec));
    }
  }
  absl::StrAppend(&text, " \\\n    '*:file:_files' && ret=0\n  return ret\n}\n");
  // Loaded by name the first time, the file is the function's body.
  if (!IsVerb(program)) absl::StrAppend(&text, function, " \"$@\"\n");
  return text;
}

std::string Fish(const ProgramFacts& program) {
  const std::string owner = OwnerOf(program);
  std::string condition;
  if (IsVerb(program)) {
    condition = absl::StrCat(" -n ", Quoted("__fish_seen_subcommand_from " + VerbOf(program)));
  } else if (!program.verbs.empty()) {
    condition =
        absl::StrCat(" -n ", Quoted("not __fish_seen_subcommand_from " + Names(program.verbs)));
  }
  std::string text;
  for (const Verb& verb : program.verbs) {
    absl::StrAppend(&text, "complete -c ", owner, " -n __fish_is_first_token -a ", verb.name,
                    " -d ", Quoted(verb.about), "\n");
  }
  for (const ProgramOption& option : program.options) {
    absl::StrAppend(&text, "complete -c ", owner, condition);
    for (const std::string& name : option.names) {
      absl::string_view bare = name;
      const bool is_long = absl::ConsumePrefix(&bare, "--");
      if (!is_long) bare.remove_prefix(1);
      absl::StrAppend(&text, is_long ? " -l " : " -s ", bare);
    }
    if (option.value == Value::kRequired) {
      absl::StrAppend(&text, option.kind == Kind::kAny ? " -x" : " -r");
    }
    if (!option.choices.empty()) {
      absl::StrAppend(&text, " -a ", Quoted(absl::StrJoin(option.choices, " ")));
    } else if (option.kind == Kind::kFolder) {
      absl::StrAppend(&text, " -a '(__fish_complete_directories)'");
    }
    if (const std::string brief = Brief(option.about); !brief.empty()) {
      absl::StrAppend(&text, " -d ", Quoted(brief));
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace

std::vector<std::string> Shells() { return {"bash", "zsh", "fish"}; }

std::string BeginCompletions(const std::string& shell, const ProgramFacts& program) {
  if (IsVerb(program)) return "";
  const std::string about = absl::StrCat("Completes ", program.name, "'s command line; made by ",
                                         program.name, " --completions=", shell, ".\n");
  return absl::StrCat(shell == "zsh" ? absl::StrCat("#compdef ", program.name, "\n") : "", "# ",
                      about);
}

std::string Completions(const std::string& shell, const ProgramFacts& program) {
  if (shell == "bash") return Bash(program);
  return shell == "zsh" ? Zsh(program) : Fish(program);
}

}  // namespace packsmith::tools
