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
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace packsmith::tables {

inline constexpr uint32_t kMagic = 0x544b4350;  // "PCKT"
inline constexpr uint32_t kVersion = 11;
inline constexpr uint32_t kNone = 0xffffffffu;

// A run of records of another array.
struct Range {
  uint32_t first;
  uint32_t count;
};

enum class ContainerKind : uint8_t { kPacket, kStruct, kRegister };

// What a packet makes the hardware do, for counting and finding.
enum class Role : uint16_t { kOther, kDraw, kDispatch };

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

enum LeafFlags : uint16_t {
  kForced = 1 << 0,      // an opcode: identifies the packet; Extra::forced is its value
  kLength = 1 << 1,      // the packet's biased length
  kLog2 = 1 << 2,        // the value is 1 << raw
  kNonzero = 1 << 3,     // the hardware takes no zero; what only packing refuses has no flag
  kOverlap = 1 << 4,     // another view of bits that another leaf has too
  kMustBeZero = 1 << 5,  // reserved: no value, a fault when it is wrong
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

// What few leaves have.
// What a field says, for those who do not know its name. Of a register: where an engine stopped;
// several fields of one meaning are parts of one number. Of a packet: what is drawn or dispatched.
enum class Meaning : uint16_t {
  kNone,
  kRingHead,      // bytes from the ring's start to what is read next
  kRingTail,      // the same, to where the ring's contents end
  kActiveHead,    // address of the packet that is executed
  kBatchHead,     // address in the batch
  kHeader,        // the first dword of the packet that is executed
  kFaultAddress,  // address of an access that failed
  kFault,         // there is such an access
  kFaultGlobal,   // its address is one of the global space
  kIdle,          // a unit of the GPU has nothing to do
  kRingStart,     // address of the ring, in the global space
  kTopology,      // what vertices make: points, lines, triangles
  kCount,         // vertices, indices or patches of one instance
  kInstances,     // how often all of them are drawn
  kGroups,        // how many groups of threads in one dimension, the first dimension first
};
inline constexpr uint32_t kMeanings = 15;

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
  uint32_t unit;         // string for people, empty = none
  uint32_t high;         // Expression: added to the value of a split address; or kNone
  uint32_t stores_leaf;  // Leaf that points to the memory this field's bits go to, or kNone
  uint32_t stores_when;  // Condition for that, or kNone
  uint32_t element;      // Element that the value describes, or kNone
  Meaning meaning;
  uint16_t meaning_at;   // which bit of the number the value begins at
  uint32_t counts_when;  // Condition: else the bits hold something else; kNone: always
  uint32_t pad;
};

struct NamedValue {
  uint64_t value;
  uint32_t name;
  uint32_t format;  // Format of data that the value stands for, or kNone
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
  kFixed,  // signed, 16 bits behind the point
  kUnused,
};

struct Component {
  uint32_t name;
  uint16_t bit;  // from the start of the element
  uint8_t width;
  ComponentType type;
};

// What one element of data is made of.
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
  uint32_t leaf;  // or Base, whose value is asked
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

// What the value of an address or offset leaf leads to.
struct Pointer {
  TargetKind target_kind;
  uint32_t target;  // Container, DataKind or Stream
  uint32_t base;    // Base the offset counts from, or kNone
  uint32_t space;   // address space where space_when holds
  uint32_t space_when;
  uint32_t when;    // Condition for there being a pointer at all
  uint32_t count;   // Expression: how many structures, or kNone = 1
  uint32_t size;    // Expression: bytes of data (or of one structure with a tail), or kNone
  uint32_t stride;  // Expression: bytes between elements of data, or kNone
  uint32_t end;     // Expression: address of the last byte of data, or kNone
  uint32_t slot;    // Expression: which of several of the kind, or kNone
  uint32_t format;  // Expression without arithmetic: its leaf's named values have formats; or kNone
  uint32_t step;    // Expression: a row holds for so many instances; kNone: a row for each vertex
  uint32_t simd;    // Expression: channels of a program, or kNone
  uint32_t scale;   // Expression: what the value is multiplied by if that is known, or kNone
  uint32_t stage;   // string: of a program, or that reads what is there
  uint32_t next;    // Pointer that counts where `when` does not hold, always a later one; or kNone
  uint32_t limit;   // most elements that are read where the count is not known
  uint32_t other;   // Container that an element may be instead, of the same size; or kNone
  Access access;
  uint8_t until_zero;  // where the count is not known, a zero element ends the table
  uint8_t relative;    // 1: counts from the start of the record that has the leaf
  uint8_t keeps;       // 1: where `when` does not hold, what an earlier packet has set still counts
};

// Length of an instruction, where (first dword & mask) == value.
struct Instruction {
  uint32_t mask;
  uint32_t value;
  uint32_t bytes;
  uint32_t end_bit;  // bit of the instruction that, set, says that it is the last; or kNone
};

// What a surface is for those who read or write it. kAny: it does not say so itself.
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

// A kind of memory that is no descriptor.
struct DataKind {
  uint32_t name;
  uint32_t format;     // Format of all data of this kind, or kNone
  uint32_t is_code;    // a program
  Range instructions;  // Instruction, the first that matches counts
  Range reaches;       // Reach, all that match count
};

enum class ElementKind : uint32_t {
  kFormat,  // the leaf's value is the element's format
  kStep,    // a row holds for as many instances as the leaf's value says; 0: for all
};

// What a leaf says of an element of a kind of data whose rows are made of several.
struct Element {
  ElementKind kind;
  uint32_t data;    // DataKind
  uint32_t number;  // Expression: which element; kNone: as many as came before in the packet
  uint32_t slot;    // Expression: in which of several pieces of data, or kNone = 0
  uint32_t offset;  // Expression: bytes from the start of the row, or kNone = 0
  uint32_t when;    // Condition: else there is no such element, or its rows do not step
};

// What a packet reads of which data when it draws.
struct Draw {
  uint32_t data;     // DataKind: vertices
  uint32_t indices;  // DataKind, or kNone
  uint32_t indexed;  // Condition: indices are used; kNone: whenever `indices` is a kind
  uint32_t when;     // Condition: else the packet does not know the numbers below
  uint32_t first;    // Expressions, or kNone: 0, or all
  uint32_t count;
  uint32_t first_instance;
  uint32_t instances;
  uint32_t bias;  // added to each index; a signed field
  uint32_t cuts;  // not 0: an index that equals `cut` is none, but ends a primitive; kNone: never
  uint32_t cut;   // kNone: all bits of an index set
};

// A surface that a record describes: texels, and how many there are.
struct Image {
  SurfaceUse use;
  uint32_t when;     // Condition for there being one, or kNone
  uint32_t address;  // Leaf
  uint32_t format;   // Leaf whose named values are formats, or kNone
  uint32_t type;     // Leaf whose named values say more of the format, or kNone
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
  uint32_t maybe;   // Condition: the GPU may also go on behind the packet; kNone: it never does
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

struct Container {
  uint32_t name;
  uint32_t doc;
  ContainerKind kind;
  uint8_t variable;        // the length is not fixed
  uint8_t length_unit;     // bytes one step of the length field stands for
  uint8_t identify_bytes;  // how much of the first word the opcode takes: 1 to 4
  uint32_t bytes;          // of the fixed part, without variants, tail and parts
  uint32_t max_bytes;      // with the longest variant
  uint32_t identify_mask;
  uint32_t identify_value;
  uint32_t length_leaf;  // or kNone
  uint32_t length_bias;
  Role role;
  uint8_t masked;    // a register whose upper 16 bits say which of the lower ones are written
  uint8_t serves;    // a Role: only work of this role reads what the packet sets; kOther: any
  uint64_t engines;  // bit i: engine i; all bits where no engine is named
  uint32_t register_offset;
  Range leaves;        // fixed part and variants, in bit order
  Range tail_leaves;   // of one item
  uint32_t tail_bit;   // where the first item starts
  uint32_t tail_size;  // bits of one item; 0 = no tail
  Range variants;
  Range parts;
  Range flows;
  Range relations;
  Range images;       // Image, the first whose condition holds counts
  uint32_t draw;      // Draw, or kNone
  uint16_t pad_to;    // bytes that all of it, parts included, is a multiple of; 0: of nothing
  uint16_t tail_max;  // the most items that the tail may have; 0: as many as there are
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

// The length of packets that nobody describes: where (first dword & mask) == value.
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
  Range groups;   // OpcodeGroup, the most specific mask first
  Range unknown;  // UnknownLength, the first that matches counts
};

struct Engine {
  uint32_t name;
  uint32_t aliases;  // string: separated by spaces
};

// What fields set and pointers ask: an address that offsets count from, or a state.
struct Base {
  uint32_t name;
  uint32_t otherwise;  // Base that counts while nothing has set this one, kZeroBase or kNone
};
// For Base::otherwise: offsets count from zero.
inline constexpr uint32_t kZeroBase = kNone - 1;

struct Space {
  uint32_t name;
  uint32_t number;
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

// Where each array stands in the block.
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
  Section by_name;    // uint32_t container indices, ordered by name
  Section reference;  // bytes: see Tables::reference
};

// Blocks are compared byte by byte, so no record may have bytes that nobody sets.
static_assert(std::has_unique_object_representations_v<Leaf>);
static_assert(std::has_unique_object_representations_v<Extra>);
static_assert(std::has_unique_object_representations_v<NamedValue>);
static_assert(std::has_unique_object_representations_v<Component>);
static_assert(std::has_unique_object_representations_v<Term>);
static_assert(std::has_unique_object_representations_v<Expression>);
static_assert(std::has_unique_object_representations_v<Pointer>);
static_assert(std::has_unique_object_representations_v<Reach>);
static_assert(std::has_unique_object_representations_v<Image>);
static_assert(std::has_unique_object_representations_v<Container>);
static_assert(std::has_unique_object_representations_v<Stream>);
static_assert(std::has_unique_object_representations_v<Header>);

// A view of a block; the block must outlive it. Cheap to copy.
class Tables {
 public:
  // Checks the whole block. Errors: InvalidArgument naming the first thing that is wrong. `block`
  // must be aligned to 8 bytes.
  static absl::StatusOr<Tables> Open(absl::Span<const uint8_t> block);
  // Without the checks, for blocks that the build made: starting a program is not the place to look
  // at each byte of them again.
  static Tables OpenBuiltIn(const uint64_t* words) {
    return Tables(reinterpret_cast<const uint8_t*>(words));
  }

  absl::string_view family() const { return string(header().family); }
  absl::string_view generation() const { return string(header().generation); }
  absl::string_view title() const { return string(header().title); }
  absl::string_view aliases() const { return string(header().aliases); }
  // The bits of an address that count, the lowest 16 to 64; what stands above repeats the highest
  // of them.
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

  // What people read and no decoder needs: a zstd frame with the lines that
  // gen/model/write/reference.h writes. Not looked into when a block is opened.
  absl::Span<const uint8_t> reference() const { return all<uint8_t>(header().reference); }

  absl::Span<const Expression> expressions() const { return all<Expression>(header().expressions); }
  absl::Span<const Container> containers() const { return all<Container>(header().containers); }
  absl::Span<const Stream> streams() const { return all<Stream>(header().streams); }
  absl::Span<const Engine> engines() const { return all<Engine>(header().engines); }
  absl::Span<const Base> bases() const { return all<Base>(header().bases); }
  absl::Span<const Space> spaces() const { return all<Space>(header().spaces); }
  absl::Span<const DataKind> data_kinds() const { return all<DataKind>(header().data); }
  absl::Span<const Platform> platforms() const { return all<Platform>(header().platforms); }
  absl::Span<const uint32_t> ids(Range r) const { return run<uint32_t>(header().ids, r); }
  absl::Span<const Draw> draws() const { return all<Draw>(header().draws); }
  absl::Span<const Leaf> leaves(Range r) const { return run<Leaf>(header().leaves, r); }
  absl::Span<const Term> terms(Range r) const { return run<Term>(header().terms, r); }
  absl::Span<const NamedValue> values(Range r) const { return run<NamedValue>(header().values, r); }
  absl::Span<const Flow> flows(Range r) const { return run<Flow>(header().flows, r); }
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
  // `engines` reads it; kNone if there is none. `bytes` says how many bytes of the word exist.
  uint32_t FindPacket(uint32_t stream, uint64_t engines, uint32_t first_word, uint32_t bytes) const;
  // How many bytes a packet takes that FindPacket does not know, 0 if its first word does not tell.
  uint32_t UnknownBytes(uint32_t stream, uint32_t first_word) const;
  // By exact name; kNone if there is none.
  uint32_t FindContainer(absl::string_view name) const;
  // The register at a byte offset; kNone if there is none.
  uint32_t FindRegister(uint32_t offset) const;
  // The register that error states call `name` where they speak of one of `engines`, at first with
  // what is in brackets ("INSTDONE[1]"), then without. One that only some engines have comes before
  // one that all of them have. kNone if there is none.
  uint32_t FindDumped(absl::string_view name, uint64_t engines = ~uint64_t{0}) const;
  // The platform of a PCI device; null if it is of another generation.
  const Platform* FindPciId(uint32_t pci_id) const;
  // The platform of a chip that is no PCI device; null if it is of another generation.
  const Platform* FindChipId(uint32_t chip_id) const;
  // Engine by name or alias, which an instance's number may follow ("vcs1"); kNone if there is
  // none.
  uint32_t FindEngine(absl::string_view name) const;
  uint32_t FindStream(absl::string_view name) const;
  // The name of a raw value of a leaf, empty if it has none.
  absl::string_view ValueName(const Leaf& leaf, uint64_t value) const;
  // The named value of a raw value of a leaf, null if it has none.
  const NamedValue* FindValue(const Leaf& leaf, uint64_t value) const;
  // The value a name stands for.
  absl::optional<uint64_t> NamedValueOf(const Leaf& leaf, absl::string_view name) const;

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
