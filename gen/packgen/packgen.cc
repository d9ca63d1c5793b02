// packgen: XML in, IR and decode tables out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gen/model/ir.h"
#include "gen/model/load.h"
#include "gen/model/tables_writer.h"
#include "runtime/dump/file.h"

namespace {

using packsmith::model::LoadResult;

// 0 good, 1 the XML has errors or an output could not be written, 2 wrong usage.
constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;

// A path as make reads it: spaces, # and $ need marks.
std::string MakeEscaped(const std::string& path) {
  return absl::StrReplaceAll(path, {{" ", "\\ "}, {"#", "\\#"}, {"$", "$$"}});
}

// Reads files, also from folders in which descriptions of others are: what `extends` or `include`
// names and is not beside the file that names it is looked for in each of them.
class SearchPath {
 public:
  explicit SearchPath(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  absl::StatusOr<std::string> Read(const std::string& path) {
    absl::StatusOr<std::string> text = packsmith::model::ReadFileFromDisk(path);
    // Which end of the path the description wrote is not known here: the longest that exists
    // counts.
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

  // `text` with the names of files as they were found.
  std::string Named(absl::string_view text) const { return absl::StrReplaceAll(text, found_); }

 private:
  std::vector<std::string> folders_;
  std::vector<std::pair<std::string, std::string>> found_;
};

struct Output {
  std::string path;
  std::string bytes;
};

// All files or, unless the last step of one of them fails, none.
absl::Status Write(const std::vector<Output>& outputs) {
  std::vector<packsmith::FileWriter> writers;
  for (const Output& output : outputs) {
    absl::StatusOr<packsmith::FileWriter> writer = packsmith::FileWriter::Create(output.path);
    if (!writer.ok()) return writer.status();
    const absl::Status status = writer->Append(output.bytes);
    if (!status.ok()) return status;
    writers.push_back(*std::move(writer));
  }
  for (packsmith::FileWriter& writer : writers) {
    const absl::Status status = writer.Commit();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Reads an XML description of packets, checks it, and writes what code generators and "
      "decoders need. Without output options it only checks.",
      "packgen");
  std::string input, ir, tables, depfile;
  std::vector<std::string> folders;
  bool list_outputs = false, list_inputs = false, quiet = false;
  app.add_option("FILE", input, "the description, XML")->required();
  app.add_option("--path", folders,
                 "a folder to look in for files that others extend or include; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--ir", ir, "write the resolved description as JSON, for gen/render");
  app.add_option("--tables", tables, "write the decode tables, for runtime/decode");
  app.add_option("--depfile", depfile, "write the inputs as a make rule");
  app.add_flag("--list-outputs", list_outputs,
               "print the files that this call would write, and stop");
  app.add_flag("--list-inputs", list_inputs, "print the files that were read");
  app.add_flag("--no-warnings", quiet, "show errors only");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kWrongUsage;
  }

  if (!depfile.empty() && ir.empty() && tables.empty()) {
    std::fputs("packgen: --depfile is about other outputs; give --ir or --tables too\n", stderr);
    return kWrongUsage;
  }
  if (list_outputs) {
    for (const std::string& output : {ir, tables, depfile}) {
      if (!output.empty()) std::printf("%s\n", output.c_str());
    }
    return 0;
  }

  SearchPath search(folders);
  LoadResult result = packsmith::model::Load(
      input, [&search](const std::string& path) { return search.Read(path); });
  for (const packsmith::model::Diagnostic& d : result.diagnostics.all()) {
    if (quiet && !packsmith::model::IsError(d.code)) continue;
    std::fputs(search.Named(packsmith::model::Format(d, result.sources)).c_str(), stderr);
  }
  if (result.diagnostics.not_stored() != 0) {
    std::fprintf(stderr, "packgen: and %zu more problems\n", result.diagnostics.not_stored());
  }
  for (std::string& path : result.model.inputs) path = search.Named(path);
  if (list_inputs) {
    for (const std::string& path : result.model.inputs) std::printf("%s\n", path.c_str());
  }
  if (result.diagnostics.has_errors()) {
    std::fprintf(stderr, "packgen: %zu error%s in %s, nothing was written\n",
                 result.diagnostics.errors(), result.diagnostics.errors() == 1 ? "" : "s",
                 input.c_str());
    return kBadInput;
  }

  std::vector<Output> outputs;
  if (!ir.empty()) {
    outputs.push_back({ir, packsmith::model::WriteIr(result.model, result.sources)});
  }
  if (!tables.empty()) {
    const std::vector<uint64_t> block = packsmith::model::WriteTables(result.model);
    outputs.push_back({tables, std::string(reinterpret_cast<const char*>(block.data()),
                                           block.size() * sizeof(block[0]))});
  }
  if (!depfile.empty()) {
    std::string rule;
    for (const std::string& output : {ir, tables}) {
      if (!output.empty()) absl::StrAppend(&rule, rule.empty() ? "" : " ", MakeEscaped(output));
    }
    absl::StrAppend(&rule, ":");
    for (const std::string& path : result.model.inputs) {
      absl::StrAppend(&rule, " ", MakeEscaped(path));
    }
    absl::StrAppend(&rule, "\n");
    outputs.push_back({depfile, std::move(rule)});
  }
  const absl::Status status = Write(outputs);
  if (!status.ok()) {
    std::fprintf(stderr, "packgen: %s\n", std::string(status.message()).c_str());
    return kBadInput;
  }
  return 0;
}
