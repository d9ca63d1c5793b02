// Batches with binding tables, read by the decoder.
#include "gtest/gtest.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/binding/scene.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class BinderDecodeTest : public testing::Test {};
TYPED_TEST_SUITE(BinderDecodeTest, Generations);

TYPED_TEST(BinderDecodeTest, EveryEntryLeadsToTheSurfaceThatWasBound) {
  for (const BindingModel model : {BindingModel::kBinder, BindingModel::kBlocks}) {
    Scene<TypeParam> scene(model);
    scene.Run([&](BindingEvents events) {
      EXPECT_TRUE(scene.world.binder->EmitPointers(scene.world.batch, events));
    });
    scene.Verify();
  }
}

}  // namespace
}  // namespace packsmith::intel
