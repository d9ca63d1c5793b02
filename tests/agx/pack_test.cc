// Properties of AGX's records in C++: encodings and their defaults, sizes, clamping.
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"

namespace packsmith::agx_g13 {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<uint8_t> Packed(const T& record) {
  std::vector<uint8_t> bytes(T::size);
  const error e = record.pack(bytes.data());
  EXPECT_FALSE(e) << e.field;
  return bytes;
}

TEST(Groups, CountUpwardsFromOneAndTheLastIsZero) {
  EXPECT_THAT(Packed(USC_Registers{.register_count = 0}), ElementsAre(0x8d, 1, 0, 0));
  EXPECT_THAT(Packed(USC_Registers{.register_count = 8}), ElementsAre(0x8d, 1, 0, 0));
  EXPECT_THAT(Packed(USC_Registers{.register_count = 9}), ElementsAre(0x8d, 2, 0, 0));
  EXPECT_THAT(Packed(USC_Registers{.register_count = 248}), ElementsAre(0x8d, 31, 0, 0));
  EXPECT_THAT(Packed(USC_Registers{.register_count = 256}), ElementsAre(0x8d, 0, 0, 0));
  uint8_t to[4];
  EXPECT_TRUE((USC_Registers{.register_count = 257}.pack(to)));
}

TEST(Groups, DefaultsStandForAllOfThem) {
  EXPECT_EQ(USC_Registers{}.register_count, 256u);
  EXPECT_EQ(USC_Uniform{}.size_halfs, 64u);
  EXPECT_EQ(USC_Shared{}.bytes_per_threadgroup, 65536u);
  EXPECT_EQ(Counts{}.uniform_register_count, 512u);
  EXPECT_EQ(Counts{}.texture_state_register_count, 256u);
  EXPECT_EQ(Counts{}.preshader_register_count, 256u);
  EXPECT_THAT(Packed(Counts{}), ElementsAre(0, 0, 0, 0));
}

TEST(LevelsOfDetail, AreClampedToWhatTheHardwareTakes) {
  for (const float most : {14.0f, 14.1f, 1000.0f, std::numeric_limits<float>::infinity()}) {
    const std::vector<uint8_t> bytes = Packed(Sampler{.minimum_lod = -1, .maximum_lod = most});
    EXPECT_EQ(Sampler::unpack(bytes.data()).minimum_lod, 0.0f);
    EXPECT_EQ(Sampler::unpack(bytes.data()).maximum_lod, 14.0f) << most;
  }
  const std::vector<uint8_t> bytes =
      Packed(Sampler{.minimum_lod = std::numeric_limits<float>::quiet_NaN(), .maximum_lod = 2.25f});
  EXPECT_EQ(Sampler::unpack(bytes.data()).minimum_lod, 0.0f);
  EXPECT_EQ(Sampler::unpack(bytes.data()).maximum_lod, 2.25f);
}

TEST(Addresses, LoseOnlyBitsThatAreZero) {
  EXPECT_EQ((Texture{.address = 0xfffffffff0}.check().field), nullptr);
  EXPECT_STREQ((Texture{.address = 0xfffffffff8}.check().field), "address");
  EXPECT_STREQ((USC_Uniform{.buffer = 2}.check().field), "buffer");
  EXPECT_STREQ((Fragment_Shader_Word_1{.pipeline = 32}.check().field), "pipeline");
  EXPECT_STREQ((Fragment_Shader_Word_1{.pipeline = uint64_t{1} << 32}.check().field), "pipeline");
}

TEST(Forced, BitsAreWrittenAndChecked) {
  std::vector<uint8_t> bytes = Packed(USC_Preshader{.code = 0x40});
  EXPECT_THAT(bytes, ElementsAre(0x38, 0, 0x80, 0xc0, 0x40, 0, 0, 0));
  EXPECT_FALSE(USC_Preshader::verify(bytes.data()));
  bytes[3] = 0;
  EXPECT_STREQ(USC_Preshader::verify(bytes.data()).field, "Unk");
  EXPECT_THAT(Packed(Fragment_control{}), ElementsAre(0, 2, 0, 0));
  EXPECT_THAT(Packed(CDM_Unk_G14X{}), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0x40));
}

TEST(Sizes, AreThoseOfTheHardware) {
  static_assert(USC_No_Preshader::size == 2 && USC_Shader::size == 6 && Depth_bias::size == 12);
  static_assert(Texture::size == 24 && VDM_Stream_Terminate::size == 32);
  static_assert(packed(USC_No_Preshader{}).size == 2);
}

TEST(Halves, AreStoredInTheLowerSixteenBits) {
  EXPECT_THAT(Packed(VDM_State_Tessellation_Scale{.scale = 1.0f}), ElementsAre(0, 0x3c, 0, 0));
}

}  // namespace
}  // namespace packsmith::agx_g13
