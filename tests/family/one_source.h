/* What one_source.c defines, once for each generation. Each writes a packet and returns its dwords.
 */
#ifndef PACKSMITH_TESTS_FAMILY_ONE_SOURCE_H_
#define PACKSMITH_TESTS_FAMILY_ONE_SOURCE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GENERATION(cpp, c, version)                   \
  unsigned c##_draw(uint32_t* dw, unsigned vertices); \
  unsigned c##_surface(uint32_t* dw, unsigned width, unsigned height, uint64_t address);
#include "tests/family/generations.inc"
#undef GENERATION

#ifdef __cplusplus
}
#endif

#endif /* PACKSMITH_TESTS_FAMILY_ONE_SOURCE_H_ */
