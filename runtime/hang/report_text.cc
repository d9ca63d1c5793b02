#include "runtime/hang/report_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::hang {
namespace {

using decode::Harmless;

constexpr size_t kWidth = 100;
constexpr size_t kMostWords = 6;  // of a command's dwords
constexpr size_t kMostLogLines = 20;

class Writer {
 public:
  Writer(const tables::Tables& tables, const HangReport& report, bool color)
      : tables_(tables), report_(report), color_(color) {}

  std::string Write() {
    Verdicts();
    Line(absl::StrCat(Bold("hang"), "  ",
                      report_.reason.empty() ? report_.kind : Harmless(report_.reason)));
    Fact("kernel", report_.kernel);
    Fact("time", report_.time);
    Fact("process", report_.process);
    std::string device = report_.device;
    if (report_.pci_id) absl::StrAppendFormat(&device, ", PCI id 0x%04x", *report_.pci_id);
    Fact("device", device);
    std::string versions;
    if (!report_.versions.guc.empty()) versions = absl::StrCat("GuC ", report_.versions.guc);
    if (!report_.versions.huc.empty()) {
      absl::StrAppend(&versions, versions.empty() ? "" : ", ", "HuC ", report_.versions.huc);
    }
    Fact("firmware", versions);
    for (const EngineReport& engine : report_.engines) Engine(engine);
    if (report_.engines.empty()) Line("No engine's registers are in the dump.");
    Contexts();
    Log();
    Firmware();
    if (!report_.others.empty()) {
      Line("");
      Wrapped("other engines in the dump: ", Harmless(absl::StrJoin(report_.others, ", ")), 2);
    }
    Line("");
    return std::move(text_);
  }

 private:
  std::string Bold(absl::string_view text) const {
    return color_ ? absl::StrCat("\x1b[1m", text, "\x1b[0m") : std::string(text);
  }
  std::string Red(absl::string_view text) const {
    return color_ ? absl::StrCat("\x1b[31m", text, "\x1b[0m") : std::string(text);
  }
  void Line(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Fact(absl::string_view name, const std::string& value) {
    if (value.empty()) return;
    Line(absl::StrFormat("  %-9s %s", name, Harmless(value)));
  }

  // `start`, then the words of `text`, wrapped; further lines are indented by `hanging`.
  void Wrapped(std::string start, absl::string_view text, size_t hanging) {
    std::string line = std::move(start);
    bool empty = true;
    for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
      if (!empty && line.size() + 1 + word.size() > kWidth) {
        Line(line);
        line.assign(hanging, ' ');
        empty = true;
      }
      absl::StrAppend(&line, empty ? "" : " ", word);
      empty = false;
    }
    Line(line);
  }

  // The best verdict first, with its evidence; of the others what they say.
  void Verdicts() {
    for (size_t i = 0; i < report_.verdicts.size(); ++i) {
      const Verdict& verdict = report_.verdicts[i];
      const std::string head =
          absl::StrCat(i == 0 ? Bold("verdict") : "also   ", "  ", hang::NameOf(verdict.kind),
                       " (confidence: ", hang::NameOf(verdict.confidence), ")");
      Line(verdict.engine.empty() ? head : absl::StrCat(head, ", ", Harmless(verdict.engine)));
      Wrapped("  ", Harmless(verdict.sentence), 2);
      if (i != 0) continue;
      for (const std::string& evidence : verdict.evidence) Wrapped("  - ", Harmless(evidence), 4);
      if (!verdict.alternative.empty()) {
        Wrapped("  or else: ", Harmless(verdict.alternative), 4);
      }
    }
    if (report_.verdicts.empty()) {
      Line(absl::StrCat(Bold("verdict"), "  none: nothing in the dump says why the GPU hangs"));
    }
    for (const std::string& warning : report_.warnings) Wrapped("warning  ", Harmless(warning), 2);
    Line("");
  }

  // 3,145,728
  static std::string Grouped(uint64_t number) {
    std::string text = absl::StrCat(number);
    for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
  }

  static std::string Named(const Neighbor& neighbor) {
    return neighbor.name.empty() ? "a buffer" : Harmless(neighbor.name);
  }

  // Describes a buffer that has no name.
  static std::string Unnamed(const Neighbor& neighbor, bool saved) {
    std::string text =
        absl::StrFormat("a buffer of %s bytes at 0x%x", Grouped(neighbor.size), neighbor.address);
    if (!neighbor.tiling.empty()) absl::StrAppend(&text, ", ", neighbor.tiling, "-tiled");
    if (!neighbor.access.empty()) absl::StrAppend(&text, ", ", neighbor.access);
    if (!saved) absl::StrAppend(&text, ", not saved");
    return text;
  }

  // `near`: with the nearest buffers, if none holds the address.
  static std::string Where(const Place& place, bool near) {
    if (place.holder && place.holder->name.empty()) {
      const std::string buffer = Unnamed(*place.holder, place.mapped);
      if (place.holder->distance == 0) return absl::StrCat("in ", buffer);
      return absl::StrFormat("at 0x%x of %s", place.holder->distance, buffer);
    }
    if (place.holder) {
      return absl::StrFormat("in %s+0x%x%s", Named(*place.holder), place.holder->distance,
                             place.mapped ? "" : ", which is not in the dump");
    }
    std::string text = place.mapped ? "in unnamed memory" : "not in any buffer of the dump";
    if (!near) return text;
    if (place.below) {
      absl::StrAppendFormat(&text, "; 0x%x after %s (0x%x, %d bytes)", place.below->distance,
                            Named(*place.below), place.below->address, place.below->size);
    }
    if (place.above) {
      absl::StrAppendFormat(&text, "; 0x%x before %s (0x%x)", place.above->distance,
                            Named(*place.above), place.above->address);
    }
    return text;
  }

  void Engine(const EngineReport& engine) {
    Line("");
    std::string title =
        absl::StrCat(Bold("engine " + Harmless(engine.name)), engine.hung ? ", which hangs" : "");
    if (!engine.process.empty()) absl::StrAppend(&title, ", ", Harmless(engine.process));
    Line(title);
    Registers(engine);
    if (engine.where) {
      Wrapped("  stopped   ",
              absl::StrFormat("%s0x%x, %s", engine.in_ring ? "in its ring, at " : "at ",
                              engine.where->address, Where(*engine.where, true)),
              12);
    }
    Commands(engine);
    for (const std::string& finding : engine.findings) Wrapped("  - ", Harmless(finding), 4);
    if (!engine.stop.busy.empty()) {
      std::vector<std::string> registers;
      for (const Busy& busy : engine.stop.busy) {
        registers.push_back(
            absl::StrCat(Harmless(busy.by), " (", absl::StrJoin(busy.units, ", "), ")"));
      }
      Wrapped("  not idle  ", absl::StrJoin(registers, ", "), 12);
    }
    if (!engine.stop.pipeline.last.empty()) {
      Wrapped("  suspect   ", Describe(engine.stop.pipeline), 12);
    }
    RingOf(engine);
    if (engine.fault) {
      Wrapped("  fault     ",
              absl::StrFormat("%s, %s", Red(absl::StrFormat("0x%x", engine.fault->address)),
                              Where(*engine.fault, true)),
              12);
    }
    Work(engine);
  }

  void Registers(const EngineReport& engine) {
    const Stop& stop = engine.stop;
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<Said>& said, const char* form) {
      if (said) parts.push_back(absl::StrCat(Harmless(said->by), form, absl::Hex(said->value)));
    };
    add(stop.active_head, " 0x");
    if (stop.header) {
      parts.push_back(absl::StrFormat(
          "%s 0x%08x%s", Harmless(stop.header->by), stop.header->value,
          engine.header_name.empty() ? "" : absl::StrCat(" (", engine.header_name, ")")));
    }
    add(stop.batch_head, " 0x");
    add(stop.ring_head, " at ring offset 0x");
    add(stop.ring_tail, " at ring offset 0x");
    if (!parts.empty()) Wrapped("  registers ", absl::StrJoin(parts, ", "), 12);
  }

  std::string NameOf(const Command& command) const {
    return command.container == nullptr ? "unknown"
                                        : std::string(tables_.string(command.container->name));
  }

  void Commands(const EngineReport& engine) {
    size_t widest = 0;
    for (const Command& command : engine.commands) {
      widest = std::max(widest, NameOf(command).size());
    }
    for (size_t i = 0; i < engine.commands.size(); ++i) {
      const Command& command = engine.commands[i];
      std::vector<std::string> marks;
      if (engine.active == i) {
        const uint64_t into = engine.where->address - command.address;
        marks.push_back(into == 0 ? engine.stop.active_head->by
                                  : absl::StrFormat("%s+0x%x", engine.stop.active_head->by, into));
      }
      if (engine.header == i) marks.push_back(engine.stop.header->by);
      std::string words;
      for (size_t at = 0; at + 4 <= command.bytes.size() && at / 4 < kMostWords; at += 4) {
        const uint32_t word = uint32_t{command.bytes[at]} | uint32_t{command.bytes[at + 1]} << 8 |
                              uint32_t{command.bytes[at + 2]} << 16 |
                              uint32_t{command.bytes[at + 3]} << 24;
        absl::StrAppendFormat(&words, " %08x", word);
      }
      if (command.size > kMostWords * 4) absl::StrAppend(&words, " ...");
      if (i < engine.draws.size() && engine.draws[i] != 0) {
        absl::StrAppend(&words, "  draw ", engine.draws[i]);
      }
      std::string line =
          absl::StrFormat("    %s 0x%012x  %-*s %s", marks.empty() ? " " : ">", command.address,
                          static_cast<int>(widest), NameOf(command), words);
      if (!marks.empty()) absl::StrAppend(&line, "  <- ", Harmless(absl::StrJoin(marks, ", ")));
      Line(marks.empty() ? line : Bold(line));
      // The fields of the command that the engine stopped in.
      if (i != engine.header.value_or(engine.active.value_or(i + 1))) continue;
      for (const Field& field : engine.fields) {
        Line(absl::StrFormat("          %-44s %s", field.name, field.value));
      }
    }
  }

  void RingOf(const EngineReport& engine) {
    const Stop& stop = engine.stop;
    if (engine.ring && stop.ring_head && stop.ring_tail) {
      Line(absl::StrFormat("  ring      0x%x, %d bytes, from 0x%x to 0x%x%s", engine.ring->address,
                           engine.ring->size, stop.ring_head->value, stop.ring_tail->value,
                           stop.ring_tail->value < stop.ring_head->value    ? " (wraps around)"
                           : stop.ring_tail->value == stop.ring_head->value ? " (empty)"
                                                                            : ""));
    }
    constexpr const char* kProgress[] = {"request", "done", "runs", "waits"};
    for (const Request& request : engine.requests) {
      std::string place;
      if (request.said.head && request.said.tail) {
        place = absl::StrFormat("0x%x..0x%x", *request.said.head, *request.said.tail);
      } else if (request.said.tail) {
        place = absl::StrFormat("to 0x%x", *request.said.tail);
      }
      Line(absl::StrFormat("    %-7s  %-16s %s", kProgress[static_cast<int>(request.progress)],
                           place, Harmless(request.said.text)));
    }
  }

  void Work(const EngineReport& engine) {
    if (!engine.work) return;
    const bool is_draw = engine.work->container->role == tables::Role::kDraw;
    const std::string number =
        engine.work_draw ? absl::StrCat(", draw ", *engine.work_draw) : std::string();
    Line(absl::StrFormat("  last %s %s at 0x%x%s; its state:", is_draw ? "draw " : "dispatch ",
                         NameOf(*engine.work), engine.work->address, number));
    for (const Bound& bound : engine.bound) {
      Line(absl::StrFormat("    %s at 0x%x", Harmless(bound.packet), bound.address));
      Addresses(bound.addresses, 6);
      for (const Reached& reached : bound.reached) {
        std::string name = Harmless(reached.name);
        if (reached.index >= 0) absl::StrAppend(&name, "[", reached.index, "]");
        if (!reached.about.empty()) absl::StrAppend(&name, ", ", Harmless(reached.about));
        Line(absl::StrFormat("      %-44s 0x%x, %d bytes, %s", name, reached.place.address,
                             reached.size, Where(reached.place, false)));
        Addresses(reached.addresses, 8);
      }
    }
    if (engine.bound_left_out != 0) Line(absl::StrCat("    and ", engine.bound_left_out, " more"));
  }

  static void LrcInto(const ErrorLrc& lrc, std::vector<std::string>& parts) {
    if (lrc.image) parts.push_back(absl::StrFormat("image at 0x%x", *lrc.image));
    if (lrc.head && lrc.tail) {
      parts.push_back(absl::StrFormat("ring from 0x%x to 0x%x when it was last switched", *lrc.head,
                                      *lrc.tail));
    }
    if (lrc.started && lrc.finished) {
      parts.push_back(absl::StrCat("last job begun ", *lrc.started, ", ended ", *lrc.finished));
    }
  }

  // The firmware's queues and the job at fault.
  void Contexts() {
    if (report_.contexts.empty() && report_.batches.empty()) return;
    Line("");
    for (const Context& context : report_.contexts) {
      const ErrorContext& said = context.said;
      std::vector<std::string> parts = {absl::StrCat("GuC ID ", Harmless(said.id))};
      if (!said.engine.empty()) parts.push_back(Harmless(said.engine));
      if (context.at_fault) parts.push_back("named in the kernel's reason");
      if (said.width > 1) parts.push_back(absl::StrCat("on ", said.width, " engines at once"));
      if (!context.schedule_state.empty()) {
        parts.push_back(absl::StrCat("state: ", context.schedule_state));
      }
      LrcInto(said, parts);
      constexpr const char* kStates[] = {"", "the job at fault has not begun",
                                         "a job has begun and not ended",
                                         "all jobs that began have ended"};
      const char* state = kStates[static_cast<int>(context.state)];
      if (*state != '\0') parts.push_back(state);
      if (context.seconds) {
        parts.push_back(absl::StrFormat("which has run for %.3f s", *context.seconds));
      }
      Wrapped("  context   ", absl::StrJoin(parts, ", "), 12);
      for (size_t i = 0; i < said.parallel.size(); ++i) {
        parts = {absl::StrCat("engine ", i + 2, " of it")};
        LrcInto(said.parallel[i], parts);
        Wrapped("            ", absl::StrJoin(parts, ", "), 14);
      }
      if (said.work_head && said.work_tail) {
        Wrapped(
            "            ",
            absl::StrFormat(
                "its work queue is read up to 0x%x and written up to 0x%x%s", *said.work_head,
                *said.work_tail,
                context.work_status.empty() ? "" : absl::StrCat(", and is ", context.work_status)),
            14);
      }
    }
    for (const Place& batch : report_.batches) {
      Wrapped("  job       ",
              absl::StrFormat("batch at 0x%x, %s", batch.address, Where(batch, true)), 12);
    }
  }

  // The lines of the kernel's log that may be of this hang, the last ones.
  void Log() {
    std::vector<const Event*> lines;
    for (const Event& event : report_.events) {
      if (event.origin == EventOrigin::kLog) lines.push_back(&event);
    }
    if (lines.empty()) return;
    Line("");
    const size_t left_out = lines.size() - std::min(lines.size(), kMostLogLines);
    if (left_out != 0) {
      Line(absl::StrCat("  log       ", left_out, left_out == 1 ? " line" : " lines", " before"));
    }
    for (size_t i = left_out; i < lines.size(); ++i) {
      const Event& event = *lines[i];
      Wrapped("  log       ", Harmless(absl::StrCat(event.source, ": ", event.text)), 12);
    }
  }

  // The firmware's last messages, and its log.
  void Firmware() {
    if (report_.firmware.empty()) return;
    Line("");
    for (const std::string& line : report_.firmware) {
      Wrapped("  firmware  ", Harmless(line), 12);
    }
  }

  void Addresses(const std::vector<Address>& addresses, size_t indent) {
    for (const Address& address : addresses) {
      Line(absl::StrFormat("%s%-*s 0x%x, %s", std::string(indent, ' '),
                           static_cast<int>(50 - indent), address.field, address.place.address,
                           Where(address.place, false)));
    }
  }

  const tables::Tables& tables_;
  const HangReport& report_;
  const bool color_;
  std::string text_;
};

void AppendFacts(const std::vector<ErrorFact>& facts, std::string& text) {
  std::string section;
  for (const ErrorFact& fact : facts) {
    if (fact.section != section) {
      section = fact.section;
      absl::StrAppend(&text, "  ", Harmless(section), "\n");
    }
    absl::StrAppend(&text, section.empty() ? "  " : "    ", Harmless(fact.key),
                    fact.key.empty() ? "" : ": ", Harmless(fact.value), "\n");
  }
}

}  // namespace

std::string FactsToText(const ErrorState& state) {
  std::string facts;
  AppendFacts(state.facts, facts);
  for (const ErrorEngine& engine : state.engines) AppendFacts(engine.facts, facts);
  return facts.empty() ? "" : absl::StrCat("\nthe dump also says\n", facts);
}

std::string ToText(const tables::Tables& tables, const HangReport& report, bool color) {
  return Writer(tables, report, color).Write();
}

}  // namespace packsmith::hang
