// How the XML's names are spelled in C and C++.

#include "gen/model/names.h"

#include <gtest/gtest.h>

namespace packsmith::model {
namespace {

TEST(CNames, DropWhatNoIdentifierCanHave) {
  EXPECT_EQ(CSafe("DWord Length"), "DWordLength");
  EXPECT_EQ(CSafe("Read/Write [0].x-(y):z"), "ReadWrite0xyz");
  EXPECT_EQ(CSafe("a,b=c>d#e&f*g'h\"i+j\\k"), "abcdefghijk");
}
TEST(CNames, BeginWithALetterOrUnderscore) {
  EXPECT_EQ(CSafe("3D Command"), "_3DCommand");
  EXPECT_EQ(CSafe(""), "_");
}
TEST(CNames, KeepTheirCase) { EXPECT_EQ(CSafe("mI Mode"), "mIMode"); }
TEST(CNames, TypesHaveThePrefix) {
  EXPECT_EQ(CType("GFX9", "SAMPLER_STATE"), "GFX9_SAMPLER_STATE");
  EXPECT_EQ(CType("GFX9", "3DSTATE_VS"), "GFX9_3DSTATE_VS");
  EXPECT_EQ(CType("GFX9", "Texture Coordinate Mode"), "GFX9_TextureCoordinateMode");
}
TEST(CNames, EnumeratorsAreUpperCase) {
  EXPECT_EQ(CEnumerator("TCM", "Wrap"), "TCM_WRAP");
  EXPECT_EQ(CEnumerator("3DPRIM", "POINTLIST"), "_3DPRIM_POINTLIST");
  EXPECT_EQ(CEnumerator("", "3D"), "_3D");
}
TEST(CNames, ListedValuesKeepTheirCaseBehindThePrefix) {
  EXPECT_EQ(CFieldValue("DISPATCH_MODE", "8 patch"), "DISPATCH_MODE_8patch");
  EXPECT_EQ(CFieldValue("", "8 patch"), "_8patch");
}

TEST(CNames, OfDescriptionsOfBytesAreMadeOfWords) {
  const CNames names("AGX", true);
  EXPECT_EQ(names.Type("Depth bias/Scissor"), "AGX_DEPTH_BIAS_SCISSOR");
  EXPECT_EQ(names.Type("Index List: Buffer lo"), "AGX_INDEX_LIST_BUFFER_LO");
  EXPECT_EQ(names.EnumType("Object Type"), "agx_object_type");
  EXPECT_EQ(names.Member("Early-z testing"), "early_z_testing");
  EXPECT_EQ(names.Member("Start (halfs)"), "start_halfs");
  EXPECT_EQ(names.Member("Register"), "register_");
  EXPECT_EQ(names.Enumerator("Object Type", "", "Point sprite UV=01"),
            "AGX_OBJECT_TYPE_POINT_SPRITE_UV01");
  EXPECT_EQ(names.Enumerator("Primitive", "PRIM", "Line strip"), "AGX_PRIM_LINE_STRIP");
  EXPECT_EQ(names.FieldValue("FILL", "Solid"), "AGX_FILL_SOLID");
}
TEST(CNames, OfDescriptionsOfDwordsAreThoseOfGenxml) {
  const CNames names("GFX9", false);
  EXPECT_EQ(names.Type("Texture Mode"), "GFX9_TextureMode");
  EXPECT_EQ(names.EnumType("Texture Mode"), "GFX9_TextureMode");
  EXPECT_EQ(names.Member("Texture Mode"), "TextureMode");
  EXPECT_EQ(names.Enumerator("Texture Mode", "TM", "Wrap"), "TM_WRAP");
}

TEST(CppNames, TypesKeepTheirCase) {
  EXPECT_EQ(CppName("SAMPLER_STATE"), "SAMPLER_STATE");
  EXPECT_EQ(CppName("3DSTATE_VS"), "_3DSTATE_VS");
  EXPECT_EQ(CppName("Shader Channel Select"), "Shader_Channel_Select");
  EXPECT_EQ(CppName("NULL"), "NULL_");
  EXPECT_EQ(CppName("default"), "default_");
  EXPECT_EQ(CppName("[]"), "_");
}
TEST(CppNames, MembersAreSnakeCase) {
  EXPECT_EQ(CppMember("Buffer Starting Address"), "buffer_starting_address");
  EXPECT_EQ(CppMember("Depth/Stencil [0]"), "depth_stencil_0");
  EXPECT_EQ(CppMember("3D Mode"), "_3d_mode");
  EXPECT_EQ(CppMember("  a -- b  "), "a_b");
}
TEST(CppNames, MembersAreNoKeywords) {
  EXPECT_EQ(CppMember("Default"), "default_");
  EXPECT_EQ(CppMember("Register"), "register_");
  EXPECT_EQ(CppMember("co_await"), "co_await_");
}
TEST(CppNames, MembersDoNotHideWhatEveryTypeHas) {
  EXPECT_EQ(CppMember("Length"), "length_");
  EXPECT_EQ(CppMember("Pack"), "pack_");
  EXPECT_EQ(CppMember("Items"), "items_");
  EXPECT_EQ(CppMember("For Each Address"), "for_each_address_");
}
TEST(CppNames, ThePrefixOfTheGeneratorIsTaken) {
  EXPECT_EQ(CppMember("PS_Kernel"), "_ps_kernel");
  EXPECT_EQ(CppMember("PS Kernel"), "_ps_kernel");
}
TEST(CppNames, ConstantsAreUpperCase) {
  EXPECT_EQ(CppConstant("Vertex Access Type", "Random"), "VERTEX_ACCESS_TYPE_RANDOM");
  EXPECT_EQ(CppConstant("3D Mode", "4x"), "_3D_MODE_4X");
}
TEST(CppNames, OtherAlphabetsBecomeUnderscores) {
  EXPECT_EQ(CppMember("größe"), "gr_e");
  EXPECT_EQ(CppName("√"), "_");
}

}  // namespace
}  // namespace packsmith::model
