// The typed model of one generation: what its XML says, with inheritance applied, references
// resolved and everything checked. All facts that outputs need are derived here, once; the writers
// of tables and IR only put them in order.
#ifndef PACKSMITH_GEN_MODEL_AST_MODEL_H_
#define PACKSMITH_GEN_MODEL_AST_MODEL_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gen/model/ast/components.h"
#include "gen/model/ast/reach.h"
#include "gen/model/diagnostic.h"
#include "gen/model/source.h"
#include "runtime/tables/tables.h"

namespace packsmith::model {

// What tables hold as it is, the model has in the tables' own types.
using tables::Access;
using tables::ContainerKind;
using tables::Meaning;
using tables::Role;
using tables::Tiling;

enum class FieldType {
  kUint,
  kInt,
  kBool,
  kFloat,
  kHalf,
  kUfixed,
  kSfixed,
  kAddress,
  kOffset,
  kEnum,
  kStruct,
};

// What descriptions call the meanings, from kRingHead on.
inline constexpr std::initializer_list<absl::string_view> kMeaningNames = {
    "ring-head",
    "ring-tail",
    "active-head",
    "batch-head",
    "header",
    "fault-address",
    "fault",
    "fault-global",
    "idle",
    "ring-start",
    "topology",
    "count",
    "instances",
    "groups",
    "alu-opcode",
    "alu-operand-1",
    "alu-operand-2",
    "clock",
    "stored",
    "tile-y-source",
    "tile-y-destination",
    "component-control",
    "edge-flag",
    "element-destination",
    "component-packing",
    "component-enables",
    "generated",
    "generated-element",
    "generated-component",
    "generated-source",
    "draw-parameter",
    "cut-sequential",
    "vertex-id-offset",
    "provoking-lines",
    "provoking-triangles",
    "provoking-fans",
    "strip-order",
    "address-modify",
    "allowed-register",
    "allowed-range",
    "allowed-not",
    "report-number",
    "report-context",
    "vertex-counter",
    "primitive-counter",
    "vertex-shader-counter",
    "shader-counter",
    "vertex-statistics",
    "vertex-shader-statistics",
    "stream-output",
    "idle-execution",
    "awaited-event",
    "instruction-error",
    "current-context",
    "in-order",
    "stall",
    "write",
    "depth-stall",
    "flush-render",
    "flush-depth",
    "flush-data",
    "flush-port",
    "flush-untyped",
    "flush-tiles",
    "flush-pipe",
    "flush-blits",
    "flush-stores",
    "invalidate-vertices",
    "invalidate-textures",
    "invalidate-constants",
    "invalidate-state",
    "invalidate-instructions",
    "invalidate-l3"};
static_assert(kMeaningNames.size() == tables::kMeanings - 1);
// What they call flows and relations, in the order of their kinds.
inline constexpr absl::string_view kFlowNames[] = {"jump", "call", "return", "end", "terminate"};
static_assert(std::size(kFlowNames) == static_cast<size_t>(tables::FlowKind::kTerminate) + 1);
inline constexpr absl::string_view kOperationNames[] = {"nothing",
                                                        "unsupported",
                                                        "unpredicated",
                                                        "skip",
                                                        "engine-base",
                                                        "replace",
                                                        "add-register",
                                                        "write-register",
                                                        "load-register",
                                                        "store-register",
                                                        "copy-register",
                                                        "store",
                                                        "copy-memory",
                                                        "math",
                                                        "predicate",
                                                        "set-predicate",
                                                        "atomic",
                                                        "wait",
                                                        "end",
                                                        "signal",
                                                        "fence",
                                                        "report",
                                                        "update-page-table",
                                                        "pre-parser",
                                                        "arbitration",
                                                        "arbitration-point",
                                                        "privileged",
                                                        "drop-privilege",
                                                        "switch-context",
                                                        "draw-indirect",
                                                        "blit-destination",
                                                        "blit-source",
                                                        "blit-bits",
                                                        "blit-pattern",
                                                        "blit-pattern-bits",
                                                        "blit-color",
                                                        "blit-key",
                                                        "blit-rectangle",
                                                        "blit-clip",
                                                        "blit-again",
                                                        "blit-setup",
                                                        "blit"};
static_assert(std::size(kOperationNames) == tables::kOperationKinds);
// What they call clients of memory, in the order of their kinds.
inline constexpr absl::string_view kClientNames[] = {
    "render-target", "depth",    "data-port",    "stream-output", "post-sync",
    "streamer",      "commands", "blitter",      "vertex-fetch",  "sampler",
    "constants",     "state",    "instructions", "other"};
static_assert(std::size(kClientNames) == tables::kClientKinds);
// The level at which they read and write, and what completes flushes for them.
inline constexpr absl::string_view kLevelNames[] = {"memory", "L3"};
inline constexpr absl::string_view kAfterNames[] = {"stall", "write"};
// What they call the roles of operands.
inline constexpr absl::string_view kOperandNames[] = {
    "register", "memory",  "value",    "source", "bytes",      "index",      "page",
    "field",    "compare", "combine",  "load",   "data",       "result",     "mask",
    "level",    "opcode",  "size",     "return", "inline",     "count",      "counted",
    "format",   "high",    "pitch",    "tiling", "left",       "top",        "right",
    "bottom",   "x",       "y",        "width",  "height",     "slice",      "slice-rows",
    "align-x",  "align-y", "mip-tail", "volume", "background", "foreground", "transparent",
    "packing",  "low",     "mode",     "raster", "clipped",    "order",      "layout",
    "inhibit",  "force",   "does"};
static_assert(std::size(kOperandNames) == tables::kOperandRoles);
// What they call the numbers of the operand `tiling`.
inline constexpr absl::string_view kTilingNames[] = {
    "linear", "X", "Y", "Tile4", "Yf", "Ys", "Tile64", "Tile64-Xe2", "X-or-Y"};
// Those of images, in the order of Tiling.
inline constexpr absl::string_view kImageTilingNames[] = {
    "unknown", "linear", "X",      "Y",          "W",        "Yf",
    "Ys",      "Tile4",  "Tile64", "Tile64-Xe2", "twiddled", "compressed"};
static_assert(std::size(kImageTilingNames) == tables::kTilings);
inline constexpr absl::string_view kRelationNames[] = {"commits", "requires", "invalidates"};
static_assert(std::size(kRelationNames) ==
              static_cast<size_t>(tables::RelationKind::kInvalidates) + 1);

// Of rules.
inline constexpr absl::string_view kSeverityNames[] = {"note", "warning", "error"};
static_assert(std::size(kSeverityNames) == tables::kSeverities);
inline constexpr absl::string_view kComparisonNames[] = {"equal", "different", "below", "at-most",
                                                         "multiple"};
static_assert(std::size(kComparisonNames) == tables::kComparisons);

// What workarounds ask for, in the order of AskKind.
inline constexpr absl::string_view kAskNames[] = {"before", "after", "around", "again",  "stall",
                                                  "field",  "limit", "avoid",  "shader", "memory"};

// Text from an attribute that is understood only when the whole file is known.
struct Deferred {
  std::string text;
  Location where;
  bool empty() const { return text.empty(); }
};

// The same of one of the model's lists: a container, a base, an enumeration …
struct Reference : Deferred {
  int index = -1;  // in that list; -1: absent, or there is none of that name
};

// The same of something that is made up of fields: a condition, an expression, a field.
template <class T>
struct Late : Deferred {
  T is{};  // what the text means; absent or wrong: what that makes of nothing
};

struct Value {
  std::string name;
  uint64_t value = 0;
  std::string doc;
  bool avoid = false;  // the hardware has it, the manual says not to use it
  DataFormat format;   // of data of this format; no components: of none
  Location where;
};

struct Enum {
  std::string name;
  std::string prefix;  // of the C names
  std::string doc;
  std::string source;
  std::vector<Value> values;
  Location where;
  bool is_type = false;      // of some field
  bool gives_names = false;  // to the values of some field or state
  // Generated packets do not need it, and it is in a header of its own.
  bool only_names() const { return gives_names && !is_type; }
};

// How a value v becomes raw bits r. At most one of minus, log2 and groups; shift and align go with
// the others.
struct Encoding {
  uint64_t minus = 0;   // r = v - minus
  uint32_t shift = 0;   // r = v >> shift
  bool log2 = false;    // r = log2 v
  uint64_t groups = 0;  // r = ceil(v / groups); 0 and all 2^width groups are special, docs/xml.md
  uint64_t align = 0;   // v is rounded up first
};

struct Field;
struct Group;

// A field of the same container, or of the same repetition.
struct FieldRef {
  const Field* field = nullptr;
  const Group* group = nullptr;  // the outermost group that holds it, nullptr = none
};

struct Term {
  FieldRef ref;
  int state = -1;  // a <state> is asked; `ref` is then what it looks like as a field
  bool negated = false;
  uint64_t value = 0;
};

// Or of ands. Empty: always true.
using Condition = std::vector<std::vector<Term>>;

struct Expression {
  enum class Kind { kNone, kConstant, kField, kState } kind = Kind::kNone;
  FieldRef ref;
  int container = -1;  // kState: the packet whose last occurrence is asked
  bool power = false;  // two to the power of the field
  uint64_t multiply = 1;
  uint64_t add = 0;  // kConstant: the value
};

// What the value of a field points to.
struct Points {
  using Target = tables::TargetKind;
  Target target = Target::kData;
  Reference to;  // a container, a kind of data or a stream, as `target` says
  Reference base, space;
  Reference other;  // the container that an element may be instead
  Late<Expression> count, size, end, stride, scale, slot, format, step, simd, align;
  Late<Condition> space_when, when;
  Late<Condition> unlimited_when;  // where it holds, `count` does not limit data
  std::string stage;
  bool relative = false;  // counts from the start of the record that has the field
  bool keeps = false;     // where `when` does not hold, what an earlier packet has set still counts
  Access access = Access::kNone;
  bool until_zero = false;
  uint32_t limit = 0;
  Location where;
};
// What a pass reads of it without asking what it is for.
inline constexpr Late<Expression> Points::*kPointsExpressions[] = {
    &Points::count,  &Points::size, &Points::stride, &Points::end,   &Points::slot,
    &Points::format, &Points::step, &Points::simd,   &Points::scale, &Points::align};

struct SetsBase {
  Reference base;         // or the state
  bool is_state = false;  // a <state> rather than a <base>
  Late<Condition> when;
  // Bytes from the base that may be used. If the condition does not hold, the packet does not say.
  Late<Expression> size;
  Late<Condition> size_when;
};

// The field's value is the format of an element of data, or how many instances share a row of it.
struct ElementOf {
  bool is_step = false;
  Reference data;
  Late<Expression> number, slot, offset;
  Late<Condition> when;
  Location where;
};
inline constexpr Late<Expression> ElementOf::*kElementExpressions[] = {
    &ElementOf::number, &ElementOf::slot, &ElementOf::offset};

// What a packet that draws reads of vertices and indices.
struct Draws {
  Reference data, indices;
  Late<Condition> indexed, when;
  Late<Expression> first, count, first_instance, instances, bias, cuts, cut;
  Location where;
};
inline constexpr Late<Expression> Draws::*kDrawsExpressions[] = {
    &Draws::first, &Draws::count, &Draws::first_instance, &Draws::instances, &Draws::bias,
    &Draws::cuts,  &Draws::cut};

// Who refuses a field's zero.
enum class NotZero : uint8_t {
  kMayBeZero,
  kPacking,  // packing: a value that is not set is most likely forgotten; the hardware takes it
  kAlways,   // the hardware: packing refuses it, and decoding reports it
};

// A surface that the container describes.
struct Image {
  SurfaceUse use = SurfaceUse::kAny;
  Tiling tiling = Tiling::kUnknown;
  Late<Condition> when;
  Late<FieldRef> address, format, type;
  Late<Expression> width, height, depth, pitch;
  Location where;
};
inline constexpr Late<Expression> Image::*kImageExpressions[] = {&Image::width, &Image::height,
                                                                 &Image::depth, &Image::pitch};

// How C++ and C spell a name. Set by a pass, which reports names that collide.
struct Spelling {
  std::string cpp;
  std::string c;
};

// What fields, reserved runs and groups have in common.
struct ItemBase {
  Location where;
  std::string name;   // groups and reserved runs may have none
  std::string alias;  // identifier for C++ where the name cannot be spelled
  std::string doc;
  std::string source;
  uint32_t bit = 0;    // from the start of the container, or of the enclosing group's item
  uint32_t width = 0;  // field, reserved: bits. Group: bits of one item
  bool overlap = false;
  bool unplaced = false;  // its bits="…" could not be read: what follows from them is not reported
  Spelling spelled;
};

// What C says of a field where it must equal a table that others have published.
struct FieldInC {
  bool is_uint = false;         // a plain integer, whose low bits are not implied
  bool has_no_default = false;  // <T>_header leaves it out
  uint32_t bits = 0;            // as <T>_<field>_bits; 0: its width
};

struct Field : ItemBase {
  Deferred type_name;
  FieldType type = FieldType::kUint;
  int type_index = -1;         // enum or container
  uint32_t fraction_bits = 0;  // fixed point
  Encoding encoding;
  bool shift_given = false;
  std::optional<uint64_t> default_value;  // integers, in two's complement
  std::optional<double> default_real;     // float, half and fixed point
  Deferred default_text;
  std::optional<uint64_t> forced;
  std::optional<int64_t> min, max;
  std::optional<double> min_real, max_real;
  uint64_t multiple = 0;
  bool clamp = false;  // packing clamps the value to [0, max]
  NotZero nonzero = NotZero::kMayBeZero;
  Late<Condition> when;  // the bits hold this field only if the condition holds
  std::string prefix;
  std::string unit;
  std::vector<Value> values;
  Reference names;                  // the enumeration whose names the values of this integer have
  std::vector<Points> points;       // the first whose condition holds
  std::vector<SetsBase> sets;       // none or one
  std::vector<ElementOf> elements;  // none or one
  // The bits above this field's, where an address is split over two fields or two words.
  Late<Expression> high;
  Late<FieldRef> writes_register, writes_memory;
  Late<Condition> writes_when;       // to memory
  Meaning meaning = Meaning::kNone;  // of a register's or packet's field
  uint32_t meaning_at = 0;           // the bit of the number that the value begins at, or which one
  FieldInC in_c;
};

// Bits whose value is fixed and that have no meaning.
struct Reserved : ItemBase {
  bool must_be_one = false;
};

// The same of a group.
struct GroupInC {
  uint32_t count = 0;     // how many items of a tail are members
  bool is_whole = false;  // all items are one field
};

struct Item;

// Items that repeat.
struct Group : ItemBase {
  bool tail = false;  // repeats to the end of its packet, as the length field says
  uint32_t count = 0;
  uint32_t most = 0;  // of a tail: how many items the hardware takes; 0: as many as fit
  std::vector<Item> items;
  GroupInC in_c;
};

struct Item : std::variant<Field, Reserved, Group> {
  using variant::variant;

  // nullptr where it is something else.
  const Field* field() const { return std::get_if<Field>(this); }
  Field* field() { return std::get_if<Field>(this); }
  const Reserved* reserved() const { return std::get_if<Reserved>(this); }
  const Group* group() const { return std::get_if<Group>(this); }
  Group* group() { return std::get_if<Group>(this); }

  const ItemBase& base() const {
    if (const Field* one = field()) return *one;
    if (const Group* one = group()) return *one;
    return *reserved();
  }
};

struct Variant {
  Late<Condition> when;
  uint32_t bytes = 0;
  Location where;
};

struct Part {
  std::string name;
  std::string alias;
  Reference struct_name;
  Late<Condition> when;
  Late<Expression> repeat;
  Location where;
  std::string cpp;
};

// What follows the parts, so that all is a multiple of `to` bytes.
struct Pad {
  uint32_t to = 0;  // 0: nothing
  Late<Condition> when;
  Location where;
};

struct Flow {
  using Kind = tables::FlowKind;
  Kind kind = Kind::kEnd;
  Late<Condition> when, maybe;
  Late<FieldRef> to;
  Location where;
};

// What executing a packet does. The members of `operands` that are empty are absent.
struct Operation {
  using Kind = tables::OperationKind;
  Kind kind = Kind::kNothing;
  Late<Condition> when;
  std::array<Late<Expression>, tables::kOperandRoles> operands;
  // Whether the operand is a described register; its expression is the offset.
  std::array<bool, tables::kOperandRoles> is_register = {};
  Location where;
};

struct Relation {
  using Kind = tables::RelationKind;
  Kind kind = Kind::kCommits;
  Reference packet;
};

// What must hold of a container, for those who check batches.
struct Rule {
  std::string number;
  tables::Severity severity = tables::Severity::kWarning;
  Late<Condition> when;
  Late<Expression> left, right;
  tables::Comparison is = tables::Comparison::kEqual;
  std::string doc;
  std::string source;
  Location where;
};

// What C says of a container where it must equal a table that others have published.
struct ContainerInC {
  std::optional<uint32_t> dwords, offset;
};

struct Container {
  ContainerKind kind = ContainerKind::kPacket;
  std::string name;
  std::vector<std::string> aliases;
  std::string doc;
  std::string source;
  Location where;
  bool broken = false;     // has errors, so that others may follow from those
  bool byte_unit = false;  // a record of bytes rather than of dwords
  bool variable = false;   // the XML gives no fixed size
  uint32_t bytes = 0;      // of the fixed part
  uint32_t max_bytes = 0;  // with the longest variant
  Deferred length_name;
  const Field* length_field = nullptr;  // at top level
  uint32_t length_bias = 0;
  Deferred engines_text;
  uint64_t engines = ~uint64_t{0};
  Deferred stream_name;
  int stream = -1;
  Role role = Role::kOther;
  Role serves = Role::kOther;  // only work of this role reads what the packet sets; kOther: any
  bool masked = false;  // a register whose upper 16 bits say which of the lower ones are written
  bool privileged = false;  // a register that a batch without privilege cannot write
  std::string dumped_as;    // names of a register in error states, separated by spaces
  Deferred like;
  uint32_t register_offset = 0;
  std::vector<Item> items;  // in XML order
  std::vector<Variant> variants;
  std::vector<Part> parts;
  Pad pad;
  std::vector<Flow> flows;
  std::vector<Operation> operations;
  std::vector<Relation> relations;
  std::vector<Draws> draws;   // none or one
  std::vector<Image> images;  // the first whose condition holds
  std::vector<Rule> rules;    // a number is there once
  ContainerInC in_c;

  // Derived.
  const Group* tail = nullptr;
  uint32_t identify_mask = 0;
  uint32_t identify_value = 0;
  uint32_t identify_bytes = 0;
  Spelling spelled;
};

struct Engine {
  std::string name;
  std::string aliases;
  uint32_t registers = 0;  // offset of its registers
  std::string doc;
  Location where;
};

struct Platform {
  std::string name;
  std::string title;
  std::vector<uint32_t> pci_ids;
  std::vector<uint32_t> chip_ids;
  std::string doc;
  Location where;
};

// What a workaround asks for. `of` is what it is about, absent of shaders and memory.
using AskKind = tables::AskKind;
static_assert(std::size(kAskNames) == tables::kAskKinds);

struct Ask {
  AskKind kind = AskKind::kBefore;
  Reference of, with;  // containers
  Deferred field;      // of `with` if there is one, else of `of`
  std::string value;
  Late<Condition> when;  // on `of`
  bool checked = false;  // batches are held against it
  // Derived, if it is checked: `value` as raw bits of the field.
  const Field* is_field = nullptr;
  std::optional<uint64_t> raw;
  Location where;
};

// A flaw of some products, and how drivers avoid it.
struct Workaround {
  std::string name;  // its number in Intel's database
  Deferred platforms;
  std::string honored;  // files of the runtime, separated by spaces
  std::string doc;
  std::string source;
  std::vector<Ask> asks;
  Location where;
  // Derived: those of `platforms` that are this generation's, with steppings. Empty: it is another
  // generation's.
  std::vector<std::string> here;
};

struct Space {
  std::string name;
  uint32_t number = 0;
  bool privileged = false;  // a batch without privilege has no access
  std::string doc;
  Location where;
};

struct Base {
  std::string name;
  std::string doc;
  Location where;
  // The base that counts while this one is not set; or kZero: zero counts then.
  Reference otherwise;
  static constexpr int kZero = -2;
};

// A part of the hardware that accesses memory through caches of its own. The members with texts are
// lists of cache actions: all that are separated by blanks, one of those that are separated by "|".
struct Client {
  tables::ClientKind kind = {};
  bool in_l3 = false;
  bool after_write = false;
  std::string doc;
  Deferred flush, to_memory, invalidate, from_memory, own;
  tables::Client is = {};
  Location where;
};

// What later pointers ask: the value that a field had last.
struct State {
  std::string name;
  std::string doc;
  Location where;
  Reference of;  // the enumeration that its values are of, or none
  Field field;   // itself, as conditions see it
};

// The length of a program's instruction, by its first dword.
struct Instruction {
  uint32_t mask = 0;
  uint32_t value = 0;
  uint32_t bytes = 0;
  std::optional<uint32_t> end_bit;  // set in the last instruction of a program
};

struct DataKind {
  std::string name;
  std::string doc;
  DataFormat format;
  bool is_code = false;
  std::optional<tables::ClientKind> client;  // that reads or writes it
  std::vector<Instruction> instructions;     // the first that matches
  std::vector<Reach> reaches;                // all that match
  Location where;
};

// The length of a packet that is not described, by its first dword: most families encode
// lengths alike, so that a walk need not lose its place.
struct UnknownLength {
  uint32_t mask = 0;
  uint32_t value = 0;
  uint32_t length_bit = 0;
  uint32_t length_width = 0;  // 0: no length field, always `bias` dwords
  uint32_t bias = 0;
};

// Packets of a stream whose first dword, masked, has a value set what only work of a role reads.
struct Serves {
  uint32_t mask = 0;
  uint32_t value = 0;
  Role role = Role::kOther;
};

struct Stream {
  std::string name;
  std::string doc;
  Deferred engines_text;
  uint64_t engines = ~uint64_t{0};
  uint32_t align = 4;
  Late<Expression> levels;             // of batches above the ring
  uint32_t prefetch = 0;               // bytes that are fetched ahead
  std::vector<UnknownLength> unknown;  // the first that matches
  std::vector<Serves> serves;          // the first that matches
  Location where;
};

// Where a description does not state address-bits. tests/model/ir_test.cc compares it with pack.h's
// usual_space.
constexpr uint32_t kUsualAddressBits = 48;

struct Model {
  std::string family;
  std::string generation;
  std::string title;
  std::string aliases;
  uint32_t version_x10 = 0;  // ten times the version that devices report; 0: they report none
  std::string cpp_namespace;
  std::string c_prefix;
  std::string doc;
  std::string source;
  bool byte_unit = false;
  uint32_t address_bits = kUsualAddressBits;  // of the hardware's addresses, 16 to 64
  std::string digest;                         // 16 hex digits over the text of all inputs
  std::vector<std::string> inputs;            // paths, the file itself first
  std::vector<int32_t> files;                 // the same as indices of Sources
  std::vector<Engine> engines;
  std::vector<Platform> platforms;
  std::vector<Workaround> workarounds;  // of all generations up to this one
  std::vector<Space> spaces;
  std::vector<Client> clients;
  std::vector<Base> bases;
  std::vector<State> states;
  std::vector<DataKind> data_kinds;
  std::vector<Stream> streams;
  std::vector<Enum> enums;
  std::vector<Container> containers;  // in XML order
  std::vector<int> nesting_order;     // container indices, each after those that it nests

  Model() = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  // A copy of a model before anything is resolved: resolved pointers would point to the original.
  Model CopyUnresolved() const { return *this; }

  // Index by name or alias, -1 if there is none.
  int FindContainer(absl::string_view name) const;
  int FindEnum(absl::string_view name) const;

 private:
  Model(const Model&) = default;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_MODEL_H_
