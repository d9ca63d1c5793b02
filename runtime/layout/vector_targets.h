// The sets of vector instructions that copies are compiled for. To be included before Highway, by
// all that exports functions for it: in programs that are not optimized Highway has one function
// that chooses among the sets, so that these must be the same everywhere.
#ifndef PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_
#define PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_

// For lines, which need VBMI.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
// They would be the same code as for SSSE3 and for AVX2.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_AVX3)
#endif

// Where cells and quads are compiled for AVX2 before, the code for VBMI would be the same too.
#define PACKSMITH_IS_AS_FOR_AVX2 \
  (HWY_TARGET == HWY_AVX3_DL && (HWY_TARGETS & HWY_AVX2) != 0 && HWY_STATIC_TARGET != HWY_AVX2)

#endif  // PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_
