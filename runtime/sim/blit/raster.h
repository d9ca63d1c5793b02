// Raster operations: what a blit does with each bit of pattern, source and destination.
#ifndef PACKSMITH_RUNTIME_SIM_BLIT_RASTER_H_
#define PACKSMITH_RUNTIME_SIM_BLIT_RASTER_H_

#include <cstddef>
#include <cstdint>

namespace packsmith::sim {

// One of the 256 functions of three bits. Bit 4*pattern + 2*source + destination of the code is the
// result: 0xcc is the source, 0xf0 the pattern, 0xaa leaves the destination as it is.
class RasterOperation {
 public:
  static constexpr uint8_t kSource = 0xcc, kPattern = 0xf0, kDestination = 0xaa;

  constexpr explicit RasterOperation(uint8_t code) : code_(code) {}

  constexpr uint8_t code() const { return code_; }
  // Whether the result depends on it.
  constexpr bool uses_destination() const { return ((code_ >> 1 ^ code_) & 0x55) != 0; }
  constexpr bool uses_source() const { return ((code_ >> 2 ^ code_) & 0x33) != 0; }
  constexpr bool uses_pattern() const { return ((code_ >> 4 ^ code_) & 0x0f) != 0; }

  // The result for `size` bytes, which replaces `destination`. Operands that the code does not use
  // may be anything, but must be readable.
  void Apply(const uint8_t* pattern, const uint8_t* source, uint8_t* destination,
             size_t size) const;

 private:
  uint8_t code_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_BLIT_RASTER_H_
