#include "tools/run_vertices.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/sim/vertices/primitives.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "tools/json_line.h"

namespace packsmith::tools {
namespace {

using sim::ComponentSource;
using sim::VueDword;
using tables::ComponentType;

// Of a draw with restarts, to know how many primitives it has.
constexpr uint64_t kMostIndices = 1 << 20;

absl::string_view SourceName(ComponentSource source) {
  switch (source) {
    case ComponentSource::kNothing:
      return "not written";
    case ComponentSource::kData:
      return "data";
    case ComponentSource::kZero:
      return "0";
    case ComponentSource::kOneFloat:
      return "1.0";
    case ComponentSource::kOneInteger:
      return "1";
    case ComponentSource::kVertexId:
      return "VertexID";
    case ComponentSource::kInstanceId:
      return "InstanceID";
    case ComponentSource::kPrimitiveId:
      return "PrimitiveID";
    case ComponentSource::kVertexLocation:
      return "first vertex";
    case ComponentSource::kStartInstance:
      return "first instance";
    case ComponentSource::kParameter0:
      return "parameter 0";
    case ComponentSource::kParameter1:
      return "parameter 1";
    case ComponentSource::kParameter2:
      return "parameter 2";
  }
  return "";
}

absl::string_view KindName(sim::PrimitiveKind kind) {
  switch (kind) {
    case sim::PrimitiveKind::kPoint:
      return "point";
    case sim::PrimitiveKind::kLine:
      return "line";
    case sim::PrimitiveKind::kTriangle:
      return "triangle";
    case sim::PrimitiveKind::kQuad:
      return "quad";
    case sim::PrimitiveKind::kRectangle:
      return "rectangle";
    case sim::PrimitiveKind::kPatch:
      return "patch";
  }
  return "";
}

// As few digits as identify the number.
template <class Number>
std::string Shortest(Number number) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

// A dword of a vertex, or two that are one value.
struct Value {
  enum class Kind { kUnsigned, kSigned, kReal } kind = Kind::kUnsigned;
  uint64_t bits = 0;
  bool wide = false;

  int64_t Signed() const {
    return wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(static_cast<uint32_t>(bits));
  }
  double Real() const {
    if (wide) {
      double value = 0;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    const auto low = static_cast<uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &low, sizeof(value));
    return value;
  }
  std::string Text() const {
    switch (kind) {
      case Kind::kUnsigned:
        return absl::StrCat(bits);
      case Kind::kSigned:
        return absl::StrCat(Signed());
      case Kind::kReal:
        return wide ? Shortest(Real()) : Shortest(static_cast<float>(Real()));
    }
    return "";
  }
  void AddTo(JsonLine& line) const {
    switch (kind) {
      case Kind::kUnsigned:
        line.Number("", bits);
        break;
      case Kind::kSigned:
        line.Signed("", Signed());
        break;
      case Kind::kReal:
        line.Real("", Real());
        break;
    }
  }
};

// How the shader sees a component of an element.
Value::Kind KindOf(const sim::VertexDraw& draw, const VueDword& dword) {
  switch (dword.source) {
    case ComponentSource::kOneFloat:
      return Value::Kind::kReal;
    case ComponentSource::kData:
    case ComponentSource::kZero:
      break;
    default:
      return Value::Kind::kUnsigned;
  }
  const sim::VertexFormat& format = draw.elements[dword.element].format;
  // Of components that the format lacks, as its first one.
  const tables::Component* component = &format.components[dword.component];
  for (const tables::Component& other : format.components) {
    if (component->width == 0) component = &other;
  }
  if (component->width == 0) return Value::Kind::kUnsigned;
  if (component->type == ComponentType::kUint) return Value::Kind::kUnsigned;
  return component->type == ComponentType::kSint ? Value::Kind::kSigned : Value::Kind::kReal;
}

class VertexText {
 public:
  VertexText(const VertexOptions& options, decode::Output& output)
      : options_(options), output_(output) {}

  void Problem(absl::string_view text) {
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "problem")
                         .Text("kind", "vertices")
                         .Number("draw", options_.draw)
                         .Text("text", text)
                         .Take());
    } else {
      output_.Append(absl::StrCat("the vertices are not known: ", decode::Harmless(text), "\n"));
    }
  }

  void Show(sim::VertexFetch fetch) {
    const sim::DrawCounts counts = sim::CountDraw(fetch, kMostIndices);
    for (uint32_t i = 0; i < fetch.layout().size(); ++i) {
      const VueDword& dword = fetch.layout()[i];
      if (dword.half == 1) continue;
      if (elements_.empty() || elements_.back().number != dword.element) {
        elements_.push_back({dword.element, i, 0, {}});
      }
      const bool wide = i + 1 < fetch.layout().size() && fetch.layout()[i + 1].half == 1;
      elements_.back().components.push_back({i, wide, KindOf(fetch.draw(), dword)});
      elements_.back().end = i + (wide ? 2 : 1);
    }
    Layout(fetch);
    Vertices(fetch, counts);
    Primitives(fetch, counts);
  }

 private:
  struct Component {
    uint32_t dword;
    bool wide;
    Value::Kind kind;
  };
  struct Element {
    uint32_t number;
    uint32_t begin, end;  // dwords
    std::vector<Component> components;
  };

  void Layout(const sim::VertexFetch& fetch) {
    const sim::VertexDraw& draw = fetch.draw();
    if (!options_.jsonl) {
      output_.Append(absl::StrCat("vertices: ", draw.vertex_count, " in each of ",
                                  draw.instance_count,
                                  draw.instance_count == 1 ? " instance, " : " instances, ",
                                  decode::Counted(fetch.layout().size(), "dword"), " each\n"));
    }
    for (const Element& element : elements_) {
      const sim::VertexElement& from = draw.elements[element.number];
      std::vector<std::string> sources;
      bool reads = false;
      for (const Component& component : element.components) {
        const ComponentSource source = fetch.layout()[component.dword].source;
        reads = reads || source == ComponentSource::kData;
        sources.emplace_back(SourceName(source));
      }
      const sim::VertexBuffer buffer =
          from.buffer < draw.buffers.size() ? draw.buffers[from.buffer] : sim::VertexBuffer();
      const std::optional<uint32_t> step = from.step ? from.step : buffer.step;
      if (options_.jsonl) {
        JsonLine line;
        line.Text("type", "vertex_element").Number("draw", options_.draw);
        line.Number("element", element.number).Number("dword", element.begin);
        line.Texts("components", sources);
        if (reads) {
          line.Text("format", from.format_name).Number("buffer", from.buffer);
          line.Number("offset", from.offset).Number("pitch", buffer.pitch);
          if (!buffer.null) line.Text("address", absl::StrFormat("0x%x", buffer.address));
          if (step) line.Number("instances_per_row", *step);
        }
        output_.Append(line.Take());
        continue;
      }
      std::string text = absl::StrCat("  element ", element.number, "  dwords ", element.begin,
                                      " to ", element.end - 1, "  ", absl::StrJoin(sources, ", "));
      if (reads) {
        absl::StrAppend(&text, "; ", from.format_name, " from ");
        if (buffer.null) {
          absl::StrAppend(&text, "no buffer ", from.buffer);
        } else {
          absl::StrAppendFormat(&text, "buffer %d at 0x%x", from.buffer, buffer.address);
        }
        absl::StrAppend(&text, " + ", from.offset, ", ", buffer.pitch, " bytes a row");
        if (step) absl::StrAppend(&text, ", which counts instances by ", *step);
      }
      output_.Append(absl::StrCat(text, "\n"));
    }
  }

  void Vertices(sim::VertexFetch& fetch, const sim::DrawCounts& counts) {
    const sim::VertexDraw& draw = fetch.draw();
    sim::VertexWalk walk(fetch);
    uint64_t shown = 0;
    while (shown < options_.most && walk.Next()) {
      ++shown;
      const sim::Vertex& vertex = walk.vertex();
      if (!vertex.index.restart) fetch.Fetch(vertex);
      if (options_.jsonl) {
        JsonVertex(fetch, vertex);
      } else {
        TextVertex(fetch, vertex);
      }
    }
    const uint64_t left = uint64_t{draw.vertex_count} * draw.instance_count - shown;
    const sim::FetchProblems& problems = fetch.problems();
    if (options_.jsonl) {
      output_.Append(JsonLine()
                         .Text("type", "vertices")
                         .Number("draw", options_.draw)
                         .Number("shown", shown)
                         .Number("left", left)
                         .Number("vertices", counts.vertices)
                         .Number("primitives", counts.primitives)
                         .Bool("counts_exact", counts.exact)
                         .Number("elements_outside", problems.elements_outside)
                         .Number("indices_outside", problems.indices_outside)
                         .Number("unmapped", problems.unmapped)
                         .Take());
      return;
    }
    if (left != 0) Left(left, "vertices");
    if (problems.elements_outside != 0) {
      output_.Append(absl::StrCat("  outside their buffers, zeros: ",
                                  decode::Counted(problems.elements_outside, "element"), "\n"));
    }
    if (problems.indices_outside != 0) {
      output_.Append(absl::StrCat("  outside the index buffer, zeros: ", problems.indices_outside,
                                  problems.indices_outside == 1 ? " index\n" : " indices\n"));
    }
    if (problems.unmapped != 0) {
      output_.Append(absl::StrFormat("  not in the dump, taken as zeros: %s, the first at 0x%x\n",
                                     decode::Counted(problems.unmapped, "value"),
                                     problems.unmapped_address));
    }
  }

  Value ValueOf(const sim::VertexFetch& fetch, const Component& component) const {
    Value value{component.kind, fetch.vue()[component.dword], component.wide};
    if (component.wide) value.bits |= uint64_t{fetch.vue()[component.dword + 1]} << 32;
    return value;
  }

  void TextVertex(const sim::VertexFetch& fetch, const sim::Vertex& vertex) {
    std::string text = absl::StrCat("  vertex ", vertex.number);
    if (fetch.draw().instance_count > 1) absl::StrAppend(&text, " of instance ", vertex.instance);
    if (vertex.index.restart) {
      output_.Append(absl::StrCat(text, "  restart\n"));
      return;
    }
    absl::StrAppend(&text, "  row ", vertex.index.row, ", VertexID ", vertex.index.vertex_id,
                    ", InstanceID ", vertex.instance, ", PrimitiveID ", vertex.primitive_id, "\n");
    for (const Element& element : elements_) {
      absl::StrAppend(&text, "    element ", element.number, "  ");
      for (size_t i = 0; i < element.components.size(); ++i) {
        absl::StrAppend(&text, i == 0 ? "" : ", ", ValueOf(fetch, element.components[i]).Text());
      }
      text += "\n";
    }
    output_.Append(text);
  }

  void JsonVertex(const sim::VertexFetch& fetch, const sim::Vertex& vertex) {
    JsonLine line;
    line.Text("type", "vertex").Number("draw", options_.draw);
    line.Number("instance", vertex.instance).Number("number", vertex.number);
    line.Bool("restart", vertex.index.restart);
    if (!vertex.index.restart) {
      line.Number("row", vertex.index.row).Number("vertex_id", vertex.index.vertex_id);
      line.Number("primitive_id", vertex.primitive_id);
      line.List("dwords", [&] {
        for (const uint32_t dword : fetch.vue()) line.Number("", dword);
      });
      line.List("elements", [&] {
        for (const Element& element : elements_) {
          line.List("", [&] {
            for (const Component& one : element.components) ValueOf(fetch, one).AddTo(line);
          });
        }
      });
    }
    output_.Append(line.Take());
  }

  void Primitives(sim::VertexFetch& fetch, const sim::DrawCounts& counts) {
    // A primitive for each vertex that is shown, and no search for one in more of them.
    sim::PrimitiveWalk walk(fetch, options_.most);
    if (!options_.jsonl) {
      output_.Append(
          absl::StrCat("primitives: ", counts.exact ? "" : "about ", counts.primitives, "\n"));
    }
    uint64_t shown = 0;
    while (shown < options_.most) {
      const sim::Primitive* const made = walk.Next();
      if (made == nullptr) break;
      ++shown;
      const auto vertices = absl::MakeConstSpan(made->vertices).first(made->size);
      if (options_.jsonl) {
        JsonLine line;
        line.Text("type", "primitive").Number("draw", options_.draw);
        line.Number("instance", walk.instance()).Number("number", made->id);
        line.Text("kind", KindName(made->kind));
        line.List("vertices", [&] {
          for (const uint32_t vertex : vertices) line.Number("", vertex);
        });
        line.List("adjacent", [&] {
          for (uint32_t i = 0; i < made->size; ++i) {
            if ((made->adjacent >> i & 1) != 0) line.Number("", vertices[i]);
          }
        });
        line.Number("provoking", vertices[made->provoking]);
        output_.Append(line.Take());
        continue;
      }
      std::string text = absl::StrCat("  ", KindName(made->kind), " ", made->id);
      if (fetch.draw().instance_count > 1) {
        absl::StrAppend(&text, " of instance ", walk.instance());
      }
      absl::StrAppend(&text, "  vertices");
      for (uint32_t i = 0; i < made->size; ++i) {
        absl::StrAppend(&text, " ", vertices[i]);
        if ((made->adjacent >> i & 1) != 0) absl::StrAppend(&text, " (adjacent)");
      }
      if (made->size > 1) absl::StrAppend(&text, ", provoking ", vertices[made->provoking]);
      output_.Append(absl::StrCat(text, "\n"));
    }
    if (!options_.jsonl && counts.primitives > shown) Left(counts.primitives - shown, "primitives");
  }

  void Left(uint64_t left, absl::string_view what) {
    output_.Append(
        absl::StrCat("  and ", left, " more ", what, "; --draw-vertices=N shows more\n"));
  }

  const VertexOptions options_;
  decode::Output& output_;
  std::vector<Element> elements_;  // that take room, in the order of their dwords
};

}  // namespace

void ShowVertices(const absl::StatusOr<sim::VertexDraw>& draw, const sim::MemoryAccess& memory,
                  const VertexOptions& options, decode::Output& output) {
  VertexText text(options, output);
  if (!draw.ok()) return text.Problem(draw.status().message());
  absl::StatusOr<sim::VertexFetch> fetch = sim::VertexFetch::Make(memory, *draw);
  if (!fetch.ok()) return text.Problem(fetch.status().message());
  text.Show(*std::move(fetch));
}

}  // namespace packsmith::tools
