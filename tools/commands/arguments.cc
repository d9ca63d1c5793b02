#include "tools/commands/arguments.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "runtime/base/command_line.h"
#include "runtime/base/program/program.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "tools/combinations.h"
#include "tools/commands/command.h"
#include "tools/commands/formats.h"
#include "tools/convert.h"

namespace packsmith::commands {
namespace {

constexpr const char* kHelp =
    R"(unpack shows what dumps of GPU command streams say: packets, and the state that they point to.

Examples:
  unpack hang.core                            all of it, with a pager on a terminal
  unpack --hide-zero hang.core                without the fields that are zero
  unpack --draws hang.core                    what is drawn, with which shaders and textures
  unpack --draw=3 hang.core                   the third draw: its packets, its state, its vertices
  unpack --query='3DSTATE_PS.*' --changes --format=csv hang.core
                                              fields at each draw, as a table
  unpack --filter='3DSTATE_*S,3DPRIMITIVE' hang.core
                                              some packets (or structures), and what they point to
  unpack --address=0x1000..0x2000 hang.core   the records in that address range
  unpack --format=html -o page.html hang.core a page for a browser: search, links, images, state
  unpack --format=stats *.core                how often each packet occurs
  unpack --format=names --no-offsets a.core   one name a line, for diff
  unpack --format=jsonl hang.core | jq .      one JSON record a line
  unpack 00.core 01.core 02.core              several dumps of one run, in order: state carries
                                              over; dumps of another GPU are decoded separately
  unpack error                                an error state of a hung GPU: the hang report, then
                                              all that the kernel saved
  unpack --hang error                         only the hang report
  unpack --hang --dmesg=dmesg.txt error       with what the kernel's log says about it
  unpack --gen=gfx9 --engine=render --address=0x1000 batch.bin
                                              a bare batch, with its engine and GPU address
  echo 69040300 05000000 | unpack --gen=gfx9 -
  unpack --xml=mygpu.xml hang.core            with a description of your own
  unpack --describe=3DSTATE_VS --gen=gfx9     what a packet looks like
  unpack --convert=aub -o run.aub *.core      a recording for simulators, of GPU core dumps
  unpack --format=cpp -o frame.cc hang.core   a program that makes the dump, to be edited
  unpack --redact --format=markdown error     a page for a bug tracker
  unpack --redact --convert=elf -o shared.core hang.core
                                              a dump without anybody's data
  unpack diff good.core bad.core              what differs; its own options: unpack diff --help
  unpack lint hang.core                       what breaks a rule; options: unpack lint --help
  unpack triage DIR                           many dumps of hangs, in groups of one cause; its own
                                              options: unpack triage --help

unpack [options] FILE...      FILE is a dump of GPU memory, an error state, a hang dump, a recording
                              (AUB), a bare batch or words of hex text, plain or compressed (gzip,
                              zstd), or a directory of dumps; the format is detected. - is
                              standard input.

What is shown:
  --format=FORMAT       text (default), jsonl, html (a page for a browser), stats or names; csv of
                        --query; markdown: a page for bug trackers, below 60,000 bytes, the most
                        important first; cpp or c: a program that makes the dump, with packets as
                        structures of the generated headers
  --filter=NAME,...     packets, structures, registers and kinds of data with such a name (* and
                        ?, any case), and what they point to
  --address=A..B        records at or above A and below B, and what they point to
  --draw=N              the Nth draw: the packets since the previous draw, and below it the state
                        that was set earlier
  --dispatch=N          the same for the Nth dispatch
  --draws               a line for each draw and dispatch: where it is, what it draws, its shaders,
                        render targets and textures
  --payloads            for each draw and dispatch, what the registers of the threads of its shaders
                        hold when they begin, on Intel's GPUs from Gfx8 on
  --uses=A              a line for each packet that points to the memory at A (hexadecimal), with
                        the draws and dispatches that use it
  --query=FIELD,...     the values of fields at each draw and dispatch, a line each: of a field that
                        has the name in any record, or RECORD.FIELD (* and ?, any case)
  --where=FIELD=VALUE   --query: only draws that find a field with this value set; a number or the
                        name of a value (* and ?); given several times, all must hold
  --changes             --query: only values that differ from those of the last draw
  --run                 execute the batches, and show the commands as they are executed, what they
                        write, and the draws and dispatches with their parameters and new state;
                        with --draw=N or --dispatch=N only this one, with the state that it sees,
                        what that points to in memory at that moment, and the draw's vertices
  --draw-vertices=N     --run --draw: vertices and primitives that are shown (default: 64)
  --until=A             --run: stop before the command at A (hexadecimal)
  --watch=A             --run: only the commands that write the memory at A (hexadecimal)
  --registers           --run: the registers at the end
  --hang                only the hang report, for dumps that the kernel made of a hang
  --dmesg=FILE          for the hang report: the kernel's log of that time, whose lines about faults
                        and resets are evidence
  --device=ADDRESS      of that log, only lines of the GPU with this PCI address (0000:03:00.0), and
                        those without one
  --ecode=CODE          no dump: commands that fit the code of "GPU HANG: ecode 12:1:85dffffb", the
                        most believable first
  --contexts            only the registers in context images: all of an engine's first image, then
                        what differs from one image to the next, in this dump or the next one
  --page-tables         only the page tables of contexts, from dumps that have them: a line for each
                        range of pages, with where it is and its flags
  --redact              only what may be shown to others: memory that is not commands or state is
                        zero, names are numbers, addresses stay; with --convert, too
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
  --convert=FORMAT      the dump in another format, to --output:
                        @CONVERSIONS@;
                        a message says what the format cannot hold; aub takes several dumps of one
                        run; asm is text, of which pack makes the dump again
  --data=DIR            with --format=cpp or c: memory of 4096 bytes or more that is not described
                        becomes files in DIR, which the program reads

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
  --max-code=N          bytes of a program (default: 1048576)
  --max-stores=N        dwords that its packets store for jumps (default: by the dump's size)
  --max-calls=N         depth of batches that call one another (default: 16, at most 256)
  --max-pointers=N      depth of structures that point to one another (default: 8, at most 64)

Exit code: 0 all was decoded; 1 the input could not be read or decoded whole; 2 wrong usage.
)";

}  // namespace

std::optional<int> ParseArguments(int argc, char** argv, absl::Span<const tools::Verb> verbs,
                                  Arguments& arguments) {
  CLI::App app("", "unpack");
  app.set_help_flag();
  app.add_option("FILE", arguments.files);
  app.add_option("--gen", arguments.generation);
  app.add_option("--engine", arguments.engine);
  app.add_option("--address", arguments.address);
  app.add_option("--stream", arguments.stream);
  std::vector<std::string> inputs;
  for (const absl::string_view format : DumpFormats()) inputs.emplace_back(format);
  app.add_option("--input", arguments.input_format)->check(tools::OneOf(inputs));
  app.add_option("--format", arguments.format)->check(tools::OneOf(FormatNames()));
  app.add_option("--filter", arguments.filter);
  const auto from_one = [](const std::string& text) {
    uint64_t number = 0;
    const bool good = absl::SimpleAtoi(text, &number) && number != 0;
    return good ? "" : text + ": draws and dispatches count from 1";
  };
  app.add_option("--draw", arguments.questions.draw)->check(from_one);
  app.add_option("--dispatch", arguments.questions.dispatch)->check(from_one);
  app.add_flag("--draws", arguments.questions.draws);
  app.add_flag("--payloads", arguments.questions.payloads);
  app.add_option("--uses", arguments.questions.uses);
  app.add_option("--query", arguments.questions.query);
  app.add_option("--where", arguments.questions.where)->allow_extra_args(false);
  app.add_flag("--changes", arguments.questions.changes);
  app.add_flag("--hang", arguments.hang);
  app.add_option("--dmesg", arguments.dmesg);
  app.add_option("--device", arguments.device);
  app.add_option("--ecode", arguments.ecode);
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
  app.add_flag("--redact", arguments.redact);
  app.add_flag("--contexts", arguments.contexts);
  app.add_flag("--page-tables", arguments.page_tables);
  app.add_option("--convert", arguments.convert)->check(tools::OneOf(tools::ConvertFormats()));
  app.add_option("--data", arguments.data);
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
  app.add_option("--max-code", arguments.max_code)->check(any);
  app.add_option("--max-stores", arguments.max_stores)->check(any);
  // Deeper nesting could overflow the stack.
  app.add_option("--max-calls", arguments.max_calls)->check(CLI::Range(1, 256));
  app.add_option("--max-pointers", arguments.max_pointers)->check(CLI::Range(1, 64));
  const std::string help =
      absl::StrReplaceAll(kHelp, {{"@INPUTS@", absl::StrJoin(inputs, ", ")},
                                  {"@CONVERSIONS@", absl::StrJoin(tools::ConvertFormats(), ", ")}});
  const tools::Program program = {.name = "unpack",
                                  .help = help,
                                  .descriptions = BuiltInDigest,
                                  .verbs = {verbs.begin(), verbs.end()}};
  if (const std::optional<int> done = tools::ParseCommandLine(app, program, argc, argv, Complain)) {
    return done;
  }
  std::vector<std::string> given = tools::GivenOptions(app);
  const absl::Status together = tools::CheckCombinations(given, arguments.format, arguments.follow);
  if (!together.ok()) {
    Complain(together.message());
    return kWrongUsage;
  }
  return std::nullopt;
}

}  // namespace packsmith::commands
