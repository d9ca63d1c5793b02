// Packets, structures and registers from the names and values of their fields: the inverse of
// runtime/decode, by the same tables.
//
//   encode::Encoder encoder(tables);
//   const encode::Field fields[] = {
//       {.name = "Enable", .value = encode::Given::Bool(true)},
//       {.name = "Kernel Start Pointer", .value = encode::Given::Integer(0x1000)}};
//   std::vector<uint8_t> bytes;
//   std::vector<encode::FieldProblem> problems;
//   encoder.Encode({.container = tables.FindContainer("3DSTATE_VS"), .fields = fields}, bytes,
//                  problems);
//
// Bits of fields that are not given are zero, except opcodes, reserved ones, and the packet's
// length, which follow from the description.
#ifndef PACKSMITH_RUNTIME_ENCODE_ENCODER_H_
#define PACKSMITH_RUNTIME_ENCODE_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/tables/tables.h"

namespace packsmith::encode {

// A value as a text has it.
struct Given {
  enum class Kind : uint8_t {
    kNothing,
    kBool,     // integer is 0 or 1
    kInteger,  // two's complement if `negative`
    kReal,
    kName,  // one of the field's named values; or, if it has none of that name, `otherwise`
    kRaw,   // integer has the bits themselves: no encoding, no range
  };
  Kind kind = Kind::kNothing;
  bool negative = false;
  uint64_t integer = 0;
  double real = 0;
  absl::string_view name = {};
  std::optional<uint64_t> otherwise = {};

  static Given Bool(bool value) { return {.kind = Kind::kBool, .integer = value ? 1u : 0u}; }
  static Given Integer(uint64_t value) { return {.kind = Kind::kInteger, .integer = value}; }
  static Given Signed(int64_t value) {
    return {.kind = Kind::kInteger, .negative = value < 0, .integer = static_cast<uint64_t>(value)};
  }
  static Given Real(double value) { return {.kind = Kind::kReal, .real = value}; }
  static Given Name(absl::string_view value) { return {.kind = Kind::kName, .name = value}; }
  static Given Raw(uint64_t bits) { return {.kind = Kind::kRaw, .integer = bits}; }
};

// Bits, from the start of a record.
struct BitRange {
  uint64_t bit;
  uint32_t width;  // 1 to 64
};

struct Field {
  // As in decoded records: "Buffer[1]", "Scissors[0].Min X". Spaces may be underscores. Empty: the
  // bits of `at`, whatever they are, which are written last and need not agree with anything.
  absl::string_view name = {};
  // Checked against the named field, if it is given; tells fields of one name apart.
  std::optional<BitRange> at = {};
  Given value = {};
  // Bits and name of the value, for texts that have them along with it. What differs from the
  // record's base is what counts.
  std::optional<uint64_t> raw = {};
  absl::string_view value_name = {};
};

struct EncodeRequest {
  uint32_t container = tables::kNone;
  absl::Span<const Field> fields = {};
  // Bits that the fields are written over. Fields that say what these bits say already are not
  // looked at further. The record has this size. Empty: there are none.
  absl::Span<const uint8_t> base = {};
  // Without a base: the size in bytes, instead of the one that follows from the fields.
  std::optional<uint64_t> bytes = {};
  // Fields that must be given, because zero is not valid, may be missing, and values may be out of
  // range: for what a GPU has received all the same.
  bool lenient = false;
};

// What is wrong, and with which of the request's fields: kNone for the record as a whole.
struct FieldProblem {
  uint32_t field;
  std::string text;
};

// No record is larger.
inline constexpr uint64_t kMostRecordBytes = uint64_t{1} << 20;

// Not thread-safe: it remembers what it has learnt of containers.
class Encoder {
 public:
  // The tables must outlive the encoder.
  explicit Encoder(const tables::Tables& tables);
  ~Encoder();

  const tables::Tables& tables() const { return tables_; }

  // The container with a name: the exact one, else the only one that differs in case or in
  // underscores for spaces. kNone if there is none.
  uint32_t Find(absl::string_view name);

  // The message for a name that Find() does not know, with similar names.
  std::string UnknownContainer(absl::string_view name);

  // Replaces `bytes` by the record. False if that is impossible; `problems` gets the reasons. A
  // field that does not fit, is not known, contradicts another one about a bit, or is beyond the
  // record's end is a problem; so is one that is missing although zero is not valid.
  [[nodiscard]] bool Encode(const EncodeRequest& request, std::vector<uint8_t>& bytes,
                            std::vector<FieldProblem>& problems);

  // Whether the value of these bits is in the field's range.
  bool IsValid(const tables::Leaf& leaf, uint64_t raw) const;

 private:
  struct Plan;
  struct Resolved;
  struct Job;

  bool EncodeInOrder(const EncodeRequest& request, std::vector<uint8_t>& bytes,
                     std::vector<FieldProblem>& problems);
  Plan& PlanOf(const tables::Container& container);
  bool Resolve(Job& job, uint32_t index, Resolved& resolved);
  void Write(Job& job, const Resolved& resolved);
  void WriteForced(Job& job, tables::Range leaves, uint64_t base);
  bool SizeOf(Job& job);
  void WriteFixedBits(Job& job);
  void PlaceAndWriteParts(Job& job);
  void WriteLength(Job& job);
  void WriteBitRanges(Job& job);
  void CheckMissing(Job& job);
  void CheckMissing(Job& job, const tables::Container& owner, tables::Range leaves, uint64_t base,
                    bool in_tail, const decode::FieldName& prefix);
  std::optional<uint64_t> RawOf(Job& job, uint32_t index, const tables::Leaf& leaf,
                                absl::string_view name, const Given& given);
  std::optional<uint64_t> RawOverBase(Job& job, uint32_t index, const tables::Leaf& leaf,
                                      uint64_t old);
  bool Says(const tables::Leaf& leaf, uint64_t raw, const Given& given) const;
  std::string Limits(const tables::Leaf& leaf) const;
  std::string UnknownField(const tables::Container& container, absl::string_view name);

  const tables::Tables& tables_;
  std::vector<std::unique_ptr<Plan>> plans_;
  absl::flat_hash_map<std::string, uint32_t> containers_;  // by plain name, made when
                                                           // one is first needed; kNone: several
  std::vector<uint8_t> written_;  // a bit for each bit that a field has set
  std::vector<Resolved> resolved_;
  uint32_t suggestions_ = 0;  // how many there have been
};

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_ENCODER_H_
