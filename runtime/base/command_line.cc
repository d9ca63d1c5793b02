#include "runtime/base/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/base/closest.h"

namespace packsmith::tools {
namespace {

// Names the check of OneOf(), whose description is the list of choices, one a line.
constexpr const char* kOneOf = "one of";

std::vector<std::string> LongNames(const CLI::App& app, bool only_given) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    if (only_given && option->count() == 0) continue;
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> names) {
  const std::string list = absl::StrJoin(names, "\n");
  return CLI::Validator(
      [names = std::move(names)](const std::string& value) -> std::string {
        if (std::find(names.begin(), names.end(), value) != names.end()) return "";
        Closest closest(value);
        for (const std::string& name : names) closest.Offer(name);
        return absl::StrCat("\"", value, "\" must be one of ", absl::StrJoin(names, ", "),
                            DidYouMean(closest));
      },
      list, kOneOf);
}

std::vector<std::string> ChoicesOf(CLI::Option& option) {
  try {
    return absl::StrSplit(option.get_validator(kOneOf)->get_description(), '\n');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& argument : app.remaining()) {
      if (!absl::StartsWith(argument, "-")) continue;
      const std::string name = argument.substr(0, argument.find('='));
      Closest closest(name);
      for (const std::string& known : LongNames(app, false)) closest.Offer(known);
      return absl::StrCat("there is no option ", name, DidYouMean(closest));
    }
  }
  return error.what();
}

std::vector<std::string> GivenOptions(const CLI::App& app) { return LongNames(app, true); }

}  // namespace packsmith::tools
