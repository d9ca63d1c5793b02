/* Questions to packsmith/c/intel_bits.h, by ten times a device's version. */
#ifndef PACKSMITH_TESTS_FAMILY_POSITIONS_H_
#define PACKSMITH_TESTS_FAMILY_POSITIONS_H_

#ifdef __cplusplus
extern "C" {
#endif

struct answer {
  const char* container;
  const char* field; /* NULL: the length, in `bits`, dwords */
  unsigned start, bits;
};

/* The answers for a device; how many there are. */
unsigned positions_of(int verx10, const struct answer** answers);

#ifdef __cplusplus
}
#endif

#endif /* PACKSMITH_TESTS_FAMILY_POSITIONS_H_ */
