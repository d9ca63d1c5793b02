// Decode tables: everything a description says, as one block of plain records. References are
// indices, names are offsets into one string pool; there are no pointers, so a block is
// position-independent, can be embedded in a program or mapped from a file, and costs nothing at
// start.
//
// gen/model writes blocks, Tables reads them. Open() checks every index once; after that, reading
// needs no checks. Field lists are flat: nested structures and counted groups are written out, each
// leaf with its full name and its bit position in the container, in bit order. Only a tail (a group
// that repeats as often as the packet's length says) is kept as one item that repeats.
#ifndef PACKSMITH_RUNTIME_TABLES_TABLES_H_
#define PACKSMITH_RUNTIME_TABLES_TABLES_H_

#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::tables {

inline constexpr uint32_t kMagic = 0x544b4350;  // "PCKT"
inline constexpr uint32_t kVersion = 17;
inline constexpr uint32_t kNone = 0xffffffffu;

// A run of records of another array.
struct Range {
  uint32_t first;
  uint32_t count;
};

enum class ContainerKind : uint8_t { kPacket, kStruct, kRegister };

// What a packet makes the hardware do, for counting and finding.
enum class Role : uint8_t { kOther, kDraw, kDispatch };

// How the bits of a leaf become a value. Encodings (shift, minus, …) apply to the integer kinds.
enum class LeafType : uint8_t {
  kUint,
  kInt,
  kBool,
  kFloat,
  kHalf,
  kUfixed,
  kSfixed,
  kAddress,
  kOffset,
};
inline constexpr LeafType kLastLeafType = LeafType::kOffset;

// Whether values are fractions; else they are integers.
constexpr bool IsReal(LeafType type) {
  switch (type) {
    case LeafType::kFloat:
    case LeafType::kHalf:
    case LeafType::kUfixed:
    case LeafType::kSfixed:
      return true;
    case LeafType::kUint:
    case LeafType::kInt:
    case LeafType::kBool:
    case LeafType::kAddress:
    case LeafType::kOffset:
      break;
  }
  return false;
}

enum LeafFlags : uint16_t {
  kForced = 1 << 0,      // an opcode: identifies the packet; Extra::forced is its value
  kLength = 1 << 1,      // the packet's biased length
  kLog2 = 1 << 2,        // the value is 1 << raw
  kNonzero = 1 << 3,     // zero is a fault; if only packing refuses it, there is no flag
  kOverlap = 1 << 4,     // another view of bits that another leaf has too
  kMustBeZero = 1 << 5,  // reserved: not a value; a fault when it is wrong
  kMustBeOne = 1 << 6,
  kHasMin = 1 << 7,
  kHasMax = 1 << 8,
  kVariantOnly = 1 << 9,  // beyond the shortest form of its packet
};

// One described run of bits.
struct Leaf {
  uint32_t name;         // string; in a tail the part before the index
  uint32_t name_suffix;  // string; in a tail what follows the index, else empty
  uint32_t bit;          // from the start of the container, or of the tail's item
  uint16_t width;        // 1 to 64; reserved runs may be wider
  LeafType type;
  uint8_t fraction_bits;
  uint8_t shift;  // value = raw << shift
  uint8_t pad;
  uint16_t flags;
  uint32_t named;  // Enum with the names of its values, or kNone
  uint32_t extra;  // Extra, or kNone
};

// The meaning of a field, for code that does not know its name. Of a register: where an engine
// stopped; several fields of one meaning are parts of one number. Of a packet: what is drawn or
// dispatched.
enum class Meaning : uint16_t {
  kNone,
  kRingHead,      // bytes from the ring's start to what is read next
  kRingTail,      // bytes from the ring's start to the end of its contents
  kActiveHead,    // address of the packet that is executed
  kBatchHead,     // address in the batch
  kHeader,        // the first dword of the packet that is executed
  kFaultAddress,  // address of an access that failed
  kFault,         // an access failed
  kFaultGlobal,   // its address is in the global space
  kIdle,          // a unit of the GPU has nothing to do; which place of the pipeline, from 1 on
  kRingStart,     // address of the ring, in the global space
  kTopology,      // what vertices form: points, lines, triangles
  kCount,         // vertices, indices or patches of one instance
  kInstances,     // how often all of them are drawn
  kGroups,        // thread groups in one dimension, the first dimension first
  kAluOpcode,     // of an instruction of MI_MATH
  kAluOperand1,
  kAluOperand2,
  kClock,             // of a register: the time
  kStored,            // what an operation without `value` stores, all such fields in order
  kTileYSource,       // of a register: where a blit has a choice, its source is in Y tiles
  kTileYDestination,  // the same of its destination
  // Of what vertex fetch makes. `meaning_at` tells which, where there are several.
  kComponentControl,    // what a component (0 to 3) of an element becomes
  kEdgeFlag,            // the element is not stored: it tells which edges are drawn
  kElementDestination,  // the dword of the vertex at which the element begins
  kComponentPacking,    // kComponentEnables holds: else all components are stored
  kComponentEnables,    // of an element: bit i: component i is stored
  // A value that the hardware makes replaces a component of an element. Values are numbered: the
  // vertex id, the instance id, three parameters of the draw.
  kGenerated,  // the value is used
  kGeneratedElement,
  kGeneratedComponent,
  kGeneratedSource,  // a parameter, or a number of the draw in its place
  kDrawParameter,    // the value of a parameter (0 to 2)
  kCutSequential,    // the cut index ends primitives of draws without indices, too
  kVertexIdOffset,   // vertex ids include the first vertex, or the index's bias
  kProvokingLines,   // which vertex's attributes hold for the whole primitive
  kProvokingTriangles,
  kProvokingFans,
  kStripOrder,     // which vertices of a strip's triangles stay in order
  kAddressModify,  // else the item's buffer keeps the address and size that it has
  // Of a register that lets batches without privilege write others.
  kAllowedRegister,  // the offset of the first one
  kAllowedRange,     // raw r: 4 to the power of r registers
  kAllowedNot,       // not zero: it lets nothing be written
  // Of a report of performance counters.
  kReportNumber,   // which the packet gives
  kReportContext,  // the number of the context that runs
  // Of registers: they count what draws do.
  kVertexCounter,        // vertices that vertex fetch reads
  kPrimitiveCounter,     // primitives that it makes of them
  kVertexShaderCounter,  // invocations of the vertex shader
  kShaderCounter,        // what follows from shaders and what comes after them
  // Of packets: whether these count.
  kVertexStatistics,        // kVertexCounter and kPrimitiveCounter
  kVertexShaderStatistics,  // kVertexShaderCounter
  kStreamOutput,            // zero: no vertices are written to buffers
  // Of what an engine does, and does not.
  kIdleExecution,     // of a register: an execution unit runs no thread
  kAwaitedEvent,      // of a packet: not zero: the engine waits for this event
  kInstructionError,  // of a register: a command was refused
  kCurrentContext,    // address of the image of the context that the engine has loaded
  // Cache actions: what a packet does between writes and reads, if the field is not zero.
  kInOrder,     // invalidations come after the packet's flushes, not when it is parsed
  kStall,       // the streamer waits until all before is done
  kWrite,       // a write after the packet's flushes
  kDepthStall,  // depth tests of later draws wait for those of earlier ones
  kFlushRender,
  kFlushDepth,
  kFlushData,     // what the data port has written, to memory
  kFlushPort,     // the same to the third level
  kFlushUntyped,  // its untyped part, along with kFlushPort
  kFlushTiles,    // what render and depth caches have written to the third level, to memory
  kFlushPipe,     // what else has been written
  kFlushBlits,
  kFlushStores,  // what the command streamer has written
  kInvalidateVertices,
  kInvalidateTextures,
  kInvalidateConstants,
  kInvalidateState,
  kInvalidateInstructions,
  kInvalidateL3,  // what the third level has read from memory
};
inline constexpr uint32_t kMeanings = 74;
inline constexpr Meaning kFirstCacheAction = Meaning::kInOrder;
inline constexpr uint32_t kCacheActions = kMeanings - static_cast<uint32_t>(kFirstCacheAction);

// A set of cache actions, a bit each.
using CacheActions = uint32_t;
static_assert(kCacheActions <= 32);
constexpr bool IsCacheAction(Meaning meaning) { return meaning >= kFirstCacheAction; }
constexpr CacheActions SetOf(Meaning action) {
  return CacheActions{1} << (static_cast<uint32_t>(action) -
                             static_cast<uint32_t>(kFirstCacheAction));
}

// What few leaves have.
struct Extra {
  uint64_t minus;     // value = raw + minus
  uint64_t groups;    // value = raw * groups; raw 0 stands for all groups; 0 = no such encoding
  uint64_t align;     // packing rounds up to a multiple of this; 0 = none
  uint64_t multiple;  // the value must be a multiple of this; 0 = none
  uint64_t forced;    // raw
  int64_t min;        // of the value; fixed point and float ranges are not kept here
  int64_t max;
  uint32_t pointer;      // Pointer, the first of several, or kNone
  uint32_t sets_base;    // Base that takes this value, or kNone
  uint32_t sets_when;    // Condition for that, or kNone
  uint32_t writes_leaf;  // Leaf that holds the offset of the register this value goes to, or kNone
  uint32_t unit;         // string for display, empty = none
  uint32_t high;         // Expression: added to the value of a split address; or kNone
  uint32_t stores_leaf;  // Leaf that points to the memory this field's bits go to, or kNone
  uint32_t stores_when;  // Condition for that, or kNone
  uint32_t element;      // Element that the value describes, or kNone
  Meaning meaning;
  uint16_t meaning_at;      // the bit of the number at which the value begins; or which of several
  uint32_t counts_when;     // Condition: else the bits hold something else; kNone: always
  uint32_t sets_size;       // Expression: bytes from the base that may be used, or kNone
  uint32_t sets_size_when;  // Condition: else the size that an earlier packet has set stays
  uint32_t pad;
};

struct NamedValue {
  uint64_t value;
  uint32_t name;
  uint32_t format;  // Format of data that the value stands for, or kNone
  uint32_t avoid;   // 1: the hardware has it, but it must not be used
  uint32_t pad;
};

// How the bits of one component of a format become a number.
enum class ComponentType : uint8_t {
  kUint,
  kSint,
  kUnorm,  // 0 to 1
  kSnorm,  // -1 to 1
  kUscaled,
  kSscaled,
  kFloat,  // of 10 or 11 bits without a sign, of 16, 32 or 64 bits with one
  kFixed,  // signed, 16 fraction bits
  kUnused,
};

struct Component {
  uint32_t name;
  uint16_t bit;  // from the start of the element
  uint8_t width;
  ComponentType type;
};

// The components of one element of data.
struct Format {
  Range components;
  uint32_t bits;
};

struct Enum {
  uint32_t name;  // empty for values listed inside a field
  Range values;   // NamedValue, ordered by value
};

// Terms are joined by "and" until one has ends_clause; clauses are joined by "or".
struct Term {
  uint32_t leaf;  // or Base, whose value is compared
  uint8_t negated;
  uint8_t ends_clause;
  uint16_t of_state;  // 1: a Base; only in the `when` of a Pointer
  uint64_t value;     // raw bits
};

struct Condition {
  Range terms;
};

enum class ExpressionKind : uint32_t { kConstant, kLeaf, kState };

// constant, or value of a leaf * multiply + add. kState reads the leaf from the last packet of kind
// `container` that the stream had.
struct Expression {
  ExpressionKind kind;
  uint32_t leaf;
  uint32_t container;
  uint32_t power;  // 1: two to the power of the leaf's value
  uint64_t multiply;
  uint64_t add;  // kConstant: the value
};

enum class TargetKind : uint32_t { kStruct, kData, kStream };
enum class Access : uint8_t { kNone, kRead, kWrite, kReadWrite };

// What the value of an address or offset leaf points to.
struct Pointer {
  TargetKind target_kind;
  uint32_t target;  // Container, DataKind or Stream
  uint32_t base;    // Base the offset counts from, or kNone
  uint32_t space;   // address space where space_when holds
  uint32_t space_when;
  uint32_t when;   // Condition for there being a pointer at all
  uint32_t count;  // Expression: number of structures, or kNone = 1
  // Condition, of data: where it holds, the hardware reads elements past `count`. kNone: never
  uint32_t unlimited_when;
  uint32_t size;    // Expression: bytes of data (or of one structure with a tail), or kNone
  uint32_t stride;  // Expression: bytes between elements of data, or kNone
  uint32_t end;     // Expression: address of the last byte of data, or kNone
  uint32_t slot;    // Expression: which of several of the kind, or kNone
  uint32_t format;  // Expression without arithmetic: its leaf's named values have formats; or kNone
  uint32_t step;    // Expression: instances that share a row; kNone: a row for each vertex
  uint32_t simd;    // Expression: channels of a program, or kNone
  uint32_t scale;   // Expression: what the value is multiplied by if that is known, or kNone
  uint32_t stage;   // string: of a program, or of the target's reader
  uint32_t next;    // Pointer that applies if `when` does not hold, always a later one; or kNone
  uint32_t limit;   // most elements that are read where the count is not known
  uint32_t other;   // Container that an element may be instead, of the same size; or kNone
  uint32_t align;   // Expression: the target's address is a multiple of this many bytes; or kNone
  Access access;
  uint8_t until_zero;  // if the count is not known, a zero element ends the table
  uint8_t relative;    // 1: counts from the start of the record that has the leaf
  uint8_t keeps;       // 1: if `when` does not hold, an earlier packet's pointer stays in effect
};

// Length of an instruction, where (first dword & mask) == value.
struct Instruction {
  uint32_t mask;
  uint32_t value;
  uint32_t bytes;
  uint32_t end_bit;  // bit that is set in the last instruction; or kNone
};

// How a surface is used. kAny: its record does not state it.
enum class SurfaceUse : uint32_t { kAny, kTexture, kTarget };

// An instruction of a program that reaches a surface of its binding table: bits of the instruction
// are `value` where `mask` is set.
struct Reach {
  uint32_t mask[4];  // dword by dword
  uint32_t value[4];
  uint16_t bit;  // of the instruction: the number of the table's element
  uint16_t width;
  SurfaceUse use;
};

// A kind of memory that is not a descriptor.
struct DataKind {
  uint32_t name;
  uint32_t format;     // Format of all data of this kind, or kNone
  uint32_t is_code;    // a program
  uint32_t client;     // ClientKind that reads or writes it, or kNone
  Range instructions;  // Instruction, the first match applies
  Range reaches;       // Reach, all matches apply
};

// A part of the hardware that reads or writes memory through caches of its own.
enum class ClientKind : uint32_t {
  kRenderTarget,
  kDepth,
  kDataPort,  // stores, loads and atomics of shaders
  kStreamOutput,
  kPostSync,  // writes that follow the flushes of a packet
  kStreamer,  // what commands load and store
  kCommands,  // the commands themselves
  kBlitter,
  kVertexFetch,  // vertices and indices
  kSampler,
  kConstants,
  kState,  // what state packets point to
  kInstructions,
  kOther,  // the CPU, other engines
};
inline constexpr uint32_t kClientKinds = 14;

// All of up to kMostClauses clauses that are not 0; any of the actions of a clause.
inline constexpr uint32_t kMostClauses = 4;
using Clauses = CacheActions[kMostClauses];

// When what one client writes is visible to another: flush of the writer; to_memory of the writer
// if the reader is not in the third level as the writer is; then a stall (and a write, if the
// reader says so), then invalidate of the reader; from_memory of the reader if it is in the third
// level and the writer is not.
struct Client {
  ClientKind kind;
  uint32_t in_l3;        // 1: it reads and writes through the third level
  uint32_t after_write;  // 1: flushes are complete for this reader after a stall with a write only
  Clauses flush;
  Clauses to_memory;
  Clauses invalidate;
  Clauses from_memory;
  Clauses own;  // what it needs to see what it has written itself
};

enum class ElementKind : uint32_t {
  kFormat,  // the leaf's value is the element's format
  kStep,    // the leaf's value is the number of instances that share a row; 0: all do
};

// A property, given by a leaf, of one element of a kind of data whose rows have several.
struct Element {
  ElementKind kind;
  uint32_t data;    // DataKind
  uint32_t number;  // Expression: which element; kNone: as many as came before in the packet
  uint32_t slot;    // Expression: in which of several pieces of data, or kNone = 0
  uint32_t offset;  // Expression: bytes from the start of the row, or kNone = 0
  uint32_t when;    // Condition: else there is no such element, or its rows do not step
};

// The data that a packet reads when it draws.
struct Draw {
  uint32_t data;     // DataKind: vertices
  uint32_t indices;  // DataKind, or kNone
  uint32_t indexed;  // Condition: indices are used; kNone: whenever `indices` is a kind
  uint32_t when;     // Condition: else the packet does not have the numbers below
  uint32_t first;    // Expressions, or kNone: 0, or all
  uint32_t count;
  uint32_t first_instance;
  uint32_t instances;
  uint32_t bias;  // added to each index; a signed field
  uint32_t cuts;  // not 0: an index equal to `cut` only ends a primitive; kNone: never
  uint32_t cut;   // kNone: all bits of an index set
};

// The order of texels in memory. runtime/layout/layout.h describes them.
enum class Tiling : uint32_t {
  kUnknown,  // not described
  kLinear,
  kX,
  kY,
  kW,
  kYf,
  kYs,
  kTile4,
  kTile64,
  kTile64Xe2,
  kTwiddled,
  kCompressed,  // only the GPU can read texels
};
inline constexpr uint32_t kTilings = 12;

// A surface that a record describes: its texels and its size.
struct Image {
  SurfaceUse use;
  Tiling tiling;
  uint32_t when;     // Condition for there being one, or kNone
  uint32_t address;  // Leaf
  uint32_t format;   // Leaf whose named values are formats, or kNone
  uint32_t type;     // Leaf whose named values refine the format, or kNone
  uint32_t width;    // Expressions: texels, or kNone
  uint32_t height;
  uint32_t depth;  // slices or array elements
  uint32_t pitch;  // bytes from row to row
};

enum class FlowKind : uint32_t { kJump, kCall, kReturn, kEnd, kTerminate };

struct Flow {
  FlowKind kind;
  uint32_t when;    // Condition or kNone
  uint32_t target;  // Leaf with the address, or kNone
  uint32_t maybe;   // Condition: the GPU may also continue after the packet; kNone: it never does
};

// What a packet does when it is executed: one of a list, in order.
enum class OperationKind : uint32_t {
  kNothing,          // executing the packet has no effect on memory, registers or control flow
  kUnsupported,      // the packet has an effect that is not described
  kUnpredicated,     // the packet is executed even while MI_SET_PREDICATE turns others into no-ops
  kSkip,             // if bit 0 of `register` equals `value`, the rest of the list is not executed
  kEngineBase,       // the offset in the field `register` counts from the engine's registers
  kReplace,          // the field `field`, or number `index` of Meaning::kGroups, = register
  kAddRegister,      // the field `field` is increased by the register
  kWriteRegister,    // register = value
  kLoadRegister,     // register = memory
  kStoreRegister,    // memory, or `index` in the status page, = register
  kCopyRegister,     // register = source
  kStore,            // memory, or `index` in the status page, = value
  kCopyMemory,       // memory = source
  kMath,             // the instructions in the tail: fields with Meaning::kAlu…; `register` is R0
  kPredicate,        // result = `compare` of source, value, data, combined by `combine`, `load`
  kSetPredicate,     // later packets are no-ops if `value` says so of `result`, `source`
  kAtomic,           // memory = opcode(memory, value, source)
  kWait,             // until `compare` holds of memory (or register) and `value`
  kEnd,              // ends the batch unless `compare` holds of memory and `value`
  kSignal,           // wakes a context that waits for `value`
  kFence,            // waits for what came before; caches are flushed and invalidated
  kReport,           // memory = a report of performance counters with the number `value`
  kUpdatePageTable,  // the global page table's entries from the page at `memory` on = stored fields
  kPreParser,        // commands are fetched ahead of their execution if `value` is 0
  kArbitration,      // other contexts may take over the engine if `value` is not 0
  kArbitrationPoint,  // another context may take over the engine here
  kPrivileged,        // in a batch without privilege the packet has no effect
  kDropPrivilege,     // the batch that the packet starts has no privilege
  kSwitchContext,     // to the context whose image is at `memory`
  kDrawIndirect,      // draws or dispatches up to `count` times with arguments from memory
  // What a copy engine takes, until one of the last two is executed.
  kBlitDestination,  // the surface at `memory`
  kBlitSource,       // the surface at `memory`, from (left, top)
  kBlitBits,         // a source of one bit per pixel
  kBlitPattern,      // of 8 by 8 pixels
  kBlitPatternBits,  // of 8 by 8 pixels of one bit: `value` and `high`
  kBlitColor,        // a pattern of one color
  kBlitKey,          // a range of colors
  kBlitRectangle,    // of the destination
  kBlitClip,         // later blits may leave out pixels outside this rectangle
  kBlitAgain,        // what kBlitSetup has kept
  kBlitSetup,        // keeps all of it for later packets
  kBlit,             // fills or copies
};
inline constexpr uint32_t kOperationKinds = 42;

// What an operand of an operation is.
enum class OperandRole : uint32_t {
  kRegister,
  kMemory,
  kValue,
  kSource,
  kBytes,  // how many are moved; 4 if it is absent
  kIndex,  // bytes from the start of the hardware status page
  kPage,   // not 0: the status page of the context instead of the global one
  kField,
  kCompare,
  kCombine,
  kLoad,
  kData,
  kResult,
  kMask,   // not 0: memory holds a value and a mask for it
  kLevel,  // not 0: only the current level of batches ends
  kOpcode,
  kSize,
  kReturn,  // not 0: the former value goes to a register
  kInline,  // not 0: operands are in the packet, else in registers
  kCount,
  kCounted,  // not 0: the count in memory at `source` applies, too
  kFormat,
  kHigh,  // bits 63:32 of the address
  // Of a surface.
  kPitch,   // bytes, or dwords if it is tiled
  kTiling,  // 0 linear, then X, Y, Tile4, Yf, Ys, Tile64, that of Xe2; 8: X or Y by a register
  // Of a rectangle, in pixels.
  kLeft,
  kTop,
  kRight,   // the first column that is not in it
  kBottom,  // the first row that is not in it
  kX,       // added to coordinates; bits of a byte before the first pixel
  kY,
  // Of the image that a surface is a level of.
  kWidth,
  kHeight,
  kSlice,
  kSliceRows,  // rows from slice to slice
  kAlignX,     // bytes
  kAlignY,     // rows
  kMipTail,    // its first level
  kVolume,     // not 0: slices are those of a 3D image
  // Of bits that become colors.
  kBackground,
  kForeground,
  kTransparent,  // not 0: pixels whose bit is 0 stay
  kPacking,
  kLow,  // to `high`: a range of colors
  kMode,
  // Of a blit.
  kRaster,   // the raster operation
  kClipped,  // not 0: pixels outside the clipping rectangle stay
  kOrder,    // 0 forward, 1 from right to left, 2 as overlapping surfaces need it
  kLayout,   // Container: the structure that is read or written
  // Of a switch to another context.
  kInhibit,  // not 0: its state is not restored
  kForce,    // not 0: it is restored even if it is the current one
  kDoes,     // of a fence: CacheActions
};
inline constexpr uint32_t kOperandRoles = 52;

struct Operand {
  OperandRole role;
  uint32_t expression;   // Expression; a register is its offset, a structure its Container
  uint32_t is_register;  // 1: the expression is the offset of a described register
};

struct Operation {
  OperationKind kind;
  uint32_t when;   // Condition or kNone
  Range operands;  // Operand
};

// Words that follow a packet's fixed part: `repeat` structures, if `when` holds.
struct Part {
  uint32_t name;
  uint32_t container;
  uint32_t when;    // Condition or kNone
  uint32_t repeat;  // Expression or kNone = once
};

struct Variant {
  uint32_t when;
  uint32_t bytes;
};

enum class RelationKind : uint32_t { kCommits, kRequires, kInvalidates };

struct Relation {
  RelationKind kind;
  uint32_t container;
};

// How serious it is that a rule is broken.
enum class Severity : uint32_t {
  kNote,     // it costs time, or is unusual
  kWarning,  // results may be wrong
  kError,    // the manual forbids it
};
inline constexpr uint32_t kSeverities = 3;

// How the two sides of a rule must compare.
enum class Comparison : uint32_t { kEqual, kDifferent, kBelow, kAtMost, kMultiple };
inline constexpr uint32_t kComparisons = 5;

// What must hold of each record of a container: where `when` holds, `left` compares with `right` as
// `is` says; without `left`, `when` must not hold.
struct Rule {
  uint32_t number;  // string: "L701"
  uint32_t doc;     // string: why
  uint32_t source;  // string
  Severity severity;
  uint32_t when;  // Condition or kNone
  uint32_t left;  // Expression or kNone
  uint32_t right;
  Comparison is;
  uint32_t in_tail;  // 1: it holds of each item of the tail
};

// What a workaround asks for.
enum class AskKind : uint32_t {
  kBefore,  // `with` before `of`
  kAfter,   // `with` after `of`
  kAround,  // both
  kAgain,   // `of` again, though it has not changed
  kStall,   // a pipeline that has been drained before `of`
  kField,   // `value` in `field`
  kLimit,   // at most `value` in `field`
  kAvoid,   // what `of` or its `field` would do is not used
  kShader,  // something of shaders' code
  kMemory,  // something of memory's layout
};
inline constexpr uint32_t kAskKinds = 10;

// Of those that batches can be held against.
struct Ask {
  AskKind kind;
  uint32_t of;    // Container
  uint32_t with;  // Container, or kNone
  uint32_t leaf;  // Leaf of `with`, or without it of `of`; or kNone
  uint32_t when;  // Condition on `of`, or kNone
  uint32_t has_value;
  uint64_t value;  // raw
};

struct Workaround {
  uint32_t number;     // string
  uint32_t doc;        // string
  uint32_t source;     // string
  uint32_t platforms;  // string: separated by spaces, as docs/xml.md describes them
  Range asks;          // Ask
};

struct Container {
  uint32_t name;
  uint32_t doc;
  ContainerKind kind;
  uint8_t variable;        // the length is not fixed
  uint8_t length_unit;     // bytes per step of the length field
  uint8_t identify_bytes;  // bytes of the first word that the opcode takes: 1 to 4
  uint32_t bytes;          // of the fixed part, without variants, tail and parts
  uint32_t max_bytes;      // with the longest variant
  uint32_t identify_mask;
  uint32_t identify_value;
  uint32_t length_leaf;  // or kNone
  uint32_t length_bias;
  Role role;
  uint8_t masked;      // a register whose upper 16 bits select which of the lower ones are written
  uint8_t serves;      // a Role: only work of this role reads what the packet sets; kOther: any
  uint8_t privileged;  // a register that a batch without privilege cannot write
  uint64_t engines;    // bit i: engine i; all bits where no engine is named
  uint32_t register_offset;
  Range leaves;        // fixed part and variants, in bit order
  Range tail_leaves;   // of one item
  uint32_t tail_bit;   // where the first item starts
  uint32_t tail_size;  // bits of one item; 0 = no tail
  Range variants;
  Range parts;
  Range flows;
  Range operations;
  Range relations;
  Range images;       // Image, the first whose condition holds applies
  Range rules;        // Rule
  uint32_t draw;      // Draw, or kNone
  uint16_t pad_to;    // the size, parts included, is a multiple of this many bytes; 0: no padding
  uint16_t tail_max;  // most items of the tail; 0: no limit
  uint32_t pad_when;  // Condition for that, or kNone
};

// All packets of a stream whose opcodes are read through the same mask.
struct OpcodeGroup {
  uint32_t mask;
  Range opcodes;  // Opcode, ordered by value
};

struct Opcode {
  uint32_t value;
  uint32_t container;
};

// The length of packets that are not described: where (first dword & mask) == value.
struct UnknownLength {
  uint32_t mask;
  uint32_t value;
  uint16_t length_bit;
  uint16_t length_width;  // 0: no length field
  uint32_t bias;          // dwords, added to the length
};

struct Stream {
  uint32_t name;
  uint32_t align;  // bytes: where the next packet may start
  uint64_t engines;
  Range groups;       // OpcodeGroup, the most specific mask first
  Range unknown;      // UnknownLength, the first match applies
  uint32_t levels;    // Expression: levels of batches above the ring; kNone: 1
  uint32_t prefetch;  // bytes that are fetched ahead of what is executed
};

struct Engine {
  uint32_t name;
  uint32_t aliases;    // string: separated by spaces
  uint32_t registers;  // offset of its registers
};

// What fields set and pointers use: an address that offsets count from, or a state.
struct Base {
  uint32_t name;
  uint32_t otherwise;  // Base that is used while nothing has set this one, kZeroBase or kNone
};
// For Base::otherwise: offsets count from zero.
inline constexpr uint32_t kZeroBase = kNone - 1;

struct Space {
  uint32_t name;
  uint32_t number;
  uint32_t privileged;  // 1: a batch without privilege has no access
};

struct RegisterEntry {
  uint32_t offset;
  uint32_t container;
  uint32_t dumped_as;  // string: its names in error states, separated by spaces
};

// A product of this generation.
struct Platform {
  uint32_t name;
  uint32_t title;
  Range pci_ids;  // uint32_t
  Range chip_ids;
};

// The place of an array in the block.
struct Section {
  uint32_t offset;  // bytes from the start of the block, a multiple of 8
  uint32_t count;
};

struct Header {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;  // of the whole block
  uint32_t family;
  uint32_t generation;
  uint32_t title;
  uint32_t aliases;
  uint32_t digest;        // string: of the XML that the block was made from
  uint64_t address_mask;  // the bits of an address: 16 to 64, the lowest ones
  Section strings;        // bytes; each string ends with a zero
  Section containers;
  Section leaves;
  Section extras;
  Section enums;
  Section values;
  Section conditions;
  Section terms;
  Section expressions;
  Section pointers;
  Section flows;
  Section operations;
  Section operands;
  Section parts;
  Section variants;
  Section relations;
  Section streams;
  Section groups;
  Section opcodes;
  Section engines;
  Section bases;
  Section spaces;
  Section registers;  // ordered by offset
  Section unknown;
  Section platforms;
  Section ids;  // of platforms
  Section components;
  Section formats;
  Section data;
  Section instructions;
  Section elements;
  Section draws;
  Section images;
  Section reaches;
  Section clients;  // at most one of a kind
  Section rules;
  Section workarounds;
  Section asks;
  Section by_name;    // uint32_t container indices, ordered by name
  Section reference;  // bytes: see Tables::reference
};

// Blocks are compared byte by byte, so no record may have padding.
static_assert(std::has_unique_object_representations_v<Leaf>);
static_assert(std::has_unique_object_representations_v<Extra>);
static_assert(std::has_unique_object_representations_v<NamedValue>);
static_assert(std::has_unique_object_representations_v<Component>);
static_assert(std::has_unique_object_representations_v<Term>);
static_assert(std::has_unique_object_representations_v<Expression>);
static_assert(std::has_unique_object_representations_v<Pointer>);
static_assert(std::has_unique_object_representations_v<Reach>);
static_assert(std::has_unique_object_representations_v<Image>);
static_assert(std::has_unique_object_representations_v<Client>);
static_assert(std::has_unique_object_representations_v<Rule>);
static_assert(std::has_unique_object_representations_v<Ask>);
static_assert(std::has_unique_object_representations_v<Container>);
static_assert(std::has_unique_object_representations_v<Stream>);
static_assert(std::has_unique_object_representations_v<Header>);

// A view of a block; the block must outlive it. Cheap to copy.
class Tables {
 public:
  // Checks the whole block. Errors: InvalidArgument naming the first thing that is wrong. `block`
  // must be aligned to 8 bytes.
  static absl::StatusOr<Tables> Open(absl::Span<const uint8_t> block);
  // Without the checks, for blocks that the build made, so that starting a program does not read
  // each of their bytes.
  static Tables OpenBuiltIn(const uint64_t* words) {
    return Tables(reinterpret_cast<const uint8_t*>(words));
  }

  absl::string_view family() const { return string(header().family); }
  absl::string_view generation() const { return string(header().generation); }
  absl::string_view title() const { return string(header().title); }
  absl::string_view aliases() const { return string(header().aliases); }
  // The significant bits of an address, the lowest 16 to 64; the bits above repeat the highest of
  // them.
  uint64_t address_mask() const { return header().address_mask; }
  uint32_t address_bits() const {
    return static_cast<uint32_t>(64 - __builtin_clzll(address_mask()));
  }
  absl::string_view digest() const { return string(header().digest); }

  absl::string_view string(uint32_t offset) const {
    return absl::string_view(reinterpret_cast<const char*>(data_) + header().strings.offset +
                             offset);
  }
  const Container& container(uint32_t i) const { return at<Container>(header().containers, i); }
  const Leaf& leaf(uint32_t i) const { return at<Leaf>(header().leaves, i); }
  const Extra& extra(uint32_t i) const { return at<Extra>(header().extras, i); }
  const Enum& enumeration(uint32_t i) const { return at<Enum>(header().enums, i); }
  const Condition& condition(uint32_t i) const { return at<Condition>(header().conditions, i); }
  const Expression& expression(uint32_t i) const { return at<Expression>(header().expressions, i); }
  const Pointer& pointer(uint32_t i) const { return at<Pointer>(header().pointers, i); }
  const Stream& stream(uint32_t i) const { return at<Stream>(header().streams, i); }
  const Format& format(uint32_t i) const { return at<Format>(header().formats, i); }
  const Element& element(uint32_t i) const { return at<Element>(header().elements, i); }
  const Draw& draw(uint32_t i) const { return at<Draw>(header().draws, i); }
  const DataKind& data(uint32_t i) const { return at<DataKind>(header().data, i); }

  // Text for people, which no decoder needs: a zstd frame with the lines that
  // gen/model/write/reference.h writes. Not checked when a block is opened.
  absl::Span<const uint8_t> reference() const { return all<uint8_t>(header().reference); }

  absl::Span<const Expression> expressions() const { return all<Expression>(header().expressions); }
  absl::Span<const Container> containers() const { return all<Container>(header().containers); }
  // The index of one of containers(), with which container() returns it.
  uint32_t IndexOf(const Container& container) const {
    return static_cast<uint32_t>(&container - containers().data());
  }
  absl::Span<const Stream> streams() const { return all<Stream>(header().streams); }
  absl::Span<const Engine> engines() const { return all<Engine>(header().engines); }
  absl::Span<const Base> bases() const { return all<Base>(header().bases); }
  absl::Span<const Space> spaces() const { return all<Space>(header().spaces); }
  absl::Span<const DataKind> data_kinds() const { return all<DataKind>(header().data); }
  absl::Span<const Client> clients() const { return all<Client>(header().clients); }
  absl::Span<const Rule> rules(Range r) const { return run<Rule>(header().rules, r); }
  // Those of this generation that ask for something that batches can be held against.
  absl::Span<const Workaround> workarounds() const { return all<Workaround>(header().workarounds); }
  absl::Span<const Ask> asks(Range r) const { return run<Ask>(header().asks, r); }
  absl::Span<const Platform> platforms() const { return all<Platform>(header().platforms); }
  absl::Span<const uint32_t> ids(Range r) const { return run<uint32_t>(header().ids, r); }
  absl::Span<const Draw> draws() const { return all<Draw>(header().draws); }
  absl::Span<const Leaf> leaves(Range r) const { return run<Leaf>(header().leaves, r); }
  absl::Span<const Term> terms(Range r) const { return run<Term>(header().terms, r); }
  absl::Span<const NamedValue> values(Range r) const { return run<NamedValue>(header().values, r); }
  absl::Span<const Flow> flows(Range r) const { return run<Flow>(header().flows, r); }
  absl::Span<const Operation> operations(const Container& c) const {
    return run<Operation>(header().operations, c.operations);
  }
  absl::Span<const Operand> operands(const Operation& o) const {
    return run<Operand>(header().operands, o.operands);
  }
  absl::Span<const OpcodeGroup> groups(Range r) const {
    return run<OpcodeGroup>(header().groups, r);
  }
  absl::Span<const Opcode> opcodes(Range r) const { return run<Opcode>(header().opcodes, r); }
  absl::Span<const Part> parts(Range r) const { return run<Part>(header().parts, r); }
  absl::Span<const Variant> variants(Range r) const { return run<Variant>(header().variants, r); }
  absl::Span<const Component> components(const Format& f) const {
    return run<Component>(header().components, f.components);
  }
  absl::Span<const Instruction> instructions(const DataKind& kind) const {
    return run<Instruction>(header().instructions, kind.instructions);
  }
  absl::Span<const Reach> reaches(const DataKind& kind) const {
    return run<Reach>(header().reaches, kind.reaches);
  }
  absl::Span<const Image> images(const Container& c) const {
    return run<Image>(header().images, c.images);
  }
  absl::Span<const Relation> relations(Range r) const {
    return run<Relation>(header().relations, r);
  }

  // The packet of `stream` that `first_word` (its first bytes, little endian) begins, as one of
  // `engines` reads it; kNone if there is none. `bytes`: how many bytes of the word exist.
  uint32_t FindPacket(uint32_t stream, uint64_t engines, uint32_t first_word, uint32_t bytes) const;
  // Bytes of a packet that FindPacket does not know; 0 if its first word does not state them.
  uint32_t UnknownBytes(uint32_t stream, uint32_t first_word) const;
  // By exact name; kNone if there is none.
  uint32_t FindContainer(absl::string_view name) const;
  // The register at a byte offset; kNone if there is none.
  uint32_t FindRegister(uint32_t offset) const;
  // The register that error states call `name` in the section of one of `engines`, searched first
  // with its index in brackets ("INSTDONE[1]"), then without. A register of some engines takes
  // precedence over one of all engines. kNone if there is none.
  uint32_t FindDumped(absl::string_view name, uint64_t engines = ~uint64_t{0}) const;
  // The platform of a PCI device; null if it is of another generation.
  const Platform* FindPciId(uint32_t pci_id) const;
  // The platform of a chip that is not a PCI device; null if it is of another generation.
  const Platform* FindChipId(uint32_t chip_id) const;
  // Engine by name or alias, which an instance's number may follow ("vcs1"); kNone if there is
  // none.
  uint32_t FindEngine(absl::string_view name) const;
  uint32_t FindStream(absl::string_view name) const;
  // The name of a raw value of a leaf, empty if it has none.
  absl::string_view ValueName(const Leaf& leaf, uint64_t value) const;
  // The named value of a raw value of a leaf, null if it has none.
  const NamedValue* FindValue(const Leaf& leaf, uint64_t value) const;
  // The raw value that has a name.
  std::optional<uint64_t> NamedValueOf(const Leaf& leaf, absl::string_view name) const;

 private:
  explicit Tables(const uint8_t* data) : data_(data) {}
  const Header& header() const { return *reinterpret_cast<const Header*>(data_); }
  template <class T>
  const T& at(const Section& section, uint32_t i) const {
    return reinterpret_cast<const T*>(data_ + section.offset)[i];
  }
  template <class T>
  absl::Span<const T> all(const Section& section) const {
    return {reinterpret_cast<const T*>(data_ + section.offset), section.count};
  }
  template <class T>
  absl::Span<const T> run(const Section& section, Range r) const {
    return {reinterpret_cast<const T*>(data_ + section.offset) + r.first, r.count};
  }

  const uint8_t* data_;

  friend class Checker;
};

}  // namespace packsmith::tables

#endif  // PACKSMITH_RUNTIME_TABLES_TABLES_H_
