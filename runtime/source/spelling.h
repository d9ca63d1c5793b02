// How generated headers spell what decode tables have by the manual's names: types, members in the
// order of their declarations, values. gen/render/spelling.py makes it of the description.
#ifndef PACKSMITH_RUNTIME_SOURCE_SPELLING_H_
#define PACKSMITH_RUNTIME_SOURCE_SPELLING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::source {

enum class Language { kCpp, kC };

struct NamedValue {
  uint64_t value;
  std::string name;
};

enum class MemberType : char {
  kNone = 0,  // it has members itself
  kUint = 'u',
  kInt = 'i',
  kBool = 'b',
  kFloat = 'f',
  kHalf = 'h',
  kUfixed = 'q',
  kSfixed = 's',
  kAddress = 'a',
  kOffset = 'o',
  kEnum = 'e',
};

struct Member {
  struct Dimension {
    uint32_t count;
    uint32_t stride;  // bits
  };

  std::string name;
  uint32_t bit = 0;  // from the start of what it is declared in; of an array that of the first
  uint32_t width = 0;
  std::vector<Dimension> dimensions;
  MemberType type = MemberType::kNone;
  std::string structure;         // whose members it has; the manual's name
  std::vector<Member> members;   // else its own
  std::string enumeration;       // kEnum: the manual's name
  std::string enumeration_type;  // kEnum, in C
  uint32_t shift = 0, fraction = 0;
  uint64_t minus = 0, groups = 0, align = 0, multiple = 0;
  bool log2 = false, nonzero = false;
  bool clamped = false;              // what is more than `most` becomes that
  std::string initial, least, most;  // numbers; empty: 0, none, none
  std::vector<NamedValue> values;    // in C++ members of the type
};

// What follows the fixed part in C++: an argument of pack.
struct Tail {
  uint32_t bit, width;    // of the first item
  uint64_t least, most;   // items; most 0: any number
  std::string structure;  // whose items they are; the manual's name
  std::string type;       // else a type of their own, with these members
  std::vector<Member> members;
};

struct Part {
  std::string name;
  std::string structure;
  bool repeated;  // an argument of pack in C++, else a member
};

struct Type {
  std::string cpp, c;
  bool in_bytes = false;            // else in dwords
  bool has_header = false;          // C: initialisers of what is not zero
  std::optional<uint64_t> c_bytes;  // those that C packs; else what the length field counts
  std::vector<Member> members, c_members;
  std::optional<Tail> tail;
  std::vector<Part> parts;  // in the order of the tables

  const std::vector<Member>& Members(Language language) const {
    return language == Language::kCpp ? members : c_members;
  }
};

struct Enumeration {
  std::string cpp;
  std::vector<NamedValue> cpp_values, c_values;

  const std::vector<NamedValue>& Values(Language language) const {
    return language == Language::kCpp ? cpp_values : c_values;
  }
};

// The name of a value; empty if it has none.
absl::string_view NameOf(const std::vector<NamedValue>& values, uint64_t value);

class Spelling {
 public:
  // What spelling.py writes. DataLoss if it is not that.
  static absl::StatusOr<Spelling> Open(absl::Span<const uint8_t> bytes);

  const std::string& generation() const { return generation_; }
  const std::string& name_space() const { return namespace_; }
  uint32_t address_bits() const { return address_bits_; }
  // By the manual's name; null if there is none.
  const Type* FindType(absl::string_view name) const;
  const Enumeration* FindEnumeration(absl::string_view name) const;
  const Enumeration* FindCodes(absl::string_view name) const;

 private:
  std::string generation_, namespace_;
  uint32_t address_bits_ = 48;
  absl::flat_hash_map<std::string, Type> types_;
  absl::flat_hash_map<std::string, Enumeration> enumerations_, codes_;
};

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_SPELLING_H_
