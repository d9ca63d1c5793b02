// What runtime/agx builds, in memory of Buffers, through the device to the kernel.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "runtime/agx/control_stream.h"
#include "runtime/agx/descriptors.h"
#include "runtime/agx/usc.h"
#include "runtime/capture/execute/submission_checks.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/kernel/asahi/render_pass.h"
#include "runtime/layout/layout.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/zones.h"
#include "tests/kernel/asahi/machine.h"

namespace packsmith::gpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace g13 = agx_g13;
using G13 = g13::generation;

constexpr ZoneRow kZones[] = {
    {.name = "programs", .begin = 0x1100000000, .size = kGiB},
    {.name = "data", .begin = 0x1500000000, .size = 4 * kGiB},
};

// Outlives the kernel.
struct Checks {
  std::vector<std::string> lines;
  capture::SubmissionChecks checks{
      [this](const capture::Work&, absl::string_view line) { lines.emplace_back(line); }};
};

class AgxStreams : public ::testing::Test {
 protected:
  AgxStreams() { machine_.kernel.AddWatcher(&checks_.checks); }

  agx::GpuMemory Memory(const char* zone, uint64_t bytes) {
    const Buffer buffer = *buffers_->Create({.size = bytes, .zone = *space_->FindZone(zone)});
    return agx::MemoryOf(buffer);
  }
  // A program that reads 64 bytes of constants.
  address Program() {
    agx::UscProgram<G13> program(Memory("programs", 64), base_, uses_);
    program.Uniforms(0, Memory("data", 64).gpu, 32);
    program.Emit(g13::USC_Shared{.layout_ = g13::Shared_layout::Vertex_compute});
    program.Shader({}, Memory("programs", 64).gpu);
    program.Emit(g13::USC_Registers{.register_count = 32});
    const auto end = program.End();
    EXPECT_TRUE(end.ok()) << end.status();
    return *end;
  }
  Job JobOfUses() {
    residency_.Clear();
    for (const BufferUse& use : uses_.all()) {
      EXPECT_TRUE(residency_.Add(use.buffer, use.writes()).ok());
    }
    Job job;
    job.residents = residency_.residents();
    job.bases = bases_;
    return job;
  }

  Checks checks_;
  Machine machine_{"m1"};
  const std::unique_ptr<AsahiDevice> device_ = machine_.Open();
  const std::unique_ptr<AddressSpace> space_ =
      *AddressSpace::Create(*LayOutZones(kZones, {.top = device_->info().end}),
                            {.address_bits = device_->properties().address_bits});
  const std::unique_ptr<Buffers> buffers_ = Buffers::Create(*device_, *space_, {});
  const agx::ProgramBase base_{kZones[0].begin};
  const JobBase bases_[1] = {{"programs", base_.gpu()}};
  BufferUses uses_;
  Residency residency_{*buffers_};
};

TEST_F(AgxStreams, ADispatchIsTakenAndDecodes) {
  BufferChunks chunks(*buffers_, {.zone = *space_->FindZone("data"), .name = "cdm"});
  agx::CdmStream<G13> cdm(chunks, uses_);
  g13::CDM_Launch_Word_0 launch{.texture_state_register_count = 0};
  launch.launch_word_1.pipeline = Program();
  launch.global_size = {.x = 128, .y = 128, .z = 1};
  launch.local_size = {.x = 8, .y = 8, .z = 1};
  cdm.Emit(launch, g13::CDM_Barrier{.usc_cache_inval = true});
  ASSERT_TRUE(cdm.End().ok());
  const agx::StreamPart& part = cdm.parts().front();

  auto times = device_->CreateTimestamps(2);
  ASSERT_TRUE(times.ok()) << times.status();
  AsahiCompute compute;
  compute.stream = part.chunk.gpu;
  compute.stream_end = part.chunk.gpu + part.total;
  compute.begins = times->At(0);
  compute.ends = times->At(1);
  const auto fence = device_->SubmitCompute(JobOfUses(), compute);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device_->Wait(*fence, absl::Seconds(60)), true);
  EXPECT_LE(times->Read(0), times->Read(1));
  EXPECT_NE(times->Read(0), 0u);
  EXPECT_THAT(checks_.lines, IsEmpty());
  EXPECT_THAT(machine_.seen.warnings, IsEmpty());

  // The same as a plain job.
  Job job = JobOfUses();
  job.engine = "compute";
  job.batch_address = part.chunk.gpu;
  job.batch_length = part.total;
  ASSERT_TRUE(device_->Submit(job).ok());
  ASSERT_THAT(machine_.seen.works, SizeIs(2));
  EXPECT_EQ(machine_.seen.works[0]->streams[0].address, machine_.seen.works[1]->streams[0].address);
  EXPECT_EQ(machine_.seen.works[0]->streams[0].length, machine_.seen.works[1]->streams[0].length);
  EXPECT_THAT(checks_.lines, IsEmpty());
}

TEST_F(AgxStreams, ADrawIsTakenAndDecodes) {
  BufferChunks chunks(*buffers_, {.zone = *space_->FindZone("data"), .name = "vdm"});
  agx::VdmStream<G13> vdm(chunks, uses_);
  g13::VDM_State state{.vertex_shader_word_0_present = true, .vertex_shader_word_1_present = true};
  state.vertex_shader_word_0 = {.uniform_register_count = 64, .texture_state_register_count = 0};
  state.vertex_shader_word_1.pipeline = Program();
  g13::Index_List draw{
      .primitive = g13::Primitive::Triangles,
      .index_count_present = true,
      .instance_count_present = true,
      .start_present = true,
  };
  draw.index_count.count = 3;
  draw.instance_count.count = 1;
  vdm.Emit(state, draw);
  ASSERT_TRUE(vdm.End().ok());
  AsahiRender render;
  render.stream = vdm.parts().front().chunk.gpu;
  render.width = 128;
  render.height = 128;
  render.process_empty_tiles = true;
  render.store = {.program = static_cast<uint32_t>(Program().gpu)};
  const auto fence = device_->SubmitRender(JobOfUses(), render);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device_->Wait(*fence, absl::Seconds(60)), true);
  ASSERT_THAT(machine_.seen.works, SizeIs(1));
  EXPECT_THAT(machine_.seen.works[0]->streams, SizeIs(2));
  EXPECT_THAT(checks_.lines, IsEmpty());
  EXPECT_THAT(machine_.seen.warnings, IsEmpty());
}

TEST_F(AgxStreams, ARenderPassFromApiTermsIsTakenAndDecodes) {
  const auto color = layout::Layout::Of({.format = layout::FindFormat("R8G8B8A8_UNORM"),
                                         .width_px = 128,
                                         .height_px = 96,
                                         .renderable = true});
  const auto depth = layout::Layout::Of({.scheme = layout::Scheme::kAgxCompressed,
                                         .format = layout::FindFormat("Z32_FLOAT"),
                                         .width_px = 128,
                                         .height_px = 96,
                                         .renderable = true});
  ASSERT_TRUE(color.ok() && depth.ok());
  const address color_at = Memory("data", color->size_B()).gpu;
  const address depth_at = Memory("data", depth->size_B()).gpu;
  Memory("programs", 64);  // a program of tiles cannot be the first one
  const auto target = agx::WrittenImageOf<G13>({.layout = &*color, .image = color_at});
  ASSERT_TRUE(target.ok()) << target.status();
  const agx::GpuMemory table = Memory("data", g13::PBE::size);
  ASSERT_TRUE(agx::WriteTable<g13::PBE>(table, uses_, {&*target, 1}).ok());
  agx::UscProgram<G13> store(Memory("programs", 64), base_, uses_);
  store.Emit(g13::USC_Texture{.count = 1, .buffer = table.gpu});
  store.Shader({}, Memory("programs", 64).gpu);
  store.Emit(g13::USC_Registers{.register_count = 16});
  const auto stored = store.End();
  ASSERT_TRUE(stored.ok()) << stored.status();

  BufferChunks chunks(*buffers_, {.zone = *space_->FindZone("data"), .name = "vdm"});
  agx::VdmStream<G13> vdm(chunks, uses_);
  ASSERT_TRUE(vdm.End().ok());
  AsahiPass pass;
  pass.stream = vdm.parts().front().chunk.gpu;
  pass.width = 128;
  pass.height = 96;
  const AsahiPassImage colors[] = {{.layout = &*color, .image = color_at}};
  pass.colors = colors;
  pass.depth = {.layout = &*depth, .image = depth_at, .store = PassStore::kDiscard};
  const auto clear = TileProgramOf<G13>(Program(), {.uniform_register_count = 64});
  const auto end = TileProgramOf<G13>(*stored, {.texture_state_register_count = 8});
  ASSERT_TRUE(clear.ok() && end.ok()) << clear.status() << end.status();
  pass.load = pass.partial_load = *clear;
  pass.store = pass.partial_store = *end;
  AsahiAttachments attachments;
  auto render = RenderOf<G13>(pass, uses_, attachments);
  ASSERT_TRUE(render.ok()) << render.status();
  auto times = device_->CreateTimestamps(2);
  ASSERT_TRUE(times.ok()) << times.status();
  render->vertex_begins = times->At(0);
  render->fragment_ends = times->At(1);
  const auto fence = device_->SubmitRender(JobOfUses(), *render);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device_->Wait(*fence, absl::Seconds(60)), true);
  EXPECT_NE(times->Read(0), 0u);
  EXPECT_LE(times->Read(0), times->Read(1));
  // The vertices' stream, and the programs of tiles.
  ASSERT_THAT(machine_.seen.works, SizeIs(1));
  EXPECT_THAT(machine_.seen.works[0]->streams, SizeIs(5));
  EXPECT_THAT(checks_.lines, IsEmpty());
  EXPECT_THAT(machine_.seen.warnings, IsEmpty());
}

// That the tests above have no lines means something.
TEST_F(AgxStreams, AProgramThatIsNotThereIsFound) {
  BufferChunks chunks(*buffers_, {.zone = *space_->FindZone("data"), .name = "cdm"});
  agx::CdmStream<G13> cdm(chunks, uses_);
  g13::CDM_Launch_Word_0 launch{.texture_state_register_count = 0};
  launch.launch_word_1.pipeline = {0x3000000};
  launch.global_size = {.x = 1, .y = 1, .z = 1};
  launch.local_size = {.x = 1, .y = 1, .z = 1};
  cdm.Emit(launch);
  ASSERT_TRUE(cdm.End().ok());
  AsahiCompute compute;
  compute.stream = cdm.parts().front().chunk.gpu;
  compute.stream_end = compute.stream + cdm.parts().front().total;
  ASSERT_TRUE(device_->SubmitCompute(JobOfUses(), compute).ok());
  EXPECT_THAT(checks_.lines, Contains(AllOf(HasSubstr("0x1103000000"), HasSubstr("not mapped"))));
}

}  // namespace
}  // namespace packsmith::gpu
