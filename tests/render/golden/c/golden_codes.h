/*
 * Golden (an invented GPU): names of the codes in its packets, for C11, C++ and OpenCL C.
 * Made by packsmith from golden.xml. Do not edit.
 *
 *   packet.Format = GOLDEN_DepthFormat_D32_FLOAT;
 */
#ifndef PACKSMITH_C_GOLDEN_CODES_H_
#define PACKSMITH_C_GOLDEN_CODES_H_

/* How depth is stored; a code of the manual. */
enum GOLDEN_DepthFormat {
   GOLDEN_DepthFormat_D32_FLOAT = 0x1,
   GOLDEN_DepthFormat_D24_UNORM_X8 = 0x3,
   GOLDEN_DepthFormat_D16_UNORM = 0x5,
};

#endif
