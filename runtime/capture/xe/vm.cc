#include "runtime/capture/xe/vm.h"

#include <algorithm>
#include <utility>

namespace packsmith::capture {

namespace xe = uapi::xe;

void XeVm::Change(const std::vector<XeBindStep>& steps, AddressMap& map) {
  for (const XeBindStep& step : steps) {
    switch (step.op) {
      case xe::kMap:
      case xe::kMapUserptr:
        map.Map(step.mapping);
        break;
      case xe::kUnmap:
        map.Unmap(step.mapping.address, step.mapping.size);
        break;
      case xe::kUnmapAll:
        map.UnmapObject(*step.mapping.object);
        break;
      case xe::kPrefetch:
        break;
    }
  }
}

bool XeVm::Plan(const std::vector<XeBindStep>& steps) {
  bool replaces = false;
  for (const XeBindStep& step : steps) {
    if (step.op == xe::kUnmap || step.op == xe::kUnmapAll) replaces = true;
    if (step.op == xe::kMap || step.op == xe::kMapUserptr) {
      const Mapping* const next = planned_.FindFrom(step.mapping.address);
      replaces |= next != nullptr && next->address < step.mapping.address + step.mapping.size;
    }
  }
  Change(steps, planned_);
  return replaces;
}

void XeVm::Apply(const std::vector<XeBindStep>& steps) {
  if (steps.empty()) return;
  if (handed_out_) {
    bound_ = std::make_shared<AddressMap>(*bound_);
    handed_out_ = false;
  }
  Change(steps, *bound_);
}

std::shared_ptr<const AddressMap> XeVm::Bound() {
  handed_out_ = true;
  return bound_;
}

std::vector<std::shared_ptr<Fence>> XeVm::uses() {
  uses_.erase(std::remove_if(uses_.begin(), uses_.end(), [](const auto& f) { return f->done(); }),
              uses_.end());
  return uses_;
}

void XeVm::AddUse(std::shared_ptr<Fence> fence) {
  uses();
  uses_.push_back(std::move(fence));
}

}  // namespace packsmith::capture
