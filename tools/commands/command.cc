#include "tools/commands/command.h"

#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/progress.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/text_sink.h"
#include "tools/commands/formats.h"

namespace packsmith::commands {
void Complain(absl::string_view text) {
  HideProgress();
  // Errors in a description take several lines.
  std::string lines = "unpack: ";
  for (const absl::string_view line :
       absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), '\n')) {
    absl::StrAppend(&lines, decode::Harmless(line), "\n");
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

int Refuse(absl::string_view text) {
  Complain(text);
  return kWrongUsage;
}

absl::StatusOr<std::unique_ptr<tools::CliOutput>> Open(const Arguments& arguments) {
  const bool pager = !arguments.no_pager && FactsOf(arguments.format).paged;
  return tools::OpenOutput({arguments.output, pager, [] { std::_Exit(kGood); }});
}

bool Write(const Arguments& arguments, absl::string_view text) {
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = Open(arguments);
  absl::Status status = output.status();
  if (status.ok()) {
    (*output)->Append(text);
    status = (*output)->Finish();
  }
  if (!status.ok()) Complain(status.message());
  return status.ok();
}

tools::Described ReadOwn(const Arguments& arguments) {
  return arguments.xml.empty() ? tools::ReadTables(arguments.tables[0])
                               : tools::ReadXml(arguments.xml[0]);
}

std::vector<std::string> ReadFiles(const Arguments& arguments, std::vector<std::string> dumps,
                                   absl::Span<const tools::Described> own) {
  for (const std::vector<std::string>* more : {&arguments.xml, &arguments.tables}) {
    dumps.insert(dumps.end(), more->begin(), more->end());
  }
  for (const tools::Described& one : own) {
    dumps.insert(dumps.end(), one.inputs.begin(), one.inputs.end());
  }
  return dumps;
}

std::string OutputName(const Arguments& arguments) {
  return arguments.output.empty() ? "-" : arguments.output;
}

}  // namespace packsmith::commands
