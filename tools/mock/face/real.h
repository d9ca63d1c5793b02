// The functions that this library replaces.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_REAL_H_
#define PACKSMITH_TOOLS_MOCK_FACE_REAL_H_

#include <dlfcn.h>

#include <atomic>
#include <cerrno>

// A function that programs find instead of the C library's, under the name of `symbol`. The C++
// name is another one: the headers' declarations differ in exception specifications and inline
// definitions.
#define FACE_FUNCTION(symbol) asm(symbol) __attribute__((visibility("default"), used))

namespace packsmith::mock::face {

// The next definition of a symbol, searched for when it is first needed: other libraries'
// constructors run before this one's. Null while a search is under way on the same thread (the
// search may allocate, and an allocator may open files), or if there is no other definition.
class RealSymbol {
 public:
  constexpr explicit RealSymbol(const char* name) : name_(name) {}

  void* Find() {
    void* found = found_.load(std::memory_order_acquire);
    if (found != nullptr || searching_) return found;
    searching_ = true;
    const int error = errno;
    found = dlsym(RTLD_NEXT, name_);
    errno = error;
    searching_ = false;
    found_.store(found, std::memory_order_release);
    return found;
  }

 private:
  const char* const name_;
  std::atomic<void*> found_ = nullptr;
  inline static thread_local bool searching_ = false;
};

// The function `name` of the type of `like`, or null.
#define FACE_REAL(name, like)                                  \
  ([]() -> decltype(&(like)) {                                 \
    static constinit RealSymbol symbol(name);                  \
    return reinterpret_cast<decltype(&(like))>(symbol.Find()); \
  }())

// errno and -1 for what a raw call returned.
inline long Returned(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_REAL_H_
