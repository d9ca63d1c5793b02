// unpack: decodes dumps of GPU command streams.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "runtime/aub/play.h"
#include "runtime/base/closest.h"
#include "runtime/base/command_line.h"
#include "runtime/base/same_file.h"
#include "runtime/base/unicode.h"
#include "runtime/base/version.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/filter_sink.h"
#include "runtime/decode/jsonl_sink.h"
#include "runtime/decode/names_sink.h"
#include "runtime/decode/overview_sink.h"
#include "runtime/decode/stats_sink.h"
#include "runtime/decode/text_sink.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_sink.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"
#include "tools/combinations.h"
#include "tools/contexts.h"
#include "tools/convert.h"
#include "tools/describe.h"
#include "tools/descriptions.h"
#include "tools/draws.h"
#include "tools/failures.h"
#include "tools/inputs.h"
#include "tools/kernels.h"
#include "tools/output.h"
#include "tools/run.h"
#include "tools/wanted_names.h"

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
  unpack --draws hang.core                    what is drawn, with which shaders and textures
  unpack --draw=3 hang.core                   the third draw: its packets, its state, its vertices
  unpack --filter='3DSTATE_*S,3DPRIMITIVE' hang.core
                                              some packets (or structures), and what they point to
  unpack --address=0x1000..0x2000 hang.core   the records in that address range
  unpack --format=stats *.core                how often each packet occurs
  unpack --format=names --no-offsets a.core   one name a line, for diff
  unpack --format=jsonl hang.core | jq .      one JSON record a line
  unpack 00.core 01.core 02.core              several dumps of one run, in order: state carries
                                              over; dumps of another GPU are decoded separately
  unpack error                                an error state of a hung GPU: the hang report, then
                                              all that the kernel saved
  unpack --hang error                         only the hang report
  unpack --gen=gfx9 --engine=render --address=0x1000 batch.bin
                                              a bare batch, with its engine and GPU address
  echo 69040300 05000000 | unpack --gen=gfx9 -
  unpack --xml=mygpu.xml hang.core            with a description of your own
  unpack --describe=3DSTATE_VS --gen=gfx9     what a packet looks like
  unpack --convert=aub -o run.aub *.core      a recording for simulators, of GPU core dumps

unpack [options] FILE...      FILE is a dump of GPU memory, an error state, a recording (AUB), a bare
                              batch or words of hex text, plain or compressed (gzip, zstd), or a directory of dumps;
                              the format is detected. - is standard input.

What is shown:
  --format=FORMAT       text (default), jsonl, stats or names
  --filter=NAME,...     packets, structures, registers and kinds of data with such a name (* and
                        ?, any case), and what they point to
  --address=A..B        records at or above A and below B, and what they point to
  --draw=N              the Nth draw: the packets since the previous draw, and below it the state
                        that was set earlier
  --dispatch=N          the same for the Nth dispatch
  --draws               a line for each draw and dispatch: where it is, what it draws, its shaders,
                        render targets and textures
  --uses=A              a line for each packet that points to the memory at A (hexadecimal), with
                        the draws and dispatches that use it
  --run                 execute the batches, and show the commands as they are executed, what they
                        write, and the draws and dispatches with their parameters and new state;
                        with --draw=N or --dispatch=N only this one, with the state that it sees,
                        what that points to in memory at that moment, and the draw's vertices
  --draw-vertices=N     --run --draw: vertices and primitives that are shown (default: 64)
  --until=A             --run: stop before the command at A (hexadecimal)
  --watch=A             --run: only the commands that write the memory at A (hexadecimal)
  --registers           --run: the registers at the end
  --hang                only the hang report, for dumps that the kernel made of a hang
  --contexts            only the registers in context images: all of an engine's first image, then
                        what differs from one image to the next, in this dump or the next one
  --page-tables         only the page tables of contexts, from dumps that have them: a line for each
                        range of pages, with where it is and its flags
  --continue-past-end   batches continue after the packet that ends them, to the end of memory
  --follow=WHICH        none: the submission's own batch; batches: jumps and calls too; all
                        (default): every pointer
  --hide-zero           text: omit fields that are zero
  --no-offsets          text, names: omit addresses, so that diff shows only what differs
  --strict              show bits that are set and not described; exit code 1 if there are any, or
                        faults: the end of the text gives their number, and where the first is
  --kernels=DIR         write each shader program that is reached to a file in DIR
  --disassembler=CMD    text: the output of CMD for each of them; {} stands for a file with its code

What is read:
  --gen=NAME            generation (gfx9, skl, g13), if the input does not name it, or is wrong
  --engine=NAME         engine of a bare batch (default: render)
  --address=A           GPU address of a bare batch, in hexadecimal
  --stream=NAME         which of the generation's streams a bare batch is, or which structure
  --input=FORMAT        input format, if detection guesses wrong:
                        @INPUTS@
  --xml=FILE            decode with this description instead of a built-in one; for --describe and
                        --list it may be given several times, the oldest generation first
  --tables=FILE         the same with decode tables that packgen made of a description

What can be decoded:
  --describe=NAME       a packet, structure, register or enumeration, bit by bit, and what changed
                        from generation to generation; NAME may be NAME.FIELD, a glob, the offset of
                        a register (0x2358) or the first dword of a packet (0x78100000)
  --list                the generations; with --gen, all names of one

What is written instead:
  --convert=FORMAT      the dump in another format, to --output: @CONVERSIONS@;
                        a message says what the format cannot hold; aub takes several dumps of one
                        run

Where it goes:
  -o, --output=FILE     a file, which is created when the output is complete
  --color=WHEN          auto (default; not with NO_COLOR or TERM=dumb), always or never
  --no-pager            not through $PAGER (default: less -R), which is used on a terminal only
  --fail-on=WHAT,...    exit code 1 for these too: fault (any), or reserved, forced, range,
                        beyond-length, unmapped, truncated
  -h, --help            this text
  --version             the version

Limits, for input that would not end otherwise; a message says which one was reached:
  --max-input=SIZE      bytes read from a pipe, or after decompression (default: 4 GiB, or half of
                        the memory if that is less); 8G, 512M
  --max-packets=N       packets of a submission (default: as many as the dump may have)
  --max-commands=N      commands that --run executes of a submission (default: 10000000)
  --max-seconds=N       time that --run takes (default: no limit)
  --max-structs=N       structures that its pointers reach
  --max-calls=N         depth of batches that call one another (default: 16, at most 256)
  --max-pointers=N      depth of structures that point to one another (default: 8, at most 64)

Exit code: 0 all was decoded; 1 the input could not be read or decoded whole; 2 wrong usage.
)";

struct Arguments {
  std::vector<std::string> files;
  std::string generation, engine, address, stream, input_format, format = "text", follow = "all";
  std::vector<std::string> xml, tables;
  std::string output, color = "auto", kernels, disassembler, convert;
  std::string filter, fail_on;  // lists
  tools::DrawQuestions questions;
  std::optional<std::string> describe;
  bool list = false;
  bool contexts = false;
  bool page_tables = false;
  bool hide_zero = false, no_offsets = false, strict = false, no_pager = false;
  bool hang = false, continue_past_end = false, run = false, registers = false;
  std::string until, watch;  // hexadecimal addresses
  uint64_t max_commands = 10'000'000, max_seconds = 0;
  uint64_t draw_vertices = 64;
  // Limits; 0: the defaults.
  uint64_t max_input = 0, max_packets = 0, max_structs = 0;
  uint32_t max_calls = 0, max_pointers = 0;

  // The number of the user's own descriptions.
  size_t own() const { return xml.size() + tables.size(); }
};

void Complain(absl::string_view text) {
  // Errors in a description take several lines.
  std::string lines = "unpack: ";
  for (const absl::string_view line :
       absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), '\n')) {
    absl::StrAppend(&lines, decode::Harmless(line), "\n");
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

// "A..B", both hexadecimal; either may be omitted.
bool ParseRange(absl::string_view text, decode::Filter& filter) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits("..", 1));
  if (parts.size() != 2) return false;
  if (!parts[0].empty() && !absl::SimpleHexAtoi(parts[0], &filter.first)) return false;
  if (!parts[1].empty() && !absl::SimpleHexAtoi(parts[1], &filter.end)) return false;
  return filter.first < filter.end;
}

// The first description of the user's own.
tools::Described ReadOwn(const Arguments& arguments) {
  return arguments.xml.empty() ? tools::ReadTables(arguments.tables[0])
                               : tools::ReadXml(arguments.xml[0]);
}

// The output that the arguments select.
absl::StatusOr<std::unique_ptr<tools::CliOutput>> Open(const Arguments& arguments) {
  return tools::OpenOutput({arguments.output, !arguments.no_pager && arguments.format != "jsonl",
                            [] { std::_Exit(kGood); }});
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
  }
  return files;
}

// For input that does not end: what memory can hold, with room for what is derived from it.
uint64_t UsualMaxInput() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kDefaultMaxBytes;
  return std::min(kDefaultMaxBytes, static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 2);
}

// Files that are read, and must not be overwritten.
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

// The name of the output, as RefuseToOverwrite() takes it.
std::string OutputName(const Arguments& arguments) {
  return arguments.output.empty() ? "-" : arguments.output;
}

using tools::Then;

// Finds the tables of a dump; complains if there are none. `before`: the GPU of the dump before it.
using DescribeDump = std::function<absl::StatusOr<tables::Tables>(
    Dump& dump, const std::string& path, const std::optional<tools::Gpu>& before)>;

// Decodes dumps of one GPU after the other, all to one output.
class Groups {
 public:
  Groups(const Arguments& arguments, const decode::Options& options, const decode::Filter& filter,
         const tools::FailOn& fail_on, std::vector<std::string> read_files, tools::Inputs& inputs,
         DescribeDump describe)
      : arguments_(arguments),
        options_(options),
        filter_(filter),
        fail_on_(fail_on),
        read_files_(std::move(read_files)),
        inputs_(inputs),
        describe_(std::move(describe)),
        text_(arguments.format == "text"),
        color_(text_ && tools::UseColor(arguments.color, arguments.output)),
        disassembler_(arguments.disassembler) {}

  // The exit code.
  int DecodeAll() {
    absl::Status status;
    do {
      gpu_.reset();
      overview_text_.clear();
      any_hang_ = false;
      const bool first_pass = text_ && !arguments_.questions.IsList();
      if ((first_pass || arguments_.questions.IsOne()) && !LookOver()) continue;
      status = Decode();
    } while (status.ok() && inputs_.NextGroup());
    if (status.ok() && arguments_.questions.IsOne() && any_ && output_ == nullptr) {
      Complain(arguments_.questions.Missing(draws_, dispatches_).message());
      return kWrongUsage;
    }
    if (inputs_.failed() || output_ == nullptr) result_ = kNotDecoded;
    for (const std::string& reason : reasons_) Complain(reason);
    if (const std::string failures = disassembler_.Failures(); !failures.empty()) {
      Complain(failures);
    }
    if (status.ok() && kernels_ != nullptr) status = kernels_->status();
    if (status.ok() && output_ != nullptr) status = output_->Finish();
    if (status.ok()) return result_;
    Complain(status.message());
    return kNotDecoded;
  }

 private:
  // The sinks that records go through, the last one first.
  struct Sinks {
    std::unique_ptr<decode::Sink> writer, kernels, filtered, reporting;
    decode::UndescribedSeen undescribed;
    decode::Sink* first = nullptr;

    void Put(std::unique_ptr<decode::Sink>& place, std::unique_ptr<decode::Sink> sink) {
      place = std::move(sink);
      first = place.get();
    }
  };

  // Whether the dump is of the same GPU as those before it in the group.
  Then Join(Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe_(dump, path, gpu_ ? gpu_ : before_);
    if (!tables.ok()) return Then::kRefuse;
    if (gpu_ && !gpu_->IsSame(*tables, dump.device)) return Then::kLater;
    if (!gpu_) gpu_ = tools::Gpu{*tables, dump.device};
    before_ = gpu_;
    return Then::kGoOn;
  }

  // The first pass collects the overview and the places of the draws. False: nothing of the group
  // is shown.
  bool LookOver() {
    decode::OverviewSink overview;
    arguments_.questions.Ask(draws_, dispatches_, overview);
    decode::Options brief = options_;
    brief.brief = true;
    std::unique_ptr<decode::Decoder> decoder;
    inputs_.ForEach(true, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (decoder == nullptr) {
        decoder = std::make_unique<decode::Decoder>(gpu_->tables, overview, brief);
      }
      decoder->Decode(dump);
      any_hang_ |= dump.error_state != nullptr;
      return Then::kGoOn;
    });
    if (decoder == nullptr) return false;
    any_ = true;
    decoder->Finish();
    overview_text_ = overview.Text(!arguments_.no_offsets);
    if (!arguments_.questions.IsOne()) return true;
    overview.Select(filter_);
    // Earlier packets are shown again, below the draw that was asked for.
    if (!options_.brief) filter_.packets.clear();
    if (filter_.draw) return true;
    draws_ += overview.draws();
    dispatches_ += overview.dispatches();
    return false;
  }

  void MakeSinks(Sinks& sinks) {
    if (arguments_.questions.IsList()) {
      // Only the list is written.
      sinks.Put(sinks.writer, arguments_.questions.MakeSink(*output_, !text_));
      return;
    }
    if (arguments_.format == "jsonl") {
      sinks.Put(sinks.writer,
                decode::MakeJsonlSink(*output_, {arguments_.strict, &sinks.undescribed, next_id_}));
    } else if (arguments_.format == "stats") {
      sinks.Put(sinks.writer, decode::MakeStatsSink(*output_));
    } else if (arguments_.format == "names") {
      sinks.Put(sinks.writer, decode::MakeNamesSink(*output_, {!arguments_.no_offsets}));
    } else {
      decode::TextOptions options;
      // For a hang the report comes first, then the overview.
      if (!any_hang_ || !filter_.all()) options.overview = std::exchange(overview_text_, "");
      options.color = color_;
      options.hide_zero_fields = arguments_.hide_zero;
      options.offsets = !arguments_.no_offsets;
      options.undescribed = arguments_.strict;
      options.undescribed_seen = &sinks.undescribed;
      if (!arguments_.disassembler.empty()) {
        options.about_kernel = [this](const decode::Record& record) {
          return disassembler_.Text(record);
        };
      }
      sinks.Put(sinks.writer, decode::MakeTextSink(*output_, options));
    }
    if (!arguments_.kernels.empty()) {
      if (kernels_ == nullptr) {
        kernels_ = std::make_unique<tools::KernelFiles>(arguments_.kernels, read_files_);
      }
      sinks.Put(sinks.kernels, std::make_unique<tools::KernelSink>(*sinks.first, *kernels_));
    }
    if (!filter_.all()) sinks.Put(sinks.filtered, decode::MakeFilterSink(*sinks.first, filter_));
    // The report precedes the rest of a dump's output, unless only a part of the dump was asked
    // for.
    if (options_.brief || !filter_.all()) return;
    const auto report = [this](const tables::Tables& tables, const Dump& dump) {
      const hang::HangReport report = hang::MakeHangReport(tables, dump);
      if (!text_) {
        return JsonWithHiddenEscaped(hang::ToJson(tables, report) +
                                     hang::FactsToJson(*dump.error_state));
      }
      return hang::ToText(tables, report, color_) + std::exchange(overview_text_, "") +
             hang::FactsToText(*dump.error_state);
    };
    sinks.Put(sinks.reporting, hang::MakeHangSink(*sinks.first, report));
  }

  // The output is opened when there is something to write.
  absl::Status Start(const std::string& path) {
    if (output_ == nullptr) {
      absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = Open(arguments_);
      if (!output.ok()) return output.status();
      output_ = *std::move(output);
      return absl::OkStatus();
    }
    Complain(absl::StrCat("note: ", path, " is from another GPU (", gpu_->tables.title(),
                          ") than the files before it, and is decoded separately"));
    if (arguments_.format == "jsonl") return absl::OkStatus();
    // Formats that do not name the device themselves.
    output_->Append(
        text_ ? "\n" : absl::StrCat("\ndevice  ", decode::Harmless(gpu_->tables.title()), "\n"));
    return absl::OkStatus();
  }

  // Writes the group to the output.
  absl::Status Decode() {
    Sinks sinks;
    std::unique_ptr<decode::Decoder> decoder;
    tools::IndexOrder order;
    absl::Status status;
    inputs_.ForEach(false, [&](Dump& dump, const std::string& path) {
      const Then then = Join(dump, path);
      if (then != Then::kGoOn) return then;
      if (decoder == nullptr) {
        status = Start(path);
        if (!status.ok()) return Then::kStop;
        MakeSinks(sinks);
        decode::Options options = options_;
        options.first_id = next_id_;
        options.draws_before = draws_;
        options.dispatches_before = dispatches_;
        arguments_.questions.Set(options);
        decoder = std::make_unique<decode::Decoder>(gpu_->tables, *sinks.first, options);
      }
      if (const std::string note = order.Add(dump, path); !note.empty()) {
        Complain("note: " + note);
        sinks.first->OnRemark(note, false);
      }
      decoder->Decode(dump);
      return Then::kGoOn;
    });
    if (!status.ok() || decoder == nullptr) return status;
    // The summary is the last record of a GPU, and the second to last line of its text.
    if (arguments_.format == "jsonl") {
      const auto failures = tools::FailuresOf(decoder->summary(), sinks.undescribed, fail_on_);
      sinks.writer->OnInsert(tools::FailuresJson(failures));
    }
    const decode::Summary summary = decoder->Finish();
    next_id_ = decoder->next_id();
    draws_ += summary.draws;
    dispatches_ += summary.dispatches;
    const auto failures = tools::FailuresOf(summary, sinks.undescribed, fail_on_);
    if (failures.empty()) return absl::OkStatus();
    result_ = kNotDecoded;
    reasons_.push_back(tools::FailuresText(failures, !arguments_.no_offsets));
    if (text_) output_->Append(reasons_.back() + "\n");
    return absl::OkStatus();
  }

  const Arguments& arguments_;
  const decode::Options options_;
  decode::Filter filter_;
  const tools::FailOn fail_on_;
  const std::vector<std::string> read_files_;
  tools::Inputs& inputs_;
  const DescribeDump describe_;
  const bool text_, color_;
  tools::Disassembler disassembler_;
  std::unique_ptr<tools::KernelFiles> kernels_;
  std::unique_ptr<tools::CliOutput> output_;
  std::vector<std::string> reasons_;  // for exit code 1
  int result_ = kGood;
  bool any_ = false;    // whether a first pass decoded anything
  uint64_t draws_ = 0;  // of the groups so far
  uint64_t dispatches_ = 0;
  uint64_t next_id_ = 0;              // of the next group's first record
  std::optional<tools::Gpu> before_;  // of the previous dump

  // Of the current group.
  std::optional<tools::Gpu> gpu_;
  std::string overview_text_;
  bool any_hang_ = false;
};

// --run.
int Simulate(const Arguments& arguments, tools::Inputs& inputs, const DescribeDump& describe) {
  tools::RunOptions options;
  options.jsonl = arguments.format == "jsonl";
  options.draw = arguments.questions.draw;
  options.dispatch = arguments.questions.dispatch;
  options.draw_vertices = arguments.draw_vertices;
  options.text.color = tools::UseColor(arguments.color, arguments.output);
  options.text.hide_zero_fields = arguments.hide_zero;
  options.registers = arguments.registers;
  options.max_commands = arguments.max_commands;
  options.max_seconds = arguments.max_seconds;
  for (const auto& [name, text, address] :
       {std::make_tuple("--until", &arguments.until, &options.until),
        std::make_tuple("--watch", &arguments.watch, &options.watch)}) {
    uint64_t value = 0;
    if (text->empty()) continue;
    if (!absl::SimpleHexAtoi(*text, &value)) {
      Complain(absl::StrCat(name, "=", *text, " is not a hexadecimal number"));
      return kWrongUsage;
    }
    *address = value;
  }
  absl::StatusOr<std::unique_ptr<tools::CliOutput>> output = Open(arguments);
  absl::Status status = output.status();
  int result = kGood;
  bool any = false;
  do {
    std::unique_ptr<tools::SimulatedRun> run;
    std::optional<tools::Gpu> gpu, before;
    inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
      if (!status.ok()) return Then::kStop;
      const absl::StatusOr<tables::Tables> tables = describe(dump, path, gpu);
      if (!tables.ok()) return Then::kRefuse;
      if (gpu && !gpu->IsSame(*tables, dump.device)) return Then::kLater;
      gpu = tools::Gpu{*tables, dump.device};
      status = tools::SimulatedRun::Check(*tables);
      if (!status.ok()) return Then::kStop;
      if (run == nullptr) run = std::make_unique<tools::SimulatedRun>(*tables, options, **output);
      run->Add(dump, path);
      return Then::kGoOn;
    });
    if (run != nullptr && !run->Finish()) result = kNotDecoded;
    any = any || run != nullptr;
  } while (status.ok() && inputs.NextGroup());
  if (inputs.failed() || !any) result = kNotDecoded;
  if (status.ok()) status = (*output)->Finish();
  if (status.ok()) return result;
  Complain(status.message());
  return kNotDecoded;
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
                            " is not a range; give two hexadecimal numbers, the first below the "
                            "second: --address=0x1000..0x2000"));
      return kWrongUsage;
    }
  } else if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    Complain(absl::StrCat("--address=", arguments.address, " is not a hexadecimal number"));
    return kWrongUsage;
  }

  if (const absl::Status status = arguments.questions.Check(); !status.ok()) {
    Complain(status.message());
    return kWrongUsage;
  }
  if (arguments.questions.IsList() && absl::StrContains(arguments.address, "..")) {
    Complain("--draws and --uses print lists; a range of addresses selects records");
    return kWrongUsage;
  }

  decode::Options options;
  options.follow = arguments.follow == "none"      ? decode::Follow::kNone
                   : arguments.follow == "batches" ? decode::Follow::kBatches
                                                   : decode::Follow::kAll;
  options.brief = arguments.format == "stats" || arguments.format == "names";
  options.continue_past_end = arguments.continue_past_end;
  if (arguments.max_packets != 0) {
    options.most_packets = options.least_packets = arguments.max_packets;
  }
  if (arguments.max_structs != 0) {
    options.most_structs = options.least_structs = arguments.max_structs;
  }
  if (arguments.max_calls != 0) options.deepest_call = arguments.max_calls;
  if (arguments.max_pointers != 0) options.deepest_pointer = arguments.max_pointers;
  raw.max_bytes = arguments.max_input != 0 ? arguments.max_input : UsualMaxInput();
  tools::FailOn fail_on;
  for (const absl::string_view what :
       absl::StrSplit(arguments.fail_on, ',', absl::SkipWhitespace())) {
    bool known = what == "unknown" || what == "problem" || what == "fault";
    for (size_t i = 0; i < decode::kFaultKinds; ++i) {
      const bool is = what == decode::FaultKindName(static_cast<decode::FaultKind>(i));
      fail_on.faults[i] |= is || what == "fault";
      known |= is;
    }
    if (!known) {
      Complain(absl::StrCat("--fail-on=", what,
                            ": there are fault, reserved, forced, range, beyond-length, unmapped, "
                            "truncated; unknown and problem always count",
                            DidYouMean(what, {"fault", "reserved", "forced", "range",
                                              "beyond-length", "unmapped", "truncated"})));
      return kWrongUsage;
    }
    if (options.brief && what != "unknown" && what != "problem") {
      Complain(absl::StrCat("--fail-on=", what, " and --format=", arguments.format,
                            " do not go together: that format does not read fields"));
      return kWrongUsage;
    }
  }
  if (options.brief && (arguments.strict || !arguments.kernels.empty())) {
    Complain(absl::StrCat(arguments.strict ? "--strict" : "--kernels",
                          " and --format=", arguments.format,
                          " do not go together: that format does not read fields"));
    return kWrongUsage;
  }
  if (options.brief && arguments.hang) {
    Complain(absl::StrCat("--hang and --format=", arguments.format,
                          " do not go together; give text or jsonl"));
    return kWrongUsage;
  }
  if (arguments.strict) {
    fail_on.faults.fill(true);
    fail_on.undescribed = true;
  }

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
      Complain(absl::StrCat("--gen=", arguments.generation, " and a description of ",
                            own[0].tables->generation(), " do not go together"));
      return kWrongUsage;
    }
  } else if (!arguments.generation.empty()) {
    const absl::Status known = FindGeneration(arguments.generation).status();
    if (!known.ok()) {
      Complain(absl::StrCat("--gen: ", known.message()));
      return kWrongUsage;
    }
  }
  std::vector<std::string> read_files = ReadFiles(arguments, found->paths, own);
  read_files.insert(read_files.end(), found->others.begin(), found->others.end());
  if (absl::Status refused = RefuseToOverwrite(OutputName(arguments), read_files); !refused.ok()) {
    Complain(refused.message());
    return kWrongUsage;
  }

  tools::Inputs inputs(found->paths, raw, Complain);
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
    } else {
      Complain(absl::StrCat(path == "-" ? "<stdin>" : path, ": ", found.status().message()));
    }
    return found;
  };

  // Names that are in no input are reported before anything is written.
  tools::WantedNames wanted(filter.names, arguments.engine, arguments.stream);
  // The option that applies to bare batches only, if no input can be one.
  absl::string_view of_bare = !arguments.engine.empty()   ? "--engine"
                              : !arguments.stream.empty() ? "--stream"
                              : raw.address != 0          ? "--address=A"
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
      Complain(wanted.status().message());
      return kWrongUsage;
    }
    if (gpu && !of_bare.empty()) {
      Complain(absl::StrCat(of_bare, " is for bare batches; the input describes its batches"));
      return kWrongUsage;
    }
  }

  std::optional<tools::Gpu> before;
  const auto tables_of = [&](Dump& dump, const std::string& path) {
    absl::StatusOr<tables::Tables> tables = describe(dump, path, before);
    if (tables.ok()) before = tools::Gpu{*tables, dump.device};
    return tables;
  };
  if (!arguments.convert.empty()) {
    if (found->paths.size() > 1 && arguments.convert != "aub") {
      Complain(absl::StrCat("--convert=", arguments.convert,
                            " takes one dump; only --convert=aub can hold several"));
      return kWrongUsage;
    }
    bool complete = true;
    const absl::Status converted =
        tools::Convert(inputs, arguments.convert, arguments.output, tables_of, Complain, complete);
    if (!converted.ok()) Complain(converted.message());
    return converted.ok() && complete ? kGood : kNotDecoded;
  }

  if (arguments.contexts || arguments.page_tables) {
    const tools::ContextsResult shown = arguments.page_tables
                                            ? tools::ShowPageTables(inputs, tables_of, Complain)
                                            : tools::ShowContexts(inputs, tables_of, Complain);
    return Write(arguments, shown.text) && shown.complete ? kGood : kNotDecoded;
  }

  if (arguments.hang) {
    const bool color = text && tools::UseColor(arguments.color, arguments.output);
    int result = kGood;
    std::string reports;
    std::optional<tools::Gpu> gpu;
    inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
      const absl::StatusOr<tables::Tables> tables = describe(dump, path, gpu);
      if (!tables.ok()) return Then::kRefuse;
      gpu = tools::Gpu{*tables, dump.device};
      if (dump.error_state == nullptr) {
        Complain(
            absl::StrCat(path, " is not a dump of a hang: --hang needs one that the kernel saved"));
        result = kNotDecoded;
        return Then::kGoOn;
      }
      const hang::HangReport report = hang::MakeHangReport(*tables, dump);
      reports += text ? hang::ToText(*tables, report, color)
                      : JsonWithHiddenEscaped(hang::ToJson(*tables, report));
      std::vector<Problem> problems = dump.problems;
      if (dump.late_problems != nullptr) {
        const std::vector<Problem> late = dump.late_problems->All();
        problems.insert(problems.end(), late.begin(), late.end());
      }
      for (const Problem& problem : problems) {
        Complain(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
        result = kNotDecoded;
      }
      return Then::kGoOn;
    });
    if (inputs.failed()) result = kNotDecoded;
    return Write(arguments, reports) ? result : kNotDecoded;
  }

  if (arguments.run) return Simulate(arguments, inputs, describe);
  return Groups(arguments, options, filter, fail_on, read_files, inputs, describe).DecodeAll();
}

// --describe and --list.
int RunDescribe(const Arguments& arguments) {
  if (!arguments.files.empty() || (arguments.list && arguments.describe)) {
    Complain("--describe and --list take no dump, and do not go together");
    return kWrongUsage;
  }
  if (arguments.format != "text" && arguments.format != "jsonl") {
    Complain(absl::StrCat("--format=", arguments.format, ": descriptions must be text or jsonl"));
    return kWrongUsage;
  }
  if (arguments.describe && arguments.describe->empty()) {
    Complain("--describe needs a name; --list --gen=gfx9, for example, shows all names");
    return kWrongUsage;
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
    Complain(refused.message());
    return kWrongUsage;
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
  app.add_option("--input", arguments.input_format)->check(tools::OneOf(inputs));
  app.add_option("--format", arguments.format)
      ->check(tools::OneOf({"text", "jsonl", "stats", "names"}));
  app.add_option("--filter", arguments.filter);
  const auto from_one = [](const std::string& text) {
    uint64_t number = 0;
    const bool good = absl::SimpleAtoi(text, &number) && number != 0;
    return good ? "" : text + ": draws and dispatches count from 1";
  };
  app.add_option("--draw", arguments.questions.draw)->check(from_one);
  app.add_option("--dispatch", arguments.questions.dispatch)->check(from_one);
  app.add_flag("--draws", arguments.questions.draws);
  app.add_option("--uses", arguments.questions.uses);
  app.add_flag("--hang", arguments.hang);
  app.add_flag("--run", arguments.run);
  app.add_option("--until", arguments.until);
  app.add_option("--watch", arguments.watch);
  app.add_flag("--registers", arguments.registers);
  app.add_option("--draw-vertices", arguments.draw_vertices)
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  app.add_flag("--continue-past-end", arguments.continue_past_end);
  app.add_option("--follow", arguments.follow)->check(tools::OneOf({"none", "batches", "all"}));
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
  app.add_flag("--contexts", arguments.contexts);
  app.add_flag("--page-tables", arguments.page_tables);
  app.add_option("--convert", arguments.convert)->check(tools::OneOf(tools::ConvertFormats()));
  app.add_option("-o,--output", arguments.output);
  app.add_option("--color", arguments.color)->check(tools::OneOf({"auto", "always", "never"}));
  app.add_flag("--no-pager", arguments.no_pager);
  app.add_option("--max-input", arguments.max_input)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, ~uint64_t{0} >> 1));
  const CLI::Range any(uint64_t{1}, uint64_t{1} << 40);
  app.add_option("--max-packets", arguments.max_packets)->check(any);
  app.add_option("--max-commands", arguments.max_commands)->check(any);
  app.add_option("--max-seconds", arguments.max_seconds)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 30));
  app.add_option("--max-structs", arguments.max_structs)->check(any);
  // Deeper nesting could overflow the stack.
  app.add_option("--max-calls", arguments.max_calls)->check(CLI::Range(1, 256));
  app.add_option("--max-pointers", arguments.max_pointers)->check(CLI::Range(1, 64));
  bool version = false;
  app.add_flag("--version", version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    Complain(absl::StrCat(tools::WhatIsWrong(app, e), "; unpack --help lists the options"));
    return kWrongUsage;
  }
  if (version) {
    std::printf("unpack %s\n", Version());
    return kGood;
  }
  if (help) {
    const std::string text = absl::StrReplaceAll(
        kHelp, {{"@INPUTS@", absl::StrJoin(inputs, ", ")},
                {"@CONVERSIONS@", absl::StrJoin(tools::ConvertFormats(), ", ")}});
    std::fputs(text.c_str(), stdout);
    return kGood;
  }
  std::vector<std::string> given = tools::GivenOptions(app);
  const absl::Status together = tools::CheckCombinations(given, arguments.format, arguments.follow);
  if (!together.ok()) {
    Complain(together.message());
    return kWrongUsage;
  }
  if (arguments.list || arguments.describe) return RunDescribe(arguments);
  if (arguments.own() > 1) {
    Complain("at most one --xml or --tables can be given to decode a dump");
    return kWrongUsage;
  }
  if (arguments.files.empty()) {
    Complain("no file was given; - is standard input; unpack --help says more");
    return kWrongUsage;
  }
  return Run(arguments);
}

// Subcommands: `unpack NAME ...`. A file of such a name must be given as ./NAME.
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
