// packgen: XML in, IR and decode tables out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gen/model/load.h"
#include "gen/model/write/ir.h"
#include "gen/model/write/tables.h"
#include "runtime/base/file.h"
#include "runtime/base/program/program.h"
#include "runtime/base/same_file.h"

namespace {

using packsmith::model::LoadResult;

// 0 good, 1 the XML has errors or an output could not be written, 2 wrong usage.
constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;

constexpr const char* kHelp =
    R"(packgen reads XML descriptions of packets, checks them, and writes inputs of code generators.

Examples:
  packgen mygpu.xml                       only checks
  packgen --tables=mygpu.tables mygpu.xml
                                          decode tables, for unpack --tables
  packgen --ir=out/ --depfile=out/ a.xml b.xml
                                          one file for each description, in a folder

packgen [options] FILE...     FILE is an XML description; with several, outputs must be folders: names
                              that end in /

What is read:
  --path=FOLDER         folder to search for files that descriptions extend or include; may be given
                        several times
  --list-inputs         print the files that were read
  --no-warnings         show errors only

What is written:
  --ir=FILE             the resolved description as JSON, for packrender
  --tables=FILE         decode tables, for unpack --tables and the runtime
  --depfile=FILE        the inputs as a rule of make
  --list-outputs        print the files that this call would write, and exit
  -h, --help            this text
  --version             the version

Exit code: 0 good; 1 a description has errors, or an output could not be written; 2 wrong usage.
)";

void Complain(absl::string_view text) {
  std::fprintf(stderr, "packgen: %.*s\n", static_cast<int>(text.size()), text.data());
}

// A path as make reads it: spaces, # and $ are escaped.
std::string MakeEscaped(const std::string& path) {
  return absl::StrReplaceAll(path, {{" ", "\\ "}, {"#", "\\#"}, {"$", "$$"}});
}

// Reads files, and searches folders: a file that `extends` or `include` names, and that is not next
// to the file that names it, is looked for in each folder.
class SearchPath {
 public:
  explicit SearchPath(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  absl::StatusOr<std::string> Read(const std::string& path) {
    absl::StatusOr<std::string> text = packsmith::model::ReadFileFromDisk(path);
    // Which end of the path the description gave is not known here: the longest one that exists is
    // taken.
    for (size_t at = 0; !text.ok() && at < path.size(); ++at) {
      if (at != 0 && path[at - 1] != '/') continue;
      for (const std::string& folder : folders_) {
        const std::string found = absl::StrCat(folder, "/", path.substr(at));
        absl::StatusOr<std::string> there = packsmith::model::ReadFileFromDisk(found);
        if (!there.ok()) continue;
        found_.emplace_back(path, found);
        return there;
      }
    }
    return text;
  }

  // `text` with the paths where files were found.
  std::string Named(absl::string_view text) const { return absl::StrReplaceAll(text, found_); }

 private:
  std::vector<std::string> folders_;
  std::vector<std::pair<std::string, std::string>> found_;
};

// The options of one call.
struct Arguments {
  std::vector<std::string> inputs, folders;
  std::string ir, tables, depfile;  // empty: not written
  bool list_outputs = false, list_inputs = false, quiet = false;
};

bool IsFolder(const std::string& output) { return !output.empty() && output.back() == '/'; }

// A file in the folder `output` is named after the description that it comes from.
std::string OutputName(const std::string& output, const std::string& input,
                       absl::string_view ending) {
  if (!IsFolder(output)) return output;
  const size_t begin = input.rfind('/') + 1;  // 0 if there is none
  const size_t dot = input.rfind('.');
  const size_t end = dot == std::string::npos || dot <= begin ? input.size() : dot;
  return absl::StrCat(output, input.substr(begin, end - begin), ending);
}

// The outputs of one description; those that are not written are empty.
struct Outputs {
  Outputs(const Arguments& arguments, const std::string& input)
      : ir(OutputName(arguments.ir, input, ".json")),
        tables(OutputName(arguments.tables, input, ".tables")),
        depfile(OutputName(arguments.depfile, input, ".d")) {}

  std::string ir, tables, depfile;
};

// What is wrong with the options; empty if nothing is.
std::string Misuse(const Arguments& arguments) {
  if (arguments.inputs.empty()) return "no description was given; packgen --help says more";
  if (!arguments.depfile.empty() && arguments.ir.empty() && arguments.tables.empty()) {
    return "--depfile needs --ir or --tables";
  }
  if (arguments.inputs.size() > 1) {
    for (const std::string& output : {arguments.ir, arguments.tables, arguments.depfile}) {
      if (!output.empty() && !IsFolder(output)) {
        return absl::StrCat("several descriptions cannot be written to one file, \"", output,
                            "\": give a folder, with a / at its end");
      }
    }
  }
  std::set<std::string> names;
  for (const std::string& input : arguments.inputs) {
    const Outputs outputs(arguments, input);
    for (const std::string& output : {outputs.ir, outputs.tables, outputs.depfile}) {
      if (!output.empty() && !names.insert(output).second) {
        return absl::StrCat("\"", output, "\" would be written twice");
      }
    }
  }
  return "";
}

// Files that appear all together or not at all, unless the last step of one of them fails.
class Files {
 public:
  absl::Status Add(const std::string& path, absl::string_view bytes) {
    absl::StatusOr<packsmith::FileWriter> writer = packsmith::FileWriter::Create(path);
    if (!writer.ok()) return writer.status();
    const absl::Status status = writer->Append(bytes);
    if (status.ok()) writers_.push_back(*std::move(writer));
    return status;
  }

  absl::Status Commit() {
    for (packsmith::FileWriter& writer : writers_) {
      const absl::Status status = writer.Commit();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<packsmith::FileWriter> writers_;
};

// `outputs` as a rule of make.
std::string Rule(const Outputs& outputs, const std::vector<std::string>& inputs) {
  std::string rule;
  for (const std::string& output : {outputs.ir, outputs.tables}) {
    if (!output.empty()) absl::StrAppend(&rule, rule.empty() ? "" : " ", MakeEscaped(output));
  }
  absl::StrAppend(&rule, ":");
  for (const std::string& path : inputs) absl::StrAppend(&rule, " ", MakeEscaped(path));
  absl::StrAppend(&rule, "\n");
  return rule;
}

class Generator {
 public:
  explicit Generator(const Arguments& arguments)
      : arguments_(arguments), search_(arguments.folders) {}

  // The exit code.
  int Run() {
    absl::Status status;
    for (const std::string& input : arguments_.inputs) {
      LoadResult result = loader_.Load(input);
      Report(input, result);
      read_.insert(read_.end(), result.model.inputs.begin(), result.model.inputs.end());
      // After an error nothing is written, but the errors of the other descriptions are reported,
      // too.
      if (bad_ == 0 && status.ok()) status = Add(Outputs(arguments_, input), result);
    }
    if (bad_ != 0) return kBadInput;
    if (const absl::Status refused = CheckOutputs(); !refused.ok()) {
      std::fprintf(stderr, "packgen: %s\n", std::string(refused.message()).c_str());
      return kWrongUsage;
    }
    if (status.ok()) status = files_.Commit();
    if (!status.ok()) {
      std::fprintf(stderr, "packgen: %s\n", std::string(status.message()).c_str());
      return kBadInput;
    }
    return 0;
  }

 private:
  // Descriptions are not overwritten, nor those that they extend or include.
  absl::Status CheckOutputs() const {
    for (const std::string& input : arguments_.inputs) {
      const Outputs outputs(arguments_, input);
      for (const std::string& output : {outputs.ir, outputs.tables, outputs.depfile}) {
        if (output.empty()) continue;
        absl::Status refused = packsmith::RefuseToOverwrite(output, read_);
        if (!refused.ok()) return refused;
      }
    }
    return absl::OkStatus();
  }

  void Report(const std::string& input, LoadResult& result) {
    for (const packsmith::model::Diagnostic& d : result.diagnostics.all()) {
      if (arguments_.quiet && !packsmith::model::IsError(d.code)) continue;
      const std::string text = search_.Named(packsmith::model::Format(d, result.sources));
      // A problem of a file is reported once, not for each description that extends it.
      if (reported_.insert(text).second) std::fputs(text.c_str(), stderr);
    }
    if (result.diagnostics.not_stored() != 0) {
      std::fprintf(stderr, "packgen: %zu more problems\n", result.diagnostics.not_stored());
    }
    for (std::string& path : result.model.inputs) {
      path = search_.Named(path);
      if (arguments_.list_inputs && listed_.insert(path).second) {
        std::printf("%s\n", path.c_str());
      }
    }
    if (result.diagnostics.has_errors()) {
      ++bad_;
      std::fprintf(stderr, "packgen: %zu error%s in %s, nothing was written\n",
                   result.diagnostics.errors(), result.diagnostics.errors() == 1 ? "" : "s",
                   input.c_str());
    }
  }

  absl::Status Add(const Outputs& outputs, const LoadResult& result) {
    absl::Status status;
    if (!outputs.ir.empty()) {
      status = files_.Add(outputs.ir, packsmith::model::WriteIr(result.model, result.sources));
    }
    if (status.ok() && !outputs.tables.empty()) {
      const std::vector<uint64_t> block = packsmith::model::WriteTables(result.model);
      status = files_.Add(outputs.tables, {reinterpret_cast<const char*>(block.data()),
                                           block.size() * sizeof(block[0])});
    }
    if (status.ok() && !outputs.depfile.empty()) {
      status = files_.Add(outputs.depfile, Rule(outputs, result.model.inputs));
    }
    return status;
  }

  const Arguments& arguments_;
  SearchPath search_;
  packsmith::model::Loader loader_{[this](const std::string& path) { return search_.Read(path); }};
  Files files_;
  std::set<std::string> reported_, listed_;
  std::vector<std::string> read_;  // all files
  int bad_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("", "packgen");
  app.set_help_flag();
  Arguments arguments;
  app.add_option("FILE", arguments.inputs);
  app.add_option("--path", arguments.folders)->allow_extra_args(false);
  app.add_option("--ir", arguments.ir);
  app.add_option("--tables", arguments.tables);
  app.add_option("--depfile", arguments.depfile);
  app.add_flag("--list-outputs", arguments.list_outputs);
  app.add_flag("--list-inputs", arguments.list_inputs);
  app.add_flag("--no-warnings", arguments.quiet);
  if (const std::optional<int> done = packsmith::tools::ParseCommandLine(
          app, {.name = "packgen", .help = kHelp}, argc, argv, Complain)) {
    return *done;
  }
  const std::string misuse = Misuse(arguments);
  if (!misuse.empty()) {
    Complain(misuse);
    return kWrongUsage;
  }
  if (arguments.list_outputs) {
    for (const std::string& input : arguments.inputs) {
      const Outputs outputs(arguments, input);
      for (const std::string& output : {outputs.ir, outputs.tables, outputs.depfile}) {
        if (!output.empty()) std::printf("%s\n", output.c_str());
      }
    }
    return 0;
  }
  return Generator(arguments).Run();
}
