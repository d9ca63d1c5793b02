#include "runtime/hang/report_json.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace packsmith::hang {
namespace {

class Writer {
 public:
  explicit Writer(const tables::Tables& tables) : tables_(tables), json_(out_) {}

  std::string Write(const HangReport& report) {
    json_.StartObject();
    Text("type", "hang");
    Text("kind", report.kind);
    Text("reason", report.reason);
    Text("kernel", report.kernel);
    Text("time", report.time);
    Text("process", report.process);
    Text("device", report.device);
    if (report.pci_id) Hex("pci_id", *report.pci_id);
    Text("guc_version", report.versions.guc);
    Text("huc_version", report.versions.huc);
    List("verdicts", report.verdicts, [this](const Verdict& verdict) { Members(verdict); });
    List("warnings", report.warnings, [this](const std::string& warning) { String(warning); });
    List("events", report.events, [this](const Event& event) { Members(event); });
    List("firmware", report.firmware, [this](const std::string& line) { String(line); });
    List("engines", report.engines, [this](const EngineReport& engine) { Engine(engine); });
    List("contexts", report.contexts, [this](const Context& context) { Members(context); });
    List("batches", report.batches, [this](const Place& place) {
      json_.StartObject();
      Members(place);
      json_.EndObject();
    });
    List("other_engines", report.others, [this](const std::string& name) { String(name); });
    json_.EndObject();
    return std::string(out_.GetString(), out_.GetSize()) + "\n";
  }

 private:
  void String(absl::string_view text) {
    json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  // Empty texts are left out.
  void Text(const char* key, absl::string_view text) {
    if (text.empty()) return;
    json_.Key(key);
    String(text);
  }
  void Hex(const char* key, uint64_t value) {
    json_.Key(key);
    String(absl::StrFormat("0x%x", value));
  }
  void Number(const char* key, uint64_t value) {
    json_.Key(key);
    json_.Uint64(value);
  }
  void Flag(const char* key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }
  template <class T, class Visit>
  void List(const char* key, const std::vector<T>& all, const Visit& visit) {
    json_.Key(key);
    json_.StartArray();
    for (const T& one : all) visit(one);
    json_.EndArray();
  }

  void Members(const Verdict& verdict) {
    json_.StartObject();
    Text("kind", NameOf(verdict.kind));
    Text("confidence", NameOf(verdict.confidence));
    Text("engine", verdict.engine);
    Text("sentence", verdict.sentence);
    List("evidence", verdict.evidence, [this](const std::string& one) { String(one); });
    Text("alternative", verdict.alternative);
    if (verdict.address) Hex("address", *verdict.address);
    json_.EndObject();
  }
  void Members(const Event& event) {
    json_.StartObject();
    Text("source", event.source);
    Text("text", event.text);
    Text("device", event.device);
    if (event.queue) Number("guc_id", *event.queue);
    if (event.asid) Number("asid", *event.asid);
    if (event.address) Hex("address", *event.address);
    Text("access", event.access);
    Text("unit", event.unit);
    Text("engine", event.engine);
    json_.EndObject();
  }

  void Members(const Neighbor& neighbor) {
    json_.StartObject();
    Text("name", neighbor.name);
    Hex("address", neighbor.address);
    Number("size", neighbor.size);
    Number("distance", neighbor.distance);
    Text("tiling", neighbor.tiling);
    Text("access", neighbor.access);
    Text("flags", neighbor.flags);
    json_.EndObject();
  }
  // Into the current object.
  void Members(const Place& place) {
    Number("space", place.space);
    Hex("address", place.address);
    Flag("mapped", place.mapped);
    const auto neighbor = [this](const char* key, const std::optional<Neighbor>& one) {
      if (!one) return;
      json_.Key(key);
      Members(*one);
    };
    neighbor("buffer", place.holder);
    neighbor("below", place.below);
    neighbor("above", place.above);
  }
  void Object(const char* key, const Place& place) {
    json_.Key(key);
    json_.StartObject();
    Members(place);
    json_.EndObject();
  }

  void Members(const Context& context) {
    constexpr const char* kStates[] = {"", "not begun", "runs", "ended"};
    const ErrorContext& said = context.said;
    json_.StartObject();
    Text("id", said.id);
    Text("engine", said.engine);
    if (context.at_fault) Flag("at_fault", true);
    if (said.width > 1) Number("width", said.width);
    Members(static_cast<const ErrorLrc&>(said));
    Text("state", kStates[static_cast<int>(context.state)]);
    Text("schedule_state", context.schedule_state);
    if (context.seconds) {
      json_.Key("seconds");
      json_.Double(*context.seconds);
    }
    if (!said.parallel.empty()) {
      List("parallel", said.parallel, [this](const ErrorLrc& lrc) {
        json_.StartObject();
        Members(lrc);
        json_.EndObject();
      });
    }
    if (said.work_head) Hex("work_head", *said.work_head);
    if (said.work_tail) Hex("work_tail", *said.work_tail);
    Text("work_status", context.work_status);
    json_.EndObject();
  }
  // Into the current object.
  void Members(const ErrorLrc& lrc) {
    if (lrc.image) Hex("image", *lrc.image);
    if (lrc.head) Hex("head", *lrc.head);
    if (lrc.tail) Hex("tail", *lrc.tail);
    const auto number = [this](const char* key, const std::optional<int64_t>& value) {
      if (!value) return;
      json_.Key(key);
      json_.Int64(*value);
    };
    number("started", lrc.started);
    number("ended", lrc.finished);
  }

  // `draw`: its number among the draws, or 0.
  void Members(const Command& command, uint64_t draw = 0) {
    json_.StartObject();
    if (draw != 0) Number("draw", draw);
    if (command.container != nullptr) Text("name", tables_.string(command.container->name));
    Number("space", command.space);
    Hex("address", command.address);
    Number("size", command.size);
    Number("depth", command.depth);
    json_.Key("dwords");
    json_.StartArray();
    for (size_t at = 0; at + 4 <= command.bytes.size(); at += 4) {
      const uint32_t word = uint32_t{command.bytes[at]} | uint32_t{command.bytes[at + 1]} << 8 |
                            uint32_t{command.bytes[at + 2]} << 16 |
                            uint32_t{command.bytes[at + 3]} << 24;
      String(absl::StrFormat("%08x", word));
    }
    json_.EndArray();
    json_.EndObject();
  }

  void Engine(const EngineReport& engine) {
    json_.StartObject();
    Text("name", engine.name);
    Flag("hung", engine.hung);
    Text("process", engine.process);
    const Stop& stop = engine.stop;
    const auto said = [this](const char* key, const std::optional<Said>& one) {
      if (one) Hex(key, one->value);
    };
    said("acthd", stop.active_head);
    said("ipehr", stop.header);
    said("batch_head", stop.batch_head);
    said("ring_start", stop.ring_start);
    said("head", stop.ring_head);
    said("tail", stop.ring_tail);
    if (stop.request_head) Hex("request_head", *stop.request_head);
    if (engine.where) Object("where", *engine.where);
    if (stop.active_head) {
      Flag("in_ring", engine.in_ring);
      Flag("reached", engine.reached);
    }
    Text("ipehr_name", engine.header_name);
    size_t shown = 0;
    List("commands", engine.commands, [&](const Command& command) {
      Members(command, shown < engine.draws.size() ? engine.draws[shown] : 0);
      ++shown;
    });
    if (engine.active) Number("active", *engine.active);
    if (engine.header) Number("header", *engine.header);
    List("findings", engine.findings, [this](const std::string& finding) { String(finding); });
    List("busy", stop.busy, [this](const Busy& busy) {
      json_.StartObject();
      Text("register", busy.by);
      List("units", busy.units, [this](const std::string& unit) { String(unit); });
      json_.EndObject();
    });
    const auto units = [this](const std::string& unit) { String(unit); };
    List("suspects", stop.pipeline.last, units);
    List("queued", stop.pipeline.before, units);
    if (engine.ring) {
      json_.Key("ring");
      json_.StartObject();
      Hex("address", engine.ring->address);
      Number("size", engine.ring->size);
      json_.EndObject();
    }
    List("requests", engine.requests, [this](const Request& request) {
      constexpr const char* kProgress[] = {"unknown", "done", "runs", "waits"};
      json_.StartObject();
      Text("progress", kProgress[static_cast<int>(request.progress)]);
      if (request.said.seqno) Hex("seqno", *request.said.seqno);
      if (request.said.head) Hex("head", *request.said.head);
      if (request.said.tail) Hex("tail", *request.said.tail);
      if (request.said.pid >= 0) Number("pid", static_cast<uint64_t>(request.said.pid));
      Text("text", request.said.text);
      json_.EndObject();
    });
    if (engine.fault) Object("fault", *engine.fault);
    if (engine.work) {
      json_.Key("work");
      Members(*engine.work, engine.work_draw.value_or(0));
      List("bound", engine.bound, [this](const Bound& bound) { Members(bound); });
    }
    json_.EndObject();
  }

  void Addresses(const std::vector<Address>& addresses) {
    List("addresses", addresses, [this](const Address& address) {
      json_.StartObject();
      Text("field", address.field);
      Members(address.place);
      json_.EndObject();
    });
  }
  void Members(const Bound& bound) {
    json_.StartObject();
    Text("packet", bound.packet);
    Hex("address", bound.address);
    Addresses(bound.addresses);
    List("reached", bound.reached, [this](const Reached& reached) {
      json_.StartObject();
      Text("name", reached.name);
      if (reached.index >= 0) Number("index", static_cast<uint64_t>(reached.index));
      Text("about", reached.about);
      Number("size", reached.size);
      Members(reached.place);
      Addresses(reached.addresses);
      json_.EndObject();
    });
    json_.EndObject();
  }

  const tables::Tables& tables_;
  rapidjson::StringBuffer out_;
  rapidjson::Writer<rapidjson::StringBuffer> json_;
};

void AppendFacts(const std::vector<ErrorFact>& facts, std::string& lines) {
  for (const ErrorFact& fact : facts) {
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> json(out);
    const auto member = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      json.Key(key);
      json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    };
    json.StartObject();
    member("type", "fact");
    member("section", fact.section);
    member("key", fact.key);
    member("value", fact.value);
    json.EndObject();
    lines.append(out.GetString(), out.GetSize());
    lines.push_back('\n');
  }
}

}  // namespace

std::string FactsToJson(const ErrorState& state) {
  std::string lines;
  AppendFacts(state.facts, lines);
  for (const ErrorEngine& engine : state.engines) AppendFacts(engine.facts, lines);
  return lines;
}

std::string ToJson(const tables::Tables& tables, const HangReport& report) {
  return Writer(tables).Write(report);
}

}  // namespace packsmith::hang
