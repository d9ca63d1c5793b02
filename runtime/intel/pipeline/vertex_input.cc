#include "runtime/intel/pipeline/vertex_input.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/pipeline/vertex_formats.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kMostOffset = 2047, kMostBuffer = 32;
// Elements that 3DSTATE_VF_COMPONENT_PACKING has no bits for are stored whole.
constexpr unsigned kPackedElements = 32;

using C = VertexComponent;

// Which components of a format come from memory, and what completes the others.
std::array<C, 4> ComponentsOf(const VertexFormat& format) {
  std::array<C, 4> components;
  for (unsigned i = 0; i < 4; ++i) {
    if (i < format.components) {
      components[i] = C::kSource;
    } else if (format.kind == VertexFormatKind::kPassthrough) {
      // An element has 128 or 256 bits: what is missing is zero, and the second half may not exist.
      components[i] = i >= 2 && format.components <= 2 ? C::kNone : C::kZero;
    } else if (i < 3) {
      components[i] = C::kZero;
    } else {
      components[i] = format.kind == VertexFormatKind::kInteger ? C::kOneInteger : C::kOneFloat;
    }
  }
  return components;
}

class Planner {
 public:
  Planner(const VertexInput& input, const VertexFetch& fetch) : input_(input), fetch_(fetch) {}

  absl::StatusOr<VertexPlan> Plan();

 private:
  absl::Status AddAttribute(size_t index);
  absl::Status AddHalves(const VertexAttribute& from, const VertexFormat& format);
  absl::Status AddIds();
  absl::Status Add(const VertexElement& element);
  absl::Status Place();
  static absl::Status Refuse(size_t attribute, const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat("vertex attribute ", attribute, ": ", why...));
  }

  const VertexInput& input_;
  const VertexFetch& fetch_;
  VertexPlan plan_;
};

absl::Status Planner::Add(const VertexElement& element) {
  if (plan_.count == kMostVertexAttributes) {
    return absl::OutOfRangeError(
        absl::StrCat("more than ", kMostVertexAttributes,
                     " vertex elements; ids take up to two, and attributes of three or four 64-bit "
                     "components two each if they are split"));
  }
  plan_.elements[plan_.count++] = element;
  return absl::OkStatus();
}

// 64-bit components as pairs of 32-bit integers.
absl::Status Planner::AddHalves(const VertexAttribute& from, const VertexFormat& format) {
  VertexElement element{.buffer = from.buffer,
                        .offset = from.offset,
                        .step = from.step,
                        .divisor = from.divisor,
                        .stored = 0xf};
  const auto half = [&](unsigned components) {
    const bool whole = components >= 2;
    element.format = whole ? SurfaceFormat::R32G32B32A32_UINT : SurfaceFormat::R32G32_UINT;
    element.components = {C::kSource, C::kSource, whole ? C::kSource : C::kZero,
                          whole ? C::kSource : C::kZero};
    return Add(element);
  };
  if (absl::Status status = half(format.components); !status.ok()) return status;
  if (format.components <= 2) return absl::OkStatus();
  element.offset += 16;
  return half(format.components - 2u);
}

absl::Status Planner::AddAttribute(size_t index) {
  const VertexAttribute& from = input_.attributes[index];
  const VertexFormat* const format = FindVertexFormat(from.format);
  if (format == nullptr) {
    return Refuse(index, "format ", from.format,
                  " cannot be fetched; VertexFormats() lists those that can");
  }
  const bool is_wide = format->kind == VertexFormatKind::kPassthrough;
  const bool is_split = is_wide && input_.split_64_bit;
  if (from.buffer > kMostBuffer) {
    return Refuse(index, "buffer ", from.buffer, "; it must be at most ", kMostBuffer);
  }
  const uint32_t last = from.offset + (is_split && format->components > 2 ? 16u : 0u);
  if (from.offset > kMostOffset || last > kMostOffset) {
    return Refuse(index, "offset ", last, "; it must be at most ", kMostOffset,
                  ", beyond which the buffer's address must be raised instead");
  }
  if (format->component_bits == 64 && from.offset % 8 != 0) {
    return Refuse(index, "offset ", from.offset, "; 64-bit components begin at multiples of 8");
  }
  if (from.read > 0xf) {
    return Refuse(index, "components ", from.read, " are read; there are four, a bit each");
  }
  if (is_wide && !is_split && input_.pack_components) {
    return Refuse(index, "64-bit components cannot be packed; set split_64_bit");
  }
  if (is_split) return AddHalves(from, *format);
  return Add({.format = from.format,
              .buffer = from.buffer,
              .offset = from.offset,
              .components = ComponentsOf(*format),
              .step = from.step,
              .divisor = from.divisor,
              .stored = from.read,
              .components_32 = static_cast<uint16_t>(is_wide && format->components > 2 ? 8 : 4)});
}

absl::Status Planner::AddIds() {
  const VertexIds& ids = input_.ids;
  const auto check = [](const char* what, uint32_t buffer) {
    if (buffer <= kMostBuffer) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the buffer of ", what, " is ", buffer, "; it must be at most ", kMostBuffer));
  };
  // Generated ids replace what the element stores.
  VertexElement element{.format = SurfaceFormat::R32G32_UINT,
                        .components = {C::kZero, C::kZero, C::kZero, C::kZero},
                        .divisor = 0};
  if (ids.first_vertex || ids.first_instance || ids.vertex || ids.instance) {
    if (!fetch_.has_draw_parameters && (ids.first_vertex || ids.first_instance)) {
      if (absl::Status s = check("the first vertex and instance", ids.first_buffer); !s.ok()) {
        return s;
      }
      element.buffer = ids.first_buffer;
      element.components[0] = element.components[1] = C::kSource;
    }
    element.stored = static_cast<uint8_t>(ids.first_vertex | ids.first_instance << 1 |
                                          ids.vertex << 2 | ids.instance << 3);
    plan_.has_ids = true;
    plan_.first_ids = plan_.count;
    if (absl::Status status = Add(element); !status.ok()) return status;
  }
  if (ids.draw) {
    element.buffer = 0;
    element.format = SurfaceFormat::R32_UINT;
    element.components[0] = element.components[1] = C::kZero;
    element.stored = 1;
    if (!fetch_.has_draw_parameters) {
      if (absl::Status s = check("the draw's number", ids.draw_buffer); !s.ok()) return s;
      element.buffer = ids.draw_buffer;
      element.components[0] = C::kSource;
    }
    plan_.has_draw_id = true;
    plan_.draw_id = plan_.count;
    if (absl::Status status = Add(element); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Planner::Place() {
  unsigned next = 0;
  for (unsigned i = 0; i < plan_.count; ++i) {
    VertexElement& element = plan_.elements[i];
    if (!input_.pack_components || i >= kPackedElements) element.stored = 0xf;
    element.first_component = static_cast<uint16_t>(next);
    if (input_.pack_components && i < kPackedElements) {
      element.components_32 =
          static_cast<uint16_t>(std::popcount(static_cast<unsigned>(element.stored)));
    }
    next += element.components_32;
  }
  if (next == 0) {
    return absl::InvalidArgumentError(
        "no component of any vertex attribute is read; with pack_components at least one must be");
  }
  constexpr unsigned kUnit = 8;  // 32 bytes
  plan_.read_length = (next + kUnit - 1) / kUnit;
  return absl::OkStatus();
}

absl::StatusOr<VertexPlan> Planner::Plan() {
  if (input_.pack_components && !fetch_.packs_components) {
    return absl::InvalidArgumentError(
        absl::StrCat(fetch_.generation, " cannot pack vertex components; Gfx9 and later can"));
  }
  const VertexAttribute* edge = nullptr;
  for (size_t i = 0; i < input_.attributes.size(); ++i) {
    const VertexAttribute& attribute = input_.attributes[i];
    if (!attribute.edge_flag) {
      if (absl::Status status = AddAttribute(i); !status.ok()) return status;
      continue;
    }
    if (edge != nullptr) return Refuse(i, "a second edge flag; there can be one");
    if (attribute.format != SurfaceFormat::R8_UINT && attribute.format != SurfaceFormat::R16_UINT &&
        attribute.format != SurfaceFormat::R32_UINT) {
      return Refuse(i, "format ", attribute.format,
                    " of an edge flag; it must be R8_UINT, R16_UINT or R32_UINT");
    }
    if (attribute.buffer > kMostBuffer || attribute.offset > kMostOffset) {
      return Refuse(i, "buffer ", attribute.buffer, ", offset ", attribute.offset,
                    "; they must be at most ", kMostBuffer, " and ", kMostOffset);
    }
    edge = &attribute;
  }
  if (absl::Status status = AddIds(); !status.ok()) return status;
  // The list of elements cannot be empty.
  if (plan_.count == 0) {
    absl::Status status = Add({.format = SurfaceFormat::R32G32B32A32_FLOAT,
                               .components = {C::kZero, C::kZero, C::kZero, C::kOneFloat}});
    if (!status.ok()) return status;
  }
  if (absl::Status status = Place(); !status.ok()) return status;
  if (edge != nullptr) {
    plan_.elements[plan_.count++] = {
        .format = edge->format,
        .buffer = edge->buffer,
        .offset = edge->offset,
        .components = {C::kSource, C::kNone, C::kNone, C::kNone},
        .edge_flag = true,
        .step = edge->step,
        .divisor = edge->divisor,
        .stored = 0,
        .components_32 = 0,
    };
  }
  return plan_;
}

}  // namespace

absl::StatusOr<VertexPlan> PlanVertexInput(const VertexInput& input, const VertexFetch& fetch) {
  return Planner(input, fetch).Plan();
}

namespace vertex_errors {

absl::Status PatchPoints(uint32_t points) {
  return absl::InvalidArgumentError(
      absl::StrCat("patches of ", points, " control points; they must have 1 to 32"));
}

absl::Status BufferCount(size_t count, size_t most) {
  return absl::OutOfRangeError(absl::StrCat(count, " vertex buffers; there can be at most ", most));
}

absl::Status BufferSize(const char* what, size_t index, uint64_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", index, " of ", size, " bytes; it must be smaller than 4 GiB"));
}

}  // namespace vertex_errors
}  // namespace packsmith::intel
