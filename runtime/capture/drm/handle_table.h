// Small numbers that stand for something in one open file.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_HANDLE_TABLE_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_HANDLE_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace packsmith::capture {

// From `first` up; the smallest free number is used first, as the kernel's tables do.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(uint32_t first = 1) : next_(first) {}

  uint32_t Insert(T value) {
    uint32_t handle = next_;
    if (free_.empty()) {
      ++next_;
    } else {
      handle = *free_.begin();
      free_.erase(free_.begin());
    }
    values_.emplace(handle, std::move(value));
    return handle;
  }

  // Null: there is no such handle. Valid until the handle is removed.
  T* Find(uint32_t handle) {
    const auto it = values_.find(handle);
    return it == values_.end() ? nullptr : &it->second;
  }

  // Whether there was one.
  bool Remove(uint32_t handle) {
    if (values_.erase(handle) == 0) return false;
    free_.insert(handle);
    return true;
  }

  // Of a table that is not used any more.
  void Clear() { values_.clear(); }

  // In the order of handles: pairs of a handle and a value.
  const std::map<uint32_t, T>& values() const { return values_; }
  std::map<uint32_t, T>& values() { return values_; }

 private:
  uint32_t next_;
  std::map<uint32_t, T> values_;
  std::set<uint32_t> free_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_HANDLE_TABLE_H_
