// A binder and a draw state together: the use of the binder's events.
#include "gtest/gtest.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/binding/scene.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class BinderStateTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Topology = typename G::_3DSTATE_VF_TOPOLOGY;

  explicit BinderStateTest() {
    Topology topology;
    topology.primitive_topology_type = G::_3D_Prim_Topo_Type::TRILIST;
    EXPECT_TRUE(state_.Set(topology));
    SetConstants<typename G::_3DSTATE_CONSTANT_VS, typename G::_3DSTATE_CONSTANT_HS,
                 typename G::_3DSTATE_CONSTANT_DS, typename G::_3DSTATE_CONSTANT_GS,
                 typename G::_3DSTATE_CONSTANT_PS>();
  }
  template <class... P>
  void SetConstants() {
    const auto set = [&](auto packet) {
      if constexpr (requires { packet.mocs; }) packet.mocs = 4;  // Gfx8 has no such field
      EXPECT_TRUE(state_.Set(packet));
    };
    (set(P()), ...);
  }

  // A driver's handling of events.
  void Take(const Binder<Gen>& binder, BindingEvents events) {
    if ((events & kSurfaceBaseMoved) != 0) {
      state_.template Emitted<typename G::STATE_BASE_ADDRESS>();
    }
    if ((events & kTablePoolMoved) != 0) {
      state_.template Emitted<typename G::_3DSTATE_BINDING_TABLE_POOL_ALLOC>();
    }
    using enum BindingStage;
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS{
        .pointer_to_vs_binding_table = binder.pointer(kVertex)}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS{
        .pointer_to_hs_binding_table = binder.pointer(kHull)}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS{
        .pointer_to_ds_binding_table = binder.pointer(kDomain)}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS{
        .pointer_to_gs_binding_table = binder.pointer(kGeometry)}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS{
        .pointer_to_ps_binding_table = binder.pointer(kPixel)}));
  }

  DrawState<Gen> state_{address(0x7000)};
};
TYPED_TEST_SUITE(BinderStateTest, Generations);

// The draw state drops pointers that have not changed, so that only the events make it emit them
// after a move.
TYPED_TEST(BinderStateTest, DrawsHaveTheirTablesAfterMovesToo) {
  for (const BindingModel model : {BindingModel::kBinder, BindingModel::kBlocks}) {
    Scene<TypeParam> scene(model);
    this->state_.Forget();
    this->state_.InheritAll();  // the stages' packets are not the binder's
    scene.Run([&](BindingEvents events) {
      this->Take(*scene.world.binder, events);
      EXPECT_TRUE(this->state_.Flush(scene.world.batch))
          << this->state_.status() << scene.world.batch.status();
    });
    scene.Verify();
  }
}

}  // namespace
}  // namespace packsmith::intel
