#include "runtime/decode/sinks/draws_sink.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/paths.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"

namespace packsmith::decode {
namespace {

using tables::SurfaceUse;

struct Shader {
  std::string stage;
  uint32_t space;
  uint64_t address;
  uint32_t simd;

  bool operator==(const Shader&) const = default;
};

struct Surface {
  ImageSeen image;
  uint32_t space;
  std::string stage;
  int64_t index;

  bool operator==(const Surface& other) const {
    return image.address == other.image.address && image.format == other.image.format &&
           image.width == other.image.width && image.height == other.image.height &&
           image.depth == other.image.depth && space == other.space && stage == other.stage &&
           index == other.index;
  }
};

struct Work {
  bool is_draw = true;
  uint64_t number = 0;
  uint32_t submission = 0;
  std::string name;
  uint32_t space = 0;
  uint64_t address = 0;
  std::optional<std::string> topology;
  bool counts = false;  // its description has a field for the number of vertices
  std::optional<bool> indexed;
  std::optional<uint64_t> count, instances;  // empty: the packet does not state it
  std::vector<uint64_t> groups;
  std::string groups_of;  // "groups", "threads"
  std::vector<Shader> shaders;
  std::vector<Surface> surfaces;
  StageReaches reaches;
};

template <class T>
void AddOnce(std::vector<T>& all, T one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

class DrawsSink : public Sink {
 public:
  DrawsSink(Output& output, bool jsonl) : out_(output), jsonl_(jsonl) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    paths_.OnSchema(tables);
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override { Finish(); }
  void OnLead(const Lead& lead) override { paths_.OnLead(lead); }

  void OnRecord(const Record& record) override {
    if (record.type == RecordType::kRegister) return;
    const Paths::Node& node = paths_.OnRecord(record);
    const bool is_work = record.type == RecordType::kPacket && !record.bound &&
                         record.container->role != tables::Role::kOther;
    if (is_work) {
      Finish();
      Begin(record);
    }
    const bool of_it = work_ && (work_->is_draw ? record.draw : record.dispatch) == work_->number;
    if (!of_it) return;
    // A packet without a role that it serves may have no reader.
    if (record.bound) {
      std::optional<std::string> topology;
      Meanings(record, [&](tables::Meaning meaning, const FieldAt& at, uint64_t value) {
        if (meaning == tables::Meaning::kTopology) topology = NameOf(*at.leaf, value);
      });
      if (!work_->topology) work_->topology = topology;
    }
    if (record.kernel != nullptr) AddShader(record, node);
    if (std::optional<ImageSeen> image = ImageOf(*tables_, record)) {
      AddOnce(work_->surfaces,
              Surface{*std::move(image), record.space, std::string(node.stage), node.index});
    }
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    if (!is_problem) return;
    Finish();
    if (jsonl_) {
      out_.Put("{\"type\":\"problem\",\"text\":");
      out_.JsonString(text);
      out_.Put("}\n");
    } else {
      out_.Put(absl::StrCat("problem: ", Harmless(text), "\n"));
    }
  }

  void OnSummary(const Summary&) override {
    Finish();
    out_.Flush();
  }

 private:
  template <class Visit>
  void Meanings(const Record& record, const Visit& visit) const {
    ForEachField(*tables_, record.view(), [&](const FieldAt& at) {
      if (at.cut || at.leaf->extra == tables::kNone) return;
      const tables::Meaning meaning = tables_->extra(at.leaf->extra).meaning;
      if (meaning == tables::Meaning::kNone) return;
      const uint64_t raw = ReadBits(record.bytes, at.bit, at.width);
      visit(meaning, at, NumberOfBits(*tables_, *at.leaf, at.width, raw));
    });
  }

  std::string NameOf(const tables::Leaf& leaf, uint64_t value) const {
    const absl::string_view name = tables_->ValueName(leaf, value);
    return name.empty() ? absl::StrCat(value) : std::string(name);
  }

  void Begin(const Record& record) {
    Work& work = work_.emplace();
    const tables::Container& container = *record.container;
    work.is_draw = container.role == tables::Role::kDraw;
    work.number = work.is_draw ? record.draw : record.dispatch;
    work.submission = record.submission;
    work.name = std::string(record.name);
    work.space = record.space;
    work.address = record.address;
    if (container.draw != tables::kNone) {
      const tables::Draw& draw = tables_->draw(container.draw);
      const Scope scope(*tables_, container, record.bytes);
      work.counts = true;
      work.indexed = draw.indices != tables::kNone && scope.Holds(draw.indexed);
      if (scope.Holds(draw.when)) {
        work.count = ValueOf(*tables_, draw.count, scope);
        work.instances = ValueOf(*tables_, draw.instances, scope);
      }
    }
    Meanings(record, [&](tables::Meaning meaning, const FieldAt& at, uint64_t value) {
      switch (meaning) {
        case tables::Meaning::kTopology:
          work.topology = NameOf(*at.leaf, value);
          break;
        case tables::Meaning::kCount:
          work.counts = true;
          work.count = value;
          break;
        case tables::Meaning::kInstances:
          work.instances = value;
          break;
        case tables::Meaning::kGroups:
          work.groups.push_back(value);
          work.groups_of = std::string(tables_->string(tables_->extra(at.leaf->extra).unit));
          break;
        default:
          break;
      }
    });
    if (work.groups_of.empty()) work.groups_of = "groups";
  }

  void AddShader(const Record& record, const Paths::Node& node) {
    AddOnce(work_->shaders,
            Shader{StageOf(record, node), record.space, record.address, record.kernel->simd});
    work_->reaches.Add(*tables_, record, node);
  }

  // The use of the surface: stated by itself, or by its stage's programs.
  bool IsUsedAs(const Surface& surface, SurfaceUse use) const {
    if (surface.image.use != SurfaceUse::kAny) return surface.image.use == use;
    return work_->reaches.Has(surface.stage, surface.index, use);
  }
  std::vector<Surface> UsedAs(SurfaceUse use) const {
    std::vector<Surface> all;
    for (const Surface& surface : work_->surfaces) {
      const bool target = IsUsedAs(surface, SurfaceUse::kTarget);
      const bool texture = IsUsedAs(surface, SurfaceUse::kTexture);
      if (use == SurfaceUse::kTarget    ? target
          : use == SurfaceUse::kTexture ? texture
                                        : !target && !texture) {
        all.push_back(surface);
      }
    }
    return all;
  }

  void Finish() {
    if (!work_) return;
    if (jsonl_) {
      Jsonl();
    } else {
      Text();
    }
    work_.reset();
  }

  void Text() {
    if (!headed_) {
      headed_ = true;
      out_.Put(absl::StrFormat("%-12s  %4s  %-14s  %-16s  %-24s  %s\n", "work", "sub", "address",
                               "topology", "count", "shaders, targets, textures"));
    }
    const Work& work = *work_;
    std::string count;
    if (work.counts) {
      count = work.count ? Counted(*work.count, work.indexed.value_or(false) ? "index" : "vertex")
                         : "indirect";
      if (work.count && *work.count != 1) {
        count = absl::StrCat(*work.count, work.indexed.value_or(false) ? " indices" : " vertices");
      }
      if (work.instances) absl::StrAppend(&count, " x ", *work.instances);
    }
    for (const uint64_t groups : work.groups) {
      absl::StrAppend(&count, count.empty() ? "" : " x ", groups);
    }
    if (!work.groups.empty()) absl::StrAppend(&count, " ", work.groups_of);
    std::string line = absl::StrFormat(
        "%-12s  %4d  0x%012x  %-16s  %-24s",
        absl::StrCat(work.is_draw ? "draw " : "dispatch ", work.number), work.submission,
        work.address, Harmless(work.topology.value_or("-")), count.empty() ? "-" : count);
    for (const Shader& shader : work.shaders) {
      absl::StrAppendFormat(
          &line, "%s%s 0x%x", &shader == work.shaders.data() ? "  shaders " : ", ",
          Harmless(shader.stage.empty() ? "program" : shader.stage), shader.address);
      if (shader.simd != 0) absl::StrAppend(&line, " simd ", shader.simd);
    }
    TextOf(SurfaceUse::kTarget, "  targets ", line);
    TextOf(SurfaceUse::kTexture, "  textures ", line);
    TextOf(SurfaceUse::kAny, "  surfaces ", line);
    out_.Put(line);
    out_.Put('\n');
  }

  void TextOf(SurfaceUse use, absl::string_view what, std::string& line) const {
    // Their tables and numbers are only in JSON lines.
    std::vector<std::string> said;
    for (const Surface& surface : UsedAs(use)) {
      const ImageSeen& image = surface.image;
      std::string text = absl::StrFormat("0x%x", image.address);
      if (!image.format.empty()) absl::StrAppend(&text, " ", Harmless(image.format));
      if (image.width != 0) absl::StrAppend(&text, " ", image.width, "x", image.height);
      if (image.width != 0 && image.depth > 1) absl::StrAppend(&text, "x", image.depth);
      AddOnce(said, std::move(text));
    }
    for (const std::string& text : said) {
      absl::StrAppend(&line, what, text);
      what = ", ";
    }
  }

  void Jsonl() {
    const Work& work = *work_;
    out_.Put(absl::string_view(work.is_draw ? "{\"type\":\"draw\",\"draw\":"
                                            : "{\"type\":\"dispatch\",\"dispatch\":"));
    out_.Decimal(work.number);
    out_.Put(",\"submission\":");
    out_.Decimal(work.submission);
    out_.Put(",\"name\":");
    out_.JsonString(work.name);
    Place(work.space, work.address);
    if (work.topology) {
      out_.Put(",\"topology\":");
      out_.JsonString(*work.topology);
    }
    if (work.indexed) {
      out_.Put(absl::StrCat(",\"indexed\":", *work.indexed ? "true" : "false"));
    }
    if (work.count) out_.Put(absl::StrCat(",\"count\":", *work.count));
    if (work.instances) out_.Put(absl::StrCat(",\"instances\":", *work.instances));
    if (!work.groups.empty()) {
      out_.Put(",\"");
      out_.Put(work.groups_of);
      out_.Put("\":[");
      for (const uint64_t& groups : work.groups) {
        if (&groups != work.groups.data()) out_.Put(',');
        out_.Decimal(groups);
      }
      out_.Put(']');
    }
    out_.Put(",\"shaders\":[");
    for (const Shader& shader : work.shaders) {
      if (&shader != work.shaders.data()) out_.Put(',');
      out_.Put("{\"stage\":");
      out_.JsonString(shader.stage);
      Place(shader.space, shader.address);
      if (shader.simd != 0) out_.Put(absl::StrCat(",\"simd\":", shader.simd));
      out_.Put('}');
    }
    out_.Put(']');
    JsonlOf(SurfaceUse::kTarget, ",\"targets\":[");
    JsonlOf(SurfaceUse::kTexture, ",\"textures\":[");
    JsonlOf(SurfaceUse::kAny, ",\"surfaces\":[");
    out_.Put("}\n");
  }

  void JsonlOf(SurfaceUse use, absl::string_view begin) {
    out_.Put(begin);
    absl::string_view comma = "";
    for (const Surface& surface : UsedAs(use)) {
      const ImageSeen& image = surface.image;
      out_.Put(comma);
      comma = ",";
      out_.Put("{\"space\":");
      out_.Decimal(surface.space);
      out_.Put(",\"address\":\"");
      out_.Hex(image.address);
      out_.Put('"');
      if (!image.format.empty()) {
        out_.Put(",\"format\":");
        out_.JsonString(image.format);
      }
      for (const auto& [key, value] :
           {std::make_pair("width", image.width), std::make_pair("height", image.height),
            std::make_pair("depth", image.depth)}) {
        if (value != 0) out_.Put(absl::StrCat(",\"", key, "\":", value));
      }
      if (!surface.stage.empty()) {
        out_.Put(",\"stage\":");
        out_.JsonString(surface.stage);
      }
      if (surface.index >= 0) out_.Put(absl::StrCat(",\"index\":", surface.index));
      out_.Put('}');
    }
    out_.Put(']');
  }

  void Place(uint32_t space, uint64_t address) {
    out_.Put(",\"space\":");
    out_.Decimal(space);
    out_.Put(",\"address\":\"");
    out_.Hex(address);
    out_.Put('"');
  }

  ChunkWriter out_;
  const bool jsonl_;
  const tables::Tables* tables_ = nullptr;
  Paths paths_;
  std::optional<Work> work_;  // that records belong to
  bool headed_ = false;
};

}  // namespace

std::unique_ptr<Sink> MakeDrawsSink(Output& output, bool jsonl) {
  return std::make_unique<DrawsSink>(output, jsonl);
}

}  // namespace packsmith::decode
