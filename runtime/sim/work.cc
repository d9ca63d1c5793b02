#include "runtime/sim/work.h"

#include <algorithm>
#include <optional>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {

using tables::kNone;

std::vector<Parameter> ParametersOf(const tables::Tables& tables, const Work& work) {
  std::vector<Parameter> out;
  const bool indirect = work.layout != nullptr;
  const tables::Container& container = indirect ? *work.layout : *work.command.container;
  const decode::Scope scope(
      tables, container,
      indirect ? absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(work.arguments.data()),
                                     work.arguments.size() * sizeof(uint32_t))
               : work.command.bytes);
  if (container.draw != kNone) {
    const tables::Draw& draw = tables.draw(container.draw);
    const auto add = [&](ParameterKind kind, uint32_t expression) {
      if (expression == kNone) return;
      const std::optional<uint64_t> value = decode::Evaluate(
          tables.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
          [](uint32_t, uint32_t) { return std::optional<uint64_t>(); });
      if (value) out.push_back({kind, static_cast<int64_t>(*value)});
    };
    add(ParameterKind::kCount, draw.count);
    add(ParameterKind::kFirst, draw.first);
    add(ParameterKind::kInstances, draw.instances);
    add(ParameterKind::kFirstInstance, draw.first_instance);
    add(ParameterKind::kBias, draw.bias);
    if (draw.indices != kNone) {
      out.push_back({ParameterKind::kIndexed, scope.Holds(draw.indexed) ? 1 : 0});
    }
  }
  constexpr ParameterKind kGroups[] = {ParameterKind::kGroupsX, ParameterKind::kGroupsY,
                                       ParameterKind::kGroupsZ};
  size_t groups = 0;
  for (uint32_t i = 0; i < container.leaves.count; ++i) {
    const uint32_t index = container.leaves.first + i;
    const tables::Leaf& leaf = tables.leaf(index);
    if (leaf.extra == kNone || tables.extra(leaf.extra).meaning != tables::Meaning::kGroups ||
        groups == 3) {
      continue;
    }
    if (const std::optional<uint64_t> value = scope.Number(index)) {
      out.push_back({kGroups[groups++], static_cast<int64_t>(*value)});
    }
  }
  return out;
}

std::optional<DrawParameters> DrawParametersOf(const tables::Tables& tables, const Work& work) {
  DrawParameters out;
  for (const Parameter& parameter : ParametersOf(tables, work)) {
    const auto value = static_cast<uint32_t>(parameter.value);
    switch (parameter.kind) {
      case ParameterKind::kCount:
        out.vertex_count = value;
        break;
      case ParameterKind::kFirst:
        out.start_vertex = value;
        break;
      case ParameterKind::kInstances:
        out.instance_count = value;
        break;
      case ParameterKind::kFirstInstance:
        out.start_instance = value;
        break;
      case ParameterKind::kBias:
        out.base_vertex = static_cast<int32_t>(value);
        break;
      case ParameterKind::kIndexed:
        out.indexed = value != 0;
        break;
      case ParameterKind::kGroupsX:
      case ParameterKind::kGroupsY:
      case ParameterKind::kGroupsZ:
        break;
    }
  }
  if (work.role != tables::Role::kDraw || !out.vertex_count) return std::nullopt;
  return out;
}

std::vector<StatePacket> StateOf(const tables::Tables& tables, const Streamer& streamer,
                                 tables::Role role) {
  std::vector<StatePacket> out;
  for (const tables::Container& container : tables.containers()) {
    const auto serves = static_cast<tables::Role>(container.serves);
    if (serves != tables::Role::kOther && serves != role) continue;
    const uint64_t number = streamer.StateNumber(container);
    if (number != 0) out.push_back({&container, streamer.StateOf(container), number});
  }
  std::sort(out.begin(), out.end(),
            [](const StatePacket& a, const StatePacket& b) { return a.number < b.number; });
  return out;
}

}  // namespace packsmith::sim
