// The image of a context in memory: a page of status, then a list of register loads, which hardware
// executes to restore the context and whose values it overwrites to save it, then the state of the
// engine.
//
//   absl::StatusOr<std::vector<uint8_t>> image = MakeContextImage(description, {...});
//   const absl::Span<const uint8_t> list = absl::MakeSpan(*image).subspan(kContextStatusPage);
//   absl::StatusOr<ContextImage> found = ContextImage::Parse(description, {}, list);
//   const uint32_t tail = ContextImage::Get(list, *found->Find("RING_BUFFER_TAIL"));
//
// What the list looks like in a generation is in its XML, as structures whose fixed fields are the
// loads (RENDER_CONTEXT_REGISTERS, CONTEXT_REGISTERS). To read an image none of them is needed: the
// list is walked as the commands that it consists of.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_IMAGE_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_IMAGE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Bytes of the status page that an image begins with.
inline constexpr uint64_t kContextStatusPage = 4096;

// Bytes of an image that are read where it is not known how large it is: the largest one of a
// generation has 22 pages.
inline constexpr uint64_t kMostContextImage = 32 * 4096;

// An engine's registers are in this many bytes from its base on: in a context image, hardware takes
// an offset's position in them and adds the base of the engine that restores.
inline constexpr uint32_t kEngineRegisters = 0x1000;

// The base of the engine for which the XML describes registers: the render engine's. 0 if it
// describes none.
uint32_t DescribedBase(const tables::Tables& tables);

// The container of a register of the engine at `base`; tables::kNone if it is not described.
uint32_t FindEngineRegister(const tables::Tables& tables, uint32_t base, uint32_t offset);

// How a context begins.
struct ContextDescription {
  // The structure with the loads: "RENDER_CONTEXT_REGISTERS", "CONTEXT_REGISTERS" and others.
  absl::string_view layout = "RENDER_CONTEXT_REGISTERS";
  uint32_t engine_base = 0x2000;
  uint64_t ring_address = 0;
  uint32_t ring_bytes = 0;  // 0: no ring
  uint32_t ring_head = 0;
  uint32_t ring_tail = 0;
  // The page tables: three, four or five levels.
  PageTableRoot page_tables = {};
  // Only the ring's registers are loaded when the context is restored first.
  bool restore_inhibit = true;
  bool inhibit_synchronous_switch = true;
  // Where the registers of the ring are instead, in the global space: INDIRECT_RING_STATE_PAGE.
  uint64_t indirect_ring_state = 0;
  // Further values, by names of registers.
  std::vector<std::pair<absl::string_view, uint32_t>> registers = {};
  // Bytes after the status page; a multiple of 4096, or 0 for as many pages as the loads take.
  uint64_t bytes = 0;
};

// The whole image, the status page included, of zeros where nothing else is known. NotFound: the
// generation has no such layout or register; InvalidArgument: a value does not fit.
absl::StatusOr<std::vector<uint8_t>> MakeContextImage(const tables::Tables& tables,
                                                      const ContextDescription& description);

// A page with the ring's registers (INDIRECT_RING_STATE_PAGE, from Xe2 on), of which
// `description.indirect_ring_state` has the address.
absl::StatusOr<std::vector<uint8_t>> MakeIndirectRingState(const tables::Tables& tables,
                                                           const ContextDescription& description);

// A register in an image.
struct ImageRegister {
  uint32_t offset = 0;      // in the engine that restores: with its base
  uint64_t at = 0;          // of the value, in bytes from the start of the bytes that were parsed
  uint32_t occurrence = 0;  // how many loads of the same register come before it
  uint32_t container = tables::kNone;    // its description
  bool masked = false;                   // the upper half of a write is a mask
  uint32_t offset_leaf = tables::kNone;  // the field of the load that has the offset
  uint64_t offset_bit = 0;               // its place, from the start of the bytes

  friend bool operator==(const ImageRegister&, const ImageRegister&) = default;
};

// Where the registers of an image are. The tables must outlive this.
class ContextImage {
 public:
  struct Options {
    uint32_t engine_base = 0x2000;
    // The stream and the engine whose commands the list is made of.
    absl::string_view stream = "batch";
    absl::string_view engine = "render";
    // Bytes from the start whose offsets count from the engine's base, whatever their upper bits
    // are: the registers of the ring and of the page tables. Beyond them an offset counts from the
    // base if it is below kEngineRegisters.
    uint64_t relative_bytes = 0x140;
  };
  static constexpr size_t kMostRegisters = 65536;

  // `list` begins with the loads, after the status page. Stops at the command that ends it, at the
  // end of `list` or at a command that is not known, whatever comes first. InvalidArgument: there
  // is no register load in it; NotFound: the generation has no such stream or engine.
  static absl::StatusOr<ContextImage> Parse(const tables::Tables& tables, const Options& options,
                                            absl::Span<const uint8_t> list);

  absl::Span<const ImageRegister> registers() const { return registers_; }
  uint32_t engine_base() const { return engine_base_; }
  // Bytes of the list up to its end.
  uint64_t parsed_bytes() const { return parsed_bytes_; }
  // Whether a command ended the list.
  bool ended() const { return ended_; }

  // The name of a register, or its offset if it is not described.
  std::string NameOf(const ImageRegister& one) const;

  // By offset from the engine's base; null: the image does not have it. If it is there several
  // times, the last one, which counts.
  const ImageRegister* Find(uint32_t engine_offset) const;
  const ImageRegister* Find(absl::string_view name) const;

  static uint32_t Get(absl::Span<const uint8_t> list, const ImageRegister& one);
  static void Set(absl::Span<uint8_t> list, const ImageRegister& one, uint32_t value);

  // Restores: calls write(register, value) in the order of the list, with values as they are there.
  void Load(absl::Span<const uint8_t> list,
            absl::FunctionRef<void(const ImageRegister&, uint32_t)> write) const;

  // Saves: puts read(register) in the place of each value; the commands stay. A masked register's
  // value gets a full mask, so that restoring it takes effect. The tail of the ring is the
  // driver's: it may have moved it while the context ran, so that it is kept [inferred from
  // drivers, which write it at any time].
  void Save(absl::Span<uint8_t> list, absl::FunctionRef<uint32_t(const ImageRegister&)> read) const;

 private:
  explicit ContextImage(const tables::Tables& tables) : tables_(tables) {}
  void Walk(const Options& options, uint32_t stream, uint64_t engines,
            absl::Span<const uint8_t> list);

  tables::Tables tables_;
  uint32_t engine_base_ = 0;
  uint32_t tail_ = tables::kNone;  // container of the tail's register
  std::vector<ImageRegister> registers_;
  uint64_t parsed_bytes_ = 0;
  bool ended_ = false;
};

// What the dump has of the context image that `submission` is, from after its status page on.
std::vector<uint8_t> ContextImageBytes(const Dump& dump, const Submission& submission);

// The base of the engine that an image is for: that of its first register, where it has one.
uint32_t BaseOfImage(const tables::Tables& tables, absl::string_view engine,
                     absl::Span<const uint8_t> list);
// Where an image's page tables begin: four levels if it names one table, three if it names several.
// NotFound: the image does not have the registers, or they are 0.
absl::StatusOr<PageTableRoot> PageTableRootOf(const ContextImage& image,
                                              absl::Span<const uint8_t> list);

// How a register differs between two images.
struct ImageDifference {
  std::string name;
  uint32_t occurrence = 0;
  std::optional<uint32_t> before, after;  // empty: only the other image has the register
  struct Field {
    std::string name;
    uint64_t before = 0, after = 0;
  };
  std::vector<Field> fields;  // those that differ, of a described register
};

// In the order of the first image, then what only the second one has.
std::vector<ImageDifference> CompareImages(const tables::Tables& tables, const ContextImage& before,
                                           absl::Span<const uint8_t> before_list,
                                           const ContextImage& after,
                                           absl::Span<const uint8_t> after_list);

// A line for each register, below it one for each field.
std::string DifferencesText(absl::Span<const ImageDifference> differences);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_IMAGE_H_
