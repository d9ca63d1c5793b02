#include "runtime/base/program/options.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/command_line.h"

namespace packsmith::tools {
namespace {

struct Described {
  std::string value, about;
};

// By name: "--output" of "-o, --output=FILE", "-D" of "-D NAME=VALUE".
std::map<std::string, Described> DescribedOptions(const HelpText& help) {
  std::map<std::string, Described> all;
  for (const HelpSection& section : help.sections) {
    for (const HelpEntry& entry : section.entries) {
      if (!absl::StartsWith(entry.left, "-")) continue;
      for (const absl::string_view one : absl::StrSplit(entry.left, ", ")) {
        const size_t end = std::min(one.find_first_of("=[ "), one.size());
        absl::string_view value = one.substr(end);
        if (absl::ConsumePrefix(&value, "[=")) value = absl::StripSuffix(value, "]");
        if (!value.empty() && (value[0] == '=' || value[0] == ' ')) value.remove_prefix(1);
        all[std::string(one.substr(0, end))] = {std::string(value), entry.right};
      }
    }
  }
  return all;
}

ProgramOption::Kind KindOf(absl::string_view value) {
  const absl::string_view word = value.substr(0, value.find_first_of(",.[ "));
  if (word == "FILE") return ProgramOption::Kind::kFile;
  if (word == "DIR" || word == "FOLDER") return ProgramOption::Kind::kFolder;
  return ProgramOption::Kind::kAny;
}

}  // namespace

std::vector<ProgramOption> OptionsOf(CLI::App& app, const HelpText& help) {
  const std::map<std::string, Described> described = DescribedOptions(help);
  std::vector<ProgramOption> options;
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_group().empty()) continue;
    ProgramOption one;
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    if (one.names.empty()) continue;
    if (option->get_items_expected_max() != 0) {
      one.value = option->get_items_expected_min() == 0 ? ProgramOption::Value::kOptional
                                                        : ProgramOption::Value::kRequired;
    }
    for (const std::string& name : one.names) {
      const auto found = described.find(name);
      if (found == described.end()) continue;
      if (one.value_name.empty()) one.value_name = found->second.value;
      if (one.about.empty()) one.about = found->second.about;
    }
    one.kind = KindOf(one.value_name);
    one.choices = ChoicesOf(*option);
    options.push_back(std::move(one));
  }
  return options;
}

std::vector<std::string> Disagreements(const std::vector<ProgramOption>& options,
                                       const HelpText& help) {
  std::map<std::string, Described> described = DescribedOptions(help);
  std::vector<std::string> sentences;
  for (const ProgramOption& option : options) {
    for (const std::string& name : option.names) {
      const auto found = described.find(name);
      if (found == described.end()) {
        sentences.push_back(absl::StrCat(name, " is an option, and --help does not have it"));
        continue;
      }
      const bool with_value = option.value != ProgramOption::Value::kNone;
      if (!found->second.value.empty() && !with_value) {
        sentences.push_back(absl::StrCat(name, " has a value in --help, and takes none"));
      }
      described.erase(found);
    }
    if (option.value != ProgramOption::Value::kNone && option.value_name.empty()) {
      sentences.push_back(absl::StrCat(option.names.back(), " takes a value that --help lacks"));
    }
  }
  for (const auto& [name, about] : described) {
    sentences.push_back(absl::StrCat(name, " is in --help, and is not an option"));
  }
  return sentences;
}

}  // namespace packsmith::tools
