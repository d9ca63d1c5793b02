// Texts of errors, and of packets by the names in a generated <generation>_names.h. Apart from
// pack.h, because <string> costs more to compile than packing.
//
//   #include "packsmith/gfx9_names.h"
//   std::puts(packsmith::to_text(packet).c_str());
//   if (packsmith::error e = packet.pack(dw)) std::puts(packsmith::to_text(e).c_str());
#ifndef PACKSMITH_RUNTIME_PACK_NAMES_H_
#define PACKSMITH_RUNTIME_PACK_NAMES_H_

#include <cinttypes>
#include <cstdio>
#include <string>
#include <type_traits>

#include "packsmith/pack.h"

namespace packsmith {

// The end of a sentence: "<field> …".
constexpr const char* text(reason why) {
  switch (why) {
    case reason::none:
      return "fits";
    case reason::too_wide:
      return "needs more bits than its field has";
    case reason::out_of_range:
      return "is out of the range that its field allows";
    case reason::not_aligned:
      return "has low bits set that its field does not store";
    case reason::not_multiple:
      return "is not a multiple of what its field requires";
    case reason::zero:
      return "must not be zero";
    case reason::not_power_of_two:
      return "is not a power of two";
    case reason::not_a_number:
      return "is not a number";
    case reason::forced:
      return "is not the value that identifies the packet";
    case reason::reserved:
      return "has reserved bits with the wrong value";
    case reason::absent:
      return "has bits in words that this form of the packet does not have";
    case reason::count_differs:
      return "is not the number of items that were passed";
    case reason::too_long:
      return "are more items than the packet's length field can hold";
    case reason::too_short:
      return "does not fit in the destination";
  }
  return "is wrong for an unknown reason";
}

inline std::string to_text(const error& e) {
  std::string out = e.field == nullptr ? "the packet" : e.field;
  if (const std::size_t at = out.find("[]"); at != std::string::npos) {
    out.insert(at + 1, std::to_string(e.item));
  }
  return out + " " + text(e.why);
}

// A member as C++ writes it, and as the manual does. [] stands for an index.
struct field_name {
  const char* member;
  const char* manual;
};

// Specialised by generated code: `type`, and `fields` in bit order.
template <class T>
struct names;

namespace bits {

// Prints one line a member. The members come in the order of names<T>::fields within each loop, so
// a name is looked up by its member's spelling. One code for all types, of which there are many.
struct printer : visitor<printer> {
  std::string& out;
  span<const field_name> fields;
  unsigned at = 0;

  void index(unsigned i) { at = i; }

  void line(const char* member, const char* value, const char* comment = nullptr) {
    std::string label = member;
    for (const field_name& f : fields) {
      if (label == f.member) {
        label = f.manual;
        break;
      }
    }
    if (const std::size_t hole = label.find("[]"); hole != std::string::npos) {
      label.insert(hole + 1, std::to_string(at));
    }
    out.append("  ").append(label).append(": ").append(value);
    if (comment != nullptr) out.append(" (").append(comment).append(")");
    out.append("\n");
  }
  void number(uint64_t v, const char* member) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%" PRIu64, v);
    line(member, digits);
  }
  void integer(int64_t v, const char* member) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%" PRId64, v);
    line(member, digits);
  }
  void pointer(uint64_t v, const char* member) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "0x%" PRIx64, v);
    line(member, digits);
  }
  void decimal(double v, const char* member) {
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%.9g", v);
    line(member, digits);
  }

  // By the type of the value: what a kind does with its bits is not shown.
  template <class Kind, class V>
  void member(const Kind&, const V& v, unsigned, unsigned, const char* member) {
    if constexpr (requires { name(v); }) {
      char digits[24];
      std::snprintf(digits, sizeof(digits), "%" PRIu64, static_cast<uint64_t>(v));
      line(member, digits, name(v));
    } else if constexpr (std::is_same_v<V, bool>) {
      line(member, v ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<V>) {
      decimal(v, member);
    } else if constexpr (std::is_signed_v<V>) {
      integer(v, member);
    } else {
      number(static_cast<uint64_t>(v), member);
    }
  }
  template <class V>
  void member(const kinds::offset&, const V& v, unsigned, unsigned, const char* member) {
    pointer(v, member);
  }
  void member(const kinds::address&, const packsmith::address& v, unsigned, unsigned,
              const char* member) {
    pointer(v.gpu, member);
  }
};

}  // namespace bits

// The manual's name of the type, then a line for each member.
template <class T>
std::string to_text(const T& packet) {
  std::string out = std::string(names<T>::type) + "\n";
  bits::printer p{{}, out, names<T>::fields};
  T::ps_layout(packet, p);
  return out;
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_PACK_NAMES_H_
