#include "runtime/sim/work.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields.h"
#include "runtime/decode/value.h"

namespace packsmith::sim {

using tables::kNone;

std::vector<Parameter> ParametersOf(const tables::Tables& tables, const Work& work) {
  std::vector<Parameter> out;
  if (!work.arguments.empty()) {
    // VkDrawIndirectCommand, VkDrawIndexedIndirectCommand, groups of meshes.
    constexpr absl::string_view kDraw[] = {"count", "instances", "first", "first-instance"};
    constexpr absl::string_view kIndexed[] = {"count", "instances", "first", "bias",
                                              "first-instance"};
    constexpr absl::string_view kGroups[] = {"groups x", "groups y", "groups z"};
    for (size_t i = 0; i < work.arguments.size(); ++i) {
      const absl::string_view name = work.arguments.size() == 5   ? kIndexed[i]
                                     : work.arguments.size() == 4 ? kDraw[i]
                                                                  : kGroups[i];
      const uint32_t value = work.arguments[i];
      out.push_back({name, name == "bias" ? static_cast<int32_t>(value) : int64_t{value}});
    }
    return out;
  }
  const tables::Container& container = *work.command.container;
  const decode::Scope scope(tables, container, work.command.bytes);
  if (container.draw != kNone) {
    const tables::Draw& draw = tables.draw(container.draw);
    const auto add = [&](absl::string_view name, uint32_t expression) {
      if (expression == kNone) return;
      const std::optional<uint64_t> value = decode::Evaluate(
          tables.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
          [](uint32_t, uint32_t) { return std::optional<uint64_t>(); });
      if (value) out.push_back({name, static_cast<int64_t>(*value)});
    };
    add("count", draw.count);
    add("first", draw.first);
    add("instances", draw.instances);
    add("first-instance", draw.first_instance);
    add("bias", draw.bias);
    if (draw.indices != kNone) out.push_back({"indexed", scope.Holds(draw.indexed) ? 1 : 0});
  }
  constexpr absl::string_view kGroups[] = {"groups x", "groups y", "groups z"};
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

std::string TextOf(const tables::Tables& tables, const tables::Container& container,
                   absl::Span<const uint8_t> bytes) {
  std::string text = absl::StrCat("  ", tables.string(container.name), "\n");
  decode::ForEachField(tables, container, bytes, [&](const decode::FieldAt& at) {
    if (at.cut || at.width > 64 || (at.leaf->flags & (tables::kForced | tables::kLength)) != 0) {
      return;
    }
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    if (raw == 0) return;
    text += "    ";
    decode::AppendFieldName(at.name, text);
    const decode::Value value = decode::DecodeValue(tables, *at.leaf, at.width, raw);
    switch (value.kind) {
      case decode::ValueKind::kSigned:
        absl::StrAppend(&text, "  ", value.signed_value);
        break;
      case decode::ValueKind::kReal:
        absl::StrAppend(&text, "  ", value.real);
        break;
      case decode::ValueKind::kAddress:
        absl::StrAppendFormat(&text, "  0x%x", value.unsigned_value);
        break;
      default:
        absl::StrAppend(&text, "  ", value.unsigned_value);
        break;
    }
    const absl::string_view name = tables.ValueName(*at.leaf, raw);
    if (!name.empty()) absl::StrAppend(&text, " (", name, ")");
    text += "\n";
  });
  return text;
}

}  // namespace packsmith::sim
