// Golden (an invented GPU): what the codes in its packets are called, for C++20.
// Made by packsmith from golden.xml. Do not edit.
//
// A member that holds such a code is a number; a name here is one of the numbers that it may be:
//
//   packet.format = packsmith::golden::Depth_Format::D32_FLOAT;
#ifndef PACKSMITH_GOLDEN_CODES_H_
#define PACKSMITH_GOLDEN_CODES_H_

#include <stdint.h>

namespace packsmith::golden {

/// How depth is stored; a code of the manual.
struct Depth_Format {
  enum : uint32_t {
    D32_FLOAT = 0x1,
    /// The upper byte is not read.
    D24_UNORM_X8 = 0x3,
    /// To be avoided.
    D16_UNORM = 0x5,
  };
};

}  // namespace packsmith::golden

#endif  // PACKSMITH_GOLDEN_CODES_H_
