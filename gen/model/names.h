// How names of the XML are spelled in C and C++. docs/generated-code.md has the rules.
#ifndef PACKSMITH_GEN_MODEL_NAMES_H_
#define PACKSMITH_GEN_MODEL_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace packsmith::model {

// C, as in genxml: characters that are not allowed in identifiers are dropped; a name that then
// does not begin with a letter gets a leading underscore.
std::string CSafe(absl::string_view name);
// A field as a member in C: the same, with a trailing underscore where that is a keyword.
std::string CMember(absl::string_view name);
// Whether `name` is an identifier in C (and C++ that includes it): only letters, digits and
// underscores, not a keyword, not a macro of a standard header.
bool IsCIdentifier(absl::string_view name);
// The type of a container or enumeration: GFX9_SAMPLER_STATE, GFX9_3DSTATE_VS.
std::string CType(absl::string_view prefix, absl::string_view name);
// An enumerator of a top-level enumeration.
std::string CEnumerator(absl::string_view prefix, absl::string_view value);
// A value listed inside a field.
std::string CFieldValue(absl::string_view prefix, absl::string_view value);

// The C names of one generation. For generations of dwords they are those above; for generations of
// bytes (`words`) they are words with underscores, as users of such descriptions know them: struct
// AGX_VDM_STATE, enum agx_index_size, AGX_INDEX_SIZE_U16, member restart_enable.
class CNames {
 public:
  CNames(absl::string_view prefix, bool words) : prefix_(prefix), words_(words) {}
  std::string Type(absl::string_view name) const;
  std::string EnumType(absl::string_view name) const;
  std::string Member(absl::string_view name) const;
  // `prefix` is the enumeration's own in the XML; may be empty.
  std::string Enumerator(absl::string_view enumeration, absl::string_view prefix,
                         absl::string_view value) const;
  std::string FieldValue(absl::string_view prefix, absl::string_view value) const;

 private:
  absl::string_view prefix_;
  bool words_;
};

// C++ type names and enumerators keep their case, other characters become underscores:
// _3DSTATE_VS, Shader_Channel_Select.
std::string CppName(absl::string_view name);
// C++ members in snake_case: buffer_starting_address. Keywords, and the names that every generated
// type has, get a trailing underscore.
std::string CppMember(absl::string_view name);
// A value of a field as a constant of its packet: VERTEX_ACCESS_TYPE_RANDOM.
std::string CppConstant(absl::string_view field, absl::string_view value);
// Whether a generation's namespace may be called `name`, which must be an identifier: it is neither
// a keyword nor a name that the support header declares.
bool IsCppNamespace(absl::string_view name);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_NAMES_H_
