#include "runtime/decode/sinks/draws_sink.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/paths.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/json_writer.h"

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

// A draw or dispatch, and the settings that it uses.
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

  // The surfaces of that use, as they state themselves, or as their stage's programs use them.
  // kAny: those of neither use.
  std::vector<Surface> UsedAs(SurfaceUse use) const {
    const auto is = [&](const Surface& surface, SurfaceUse one) {
      if (surface.image.use != SurfaceUse::kAny) return surface.image.use == one;
      return reaches.Has(surface.stage, surface.index, one);
    };
    std::vector<Surface> all;
    for (const Surface& surface : surfaces) {
      const bool target = is(surface, SurfaceUse::kTarget);
      const bool texture = is(surface, SurfaceUse::kTexture);
      if (use == SurfaceUse::kTarget    ? target
          : use == SurfaceUse::kTexture ? texture
                                        : !target && !texture) {
        all.push_back(surface);
      }
    }
    return all;
  }
};

template <class T>
void AddOnce(std::vector<T>& all, T one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

// The list in one of its forms.
class WorkWriter {
 public:
  virtual ~WorkWriter() = default;
  virtual void Put(const Work& work) = 0;
  virtual void PutProblem(absl::string_view text) = 0;
  virtual void Flush() = 0;
};

class WorkText : public WorkWriter {
 public:
  explicit WorkText(Output& output) : out_(output) {}

  void Put(const Work& work) override {
    if (!headed_) {
      headed_ = true;
      out_.Put(absl::StrFormat("%-12s  %4s  %-14s  %-16s  %-24s  %s\n", "work", "sub", "address",
                               "topology", "count", "shaders, targets, textures"));
    }
    const std::string count = CountOf(work);
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
    AddSurfaces("  targets ", work.UsedAs(SurfaceUse::kTarget), line);
    AddSurfaces("  textures ", work.UsedAs(SurfaceUse::kTexture), line);
    AddSurfaces("  surfaces ", work.UsedAs(SurfaceUse::kAny), line);
    out_.Put(line);
    out_.Put('\n');
  }
  void PutProblem(absl::string_view text) override {
    out_.Put(absl::StrCat("problem: ", Harmless(text), "\n"));
  }
  void Flush() override { out_.Flush(); }

 private:
  // What it draws, or dispatches.
  static std::string CountOf(const Work& work) {
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
    return count;
  }
  static void AddSurfaces(absl::string_view what, const std::vector<Surface>& surfaces,
                          std::string& line) {
    // Their tables and numbers are only in JSON lines.
    std::vector<std::string> said;
    for (const Surface& surface : surfaces) {
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

  ChunkWriter out_;
  bool headed_ = false;
};

class WorkJson : public WorkWriter {
 public:
  explicit WorkJson(Output& output) : out_(output), json_(out_) {}

  void Put(const Work& work) override {
    const absl::string_view type = work.is_draw ? "draw" : "dispatch";
    out_.Put(absl::StrCat("{\"type\":\"", type, "\",\"", type, "\":", work.number));
    json_.Member("submission", uint64_t{work.submission});
    json_.Member("name", work.name);
    PutPlace(work.space, work.address);
    if (work.topology) json_.Member("topology", *work.topology);
    if (work.indexed) {
      json_.Key("indexed");
      out_.Put(absl::string_view(*work.indexed ? "true" : "false"));
    }
    if (work.count) json_.Member("count", *work.count);
    if (work.instances) json_.Member("instances", *work.instances);
    if (!work.groups.empty()) {
      out_.Put(absl::StrCat(",\"", work.groups_of, "\":["));
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
      json_.String(shader.stage);
      PutPlace(shader.space, shader.address);
      if (shader.simd != 0) json_.Member("simd", uint64_t{shader.simd});
      out_.Put('}');
    }
    out_.Put(']');
    PutSurfaces(",\"targets\":[", work.UsedAs(SurfaceUse::kTarget));
    PutSurfaces(",\"textures\":[", work.UsedAs(SurfaceUse::kTexture));
    PutSurfaces(",\"surfaces\":[", work.UsedAs(SurfaceUse::kAny));
    out_.Put("}\n");
  }
  void PutProblem(absl::string_view text) override {
    out_.Put("{\"type\":\"problem\"");
    json_.Member("text", text);
    out_.Put("}\n");
  }
  void Flush() override { out_.Flush(); }

 private:
  void PutSurfaces(absl::string_view begin, const std::vector<Surface>& surfaces) {
    out_.Put(begin);
    absl::string_view comma = "";
    for (const Surface& surface : surfaces) {
      const ImageSeen& image = surface.image;
      out_.Put(comma);
      comma = ",";
      out_.Put("{\"space\":");
      out_.Decimal(surface.space);
      json_.MemberHex("address", image.address);
      if (!image.format.empty()) json_.Member("format", image.format);
      if (image.width != 0) json_.Member("width", image.width);
      if (image.height != 0) json_.Member("height", image.height);
      if (image.depth != 0) json_.Member("depth", image.depth);
      if (!surface.stage.empty()) json_.Member("stage", surface.stage);
      if (surface.index >= 0) json_.Member("index", static_cast<uint64_t>(surface.index));
      out_.Put('}');
    }
    out_.Put(']');
  }
  void PutPlace(uint32_t space, uint64_t address) {
    json_.Member("space", uint64_t{space});
    json_.MemberHex("address", address);
  }

  ChunkWriter out_;
  JsonWriter json_;
};

// Collects what records say of the work that they belong to.
class DrawsSink : public Sink {
 public:
  explicit DrawsSink(std::unique_ptr<WorkWriter> writer) : writer_(std::move(writer)) {}

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
    writer_->PutProblem(text);
  }

  void OnSummary(const Summary&) override {
    Finish();
    writer_->Flush();
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

  void Finish() {
    if (work_) writer_->Put(*work_);
    work_.reset();
  }

  const std::unique_ptr<WorkWriter> writer_;
  const tables::Tables* tables_ = nullptr;
  Paths paths_;
  std::optional<Work> work_;  // that records belong to
};

}  // namespace

std::unique_ptr<Sink> MakeDrawsSink(Output& output, bool jsonl) {
  if (jsonl) return std::make_unique<DrawsSink>(std::make_unique<WorkJson>(output));
  return std::make_unique<DrawsSink>(std::make_unique<WorkText>(output));
}

}  // namespace packsmith::decode
