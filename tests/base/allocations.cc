#include "tests/base/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<size_t> allocations = 0;
}  // namespace

namespace packsmith {
size_t Allocations() { return allocations; }
}  // namespace packsmith

void* operator new(size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
// All forms that may be freed by what is below, so that the two always fit each other.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
