#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/hang/judge.h"

namespace packsmith::hang {

const Command* StoppedAt(const EngineReport& engine) {
  const std::optional<size_t>& index = engine.header ? engine.header : engine.active;
  return index && *index < engine.commands.size() ? &engine.commands[*index] : nullptr;
}

std::string NameOf(const tables::Tables& tables, const Command& command) {
  return command.container == nullptr ? "unknown command"
                                      : std::string(tables.string(command.container->name));
}

std::string Whereabouts(const Place& place) {
  if (!place.holder) return place.mapped ? "in unnamed memory" : "not in any buffer of the dump";
  const Neighbor& holder = *place.holder;
  if (holder.name.empty()) {
    return absl::StrFormat("0x%x bytes into the buffer of %d bytes at 0x%x", holder.distance,
                           holder.size, holder.address);
  }
  return absl::StrFormat("in %s+0x%x", holder.name, holder.distance);
}

bool IsOurs(const Case& at, const Event& event) {
  return event.queue && std::any_of(at.report.contexts.begin(), at.report.contexts.end(),
                                    [&](const Context& context) {
                                      // A parallel queue has several numbers.
                                      uint32_t id = 0;
                                      return absl::SimpleAtoi(context.said.id, &id) &&
                                             *event.queue - id < context.said.width;
                                    });
}

std::string Quoted(const Event& event) { return absl::StrCat(event.source, ": ", event.text, "."); }

uint32_t SpaceOf(const Case& at, const EngineReport& engine) {
  for (const ErrorEngine& one : at.dump.error_state->engines) {
    if (one.name == engine.name) return one.space;
  }
  return 0;
}

}  // namespace packsmith::hang
