#include "runtime/intel/batch/pipeline_select.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

template <class Gen>
class PipelineSelectTest : public testing::Test {
 protected:
  using Pipe = typename Gen::PipeControl;

  // What a change emits, without the batch's end.
  std::vector<Met> Select(Pipeline to) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    {
      typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
      EXPECT_TRUE(EmitPipelineSelect<Gen>(group, to));
    }
    EXPECT_TRUE(batch.End().ok()) << batch.status();
    Decoded decoded = World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    for (const Met& packet : decoded.packets) EXPECT_EQ(packet.faults, 0u) << packet.name;
    decoded.packets.pop_back();
    return decoded.packets;
  }
  static std::vector<std::string> Names(const std::vector<Met>& packets) {
    std::vector<std::string> names;
    for (const Met& packet : packets) names.push_back(packet.name);
    return names;
  }
};
TYPED_TEST_SUITE(PipelineSelectTest, Generations);

TYPED_TEST(PipelineSelectTest, EmitsWhatTheManualsWantInTheirOrder) {
  constexpr unsigned v = TypeParam::kVersion;
  std::vector<std::string> to_3d, to_gpgpu;
  if (v <= 90) to_gpgpu.push_back("3DSTATE_CC_STATE_POINTERS");
  for (unsigned i = 0; i < (v < 120 ? 2 : 1); ++i) {
    to_3d.push_back("PIPE_CONTROL");
    to_gpgpu.push_back("PIPE_CONTROL");
  }
  if (v == 90) to_3d.push_back("MEDIA_VFE_STATE");
  if (v < 200) {
    to_3d.push_back("PIPELINE_SELECT");
    to_gpgpu.push_back("PIPELINE_SELECT");
  }
  EXPECT_THAT(this->Names(this->Select(Pipeline::k3D)), ElementsAreArray(to_3d));
  EXPECT_THAT(this->Names(this->Select(Pipeline::kGpgpu)), ElementsAreArray(to_gpgpu));
}

TYPED_TEST(PipelineSelectTest, SelectsTheOneThatIsWanted) {
  using Select = typename TypeParam::Packets::PIPELINE_SELECT;
  if (TypeParam::kVersion >= 200) return;
  for (const Pipeline pipeline : {Pipeline::k3D, Pipeline::kGpgpu}) {
    const Select select = Select::unpack(this->Select(pipeline).back().dwords.data());
    EXPECT_EQ(select.pipeline_selection, pipeline == Pipeline::k3D
                                             ? Select::PIPELINE_SELECTION_3D
                                             : Select::PIPELINE_SELECTION_GPGPU);
  }
}

TYPED_TEST(PipelineSelectTest, WaitsAndWritesBackBeforeAnythingIsForgotten) {
  using Pipe = typename TypeParam::PipeControl;
  std::vector<Pipe> pipes;
  for (const Met& packet : this->Select(Pipeline::kGpgpu)) {
    if (packet.name == "PIPE_CONTROL") pipes.push_back(Pipe::unpack(packet.dwords.data()));
  }
  ASSERT_FALSE(pipes.empty());
  EXPECT_TRUE(pipes[0].command_streamer_stall_enable);
  EXPECT_FALSE(pipes[0].texture_cache_invalidation_enable);
  EXPECT_EQ(pipes[0].render_target_cache_flush_enable, TypeParam::kVersion < 200);
  EXPECT_EQ(pipes[0].depth_cache_flush_enable, TypeParam::kVersion < 200);
  if (pipes.size() == 1) return;
  EXPECT_TRUE(pipes[1].texture_cache_invalidation_enable);
  EXPECT_TRUE(pipes[1].state_cache_invalidation_enable);
  EXPECT_FALSE(pipes[1].render_target_cache_flush_enable);
}

}  // namespace
}  // namespace packsmith::intel
