#include "runtime/capture/i915/context.h"

namespace packsmith::capture::i915 {

bool Context::NoteHang(int64_t now) {
  ++guilty;
  // Contexts that hang three times within two minutes are banned, and those that cannot be
  // recovered at once. Source: Linux, intel_reset.c.
  constexpr int64_t kSoon = 120'000'000'000;
  const bool soon = now - hangs[0] < kSoon;
  hangs = {hangs[1], now};
  return bannable && (soon || !recoverable);
}

std::vector<ContextEngine::Lane>& Context::Lanes(MockKernel& kernel, ContextEngine& engine) {
  // Engines of a parallel submission are listed lane by lane.
  const size_t siblings = engine.engines.size() / engine.width;
  while (engine.lanes.size() < engine.width) {
    engine.lanes.push_back({.queue = kernel.scheduler().NewQueue(),
                            .context = kernel.NewContextId(),
                            .engine = engine.engines[engine.lanes.size() * siblings]});
  }
  return engine.lanes;
}

void Context::Cancel(MockKernel& kernel, Result error) {
  for (const ContextEngine& engine : map.engines) {
    for (const ContextEngine::Lane& lane : engine.lanes) {
      kernel.scheduler().Cancel(lane.queue, error);
    }
  }
}

void Context::Close(MockKernel& kernel) {
  if (!persistent) Cancel(kernel, -EIO);
  for (const ContextEngine& engine : map.engines) {
    for (const ContextEngine::Lane& lane : engine.lanes) {
      kernel.scheduler().Last(lane.queue)->WhenDone([&kernel, context = lane.context] {
        kernel.scheduler().ForgetContext(context);
      });
    }
  }
}

}  // namespace packsmith::capture::i915
