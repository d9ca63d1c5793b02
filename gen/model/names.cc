#include "gen/model/names.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

// Keywords of C11 and what its standard headers define in lower case.
constexpr absl::string_view kCKeywords[] = {
    "auto",    "bool",  "break",    "case",   "char",     "complex", "const",    "continue",
    "default", "do",    "double",   "else",   "enum",     "extern",  "false",    "float",
    "for",     "goto",  "if",       "inline", "int",      "long",    "register", "restrict",
    "return",  "short", "signed",   "sizeof", "static",   "struct",  "switch",   "true",
    "typedef", "union", "unsigned", "void",   "volatile", "while"};

bool IsCKeyword(absl::string_view name) {
  return std::find(std::begin(kCKeywords), std::end(kCKeywords), name) != std::end(kCKeywords);
}

// Types and namespaces that generated C++ uses, and macros of standard headers.
constexpr absl::string_view kTakenNames[] = {
    "EOF",     "NULL",     "bits",     "generation", "int16_t",   "int32_t",
    "int64_t", "int8_t",   "name",     "packed",     "packsmith", "size_t",
    "std",     "uint16_t", "uint32_t", "uint64_t",   "uint8_t",   "version_x10"};

bool IsAlnum(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }
bool IsAlpha(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

// Keywords of C++20, and the members that every generated type may have.
constexpr absl::string_view kReservedMembers[] = {"alignas",
                                                  "alignof",
                                                  "and",
                                                  "and_eq",
                                                  "asm",
                                                  "auto",
                                                  "bitand",
                                                  "bitor",
                                                  "bool",
                                                  "break",
                                                  "bytes_needed",
                                                  "case",
                                                  "catch",
                                                  "char",
                                                  "char16_t",
                                                  "char32_t",
                                                  "char8_t",
                                                  "check",
                                                  "class",
                                                  "co_await",
                                                  "co_return",
                                                  "co_yield",
                                                  "compl",
                                                  "concept",
                                                  "const",
                                                  "const_cast",
                                                  "consteval",
                                                  "constexpr",
                                                  "constinit",
                                                  "continue",
                                                  "decltype",
                                                  "default",
                                                  "delete",
                                                  "do",
                                                  "double",
                                                  "dwords_needed",
                                                  "dynamic_cast",
                                                  "else",
                                                  "engines",
                                                  "enum",
                                                  "explicit",
                                                  "export",
                                                  "extern",
                                                  "false",
                                                  "float",
                                                  "for",
                                                  "for_each_address",
                                                  "friend",
                                                  "goto",
                                                  "if",
                                                  "inline",
                                                  "int",
                                                  "item",
                                                  "items",
                                                  "layout",
                                                  "length",
                                                  "length_bias",
                                                  "long",
                                                  "matches",
                                                  "max_length",
                                                  "max_size",
                                                  "mutable",
                                                  "namespace",
                                                  "new",
                                                  "noexcept",
                                                  "not",
                                                  "not_eq",
                                                  "nullptr",
                                                  "operator",
                                                  "or",
                                                  "or_eq",
                                                  "pack",
                                                  "private",
                                                  "protected",
                                                  "public",
                                                  "register",
                                                  "register_offset",
                                                  "reinterpret_cast",
                                                  "requires",
                                                  "return",
                                                  "short",
                                                  "signed",
                                                  "size",
                                                  "sizeof",
                                                  "static",
                                                  "static_assert",
                                                  "static_cast",
                                                  "struct",
                                                  "switch",
                                                  "template",
                                                  "this",
                                                  "thread_local",
                                                  "throw",
                                                  "true",
                                                  "try",
                                                  "typedef",
                                                  "typeid",
                                                  "typename",
                                                  "union",
                                                  "unpack",
                                                  "unsigned",
                                                  "using",
                                                  "verify",
                                                  "virtual",
                                                  "void",
                                                  "volatile",
                                                  "wchar_t",
                                                  "while",
                                                  "xor",
                                                  "xor_eq"};

std::string Underscored(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (IsAlnum(c)) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

// Blanks, slashes and hyphens become underscores; other characters that identifiers cannot have are
// dropped.
std::string CWords(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (IsAlnum(c) || c == '_') {
      out.push_back(c);
    } else if (c == ' ' || c == '/' || c == '-') {
      out.push_back('_');
    }
  }
  if (out.empty() || !IsAlpha(out[0])) out.insert(out.begin(), '_');
  return out;
}

}  // namespace

std::string CSafe(absl::string_view name) {
  constexpr absl::string_view kDropped = " /[]()-:.,=>#&*'\"+\\";
  std::string out;
  for (const char c : name) {
    if (kDropped.find(c) == absl::string_view::npos) out.push_back(c);
  }
  if (out.empty() || !IsAlpha(out[0])) out.insert(out.begin(), '_');
  return out;
}

std::string CMember(absl::string_view name) {
  std::string out = CSafe(name);
  if (IsCKeyword(out)) out.push_back('_');
  return out;
}

bool IsCIdentifier(absl::string_view name) {
  if (name.empty() || (!IsAlpha(name[0]) && name[0] != '_')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsAlnum(c) || c == '_'; }) &&
         !IsCKeyword(name) && name != "NULL" && name != "EOF";
}

bool IsCppNamespace(absl::string_view name) {
  // What runtime/pack declares next to the namespaces of generations.
  constexpr absl::string_view kDeclared[] = {
      "access",     "address", "bits",   "check",    "checks",    "default_checks", "error",
      "field_name", "names",   "pack",   "packed",   "packsmith", "reason",         "span",
      "std",        "to_text", "unpack", "unpacked", "view"};
  return std::find(std::begin(kDeclared), std::end(kDeclared), name) == std::end(kDeclared) &&
         !std::binary_search(std::begin(kReservedMembers), std::end(kReservedMembers), name);
}

std::string CType(absl::string_view prefix, absl::string_view name) {
  const std::string safe = CSafe(name);
  return absl::StrCat(prefix, safe[0] == '_' ? "" : "_", safe);
}

std::string CEnumerator(absl::string_view prefix, absl::string_view value) {
  return absl::AsciiStrToUpper(prefix.empty() ? CSafe(value)
                                              : CSafe(absl::StrCat(prefix, "_", value)));
}

std::string CFieldValue(absl::string_view prefix, absl::string_view value) {
  std::string safe = CSafe(value);
  if (prefix.empty()) return safe;
  if (safe[0] == '_') safe.erase(safe.begin());
  return absl::StrCat(prefix, "_", safe);
}

std::string CNames::Type(absl::string_view name) const {
  return words_ ? absl::StrCat(prefix_, "_", absl::AsciiStrToUpper(CWords(name)))
                : CType(prefix_, name);
}

std::string CNames::EnumType(absl::string_view name) const {
  return words_ ? absl::AsciiStrToLower(Type(name)) : CType(prefix_, name);
}

std::string CNames::Member(absl::string_view name) const {
  if (!words_) return CMember(name);
  std::string out = absl::AsciiStrToLower(CWords(name));
  if (IsCKeyword(out)) out.push_back('_');
  return out;
}

std::string CNames::Enumerator(absl::string_view enumeration, absl::string_view prefix,
                               absl::string_view value) const {
  if (!words_) return CEnumerator(prefix, value);
  return Type(absl::StrCat(prefix.empty() ? enumeration : prefix, "_", value));
}

std::string CNames::FieldValue(absl::string_view prefix, absl::string_view value) const {
  if (!words_) return CFieldValue(prefix, value);
  return Type(prefix.empty() ? std::string(value) : absl::StrCat(prefix, "_", value));
}

std::string CppName(absl::string_view name) {
  std::string out = Underscored(name);
  if (out.empty() || !IsAlpha(out[0])) out.insert(out.begin(), '_');
  // Type names and enumerators that are keywords ("default"), or in use.
  if (std::find(std::begin(kTakenNames), std::end(kTakenNames), out) != std::end(kTakenNames) ||
      std::binary_search(std::begin(kReservedMembers), std::end(kReservedMembers),
                         absl::string_view(out))) {
    out.push_back('_');
  }
  return out;
}

std::string CppMember(absl::string_view name) {
  std::string out = absl::AsciiStrToLower(Underscored(name));
  if (out.empty() || !IsAlpha(out[0])) out.insert(out.begin(), '_');
  // Generated functions name their own variables ps_….
  if (std::binary_search(std::begin(kReservedMembers), std::end(kReservedMembers),
                         absl::string_view(out))) {
    out.push_back('_');
  }
  if (out.compare(0, 3, "ps_") == 0) out.insert(out.begin(), '_');
  return out;
}

std::string CppConstant(absl::string_view field, absl::string_view value) {
  std::string out =
      absl::AsciiStrToUpper(absl::StrCat(Underscored(field), "_", Underscored(value)));
  if (!IsAlpha(out[0])) out.insert(out.begin(), '_');
  return out;
}

}  // namespace packsmith::model
