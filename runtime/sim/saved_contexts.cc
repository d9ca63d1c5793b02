#include "runtime/sim/saved_contexts.h"

#include <algorithm>
#include <utility>

namespace packsmith::sim {

void SavedContexts::Save(uint64_t image, SavedContext context) {
  if (contexts_.size() >= kMost && contexts_.count(image) == 0) {
    contexts_.erase(std::min_element(
        contexts_.begin(), contexts_.end(),
        [](const auto& a, const auto& b) { return a.second.order < b.second.order; }));
  }
  contexts_[image] = {std::move(context), ++saves_};
}

const SavedContext* SavedContexts::Find(uint64_t image) const {
  const auto found = contexts_.find(image);
  return found == contexts_.end() ? nullptr : &found->second.context;
}

}  // namespace packsmith::sim
