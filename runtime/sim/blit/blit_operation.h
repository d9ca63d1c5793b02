// Blits as the operations of packets describe them (docs/xml.md, Execution): operations set what a
// blit takes, and the last one of a packet executes it, or keeps it for later packets.
#ifndef PACKSMITH_RUNTIME_SIM_BLIT_BLIT_OPERATION_H_
#define PACKSMITH_RUNTIME_SIM_BLIT_BLIT_OPERATION_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/sim/blit/blit.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// The operands of one operation of a packet.
class BlitOperands {
 public:
  struct Place {
    uint32_t space = 0;
    uint64_t address = 0;
  };

  virtual ~BlitOperands() = default;

  // The operand's value, of a signed field with the sign repeated up to bit 63. Nothing if the
  // operation has no such operand.
  virtual std::optional<uint64_t> Number(tables::OperandRole role) const = 0;
  // The name of the operand's value; empty if the value, or the operand, has none.
  virtual absl::string_view Name(tables::OperandRole role) const = 0;
  // Of the operand `memory`.
  virtual std::optional<Place> Memory() const = 0;
  // The bits of the packet's fields that mean `stored`, in order.
  virtual std::vector<uint8_t> Stored() const = 0;
  // Whether the register field that means this is not zero; false if no register has one.
  virtual bool RegisterSays(tables::Meaning meaning) const = 0;
};

// What one engine keeps of blits from operation to operation. Not thread-safe.
class BlitUnit {
 public:
  // `max_B`: of all blits together, as BlitLimits has it for one; `max_one_B`: of each.
  explicit BlitUnit(uint64_t max_B = uint64_t{8} << 30, uint64_t max_one_B = ~uint64_t{0})
      : rest_B_(max_B), max_one_B_(max_one_B) {}

  // The effect of an operation whose kind is one of a blit. Only kBlit reads and writes memory.
  // Errors are those of ExecuteBlit(), and InvalidArgument: a value without a name. A blit with an
  // error in one of its operations is not executed.
  BlitOutcome Do(tables::OperationKind kind, const BlitOperands& operands, MemoryAccess& memory);

 private:
  // Bits, pixels or colors that are part of a command, or in memory.
  struct Data {
    BlitBytes place;  // without immediate bytes
    std::optional<std::vector<uint8_t>> immediate;
  };

  // What a packet has said so far.
  struct Command {
    absl::Status status;
    BlitFormat format = BlitFormat::k8;
    // Pitches are those of the packet: in dwords if the surface is tiled.
    BlitSurface destination;
    BlitRectangle rectangle;
    bool width_in_bytes = false;
    bool clipped = false;
    uint8_t raster_operation = RasterOperation::kSource;
    bool write_rgb = true, write_alpha = true;
    BlitOrder order = BlitOrder::kForward;

    enum class Source : uint8_t { kNone, kSurface, kMono } source_kind = Source::kNone;
    BlitSurface source;
    int64_t source_x1 = 0, source_y1 = 0;
    MonoSource mono_source;
    Data mono_data;

    enum class Pattern : uint8_t { kNone, kSolid, kColor, kMono } pattern_kind = Pattern::kNone;
    SolidPattern solid_pattern;
    ColorPattern color_pattern;
    Data pattern_data;
    MonoPattern mono_pattern;

    std::optional<ChromaKey> chroma_key;
  };

  void SetSurface(const BlitOperands& operands, tables::Meaning y_tiles, BlitSurface& surface);
  // Whether the operation has data.
  static bool SetData(const BlitOperands& operands, Data& data);
  void SetSource(const BlitOperands& operands);
  void SetBits(const BlitOperands& operands);
  void SetPattern(const BlitOperands& operands);
  void SetPatternBits(const BlitOperands& operands);
  void SetColor(const BlitOperands& operands);
  void SetKey(const BlitOperands& operands);
  void SetOptions(const BlitOperands& operands);
  void Fail(absl::string_view operand);
  absl::Status Finish(Blit& blit) const;
  BlitOutcome Execute(MemoryAccess& memory);

  Command now_, setup_;
  BlitRectangle clip_;
  uint64_t rest_B_;
  const uint64_t max_one_B_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_BLIT_BLIT_OPERATION_H_
