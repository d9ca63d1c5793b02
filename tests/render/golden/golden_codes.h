// Golden (an invented GPU): names of the codes in its packets, for C++20.
// Made by packsmith from golden.xml. Do not edit.
//
// Members that hold such codes are plain numbers; these are the names of their values:
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
