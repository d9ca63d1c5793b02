// What a copy engine does: fills, copies, raster operations, the expansion of bits to colors.
//
//   Blit blit;
//   blit.format = BlitFormat::k8888;
//   blit.destination = {.address = 0x10000, .pitch_B = 4096};
//   blit.rectangle = {.x1 = 8, .y1 = 8, .x2 = 24, .y2 = 16};
//   blit.raster_operation = RasterOperation::kPattern;
//   blit.pattern = SolidPattern{.color = {0xff00ff00}};
//   const BlitOutcome outcome = ExecuteBlit(blit, memory);
//
// Facts are from the Intel 965 Express Chipset Family Programmer's Reference Manual, volume 1, and
// the volumes "Blitter Engine" of later generations, unless another source is given.
#ifndef PACKSMITH_RUNTIME_SIM_BLIT_BLIT_H_
#define PACKSMITH_RUNTIME_SIM_BLIT_BLIT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/sim/blit/raster.h"
#include "runtime/sim/blit/surface.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

// Pixels. Those of 64 bits and more, of copies and fills without raster operations, have no
// channels.
enum class BlitFormat : uint8_t { k8, k565, k1555, k8888, k64, k96, k128 };
inline constexpr int kBlitFormats = 7;

uint32_t BytesOf(BlitFormat format);

// A pixel's bits, the lowest in the first number. As many count as the format has.
using BlitColor = std::array<uint32_t, 4>;

// From (x1, y1), which is in it, to (x2, y2), which is not. Empty if x2 <= x1 or y2 <= y1. At most
// kMaxCoordinate in each direction.
struct BlitRectangle {
  int64_t x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  bool IsEmpty() const { return x2 <= x1 || y2 <= y1; }
  int64_t width() const { return x2 - x1; }
  int64_t height() const { return y2 - y1; }
};
// More than any command can say: copies of pages have rows of up to 4 GiB.
inline constexpr int64_t kMaxCoordinate = int64_t{1} << 33;

// Bytes in GPU memory, or those that are part of a command.
struct BlitBytes {
  uint32_t space = 0;
  uint64_t address = 0;
  // If set, these are the bytes, and space and address do not count. The caller keeps them alive.
  std::optional<absl::Span<const uint8_t>> immediate = std::nullopt;
};

// The source is a rectangle of another surface, or of the same, with pixels of the same format.
struct SurfaceSource {
  BlitSurface surface;
  int64_t x1 = 0, y1 = 0;
};

// Where the rows of a source of one bit per pixel begin, except for the first.
enum class MonoRows : uint8_t {
  kWordAligned,  // at the next multiple of 16 bits, counted from the start of the data
  kBytePacked,   // at the next byte
  kBitPacked,    // at the next bit
};

// The source has one bit per pixel; bit 7 of a byte is the leftmost one.
struct MonoSource {
  BlitBytes bits;
  // Bits of the first byte before the first pixel: of each row, or if rows are bit-packed of the
  // first one. Below 8.
  uint32_t first_bit = 0;
  MonoRows rows = MonoRows::kWordAligned;
  BlitColor background = {}, foreground = {};  // of 0 and of 1
  bool transparent = false;                    // pixels whose bit is 0 are not written
};

struct SolidPattern {
  BlitColor color = {};
};

// A pattern has 8 by 8 pixels and repeats. Pixel (x, y) of the surface has the pattern's pixel
// ((x + x_seed) % 8, (y + y_seed) % 8).
struct ColorPattern {
  BlitBytes pixels;  // in the destination's format, without padding
  uint32_t x_seed = 0, y_seed = 0;
};

struct MonoPattern {
  std::array<uint8_t, 8> rows = {};  // from the top; bit 7 is the leftmost pixel
  uint32_t x_seed = 0, y_seed = 0;
  BlitColor background = {}, foreground = {};
  bool transparent = false;
};

// Pixels are written, or not, depending on whether all channels of a color are in a range.
struct ChromaKey {
  enum class Mode : uint8_t {
    kSource,               // not written if the source's red, green and blue are in the range
    kSourceAndAlpha,       // the same with alpha
    kDestination,          // written only if the destination's red, green and blue are
    kDestinationAndAlpha,  // the same with alpha
  };
  Mode mode = Mode::kSource;
  uint32_t low = 0, high = 0;  // colors; both ends are in the range
};

// The order in which a blit goes through pixels, row by row. It matters if the source and the
// destination overlap.
enum class BlitOrder : uint8_t {
  kForward,      // rows from y1 on, pixels from x1 on
  kRightToLeft,  // rows from y1 on, pixels from x2 - 1 down
  // If both surfaces have the same address: from the last row up if the source's y1 is less than
  // the destination's, from right to left if its x1 is less. Otherwise forward.
  kAutomatic,
};

struct Blit {
  BlitFormat format = BlitFormat::k8888;
  BlitSurface destination;
  BlitRectangle rectangle;
  std::optional<BlitRectangle> clip;  // pixels outside are not written
  uint8_t raster_operation = RasterOperation::kSource;
  // The 32bpp byte mask. Other formats are written whole.
  bool write_rgb = true, write_alpha = true;
  std::variant<std::monostate, SurfaceSource, MonoSource> source;
  std::variant<std::monostate, SolidPattern, ColorPattern, MonoPattern> pattern;
  std::optional<ChromaKey> chroma_key;
  BlitOrder order = BlitOrder::kForward;
};

struct BlitLimits {
  // Bytes of destination pixels that one blit goes through, written or not. The largest rectangles
  // of commands have 64 GiB.
  uint64_t max_B = uint64_t{4} << 30;
};

struct BlitOutcome {
  // Not OK: the blit stopped there, and what it wrote before stays written.
  //
  // InvalidArgument: an operand is missing, or a surface breaks a rule of its tiling; nothing was
  // written. OutOfRange: a byte is not mapped, or the command has too little immediate data.
  // ResourceExhausted: the limit was reached.
  absl::Status status;
  uint64_t written_B = 0;
  uint64_t processed_B = 0;  // of the destination's pixels, written or not
  // The source overlaps what was written before it was read, as far as is known from addresses, in
  // an order that the hardware does not define: it reads ahead. The result is then that of reading
  // and writing in spans of at most 16 KiB in the blit's order.
  bool overlap_undefined = false;
};

BlitOutcome ExecuteBlit(const Blit& blit, MemoryAccess& memory, const BlitLimits& limits = {});

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_BLIT_BLIT_H_
