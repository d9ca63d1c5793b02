#include "runtime/memory/cpu_cache.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace packsmith::gpu {
namespace {

#if defined(__x86_64__) || defined(__i386__)

// Source: Intel's Software Developer's Manual, volume 2, CPUID (leaf 1: CLFSH, the line's size) and
// CLFLUSH, which MFENCE orders. CPUs that have CLFLUSH have MFENCE: both came with SSE2.
size_t AskLine() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return 0;
  constexpr unsigned kClfsh = 1u << 19, kSse2 = 1u << 26;
  if ((edx & kClfsh) == 0 || (edx & kSse2) == 0) return 0;
  return (ebx >> 8 & 0xff) * size_t{8};
}

void Fence() { __asm__ volatile("mfence" ::: "memory"); }

void FlushLine(uint8_t* line) { __asm__ volatile("clflush %0" : "+m"(*line)::"memory"); }

#elif defined(__aarch64__)

// Source: Arm Architecture Reference Manual, CTR_EL0 (DminLine: words of a line, as a logarithm)
// and DC CIVAC, which DSB orders. Linux lets programs use both.
size_t AskLine() {
  uint64_t type = 0;
  __asm__("mrs %0, ctr_el0" : "=r"(type));
  return size_t{4} << (type >> 16 & 15);
}

void Fence() { __asm__ volatile("dsb sy" ::: "memory"); }

void FlushLine(uint8_t* line) { __asm__ volatile("dc civac, %0" ::"r"(line) : "memory"); }

#else

size_t AskLine() { return 0; }
void Fence() {}
void FlushLine(uint8_t*) {}

#endif

}  // namespace

size_t CpuCacheLine() {
  static const size_t line = AskLine();
  return line;
}

absl::Span<uint8_t> LinesOf(absl::Span<uint8_t> bytes, size_t line) {
  if (bytes.empty()) return bytes;
  const size_t before = reinterpret_cast<uintptr_t>(bytes.data()) & (line - 1);
  const size_t size = (before + bytes.size() + line - 1) & ~(line - 1);
  return absl::MakeSpan(bytes.data() - before, size);
}

absl::Status FlushCpuLines(absl::Span<uint8_t> lines) {
  const size_t line = CpuCacheLine();
  if (line == 0) {
    return absl::UnimplementedError(
        "no instruction is known that flushes this CPU's caches: use memory of another heap "
        "(Device::CachingOf())");
  }
  if (lines.empty()) return absl::OkStatus();
  Fence();
  for (size_t at = 0; at < lines.size(); at += line) FlushLine(lines.data() + at);
  Fence();
  return absl::OkStatus();
}

}  // namespace packsmith::gpu
