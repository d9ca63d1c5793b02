#include "runtime/intel/state/stream_output.h"

#include <algorithm>

namespace packsmith::intel {
namespace {

constexpr unsigned kRegisters = 64, kComponents = 4;

unsigned CountOf(unsigned components) {
  return static_cast<unsigned>(__builtin_popcount(components));
}

}  // namespace

absl::StatusOr<StreamOutPlan> PlanStreamOut(absl::Span<const StreamOutVarying> varyings) {
  const auto wrong = [&](const StreamOutVarying* which, const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("varying ", which - varyings.data(), " of stream output: ", what...));
  };
  std::vector<const StreamOutVarying*> sorted;
  for (const StreamOutVarying& varying : varyings) {
    if (varying.stream >= kVertexStreams || varying.buffer >= kStreamOutBuffers ||
        varying.register_index >= kRegisters || varying.components == 0 ||
        varying.components >> kComponents != 0) {
      return wrong(
          &varying, "stream ", varying.stream, ", buffer ", varying.buffer, ", register ",
          varying.register_index, ", components ", varying.components,
          "; streams and buffers must be less than 4, registers less than 64, components 1 to 15");
    }
    if (varying.offset % 4 != 0) {
      return wrong(&varying, "the offset is ", varying.offset, "; it must be a multiple of 4");
    }
    sorted.push_back(&varying);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->buffer != b->buffer ? a->buffer < b->buffer : a->offset < b->offset;
  });

  StreamOutPlan plan;
  uint64_t filled = 0;  // components of the vertex in the current buffer
  const StreamOutVarying* before = nullptr;
  for (const StreamOutVarying* varying : sorted) {
    if (before == nullptr || before->buffer != varying->buffer) {
      filled = 0;
    } else if (before->stream != varying->stream) {
      return wrong(varying, "stream ", varying->stream, " writes buffer ", varying->buffer,
                   ", which stream ", before->stream, " writes already");
    }
    uint64_t next = varying->offset / 4;
    if (next < filled) {
      return wrong(varying, "it overlaps another one at offset ", varying->offset, " of buffer ",
                   varying->buffer);
    }
    std::vector<StreamOutDeclaration>& stream = plan.streams[varying->stream];
    while (filled < next && stream.size() < kMostStreamOutDeclarations) {
      const unsigned hole = static_cast<unsigned>(std::min<uint64_t>(next - filled, kComponents));
      stream.push_back({.buffer = varying->buffer, .components = (1u << hole) - 1, .hole = true});
      filled += hole;
    }
    if (stream.size() >= kMostStreamOutDeclarations) {
      return wrong(varying, "stream ", varying->stream, " needs more than ",
                   kMostStreamOutDeclarations, " declarations, holes of up to 16 bytes included");
    }
    stream.push_back({.buffer = varying->buffer,
                      .register_index = varying->register_index,
                      .components = varying->components});
    filled += CountOf(varying->components);
    plan.buffers[varying->stream] |= 1u << varying->buffer;
    before = varying;
  }
  return plan;
}

}  // namespace packsmith::intel
