// The decoder's output: records, and the sinks that write them. ../../docs/records.md describes the
// written form.
#ifndef PACKSMITH_RUNTIME_DECODE_RECORD_H_
#define PACKSMITH_RUNTIME_DECODE_RECORD_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

enum class FaultKind : uint8_t {
  kReserved,      // a bit that the manual reserves has the wrong value
  kForced,        // a bit that never varies has the wrong value
  kRange,         // a value that the field may not have
  kBeyondLength,  // the packet's own length cuts a field off
  kUnmapped,      // a pointer points to memory that the dump does not have
  kTruncated,     // the memory or the batch ends inside the packet
};
inline constexpr size_t kFaultKinds = 6;
absl::string_view FaultKindName(FaultKind kind);

struct Fault {
  FaultKind kind;
  uint64_t bit;  // from the start of the record
  uint32_t width;
  uint64_t value;  // the bits, or the address
  std::string text;
};

enum class RecordType : uint8_t { kPacket, kStruct, kData, kUnknown, kRegister };
inline constexpr uint64_t kNoParent = ~uint64_t{0};

// Bits that an earlier packet of the submission has overwritten by the time this one is read. The
// record's bytes are the dump's; what the packet does (jumps, pointers, bases) follows these.
struct Stored {
  uint64_t bit;  // from the start of the record, a multiple of 32
  uint32_t width;
  uint64_t value;
  uint64_t by;  // id of the packet that stores
};

// One typed value that each row of data has: an attribute of a vertex, an index, a constant.
struct DataElement {
  const tables::Format* format = nullptr;  // its components, see data.h
  absl::string_view name;                  // of the format, empty where it has none
  uint64_t offset = 0;                     // bytes from the start of the row
  uint32_t number = 0;                     // of the element, as packets count them
};

// A program that a pointer points to.
struct Kernel {
  absl::string_view stage;  // "vertex", as in the XML; may be empty
  uint32_t simd = 0;        // channels that run together; 0: not known
  absl::string_view ends;   // what determines its size: "end", "next kernel", "memory", "limit"
  absl::Span<const uint8_t> code;  // all of it
};

struct Record {
  RecordType type = RecordType::kPacket;
  uint64_t id = 0;
  uint64_t parent = kNoParent;
  uint32_t space = 0;
  uint64_t address = 0;
  uint32_t depth = 0;   // packets: 0 is the submission's own batch, +1 a call
  uint32_t stream = 0;  // packets: index of the tables' stream that they are part of
  // Submission::index of the submission that is being decoded. Nothing for kRegister.
  uint32_t submission = 0;
  // For a draw or dispatch, and what it points to: its number among all that the decoder has
  // reached, counted from 1. 0: none.
  uint64_t draw = 0;
  uint64_t dispatch = 0;
  // A packet from before the draw or dispatch that is its parent, shown once more because that uses
  // its settings (Options::bound). Address and submission are the packet's own.
  bool bound = false;
  // kPacket, kStruct.
  const tables::Container* container = nullptr;
  absl::string_view name;  // of the container, or the kind of data
  absl::Span<const uint8_t> bytes;
  absl::Span<const PlacedPart> parts;
  int64_t index = -1;            // which structure of a table
  int64_t register_offset = -1;  // a structure that is the value of a register
  // kData: the size of all of it, of which `bytes` may be the beginning.
  uint64_t data_size = 0;
  uint64_t data_stride = 0;
  // kData whose type is known: rows of `data_stride` bytes (0: all rows are the same one), each
  // with all `elements`. `bytes` begins with row `data_first`, and `data_rows` is the number of
  // rows from there on, of which `bytes` has some (RowsShown in data.h).
  absl::Span<const DataElement> elements;
  uint64_t data_first = 0;
  uint64_t data_rows = 0;
  int64_t slot = -1;               // which of several of the kind: a vertex buffer's number
  bool per_instance = false;       // rows count instances, not vertices
  uint32_t step = 1;               // instances that share a row; 0: all do
  const Kernel* kernel = nullptr;  // kData that is a program
  // kRegister: a register's value, its engine (empty: the whole device), and the dump's own name
  // for it. One of 64 bits may be described as two, and then comes twice. `container` is null if it
  // is not described.
  absl::string_view engine;
  const ErrorRegister* dumped = nullptr;
  // kPacket.
  absl::Span<const Stored> stored;
  absl::Span<const Fault> faults;
  // kPacket, kStruct. Records of the same shape, if it is not 0, have the same container and
  // length, and the same parts in the same places.
  uint64_t shape = 0;

  // `container` must not be null.
  RecordView view() const { return {*container, bytes, parts}; }
};

// The target of a field, whether the dump has the memory or not.
struct Lead {
  const FieldAt* at;
  const tables::Pointer* pointer;
  uint32_t space;
  uint64_t address;
  uint64_t size;  // bytes; 0: unknown
};

// A packet and all that it points to, similar to those of earlier packets.
struct RecordTrace {
  // Not 0. Traces of the same number have the same records in the same order, except for ids,
  // spaces and addresses, the code of kernels after the bytes of their records, and bits that are
  // set in `varying`. None has faults or stored bits, and every packet and structure has a shape.
  uint64_t number;
  // The packet is the first one.
  absl::Span<const Record> records;
  // Of each record's bytes.
  absl::Span<const absl::Span<const uint8_t>> varying;
};

// The first occurrence of something.
struct FirstSeen {
  std::string name;  // of the record
  uint32_t space = 0;
  uint64_t address = 0;
  // A register of the dump, which is not in memory.
  bool is_register = false;
};

// Runs of bits that are set and not described.
struct UndescribedSeen {
  uint64_t runs = 0;
  FirstSeen first;  // if there are any
};

struct Summary {
  uint64_t submissions = 0;
  uint64_t packets = 0;
  uint64_t structs = 0;
  uint64_t data = 0;
  uint64_t draws = 0;
  uint64_t dispatches = 0;
  uint64_t unknown_dwords = 0;
  std::array<uint64_t, kFaultKinds> faults{};
  uint64_t problems = 0;  // of the input, and streams that could not be decoded to their end
  // The place of the first of each, if there is one.
  FirstSeen first_unknown;
  std::array<FirstSeen, kFaultKinds> first_faults;
  std::string first_problem;
};

// A packet that is only listed (Options::brief).
struct Brief {
  uint64_t address;
  const uint8_t* data;  // `bytes` bytes
  uint32_t bytes;
  uint32_t container;  // tables::kNone: dwords that no packet matches
  uint32_t depth;
  uint32_t space;
};

// Receives records in the order of decoding. What a record refers to is valid only during the call.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void OnSchema(const tables::Tables& tables) = 0;
  virtual void OnDevice(const Device& device, uint64_t id) = 0;
  virtual void OnSubmission(const Submission& submission, uint64_t id) = 0;
  virtual void OnRecord(const Record& record) = 0;
  // With Options::leads, for each field of the next packet or structure that is a pointer in use.
  virtual void OnLead(const Lead&) {}
  // Instead of OnRecord for each of its records.
  virtual void OnTrace(const RecordTrace& trace) {
    for (const Record& record : trace.records) OnRecord(record);
  }
  // The dump that the next submissions belong to, for sinks that use more than records. Null: that
  // was its last record, and it may be destroyed.
  virtual void OnDump(const Dump*) {}
  // Text from elsewhere, whole lines in the sink's own form: the report about a hang.
  virtual void OnInsert(absl::string_view) {}
  // Instead of OnRecord with Options::brief: many packets at a time.
  virtual void OnPackets(absl::Span<const Brief>) {}
  // A remark that does not belong to a record. A problem: the input, or a stream, could not be
  // decoded to its end.
  virtual void OnRemark(absl::string_view text, bool is_problem) = 0;
  virtual void OnSummary(const Summary& summary) = 0;
  // More dumps will follow, but not now: what is written by then is to reach the output. Sinks that
  // write all of their text at the end ignore it.
  virtual void OnPause() {}
};

// The destination of sinks.
class Output {
 public:
  virtual ~Output() = default;
  virtual void Append(absl::string_view text) = 0;
};

class StringOutput : public Output {
 public:
  void Append(absl::string_view text) override { text_.append(text.data(), text.size()); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_RECORD_H_
