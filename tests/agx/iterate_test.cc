#include "runtime/agx/iterate.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "packsmith/pack.h"
#include "runtime/agx/varying_records.h"

namespace packsmith::agx {
namespace {

using testing::HasSubstr;

namespace g13 = ::packsmith::agx_g13;
using G13 = g13::generation;

uint32_t Bits(float value) { return __builtin_bit_cast(uint32_t, value); }
uint32_t Pair(float low, float high) { return bits::half(low) | bits::half(high) << 16; }

// A triangle whose vertices have W of 1, 2 and 4, and values 8, 16 and 32 in all varyings.
class Iterator : public testing::Test {
 protected:
  static constexpr Output kOutputs[] = {
      {.location = 0, .components = 1},
      {.location = 1, .components = 1},
      {.location = 2, .components = 1},
      {.location = 3, .components = 2, .precision = Precision::k16}};
  static constexpr Input kInputs[] = {
      {.location = 0, .components = 1},
      {.location = 1, .components = 1, .interpolation = Interpolation::kFlat},
      {.location = 2, .components = 1, .interpolation = Interpolation::kLinear},
      {.location = 3, .components = 2, .precision = Precision::k16}};

  void SetUp() override { Relink(0); }
  void Relink(uint8_t provoking_vertex) {
    const auto layout = OutputLayout::Of({.varyings = kOutputs}, kFragment);
    const auto registers = CoefficientLayout::Of(kFragment);
    ASSERT_TRUE(layout.ok() && registers.ok());
    registers_ = *registers;
    const auto linkage =
        Link(*layout, kFragment, *registers, {.provoking_vertex = provoking_vertex});
    ASSERT_TRUE(linkage.ok()) << linkage.status();
    linkage_ = *linkage;
    for (size_t i = 0; i < 3; ++i) {
      const float w = static_cast<float>(1 << i), value = 8 * w;
      words_[i].assign(linkage_.shape().words(), 0);
      words_[i][2] = Bits(w * 0.25f * static_cast<float>(i));
      words_[i][3] = Bits(w);
      for (unsigned location = 0; location < 3; ++location) {
        words_[i][layout->Find(location, 0)->word] = Bits(value);
      }
      words_[i][layout->Find(3, 0)->word] = Pair(value, -value);
    }
    vertices_ = {words_[0], words_[1], words_[2]};
  }
  uint32_t At(unsigned location, const Fragment& fragment) const {
    return Of(*registers_.Find(location, 0), fragment);
  }
  uint32_t Of(unsigned reg, const Fragment& fragment) const {
    const auto value = Iterate(linkage_.shape(), linkage_.bindings(), reg, vertices_, fragment);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *value : 0;
  }

  const FragmentInputs kFragment = {.inputs = kInputs, .reads_z = true};
  CoefficientLayout registers_;
  Linkage linkage_;
  std::array<std::vector<uint32_t>, 3> words_;
  std::array<OutputWords, 3> vertices_;
};

TEST_F(Iterator, GivesTheVerticesTheirOwnValues) {
  for (size_t i = 0; i < 3; ++i) {
    Fragment corner{.shares = {0, 0, 0}};
    corner.shares[i] = 1;
    const float value = static_cast<float>(8 << i);
    EXPECT_EQ(At(0, corner), Bits(value));
    EXPECT_EQ(At(1, corner), Bits(8)) << "flat: of vertex 0, everywhere";
    EXPECT_EQ(At(2, corner), Bits(value));
    EXPECT_EQ(At(3, corner), Pair(value, -value));
    EXPECT_EQ(Of(CoefficientLayout::kW, corner), Bits(1 / static_cast<float>(1 << i)));
    EXPECT_EQ(Of(*registers_.z(), corner), Bits(0.25f * static_cast<float>(i)));
  }
}

// Half-way between the first two vertices on the screen; in the world that is nearer to the first.
TEST_F(Iterator, CorrectsPerspectiveButForLinearVaryings) {
  const Fragment middle{.shares = {0.5, 0.5, 0}};
  EXPECT_EQ(At(2, middle), Bits(12));
  // (8/1 + 16/2) / (1/1 + 1/2)
  EXPECT_EQ(At(0, middle), Bits(static_cast<float>(16 / 1.5)));
  EXPECT_EQ(At(3, middle), Pair(static_cast<float>(16 / 1.5), static_cast<float>(-16 / 1.5)));
  EXPECT_EQ(Of(CoefficientLayout::kW, middle), Bits(0.75f));
}

TEST_F(Iterator, TakesFlatVaryingsFromTheProvokingVertex) {
  const Fragment middle{.shares = {0.25, 0.25, 0.5}};
  for (uint8_t vertex = 0; vertex < 3; ++vertex) {
    Relink(vertex);
    EXPECT_EQ(At(1, middle), Bits(static_cast<float>(8 << vertex)));
  }
}

TEST_F(Iterator, TransformsZAsTheViewportDoes) {
  const Fragment fragment{.shares = {0, 1, 0}, .z_scale = 0.5, .z_translate = 0.25};
  EXPECT_EQ(Of(*registers_.z(), fragment), Bits(0.375f));
}

TEST_F(Iterator, WorksFromPackedRecordsAlone) {
  g13::PPP_Header header;
  SetVaryings<G13>(linkage_, header);
  uint8_t record[64], table[64];
  ASSERT_FALSE(header.pack(record));
  const auto size = PackBindings<G13>(linkage_, table);
  ASSERT_TRUE(size.ok()) << size.status();
  const OutputShape shape = ReadShape<G13>(g13::PPP_Header::unpack(record, header.bytes_needed()));
  EXPECT_EQ(shape, linkage_.shape());
  const auto bindings = ReadBindings<G13>({table, *size});
  ASSERT_TRUE(bindings.ok()) << bindings.status();
  EXPECT_EQ(absl::MakeConstSpan(*bindings), linkage_.bindings());
  const Fragment middle{.shares = {0.5, 0.5, 0}};
  EXPECT_EQ(*Iterate(shape, *bindings, *registers_.Find(2, 0), vertices_, middle), Bits(12));
}

TEST_F(Iterator, SaysWhatIsWrong) {
  const auto message = [&](unsigned reg, absl::Span<const Binding> bindings,
                           absl::Span<const OutputWords> vertices) {
    return std::string(
        Iterate(linkage_.shape(), bindings, reg, vertices, Fragment()).status().message());
  };
  EXPECT_THAT(message(99, linkage_.bindings(), vertices_), HasSubstr("no binding loads"));
  EXPECT_THAT(message(0, linkage_.bindings(), {}), HasSubstr("1 to 3 vertices"));
  const OutputWords few[] = {vertices_[0].subspan(1)};
  EXPECT_THAT(message(0, linkage_.bindings(), few), HasSubstr("a vertex has"));
  const Binding beyond[] = {{.base_slot = 200}};
  EXPECT_THAT(message(0, beyond, vertices_), HasSubstr("slot 200"));
  Relink(2);
  EXPECT_THAT(message(*registers_.Find(1, 0), linkage_.bindings(), {&vertices_[0], 1}),
              HasSubstr("that of vertex 2"));
}

TEST(Iterate, MakesWhatTheHardwareMakes) {
  const Input inputs[] = {{.location = 0,
                           .components = 2,
                           .interpolation = Interpolation::kLinear,
                           .source = Source::kPointCoord},
                          {.location = 1,
                           .components = 1,
                           .interpolation = Interpolation::kFlat,
                           .source = Source::kPrimitiveId},
                          {.location = 2, .components = 2, .source = Source::kBarycentric}};
  const auto linkage = Link(VertexOutputs(), {.inputs = inputs});
  ASSERT_TRUE(linkage.ok());
  const std::array<uint32_t, 4> near = {0, 0, 0, Bits(1)}, far = {0, 0, 0, Bits(2)};
  const OutputWords vertices[] = {near, far};
  const Fragment fragment{.shares = {0.5, 0.5}, .point_coord = {0.25, 0.75}, .primitive_id = 42};
  const auto of = [&](unsigned reg) {
    return *Iterate(linkage->shape(), linkage->bindings(), reg, vertices, fragment);
  };
  EXPECT_EQ(of(1), Bits(0.25f));
  EXPECT_EQ(of(2), Bits(0.75f));
  EXPECT_EQ(of(3), 42u);
  EXPECT_EQ(of(4), Bits(static_cast<float>(2.0 / 3)));
  EXPECT_EQ(of(5), Bits(static_cast<float>(1.0 / 3)));
}

// --- Records

TEST(VaryingRecords, SayWhatIsThere) {
  const Output outputs[] = {{.location = 0, .components = 2}};
  const Input inputs[] = {{.location = 0, .components = 2}};
  const VertexOutputs vertex = {
      .varyings = outputs, .point_size = true, .layer_viewport = true, .clip_distances = 10};
  const auto linkage = Link(vertex, {.inputs = inputs});
  ASSERT_TRUE(linkage.ok());
  g13::PPP_Header header;
  SetVaryings<G13>(*linkage, header);
  const g13::Output_Select& select = header.output_select_state;
  EXPECT_TRUE(select.varyings && select.point_size && select.viewport_target &&
              select.render_target);
  EXPECT_TRUE(select.clip_distance_plane_9);
  EXPECT_FALSE(select.clip_distance_plane_10 || select.frag_coord_z ||
               select.barycentric_coordinates);
  EXPECT_EQ(header.output_size_state.count, 4u + 2 + 1 + 1 + 10);
  EXPECT_EQ(VertexOutputWord<G13>(linkage->shape()).output_count_2, 18u);
  EXPECT_EQ(ReadShape<G13>(header), linkage->shape());
}

TEST(VaryingRecords, SayOneProvokingVertexInAllPlaces) {
  const Input flat[] = {{.location = 0, .components = 1, .interpolation = Interpolation::kFlat},
                        {.location = 1, .components = 1, .source = Source::kPrimitiveId}};
  const Output outputs[] = {{.location = 0, .components = 1}};
  constexpr g13::VDM_Vertex kVdm[] = {g13::VDM_Vertex::_0, g13::VDM_Vertex::_1,
                                      g13::VDM_Vertex::_2};
  constexpr g13::PPP_Vertex kPpp[] = {g13::PPP_Vertex::_0, g13::PPP_Vertex::_1,
                                      g13::PPP_Vertex::_2};
  constexpr Shade kShade[] = {Shade::kFlatVertex0, Shade::kFlatVertex1, Shade::kFlatVertex2};
  for (uint8_t vertex = 0; vertex < 3; ++vertex) {
    for (const bool with_id : {false, true}) {
      const auto linkage =
          Link({.varyings = outputs}, {.inputs = absl::MakeConstSpan(flat, with_id ? 2 : 1)},
               {.provoking_vertex = vertex});
      ASSERT_TRUE(linkage.ok()) << linkage.status();
      EXPECT_EQ(linkage->bindings()[1].shade, kShade[vertex]);
      const auto state = FlatShadingWord<G13>(*linkage);
      EXPECT_EQ(state.flat_shading_control, kVdm[vertex]);
      EXPECT_EQ(state.generate_primitive_id, with_id);
      g13::PPP_Header header{.cull_state = {.depth_clip = true}};
      SetFlatShading<G13>(*linkage, header);
      EXPECT_TRUE(header.cull && header.cull_2 && header.cull_state.depth_clip);
      EXPECT_EQ(header.cull_state.flat_shading_vertex, kPpp[vertex]);
      EXPECT_EQ(header.cull_2_state.needs_primitive_id, with_id);
    }
  }
}

TEST(VaryingRecords, ComeBackWithEverySourceAndShade) {
  for (uint8_t vertex = 0; vertex < 3; ++vertex) {
    const Input inputs[] = {{.location = 0, .components = 2, .source = Source::kPointCoord},
                            {.location = 1,
                             .components = 1,
                             .interpolation = Interpolation::kFlat,
                             .source = Source::kPrimitiveId},
                            {.location = 2,
                             .components = 2,
                             .interpolation = Interpolation::kLinear,
                             .source = Source::kBarycentric},
                            {.location = 3, .components = 1}};
    const Output outputs[] = {{.location = 3, .components = 1}};
    const auto linkage = Link({.varyings = outputs}, {.inputs = inputs, .reads_z = true},
                              {.provoking_vertex = vertex});
    ASSERT_TRUE(linkage.ok()) << linkage.status();
    uint8_t table[64];
    const auto size = PackBindings<G13>(*linkage, table);
    ASSERT_TRUE(size.ok());
    const auto back = ReadBindings<G13>({table, *size});
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(absl::MakeConstSpan(*back), linkage->bindings());
  }
}

TEST(VaryingRecords, ThatMakeNoSenseAreRefused) {
  const auto linkage = Link(VertexOutputs(), FragmentInputs());
  ASSERT_TRUE(linkage.ok());
  uint8_t table[8];
  EXPECT_EQ(PackBindings<G13>(*linkage, {table, 7}).status().code(),
            absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(PackBindings<G13>(*linkage, table).ok());
  EXPECT_FALSE(ReadBindings<G13>({table, 3}).ok());
  EXPECT_FALSE(ReadBindings<G13>({table, 6}).ok());
  table[4] = 1 << 2;  // a shade model without a name
  EXPECT_THAT(std::string(ReadBindings<G13>(table).status().message()),
              HasSubstr("coefficient binding 0 has shade model 1"));
}

}  // namespace
}  // namespace packsmith::agx
