#include "tools/commands/decode.h"

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/aub/play.h"
#include "runtime/base/progress.h"
#include "runtime/base/same_file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/rings.h"
#include "tools/commands/bug_report.h"
#include "tools/commands/command.h"
#include "tools/commands/dump_groups.h"
#include "tools/commands/hang.h"
#include "tools/commands/plan.h"
#include "tools/commands/simulate.h"
#include "tools/contexts.h"
#include "tools/convert.h"
#include "tools/descriptions.h"
#include "tools/inputs.h"
#include "tools/program_source.h"
#include "tools/redact.h"
#include "tools/wanted_names.h"

namespace packsmith::commands {
namespace {

// Replaces directories by the dumps in them.
absl::StatusOr<FoundDumps> Files(const std::vector<std::string>& given) {
  FoundDumps files;
  for (const std::string& path : given) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
      files.paths.push_back(path);
      continue;
    }
    absl::StatusOr<FoundDumps> found = FindDumps(path);
    if (!found.ok()) return found.status();
    files.paths.insert(files.paths.end(), found->paths.begin(), found->paths.end());
    files.problems.insert(files.problems.end(), found->problems.begin(), found->problems.end());
    files.others.insert(files.others.end(), found->others.begin(), found->others.end());
    files.remarks.insert(found->remarks.begin(), found->remarks.end());
  }
  return files;
}

}  // namespace

using tools::Then;

int Decode(const Arguments& arguments) {
  const absl::StatusOr<Plan> plan = PlanOf(arguments);
  if (!plan.ok()) return Refuse(plan.status().message());
  const ShowProgress progress("unpack", "records");
  const absl::StatusOr<FoundDumps> found = Files(arguments.files);
  if (!found.ok()) {
    Complain(found.status().message());
    return kNotDecoded;
  }
  // A description of the user's own, or a generation that was asked for, applies to all inputs.
  std::vector<tools::Described> own;
  if (arguments.own() != 0) {
    own.push_back(ReadOwn(arguments));
    if (!own[0].tables.ok()) {
      Complain(own[0].tables.status().message());
      return kNotDecoded;
    }
    if (!arguments.generation.empty() && !IsCalled(*own[0].tables, arguments.generation)) {
      return Refuse(absl::StrCat("--gen=", arguments.generation, " and a description of ",
                                 own[0].tables->generation(), " do not go together"));
    }
  } else if (!arguments.generation.empty()) {
    const absl::Status known = FindGeneration(arguments.generation).status();
    if (!known.ok()) {
      return Refuse(absl::StrCat("--gen: ", known.message()));
    }
  }
  std::vector<std::string> read_files = ReadFiles(arguments, found->paths, own);
  read_files.insert(read_files.end(), found->others.begin(), found->others.end());
  if (absl::Status refused = RefuseToOverwrite(OutputName(arguments), read_files); !refused.ok()) {
    return Refuse(refused.message());
  }

  // What is redacted once stays in memory, where it takes little.
  tools::Inputs inputs(found->paths, plan->raw, Complain,
                       arguments.redact ? tools::Keep::kAll : tools::Keep::kSome);
  tools::Redactor redactor;
  // The index of a folder has command lines and names of processes.
  if (!arguments.redact) inputs.SetRemarks(found->remarks);
  for (const std::string& problem : found->problems) inputs.Fail(problem);
  std::set<std::string> noted;
  const DescribeDump describe = [&](Dump& dump, const std::string& path,
                                    const std::optional<tools::Gpu>& before) {
    // A dump that does not name its GPU is assumed to be of the same GPU as the dump before it.
    const bool as_before = before && arguments.generation.empty() && !tools::NamesGpu(dump.device);
    std::string note;
    absl::StatusOr<tables::Tables> found = !own.empty() ? own[0].tables
                                           : as_before
                                               ? before->tables
                                               : tools::TablesOf(arguments.generation, dump, note);
    // Inputs are read several times.
    if (!note.empty() && noted.insert(path).second) {
      Complain(absl::StrCat("note: ", path == "-" ? "<stdin>" : path, ": ", note));
    }
    if (found.ok()) {
      aub::Play(*found, dump, {.images = arguments.contexts || arguments.page_tables});
      hang::AddRings(*found, dump);
      if (arguments.redact) redactor.Redact(*found, dump);
    } else {
      Complain(absl::StrCat(path == "-" ? "<stdin>" : path, ": ", found.status().message()));
    }
    return found;
  };

  // Names that are in no input are reported before anything is written.
  tools::WantedNames wanted(plan->filter.names, arguments.engine, arguments.stream,
                            arguments.questions.Fields());
  // The option that applies to bare batches only, if no input can be one.
  absl::string_view of_bare = !arguments.engine.empty()   ? "--engine"
                              : !arguments.stream.empty() ? "--stream"
                              : plan->raw.address != 0    ? "--address=A"
                                                          : "";
  if (!wanted.all_found() || !of_bare.empty()) {
    std::optional<tools::Gpu> gpu;
    inputs.ForEach(true, [&](Dump& dump, const std::string& path) {
      const absl::StatusOr<tables::Tables> tables = describe(dump, path, gpu);
      if (!tables.ok()) return Then::kRefuse;
      gpu = tools::Gpu{*tables, dump.device};
      wanted.Look(*tables, dump);
      if (!tools::SaysWhatItIs(dump)) of_bare = "";
      return wanted.all_found() && of_bare.empty() ? Then::kStop : Then::kGoOn;
    });
    if (gpu && !wanted.all_found()) {
      return Refuse(wanted.status().message());
    }
    if (gpu && !of_bare.empty()) {
      return Refuse(absl::StrCat(of_bare, " is for bare batches; the input describes its batches"));
    }
  }

  std::optional<tools::Gpu> before;
  const auto tables_of = [&](Dump& dump, const std::string& path) {
    absl::StatusOr<tables::Tables> tables = describe(dump, path, before);
    if (tables.ok()) before = tools::Gpu{*tables, dump.device};
    return tables;
  };
  const bool program = tools::IsProgramFormat(arguments.format);
  if (program || !arguments.convert.empty()) {
    const std::string& format = program ? arguments.format : arguments.convert;
    if (found->paths.size() > 1 && format != "aub") {
      return Refuse(absl::StrCat(program ? "--format=" : "--convert=", format,
                                 " takes one dump; only --convert=aub can hold several"));
    }
    bool complete = true;
    const absl::Status converted = tools::Convert(
        inputs, {format, arguments.output, arguments.data}, tables_of, Complain, complete);
    if (!converted.ok()) Complain(converted.message());
    return converted.ok() && complete ? kGood : kNotDecoded;
  }

  if (arguments.contexts || arguments.page_tables) {
    const tools::ContextsResult shown = arguments.page_tables
                                            ? tools::ShowPageTables(inputs, tables_of, Complain)
                                            : tools::ShowContexts(inputs, tables_of, Complain);
    return Write(arguments, shown.text) && shown.complete ? kGood : kNotDecoded;
  }

  const absl::StatusOr<std::vector<hang::Event>> events = ReadEvents(arguments);
  if (!events.ok()) {
    Complain(events.status().message());
    return kNotDecoded;
  }
  if (arguments.hang) return ShowHangs(arguments, *events, inputs, describe);
  if (arguments.run) return Simulate(arguments, inputs, describe);
  if (arguments.format == "markdown") {
    return WriteBugReport(arguments, *plan, *events, inputs, describe);
  }
  return DecodeGroups(arguments, *plan, read_files, *events, inputs, describe);
}

}  // namespace packsmith::commands
