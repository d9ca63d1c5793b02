// Control streams whose chunks, or whose list of uses, are destroyed before them.
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "runtime/agx/control_stream.h"

namespace packsmith::agx {
namespace {

using gpu::BufferUses;
using gpu::HostChunks;
using testing::HasSubstr;
using testing::SizeIs;

using G13 = agx_g13::generation;

class StreamLifetimes : public testing::Test {
 protected:
  void ExpectLost(VdmStream<G13>& vdm, const char* what) {
    EXPECT_EQ(vdm.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(vdm.status().message(), HasSubstr(what));
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(vdm.Emit(agx_g13::VDM_Barrier{.usc_cache_inval = true}));
      EXPECT_FALSE(vdm.EmitBytes({{1, 2, 3, 4}}));
      EXPECT_FALSE(vdm.Jump({0x1000, 7}));
      EXPECT_EQ(vdm.End().code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_EQ(vdm.bytes(), 0u);
      // Neither of these restores what was destroyed.
      i == 0 ? (void)vdm.TakeStatus() : vdm.Reset();
    }
  }

  std::unique_ptr<HostChunks> chunks_ = std::make_unique<HostChunks>();
  std::unique_ptr<BufferUses> uses_ = std::make_unique<BufferUses>();
};

TEST_F(StreamLifetimes, AStreamWithoutItsChunksRefusesEverything) {
  VdmStream<G13> vdm(*chunks_, *uses_);
  ASSERT_TRUE(vdm.Emit(agx_g13::VDM_Barrier{.usc_cache_inval = true}));
  chunks_.reset();
  ExpectLost(vdm, "source of chunks was destroyed before the stream");
}

TEST_F(StreamLifetimes, AStreamWithoutItsListOfUsesRefusesEverything) {
  VdmStream<G13> vdm(*chunks_, *uses_);
  ASSERT_TRUE(vdm.Emit(agx_g13::VDM_Barrier{.usc_cache_inval = true}));
  uses_.reset();
  ExpectLost(vdm, "list of buffer uses was destroyed before the stream");
}

TEST_F(StreamLifetimes, AStreamThatHasEndedCanStillBeAskedWhereItWas) {
  VdmStream<G13> vdm(*chunks_, *uses_);
  ASSERT_TRUE(vdm.End().ok());
  const uint64_t gpu = vdm.parts()[0].chunk.gpu;
  chunks_.reset();
  ASSERT_THAT(vdm.parts(), SizeIs(1));
  EXPECT_EQ(vdm.parts()[0].chunk.gpu, gpu);
  EXPECT_TRUE(vdm.parts()[0].chunk.words.empty());
}

}  // namespace
}  // namespace packsmith::agx
