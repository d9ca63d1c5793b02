// Surface states of every generation, read back by the generated headers.
#include "runtime/intel/binding/surface_states.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Gen>
class SurfaceStatesTest : public testing::Test {
 protected:
  using State = SurfaceState<Gen>;
  using Types = SurfaceTypes<typename Gen::Packets>;
  using Select = typename Gen::Packets::Shader_Channel_Select;
  static constexpr bool kNew = Gen::kVersion >= 125;

  template <class Surface>
  State Written(const Surface& surface, StateUses* uses = nullptr) {
    uint32_t dwords[State::length + 1];
    std::memset(dwords, 0xcd, sizeof(dwords));
    const absl::Status status = WriteSurface<Gen>(surface, dwords, uses);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(dwords[State::length], 0xcdcdcdcd) << "more than a state was written";
    EXPECT_FALSE(State::verify(dwords)) << State::verify(dwords).field;
    return State::unpack(dwords);
  }

  // The error of packing it; nothing is written then.
  template <class Surface>
  std::string Wrong(const Surface& surface) {
    uint32_t dwords[State::length] = {};
    StateUses uses;
    const absl::Status status = WriteSurface<Gen>(surface, dwords, &uses);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(uses.all(), IsEmpty());
    for (const uint32_t dword : dwords) EXPECT_EQ(dword, 0u);
    return std::string(status.message());
  }

  static ImageSurface Image() {
    ImageSurface image;
    image.memory = {0x10000, 7};
    image.format = 0x0c7;
    image.mocs = 4;
    image.width = 640;
    image.height = 480;
    image.tiling = kNew ? SurfaceTiling::k4 : SurfaceTiling::kY;
    image.pitch = 2560;
    image.qpitch = 512;
    image.horizontal_alignment = 16;
    return image;
  }
};
TYPED_TEST_SUITE(SurfaceStatesTest, Generations);

TYPED_TEST(SurfaceStatesTest, ANullSurfaceHasASizeAndNoMemory) {
  StateUses uses;
  const auto state =
      this->Written(NullSurface{.width = 100, .height = 50, .layers = 4, .mocs = 2}, &uses);
  EXPECT_EQ(state.surface_type, TestFixture::Types::kNull);
  EXPECT_EQ(state.width, 99u);
  EXPECT_EQ(state.height, 49u);
  EXPECT_EQ(state.depth, 3u);
  EXPECT_EQ(state.render_target_view_extent, 3u);
  EXPECT_TRUE(state.surface_array);
  EXPECT_EQ(state.mocs, 2u);
  EXPECT_THAT(uses.all(), IsEmpty());
  EXPECT_THAT(this->Wrong(NullSurface{.width = 0, .mocs = 2}), HasSubstr("width is 0"));
  EXPECT_THAT(this->Wrong(NullSurface{}), HasSubstr("mocs"));
}

TYPED_TEST(SurfaceStatesTest, ABuffersEntriesAreCutInThree) {
  const auto entries = [](const auto& state) {
    return (uint64_t{state.depth} << 21 | uint64_t{state.height} << 7 | state.width) + 1;
  };
  BufferSurface buffer{.memory = {0x20000, 9}, .mocs = 4};
  for (const uint64_t size : {uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{129},
                              uint64_t{1} << 21, (uint64_t{1} << 30) - 1, uint64_t{1} << 30}) {
    buffer.size = size;
    const auto state = this->Written(buffer);
    EXPECT_EQ(entries(state), size);
    EXPECT_EQ(state.surface_pitch, 0u);
    EXPECT_EQ(state.surface_type, TestFixture::Types::kBuffer);
    EXPECT_EQ(state.surface_format, SurfaceFormat::RAW);
    EXPECT_EQ(state.surface_base_address.gpu, 0x20000u);
  }
  // Typed ones; what is left over does not count.
  buffer.stride = 16;
  buffer.format = 0;
  buffer.size = 16 * 1000 + 15;
  const auto typed = this->Written(buffer);
  EXPECT_EQ(entries(typed), 1000u);
  EXPECT_EQ(typed.surface_pitch, 15u);
  EXPECT_EQ(typed.surface_format, 0u);
}

TYPED_TEST(SurfaceStatesTest, BuffersHaveLimits) {
  BufferSurface buffer{.memory = {0x20000, 9}, .mocs = 4};
  EXPECT_THAT(this->Wrong(buffer), HasSubstr("0 entries"));
  buffer.size = uint64_t{1} << 32;
  if (TypeParam::kVersion >= 90) {
    this->Written(buffer);
    ++buffer.size;
  }
  EXPECT_THAT(this->Wrong(buffer), HasSubstr("there must be 1 to"));
  buffer = {.memory = {0x20000, 9}, .size = 4, .stride = 0, .mocs = 4};
  EXPECT_THAT(this->Wrong(buffer), HasSubstr("stride is 0"));
  buffer.stride = 4;
  buffer.size = uint64_t{1} << 29;
  this->Written(buffer);
  buffer.size += 4;
  EXPECT_THAT(this->Wrong(buffer), HasSubstr("134217728"));
  EXPECT_THAT(this->Wrong(BufferSurface{.memory = {uint64_t{1} << 50, 9}, .size = 4, .mocs = 4}),
              HasSubstr("surface_base_address"));
}

TYPED_TEST(SurfaceStatesTest, ScratchHasAPieceForEachThread) {
  using Gen = TypeParam;
  ScratchSurface scratch{
      .memory = {0x20000, 9}, .size = 2048 * 1000, .per_thread = 2048, .mocs = 4};
  if constexpr (Gen::kFacts.has_scratch_surfaces) {
    StateUses uses;
    const auto state = this->Written(scratch, &uses);
    EXPECT_EQ(state.surface_type, Gen::Packets::STATE_SURFACE_TYPE::SURFTYPE_SCRATCH);
    EXPECT_EQ(state.surface_format, SurfaceFormat::RAW);
    EXPECT_EQ(state.surface_pitch, 2047u);
    EXPECT_EQ(state.height << 7 | state.width, 999u);
    EXPECT_EQ(state.surface_base_address.gpu, 0x20000u);
    EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{9, gpu::kReads | gpu::kWrites}));
    scratch.per_thread = kMostSurfaceScratch;
    scratch.size = kMostSurfaceScratch;
    EXPECT_EQ(this->Written(scratch).surface_pitch, kMostSurfaceScratch - 1);
    for (const uint32_t wrong :
         {uint32_t{0}, uint32_t{32}, uint32_t{96}, 2 * kMostSurfaceScratch}) {
      scratch.per_thread = wrong;
      EXPECT_THAT(this->Wrong(scratch), HasSubstr("multiple of 64"));
    }
    scratch.per_thread = kMostSurfaceScratch;
    scratch.size = kMostSurfaceScratch - 1;
    EXPECT_THAT(this->Wrong(scratch), HasSubstr("entries"));
  } else {
    EXPECT_THAT(this->Wrong(scratch), HasSubstr("no scratch surfaces"));
  }
}

TYPED_TEST(SurfaceStatesTest, UsesSayWhoIsWritten) {
  StateUses uses;
  BufferSurface buffer{.memory = {0x20000, 9}, .size = 64, .mocs = 4};
  this->Written(buffer, &uses);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{9, gpu::kReads}));
  buffer.writable = true;
  this->Written(buffer, &uses);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{9, gpu::kReads | gpu::kWrites}));
  buffer.memory.use = access::write;  // the caller overrides it
  this->Written(buffer, &uses);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{9, gpu::kWrites}));

  ImageSurface image = TestFixture::Image();
  this->Written(image, &uses);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{7, gpu::kReads}));
  image.purpose = SurfacePurpose::kRenderTarget;
  this->Written(image, &uses);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{7, gpu::kReads | gpu::kWrites}));
}

TYPED_TEST(SurfaceStatesTest, ATextureIsAViewOfLevelsAndLayers) {
  ImageSurface image = TestFixture::Image();
  image.first_level = 2;
  image.levels = 3;
  image.first_layer = 5;
  image.layers = 7;
  image.least_level = 1.5f;
  image.swizzle = {Channel::kBlue, Channel::kZero, Channel::kOne, Channel::kAlpha};
  const auto state = this->Written(image);
  using Select = typename TestFixture::Select;
  EXPECT_EQ(state.surface_type, TestFixture::Types::k2D);
  EXPECT_EQ(state.surface_format, 0x0c7u);
  EXPECT_EQ(state.width, 639u);
  EXPECT_EQ(state.height, 479u);
  EXPECT_EQ(state.depth, 6u);
  EXPECT_EQ(state.minimum_array_element, 5u);
  EXPECT_TRUE(state.surface_array);
  EXPECT_EQ(state.surface_min_lod, 2u);
  EXPECT_EQ(state.mip_count_lod, 2u);
  EXPECT_EQ(state.resource_min_lod, 1.5f);
  EXPECT_EQ(state.surface_pitch, 2559u);
  EXPECT_EQ(state.surface_qpitch, 128u);
  EXPECT_EQ(state.surface_base_address.gpu, 0x10000u);
  EXPECT_EQ(state.shader_channel_select_red, Select::BLUE);
  EXPECT_EQ(state.shader_channel_select_green, Select::ZERO);
  EXPECT_EQ(state.shader_channel_select_blue, Select::ONE);
  EXPECT_EQ(state.shader_channel_select_alpha, Select::ALPHA);
}

TYPED_TEST(SurfaceStatesTest, ATargetHasOneLevel) {
  ImageSurface image = TestFixture::Image();
  image.purpose = SurfacePurpose::kRenderTarget;
  image.first_level = 2;
  image.layers = 6;
  image.shape = SurfaceShape::kCube;
  const auto state = this->Written(image);
  EXPECT_EQ(state.mip_count_lod, 2u);
  EXPECT_EQ(state.surface_min_lod, 0u);
  EXPECT_EQ(state.surface_type, TestFixture::Types::k2D);  // a target's faces are layers
  EXPECT_EQ(state.depth, 5u);
  EXPECT_EQ(state.render_target_view_extent, 5u);
}

TYPED_TEST(SurfaceStatesTest, CubesVolumesAndLines) {
  ImageSurface image = TestFixture::Image();
  image.shape = SurfaceShape::kCube;
  image.layers = 12;
  auto state = this->Written(image);
  EXPECT_EQ(state.surface_type, TestFixture::Types::kCube);
  EXPECT_EQ(state.depth, 1u);
  EXPECT_TRUE(state.cube_face_enable_negative_z);
  image.layers = 5;
  EXPECT_THAT(this->Wrong(image), HasSubstr("multiple of 6"));

  image.shape = SurfaceShape::k3D;
  image.depth = 33;
  image.layers = 3;
  image.first_layer = 8;
  image.purpose = SurfacePurpose::kStorage;
  state = this->Written(image);
  EXPECT_EQ(state.surface_type, TestFixture::Types::k3D);
  EXPECT_EQ(state.depth, 32u);
  EXPECT_EQ(state.minimum_array_element, 8u);
  EXPECT_EQ(state.render_target_view_extent, 2u);
  EXPECT_FALSE(state.surface_array);

  image = TestFixture::Image();
  image.shape = SurfaceShape::k1D;
  image.pitch = 0;
  state = this->Written(image);
  EXPECT_EQ(state.surface_type, TestFixture::Types::k1D);
  EXPECT_EQ(state.surface_pitch, 0u);
  // From Gfx12 on, one layer is not an array.
  EXPECT_EQ(state.surface_array, TypeParam::kVersion < 120);
}

TYPED_TEST(SurfaceStatesTest, TilingsAndAlignmentsAreThoseOfTheGeneration) {
  using enum SurfaceTiling;
  const auto has = [&](SurfaceTiling tiling) {
    ImageSurface image = TestFixture::Image();
    image.tiling = tiling;
    if (uint32_t dwords[16]; WriteSurface<TypeParam>(image, dwords).ok()) return true;
    EXPECT_THAT(this->Wrong(image), HasSubstr("has no surfaces of tiling"));
    return false;
  };
  constexpr unsigned v = TypeParam::kVersion;
  EXPECT_TRUE(has(kLinear));
  EXPECT_TRUE(has(kX));
  EXPECT_EQ(has(kY), v <= 120);
  EXPECT_EQ(has(kW), v <= 110);
  EXPECT_EQ(has(kYf), v >= 90 && v <= 120);
  EXPECT_EQ(has(kYs), v >= 90 && v <= 120);
  EXPECT_EQ(has(k4), v >= 125);
  EXPECT_EQ(has(k64), v >= 125);
  for (const uint32_t horizontal : {1, 2, 4, 8, 12, 16, 32, 64, 128, 256}) {
    ImageSurface image = TestFixture::Image();
    image.horizontal_alignment = horizontal;
    uint32_t dwords[16];
    const bool good =
        horizontal == 16 || (v >= 125 ? horizontal == 32 || horizontal == 64 || horizontal == 128
                                      : horizontal == 4 || horizontal == 8);
    EXPECT_EQ(WriteSurface<TypeParam>(image, dwords).ok(), good) << horizontal;
  }
}

TYPED_TEST(SurfaceStatesTest, AnAlignmentThatIsNotSetIsTheLeastThatTheGenerationHas) {
  using S = SurfaceState<TypeParam>;
  ImageSurface image = TestFixture::Image();
  image.horizontal_alignment = ImageSurface().horizontal_alignment;
  image.vertical_alignment = ImageSurface().vertical_alignment;
  const auto state = this->Written(image);
  EXPECT_EQ(state.surface_vertical_alignment, S::SURFACE_VERTICAL_ALIGNMENT_VALIGN_4);
  if constexpr (requires { S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4; }) {
    EXPECT_EQ(state.surface_horizontal_alignment, S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4);
  } else {
    EXPECT_EQ(state.surface_horizontal_alignment, S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_16);
  }
}

TYPED_TEST(SurfaceStatesTest, SamplesArePowersOfTwoAndHaveOneLevel) {
  ImageSurface image = TestFixture::Image();
  image.samples = 8;
  image.interleaved_samples = true;
  const auto state = this->Written(image);
  EXPECT_EQ(state.number_of_multisamples, 3u);
  EXPECT_EQ(state.multisampled_surface_storage_format, 1u);
  image.levels = 2;
  EXPECT_THAT(this->Wrong(image), HasSubstr("one level"));
  image.levels = 1;
  image.samples = 3;
  EXPECT_THAT(this->Wrong(image), HasSubstr("power of two"));
}

TYPED_TEST(SurfaceStatesTest, AuxiliaryModesAreThoseOfTheGeneration) {
  using enum AuxiliaryMode;
  const auto has = [&](AuxiliaryMode mode) {
    ImageSurface image = TestFixture::Image();
    image.auxiliary.mode = mode;
    image.auxiliary.memory = {0x40000, 8};
    image.auxiliary.pitch_tiles = 5;
    image.auxiliary.qpitch = 64;
    if (uint32_t dwords[16]; WriteSurface<TypeParam>(image, dwords).ok()) return true;
    EXPECT_THAT(this->Wrong(image), HasSubstr("auxiliary mode"));
    return false;
  };
  constexpr unsigned v = TypeParam::kVersion;
  EXPECT_TRUE(has(kNone));
  EXPECT_TRUE(has(kMcs));
  EXPECT_EQ(has(kMcsCcs), v >= 120 && v < 200);
  EXPECT_EQ(has(kCcsD), v < 120);
  EXPECT_EQ(has(kCcsE), v >= 90 && v < 200);
  EXPECT_EQ(has(kHiz), v < 120);
}

TYPED_TEST(SurfaceStatesTest, AnAuxiliarySurfaceHasAPlace) {
  ImageSurface image = TestFixture::Image();
  image.purpose = SurfacePurpose::kRenderTarget;
  image.samples = 4;
  image.auxiliary.mode = AuxiliaryMode::kMcs;
  EXPECT_THAT(this->Wrong(image), HasSubstr("auxiliary surface"));
  image.auxiliary.memory = {0x40000, 8};
  image.auxiliary.pitch_tiles = 5;
  image.auxiliary.qpitch = 64;
  StateUses uses;
  const auto state = this->Written(image, &uses);
  EXPECT_EQ(state.auxiliary_surface_base_address.gpu, 0x40000u);
  EXPECT_EQ(state.auxiliary_surface_pitch, 4u);
  EXPECT_EQ(state.auxiliary_surface_qpitch, 16u);
  EXPECT_THAT(uses.all(), ElementsAre(gpu::BufferUse{7, gpu::kReads | gpu::kWrites},
                                      gpu::BufferUse{8, gpu::kReads | gpu::kWrites}));
  // The words that hold the two, for kernels that move memory.
  uint32_t dwords[TestFixture::State::length];
  ASSERT_TRUE(WriteSurface<TypeParam>(image, dwords, &uses).ok());
  ASSERT_EQ(uses.words().size(), 2u);
  for (const StateUses::Word& word : uses.words()) EXPECT_EQ(word.value, dwords[word.dword]);
  dwords[uses.words()[0].dword] += 0x100000;
  dwords[uses.words()[1].dword] += 0x200000;
  const auto moved = TestFixture::State::unpack(dwords);
  EXPECT_EQ(moved.surface_base_address.gpu, state.surface_base_address.gpu + 0x100000);
  EXPECT_EQ(moved.auxiliary_surface_base_address.gpu, 0x240000u);
  EXPECT_EQ(moved.auxiliary_surface_pitch, state.auxiliary_surface_pitch);
  image.auxiliary.qpitch = 66;
  EXPECT_THAT(this->Wrong(image), HasSubstr("multiple of 4"));
}

TYPED_TEST(SurfaceStatesTest, ClearColorsAreWhereTheGenerationWantsThem) {
  ImageSurface image = TestFixture::Image();
  image.auxiliary.mode = AuxiliaryMode::kMcs;
  image.auxiliary.memory = {0x40000, 8};
  image.auxiliary.pitch_tiles = 1;
  image.auxiliary.clear_color = {1, 0, 0, 1};
  auto state = this->Written(image);
  if constexpr (requires { state.red_clear_color; }) {
    EXPECT_EQ(static_cast<uint32_t>(state.red_clear_color), 1u);
    EXPECT_EQ(static_cast<uint32_t>(state.green_clear_color), 0u);
    EXPECT_EQ(static_cast<uint32_t>(state.alpha_clear_color), 1u);
  }
  image.auxiliary.clear_color = {0x3f800000, 0, 0, 0};
  if (TypeParam::kVersion == 80) {
    EXPECT_THAT(this->Wrong(image), HasSubstr("clear colour"));
    return;
  }
  if constexpr (requires { state.clear_value_address; }) {
    image.auxiliary.clear_color_at = {0x50040, 11};
    StateUses uses;
    state = this->Written(image, &uses);
    EXPECT_TRUE(state.clear_value_address_enable);
    EXPECT_EQ(state.clear_value_address.gpu, 0x50040u);
    EXPECT_EQ(uses.all().back(), (gpu::BufferUse{11, gpu::kReads}));
  }
}

TYPED_TEST(SurfaceStatesTest, MistakesSayWhatIsWrong) {
  const auto with = [&](auto change) {
    ImageSurface image = TestFixture::Image();
    change(image);
    return this->Wrong(image);
  };
  EXPECT_THAT(with([](auto& i) { i.width = 0; }), HasSubstr("width is 0"));
  EXPECT_THAT(with([](auto& i) { i.width = 1 << 20; }), HasSubstr("width needs more bits"));
  EXPECT_THAT(with([](auto& i) { i.height = 0; }), HasSubstr("height is 0"));
  EXPECT_THAT(with([](auto& i) { i.levels = 0; }), HasSubstr("levels is 0"));
  EXPECT_THAT(with([](auto& i) { i.levels = 17; }), HasSubstr("mip_count_lod"));
  EXPECT_THAT(with([](auto& i) { i.layers = 0; }), HasSubstr("layers is 0"));
  EXPECT_THAT(with([](auto& i) { i.pitch = 0; }), HasSubstr("pitch is 0"));
  EXPECT_THAT(with([](auto& i) { i.qpitch = 6; }), HasSubstr("qpitch is 6"));
  EXPECT_THAT(with([](auto& i) { i.first_layer = 2048; }), HasSubstr("after layer 2047"));
  EXPECT_THAT(with([](auto& i) { i.layers = ~0u; }), HasSubstr("after layer 2047"));
  EXPECT_THAT(with([](auto& i) { i.vertical_alignment = 2; }), HasSubstr("align"));
  EXPECT_THAT(with([](auto& i) { i.mocs = 0; }), HasSubstr("mocs"));
}

// Those that the description calls UINT and SINT.
TEST(SurfaceFormatTest, IntegersAreThoseOfTheirNames) {
  const auto tables = FindGeneration("gfx9");
  ASSERT_TRUE(tables.ok()) << tables.status();
  const uint32_t surface = tables->FindContainer("RENDER_SURFACE_STATE");
  ASSERT_NE(surface, tables::kNone);
  unsigned integers = 0;
  for (const tables::Leaf& leaf : tables->leaves(tables->containers()[surface].leaves)) {
    if (tables->string(leaf.name) != "Surface Format") continue;
    for (uint32_t format = 0; format < 512; ++format) {
      const std::string name(tables->ValueName(leaf, format));
      const bool named =
          name.find("_UINT") != std::string::npos || name.find("_SINT") != std::string::npos;
      EXPECT_EQ(HasIntegers(format), named) << name;
      integers += named;
    }
  }
  EXPECT_GT(integers, 30u);
}

TYPED_TEST(SurfaceStatesTest, TheUnormPathIsForAllButIntegers) {
  if constexpr (requires(typename TestFixture::State state) {
                  state.enable_unorm_path_in_color_pipe;
                }) {
    ImageSurface image = this->Image();
    EXPECT_TRUE(this->Written(image).enable_unorm_path_in_color_pipe);
    image.format = SurfaceFormat::R8G8B8A8_UINT;
    EXPECT_FALSE(this->Written(image).enable_unorm_path_in_color_pipe);
  } else {
    EXPECT_TRUE(TypeParam::kVersion < 110 || TypeParam::kVersion >= 125);
  }
}

TEST(SurfaceFormatTest, CodesAreTheSameInEveryGeneration) {
#define PACKSMITH_NAME(Type, names) #names,
  for (const char* const generation : {PACKSMITH_EACH_GENERATION(PACKSMITH_NAME)}) {
#undef PACKSMITH_NAME
    const auto tables = FindGeneration(generation);
    ASSERT_TRUE(tables.ok()) << generation;
    const uint32_t surface = tables->FindContainer("RENDER_SURFACE_STATE");
    ASSERT_NE(surface, tables::kNone) << generation;
    unsigned found = 0;
    for (const tables::Leaf& leaf : tables->leaves(tables->containers()[surface].leaves)) {
      if (tables->string(leaf.name) != "Surface Format") continue;
      ++found;
      EXPECT_EQ(tables->ValueName(leaf, SurfaceFormat::R32_UINT), "R32_UINT") << generation;
      EXPECT_EQ(tables->ValueName(leaf, SurfaceFormat::R8G8B8A8_UNORM), "R8G8B8A8_UNORM")
          << generation;
      EXPECT_EQ(tables->ValueName(leaf, SurfaceFormat::RAW), "RAW") << generation;
    }
    EXPECT_EQ(found, 1u) << generation;
  }
}

}  // namespace
}  // namespace packsmith::intel
