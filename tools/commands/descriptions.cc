#include "tools/commands/descriptions.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/same_file.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"
#include "tools/commands/command.h"
#include "tools/describe.h"
#include "tools/descriptions.h"
#include "tools/output.h"

namespace packsmith::commands {
int ShowDescriptions(const Arguments& arguments) {
  if (!arguments.files.empty() || (arguments.list && arguments.describe)) {
    return Refuse("--describe and --list take no dump, and do not go together");
  }
  if (arguments.format != "text" && arguments.format != "jsonl") {
    return Refuse(
        absl::StrCat("--format=", arguments.format, ": descriptions must be text or jsonl"));
  }
  if (arguments.describe && arguments.describe->empty()) {
    return Refuse("--describe needs a name; --list --gen=gfx9, for example, shows all names");
  }
  absl::Span<const tables::Tables> generations = BuiltInGenerations();
  std::vector<tools::Described> described;
  std::vector<tables::Tables> own;
  for (const std::string& path : arguments.xml) described.push_back(tools::ReadXml(path));
  for (const std::string& path : arguments.tables) described.push_back(tools::ReadTables(path));
  for (const tools::Described& one : described) {
    if (!one.tables.ok()) {
      Complain(one.tables.status().message());
      return kNotDecoded;
    }
    own.push_back(*one.tables);
    generations = own;
  }
  tools::DescribeOptions options;
  options.name = arguments.describe.value_or("");
  options.jsonl = arguments.format == "jsonl";
  options.color = tools::UseColor(arguments.color, arguments.output);
  options.generation = arguments.generation;
  if (absl::Status refused =
          RefuseToOverwrite(OutputName(arguments), ReadFiles(arguments, {}, described));
      !refused.ok()) {
    return Refuse(refused.message());
  }
  decode::StringOutput text;
  absl::Status status = tools::Describe(generations, options, text);
  if (!status.ok()) {
    Complain(status.message());
    return absl::IsNotFound(status) ? kWrongUsage : kNotDecoded;
  }
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = tools::OpenOutput(
      {arguments.output, !arguments.no_pager && !options.jsonl, [] { std::_Exit(kGood); }});
  status = output.status();
  if (status.ok()) {
    (*output)->Append(text.text());
    status = (*output)->Finish();
  }
  if (status.ok()) return kGood;
  Complain(status.message());
  return kNotDecoded;
}

}  // namespace packsmith::commands
