#include "runtime/capture/drm/object.h"

#include <algorithm>
#include <cstring>

namespace packsmith::capture {

bool Object::Read(uint64_t offset, absl::Span<uint8_t> out) const {
  if (offset > size_ || out.size() > size_ - offset) return false;
  if (user_) return user_->Read(user_address_ + offset, out);
  std::memcpy(out.data(), memory_->bytes().data() + offset, out.size());
  return true;
}

bool Object::Write(uint64_t offset, absl::Span<const uint8_t> bytes) const {
  if (offset > size_ || bytes.size() > size_ - offset) return false;
  if (user_) return user_->Write(user_address_ + offset, bytes);
  std::memcpy(memory_->bytes().data() + offset, bytes.data(), bytes.size());
  return true;
}

void Object::AddUse(const std::shared_ptr<Fence>& fence, bool writes) {
  const auto add = [&](std::vector<std::shared_ptr<Fence>>& fences) {
    fences.erase(
        std::remove_if(fences.begin(), fences.end(), [](const auto& f) { return f->done(); }),
        fences.end());
    if (!fence->done()) fences.push_back(fence);
  };
  add(uses_);
  if (writes) add(writes_);
}

}  // namespace packsmith::capture
