#include "runtime/sim/statistics.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"

namespace packsmith::sim {

using tables::kNone;
using tables::Meaning;

namespace {

// Of one draw, and of all draws of a context.
constexpr uint64_t kMostIndices = uint64_t{1} << 20;
constexpr uint64_t kAllIndices = uint64_t{1} << 28;

void Add(const std::vector<uint32_t>& counters, uint64_t number, Registers& registers) {
  for (const uint32_t offset : counters) {
    registers.Write64(offset, registers.Read64(offset) + number);
  }
}

}  // namespace

Statistics::Statistics(const tables::Tables& tables) : tables_(tables), indices_left_(kAllIndices) {
  for (const tables::Container& container : tables.containers()) {
    const bool is_register = container.kind == tables::ContainerKind::kRegister;
    for (uint32_t i = 0; i < container.leaves.count; ++i) {
      const uint32_t leaf = container.leaves.first + i;
      const uint32_t extra = tables.leaf(leaf).extra;
      if (extra == kNone) continue;
      const Meaning meaning = tables.extra(extra).meaning;
      const auto counts = [&](Counters* counters) {
        if (!is_register) return;
        for (uint32_t byte = 0; byte < container.bytes; byte += 4) {
          meanings_[container.register_offset + byte] = meaning;
        }
        if (counters != nullptr) counters->push_back(container.register_offset);
      };
      switch (meaning) {
        case Meaning::kVertexCounter:
          counts(&vertices_);
          break;
        case Meaning::kPrimitiveCounter:
          counts(&primitives_);
          break;
        case Meaning::kVertexShaderCounter:
          counts(&vertex_shaders_);
          break;
        case Meaning::kShaderCounter:
          counts(nullptr);
          break;
        case Meaning::kVertexStatistics:
          vertex_statistics_.push_back({&container, leaf});
          break;
        case Meaning::kVertexShaderStatistics:
          vertex_shader_statistics_.push_back({&container, leaf});
          break;
        case Meaning::kTopology:
          topologies_.push_back({&container, leaf});
          break;
        case Meaning::kCutSequential:
          cuts_sequential_.push_back({&container, leaf});
          break;
        default:
          break;
      }
    }
  }
}

std::optional<uint64_t> Statistics::Number(uint32_t expression, const decode::Scope& scope,
                                           const Streamer& streamer) const {
  if (expression == kNone) return std::nullopt;
  return decode::Evaluate(
      tables_.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
      [&](uint32_t container, uint32_t leaf) {
        return std::optional(streamer.StateValue(container, leaf).value_or(0));
      });
}

bool Statistics::IsOn(const std::vector<Field>& fields, const Streamer& streamer) const {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    return streamer.StateValue(tables_.IndexOf(*field.container), field.leaf).value_or(0) != 0;
  });
}

const Topology* Statistics::TopologyOf(const Work& work, const Streamer& streamer) {
  // The draw's own, or that of the packet that was executed last.
  const Field* from = nullptr;
  uint64_t latest = 0;
  for (const Field& field : topologies_) {
    if (field.container == work.command.container) {
      from = &field;
      break;
    }
    const uint64_t number = streamer.StateNumber(*field.container);
    if (number > latest) from = &field;
    latest = std::max(latest, number);
  }
  if (from == nullptr) return nullptr;
  const absl::Span<const uint8_t> bytes = from->container == work.command.container
                                              ? work.command.bytes
                                              : streamer.StateOf(*from->container);
  const std::optional<uint64_t> raw =
      decode::Scope(tables_, *from->container, bytes).Raw(from->leaf);
  if (!raw) return nullptr;
  const auto [known, added] = known_topologies_.try_emplace(*raw);
  if (added) known->second = FindTopology(tables_.ValueName(tables_.leaf(from->leaf), *raw));
  return known->second ? &*known->second : nullptr;
}

std::optional<DrawCounts> Statistics::Fetched(const Work& work, const Streamer& streamer,
                                              const MemoryAccess& memory, uint32_t own_space) {
  const std::optional<DrawParameters> parameters = DrawParametersOf(tables_, work);
  if (!parameters) return std::nullopt;
  if (description_ == nullptr) description_ = std::make_unique<VertexDescription>(tables_);
  VertexState state(*description_);
  std::vector<std::pair<uint64_t, const tables::Container*>> packets;
  for (const tables::Container& container : tables_.containers()) {
    if (!description_->Changes(container)) continue;
    const uint64_t number = streamer.StateNumber(container);
    if (number != 0) packets.emplace_back(number, &container);
  }
  std::sort(packets.begin(), packets.end());
  for (const auto& [number, container] : packets) {
    state.See(*container, streamer.StateOf(*container), own_space);
  }
  absl::StatusOr<VertexDraw> draw =
      state.Draw(*work.command.container, work.command.bytes, *parameters, own_space);
  if (!draw.ok()) return std::nullopt;
  // Only indices are read.
  draw->buffers.clear();
  draw->elements.clear();
  draw->placements.clear();
  absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, *std::move(draw));
  if (!fetch.ok()) return std::nullopt;
  const uint64_t most = std::min(indices_left_, kMostIndices);
  indices_left_ -= std::min<uint64_t>(most, fetch->draw().vertex_count);
  return CountDraw(*std::move(fetch), most);
}

std::optional<DrawCounts> Statistics::CountsOf(const Work& work, const Streamer& streamer,
                                               const MemoryAccess& memory, uint32_t own_space) {
  // The numbers are in the packet, or in a structure in memory.
  const bool indirect = work.layout != nullptr;
  const tables::Container& container = indirect ? *work.layout : *work.command.container;
  const decode::Scope scope(
      tables_, container,
      indirect ? absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(work.arguments.data()),
                                     work.arguments.size() * sizeof(uint32_t))
               : work.command.bytes);
  const Topology* const topology = TopologyOf(work, streamer);
  if (topology == nullptr) return std::nullopt;
  const tables::Draw& draw = tables_.draw(container.draw);
  const std::optional<uint64_t> count = Number(draw.count, scope, streamer);
  if (!count) return std::nullopt;
  const uint64_t instances = Number(draw.instances, scope, streamer).value_or(1);
  const bool indexed = draw.indices != kNone && scope.Holds(draw.indexed);
  if (indexed) vertex_shaders_in_doubt_ = true;
  const bool cut = indexed ? IsCut(draw, scope, streamer) : IsOn(cuts_sequential_, streamer);
  if (cut) return Fetched(work, streamer, memory, own_space);
  return DrawCounts{*count * instances, CountPrimitives(*topology, *count) * instances, true};
}

bool Statistics::IsCut(const tables::Draw& draw, const decode::Scope& scope,
                       const Streamer& streamer) const {
  if (draw.cuts != kNone) return Number(draw.cuts, scope, streamer).value_or(0) != 0;
  // Where the numbers are in memory, other draws tell what cuts.
  for (const tables::Draw& other : tables_.draws()) {
    if (other.cuts == kNone) continue;
    const tables::Expression& expression = tables_.expression(other.cuts);
    if (expression.kind != tables::ExpressionKind::kState) continue;
    if (Number(other.cuts, scope, streamer).value_or(0) != 0) return true;
  }
  return false;
}

void Statistics::Count(const Work& work, const Streamer& streamer, const MemoryAccess& memory,
                       uint32_t own_space, Registers& registers) {
  worked_ = true;
  if (work.role != tables::Role::kDraw) return;
  const bool fetches = !vertices_.empty() || !primitives_.empty();
  const bool fetch = fetches && IsOn(vertex_statistics_, streamer);
  const bool shade = !vertex_shaders_.empty() && IsOn(vertex_shader_statistics_, streamer);
  if (!fetch && !shade) return;
  // Meshes have no vertices.
  const tables::Container& container =
      work.layout != nullptr ? *work.layout : *work.command.container;
  if (container.draw == kNone) return;
  const bool was_in_doubt = vertex_shaders_in_doubt_;
  const std::optional<DrawCounts> counts = CountsOf(work, streamer, memory, own_space);
  if (!shade) vertex_shaders_in_doubt_ = was_in_doubt;
  if (!counts || !counts->exact) {
    fetch_in_doubt_ = fetch_in_doubt_ || fetch;
    vertex_shaders_in_doubt_ = vertex_shaders_in_doubt_ || shade;
  }
  if (!counts) return;
  if (fetch) {
    Add(vertices_, counts->vertices, registers);
    Add(primitives_, counts->primitives, registers);
  }
  if (shade) Add(vertex_shaders_, counts->vertices, registers);
}

absl::string_view Statistics::Doubt(uint32_t offset) const {
  const auto found = meanings_.find(offset);
  if (found == meanings_.end()) return {};
  switch (found->second) {
    case Meaning::kVertexCounter:
    case Meaning::kPrimitiveCounter:
      return fetch_in_doubt_ ? "not all vertices of draws were counted" : absl::string_view();
    case Meaning::kVertexShaderCounter:
      return vertex_shaders_in_doubt_
                 ? "each index counts as an invocation of the vertex shader, repeated ones too"
                 : absl::string_view();
    default:
      return worked_ ? "shaders are not executed, and what they count is not known"
                     : absl::string_view();
  }
}

}  // namespace packsmith::sim
