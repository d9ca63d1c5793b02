// Fields of a described structure or register by name, for code that builds what hardware reads.
// The names are those of the XML; positions and encodings come from the decode tables.
//
//   const auto entry = Structure::Find(tables, "GGTT_ENTRY");
//   const StructureField present = entry->Field("Present");
//   entry->Set(absl::MakeSpan(bytes), present, 1);
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_STRUCTURE_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_STRUCTURE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// A field of a Structure, or none: generations differ in what they have.
class StructureField {
 public:
  StructureField() = default;
  explicit operator bool() const { return leaf_ != nullptr; }
  // From the start of the structure, in bits.
  uint32_t bit() const { return leaf_->bit; }
  uint32_t width() const { return leaf_->width; }

 private:
  friend class Structure;
  explicit StructureField(const tables::Leaf* leaf) : leaf_(leaf) {}
  const tables::Leaf* leaf_ = nullptr;
};

// The tables must outlive this. Cheap to copy.
class Structure {
 public:
  // A structure or register by its exact name. NotFound: the generation does not have it.
  static absl::StatusOr<Structure> Find(const tables::Tables& tables, absl::string_view name);
  static absl::StatusOr<Structure> Make(const tables::Tables& tables, uint32_t container);

  const tables::Container& container() const { return *container_; }
  absl::string_view name() const { return tables_.string(container_->name); }
  uint32_t size() const { return container_->bytes; }

  // None if the structure does not have it.
  StructureField Field(absl::string_view name) const;
  // NotFound names the structure and the field.
  absl::StatusOr<StructureField> Require(absl::string_view name) const;

  // Its value, with implied low bits and with the upper bits that are in another field. 0 for no
  // field. `bytes` has at least size() bytes.
  uint64_t Get(absl::Span<const uint8_t> bytes, StructureField field) const;
  // The inverse. No field takes only 0. InvalidArgument: the value does not fit; nothing is
  // written.
  absl::Status Set(absl::Span<uint8_t> bytes, StructureField field, uint64_t value) const;

  // Bits of a dword that `value` of the field has, for registers.
  absl::StatusOr<uint32_t> Dword(StructureField field, uint64_t value) const;

  // The value that has a name in the field; empty if none has.
  std::optional<uint64_t> NamedValue(StructureField field, absl::string_view name) const;

 private:
  Structure(const tables::Tables& tables, const tables::Container& container)
      : tables_(tables), container_(&container) {}

  // Where the upper bits of the value are: `*scale` is the value of their lowest bit. Null: there
  // are none.
  const tables::Leaf* UpperBits(const tables::Leaf& leaf, uint64_t* scale) const;

  tables::Tables tables_;
  const tables::Container* container_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_STRUCTURE_H_
