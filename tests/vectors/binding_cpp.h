// The C++ types of a generation as data: their members, and pointers to their functions.
#ifndef PACKSMITH_TESTS_VECTORS_BINDING_CPP_H_
#define PACKSMITH_TESTS_VECTORS_BINDING_CPP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "packsmith/names.h"
#include "packsmith/pack.h"
#include "tests/vectors/binding.h"

namespace packsmith::vectors {

using Member = binding_member;

// Objects of one type, one after another.
struct Objects {
  const void* first = nullptr;
  unsigned count = 0;
};

using SeeAddress =
    std::function<void(const address&, unsigned dword, unsigned bit, unsigned width, access)>;

// What follows a packet any number of times: the items of a tail, or a part that repeats.
struct List {
  const char* part;  // the part's name, or "": the tail
  size_t size;       // of an object
  const Member* members;
  unsigned member_count;
  void (*construct)(void* at);
  // Copies the objects that follow a packet of which `words` may be read; returns how many there
  // are. `to` has room for `room`.
  unsigned (*read)(const void* from, unsigned words, void* to, unsigned room);
};

struct Type {
  const char* name;
  unsigned word;  // bytes: 4, or 1 for records of bytes
  unsigned size;  // bytes of the fixed part
  size_t object_size;
  std::vector<Member> members;
  std::vector<List> lists;

  void (*construct)(void* at);
  error (*pack)(const void* object, const Objects* lists, void* to, checks how);
  error (*check)(const void* object);
  void (*unpack)(const void* from, unsigned words, void* to);
  error (*verify)(const void* from);
  int (*matches)(uint32_t first);                          // -1: not a packet
  unsigned (*needed)(const void* object, unsigned items);  // bytes; items: of the tail
  void (*addresses)(const void* object, const Objects* lists, const SeeAddress& see);
  std::string (*text)(const void* object);
};

// Defined by the generated file.
const std::vector<Type>& BoundTypes();
// Names of types whose code is the same as in another generation, whose test has them.
const std::vector<std::string>& TypesTestedElsewhere();

// -- What generated files use --------------------------------------------------------------------

template <class T>
constexpr int KindOf() {
  if constexpr (std::is_same_v<T, bool>)
    return BINDING_BOOL;
  else if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, address>)
    return BINDING_U64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return BINDING_I32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return BINDING_I64;
  else if constexpr (std::is_same_v<T, float>)
    return BINDING_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return BINDING_DOUBLE;
  else
    static_assert(sizeof(T) == 4 && (std::is_enum_v<T> || std::is_same_v<T, uint32_t>));
  return BINDING_U32;
}

#define BINDING_MEMBER(part, name, T, path, bit, width)                                        \
  {                                                                                            \
    part, name, #path, bit, width, offsetof(T, path),                                          \
        ::packsmith::vectors::KindOf<std::remove_cvref_t<decltype(std::declval<T&>().path)>>() \
  }

template <class T>
using WordOf = typename bits::unit<T>::word;

// The functions of T, which Lists follow.
template <class T, class... Lists>
struct Functions {
  static const T& At(const void* object) { return *static_cast<const T*>(object); }
  static const WordOf<T>* Words(const void* from) { return static_cast<const WordOf<T>*>(from); }

  static void Construct(void* at) { new (at) T{}; }

  template <checks How, size_t... I>
  static error PackAs(const void* object, const Objects* lists, void* to,
                      std::index_sequence<I...>) {
    return At(object).template pack<How>(
        static_cast<WordOf<T>*>(to),
        span<const Lists>(static_cast<const Lists*>(lists[I].first), lists[I].count)...);
  }
  static error Pack(const void* object, const Objects* lists, void* to, checks how) {
    constexpr auto all = std::index_sequence_for<Lists...>();
    return how == checks::on ? PackAs<checks::on>(object, lists, to, all)
                             : PackAs<checks::off>(object, lists, to, all);
  }
  static error Check(const void* object) { return At(object).check(); }
  static void Unpack(const void* from, unsigned words, void* to) {
    if constexpr (requires { T::unpack(Words(from), words); }) {
      new (to) T(T::unpack(Words(from), words));
    } else {
      new (to) T(T::unpack(Words(from)));
    }
  }
  static error Verify(const void* from) { return T::verify(Words(from)); }
  static int Matches(uint32_t first) {
    if constexpr (requires { T::matches(first); }) return T::matches(first);
    return -1;
  }
  static unsigned Needed(const void* object, unsigned items) {
    constexpr unsigned word = sizeof(WordOf<T>);
    if constexpr (requires { At(object).dwords_needed(); })
      return word * At(object).dwords_needed();
    else if constexpr (requires { At(object).bytes_needed(); })
      return word * At(object).bytes_needed();
    else if constexpr (requires { T::dwords_needed(items); })
      return word * T::dwords_needed(items);
    else if constexpr (requires { T::bytes_needed(items); })
      return word * T::bytes_needed(items);
    else
      return word * bits::unit<T>::size;
  }
  static void Addresses(const void* object, [[maybe_unused]] const Objects* lists,
                        const SeeAddress& see) {
    if constexpr (requires { typename T::ps_item; }) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        At(object).for_each_address(
            see, span<const Lists>(static_cast<const Lists*>(lists[I].first), lists[I].count)...);
      }
      (std::index_sequence_for<Lists...>());
    } else {
      At(object).for_each_address(see);
    }
  }
  static std::string Text(const void* object) { return to_text(At(object)); }
};

// Copies a view's items.
template <class V, class T>
unsigned CopyItems(const V& view, T* to, unsigned room) {
  unsigned count = 0;
  for (const T item : view) {
    if (count < room) new (to + count) T(item);
    ++count;
  }
  return count;
}

template <class T, class... Lists>
Type TypeOf(const char* name, std::vector<Member> members, std::vector<List> lists) {
  static_assert(std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T>);
  using F = Functions<T, Lists...>;
  return {name,
          sizeof(WordOf<T>),
          static_cast<unsigned>(sizeof(WordOf<T>) * bits::unit<T>::size),
          sizeof(T),
          std::move(members),
          std::move(lists),
          &F::Construct,
          &F::Pack,
          &F::Check,
          &F::Unpack,
          &F::Verify,
          &F::Matches,
          &F::Needed,
          &F::Addresses,
          &F::Text};
}

}  // namespace packsmith::vectors

#endif  // PACKSMITH_TESTS_VECTORS_BINDING_CPP_H_
