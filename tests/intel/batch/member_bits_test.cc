// The positions of a packet's members, by their names.
#include <type_traits>

#include "gtest/gtest.h"
#include "packsmith/kinds.h"
#include "runtime/intel/batch/batch.h"

namespace packsmith::intel {
namespace {

constexpr bool operator==(const MemberBits& a, const MemberBits& b) {
  return a.bit == b.bit && a.width == b.width;
}

TEST(MemberBits, AreFoundOfEveryKindOfMember) {
  using namespace packsmith::kinds;
  static_assert(MemberBitsIn<INTEGERS>("wide") == MemberBits{96, 64});
  static_assert(MemberBitsIn<INTEGERS>("flag") == MemberBits{12, 1});
  static_assert(MemberBitsIn<INTEGERS>("signed_") == MemberBits{73, 12});
  static_assert(MemberBitsIn<INTEGERS>("channel") == MemberBits{200, 3});
  static_assert(MemberBitsIn<REALS>("depth") == MemberBits{32, 32});
  static_assert(MemberBitsIn<REALS>("scale") == MemberBits{64, 16});
  static_assert(MemberBitsIn<REALS>("lod") == MemberBits{80, 12});
  static_assert(MemberBitsIn<REALS>("bias") == MemberBits{96, 13});
  static_assert(MemberBitsIn<POINTERS>("base") == MemberBits{44, 36});
  static_assert(MemberBitsIn<POINTERS>("kernel") == MemberBits{198, 26});
  // With max=, nonzero=, clamp= and an encoding in the description.
  static_assert(MemberBitsIn<ENCODED>("threads") == MemberBits{64, 8});
  static_assert(MemberBitsIn<ENCODED>("width") == MemberBits{32, 14});
  static_assert(MemberBitsIn<RANGES>("positive") == MemberBits{20, 4});
  static_assert(MemberBitsIn<RANGES>("most") == MemberBits{0, 10});
  // Of an array the first item's.
  static_assert(MemberBitsIn<GROUPS>("pair[0].low") == MemberBits{32, 8});
  EXPECT_TRUE(MemberBitsIn<ENCODED>("level") == (MemberBits{96, 8}));
}

template <class P>
concept HasPitch = requires {
  typename std::bool_constant<(MemberBitsIn<P>("pitch").width != 0)>;
};

TEST(MemberBits, OfAMemberThatThePacketLacksDoNotCompile) {
  EXPECT_TRUE(HasPitch<kinds::VERTEX_ITEM>);
  EXPECT_FALSE(HasPitch<kinds::INTEGERS>);
}

}  // namespace
}  // namespace packsmith::intel
