#include "tools/combinations.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith::tools {
namespace {

using Names = std::initializer_list<absl::string_view>;

// --describe and --list read descriptions, not a dump.
constexpr Names kOfDescriptions = {"--describe", "--list",   "--gen",   "--xml",     "--tables",
                                   "--format",   "--output", "--color", "--no-pager"};
// --hang shows the report, and no batches.
constexpr Names kOfReports = {"--hang",     "--dmesg",     "--device", "--gen",    "--xml",
                              "--tables",   "--input",     "--format", "--output", "--color",
                              "--no-pager", "--max-input", "--redact"};
// --ecode reads a line, not a dump.
constexpr Names kOfCodes = {"--ecode", "--gen", "--output", "--no-pager"};

// --run executes batches; records are not decoded.
constexpr Names kOfRuns = {
    "--run",       "--draw",      "--draw-vertices", "--dispatch",   "--until",     "--watch",
    "--registers", "--gen",       "--engine",        "--address",    "--stream",    "--xml",
    "--tables",    "--input",     "--format",        "--output",     "--hide-zero", "--color",
    "--no-pager",  "--max-input", "--max-commands",  "--max-seconds"};
// Of --run alone.
constexpr Names kOfRunsAlone = {"--until",         "--watch",        "--registers",
                                "--draw-vertices", "--max-commands", "--max-seconds"};

// --contexts shows registers, and no batches.
constexpr Names kOfContexts = {"--contexts", "--gen",    "--xml",      "--tables",
                               "--input",    "--output", "--no-pager", "--max-input"};

// --page-tables shows what contexts map, and no batches.
constexpr Names kOfPageTables = {"--page-tables", "--gen",    "--xml",      "--tables",
                                 "--input",       "--output", "--no-pager", "--max-input"};

// --convert writes a dump, and shows nothing.
constexpr Names kOfConversions = {"--convert", "--gen",       "--engine", "--address",
                                  "--stream",  "--xml",       "--tables", "--input",
                                  "--output",  "--max-input", "--redact"};

// --format=markdown is a page, whose content is chosen by what is in the dump.
constexpr Names kOfPages = {"--format",      "--draw",         "--dispatch",         "--dmesg",
                            "--gen",         "--engine",       "--address",          "--stream",
                            "--input",       "--xml",          "--tables",           "--output",
                            "--no-pager",    "--fail-on",      "--redact",           "--max-input",
                            "--max-packets", "--max-structs",  "--max-code",         "--max-stores",
                            "--max-calls",   "--max-pointers", "--continue-past-end"};
// --redact shows nothing of these: programs and what they do, and the kernel's log as it is.
constexpr Names kNotRedacted = {"--kernels", "--disassembler", "--dmesg"};

// --format=cpp and --format=c write a program, and show nothing.
constexpr Names kOfPrograms = {"--format",  "--data",   "--gen",      "--engine",
                               "--address", "--stream", "--xml",      "--tables",
                               "--input",   "--output", "--max-input"};

// The options that ask for one draw or dispatch, or for a list instead of records.
constexpr Names kOfDraws = {"--draw", "--dispatch", "--draws", "--payloads", "--uses", "--query"};
// Options that a list would ignore.
constexpr Names kOfRecords = {"--filter", "--hide-zero", "--no-offsets",
                              "--strict", "--kernels",   "--disassembler"};

bool Has(Names names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::Status CheckCombinations(absl::Span<const std::string> given, absl::string_view format,
                               absl::string_view follow) {
  const auto is_given = [&](absl::string_view name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  // Only the options that a mode takes are listed: all others, new ones too, apply to batches.
  const auto only = [&](absl::string_view mode, absl::string_view about,
                        Names allowed) -> absl::Status {
    for (const std::string& name : given) {
      if (Has(allowed, name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(mode, " and ", name, " do not go together: ", mode, " shows ", about,
                       "; it takes only ", absl::StrJoin(allowed, ", ")));
    }
    return absl::OkStatus();
  };
  if (format == "markdown") {
    absl::Status status = only("--format=markdown", "what a bug report needs", kOfPages);
    if (!status.ok()) return status;
  }
  for (const absl::string_view option : kNotRedacted) {
    if (!is_given("--redact") || !is_given(option)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--redact and ", option, " do not go together: --redact removes what ", option,
                     option == "--dmesg" ? " reads" : " shows"));
  }
  for (const absl::string_view mode : {"--describe", "--list"}) {
    if (is_given(mode)) return only(mode, "descriptions, not a dump", kOfDescriptions);
  }
  if (is_given("--ecode")) return only("--ecode", "a code, not a dump", kOfCodes);
  if (is_given("--hang")) {
    absl::Status status = only("--hang", "only the report", kOfReports);
    if (!status.ok()) return status;
  }
  if (is_given("--run")) {
    absl::Status status = only("--run", "what is executed", kOfRuns);
    if (!status.ok()) return status;
  }
  for (const absl::string_view option : kOfRunsAlone) {
    if (!is_given(option) || is_given("--run")) continue;
    return absl::InvalidArgumentError(absl::StrCat(option, " is for --run"));
  }
  if (is_given("--draw-vertices") && !is_given("--draw")) {
    return absl::InvalidArgumentError("--draw-vertices is for --run --draw=N");
  }
  if (is_given("--run") && is_given("--hide-zero") && !is_given("--draw") &&
      !is_given("--dispatch")) {
    return absl::InvalidArgumentError(
        "--run and --hide-zero do not go together, except with --draw=N or --dispatch=N: only the "
        "state of a draw has fields");
  }
  if (is_given("--contexts")) {
    absl::Status status = only("--contexts", "only context images", kOfContexts);
    if (!status.ok()) return status;
  }
  if (is_given("--page-tables")) {
    absl::Status status = only("--page-tables", "only page tables", kOfPageTables);
    if (!status.ok()) return status;
  }

  if (is_given("--convert")) {
    absl::Status status = only("--convert", "nothing, and writes a dump", kOfConversions);
    if (!status.ok()) return status;
    if (!is_given("--output")) {
      return absl::InvalidArgumentError("--convert needs --output=FILE, the file to write");
    }
  }

  if (format == "cpp" || format == "c") {
    const std::string mode = absl::StrCat("--format=", format);
    absl::Status status = only(mode, "nothing, and writes a program", kOfPrograms);
    if (!status.ok()) return status;
  } else if (is_given("--data")) {
    return absl::InvalidArgumentError("--data is for --format=cpp and --format=c");
  }

  if (is_given("--where") && !is_given("--query")) {
    for (const absl::string_view other : kOfDraws) {
      if (!is_given(other)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--where and ", other, " do not go together: --where is for --query"));
    }
  }
  if (is_given("--changes") && !is_given("--query") && !is_given("--where")) {
    return absl::InvalidArgumentError("--changes is for --query");
  }
  if (format == "csv" && !is_given("--query") && !is_given("--where")) {
    return absl::InvalidArgumentError("--format=csv is for --query");
  }
  for (const absl::string_view one : kOfDraws) {
    for (const absl::string_view other : kOfDraws) {
      if (one == other || !is_given(one) || !is_given(other)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          one, " and ", other, " do not go together: give one of ", absl::StrJoin(kOfDraws, ", ")));
    }
  }
  for (const absl::string_view list : {"--draws", "--payloads", "--uses", "--query", "--where"}) {
    for (const absl::string_view other : kOfRecords) {
      if (!is_given(list) || !is_given(other)) continue;
      return absl::InvalidArgumentError(absl::StrCat(list, " and ", other,
                                                     " do not go together: ", list,
                                                     " prints a list, ", other, " is for records"));
    }
  }

  struct Rule {
    absl::string_view option;
    Names formats;
  };
  static constexpr Rule kRules[] = {
      {"--hide-zero", {"text"}},
      {"--no-offsets", {"text", "names"}},
      {"--disassembler", {"text"}},
      {"--draws", {"text", "jsonl"}},
      {"--payloads", {"text", "jsonl"}},
      {"--uses", {"text", "jsonl"}},
      {"--run", {"text", "jsonl"}},
      {"--query", {"text", "jsonl", "csv"}},
      {"--where", {"text", "jsonl", "csv"}},
  };
  for (const Rule& rule : kRules) {
    if (!is_given(rule.option) || Has(rule.formats, format)) continue;
    return absl::InvalidArgumentError(absl::StrCat(rule.option, " and --format=", format,
                                                   " do not go together: ", rule.option, " is for ",
                                                   absl::StrJoin(rule.formats, " and ")));
  }
  for (const absl::string_view option : {"--kernels", "--disassembler"}) {
    if (!is_given(option) || follow == "all") continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option, " and --follow=", follow,
                     " do not go together: programs are found by following all pointers"));
  }
  for (const absl::string_view option : {"--draws", "--payloads", "--uses", "--query", "--where"}) {
    if (!is_given(option) || follow == "all") continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option, " and --follow=", follow,
                     " do not go together: the state of draws is found by following all pointers"));
  }
  return absl::OkStatus();
}

}  // namespace packsmith::tools
