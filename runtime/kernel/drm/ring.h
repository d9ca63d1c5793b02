// A queue in one piece of memory, which is used again: unlike std::deque it does not allocate while
// as many elements go as come.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_RING_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace packsmith::gpu {

// T is default-constructible and movable.
template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // From the oldest, 0, on. The index must be below size().
  T& operator[](size_t index) { return slots_[(first_ + index) & (slots_.size() - 1)]; }
  const T& operator[](size_t index) const { return slots_[(first_ + index) & (slots_.size() - 1)]; }
  T& front() { return (*this)[0]; }

  void push_back(T value) {
    if (size_ == slots_.size()) Grow();
    ++size_;
    (*this)[size_ - 1] = std::move(value);
  }
  // Not if it is empty.
  void pop_front() {
    front() = T();
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  void Grow() {
    constexpr size_t kLeast = 16;
    std::vector<T> larger(slots_.empty() ? kLeast : 2 * slots_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // a power of two of them, or none
  size_t first_ = 0, size_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_RING_H_
