// Samplers, surface states and vertex buffers that iris (and, on Gfx8, hasvk) submitted: each is
// what these functions make of the same inputs.
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/capture.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

std::string TextOfDwords(const Dwords& dwords) {
  std::string text;
  for (const uint32_t dword : dwords) absl::StrAppendFormat(&text, " %08x", dword);
  return text;
}
// Drivers write addresses of 48 bits with copies of their highest bit above them.
address CanonicalPlace(uint64_t gpu) {
  return {static_cast<uint64_t>(static_cast<int64_t>(gpu << 16) >> 16)};
}

template <class Gen>
class StateCapturesTest : public testing::Test {
 protected:
  using State = SurfaceState<Gen>;
  using Types = SurfaceTypes<typename Gen::Packets>;

  void SetUp() override {
    if (CaptureOf(Gen::kName).empty()) GTEST_SKIP() << "there is no capture of " << Gen::kName;
  }
  static bool IsBroadwell() { return Gen::kVersion == 80; }
  static std::vector<Dwords> SurfacesOf(decltype(State::surface_type) type) {
    std::vector<Dwords> found;
    for (const Dwords& dwords : CaptureOf(Gen::kName).at("RENDER_SURFACE_STATE")) {
      if (State::unpack(dwords.data()).surface_type == type) found.push_back(dwords);
    }
    return found;
  }
  template <class Surface>
  static Dwords Written(const Surface& surface) {
    Dwords dwords(State::length);
    const absl::Status status = WriteSurface<Gen>(surface, dwords.data());
    return status.ok() ? dwords : Dwords();
  }
  // What the driver knew of an image. How its texels are aligned and compressed are codes, which
  // the caller tries.
  static ImageSurface ImageOf(const State& theirs) {
    ImageSurface image{.memory = CanonicalPlace(theirs.surface_base_address.gpu),
                       .format = theirs.surface_format,
                       .mocs = theirs.mocs,
                       .width = theirs.width + 1,
                       .height = theirs.height + 1,
                       .layers = theirs.depth + 1,
                       .pitch = theirs.surface_pitch + 1,
                       .qpitch = theirs.surface_qpitch * 4};
    if constexpr (requires { State::TILE_MODE_TILE4; }) {
      if (theirs.tile_mode == State::TILE_MODE_TILE4) image.tiling = SurfaceTiling::k4;
    } else {
      if (theirs.tile_mode == State::TILE_MODE_YMAJOR) image.tiling = SurfaceTiling::kY;
      if constexpr (requires { State::TILE_MODE_WMAJOR; }) {
        if (theirs.tile_mode == State::TILE_MODE_WMAJOR) image.tiling = SurfaceTiling::kW;
      }
    }
    // hasvk does not say that images have no tail of levels, where the hardware has none.
    if constexpr (requires { theirs.mip_tail_start_lod; }) {
      image.mip_tail_level = theirs.mip_tail_start_lod;
    }
    AuxiliarySurface& auxiliary = image.auxiliary;
    auxiliary.memory = CanonicalPlace(theirs.auxiliary_surface_base_address.gpu);
    auxiliary.pitch_tiles = theirs.auxiliary_surface_pitch + 1;
    auxiliary.qpitch = theirs.auxiliary_surface_qpitch * 4;
    if constexpr (requires { theirs.compression_format; }) {
      auxiliary.compression_format = static_cast<uint32_t>(theirs.compression_format);
    }
    bool in_memory = false;
    if constexpr (requires { theirs.clear_value_address; }) {
      in_memory = theirs.clear_value_address_enable;
      if (in_memory) auxiliary.clear_color_at = theirs.clear_value_address;
    }
    if constexpr (
        requires { theirs.red_clear_color; } && !requires { typename Gen::Packets::Clear_Color; }) {
      if (!in_memory) {
        auxiliary.clear_color = {std::bit_cast<uint32_t>(theirs.red_clear_color),
                                 std::bit_cast<uint32_t>(theirs.green_clear_color),
                                 std::bit_cast<uint32_t>(theirs.blue_clear_color),
                                 std::bit_cast<uint32_t>(theirs.alpha_clear_color)};
      }
    }
    return image;
  }
  // Without reserved bits: on Gfx12.5 Mesa 22 sets one that Gfx12 has, Enable Unorm Path In Color
  // Pipe.
  static Dwords Described(const Dwords& dwords) {
    Dwords described(State::length);
    EXPECT_FALSE(State::unpack(dwords.data()).pack(described.data()));
    return described;
  }
  // As a texture, a target or a storage image, of each alignment and mode.
  static bool IsMade(const State& theirs, const Dwords& dwords) {
    ImageSurface image = ImageOf(theirs);
    const Dwords described = Described(dwords);
    for (const SurfacePurpose purpose :
         {SurfacePurpose::kTexture, SurfacePurpose::kRenderTarget, SurfacePurpose::kStorage}) {
      image.purpose = purpose;
      const bool is_target = purpose == SurfacePurpose::kRenderTarget;
      image.first_level = is_target ? theirs.mip_count_lod : theirs.surface_min_lod;
      image.levels = is_target ? 1 : theirs.mip_count_lod + 1;
      for (const AuxiliaryMode mode : {AuxiliaryMode::kNone, AuxiliaryMode::kMcs,
                                       AuxiliaryMode::kCcsD, AuxiliaryMode::kCcsE}) {
        image.auxiliary.mode = mode;
        for (const uint32_t horizontal : {4, 8, 16, 32, 64, 128}) {
          image.horizontal_alignment = horizontal;
          for (const uint32_t vertical : {4, 8, 16}) {
            image.vertical_alignment = vertical;
            const Dwords ours = Written(image);
            if (!ours.empty() && Described(ours) == described) return true;
          }
        }
      }
    }
    return false;
  }
};
TYPED_TEST_SUITE(StateCapturesTest, Generations);

TYPED_TEST(StateCapturesTest, ImagesAreTheDrivers) {
  using State = SurfaceState<TypeParam>;
  size_t compared = 0;
  for (const Dwords& dwords : this->SurfacesOf(TestFixture::Types::k2D)) {
    EXPECT_TRUE(this->IsMade(State::unpack(dwords.data()), dwords)) << TextOfDwords(dwords);
    ++compared;
  }
  EXPECT_GE(compared, this->IsBroadwell() ? 5u : 17u);
}

TYPED_TEST(StateCapturesTest, BuffersAreTheDrivers) {
  using State = SurfaceState<TypeParam>;
  size_t compared = 0;
  for (const Dwords& dwords : this->SurfacesOf(TestFixture::Types::kBuffer)) {
    const State theirs = State::unpack(dwords.data());
    const uint64_t last = theirs.width | theirs.height << kEntryBitsInWidth |
                          uint64_t{theirs.depth} << (kEntryBitsInWidth + kEntryBitsInHeight);
    const BufferSurface buffer{.memory = CanonicalPlace(theirs.surface_base_address.gpu),
                               .size = (last + 1) * (theirs.surface_pitch + 1),
                               .stride = theirs.surface_pitch + 1,
                               .format = theirs.surface_format,
                               .mocs = theirs.mocs};
    EXPECT_EQ(this->Written(buffer), dwords) << TextOfDwords(dwords);
    ++compared;
  }
  // OpenGL's program has none.
  EXPECT_EQ(compared, this->IsBroadwell() ? 5u : 0u);
}

TYPED_TEST(StateCapturesTest, NullSurfacesAreTheDrivers) {
  using State = SurfaceState<TypeParam>;
  size_t compared = 0;
  for (const Dwords& dwords : this->SurfacesOf(TestFixture::Types::kNull)) {
    const State theirs = State::unpack(dwords.data());
    Dwords ours = this->Written(
        NullSurface{.width = theirs.width + 1, .height = theirs.height + 1, .mocs = theirs.mocs});
    ASSERT_FALSE(ours.empty());
    // That of a framebuffer without colours is an array of one layer, in another format.
    State changed = State::unpack(ours.data());
    if (theirs.surface_array) {
      changed.surface_array = true;
      changed.surface_format = theirs.surface_format;
      ASSERT_FALSE(changed.pack(ours.data()));
    }
    EXPECT_EQ(ours, dwords) << TextOfDwords(dwords);
    ++compared;
  }
  EXPECT_EQ(compared > 0, !this->IsBroadwell());
}

TYPED_TEST(StateCapturesTest, SamplersAreTheDrivers) {
  using State = SamplerState<TypeParam>;
  const auto written = [](const Sampler& sampler, uint32_t border) {
    State state;
    const absl::Status status = DescribeSampler<TypeParam>(sampler, border, state);
    EXPECT_TRUE(status.ok()) << status;
    return state;
  };
  const auto& captured = CaptureOf(TypeParam::kName).at("SAMPLER_STATE");
  const auto expect = [&](const State& state) {
    EXPECT_EQ(captured.count(DwordsOf(state)), 1u) << TextOfDwords(DwordsOf(state));
  };
  if (this->IsBroadwell()) {
    // Vulkan's program: VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT, mipLodBias 0.5, maxLod 8. hasvk
    // gives a sampler a colour even if it uses none.
    expect(written({.mip_filter = MipFilter::kLinear,
                    .wrap = {Wrap::kMirror, Wrap::kMirror, Wrap::kMirror},
                    .lod_bias = 0.5f,
                    .max_lod = 8},
                   0x40100));
  } else {
    // GL_LINEAR_MIPMAP_LINEAR, GL_TEXTURE_WRAP_S: GL_CLAMP_TO_EDGE.
    expect(written({.min_filter = Filter::kLinear,
                    .mag_filter = Filter::kLinear,
                    .mip_filter = MipFilter::kLinear,
                    .wrap = {Wrap::kClampToEdge, Wrap::kRepeat, Wrap::kRepeat}},
                   0));
  }
  // Mesa's copies: texels by their number. There is one level, so that nothing is clamped.
  State copies = written({.min_filter = Filter::kLinear,
                          .mag_filter = Filter::kLinear,
                          .wrap = {Wrap::kClampToEdge, Wrap::kClampToEdge, Wrap::kClampToEdge},
                          .max_lod = 0,
                          .unnormalized = true,
                          .seamless = false},
                         0);
  copies.lod_preclamp_mode = 0;
  if (TypeParam::kVersion != 110) expect(copies);  // its capture has no copy that filters
}

TYPED_TEST(StateCapturesTest, VertexBuffersAreTheDrivers) {
  using Packet = typename TypeParam::Packets::_3DSTATE_VERTEX_BUFFERS;
  using Buffer = typename Packet::ps_item;
  size_t compared = 0;
  for (const Dwords& dwords : CaptureOf(TypeParam::kName).at("3DSTATE_VERTEX_BUFFERS")) {
    std::vector<VertexBuffer> buffers;
    uint32_t mocs = 0;
    for (size_t at = 1; at < dwords.size(); at += Buffer::length) {
      const Buffer theirs = Buffer::unpack(&dwords[at]);
      buffers.push_back({.memory = CanonicalPlace(theirs.buffer_starting_address.gpu),
                         .size = theirs.buffer_size,
                         .stride = theirs.buffer_pitch});
      mocs = theirs.mocs;
    }
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    DrawState<TypeParam> state(address(0x1000, 1));
    state.InheritAll();
    const absl::Status status = SetVertexBuffers(buffers, mocs, state);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(state.Flush(batch)) << state.status();
    ASSERT_TRUE(batch.End().ok());
    const auto decoded =
        World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
    ASSERT_FALSE(decoded.packets.empty());
    EXPECT_EQ(decoded.packets[0].dwords, dwords) << TextOfDwords(dwords);
    ++compared;
  }
  EXPECT_GE(compared, 3u);
}

}  // namespace
}  // namespace packsmith::intel
