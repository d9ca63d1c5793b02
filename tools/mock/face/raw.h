// System calls without the C library: no cancellation, no errno, no functions that are replaced
// here.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_RAW_H_
#define PACKSMITH_TOOLS_MOCK_FACE_RAW_H_

#include <sys/syscall.h>

#include <cstddef>

namespace packsmith::mock::face {

// What the kernel returns: a negative errno for an error.
#if defined(__x86_64__)
inline long RawSyscall(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long RawSyscall(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}
#else
#error "The preload library is for x86-64 and AArch64."
#endif

inline long AsWord(std::nullptr_t) { return 0; }
template <typename T>
long AsWord(T* pointer) {
  return reinterpret_cast<long>(pointer);
}
template <typename T>
long AsWord(T value) {
  return static_cast<long>(value);
}

template <typename... Arguments>
long Raw(long number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 6);
  const long words[6] = {AsWord(arguments)...};
  return RawSyscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_RAW_H_
