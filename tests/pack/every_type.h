// What must hold of each generated type, whatever it describes.
#ifndef PACKSMITH_TESTS_PACK_EVERY_TYPE_H_
#define PACKSMITH_TESTS_PACK_EVERY_TYPE_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "packsmith/names.h"
#include "packsmith/pack.h"

namespace packsmith {

template <class T>
using WordOf = typename bits::unit<T>::word;

// Words for the largest form of T; parts get room as well.
template <class T>
constexpr unsigned kRoom = bits::most_of<T>() + 4096;

template <class T>
std::vector<WordOf<T>> RandomWords(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<WordOf<T>> words(kRoom<T>);
  for (auto& word : words) word = static_cast<WordOf<T>>(random());
  return words;
}

// Random bits, read and packed, lose nothing that is described: read and packed again they are the
// same. The result verifies, is recognised, and checked and unchecked pack agree.
template <class T>
void ExpectRoundTrip() {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(testing::Message() << names<T>::type << ", seed " << seed);
    const std::vector<WordOf<T>> random = RandomWords<T>(seed);
    T packet = T::unpack(random.data());
    std::vector<WordOf<T>> once(kRoom<T>), twice(kRoom<T>), checked(kRoom<T>);
    packet.template pack<checks::off>(once.data());
    EXPECT_FALSE(T::verify(once.data())) << to_text(T::verify(once.data()));
    if constexpr (requires { T::matches(0u); }) {
      const auto first = bits::some_bytes{reinterpret_cast<const uint8_t*>(once.data()), 4}.word(0);
      EXPECT_TRUE(T::matches(first));
    }
    packet = T::unpack(once.data());
    packet.template pack<checks::off>(twice.data());
    EXPECT_EQ(once, twice);
    const error said = packet.template pack<checks::on>(checked.data());
    if (!said) {
      EXPECT_EQ(checked, once);
    } else {
      EXPECT_NE(said.field, nullptr);
      EXPECT_TRUE(std::all_of(checked.begin(), checked.end(), [](auto w) { return w == 0; }))
          << "something was written in spite of: " << to_text(said);
    }
    const unsigned room = kRoom<T>;
    unsigned addresses = 0;
    packet.for_each_address(
        [&](const address&, unsigned dword, unsigned bit, unsigned width, access) {
          ++addresses;
          EXPECT_LT(dword, room);
          EXPECT_LT(bit, 32u);
          EXPECT_LE(width, 64u);
        });
    EXPECT_FALSE(to_text(packet).empty());
  }
}

template <class T>
void ExpectTailRoundTrip() {
  using Item = typename T::ps_item;
  constexpr unsigned kItems = 3;
  const std::vector<WordOf<T>> random = RandomWords<T>(1);
  std::vector<Item> items;
  for (unsigned i = 0; i < kItems; ++i) {
    items.push_back(Item::unpack(random.data() + i * view<Item>::stride));
  }
  std::vector<WordOf<T>> once(kRoom<T>), twice(kRoom<T>);
  const T head = T::unpack(random.data());
  head.template pack<checks::off>(once.data(), items);
  unsigned needed = 0;
  if constexpr (bits::byte_record<T>) {
    needed = T::bytes_needed(kItems);
  } else {
    needed = T::dwords_needed(kItems);
  }
  const auto seen = T::items(once.data(), needed);
  ASSERT_EQ(seen.size(), kItems) << names<T>::type;
  std::vector<Item> again;
  for (const Item item : seen) again.push_back(item);
  head.template pack<checks::off>(twice.data(), again);
  EXPECT_EQ(once, twice) << names<T>::type;
}

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_PACK_EVERY_TYPE_H_
