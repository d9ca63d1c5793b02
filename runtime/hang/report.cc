#include "runtime/hang/report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/guc/messages.h"
#include "runtime/hang/bound_state.h"
#include "runtime/hang/buffer_place.h"
#include "runtime/hang/firmware_events.h"
#include "runtime/hang/judge.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/hang/ring_history.h"

namespace packsmith::hang {
namespace {

constexpr size_t kShownBefore = 5;
constexpr size_t kShownAfter = 4;
// A command streamer reads at most this far ahead of what it executes: eight cache lines.
constexpr uint64_t kFarthestFetch = 512;

std::string Hex(uint64_t value) { return absl::StrFormat("0x%x", value); }

std::string Dwords(uint64_t bytes) {
  return absl::StrCat(bytes / 4, bytes / 4 == 1 ? " dword" : " dwords");
}

std::string FirstFact(const ErrorState& state, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (std::string value = state.FactOf(key); !value.empty()) return value;
  }
  return "";
}

std::string FieldText(const tables::Tables& tables, const tables::Leaf& leaf, uint32_t width,
                      uint64_t raw) {
  const decode::Value value = decode::DecodeValue(tables, leaf, width, raw);
  std::string text;
  switch (value.kind) {
    case decode::ValueKind::kBool:
      text = value.unsigned_value != 0 ? "true" : "false";
      break;
    case decode::ValueKind::kUnsigned:
      text = absl::StrCat(value.unsigned_value);
      break;
    case decode::ValueKind::kSigned:
      text = absl::StrCat(value.signed_value);
      break;
    case decode::ValueKind::kReal:
      text = absl::StrFormat("%.9g", value.real);
      break;
    case decode::ValueKind::kWide:
    case decode::ValueKind::kAddress:
      text = Hex(value.unsigned_value);
      break;
  }
  const absl::string_view name = tables.ValueName(leaf, decode::NumberOf(value, raw));
  if (!name.empty()) absl::StrAppend(&text, " (", name, ")");
  return text;
}

// The fields of a command that are not zero, without opcodes and its length.
std::vector<Field> FieldsOf(const tables::Tables& tables, const Command& command) {
  std::vector<Field> fields;
  if (command.container == nullptr) return fields;
  constexpr size_t kMost = 64;
  constexpr uint16_t kNotShown =
      tables::kForced | tables::kLength | tables::kMustBeZero | tables::kMustBeOne;
  decode::ForEachField(tables, *command.container, command.bytes, [&](const decode::FieldAt& at) {
    if (at.cut || (at.leaf->flags & kNotShown) != 0 || fields.size() == kMost) return;
    const uint64_t raw = decode::ReadBits(command.bytes, at.bit, at.width);
    if (raw == 0) return;
    Field field;
    decode::AppendFieldName(at.name, field.name);
    field.value = FieldText(tables, *at.leaf, at.width, raw);
    fields.push_back(std::move(field));
  });
  return fields;
}

class DrawCounter : public decode::Sink {
 public:
  std::map<uint32_t, uint64_t> Take() { return std::move(before_); }

  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t) override {
    before_.emplace(submission.index, draws_);
  }
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) {
      if (packet.container != tables::kNone &&
          tables_->container(packet.container).role == tables::Role::kDraw) {
        ++draws_;
      }
    }
  }

 private:
  const tables::Tables* tables_ = nullptr;
  uint64_t draws_ = 0;
  std::map<uint32_t, uint64_t> before_;
};

// How many draws the dump has before each of its submissions.
std::map<uint32_t, uint64_t> DrawsBefore(const tables::Tables& tables, const Dump& dump) {
  DrawCounter counter;
  decode::Options options;
  options.brief = true;
  decode::Decoder decoder(tables, counter, options);
  decoder.Decode(dump);
  decoder.Finish();
  return counter.Take();
}

// Makes the report of one engine.
class Investigation {
 public:
  Investigation(const tables::Tables& tables, const Dump& dump, const ErrorEngine& engine)
      : tables_(tables), dump_(dump), engine_(engine) {
    report_.name = engine.name;
    report_.hung = engine.hung;
    report_.process = engine.process;
    report_.stop = StopOf(tables, *dump.error_state, engine);
    if (engine.ring_address) {
      if (const Memory::Segment* ring = dump.memory.Find(kGlobalSpace, *engine.ring_address)) {
        const uint64_t size = dump.memory.Resolve(*ring).memory_size;
        if (size != 0) report_.ring = Ring{*engine.ring_address, size};
      }
    }
    if (report_.ring) {
      past_ = FindRingPast(tables, dump, engine, report_.ring->address, report_.ring->size,
                           report_.stop);
    }
  }

  EngineReport Run() {
    Requests();
    Fault();
    FindStop();
    Explain();
    if (passage_.at) {
      const Command& stopped = Stopped();
      report_.fields = FieldsOf(tables_, stopped);
      if (stopped.last_work) {
        const uint64_t draws = stopped.draws;
        const uint32_t submission = stopped.submission;
        FindBound(tables_, dump_, walk_, *stopped.last_work, report_);
        if (report_.work && report_.work->container->role == tables::Role::kDraw) {
          report_.work_draw = DrawNumber(submission, draws);
        }
      }
      Show();
    }
    return std::move(report_);
  }

 private:
  // --- Where the active head is ---

  void FindStop() {
    const Stop& stop = report_.stop;
    if (!stop.active_head) return;
    uint64_t address = stop.active_head->value;
    uint32_t space = engine_.space;
    if (const std::optional<uint64_t> offset = OffsetInRing(address)) {
      report_.in_ring = true;
      ring_offset_ = *offset;
      const std::optional<uint64_t> start = RingStart();
      // The ring's address is not known.
      if (!start) return;
      space = kGlobalSpace;
      address = *start + *offset;
    }
    report_.where = PlaceOf(dump_, space, address);
    if (!report_.where->mapped) {
      // An engine that has read all of a batch is just after it, where the memory may end.
      if (address == 0 || dump_.memory.Read(space, address - 1, 1).empty()) return;
      --address;
    }
    for (const Submission& submission : dump_.submissions) {
      if (!RunsOn(dump_, submission, engine_.name) || submission.kind == "context image") continue;
      if (report_.in_ring && !submission.ring) continue;
      walk_.submissions.push_back(submission);
    }
    passage_ = FindPassage(tables_, dump_, walk_, space, address);
    if (!passage_.at && report_.in_ring && report_.ring && stop.ring_tail &&
        ring_offset_ == stop.ring_tail->value) {
      // It has read up to the tail.
      const uint64_t size = report_.ring->size;
      passage_ = FindPassage(tables_, dump_, walk_, space,
                             report_.ring->address + (ring_offset_ + size - 1) % size);
    }
    report_.reached = passage_.at.has_value();
    if (report_.reached) return;
    // Decode from the beginning of the memory that holds it: a sweep cannot cross pieces of memory.
    const Memory::Segment* segment = dump_.memory.Find(space, address);
    if (segment == nullptr) return;
    walk_ = Sweep(engine_.name, space, segment->address);
    walk_.submissions[0].own_space = engine_.space;
    passage_ = FindPassage(tables_, dump_, walk_, space, address);
  }

  // Address of the ring, if its memory or a register tells.
  std::optional<uint64_t> RingStart() const {
    if (report_.ring) return report_.ring->address;
    if (report_.stop.ring_start) return report_.stop.ring_start->value;
    return std::nullopt;
  }

  // The ring offset of the active head, if it is in the ring.
  std::optional<uint64_t> OffsetInRing(uint64_t address) const {
    const Stop& stop = report_.stop;
    if (!report_.ring) {
      // Without the ring's memory the registers decide: the ring's head, or the ring's start.
      const bool is_mapped = dump_.memory.Find(engine_.space, address) != nullptr;
      if (!stop.ring_head || is_mapped) return std::nullopt;
      if (stop.active_is_ring_head) return stop.ring_head->value;
      const uint64_t head = stop.ring_head->value;
      const bool agrees = stop.ring_start && address - stop.ring_start->value == head;
      return agrees ? std::optional<uint64_t>(head) : std::nullopt;
    }
    const Ring& ring = *report_.ring;
    if (stop.active_is_ring_head && stop.ring_head->value < ring.size) {
      return stop.ring_head->value;
    }
    const bool in_range = address >= ring.address && address - ring.address < ring.size;
    const Memory::Segment* own = dump_.memory.Find(engine_.space, address);
    // If all share one space, the ring is in it too.
    if (own != nullptr && !(in_range && own->address == ring.address)) return std::nullopt;
    if (in_range) return address - ring.address;
    if (own == nullptr && stop.active_ring_head && stop.ring_head &&
        *stop.active_ring_head == stop.ring_head->value && *stop.active_ring_head < ring.size &&
        address <= 0xffffffff) {
      return *stop.active_ring_head;
    }
    return std::nullopt;
  }

  // --- Which of the commands ---

  // The last command up to the active head that begins with the header, as an index to
  // passage_.before; its size means the command at the active head.
  std::optional<size_t> HeaderAt() const {
    if (!report_.stop.header || !passage_.at) return std::nullopt;
    const auto is = [&](const Command& command) {
      return command.FirstDword() == report_.stop.header->value;
    };
    if (is(*passage_.at)) return passage_.before.size();
    for (size_t i = passage_.before.size(); i-- > 0;) {
      if (is(passage_.before[i])) return i;
    }
    return std::nullopt;
  }

  // Where the engine stopped, most likely.
  const Command& Stopped() const {
    const std::optional<size_t> header = HeaderAt();
    return header && *header < passage_.before.size() ? passage_.before[*header] : *passage_.at;
  }

  void Show() {
    const std::optional<size_t> header = HeaderAt();
    const size_t all_before = passage_.before.size();
    size_t first = all_before - std::min(all_before, kShownBefore);
    if (header) first = std::min(first, *header - std::min<size_t>(*header, 1));
    for (size_t i = first; i < all_before; ++i) {
      if (header == i) report_.header = report_.commands.size();
      report_.commands.push_back(std::move(passage_.before[i]));
    }
    report_.active = report_.commands.size();
    if (header == all_before) report_.header = report_.active;
    report_.commands.push_back(std::move(*passage_.at));
    for (size_t i = 0; i < std::min(passage_.after.size(), kShownAfter); ++i) {
      report_.commands.push_back(std::move(passage_.after[i]));
    }
    for (const Command& command : report_.commands) {
      const bool is_draw =
          command.container != nullptr && command.container->role == tables::Role::kDraw;
      report_.draws.push_back(is_draw ? DrawNumber(command.submission, command.draws).value_or(0)
                                      : 0);
    }
  }

  // The number that `unpack --draw` uses for the draw before which there are `draws` - 1 in that
  // submission. Empty if no submission of the dump reaches it.
  std::optional<uint64_t> DrawNumber(uint32_t submission, uint64_t draws) {
    if (!report_.reached) return std::nullopt;
    if (!draws_before_) draws_before_ = DrawsBefore(tables_, dump_);
    const auto before = draws_before_->find(submission);
    if (before == draws_before_->end()) return std::nullopt;
    return before->second + draws;
  }

  // --- What agrees ---

  void Say(std::string sentence) { report_.findings.push_back(std::move(sentence)); }

  static std::string NameOf(const tables::Tables& tables, const Command& command) {
    return command.container == nullptr ? "unknown command"
                                        : std::string(tables.string(command.container->name));
  }

  void Explain() {
    const Stop& stop = report_.stop;
    if (stop.header) {
      const uint32_t packet = tables_.FindPacket(0, EngineMask(tables_, engine_.name),
                                                 static_cast<uint32_t>(stop.header->value), 4);
      if (packet != tables::kNone) {
        report_.header_name = std::string(tables_.string(tables_.container(packet).name));
      }
    }
    if (!stop.active_head) {
      if (!engine_.registers.empty()) {
        Say("No register in the dump is described as the one that gives the engine's position.");
      }
      return;
    }
    if (report_.where) ExplainActive();
    if (passage_.at) ExplainHeader();
    ExplainBatchHead();
    ExplainRing();
    ExplainLastBatch();
  }

  void ExplainActive() {
    const std::string& name = report_.stop.active_head->by;
    if (report_.in_ring && !report_.ring) return;
    if (!report_.where->mapped && passage_.at) {
      Say(absl::StrCat(name, " is just after the memory that the dump has of the batch."));
      return;
    }
    if (!report_.where->mapped) {
      Say(absl::StrCat(
          name, " is in memory that the dump does not have",
          report_.where->holder ? absl::StrCat(", of \"", report_.where->holder->name, "\"") : "",
          ": what the engine read there is not known."));
      return;
    }
    if (!passage_.at) {
      Say(absl::StrCat("No commands could be read at ", name, "."));
      return;
    }
    if (!report_.reached) {
      Say(absl::StrCat(
          "Decoding the submissions does not reach ", name,
          ". The commands around it were decoded from the start of their memory, and "
          "may not be commands: the engine ran astray, or the memory has changed since "
          "it was read."));
    }
    const Command& at = *passage_.at;
    if (at.container == nullptr) {
      Say(absl::StrCat("The dword at ", name,
                       " does not begin a command that this generation has for the engine."));
    }
  }

  void ExplainHeader() {
    const Stop& stop = report_.stop;
    if (!stop.header) return;
    const std::string& header = stop.header->by;
    const std::string& active = stop.active_head->by;
    const std::optional<size_t> index = HeaderAt();
    const uint64_t address = report_.where->address;
    if (!index) {
      Say(absl::StrFormat(
          "%s is 0x%08x%s, which is not the header of any of the %d commands up to %s: it is left "
          "over from another batch or from the ring, or the memory has changed since it was read.",
          header, stop.header->value,
          report_.header_name.empty() ? "" : absl::StrCat(" (", report_.header_name, ")"),
          passage_.before.size() + 1, active));
      return;
    }
    ExplainMatch(*index, address);
    size_t alike = 0;
    while (alike < *index &&
           passage_.before[*index - 1 - alike].FirstDword() == stop.header->value) {
      ++alike;
    }
    if (alike != 0) {
      Say(alike == 1
              ? "The command before it has the same header: the engine may have been in that one."
              : absl::StrCat(
                    "The ", alike,
                    " commands before it have the same header: the engine may have been in "
                    "one of them."));
    }
  }

  // The header is that of the command with this index, as HeaderAt() has it.
  void ExplainMatch(size_t index, uint64_t address) {
    const std::string& header = report_.stop.header->by;
    const std::string& active = report_.stop.active_head->by;
    const Command& stopped = Stopped();
    const std::string name = NameOf(tables_, stopped);
    if (index == passage_.before.size()) {
      if (address == stopped.address) {
        Say(
            absl::StrFormat("%s is the header of the %s at %s: the engine has begun it and has not "
                            "finished it.",
                            header, name, active));
      } else {
        Say(absl::StrFormat(
            "%s is the header of the %s that holds %s: the engine executes it, and "
            "has read %d of its %s.",
            header, name, active, (address - stopped.address) / 4, Dwords(stopped.size)));
      }
      return;
    }
    const uint64_t end = stopped.address + stopped.size;
    if (stopped.space == passage_.at->space && stopped.address < address && end <= address &&
        address - end <= kFarthestFetch) {
      Say(absl::StrFormat(
          "%s is the header of the %s at 0x%x: the engine executes that one, and %s is %s.", header,
          name, stopped.address, active,
          end == address
              ? "just after it"
              : absl::StrCat(Dwords(address - end), " after it: the engine has read ahead")));
      return;
    }
    Say(
        absl::StrFormat("%s is the header of the %s at 0x%x, the last such command before %s, but "
                        "not next to it.",
                        header, name, stopped.address, active));
  }

  void ExplainBatchHead() {
    const Stop& stop = report_.stop;
    if (!stop.batch_head || report_.in_ring || stop.batch_head->value == 0) return;
    const uint64_t batch = stop.batch_head->value;
    const uint64_t active = stop.active_head->value;
    const uint64_t apart = batch > active ? batch - active : active - batch;
    if (apart == 0) {
      Say(absl::StrCat(stop.batch_head->by, " agrees with ", stop.active_head->by, "."));
    } else if (apart <= kFarthestFetch) {
      Say(absl::StrCat(stop.batch_head->by, " is ", Dwords(apart),
                       batch > active ? " after " : " before ", stop.active_head->by,
                       ": the same place, apart from prefetching."));
    } else {
      Say(absl::StrCat(stop.batch_head->by, " is ", Hex(batch), ", far from ", stop.active_head->by,
                       ": the engine moved on between the two reads."));
    }
  }

  void ExplainRing() {
    const Stop& stop = report_.stop;
    if (!stop.ring_head) return;
    const std::string& head = stop.ring_head->by;
    const std::string& active = stop.active_head->by;
    if (report_.in_ring) {
      if (ring_offset_ == stop.ring_head->value) {
        Say(absl::StrCat(head, " agrees with ", active,
                         ": the engine executes its ring, not a batch."));
      } else {
        Say(absl::StrCat(active, " is in the ring, but ", head, " is at ring offset ",
                         Hex(stop.ring_head->value), "."));
      }
      if (!report_.ring) {
        Say(absl::StrCat("The dump does not have the ring's memory", RingBegins(), ": ", head,
                         " is at ring offset ", Hex(stop.ring_head->value), "."));
      }
    } else if (report_.ring && passage_.outer && passage_.outer->space == kGlobalSpace &&
               passage_.outer->address >= report_.ring->address &&
               passage_.outer->address - report_.ring->address < report_.ring->size) {
      const Command& start = *passage_.outer;
      const uint64_t from = start.address - report_.ring->address;
      // A ring's last packet may end where its first one begins.
      const uint64_t to = (from + start.size) % report_.ring->size;
      const std::string name = NameOf(tables_, start);
      if (stop.ring_head->value == to) {
        Say(
            absl::StrFormat("%s is just after the %s at ring offset 0x%x that started this batch: "
                            "it agrees with %s.",
                            head, name, from, active));
      } else if (stop.ring_head->value >= from && stop.ring_head->value - from < start.size) {
        Say(
            absl::StrFormat("%s is at the %s at ring offset 0x%x that started this batch: it "
                            "agrees with %s.",
                            head, name, from, active));
      } else {
        Say(
            absl::StrFormat("%s is at ring offset 0x%x, but this batch was started by the %s at "
                            "0x%x: they do not agree.",
                            head, stop.ring_head->value, name, from));
      }
    } else if (!report_.ring) {
      Say(absl::StrCat("The dump does not have the ring's memory", RingBegins(), ": ", head,
                       " is at ring offset ", Hex(stop.ring_head->value), "."));
    } else if (passage_.at) {
      Say(absl::StrCat("No command between ring offset ", Hex(past_.begin),
                       " and the ring's tail points to ", active,
                       ": the batch was started earlier."));
    }
    if (past_.astray) {
      Say(absl::StrCat("The ring, decoded from offset ", Hex(*past_.astray), ", does not reach ",
                       head, ": what the engine executed before is not known."));
    } else if (past_.from && *past_.from != past_.begin) {
      Say(absl::StrCat("The ring, decoded from offset ", Hex(*past_.from), ", reaches ", head,
                       " after ", past_.packets, past_.packets == 1 ? " packet." : " packets."));
    }
    if (stop.ring_tail && stop.ring_tail->value == stop.ring_head->value) {
      Say(absl::StrCat(head, " equals ", stop.ring_tail->by,
                       ": nothing waits in the ring after what the engine executes."));
    }
  }

  // ", which begins at 0x12d000", where a register says so.
  std::string RingBegins() const {
    const std::optional<Said>& start = report_.stop.ring_start;
    return start ? absl::StrCat(", which begins at ", Hex(start->value)) : "";
  }

  // An engine that is in its ring, after a batch that was read to its end, waits for the work of
  // that batch.
  void ExplainLastBatch() {
    if (!report_.in_ring || !report_.ring || !passage_.at || !report_.reached) return;
    if (!passage_.starter || !passage_.last_of_batch) return;
    const Command& stopped = Stopped();
    const Command& last = *passage_.last_of_batch;
    const uint64_t end = last.address + last.size;
    std::string text = absl::StrFormat(
        "The batch that the %s at ring offset 0x%x started was read to its end, the %s at 0x%x: ",
        NameOf(tables_, *passage_.starter), passage_.starter->address - report_.ring->address,
        NameOf(tables_, last), last.address);
    if (stopped.space == kGlobalSpace && stopped.depth == 0) {
      absl::StrAppendFormat(&text,
                            "in the %s at ring offset 0x%x the engine waits for the work of that "
                            "batch.",
                            NameOf(tables_, stopped), stopped.address - report_.ring->address);
    } else {
      absl::StrAppend(&text, "the engine waits for the work of that batch.");
    }
    Say(std::move(text));
    const std::optional<Said>& batch = report_.stop.batch_head;
    if (!batch || batch->value == 0) return;
    if (batch->value >= last.address && batch->value - end + last.size <= kFarthestFetch) {
      Say(batch->value == end
              ? absl::StrCat(batch->by, " is just after that end.")
              : absl::StrCat(batch->by, " is at that end, apart from prefetching."));
    } else {
      Say(absl::StrCat(batch->by, " is ", Hex(batch->value), ", which is not at that end."));
    }
  }

  // --- Requests, faults ---

  void Requests() {
    const Stop& stop = report_.stop;
    bool running = false;
    for (const ErrorRequest& said : engine_.requests) {
      Request request{said, Progress::kUnknown};
      if (report_.ring && stop.ring_head && stop.ring_tail && said.tail &&
          stop.ring_head->value < report_.ring->size) {
        const uint64_t size = report_.ring->size;
        const uint64_t head = stop.ring_head->value;
        const auto ahead = [&](uint64_t at) { return (at % size + size - head) % size; };
        if (ahead(*said.tail) == 0 || ahead(*said.tail) > ahead(stop.ring_tail->value)) {
          request.progress = Progress::kDone;
        } else if (said.head ? ahead(*said.head) > ahead(*said.tail) || *said.head == head
                             : !running) {
          request.progress = Progress::kRuns;
          running = true;
        } else {
          request.progress = Progress::kWaits;
        }
      }
      report_.requests.push_back(std::move(request));
    }
  }

  void Fault() {
    const Stop& stop = report_.stop;
    if (!stop.fault_address || (stop.fault && stop.fault->value == 0)) return;
    if (!stop.fault && stop.fault_address->value == 0) return;
    report_.fault = PlaceOf(dump_, stop.fault_is_global ? kGlobalSpace : engine_.space,
                            stop.fault_address->value);
  }

  const tables::Tables& tables_;
  const Dump& dump_;
  const ErrorEngine& engine_;
  EngineReport report_;
  Walk walk_;
  Passage passage_;
  RingPast past_;
  uint64_t ring_offset_ = 0;  // of the active head, where it is in the ring
  std::optional<std::map<uint32_t, uint64_t>> draws_before_;
};

// Whether the word after `before` in `text` is a name or an alias of the engine.
bool IsNamed(const tables::Tables& tables, absl::string_view text, absl::string_view before,
             const ErrorEngine& engine) {
  const size_t at = text.find(before);
  if (at == absl::string_view::npos) return false;
  absl::string_view word = text.substr(at + before.size());
  word = word.substr(0, word.find_first_of(" ,)"));
  if (word == engine.name) return true;
  const uint32_t meant = tables.FindEngine(word);
  // If there are several engines of a kind, only the full name identifies one.
  const bool plain =
      absl::string_view(engine.name).find_first_of("0123456789") == absl::string_view::npos ||
      word.find_first_of("0123456789") == absl::string_view::npos;
  return plain && meant != tables::kNone && meant == tables.FindEngine(engine.name);
}

// Whether an engine had something to do.
bool IsBusy(const Stop& stop) {
  return stop.ring_head && stop.ring_tail && stop.ring_head->value != stop.ring_tail->value;
}

// A queue's progress with a job, or with the one that it began last. The numbers wrap.
JobState StateOf(const ErrorLrc& context, const std::optional<int64_t>* job) {
  if (!context.started || !context.finished) return JobState::kUnknown;
  const auto apart = [](int64_t a, int64_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
  };
  const int64_t number = job != nullptr && job->has_value() ? **job : *context.started;
  if (apart(*context.started, number) < 0) return JobState::kNotBegun;
  return apart(number, *context.finished) > 0 ? JobState::kRuns : JobState::kEnded;
}

// All events, those that the dump itself has after those from elsewhere.
std::vector<Event> EventsOf(const Dump& dump, absl::Span<const Event> events) {
  std::vector<Event> all(events.begin(), events.end());
  if (std::optional<Event> reason = EventOfLine(dump.error_state->title)) {
    reason->origin = EventOrigin::kReason;
    reason->source = "the kernel's reason";
    all.push_back(*std::move(reason));
  }
  for (Event& event : EventsOfFirmware(dump)) all.push_back(std::move(event));
  return all;
}

// How long a queue's last job has run, by the engine's clock, of which dumps have 32 bits.
std::optional<double> SecondsRun(const ErrorState& state, const ErrorContext& context) {
  uint64_t hertz = 0;
  if (!context.timestamp || !context.job_timestamp ||
      !absl::SimpleAtoi(state.FactOf("CS reference clock"), &hertz) || hertz == 0) {
    return std::nullopt;
  }
  const auto ticks = static_cast<uint32_t>(*context.timestamp - *context.job_timestamp);
  return static_cast<double>(ticks) / static_cast<double>(hertz);
}

// Adds what is known without registers.
void AddContexts(const Dump& dump, const ErrorState& state, HangReport& report) {
  for (const ErrorContext& context : state.contexts) {
    Context& one = report.contexts.emplace_back();
    one.said = context;
    one.at_fault = state.job_queue && context.id == absl::StrCat(*state.job_queue);
    // The job's number counts in its own queue.
    const bool is_of_job = state.job_queue ? one.at_fault : state.contexts.size() == 1;
    one.state = StateOf(context, is_of_job ? &state.job : nullptr);
    if (context.schedule_state) {
      one.schedule_state = guc::FlagsInWords("QUEUE_STATE", *context.schedule_state);
    }
    if (context.work_status) {
      one.work_status =
          std::string(guc::NameOfValue("WORK_QUEUE_DESCRIPTOR", "Status", *context.work_status));
    }
    one.seconds = SecondsRun(state, context);
  }
  constexpr uint32_t kBatchSpace = 0;
  for (const uint64_t batch : state.batches) {
    report.batches.push_back(PlaceOf(dump, kBatchSpace, batch));
  }
}

}  // namespace

HangReport MakeHangReport(const tables::Tables& tables, const Dump& dump,
                          absl::Span<const Event> events) {
  HangReport report;
  if (dump.error_state == nullptr) return report;
  const ErrorState& state = *dump.error_state;
  report.kind = state.kind;
  report.reason = state.title;
  report.kernel = FirstFact(state, {"Kernel", "kernel"});
  report.time = FirstFact(state, {"Time", "Snapshot time"});
  report.process = FirstFact(state, {"Process"});
  report.device = std::string(tables.title());
  if (!dump.device.platform.empty()) absl::StrAppend(&report.device, ", ", dump.device.platform);
  report.pci_id = dump.device.pci_id;
  report.versions = FirmwareVersionsOf(state);
  for (const ErrorFact& fact : state.facts) {
    if (report.process.empty() && absl::StartsWith(fact.key, "Active process")) {
      report.process = fact.value;
    }
  }
  AddContexts(dump, state, report);
  // The engines that the kernel blames; else those that it may have meant.
  const auto each = [&](const auto& is) {
    std::vector<const ErrorEngine*> found;
    for (const ErrorEngine& engine : state.engines) {
      if (is(engine)) found.push_back(&engine);
    }
    return found;
  };
  std::vector<const ErrorEngine*> blamed = each([](const ErrorEngine& e) { return e.hung; });
  // "..., reason: Hang on rcs0, action: reset"; the engine's section may be called "render".
  if (blamed.empty()) {
    blamed = each([&](const ErrorEngine& e) { return IsNamed(tables, state.title, "ang on ", e); });
  }
  if (blamed.empty()) {
    blamed = each([&](const ErrorEngine& e) {
      return std::any_of(state.facts.begin(), state.facts.end(), [&](const ErrorFact& fact) {
        return absl::StartsWith(fact.key, "Active process") &&
               IsNamed(tables, fact.key, "(on ring ", e);
      });
    });
  }
  if (blamed.empty()) blamed = each([](const ErrorEngine& e) { return !e.process.empty(); });
  if (blamed.empty()) {
    blamed = each([&](const ErrorEngine& e) { return IsBusy(StopOf(tables, state, e)); });
  }
  if (blamed.empty()) blamed = each([](const ErrorEngine& e) { return !e.registers.empty(); });
  for (const ErrorEngine& engine : state.engines) {
    if (std::find(blamed.begin(), blamed.end(), &engine) == blamed.end()) {
      report.others.push_back(engine.name);
    } else {
      report.engines.push_back(Investigation(tables, dump, engine).Run());
    }
  }
  report.events = EventsOf(dump, events);
  report.firmware = FirmwareLines(dump);
  Judge(tables, dump, report);
  return report;
}

}  // namespace packsmith::hang
