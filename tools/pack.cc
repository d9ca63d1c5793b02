// pack: makes dumps and bytes of texts about packets, the inverse of unpack.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/command_line.h"
#include "runtime/base/file.h"
#include "runtime/base/program/program.h"
#include "runtime/base/progress.h"
#include "runtime/base/same_file.h"
#include "runtime/dump/elf_core.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/expression.h"
#include "runtime/encode/json.h"
#include "runtime/encode/packed.h"
#include "runtime/encode/problems.h"
#include "runtime/generations/generations.h"
#include "tools/descriptions.h"

namespace packsmith::tools {
namespace {

constexpr int kGood = 0;
constexpr int kNotPacked = 1;
constexpr int kWrongUsage = 2;

constexpr uint64_t kMostText = uint64_t{4} << 30;

constexpr const char* kHelp =
    R"(pack makes a GPU core dump, or bytes, of a text about packets: the inverse of unpack.

Examples:
  pack batch.asm -o batch.core             the short form of batches, an assembler
  unpack --convert=asm -o batch.asm a.core; pack batch.asm -o b.core
  unpack --format=jsonl a.core | jq -c 'EDIT' | pack - -o b.core
  pack --gen=skl --format=bytes -o nop.bin - <<< 'MI_NOOP'

pack [options] FILE

FILE is in the short form, or has the records of unpack --format=jsonl: then it begins with {. - is standard
input. docs/pack.md has the grammar.

Input:
  --input=FORMAT        asm or jsonl, if detection guesses wrong
  --gen=NAME            the generation, until the text names one: gfx9, skl
  --xml=FILE            a description that is not built in, for its generation
  --tables=FILE         the same, as packgen --tables has written it
  --address=N           asm: the address of the first byte (default: 0)
  -D NAME=VALUE         asm: a symbol; a definition of it in the text is ignored
  -I FOLDER             asm: where files are searched that are not beside the one that names them
  --fields-only         jsonl: packs the fields of all records; dwords only state the size

Output:
  -o, --output=FILE     the file to write; - is standard output (default)
  --format=FORMAT       core (default), or bytes: all memory, which must be one piece
  -h, --help            this text
  --version             the version

Exit code: 0 good; 1 the text has errors, or a file could not be read or written; 2 wrong usage.
)";

// Lines of its own, without the name of the program before each of them.
void Complain(absl::string_view text) {
  const std::string line = absl::StrCat("pack: ", text, "\n");
  HideProgress();
  std::fwrite(line.data(), 1, line.size(), stderr);
}

struct Arguments {
  std::vector<std::string> files;
  std::string input, generation, xml, tables, address, output = "-", format = "core";
  std::vector<std::string> symbols, folders;
  bool fields_only = false;
};

absl::StatusOr<std::string> ReadText(const std::string& path) {
  const absl::StatusOr<FileBytes> file = OpenFile(path, kMostText);
  if (!file.ok()) return file.status();
  return std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
}

// The files that a text names.
class Includes {
 public:
  explicit Includes(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  absl::StatusOr<encode::ReadFile> Read(const std::string& path, const std::string& from) {
    namespace fs = std::filesystem;
    std::vector<fs::path> places = {fs::path(from).parent_path() / path};
    if (fs::path(path).is_relative()) {
      for (const std::string& folder : folders_) places.push_back(fs::path(folder) / path);
    }
    std::error_code ignored;
    for (const fs::path& place : places) {
      if (!fs::exists(place, ignored)) continue;
      absl::StatusOr<std::string> text = ReadText(place.string());
      if (!text.ok()) return text.status();
      read_.push_back(place.string());
      return encode::ReadFile{place.string(), *std::move(text)};
    }
    return absl::NotFoundError(
        absl::StrCat("\"", path, "\" is neither beside this file nor in a folder of -I"));
  }

  const std::vector<std::string>& read() const { return read_; }

 private:
  const std::vector<std::string> folders_;
  std::vector<std::string> read_;
};

bool IsJson(absl::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != absl::string_view::npos && text[first] == '{';
}

// "NAME=VALUE"
absl::StatusOr<std::pair<std::string, uint64_t>> SymbolOf(absl::string_view text) {
  const size_t equals = text.find('=');
  std::optional<uint64_t> value;
  if (equals == 0 || equals == absl::string_view::npos ||
      !encode::ParseInteger(text.substr(equals + 1), value) || !value) {
    return absl::InvalidArgumentError(
        absl::StrCat("-D ", text, ": NAME=VALUE is expected, with a number of up to 64 bits"));
  }
  return std::make_pair(std::string(text.substr(0, equals)), *value);
}

absl::Status Write(const Arguments& arguments, encode::Packed packed) {
  if (arguments.format == "bytes") {
    absl::StatusOr<std::vector<uint8_t>> bytes = encode::ToBytes(packed);
    if (!bytes.ok()) return bytes.status();
    return WriteFileWhole(arguments.output, absl::MakeConstSpan(*bytes));
  }
  return WriteElfCore(encode::ToDump(std::move(packed)), arguments.output);
}

int Pack(const Arguments& arguments) {
  const std::string& file = arguments.files[0];
  encode::AssemblerOptions options;
  options.generation = arguments.generation;
  for (const std::string& symbol : arguments.symbols) {
    absl::StatusOr<std::pair<std::string, uint64_t>> parsed = SymbolOf(symbol);
    if (!parsed.ok()) {
      Complain(parsed.status().message());
      return kWrongUsage;
    }
    options.symbols.push_back(*std::move(parsed));
  }
  std::optional<uint64_t> address = 0;
  if (!arguments.address.empty() &&
      (!encode::ParseInteger(arguments.address, address) || !address)) {
    Complain(absl::StrCat("--address=", arguments.address, " is not a number of up to 64 bits"));
    return kWrongUsage;
  }
  options.address = *address;

  Described own;
  const bool has_own = !arguments.xml.empty() || !arguments.tables.empty();
  if (has_own) {
    own = arguments.xml.empty() ? ReadTables(arguments.tables) : ReadXml(arguments.xml);
    if (!own.tables.ok()) {
      Complain(own.tables.status().message());
      return kNotPacked;
    }
    if (options.generation.empty()) options.generation = std::string(own.tables->generation());
  }
  const encode::FindTables find = [&](absl::string_view name) -> absl::StatusOr<tables::Tables> {
    if (has_own && IsCalled(*own.tables, name)) return *own.tables;
    return FindGeneration(name);
  };
  const ShowProgress progress("pack");
  SetProgress(absl::StrCat("reading ", file));
  const absl::StatusOr<std::string> text = ReadText(file);
  if (!text.ok()) {
    Complain(text.status().message());
    return kNotPacked;
  }
  Includes includes(arguments.folders);
  options.read_file = [&](const std::string& path, const std::string& from) {
    return includes.Read(path, from);
  };
  const encode::Source source{file == "-" ? "<stdin>" : file, *text};
  const bool is_json = arguments.input.empty() ? IsJson(*text) : arguments.input == "jsonl";
  SetProgress(absl::StrCat("packing ", file));
  absl::StatusOr<encode::Packed> packed =
      is_json ? encode::ReadJson(source, find, {arguments.fields_only, options.generation})
              : encode::Assemble(source, find, options);
  if (!packed.ok()) {
    HideProgress();
    // The messages begin with places, which editors find.
    const std::string message = absl::StrCat(packed.status().message(), "\n");
    std::fwrite(message.data(), 1, message.size(), stderr);
    return kNotPacked;
  }
  for (const std::string& remark : packed->remarks) Complain(absl::StrCat("note: ", remark));
  std::vector<std::string> inputs = includes.read();
  inputs.push_back(file);
  inputs.insert(inputs.end(), own.inputs.begin(), own.inputs.end());
  if (!arguments.tables.empty()) inputs.push_back(arguments.tables);
  if (const absl::Status refused = RefuseToOverwrite(arguments.output, inputs); !refused.ok()) {
    Complain(refused.message());
    return kWrongUsage;
  }
  SetProgress(absl::StrCat("writing ", arguments.output));
  if (arguments.output == "-" && ::isatty(STDOUT_FILENO) != 0) EndProgress();
  if (const absl::Status status = Write(arguments, *std::move(packed)); !status.ok()) {
    Complain(status.message());
    return kNotPacked;
  }
  return kGood;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("", "pack");
  app.set_help_flag();
  app.add_option("FILES", arguments.files);
  app.add_option("--input", arguments.input)->check(OneOf({"asm", "jsonl"}));
  app.add_option("--gen", arguments.generation);
  app.add_option("--xml", arguments.xml);
  app.add_option("--tables", arguments.tables);
  app.add_option("--address", arguments.address);
  app.add_option("-D", arguments.symbols)->allow_extra_args(false);
  app.add_option("-I", arguments.folders)->allow_extra_args(false);
  app.add_flag("--fields-only", arguments.fields_only);
  app.add_option("-o,--output", arguments.output);
  app.add_option("--format", arguments.format)->check(OneOf({"core", "bytes"}));
  if (const std::optional<int> done =
          ParseCommandLine(app, {.name = "pack", .help = kHelp, .descriptions = BuiltInDigest},
                           argc, argv, Complain)) {
    return *done;
  }
  if (arguments.files.size() != 1) {
    Complain("exactly one file must be given; - is standard input; pack --help says more");
    return kWrongUsage;
  }
  if (!arguments.xml.empty() && !arguments.tables.empty()) {
    Complain("only one of --xml and --tables can be given");
    return kWrongUsage;
  }
  return Pack(arguments);
}

}  // namespace
}  // namespace packsmith::tools

int main(int argc, char** argv) { return packsmith::tools::Main(argc, argv); }
