// AGX's control streams, decoded from the descriptions that are built in.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g14x.h"
#include "runtime/generations/generations.h"
#include "tests/agx/frame.h"

namespace packsmith::agx {
namespace {

using decode::FaultKind;
using decode::Seen;
using decode::Story;
using decode::Tell;
using decode::World;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const tables::Tables& G13() {
  static const tables::Tables kTables = *FindGeneration("g13");
  return kTables;
}

std::vector<uint64_t> Addresses(const std::vector<Seen>& records) {
  std::vector<uint64_t> addresses;
  for (const Seen& seen : records) addresses.push_back(seen.address);
  return addresses;
}

// A VDM stream of these bytes, and nothing else.
Story OfVdm(const Bytes& bytes) {
  World world;
  world.PutBytes(kVdm, bytes.get()).Submit(kVdm, 0, "vdm");
  return Tell(G13(), world);
}

TEST(Vdm, HasSevenBlocks) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  std::vector<std::string> vdm;
  for (const std::string& name : story.Packets()) {
    if (!absl::StartsWith(name, "USC")) vdm.push_back(name);
  }
  EXPECT_THAT(
      vdm, ElementsAre("PPP State", "VDM State", "VDM State", "Index List", "VDM Stream Link",
                       "VDM Barrier", "VDM Barrier", "Index List", "VDM Stream Link", "Index List",
                       "VDM Tessellate", "VDM Stream Terminate"));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_EQ(story.summary.draws, 4u);
}

TEST(Vdm, CallsComeBackAndLinksDoNot) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  const std::vector<Seen> barriers = story.Named("VDM Barrier");
  ASSERT_THAT(barriers, SizeIs(2));
  EXPECT_EQ(barriers[0].address, kCalled);
  EXPECT_EQ(barriers[0].depth, 1u);
  EXPECT_EQ(story.Only("VDM Stream Terminate").depth, 0u);
}

TEST(Vdm, StateIsRoundedUpToEightBytesButForTheScaleOfTessellation) {
  World world;
  PutFrame(world);
  const std::vector<Seen> states = Tell(G13(), world).Named("VDM State");
  ASSERT_THAT(states, SizeIs(2));
  EXPECT_EQ(states[0].bytes.size(), 32u);  // a header and six words
  EXPECT_EQ(states[0].Number("Restart index.Value"), 0xffffu);
  EXPECT_EQ(states[0].Number("Vertex outputs.Output count 2"), 12u);
  EXPECT_EQ(states[0].Number("Tessellation.Max tess factor"), 64u);
  EXPECT_EQ(states[1].bytes.size(), 8u);
  g13::VDM_State two{.restart_index_present = true, .tessellation_scale_present = true};
  EXPECT_EQ(two.bytes_needed(), 12u);
}

TEST(Vdm, WordsThatNobodyUnderstandsAreSteppedOver) {
  World world;
  PutFrame(world);
  const std::vector<Seen> lists = Tell(G13(), world).Named("Index List");
  ASSERT_THAT(lists, SizeIs(3));
  EXPECT_EQ(lists[2].bytes.size(), 4u + 8 + 8 + 4);
  EXPECT_EQ(lists[2].Number("Indirect buffer.Address hi"), kIndices >> 32);
}

TEST(Vdm, IndicesAreReadAsWideAsTheListSays) {
  World world;
  PutFrame(world);
  const Seen indices = Tell(G13(), world).Only("indices");
  EXPECT_EQ(indices.address, kIndices);
  EXPECT_EQ(indices.data_size, 12u);
  EXPECT_THAT(indices.values, ElementsAre("0: 0 U16 I=0", "1: 0 U16 I=1", "2: 0 U16 I=2",
                                          "3: 0 U16 I=2", "4: 0 U16 I=1", "5: 0 U16 I=3"));
}

TEST(Vdm, ArgumentsOfIndirectDrawsAreShown) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  EXPECT_THAT(story.Only("draw arguments").values, SizeIs(5));
  EXPECT_THAT(story.Only("patch arguments").values, SizeIs(3));
  EXPECT_EQ(story.Only("tessellation factors").data_size, 36u);
}

TEST(Ppp, ARecordHasAllOfItsParts) {
  World world;
  PutFrame(world);
  const Seen record = Tell(G13(), world).Only("PPP Header");
  EXPECT_EQ(record.address, kPpp);
  EXPECT_EQ(record.bytes.size(), WholePppRecord().size());
  EXPECT_EQ(record.Number("Fragment control 2.Pass type"), 2u);
  EXPECT_EQ(record.Number("Fragment front face.Stencil reference"), 0x12u);
  EXPECT_EQ(record.Number("Fragment back stencil.Stencil fail"), 6u);
  EXPECT_EQ(record.Number("Depth bias/scissor.Depth bias"), 5u);
  EXPECT_EQ(record.Number("Region clip[0].Max X"), 20u);
  EXPECT_EQ(record.Number("Region clip[1].Enable"), 1u);
  EXPECT_EQ(record.Number("Viewport[1].Scale Z"), 0x3f000000u);
  EXPECT_EQ(record.Number("Varying counts 32.Flat"), 2u);
  EXPECT_EQ(record.Number("Varying counts 16.Smooth"), 6u);
  EXPECT_EQ(record.Number("Cull 2.Clamp W"), 1u);
  EXPECT_EQ(record.Number("Fragment shader word 1.Pipeline"), kFragmentProgram);
  EXPECT_EQ(record.Number("Occlusion query.Index"), 77u);
  EXPECT_EQ(record.Number("Output size.Count"), 9u);
  EXPECT_THAT(record.faults, IsEmpty());
}

TEST(Ppp, LeadsToTheCoefficientBindings) {
  World world;
  PutFrame(world);
  const Seen bindings = Tell(G13(), world).Only("CF binding header");
  EXPECT_EQ(bindings.address, kBindings);
  EXPECT_EQ(bindings.bytes.size(), 12u);
  EXPECT_EQ(bindings.Number("Number of 32-bit slots"), 6u);
  EXPECT_EQ(bindings.Number("Binding[1].Components"), 4u);
  EXPECT_EQ(bindings.Number("Binding[1].Shade model"), 7u);
}

TEST(Usc, ProgramsAreFollowedFromWhereverTheyAreBound) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  EXPECT_THAT(Addresses(story.Named("USC Registers")), ElementsAre(kVertexProgram + 26));
  EXPECT_EQ(story.Only("USC Fragment Properties").address, kFragmentProgram + 30);
  EXPECT_EQ(story.Only("USC No Preshader").bytes.size(), 2u);
  EXPECT_THAT(story.Named("USC Shader"), SizeIs(2));
  EXPECT_EQ(story.Named("USC Shader")[0].bytes.size(), 6u);
  std::vector<std::string> stages;
  for (const Seen& shader : story.Named("shader")) stages.push_back(shader.stage);
  // The fragment shader's program is reached first, through the PPP record.
  EXPECT_THAT(stages, ElementsAre("", "preshader", ""));
}

// Programs, code and bindings have 32-bit offsets; the dump has their base.
TEST(Usc, ProgramsCountFromTheBaseThatTheDriverWasTold) {
  constexpr uint64_t kBase = 0x1500000000;
  g13::PPP_Header header{.fragment_shader = true};
  header.fragment_shader_word_0.cf_binding_count = 1;
  header.fragment_shader_word_1.pipeline = kFragmentProgram;
  header.fragment_shader_word_2.cf_bindings = kBindings;
  const Bytes record = Bytes().Add(header);
  World world;
  world.PutBytes(kPpp, record.get())
      .PutBytes(kBase + kBindings, {3, 0, 1, 0, 0, 0, 0, 0})
      .PutBytes(kBase + kFragmentProgram, Bytes()
                                              .Add(g13::USC_Shader{.code = kCode})
                                              .Add(g13::USC_Preshader{.code = kPreshader})
                                              .get())
      .PutBytes(kBase + kCode, std::vector<uint8_t>(32, 0x11))
      .PutBytes(kBase + kPreshader, std::vector<uint8_t>(32, 0x22))
      .PutBytes(kVdm,
                Bytes().Add(PppState(kPpp, record.size())).Add(g13::VDM_Stream_Terminate{}).get())
      .Submit(kVdm, 0, "vdm");
  EXPECT_THAT(Tell(G13(), world).Faults(), testing::Not(IsEmpty())) << "from zero on";
  world.last().bases = {{"programs", kBase}, {"nothing of that name", 1}};
  const Story story = Tell(G13(), world);
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_EQ(story.Only("USC Shader").address, kBase + kFragmentProgram);
  EXPECT_EQ(story.Only("CF binding header").address, kBase + kBindings);
  EXPECT_THAT(Addresses(story.Named("shader")), ElementsAre(kBase + kCode, kBase + kPreshader));
}

TEST(Usc, UniformsAreShownInBothHalvesOfTheirRegisters) {
  World world;
  PutFrame(world);
  const std::vector<Seen> uniforms = Tell(G13(), world).Named("uniforms");
  ASSERT_THAT(uniforms, SizeIs(2));
  EXPECT_EQ(uniforms[0].data_size, 128u);  // 64 halves are stored as none
  EXPECT_EQ(uniforms[1].data_size, 16u);
}

TEST(Usc, SamplersHaveBordersWhereTheProgramSaysSo) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  const std::vector<Seen> extended = story.Named("Extended sampler");
  EXPECT_THAT(Addresses(extended), ElementsAre(kSamplers, kSamplers + 24));
  EXPECT_EQ(extended.at(1).Number("Border.Channel 0"), 0x3f800001u);
  EXPECT_THAT(Addresses(story.Named("Sampler")), ElementsAre(kSamplers, kSamplers + 8));
}

TEST(Usc, WhatIsWrittenIsToldFromWhatIsSampled) {
  World world;
  PutFrame(world);
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.Only("Texture").address, kTextures);
  EXPECT_EQ(story.Only("Texture").index, 0);
  EXPECT_EQ(story.Only("PBE").address, kTextures + 24);
  EXPECT_EQ(story.Only("PBE").Number("Width"), 300u);
}

TEST(Usc, IsAStreamThatCanBeDecodedAlone) {
  World world;
  PutPrograms(world);
  world.Submit(kFragmentProgram, 0, "usc");
  const Story story = Tell(G13(), world);
  EXPECT_THAT(story.Packets(),
              ElementsAre("USC Texture", "USC Sampler", "USC Uniform High", "USC Shader",
                          "USC Fragment Properties", "USC Preshader"));
  EXPECT_THAT(story.Named("Sampler"), SizeIs(2)) << "nothing declares them extended";
}

TEST(Cdm, HasFourBlocksAndThreeWaysToLaunch) {
  World world;
  PutCompute(world);
  const Story story = Tell(G13(), world);
  std::vector<std::string> cdm;
  for (const std::string& name : story.Packets()) {
    if (!absl::StartsWith(name, "USC")) cdm.push_back(name);
  }
  EXPECT_THAT(cdm, ElementsAre("CDM Launch Word 0", "CDM Barrier", "CDM Launch Word 0",
                               "CDM Stream Link", "CDM Launch Word 0", "CDM Stream Terminate"));
  const std::vector<Seen> launches = story.Named("CDM Launch Word 0");
  EXPECT_EQ(launches[0].bytes.size(), 32u);
  EXPECT_EQ(launches[0].Number("Global size.X"), 64u);
  EXPECT_EQ(launches[1].bytes.size(), 28u);
  EXPECT_EQ(launches[1].Number("Local size.Y"), 4u);
  EXPECT_EQ(launches[2].bytes.size(), 16u);
  EXPECT_THAT(story.Named("grid arguments"), SizeIs(2));
  EXPECT_THAT(story.Named("USC Registers"), SizeIs(3));
  EXPECT_EQ(story.summary.dispatches, 3u);
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Cdm, LaunchesOfG14xHaveTwoWordsMore) {
  namespace g14x = ::packsmith::agx_g14x;
  g14x::CDM_Launch_Word_0 launch;
  launch.launch_word_1.pipeline = kKernel;
  launch.global_size = {.x = 64, .y = 1, .z = 1};
  launch.local_size = {.x = 8, .y = 4, .z = 1};
  World world;
  world.PutBytes(kCdm, Bytes().Add(launch).Add(g14x::CDM_Stream_Terminate{}).get())
      .Submit(kCdm, 0, "cdm");
  const Story story = Tell(*FindGeneration("g14x"), world);
  const Seen seen = story.Only("CDM Launch Word 0");
  EXPECT_EQ(seen.bytes.size(), 40u);
  EXPECT_EQ(seen.Number("Global size.X"), 64u);
  EXPECT_EQ(seen.bytes[15], 0x40);  // bit 30 of the second word
}

TEST(Descriptors, CanBeDecodedWithoutAStream) {
  World world;
  PutPrograms(world);
  world.Submit(kTextures, 24, "Texture").Submit(kSamplers, 48, "Extended sampler");
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.Only("Texture").Number("Height"), 4u);
  const std::vector<Seen> samplers = story.Named("Extended sampler");
  ASSERT_THAT(samplers, SizeIs(2));
  EXPECT_EQ(samplers[1].index, 1);
}

TEST(Iogpu, ACommandBufferLeadsToItsStreamProgramsAndAttachments) {
  constexpr uint64_t kBuffer = 0x700000;
  g13::IOGPU_Header header{
      .attachment_length = 16 + 2 * 24, .attachment_offset = 0x900, .unk_5 = 1, .encoder = kVdm};
  header.graphics.clear_pipeline = kKernel;
  header.graphics.clear_pipeline_unk = 4;
  header.graphics.scissor_array = kTexels + 0x1000;
  header.graphics.zls_control.s_resolve = true;
  header.graphics.width_1 = 640;
  std::vector<uint8_t> bytes = Bytes().Add(header).get();
  bytes.resize(0x900);
  const g13::IOGPU_Attachment attachments[2] = {
      {.address = kTexels, .type = g13::IOGPU_Attachment_Type::Colour, .percent = 100},
      {.type = g13::IOGPU_Attachment_Type::Depth}};
  uint8_t list[64] = {};
  ASSERT_FALSE((g13::IOGPU_Attachment_Count{.count = 2}.pack(list, attachments)));
  bytes.insert(bytes.end(), list, list + sizeof(list));
  World world;
  PutFrame(world);
  world.dump().submissions.clear();
  world.PutBytes(kBuffer, bytes)
      .PutBytes(kTexels + 0x1000, Bytes().Add(g13::Scissor{.max_x = 640, .max_y = 480}).get())
      .Submit(kBuffer, 0, "IOGPU Header");
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.Only("IOGPU Header").bytes.size(), 64u + 1920);
  EXPECT_EQ(story.Only("IOGPU Header").Number("Graphics.Width 1"), 640u);
  EXPECT_EQ(story.Only("IOGPU Attachment Count").Number("Attachment[0].Attachment.Percent"), 100u);
  EXPECT_EQ(story.Only("Scissor").Number("Max Y"), 480u);
  EXPECT_THAT(story.Packets(), Contains("VDM Stream Terminate"));
  EXPECT_THAT(Addresses(story.Named("USC Registers")), Contains(kKernel));
}

// --- Bad input

TEST(BadInput, SelfLinkEndsWithAMessage) {
  const Story story = OfVdm(Bytes().Add(Link(kVdm, false)));
  EXPECT_THAT(story.Packets(), ElementsAre("VDM Stream Link"));
  EXPECT_THAT(story.remarks, ElementsAre(HasSubstr("decoded already")));
}

TEST(BadInput, SelfCallEndsWithAMessage) {
  const Story story = OfVdm(Bytes().Add(Link(kVdm, true)).Add(g13::VDM_Stream_Terminate{}));
  EXPECT_THAT(story.Packets(), ElementsAre("VDM Stream Link", "VDM Stream Terminate"));
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("calls itself")));
}

TEST(BadInput, LinkToUnmappedIsAFault) {
  const Story story = OfVdm(Bytes().Add(Link(0x5500000000, false)));
  ASSERT_THAT(story.records, SizeIs(1));
  ASSERT_THAT(story.records[0].faults, SizeIs(1));
  EXPECT_EQ(story.records[0].faults[0].kind, FaultKind::kUnmapped);
  EXPECT_EQ(story.records[0].faults[0].value, 0x5500000000u);
}

TEST(BadInput, CallDepthTwentyIsBounded) {
  World world;
  for (uint64_t i = 0; i < 20; ++i) {
    world.PutBytes(kVdm + 0x100 * i, Bytes()
                                         .Add(Link(kVdm + 0x100 * (i + 1), true))
                                         .Add(g13::VDM_Barrier{.returns = true})
                                         .get());
  }
  world.PutBytes(kVdm + 0x100 * 20, Bytes().Add(g13::VDM_Barrier{.returns = true}).get());
  world.Submit(kVdm, 0, "vdm");
  const Story story = Tell(G13(), world);
  EXPECT_THAT(story.problems,
              ElementsAre(HasSubstr("deep and not followed"), HasSubstr("nothing was called")));
}

TEST(BadInput, ReturnWithEmptyStackIsReported) {
  const Story story = OfVdm(Bytes().Add(g13::VDM_Barrier{.returns = true}));
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("nothing was called")));
  World world;
  world.PutBytes(kCdm, Bytes().Add(g13::CDM_Barrier{.returns = true}).get()).Submit(kCdm, 0, "cdm");
  EXPECT_THAT(Tell(G13(), world).problems, ElementsAre(HasSubstr("nothing was called")));
}

TEST(BadInput, PppRecordSizeWrongIsAFaultBothWays) {
  for (const int wrong : {-4, 4}) {
    const Bytes record = WholePppRecord();
    World world;
    std::vector<uint8_t> bytes = record.get();
    bytes.resize(bytes.size() + 64);
    PutPrograms(world);
    world.PutBytes(kPpp, bytes)
        .PutBytes(kVdm, Bytes()
                            .Add(PppState(kPpp, record.size() + static_cast<uint32_t>(wrong)))
                            .Add(g13::VDM_Stream_Terminate{})
                            .get())
        .Submit(kVdm, 0, "vdm");
    const Story story = Tell(G13(), world);
    const Seen seen = story.Only("PPP Header");
    ASSERT_THAT(seen.faults, SizeIs(1)) << wrong;
    EXPECT_EQ(seen.faults[0].kind, FaultKind::kBeyondLength) << wrong;
    EXPECT_EQ(story.Only("VDM Stream Terminate").address, kVdm + 8);
  }
}

TEST(BadInput, AllZeroStreamEndsWithItsMemory) {
  World world;
  world.PutZeros(kVdm, 4096).Submit(kVdm, 0, "vdm");
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.summary.packets, 512u);  // PPP State of no words
  EXPECT_THAT(story.problems, SizeIs(1));
}

TEST(BadInput, IndexListWithUnkWordsStaysInStep) {
  g13::Index_List list{
      .instance_count_present = true, .unk_1_present = true, .unk_2_present = true};
  list.instance_count.count = 5;
  const Story story = OfVdm(Bytes().Add(list).Add(g13::VDM_Stream_Terminate{}));
  EXPECT_THAT(story.Packets(), ElementsAre("Index List", "VDM Stream Terminate"));
  EXPECT_EQ(story.records[0].Number("Instance count.Count"), 5u);
}

TEST(BadInput, TextureArrayAtUnmappedAddressIsAFaultAndNoTextures) {
  World world;
  world
      .PutBytes(kFragmentProgram, Bytes()
                                      .Add(g13::USC_Texture{.count = 4, .buffer = 0x5500000000})
                                      .Add(g13::USC_No_Preshader{})
                                      .get())
      .Submit(kFragmentProgram, 0, "usc");
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.Only("USC Texture").faults.at(0).kind, FaultKind::kUnmapped);
  EXPECT_EQ(story.summary.structs, 0u);
}

TEST(BadInput, UnknownBlockTypeIsShownAndTheWalkGoesOn) {
  const Story story =
      OfVdm(Bytes().Words({0xe0000001, 0xe0000002}).Add(g13::VDM_Stream_Terminate{}));
  EXPECT_THAT(story.Packets(), ElementsAre("?", "VDM Stream Terminate"));
}

TEST(BadInput, CodeAndBindingsAtTheEndOfMemoryAreReadUpToThere) {
  g13::PPP_Header header{.fragment_shader = true};
  header.fragment_shader_word_0.cf_binding_count = 100;
  header.fragment_shader_word_1.pipeline = kFragmentProgram;
  header.fragment_shader_word_2.cf_bindings = kBindings;
  const Bytes record = Bytes().Add(header);
  World world;
  world.PutBytes(kPpp, record.get())
      .PutBytes(kBindings, {3, 0, 1, 0, 0, 0, 0, 0})
      .PutBytes(kFragmentProgram,
                Bytes().Add(g13::USC_Shader{.code = kCode}).Add(g13::USC_No_Preshader{}).get())
      .PutBytes(kCode, {0x11, 0x11, 0x11, 0x11})
      .PutBytes(kVdm,
                Bytes().Add(PppState(kPpp, record.size())).Add(g13::VDM_Stream_Terminate{}).get())
      .Submit(kVdm, 0, "vdm");
  const Story story = Tell(G13(), world);
  EXPECT_EQ(story.Only("CF binding header").bytes.size(), 8u);
  EXPECT_EQ(story.Only("CF binding header").faults.at(0).kind, FaultKind::kTruncated);
  EXPECT_EQ(story.Only("shader").data_size, 4u);
  EXPECT_EQ(story.Only("VDM Stream Terminate").address, kVdm + 8);
}

TEST(BadInput, BlocksAtTheEndOfMemoryAreTruncated) {
  const std::vector<uint8_t> frame = Bytes().Add(Link(kVdm + 0x100, false)).get();
  for (size_t size = 1; size < frame.size(); ++size) {
    World world;
    world.PutBytes(kVdm, {frame.begin(), frame.begin() + static_cast<ptrdiff_t>(size)})
        .Submit(kVdm, 0, "vdm");
    const Story story = Tell(G13(), world);
    EXPECT_THAT(story.problems, testing::Not(IsEmpty())) << size;
  }
}

}  // namespace
}  // namespace packsmith::agx
