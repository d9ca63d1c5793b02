#include "runtime/sim/vertices/vertex_fetch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kOneFloat = 0x3f800000;
constexpr uint32_t kMostDestination = 1023;
constexpr std::array<uint8_t, kMostElementBytes> kZeros = {};

struct NamedSource {
  absl::string_view name;
  ComponentSource source;
};

constexpr NamedSource kControls[] = {
    {"NOSTORE", ComponentSource::kNothing},        {"STORE_SRC", ComponentSource::kData},
    {"STORE_0", ComponentSource::kZero},           {"STORE_1_FP", ComponentSource::kOneFloat},
    {"STORE_1_INT", ComponentSource::kOneInteger}, {"STORE_VID", ComponentSource::kVertexId},
    {"STORE_IID", ComponentSource::kInstanceId},   {"STORE_PID", ComponentSource::kPrimitiveId},
};

bool IsMadeForEachVertex(ComponentSource source) {
  return source == ComponentSource::kVertexId || source == ComponentSource::kInstanceId ||
         source == ComponentSource::kPrimitiveId;
}

}  // namespace

std::optional<ComponentSource> FindComponentControl(absl::string_view name) {
  for (const NamedSource& one : kControls) {
    if (one.name == name) return one.source;
  }
  return std::nullopt;
}

absl::StatusOr<VertexFetch> VertexFetch::Make(const MemoryAccess& memory, VertexDraw draw) {
  VertexFetch fetch(memory, std::move(draw));
  if (const absl::Status status = fetch.Check(); !status.ok()) return status;
  fetch.LayOut();
  fetch.Plan();
  return fetch;
}

absl::Status VertexFetch::Check() const {
  const uint32_t index_bytes = draw_.indices.index_bytes;
  if (draw_.indexed && index_bytes != 1 && index_bytes != 2 && index_bytes != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("an index of ", index_bytes, " bytes; it must have 1, 2 or 4"));
  }
  if (draw_.buffers.size() > kMostVertexBuffers) {
    return absl::InvalidArgumentError(absl::StrCat(
        draw_.buffers.size(), " vertex buffers; a draw must have at most ", kMostVertexBuffers));
  }
  if (draw_.elements.size() > kMostVertexElements) {
    return absl::InvalidArgumentError(absl::StrCat(
        draw_.elements.size(), " vertex elements; a draw must have at most ", kMostVertexElements));
  }
  for (size_t i = 0; i < draw_.elements.size(); ++i) {
    const VertexElement& element = draw_.elements[i];
    const bool reads =
        element.edge_flag || std::find(element.components.begin(), element.components.end(),
                                       ComponentSource::kData) != element.components.end();
    if (reads && (element.format.bytes == 0 || element.format.bytes > kMostElementBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("vertex element ", i, " has a format of ", element.format.bytes,
                       " bytes; it must have 1 to ", kMostElementBytes));
    }
    if (element.destination.value_or(0) > kMostDestination) {
      return absl::InvalidArgumentError(
          absl::StrCat("vertex element ", i, " begins at dword ", *element.destination,
                       " of the vertex; it must be at most ", kMostDestination));
    }
  }
  for (const Placement& placement : draw_.placements) {
    if (placement.component > 3) {
      return absl::InvalidArgumentError(absl::StrCat("a value is placed in component ",
                                                     placement.component,
                                                     " of a vertex element; it must be 0 to 3"));
    }
  }
  return absl::OkStatus();
}

void VertexFetch::LayOut() {
  size_t at = 0;
  for (uint32_t i = 0; i < draw_.elements.size(); ++i) {
    const VertexElement& element = draw_.elements[i];
    if (element.edge_flag) continue;
    if (element.destination) at = *element.destination;
    for (uint32_t component = 0; component < 4; ++component) {
      ComponentSource source = element.components[component];
      if (source == ComponentSource::kNothing) continue;
      for (const Placement& placement : draw_.placements) {
        if (placement.element == i && placement.component == component) source = placement.source;
      }
      if ((element.enables >> component & 1) == 0) continue;
      for (uint8_t half = 0; half < (element.format.wide ? 2 : 1); ++half) {
        if (layout_.size() <= at) layout_.resize(at + 1);
        layout_[at++] = {source, static_cast<uint8_t>(i), static_cast<uint8_t>(component), half};
      }
    }
  }
}

uint32_t VertexFetch::Constant(ComponentSource source) const {
  switch (source) {
    case ComponentSource::kOneFloat:
      return kOneFloat;
    case ComponentSource::kOneInteger:
      return 1;
    case ComponentSource::kVertexLocation:
      return draw_.indexed ? static_cast<uint32_t>(draw_.base_vertex) : draw_.start_vertex;
    case ComponentSource::kStartInstance:
      return draw_.start_instance;
    case ComponentSource::kParameter0:
      return draw_.parameters[0];
    case ComponentSource::kParameter1:
      return draw_.parameters[1];
    case ComponentSource::kParameter2:
      return draw_.parameters[2];
    default:
      return 0;
  }
}

void VertexFetch::Plan() {
  windows_.resize(draw_.buffers.size());
  vue_.assign(layout_.size(), 0);
  for (uint32_t i = 0; i < layout_.size(); ++i) {
    if (layout_[i].half == 0) vue_[i] = Constant(layout_[i].source);
    if (IsMadeForEachVertex(layout_[i].source) && layout_[i].half == 0) {
      ids_.push_back({i, layout_[i]});
    }
  }
  for (uint32_t i = 0; i < draw_.elements.size(); ++i) {
    const VertexElement& element = draw_.elements[i];
    Step step = {.element = i,
                 .step = element.step,
                 .first = static_cast<uint32_t>(data_.size()),
                 .count = 0,
                 .last_row = std::nullopt};
    if (!step.step && element.buffer < draw_.buffers.size()) {
      step.step = draw_.buffers[element.buffer].step;
    }
    for (uint32_t dword = 0; dword < layout_.size(); ++dword) {
      const VueDword& from = layout_[dword];
      if (from.element == i && from.source == ComponentSource::kData)
        data_.push_back({dword, from});
    }
    step.count = static_cast<uint32_t>(data_.size()) - step.first;
    if (step.count != 0 || element.edge_flag) steps_.push_back(step);
  }
}

void VertexFetch::Forget() {
  index_window_.Forget();
  for (ReadWindow& window : windows_) window.Forget();
  for (Step& step : steps_) step.last_row.reset();
}

const uint8_t* VertexFetch::ReadMapped(ReadWindow& window, uint32_t space, uint64_t address,
                                       uint32_t size, uint64_t most) {
  address &= draw_.address_mask;
  const uint64_t room = draw_.address_mask - address;  // bytes after the one at `address`
  const uint8_t* bytes = room < size - 1
                             ? nullptr
                             : window.At(*memory_, space, address, size,
                                         std::max<uint64_t>(std::min(most, room), size));
  if (bytes == nullptr && problems_.unmapped++ == 0) problems_.unmapped_address = address;
  return bytes;
}

uint32_t VertexFetch::ReadIndex(uint32_t number) {
  const IndexBuffer& buffer = draw_.indices;
  const uint64_t offset = (uint64_t{draw_.start_vertex} + number) * buffer.index_bytes;
  if (offset + buffer.index_bytes > buffer.size) {
    ++problems_.indices_outside;
    return 0;
  }
  const uint8_t* bytes = ReadMapped(index_window_, buffer.space, buffer.address + offset,
                                    buffer.index_bytes, buffer.size - offset);
  if (bytes == nullptr) return 0;
  uint32_t index = 0;
  std::memcpy(&index, bytes, buffer.index_bytes);
  return index;
}

VertexIndex VertexFetch::IndexAt(uint32_t number) {
  VertexIndex made;
  if (draw_.indexed) {
    const uint32_t index = ReadIndex(number);
    made.restart = draw_.cut && *draw_.cut == index;
    made.row = index + static_cast<uint32_t>(draw_.base_vertex);
    made.vertex_id = draw_.vertex_id_offset ? made.row : index;
  } else {
    made.row = draw_.start_vertex + number;
    made.restart = draw_.cut_sequential && draw_.cut && *draw_.cut == made.row;
    made.vertex_id = draw_.vertex_id_offset ? made.row : number;
  }
  return made;
}

const uint8_t* VertexFetch::ReadElement(const VertexElement& element, uint32_t row) {
  if (element.buffer < draw_.buffers.size()) {
    const VertexBuffer& buffer = draw_.buffers[element.buffer];
    const uint64_t offset = uint64_t{row} * buffer.pitch + element.offset;
    if (!buffer.null && offset + element.format.bytes <= buffer.size &&
        (!buffer.last_row || row <= *buffer.last_row)) {
      const uint8_t* bytes =
          ReadMapped(windows_[element.buffer], buffer.space, buffer.address + offset,
                     element.format.bytes, buffer.size - offset);
      return bytes != nullptr ? bytes : kZeros.data();
    }
  }
  ++problems_.elements_outside;
  return kZeros.data();
}

void VertexFetch::Fetch(const Vertex& vertex) {
  for (Step& step : steps_) {
    uint32_t row = vertex.index.row;
    if (step.step) {
      row = draw_.start_instance + (*step.step == 0 ? 0 : vertex.instance / *step.step);
      if (step.last_row == row) continue;
      step.last_row = row;
    }
    const VertexElement& element = draw_.elements[step.element];
    const uint8_t* bytes = ReadElement(element, row);
    const absl::Span<const uint8_t> span(bytes, element.format.bytes);
    if (element.edge_flag) {
      edge_flag_ = std::any_of(span.begin(), span.end(), [](uint8_t byte) { return byte != 0; });
      continue;
    }
    for (uint32_t i = step.first; i < step.first + step.count; ++i) {
      const uint64_t value = ConvertComponent(element.format, data_[i].from.component, span);
      vue_[data_[i].dword] = static_cast<uint32_t>(value >> (data_[i].from.half * 32));
    }
  }
  for (const Made& id : ids_) {
    vue_[id.dword] = id.from.source == ComponentSource::kVertexId     ? vertex.index.vertex_id
                     : id.from.source == ComponentSource::kInstanceId ? vertex.instance
                                                                      : vertex.primitive_id;
  }
}

bool VertexWalk::Next() {
  const VertexDraw& draw = fetch_->draw();
  if (draw.vertex_count == 0) return false;
  if (next_ == draw.vertex_count) {
    next_ = in_strip_ = primitives_ = 0;
    ++instance_;
  }
  if (instance_ >= draw.instance_count) return false;
  vertex_.instance = static_cast<uint32_t>(instance_);
  vertex_.number = static_cast<uint32_t>(next_++);
  vertex_.index = fetch_->IndexAt(vertex_.number);
  if (vertex_.index.restart) {
    primitives_ += CountPrimitives(draw.topology, in_strip_);
    in_strip_ = 0;
    vertex_.primitive_id = static_cast<uint32_t>(primitives_);
    return true;
  }
  vertex_.primitive_id =
      static_cast<uint32_t>(primitives_ + CountCompleted(draw.topology, in_strip_));
  ++in_strip_;
  return true;
}

void VertexWalk::Seek(uint32_t instance) {
  next_ = in_strip_ = primitives_ = 0;
  instance_ = instance;
}

const Primitive* PrimitiveWalk::Next() {
  const VertexDraw& draw = fetch_->draw();
  if (draw.vertex_count == 0) return nullptr;
  while (next_instance_ < draw.instance_count) {
    instance_ = static_cast<uint32_t>(next_instance_);
    const Primitive* made = nullptr;
    if (next_ == draw.vertex_count) {
      made = assembler_.EndStrip();
      assembler_.StartInstance();
      next_ = 0;
      ++next_instance_;
    } else {
      if (left_ == 0) {
        stopped_ = true;
        return nullptr;
      }
      --left_;
      const auto number = static_cast<uint32_t>(next_++);
      made = fetch_->IndexAt(number).restart ? assembler_.EndStrip() : assembler_.Add(number);
    }
    if (made != nullptr) return made;
  }
  return nullptr;
}

void PrimitiveWalk::Seek(uint32_t instance) {
  assembler_.EndStrip();
  assembler_.StartInstance();
  next_ = 0;
  next_instance_ = instance;
}

DrawCounts CountDraw(VertexFetch fetch, uint64_t most_indices) {
  const VertexDraw& draw = fetch.draw();
  DrawCounts counts;
  uint64_t in_strip = 0;
  const auto restart = [&] {
    counts.primitives += CountPrimitives(draw.topology, in_strip);
    in_strip = 0;
  };
  const auto vertices = [&](uint64_t number) {
    counts.vertices += number;
    in_strip += number;
  };
  if (!draw.cut || !(draw.indexed || draw.cut_sequential)) {
    vertices(draw.vertex_count);
  } else if (!draw.indexed) {
    // The position of the only vertex that has the number of the cut.
    const uint32_t position = *draw.cut - draw.start_vertex;
    if (position < draw.vertex_count) {
      vertices(position);
      restart();
      vertices(draw.vertex_count - position - 1);
    } else {
      vertices(draw.vertex_count);
    }
  } else {
    const uint64_t have = draw.indices.size / draw.indices.index_bytes;
    const uint64_t inside = have > draw.start_vertex ? have - draw.start_vertex : 0;
    const uint64_t read = std::min<uint64_t>(inside, draw.vertex_count);
    const uint64_t scanned = std::min(read, most_indices);
    for (uint64_t i = 0; i < scanned; ++i) {
      if (fetch.IndexAt(static_cast<uint32_t>(i)).restart) {
        restart();
      } else {
        vertices(1);
      }
    }
    counts.exact = scanned == read;
    vertices(read - scanned);
    // All indices beyond the buffer are 0.
    if (*draw.cut == 0) {
      restart();
    } else {
      vertices(draw.vertex_count - read);
    }
  }
  restart();
  counts.vertices *= draw.instance_count;
  counts.primitives *= draw.instance_count;
  return counts;
}

uint32_t CountVerticesBefore(uint32_t end_offset, uint32_t start_vertex, uint32_t pitch) {
  const uint32_t rows = pitch == 0 ? 0 : end_offset / pitch;
  return rows > start_vertex ? rows - start_vertex : 0;
}

}  // namespace packsmith::sim
