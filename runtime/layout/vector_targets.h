// The sets of vector instructions that copies are compiled for. Files that export functions through
// Highway must include this before Highway: in programs that are not optimised, Highway has one
// function that chooses among the sets, so that these must be the same everywhere.
#ifndef PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_
#define PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_

// For lines, which need VBMI.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#ifndef HWY_DISABLED_TARGETS
// These would be the same code as for SSSE3 and for AVX2.
#define PACKSMITH_SAME_TARGETS (HWY_SSE4 | HWY_AVX3)
// The size of their vectors is not known to the compiler, which therefore takes none of them as an
// element of an array or as a member of a structure; copies keep vectors in both. Arm's machines
// that have SVE have NEON too.
#define PACKSMITH_SCALABLE_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_DISABLED_TARGETS (PACKSMITH_SAME_TARGETS | PACKSMITH_SCALABLE_TARGETS)
#endif

// Where cells and quads are compiled for AVX2 before, the code for VBMI would be the same too.
#define PACKSMITH_IS_AS_FOR_AVX2 \
  (HWY_TARGET == HWY_AVX3_DL && (HWY_TARGETS & HWY_AVX2) != 0 && HWY_STATIC_TARGET != HWY_AVX2)

#endif  // PACKSMITH_RUNTIME_LAYOUT_VECTOR_TARGETS_H_
