// unpack: decodes dumps of GPU command streams.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "gen/model/load.h"
#include "gen/model/tables_writer.h"
#include "runtime/cli/describe.h"
#include "runtime/cli/kernels.h"
#include "runtime/cli/output.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/filter_sink.h"
#include "runtime/decode/jsonl_sink.h"
#include "runtime/decode/names_sink.h"
#include "runtime/decode/overview_sink.h"
#include "runtime/decode/stats_sink.h"
#include "runtime/decode/text_sink.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/json.h"
#include "runtime/hang/report.h"
#include "runtime/hang/rings.h"
#include "runtime/hang/sink.h"
#include "runtime/hang/text.h"

namespace packsmith {
namespace {

constexpr int kGood = 0;
constexpr int kNotDecoded = 1;  // the input could not be read or decoded whole
constexpr int kWrongUsage = 2;

constexpr const char* kHelp =
    R"(unpack shows what dumps of GPU command streams say: packets, and the state that they point to.

Examples:
  unpack hang.core                            all of it, with a pager on a terminal
  unpack --hide-zero hang.core                without the fields that are zero
  unpack --draw=3 hang.core                   the third draw: its packets, its state, its vertices
  unpack --filter='3DSTATE_*S,3DPRIMITIVE' hang.core
                                              some packets (or structures), and what they lead to
  unpack --address=0x1000..0x2000 hang.core   what lies there
  unpack --format=stats *.core                how often each packet comes
  unpack --format=names --no-offsets a.core   one name a line, for diff
  unpack --format=jsonl hang.core | jq .      one JSON record a line
  unpack 00.core 01.core 02.core              several dumps of one run, in order: state lives on
  unpack error                                an error state of a hung GPU: what happened, and all
                                              that the kernel saved
  unpack --hang error                         only what happened
  unpack --gen=gfx9 --engine=render --address=0x1000 batch.bin
                                              a bare batch, and where it lay in GPU memory
  echo 69040300 05000000 | unpack --gen=gfx9 -
  unpack --xml=mygpu.xml hang.core            with a description of your own
  unpack --describe=3DSTATE_VS --gen=gfx9     what a packet looks like

unpack [options] FILE...      FILE is a dump of GPU memory, an error state, a bare batch or words of
                              hex text, plain or packed (gzip, zstd), or a directory with dumps:
                              that is found out. - is standard input.

What is shown:
  --format=FORMAT       text (default), jsonl, stats or names
  --filter=NAME,...     packets and structures with such a name (* and ?, any case), and what they
                        lead to
  --address=A..B        what lies at or above A and below B, and what it leads to
  --draw=N              the Nth draw: the packets since the one before it, and before those the last
                        of each kind
  --hang                only the report about the hang, of dumps that the kernel made of one
  --continue-past-end   batches go on behind the packet that ends them, as far as there is memory
  --follow=WHICH        none: the submission's own batch; batches: jumps and calls too; all
                        (default): every pointer
  --hide-zero           text: no fields that are zero
  --no-offsets          text, names: not where things lie, so that diff finds what differs
  --strict              bits that are set though nobody describes them; and exit code 1 if there are
                        any, or faults
  --kernels=DIR         writes each shader program that is reached to a file in DIR
  --disassembler=CMD    text: what CMD says about each of them; {} stands for a file with its code

What is read:
  --gen=NAME            generation (gfx9, skl, g13), where the input does not say it, or is wrong
  --engine=NAME         engine of a bare batch (default: render)
  --address=A           GPU address of a bare batch, in hexadecimal
  --stream=NAME         which of the generation's streams a bare batch is, or which structure
  --input=FORMAT        what the input is, where that is found out wrongly:
                        @INPUTS@
  --xml=FILE            decode with this description instead of a built-in one; for --describe and
                        --list it may be given several times, the oldest generation first
  --tables=FILE         the same with the decode tables that packgen has made of a description

What there is to decode:
  --describe=NAME       a packet, structure, register or enumeration, bit by bit, and what changed
                        from generation to generation; NAME may be NAME.FIELD, a glob, the offset of
                        a register (0x2358) or the first dword of a packet (0x78100000)
  --list                the generations; with --gen, all names of one

Where it goes:
  -o, --output=FILE     a file, which appears when it is complete
  --color=WHEN          auto (default; not with NO_COLOR or TERM=dumb), always or never
  --no-pager            not through $PAGER (default: less -R), which is asked on a terminal only
  --fail-on=WHAT,...    exit code 1 for these too: fault (any), or reserved, forced, range,
                        beyond-length, unmapped, truncated
  -h, --help            this text

Exit code: 0 all was decoded; 1 the input could not be read or decoded whole; 2 wrong usage.
)";

struct Arguments {
  std::vector<std::string> files;
  std::string generation, engine, address, stream, input_format, format = "text", follow = "all";
  std::vector<std::string> xml, tables;
  std::string output, color = "auto", kernels, disassembler;
  std::string filter, fail_on;  // lists
  uint64_t draw = 0;
  std::optional<std::string> describe;
  bool list = false;
  bool hide_zero = false, no_offsets = false, strict = false, no_pager = false;
  bool hang = false, continue_past_end = false;

  // How many descriptions of the user's own there are.
  size_t own() const { return xml.size() + tables.size(); }
};

void Complain(absl::string_view text) {
  // What is wrong with a description is told in several lines.
  std::string lines = "unpack: ";
  for (const absl::string_view line :
       absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), '\n')) {
    absl::StrAppend(&lines, decode::Harmless(line), "\n");
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

// "A..B", either of them hexadecimal and possibly left out.
bool ParseRange(absl::string_view text, decode::Filter& filter) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits("..", 1));
  if (parts.size() != 2) return false;
  if (!parts[0].empty() && !absl::SimpleHexAtoi(parts[0], &filter.first)) return false;
  if (!parts[1].empty() && !absl::SimpleHexAtoi(parts[1], &filter.end)) return false;
  return filter.first < filter.end;
}

// Tables, and what keeps them alive.
struct Described {
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  std::vector<uint64_t> block;
};

Described ReadXml(const std::string& path) {
  Described described;
  const model::LoadResult loaded = model::Load(path, model::ReadFileFromDisk);
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

// What packgen --tables has written.
Described ReadTables(const std::string& path) {
  Described described;
  const absl::StatusOr<std::string> bytes = model::ReadFileFromDisk(path);
  if (!bytes.ok()) {
    described.tables = absl::InvalidArgumentError(
        absl::StrCat("cannot read \"", path, "\": ", bytes.status().message()));
    return described;
  }
  described.block.resize((bytes->size() + 7) / 8);
  bytes->copy(reinterpret_cast<char*>(described.block.data()), bytes->size());
  described.tables = tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(described.block.data()), bytes->size()});
  return described;
}

// The first description of the user's own.
Described ReadOwn(const Arguments& arguments) {
  return arguments.xml.empty() ? ReadTables(arguments.tables[0]) : ReadXml(arguments.xml[0]);
}

Described Describe(const Arguments& arguments, const Dump& first) {
  if (arguments.own() != 0) return ReadOwn(arguments);
  Described described;
  const Device& device = first.device;
  // A chip's id says more than the name of its generation, and may be newer than the descriptions.
  if (arguments.generation.empty() && device.chip_id) {
    described.tables = FindGenerationOfChipId(*device.chip_id);
    if (described.tables.ok() || device.generation.empty()) return described;
  }
  const std::string& name = !arguments.generation.empty() ? arguments.generation
                            : !device.generation.empty()  ? device.generation
                            : !device.pci_id              ? device.family
                                                          : device.generation;
  if (name.empty() && device.pci_id) {
    described.tables = FindGenerationOfPciId(*device.pci_id);
    return described;
  }
  if (name.empty()) {
    described.tables = absl::InvalidArgumentError(
        "the input does not say which GPU it is from; name it with --gen=gfx9, say");
    return described;
  }
  described.tables = FindGeneration(name);
  return described;
}

// The inputs, which may be gone through twice. Only one of several files is in memory at a time,
// but for those that can be read only once.
class Inputs {
 public:
  Inputs(const std::vector<std::string>& paths, RawOptions raw)
      : raw_(std::move(raw)), inputs_(paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i) {
      inputs_[i].path = paths[i];
      struct stat about {};
      inputs_[i].keep =
          paths.size() == 1 || ::stat(paths[i].c_str(), &about) != 0 || !S_ISREG(about.st_mode);
    }
  }

  bool failed() const { return failed_; }

  // Calls visit(Dump&) for each that can be read, until it returns false; complains about the
  // others.
  template <class Visit>
  void ForEach(bool again_later, const Visit& visit) {
    for (Input& input : inputs_) {
      if (input.bad) continue;
      if (input.dump == nullptr) {
        absl::StatusOr<Dump> dump = ReadDump(input.path, raw_);
        if (!dump.ok()) {
          Complain(dump.status().message());
          input.bad = failed_ = true;
          continue;
        }
        input.dump = std::make_unique<Dump>(*std::move(dump));
      }
      const bool go_on = visit(*input.dump);
      if (!again_later || !input.keep) input.dump = nullptr;
      if (!go_on) return;
    }
  }

 private:
  struct Input {
    std::string path;
    bool keep = false, bad = false;
    std::unique_ptr<Dump> dump;
  };
  RawOptions raw_;
  std::vector<Input> inputs_;
  bool failed_ = false;
};

// To where the arguments say.
absl::StatusOr<std::unique_ptr<cli::CliOutput>> Open(const Arguments& arguments) {
  return cli::OpenOutput({arguments.output, !arguments.no_pager && arguments.format != "jsonl",
                          [] { std::_Exit(kGood); }});
}

bool Write(const Arguments& arguments, absl::string_view text) {
  absl::StatusOr<std::unique_ptr<cli::CliOutput>> output = Open(arguments);
  absl::Status status = output.status();
  if (status.ok()) {
    (*output)->Append(text);
    status = (*output)->Finish();
  }
  if (!status.ok()) Complain(status.message());
  return status.ok();
}

// Directories stand for the dumps in them.
absl::StatusOr<std::vector<std::string>> Files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
      files.push_back(path);
      continue;
    }
    absl::StatusOr<std::vector<std::string>> found = DumpsIn(path);
    if (!found.ok()) return found.status();
    files.insert(files.end(), found->begin(), found->end());
  }
  return files;
}

int Run(const Arguments& arguments) {
  const bool text = arguments.format == "text";
  RawOptions raw;
  raw.format = arguments.input_format;
  raw.generation = arguments.generation;
  raw.stream = arguments.stream;
  if (!arguments.engine.empty()) raw.engine = arguments.engine;
  decode::Filter filter;
  filter.names = absl::StrSplit(arguments.filter, ',', absl::SkipWhitespace());
  if (absl::StrContains(arguments.address, "..")) {
    if (!ParseRange(arguments.address, filter)) {
      Complain(absl::StrCat("--address=", arguments.address,
                            " is no range; give two hexadecimal numbers, the first below the "
                            "second: --address=0x1000..0x2000"));
      return kWrongUsage;
    }
  } else if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    Complain(absl::StrCat("--address=", arguments.address, " is no hexadecimal number"));
    return kWrongUsage;
  }

  decode::Options options;
  options.follow = arguments.follow == "none"      ? decode::Follow::kNone
                   : arguments.follow == "batches" ? decode::Follow::kBatches
                                                   : decode::Follow::kAll;
  options.brief = arguments.format == "stats" || arguments.format == "names";
  options.continue_past_end = arguments.continue_past_end;
  bool fail_on_kind[decode::kFaultKinds] = {};
  for (const absl::string_view what :
       absl::StrSplit(arguments.fail_on, ',', absl::SkipWhitespace())) {
    bool known = what == "unknown" || what == "problem" || what == "fault";
    for (size_t i = 0; i < decode::kFaultKinds; ++i) {
      const bool is = what == decode::FaultKindName(static_cast<decode::FaultKind>(i));
      fail_on_kind[i] |= is || what == "fault";
      known |= is;
    }
    if (!known) {
      Complain(absl::StrCat("--fail-on=", what,
                            ": there are fault, reserved, forced, range, beyond-length, unmapped, "
                            "truncated; unknown and problem always count"));
      return kWrongUsage;
    }
    if (options.brief && what != "unknown" && what != "problem") {
      Complain(absl::StrCat("--fail-on=", what, " and --format=", arguments.format,
                            " do not go together: that looks at no fields"));
      return kWrongUsage;
    }
  }
  if (options.brief && (arguments.strict || !arguments.kernels.empty())) {
    Complain(absl::StrCat(arguments.strict ? "--strict" : "--kernels", " and --format=",
                          arguments.format, " do not go together: that looks at no fields"));
    return kWrongUsage;
  }
  if (!text && !arguments.disassembler.empty()) {
    Complain("--disassembler is for --format=text");
    return kWrongUsage;
  }
  if (options.brief && arguments.hang) {
    Complain(absl::StrCat("--hang and --format=", arguments.format,
                          " do not go together; give text or jsonl"));
    return kWrongUsage;
  }
  if (arguments.strict) std::fill(std::begin(fail_on_kind), std::end(fail_on_kind), true);

  const absl::StatusOr<std::vector<std::string>> files = Files(arguments.files);
  if (!files.ok()) {
    Complain(files.status().message());
    return kNotDecoded;
  }
  Inputs inputs(*files, raw);
  Described described;
  const auto describe = [&](Dump& dump) {
    if (!described.tables.ok()) described = Describe(arguments, dump);
    if (!described.tables.ok()) {
      Complain(described.tables.status().message());
      return false;
    }
    hang::AddRings(*described.tables, dump);
    return true;
  };
  // A name that is not there is wrong usage where the user gave it, not where the input has it.
  const auto not_described = [&] {
    const bool named = !arguments.generation.empty() || arguments.own() != 0;
    return named && described.tables.status().code() == absl::StatusCode::kNotFound ? kWrongUsage
                                                                                    : kNotDecoded;
  };

  bool good = true;
  const bool color = text && cli::UseColor(arguments.color, arguments.output);
  if (arguments.hang) {
    int result = kGood;
    std::string reports;
    inputs.ForEach(false, [&](Dump& dump) {
      good = describe(dump);
      if (!good) return false;
      if (dump.error_state == nullptr) {
        Complain("the input says nothing of a hang: --hang takes what the kernel saved of one");
        result = kNotDecoded;
        return true;
      }
      const hang::HangReport report = hang::MakeHangReport(*described.tables, dump);
      reports += text ? hang::ToText(*described.tables, report, color)
                      : hang::ToJson(*described.tables, report);
      std::vector<Problem> problems = dump.problems;
      if (dump.late_problems != nullptr) {
        const std::vector<Problem> late = dump.late_problems->All();
        problems.insert(problems.end(), late.begin(), late.end());
      }
      for (const Problem& problem : problems) {
        Complain(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
        result = kNotDecoded;
      }
      return true;
    });
    if (!good) return not_described();
    if (inputs.failed()) result = kNotDecoded;
    return Write(arguments, reports) ? result : kNotDecoded;
  }

  // A first pass finds out what there is in all, and where the draws are.
  decode::TextOptions text_options;
  std::string overview_text;
  bool any_hang = false;
  if (text || arguments.draw != 0) {
    decode::OverviewSink overview(arguments.draw);
    decode::Options brief = options;
    brief.brief = true;
    std::unique_ptr<decode::Decoder> decoder;
    inputs.ForEach(true, [&](Dump& dump) {
      good = describe(dump);
      if (!good) return false;
      if (decoder == nullptr) {
        decoder = std::make_unique<decode::Decoder>(*described.tables, overview, brief);
      }
      decoder->Decode(dump);
      any_hang |= dump.error_state != nullptr;
      return true;
    });
    if (!good) return not_described();
    if (decoder == nullptr) return kNotDecoded;
    decoder->Finish();
    overview_text = overview.Text(!arguments.no_offsets);
    overview.Select(filter);
    if (arguments.draw != 0 && !filter.draw) {
      Complain(absl::StrCat("--draw=", arguments.draw, ": there are ", overview.draws(), " draws"));
      return kWrongUsage;
    }
  }

  absl::StatusOr<std::unique_ptr<cli::CliOutput>> output = Open(arguments);
  if (!output.ok()) {
    Complain(output.status().message());
    return kNotDecoded;
  }
  uint64_t undescribed = 0;
  cli::Disassembler disassembler(arguments.disassembler);
  std::unique_ptr<decode::Sink> writer;
  if (arguments.format == "jsonl") {
    writer = decode::MakeJsonlSink(**output, {arguments.strict, &undescribed});
  } else if (arguments.format == "stats") {
    writer = decode::MakeStatsSink(**output);
  } else if (arguments.format == "names") {
    writer = decode::MakeNamesSink(**output, {!arguments.no_offsets});
  } else {
    // Of a hang, what happened comes first, then what there is.
    if (!any_hang || !filter.all()) text_options.overview = std::exchange(overview_text, "");
    text_options.color = color;
    text_options.hide_zero_fields = arguments.hide_zero;
    text_options.offsets = !arguments.no_offsets;
    text_options.undescribed = arguments.strict;
    text_options.undescribed_seen = &undescribed;
    if (!arguments.disassembler.empty()) {
      text_options.about_kernel = [&](const decode::Record& record) {
        return disassembler.Text(record);
      };
    }
    writer = decode::MakeTextSink(**output, text_options);
  }
  decode::Sink* sink = writer.get();
  std::unique_ptr<cli::KernelSink> kernels;
  if (!arguments.kernels.empty()) {
    kernels = std::make_unique<cli::KernelSink>(*sink, arguments.kernels);
    sink = kernels.get();
  }
  std::unique_ptr<decode::Sink> filtered;
  if (!filter.all()) {
    filtered = decode::MakeFilterSink(*sink, filter);
    sink = filtered.get();
  }
  // The report comes before everything else that is said of a dump, but who asks for a part of one
  // wants that part.
  std::unique_ptr<decode::Sink> reporting;
  if (!options.brief && filter.all()) {
    reporting = hang::MakeHangSink(*sink, [&](const tables::Tables& tables, const Dump& dump) {
      const hang::HangReport report = hang::MakeHangReport(tables, dump);
      if (!text) return hang::ToJson(tables, report) + hang::FactsToJson(*dump.error_state);
      return hang::ToText(tables, report, color) + std::exchange(overview_text, "") +
             hang::FactsToText(*dump.error_state);
    });
    sink = reporting.get();
  }

  int result = kGood;
  std::unique_ptr<decode::Decoder> decoder;
  inputs.ForEach(false, [&](Dump& dump) {
    good = describe(dump);
    if (!good) return false;
    if (decoder == nullptr) {
      decoder = std::make_unique<decode::Decoder>(*described.tables, *sink, options);
    }
    decoder->Decode(dump);
    return true;
  });
  if (!good) return not_described();
  if (inputs.failed()) result = kNotDecoded;
  if (decoder != nullptr) {
    const decode::Summary summary = decoder->Finish();
    if (summary.problems != 0 || summary.unknown_dwords != 0) result = kNotDecoded;
    for (size_t i = 0; i < decode::kFaultKinds; ++i) {
      if (fail_on_kind[i] && summary.faults[i] != 0) result = kNotDecoded;
    }
    if (arguments.strict && undescribed != 0) result = kNotDecoded;
  }
  if (kernels != nullptr && !kernels->status().ok()) {
    Complain(kernels->status().message());
    result = kNotDecoded;
  }
  const absl::Status status = (*output)->Finish();
  if (!status.ok()) {
    Complain(status.message());
    result = kNotDecoded;
  }
  return result;
}

// --describe and --list.
int RunDescribe(const Arguments& arguments) {
  if (!arguments.files.empty() || (arguments.list && arguments.describe)) {
    Complain("--describe and --list go alone: they are about no dump");
    return kWrongUsage;
  }
  if (arguments.format != "text" && arguments.format != "jsonl") {
    Complain(absl::StrCat("--format=", arguments.format, ": descriptions are text or jsonl"));
    return kWrongUsage;
  }
  if (arguments.describe && arguments.describe->empty()) {
    Complain("--describe of what? --list --gen=gfx9, say, shows all names");
    return kWrongUsage;
  }
  absl::Span<const tables::Tables> generations = BuiltInGenerations();
  std::vector<Described> described;
  std::vector<tables::Tables> own;
  for (const std::string& path : arguments.xml) described.push_back(ReadXml(path));
  for (const std::string& path : arguments.tables) described.push_back(ReadTables(path));
  for (const Described& one : described) {
    if (!one.tables.ok()) {
      Complain(one.tables.status().message());
      return kNotDecoded;
    }
    own.push_back(*one.tables);
    generations = own;
  }
  cli::DescribeOptions options;
  options.name = arguments.describe.value_or("");
  options.jsonl = arguments.format == "jsonl";
  options.color = cli::UseColor(arguments.color, arguments.output);
  options.generation = arguments.generation;
  decode::StringOutput text;
  absl::Status status = cli::Describe(generations, options, text);
  if (!status.ok()) {
    Complain(status.message());
    return absl::IsNotFound(status) ? kWrongUsage : kNotDecoded;
  }
  absl::StatusOr<std::unique_ptr<cli::CliOutput>> output = cli::OpenOutput(
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

int Unpack(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("", "unpack");
  app.set_help_flag();
  bool help = false;
  app.add_flag("-h,--help", help);
  app.add_option("FILE", arguments.files);
  app.add_option("--gen", arguments.generation);
  app.add_option("--engine", arguments.engine);
  app.add_option("--address", arguments.address);
  app.add_option("--stream", arguments.stream);
  std::vector<std::string> inputs;
  for (const absl::string_view format : DumpFormats()) inputs.emplace_back(format);
  app.add_option("--input", arguments.input_format)->check(CLI::IsMember(inputs));
  app.add_option("--format", arguments.format)
      ->check(CLI::IsMember({"text", "jsonl", "stats", "names"}));
  app.add_option("--filter", arguments.filter);
  app.add_option("--draw", arguments.draw)->check([](const std::string& text) {
    uint64_t number = 0;
    return absl::SimpleAtoi(text, &number) && number != 0 ? "" : text + ": draws count from 1";
  });
  app.add_flag("--hang", arguments.hang);
  app.add_flag("--continue-past-end", arguments.continue_past_end);
  app.add_option("--follow", arguments.follow)->check(CLI::IsMember({"none", "batches", "all"}));
  app.add_flag("--hide-zero", arguments.hide_zero);
  app.add_flag("--no-offsets", arguments.no_offsets);
  app.add_flag("--strict", arguments.strict);
  app.add_option("--fail-on", arguments.fail_on);
  app.add_option("--kernels", arguments.kernels);
  app.add_option("--disassembler", arguments.disassembler);
  app.add_option("--xml", arguments.xml)->allow_extra_args(false);
  app.add_option("--tables", arguments.tables)->allow_extra_args(false);
  app.add_option("--describe", arguments.describe);
  app.add_flag("--list", arguments.list);
  app.add_option("-o,--output", arguments.output);
  app.add_option("--color", arguments.color)->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--no-pager", arguments.no_pager);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    Complain(absl::StrCat(e.what(), "; unpack --help says what there is"));
    return kWrongUsage;
  }
  if (help) {
    const std::string text =
        absl::StrReplaceAll(kHelp, {{"@INPUTS@", absl::StrJoin(inputs, ", ")}});
    std::fputs(text.c_str(), stdout);
    return kGood;
  }
  if (arguments.list || arguments.describe) return RunDescribe(arguments);
  if (arguments.own() > 1) {
    Complain("one --xml or --tables is enough to decode with");
    return kWrongUsage;
  }
  if (arguments.files.empty()) {
    Complain("which file? unpack --help says more; - is standard input");
    return kWrongUsage;
  }
  return Run(arguments);
}

// Programs within the program: `unpack NAME ...`. A file of such a name is ./NAME.
struct Command {
  absl::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {{"decode", Unpack}};

}  // namespace
}  // namespace packsmith

int main(int argc, char** argv) {
  for (const packsmith::Command& command : packsmith::kCommands) {
    if (argc > 1 && command.name == argv[1]) return command.run(argc - 1, argv + 1);
  }
  return packsmith::Unpack(argc, argv);
}
