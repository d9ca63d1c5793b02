/* The same packet of two generations, packed by one source. */
#ifndef PACKSMITH_TESTS_FAMILY_TWO_GENERATIONS_H_
#define PACKSMITH_TESTS_FAMILY_TWO_GENERATIONS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A surface whose tiles begin at multiples of 16 texels. */
void pack_aligned_surface(int verx10, uint32_t dw[16]);

#ifdef __cplusplus
}
#endif

#endif /* PACKSMITH_TESTS_FAMILY_TWO_GENERATIONS_H_ */
