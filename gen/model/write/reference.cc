#include "gen/model/write/reference.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {
namespace {

// "R10 G10 B10 A2 unorm", as the XML writes it.
std::string ComponentsText(const DataFormat& format) {
  constexpr absl::string_view kTypes[] = {"uint",    "sint",  "unorm", "snorm", "uscaled",
                                          "sscaled", "float", "fixed", ""};
  std::string text;
  for (size_t i = 0; i < format.components.size(); ++i) {
    const DataComponent& c = format.components[i];
    absl::StrAppend(&text, text.empty() ? "" : " ", c.name, c.width);
    const bool last = i + 1 == format.components.size() || format.components[i + 1].type != c.type;
    const absl::string_view type = kTypes[static_cast<size_t>(c.type)];
    if (last && !type.empty()) absl::StrAppend(&text, " ", type);
  }
  return text;
}

constexpr const char* kContainerKinds[] = {"packet", "struct", "register"};

class ReferenceWriter {
 public:
  explicit ReferenceWriter(const Model& model) : model_(model) {}

  std::string Run() {
    WriteGeneration();
    for (const Container& c : model_.containers) WriteContainer(c);
    for (const Enum& e : model_.enums) {
      Begin(e.name, "enum");
      WriteWords(e);
      WriteValues(e.values);
      End();
    }
    for (const Stream& s : model_.streams) {
      Begin(s.name, "stream");
      Text("doc", s.doc);
      WriteEngines(s.engines);
      json_.Key("align");
      json_.Uint(s.align);
      End();
    }
    for (const Engine& e : model_.engines) {
      Begin(e.name, "engine");
      SplitAndWrite("aliases", e.aliases);
      Text("doc", e.doc);
      End();
    }
    for (const Base& b : model_.bases) {
      Begin(b.name, "base");
      Text("doc", b.doc);
      Text("else", b.otherwise.text);
      End();
    }
    for (const Client& c : model_.clients) {
      Begin(std::string(kClientNames[static_cast<size_t>(c.kind)]), "client");
      Text("doc", c.doc);
      Text("level", kLevelNames[c.in_l3 ? 1 : 0]);
      Text("after", kAfterNames[c.after_write ? 1 : 0]);
      Text("flush", c.flush.text);
      Text("to_memory", c.to_memory.text);
      Text("invalidate", c.invalidate.text);
      Text("from_memory", c.from_memory.text);
      Text("own", c.own.text);
      End();
    }
    for (const Workaround& one : model_.workarounds) {
      if (one.here.empty()) continue;
      Begin(NameOf(one), "workaround");
      Strings("aliases", {one.name});
      WriteWords(one);
      Strings("on", one.here);
      SplitAndWrite("honored", one.honored);
      WriteEach("asks", one.asks, [this](const Ask& ask) { WriteAsk(ask); });
      End();
    }
    for (const State& s : model_.states) {
      Begin(s.name, "state");
      Text("doc", s.doc);
      Text("of", s.of.text);
      End();
    }
    for (const Space& s : model_.spaces) {
      Begin(s.name, "space");
      Text("doc", s.doc);
      json_.Key("number");
      json_.Uint(s.number);
      Flag("privileged", s.privileged);
      End();
    }
    for (const DataKind& d : model_.data_kinds) {
      Begin(d.name, "data");
      Text("doc", d.doc);
      Text("components", ComponentsText(d.format));
      Flag("code", d.is_code);
      if (d.client) Text("client", kClientNames[static_cast<size_t>(*d.client)]);
      End();
    }
    return std::move(text_);
  }

 private:
  // --- Workarounds ---

  static std::string NameOf(const Workaround& one) { return absl::StrCat("Wa_", one.name); }

  void WriteAsk(const Ask& ask) {
    Text("kind", kAskNames[static_cast<size_t>(ask.kind)]);
    for (const auto& [key, reference] : {std::pair("of", &ask.of), std::pair("with", &ask.with)}) {
      if (reference->index < 0) continue;
      const Container& c = model_.containers[static_cast<size_t>(reference->index)];
      Text(key, c.name);
      Text(key[0] == 'o' ? "of_kind" : "with_kind", kContainerKinds[static_cast<size_t>(c.kind)]);
    }
    Text("field", ask.field.text);
    Text("value", ask.value);
    Text("when", ask.when.text);
    Flag("checked", ask.checked);
  }

  // Those that are about the container.
  void WriteWorkarounds(const Container& c) {
    struct About {
      const Workaround* workaround;
      const Ask* ask;
    };
    const auto index = static_cast<int>(&c - model_.containers.data());
    std::vector<About> all;
    for (const Workaround& one : model_.workarounds) {
      if (one.here.empty()) continue;
      for (const Ask& ask : one.asks) {
        if (ask.of.index == index) all.push_back({&one, &ask});
      }
    }
    WriteEach("workarounds", all, [this](const About& about) {
      Text("name", NameOf(*about.workaround));
      Strings("on", about.workaround->here);
      Flag("honored", !about.workaround->honored.empty());
      WriteAsk(*about.ask);
      Text("doc", about.workaround->doc);
    });
  }

  // --- Lines and members ---

  void Begin(const std::string& name, absl::string_view kind) {
    buffer_.Clear();
    json_.Reset(buffer_);
    json_.StartObject();
    json_.Key("name");
    String(name);
    json_.Key("kind");
    String(kind);
  }
  void End() {
    json_.EndObject();
    absl::StrAppend(&text_, absl::string_view(buffer_.GetString(), buffer_.GetSize()), "\n");
  }

  void String(absl::string_view text) {
    json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  // Members that say nothing are left out.
  void Text(const char* key, absl::string_view text) {
    if (text.empty()) return;
    json_.Key(key);
    String(text);
  }
  void Flag(const char* key, bool value) {
    if (!value) return;
    json_.Key(key);
    json_.Bool(true);
  }
  void Number(const char* key, uint64_t value) {
    if (value == 0) return;
    json_.Key(key);
    json_.Uint64(value);
  }
  void Hex(const char* key, uint64_t value) {
    json_.Key(key);
    String(absl::StrFormat("0x%x", value));
  }
  void SplitAndWrite(const char* key, absl::string_view text) {
    Strings(key, absl::StrSplit(text, ' ', absl::SkipEmpty()));
  }
  void Strings(const char* key, const std::vector<std::string>& all) {
    if (all.empty()) return;
    json_.Key(key);
    json_.StartArray();
    for (const std::string& one : all) String(one);
    json_.EndArray();
  }
  // Calls write(one) for each, inside an object.
  template <class T, class Write>
  void WriteEach(const char* key, const std::vector<T>& all, const Write& write) {
    if (all.empty()) return;
    json_.Key(key);
    json_.StartArray();
    for (const T& one : all) {
      json_.StartObject();
      write(one);
      json_.EndObject();
    }
    json_.EndArray();
  }
  template <class T>
  void WriteWords(const T& from) {
    Text("doc", from.doc);
    Text("source", from.source);
  }
  void WriteEngines(uint64_t mask) {
    if (mask == ~uint64_t{0}) return;
    std::vector<std::string> names;
    for (size_t i = 0; i < model_.engines.size() && i < 64; ++i) {
      if (mask >> i & 1) names.push_back(model_.engines[i].name);
    }
    Strings("engines", names);
  }
  // `high` is the last bit.
  void WriteBits(uint32_t bit, uint32_t width) {
    json_.Key("bits");
    json_.StartArray();
    json_.Uint(bit + width - 1);
    json_.Uint(bit);
    json_.EndArray();
  }

  // --- What the lines say ---

  void WriteGeneration() {
    Begin(model_.generation, "generation");
    SplitAndWrite("aliases", model_.aliases);
    Text("title", model_.title);
    Text("family", model_.family);
    WriteWords(model_);
    WriteEach("platforms", model_.platforms, [this](const Platform& p) {
      Text("name", p.name);
      Text("title", p.title);
      Text("doc", p.doc);
      const auto ids = [this](const char* key, const std::vector<uint32_t>& numbers) {
        std::vector<std::string> all;
        for (const uint32_t id : numbers) all.push_back(absl::StrFormat("0x%04x", id));
        Strings(key, all);
      };
      ids("pci_ids", p.pci_ids);
      ids("chip_ids", p.chip_ids);
    });
    End();
  }

  // Values of an int are kept in two's complement, and may be negative.
  void WriteValues(const std::vector<Value>& values, bool is_signed = false) {
    WriteEach("values", values, [&](const Value& v) {
      Text("name", v.name);
      json_.Key("value");
      if (is_signed) {
        json_.Int64(static_cast<int64_t>(v.value));
      } else {
        json_.Uint64(v.value);
      }
      Text("doc", v.doc);
      Flag("avoid", v.avoid);
      Text("components", ComponentsText(v.format));
    });
  }

  void WriteItems(const Container& c, const char* key, const std::vector<Item>& items) {
    WriteEach(key, items, [&](const Item& item) {
      if (const Reserved* const run = item.reserved()) WriteReserved(*run);
      if (const Group* const group = item.group()) WriteGroup(c, *group);
      if (const Field* const field = item.field()) WriteField(c, *field);
    });
  }

  void WriteReserved(const Reserved& run) {
    Text("name", run.name);
    json_.Key("must");
    String(run.must_be_one ? "one" : "zero");
    WriteBits(run.bit, run.width);
    WriteWords(run);
  }

  void WriteGroup(const Container& c, const Group& group) {
    Text("name", group.name);
    json_.Key("count");
    if (group.tail) {
      String("tail");
    } else {
      json_.Uint(group.count);
    }
    if (group.most != 0) Number("max", group.most);
    WriteBits(group.bit, group.width);
    Flag("overlap", group.overlap);
    WriteWords(group);
    WriteItems(c, "items", group.items);
  }

  void WriteField(const Container& c, const Field& field) {
    Text("name", field.name);
    WriteBits(field.bit, field.width);
    Text("type", field.type_name.text);
    if (field.type == FieldType::kEnum) Text("of", "enum");
    if (field.type == FieldType::kStruct) Text("of", "struct");
    WriteWords(field);
    if (field.forced) Hex("forced", *field.forced);
    Flag("length", &field == c.length_field);
    Text("default", field.default_text.text);
    WriteRange("min", field.min, field.min_real);
    WriteRange("max", field.max, field.max_real);
    Flag("nonzero", field.nonzero == NotZero::kAlways);
    Flag("packed_nonzero", field.nonzero == NotZero::kPacking);
    Number("multiple", field.multiple);
    Flag("clamp", field.clamp);
    Text("unit", field.unit);
    const Encoding& e = field.encoding;
    Number("minus", e.minus);
    // Addresses have one because of where they stand, unless the XML says otherwise, be it none.
    if (field.shift_given) {
      json_.Key("shift");
      json_.Uint(e.shift);
    }
    Flag("log2", e.log2);
    Number("groups", e.groups);
    Number("align", e.align);
    Flag("overlap", field.overlap);
    Text("when", field.when.text);
    Text("names", field.names.text);
    WriteValues(field.values, field.type == FieldType::kInt);
    Text("high", field.high.text);
    WriteEach("points", field.points, [this](const Points& p) { WritePointer(p); });
    WriteEach("sets", field.sets, [this](const SetsBase& s) {
      Text(s.is_state ? "state" : "base", s.base.text);
      Text("when", s.when.text);
      Text("size", s.size.text);
      Text("size_when", s.size_when.text);
    });
    Text("writes_register", field.writes_register.text);
    Text("writes_memory", field.writes_memory.text);
    Text("writes_when", field.writes_when.text);
    WriteEach("elements", field.elements, [this](const ElementOf& e) {
      Flag("step", e.is_step);
      Text("of", e.data.text);
      Text("element", e.number.text);
      Text("slot", e.slot.text);
      Text("offset", e.offset.text);
      Text("when", e.when.text);
    });
    if (field.meaning != Meaning::kNone) {
      Text("means", kMeaningNames.begin()[static_cast<size_t>(field.meaning) - 1]);
      Number("at", field.meaning_at);
    }
  }

  void WriteRange(const char* key, const std::optional<int64_t>& integer,
                  const std::optional<double>& real) {
    if (integer) {
      json_.Key(key);
      json_.Int64(*integer);
    } else if (real && std::isfinite(*real)) {
      json_.Key(key);
      json_.Double(*real);
    }
  }

  void WritePointer(const Points& p) {
    constexpr const char* kKinds[] = {"struct", "data", "stream"};
    constexpr const char* kAccess[] = {"", "read", "write", "readwrite"};
    Text("to", p.to.text);
    Text("kind", kKinds[static_cast<size_t>(p.target)]);
    Text("when", p.when.text);
    Text("or", p.other.text);
    Text("base", p.base.text);
    Flag("relative", p.relative);
    Text("space", p.space.text);
    Text("space_when", p.space_when.text);
    Text("access", kAccess[static_cast<size_t>(p.access)]);
    Text("count", p.count.text);
    Text("unlimited_when", p.unlimited_when.text);
    Flag("until_zero", p.until_zero);
    Text("size", p.size.text);
    Text("end", p.end.text);
    Text("stride", p.stride.text);
    Text("slot", p.slot.text);
    Text("format", p.format.text);
    Text("step", p.step.text);
    Text("stage", p.stage);
    Flag("keeps", p.keeps);
    Text("simd", p.simd.text);
    Text("scale", p.scale.text);
    Text("align", p.align.text);
  }

  void WriteContainer(const Container& c) {
    constexpr const char* kRoles[] = {"", "draw", "dispatch"};
    Begin(c.name, kContainerKinds[static_cast<size_t>(c.kind)]);
    Strings("aliases", c.aliases);
    WriteWords(c);
    if (c.kind == ContainerKind::kRegister) {
      Hex("offset", c.register_offset);
      Flag("masked", c.masked);
      Flag("privileged", c.privileged);
      SplitAndWrite("dumped_as", c.dumped_as);
    }
    // The fixed part, and the longest form where there are several.
    json_.Key("bytes");
    json_.Uint(c.bytes);
    if (c.max_bytes != c.bytes) Number("max_bytes", c.max_bytes);
    Flag("variable", c.variable || !c.variants.empty() || !c.parts.empty() || c.tail != nullptr);
    Text("unit", c.byte_unit ? "byte" : "dword");
    if (c.kind == ContainerKind::kPacket) {
      if (c.stream >= 0) Text("stream", model_.streams[static_cast<size_t>(c.stream)].name);
      WriteEngines(c.engines);
      Text("role", kRoles[static_cast<size_t>(c.role)]);
      Text("serves", kRoles[static_cast<size_t>(c.serves)]);
      if (c.identify_mask != 0) {
        Hex("opcode", c.identify_value);
        Hex("opcode_mask", c.identify_mask);
      }
      if (c.length_field != nullptr) Text("length", c.length_field->name);
      Number("bias", c.length_bias);
    }
    WriteItems(c, "fields", c.items);
    WriteEach("variants", c.variants, [this](const Variant& v) {
      Number("bytes", v.bytes);
      Text("when", v.when.text);
    });
    WriteEach("parts", c.parts, [this](const Part& p) {
      Text("name", p.name);
      Text("struct", p.struct_name.text);
      Text("when", p.when.text);
      Text("repeat", p.repeat.text);
    });
    Number("pad", c.pad.to);
    Text("pad_when", c.pad.when.text);
    WriteEach("flows", c.flows, [this](const Flow& f) {
      Text("kind", kFlowNames[static_cast<size_t>(f.kind)]);
      Text("to", f.to.text);
      Text("when", f.when.text);
      Text("maybe", f.maybe.text);
    });
    WriteEach("operations", c.operations, [this](const Operation& o) {
      Text("kind", kOperationNames[static_cast<size_t>(o.kind)]);
      Text("when", o.when.text);
      for (size_t i = 0; i < tables::kOperandRoles; ++i) {
        Text(kOperandNames[i].data(), o.operands[i].text);
      }
    });
    WriteEach("relations", c.relations, [this](const Relation& r) {
      Text("kind", kRelationNames[static_cast<size_t>(r.kind)]);
      Text("packet", model_.containers[static_cast<size_t>(r.packet.index)].name);
    });
    WriteEach("rules", c.rules, [this](const Rule& r) {
      Text("number", r.number);
      Text("severity", kSeverityNames[static_cast<size_t>(r.severity)]);
      Text("when", r.when.text);
      Text("left", r.left.text);
      if (!r.left.empty()) Text("is", kComparisonNames[static_cast<size_t>(r.is)]);
      Text("right", r.right.text);
      Text("doc", r.doc);
      Text("source", r.source);
    });
    WriteWorkarounds(c);
    WriteEach("draws", c.draws, [this](const Draws& d) {
      Text("data", d.data.text);
      Text("indices", d.indices.text);
      Text("indexed", d.indexed.text);
      Text("when", d.when.text);
      Text("first", d.first.text);
      Text("count", d.count.text);
      Text("first_instance", d.first_instance.text);
      Text("instances", d.instances.text);
      Text("bias", d.bias.text);
      Text("cuts", d.cuts.text);
      Text("cut", d.cut.text);
    });
    WriteEach("images", c.images, [this](const Image& i) {
      constexpr const char* kUses[] = {"", "texture", "target"};
      Text("as", kUses[static_cast<size_t>(i.use)]);
      Text("when", i.when.text);
      if (i.tiling != Tiling::kUnknown) {
        Text("tiling", std::string(kImageTilingNames[static_cast<size_t>(i.tiling)]));
      }
      Text("address", i.address.text);
      Text("format", i.format.text);
      Text("type", i.type.text);
      Text("width", i.width.text);
      Text("height", i.height.text);
      Text("depth", i.depth.text);
      Text("pitch", i.pitch.text);
    });
    End();
  }

  const Model& model_;
  std::string text_;
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace

std::string WriteReference(const Model& model) { return ReferenceWriter(model).Run(); }

}  // namespace packsmith::model
