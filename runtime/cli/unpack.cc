// unpack: decodes dumps of GPU command streams.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "gen/model/tables_writer.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/jsonl_sink.h"
#include "runtime/decode/text_sink.h"
#include "runtime/dump/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"

namespace packsmith {
namespace {

constexpr int kGood = 0;
constexpr int kNotDecoded = 1;  // the input could not be read or decoded whole
constexpr int kWrongUsage = 2;

constexpr const char* kFooter = R"(Examples:
  unpack hang.core                          what the batches of a GPU core dump say
  unpack 00.core 01.core 02.core            several dumps of one run, in order: state lives on
  unpack --format=jsonl hang.core | jq .    one JSON record a line
  unpack --gen=gfx9 --engine=render --address=0x1000 batch.bin
  echo 0x7a000004 00100000 0 0 0 0 | unpack --gen=gfx9 -
  unpack --xml=mygpu.xml hang.core          with a description of your own

Input: GPU core dumps (ELF), raw batches, hex text; plain, gzip or zstd. The format is found out.
Exit code: 0 all was decoded, 1 the input could not be read or decoded whole, 2 wrong usage.)";

struct Arguments {
  std::vector<std::string> files;
  std::string generation, engine, address, stream, input_format, format = "text", follow = "all";
  std::string xml, output, color = "auto";
  bool hide_zero = false;
};

void Complain(absl::string_view text) {
  std::fprintf(stderr, "unpack: %s\n", std::string(text).c_str());
}

class StdoutOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    // A reader that has gone away (head, a pager that was left) is no error of the dump's.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) std::_Exit(kGood);
  }
};

class FileOutput : public decode::Output {
 public:
  explicit FileOutput(FileWriter writer) : writer_(std::move(writer)) {}
  void Append(absl::string_view text) override {
    if (status_.ok()) status_ = writer_.Append(text);
  }
  absl::Status Commit() { return status_.ok() ? writer_.Commit() : status_; }

 private:
  FileWriter writer_;
  absl::Status status_;
};

// Tables, and what keeps them alive.
struct Described {
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  std::vector<uint64_t> block;
};

Described Describe(const Arguments& arguments, const Dump& first) {
  Described described;
  if (!arguments.xml.empty()) {
    const model::LoadResult loaded = model::Load(arguments.xml, model::ReadFileFromDisk);
    const absl::Status status = model::ToStatus(loaded);
    if (!status.ok()) {
      described.tables = status;
      return described;
    }
    described.block = model::WriteTables(loaded.model);
    described.tables = tables::Tables::Open(
        {reinterpret_cast<const uint8_t*>(described.block.data()), described.block.size() * 8});
    return described;
  }
  const std::string& name =
      !arguments.generation.empty() ? arguments.generation : first.device.generation;
  if (name.empty()) {
    described.tables = absl::InvalidArgumentError(
        "the input does not say which GPU it is from; name it with --gen=gfx9, say");
    return described;
  }
  described.tables = FindGeneration(name);
  return described;
}

bool UseColor(const Arguments& arguments) {
  if (arguments.color != "auto") return arguments.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return arguments.output.empty() && isatty(STDOUT_FILENO) != 0 &&
         (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::string(term) != "dumb";
}

int Run(const Arguments& arguments) {
  RawOptions raw;
  raw.format = arguments.input_format;
  raw.generation = arguments.generation;
  raw.stream = arguments.stream;
  if (!arguments.engine.empty()) raw.engine = arguments.engine;
  if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    Complain(absl::StrCat("--address=", arguments.address, " is no hexadecimal number"));
    return kWrongUsage;
  }

  std::unique_ptr<decode::Output> output;
  FileOutput* file_output = nullptr;
  if (arguments.output.empty()) {
    output = std::make_unique<StdoutOutput>();
  } else {
    absl::StatusOr<FileWriter> writer = FileWriter::Create(arguments.output);
    if (!writer.ok()) {
      Complain(writer.status().message());
      return kNotDecoded;
    }
    auto owned = std::make_unique<FileOutput>(*std::move(writer));
    file_output = owned.get();
    output = std::move(owned);
  }
  std::unique_ptr<decode::Sink> sink;
  if (arguments.format == "jsonl") {
    sink = decode::MakeJsonlSink(*output);
  } else {
    sink = decode::MakeTextSink(*output, {UseColor(arguments), arguments.hide_zero});
  }

  decode::Options options;
  options.follow = arguments.follow == "none"      ? decode::Follow::kNone
                   : arguments.follow == "batches" ? decode::Follow::kBatches
                                                   : decode::Follow::kAll;
  int result = kGood;
  Described described;
  std::unique_ptr<decode::Decoder> decoder;
  for (const std::string& path : arguments.files) {
    absl::StatusOr<Dump> dump = ReadDump(path, raw);
    if (!dump.ok()) {
      Complain(dump.status().message());
      result = kNotDecoded;
      continue;
    }
    if (decoder == nullptr) {
      described = Describe(arguments, *dump);
      if (!described.tables.ok()) {
        Complain(described.tables.status().message());
        return described.tables.status().code() == absl::StatusCode::kNotFound ? kWrongUsage
                                                                               : kNotDecoded;
      }
      decoder = std::make_unique<decode::Decoder>(*described.tables, *sink, options);
    }
    decoder->Decode(*dump);
  }
  if (decoder != nullptr) {
    const decode::Summary summary = decoder->Finish();
    if (summary.problems != 0 || summary.unknown_dwords != 0) result = kNotDecoded;
  }
  if (file_output != nullptr) {
    const absl::Status status = file_output->Commit();
    if (!status.ok()) {
      Complain(status.message());
      result = kNotDecoded;
    }
  }
  return result;
}

}  // namespace
}  // namespace packsmith

int main(int argc, char** argv) {
  packsmith::Arguments arguments;
  CLI::App app("Decodes dumps of GPU command streams: packets, and the state they point to.",
               "unpack");
  app.footer(packsmith::kFooter);
  app.add_option("FILE", arguments.files, "dumps, in order; - is standard input")->required();
  app.add_option("--gen", arguments.generation,
                 "generation, where the input does not say it, or to overrule it");
  app.add_option("--engine", arguments.engine, "engine of a raw batch (default: render)");
  app.add_option("--address", arguments.address, "GPU address of a raw batch, hexadecimal");
  app.add_option("--stream", arguments.stream, "which of the generation's streams a raw batch is");
  app.add_option("--input", arguments.input_format, "elf, hex or raw (default: found out)")
      ->check(CLI::IsMember({"elf", "hex", "raw"}));
  app.add_option("--format", arguments.format, "text or jsonl")
      ->check(CLI::IsMember({"text", "jsonl"}));
  app.add_option("--follow", arguments.follow, "none, batches or all: which pointers are followed")
      ->check(CLI::IsMember({"none", "batches", "all"}));
  app.add_flag("--hide-zero", arguments.hide_zero, "text: leave out fields that are zero");
  app.add_option("--xml", arguments.xml, "decode with this description instead of a built-in one");
  app.add_option("-o,--output", arguments.output, "write to a file, which appears when complete");
  app.add_option("--color", arguments.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? packsmith::kGood : packsmith::kWrongUsage;
  }
  return packsmith::Run(arguments);
}
