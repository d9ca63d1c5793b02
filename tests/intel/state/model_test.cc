// Draw states compared with the simplest solution: to emit everything before each draw. The GPU's
// state at each draw must be the same.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/state/constants.h"
#include "tests/intel/state/hardware.h"

namespace packsmith::intel {
namespace {

using testing::IsEmpty;

constexpr unsigned kBuffers = 12;
const address kModelScratch(0x7000, 99);

struct Namer : bits::visitor<Namer> {
  std::mt19937& random;
  void member(const auto&, const auto&, unsigned, unsigned, const char*) {}
  void member(const bits::kinds::address&, packsmith::address& a, unsigned, unsigned, const char*) {
    a.buffer = random() % (kBuffers + 1);
  }
};

// Any value that fits.
template <class P>
P RandomValues(std::mt19937& random) {
  for (unsigned i = 0; i < 10000; ++i) {
    uint32_t dwords[P::length];
    for (uint32_t& dword : dwords) {
      dword = static_cast<uint32_t>(i < 5000 ? random() : random() & random() & random());
    }
    P packet = P::unpack(dwords);
    if (packet.check()) continue;
    Namer namer{{}, random};
    P::ps_layout(packet, namer);
    return packet;
  }
  ADD_FAILURE() << "no value fits";
  return {};
}

// The wanted state of the GPU: packets in the order of the layout, as they were set.
template <class Gen>
class Model {
 public:
  using Layout = StateLayoutOf<Gen>;

  template <class P>
  void Set(const P& packet) {
    uint32_t dwords[P::length];
    ASSERT_FALSE(packet.pack(dwords));
    Entry& entry = entries_[Layout::template IndexOf<P>()];
    entry.dwords.assign(dwords, dwords + P::length);
    entry.buffers.clear();
    if constexpr (requires { packet.constant_body; }) {
      // A buffer of which nothing is read is not used.
      for (unsigned i = 0; i < 4; ++i) {
        if (packet.constant_body.read_length[i] == 0) continue;
        entry.buffers.push_back(packet.constant_body.buffer[i].buffer);
      }
    } else {
      packet.for_each_address(
          [&](const address& a, auto&&...) { entry.buffers.push_back(a.buffer); });
    }
  }
  template <class P>
  void SetItems(const P& packet, const std::vector<typename P::ps_item>& items) {
    Entry& entry = entries_[Layout::template IndexOf<P>()];
    entry.dwords.resize(P::dwords_needed(static_cast<unsigned>(items.size())));
    ASSERT_FALSE(packet.pack(entry.dwords.data(), items));
    entry.buffers.clear();
    packet.for_each_address([&](const address& a, auto&&...) { entry.buffers.push_back(a.buffer); },
                            items);
  }
  template <class P>
  void SetEach(const std::vector<P>& packets) {
    Entry& entry = entries_[Layout::template IndexOf<P>()];
    entry.dwords.resize(packets.size() * P::length);
    for (size_t i = 0; i < packets.size(); ++i) {
      ASSERT_FALSE(packets[i].pack(entry.dwords.data() + i * P::length));
    }
    entry.buffers.clear();
    for (const P& packet : packets) {
      packet.for_each_address(
          [&](const address& a, auto&&...) { entry.buffers.push_back(a.buffer); });
    }
  }

  void EmitAll(Batch<Gen>& batch) const {
    for (const auto& [packet, entry] : entries_) batch.EmitDwords(absl::MakeSpan(entry.dwords));
  }
  std::set<uint32_t> Buffers() const {
    std::set<uint32_t> all;
    for (const auto& [packet, entry] : entries_) {
      all.insert(entry.buffers.begin(), entry.buffers.end());
    }
    all.erase(0);
    return all;
  }

  // The groups in which this differs from what was emitted, or of which that is unknown.
  StateGroups Dirty() const {
    StateGroups dirty = 0;
    for (const auto& [packet, entry] : entries_) {
      const unsigned group = Layout::kMade.packets[packet].group;
      const auto found = emitted_.find(packet);
      if (found == emitted_.end() || !(found->second == entry)) dirty |= StateGroup(group);
    }
    return dirty;
  }
  void Flushed() { emitted_ = entries_; }
  void Lose(StateGroups groups) {
    for (auto at = emitted_.begin(); at != emitted_.end();) {
      const bool lost = (groups & StateGroup(Layout::kMade.packets[at->first].group)) != 0;
      at = lost ? emitted_.erase(at) : std::next(at);
    }
  }

 private:
  struct Entry {
    std::vector<uint32_t> dwords;
    std::vector<uint32_t> buffers;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::map<unsigned, Entry> entries_, emitted_;
};

// Does the same to both, at random. Each packet has few values, so that many sets change nothing.
template <class Gen>
class Driver {
  using G = typename Gen::Packets;
  using Raster = typename G::_3DSTATE_RASTER;
  using Depth = typename G::_3DSTATE_WM_DEPTH_STENCIL;
  static constexpr bool kMeshes = requires { typename G::_3DSTATE_MESH_SHADER; };

 public:
  explicit Driver(unsigned seed) : random_(seed) {
    Pools<typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_CC,
          typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP, typename G::_3DSTATE_URB_VS,
          typename G::_3DSTATE_URB_HS, typename G::_3DSTATE_URB_DS, typename G::_3DSTATE_URB_GS,
          typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_VS, typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_HS,
          typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_DS, typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_GS,
          typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_PS, typename G::_3DSTATE_CONSTANT_VS,
          typename G::_3DSTATE_CONSTANT_HS, typename G::_3DSTATE_CONSTANT_DS,
          typename G::_3DSTATE_CONSTANT_GS, typename G::_3DSTATE_CONSTANT_PS,
          typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS,
          typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS,
          typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS,
          typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS,
          typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS,
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_PS, typename G::_3DSTATE_BLEND_STATE_POINTERS,
          typename G::_3DSTATE_MULTISAMPLE, typename G::_3DSTATE_VS, typename G::_3DSTATE_PS,
          typename G::_3DSTATE_DEPTH_BUFFER, typename G::_3DSTATE_STENCIL_BUFFER,
          typename G::_3DSTATE_HIER_DEPTH_BUFFER, typename G::_3DSTATE_LINE_STIPPLE,
          typename G::_3DSTATE_VF_TOPOLOGY, typename G::_3DSTATE_VF_SGVS,
          typename G::_3DSTATE_INDEX_BUFFER, typename G::_3DSTATE_STREAMOUT>();
    SharedConstants<typename G::_3DSTATE_CONSTANT_VS, typename G::_3DSTATE_CONSTANT_HS,
                    typename G::_3DSTATE_CONSTANT_DS, typename G::_3DSTATE_CONSTANT_GS,
                    typename G::_3DSTATE_CONSTANT_PS>();
    if constexpr (requires { typename G::_3DSTATE_SO_BUFFER_INDEX_0; }) {
      Pools<typename G::_3DSTATE_SO_BUFFER_INDEX_0, typename G::_3DSTATE_SO_BUFFER_INDEX_1,
            typename G::_3DSTATE_SO_BUFFER_INDEX_2, typename G::_3DSTATE_SO_BUFFER_INDEX_3>();
    } else {
      AddStreamOutBuffers();
    }
    if constexpr (kMeshes) {
      Pools<typename G::_3DSTATE_URB_ALLOC_MESH, typename G::_3DSTATE_URB_ALLOC_TASK,
            typename G::_3DSTATE_TASK_CONTROL, typename G::_3DSTATE_MESH_CONTROL,
            typename G::_3DSTATE_TASK_SHADER, typename G::_3DSTATE_TASK_REDISTRIB,
            typename G::_3DSTATE_MESH_SHADER, typename G::_3DSTATE_MESH_DISTRIB,
            typename G::_3DSTATE_CLIP_MESH, typename G::_3DSTATE_SBE_MESH,
            typename G::_3DSTATE_TASK_SHADER_DATA, typename G::_3DSTATE_MESH_SHADER_DATA>();
    }
    if constexpr (requires { typename G::_3DSTATE_CPS_POINTERS; }) {
      Pools<typename G::_3DSTATE_CPS_POINTERS, typename G::_3DSTATE_PRIMITIVE_REPLICATION>();
    } else if constexpr (requires { typename G::_3DSTATE_COARSE_PIXEL; }) {
      Pools<typename G::_3DSTATE_COARSE_PIXEL, typename G::_3DSTATE_PRIMITIVE_REPLICATION>();
    }
    if constexpr (requires { typename G::_3DSTATE_CLEAR_PARAMS; }) {
      Pools<typename G::_3DSTATE_CLEAR_PARAMS>();
    }
    using Buffer = typename G::VERTEX_BUFFER_STATE;
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<Buffer> items(random_() % 6 + 1);
      for (Buffer& item : items) item = RandomValues<Buffer>(random_);
      Item(typename G::_3DSTATE_VERTEX_BUFFERS(), items);
      std::vector<typename G::VERTEX_ELEMENT_STATE> elements(random_() % 6 + 1);
      for (auto& item : elements) item = RandomValues<typename G::VERTEX_ELEMENT_STATE>(random_);
      Item(typename G::_3DSTATE_VERTEX_ELEMENTS(), elements);
      std::vector<typename G::SO_DECL_ENTRY> declarations(random_() % 4 + 1);
      for (auto& item : declarations) item = RandomValues<typename G::SO_DECL_ENTRY>(random_);
      Item(RandomValues<typename G::_3DSTATE_SO_DECL_LIST>(random_), declarations);
      std::vector<typename G::_3DSTATE_VF_INSTANCING> instancing(elements.size());
      for (unsigned e = 0; e < instancing.size(); ++e) {
        instancing[e].vertex_element_index = e;
        instancing[e].instance_data_step_rate = random_() % 2;
      }
      actions_.push_back([this, instancing] {
        EXPECT_TRUE(state_.SetEach(span<const typename G::_3DSTATE_VF_INSTANCING>(instancing)));
        model_.SetEach(instancing);
      });
    }
    AddPipelines();
    state_.InheritAll();
    for (const auto& [index, packet] : first_) packet();
    for (size_t i = actions_.size(); i-- > 0;) actions_[i]();
    raster_ = raster_pipelines_[0];
    depth_ = depth_pipelines_[0];
    Bind(0);
  }

  // Changes something, perhaps, and draws.
  void Step() {
    const unsigned changes = random_() % 6;
    for (unsigned i = 0; i < changes; ++i) actions_[random_() % actions_.size()]();
    EXPECT_EQ(state_.dirty() & ~StateLayoutOf<Gen>::kDerived, model_.Dirty());
    const StateGroups emitted = state_.ToEmit();
    const size_t before = batch_->dwords();
    const bool meshes = kMeshes && random_() % 3 == 0;
    const bool flushed = [&] {
      if constexpr (kMeshes) {
        if (meshes) return state_.template Flush<typename G::_3DMESH_1D>(*batch_);
      }
      return state_.Flush(*batch_);
    }();
    ASSERT_TRUE(flushed) << state_.status() << batch_->status();
    EXPECT_EQ(emitted == 0, batch_->dwords() == before);
    EXPECT_EQ(state_.dirty(), 0u);
    model_.EmitAll(*naive_);
    model_.Flushed();
    if (meshes) {
      if constexpr (kMeshes) EmitBoth(typename G::_3DMESH_1D{.threadgroup_count_x = 1});
    } else {
      EmitBoth(typename G::_3DPRIMITIVE{.instance_count = 1});
    }
    for (uint32_t buffer : model_.Buffers()) {
      ASSERT_TRUE(batch_->uses().Find(buffer).has_value()) << buffer;
    }
  }
  // Packets that are not part of the state.
  template <class P>
  void Emit() {
    EmitBoth(RandomValues<P>(random_));
    state_.template Emitted<P>();
    model_.Lose(StateLayoutOf<Gen>::template kLostWith<P>);
  }
  // Goes on in another batch: in the same context, or in a new one.
  void NextBatch(bool same_context) {
    End(*batch_, *chunks_, hardware_);
    End(*naive_, *naive_chunks_, naive_hardware_);
    MakeBatches();
    if (same_context) {
      state_.Resume(*batch_);
      model_.Lose(StateLayoutOf<Gen>::template kLostWith<typename Gen::BatchEnd>);
    } else {
      state_.Forget();
      state_.InheritAll();
      model_.Lose(~StateGroups{0});
      hardware_.Lose();
      naive_hardware_.Lose();
    }
  }
  void Finish() {
    NextBatch(true);
    ASSERT_EQ(hardware_.draws().size(), naive_hardware_.draws().size());
    for (size_t i = 0; i < hardware_.draws().size(); ++i) {
      ASSERT_EQ(hardware_.draws()[i], naive_hardware_.draws()[i]) << "draw " << i;
    }
    EXPECT_LT(dwords_, naive_dwords_);
  }
  std::mt19937& random() { return random_; }

 private:
  template <class P>
  void EmitBoth(const P& packet) {
    batch_->Emit(packet);
    naive_->Emit(packet);
  }
  void AddStreamOutBuffers() {
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<typename G::_3DSTATE_SO_BUFFER> buffers(kStreamOutBuffers);
      for (unsigned b = 0; b < kStreamOutBuffers; ++b) {
        buffers[b] = RandomValues<typename G::_3DSTATE_SO_BUFFER>(random_);
        buffers[b].so_buffer_index = b;
      }
      actions_.push_back([this, buffers] {
        EXPECT_TRUE(state_.SetEach(span<const typename G::_3DSTATE_SO_BUFFER>(buffers)));
        model_.SetEach(buffers);
      });
    }
  }
  template <class... P>
  void Pools() {
    (Pool<P>(), ...);
  }
  template <class P>
  void Pool() {
    for (unsigned i = 0; i < 3; ++i) {
      const P packet = RandomValues<P>(random_);
      const auto set = [this, packet] {
        EXPECT_TRUE(state_.Set(packet));
        model_.Set(packet);
      };
      actions_.push_back(set);
      first_[StateLayoutOf<Gen>::template IndexOf<P>()] = set;
    }
  }
  // Constants that several stages may have.
  template <class... P>
  void SharedConstants() {
    for (unsigned i = 0; i < 3; ++i) {
      typename G::_3DSTATE_CONSTANT_BODY body;
      for (unsigned b = 0; b < i; ++b) {
        body.read_length[3 - b] = random_() % 40;
        body.buffer[3 - b] = address(random_() % 1000 * 32, 1 + random_() % kBuffers);
      }
      (actions_.push_back([this, packet = ConstantsPacket<P>(4, body)] {
        EXPECT_TRUE(state_.Set(packet));
        model_.Set(packet);
      }),
       ...);
    }
  }
  template <class P>
  void Item(const P& packet, const std::vector<typename P::ps_item>& items) {
    actions_.push_back([this, packet, items] {
      EXPECT_TRUE(SetAsArray(packet, items));
      model_.SetItems(packet, items);
    });
  }
  // Few items as an array: where programs are optimised these are packed in place.
  template <class P, class Item>
  bool SetAsArray(const P& packet, const std::vector<Item>& items) {
    const auto array = [&]<class... I>(I... i) {
      const Item few[] = {items[i]...};
      return state_.SetItems(packet, few);
    };
    switch (items.size()) {
      case 1:
        return array(0u);
      case 2:
        return array(0u, 1u);
      case 3:
        return array(0u, 1u, 2u);
      default:
        return state_.SetItems(packet, items);
    }
  }

  // Two packets with dynamic members, the one some, the other ones in some of the pipelines only.
  void AddPipelines() {
    for (unsigned i = 0; i < 3; ++i) {
      raster_pipelines_[i] = RandomValues<Raster>(random_);
      depth_pipelines_[i] = RandomValues<Depth>(random_);
      const auto vs = RandomValues<typename G::_3DSTATE_VS>(random_);
      pipeline_vs_[i] = vs;
      PipelineState<Gen>& pipeline = pipelines_[i];
      EXPECT_TRUE(
          (pipeline.template AddPartial<&Raster::cull_mode, &Raster::global_depth_offset_clamp>(
              raster_pipelines_[i])));
      if (i == 0) {
        EXPECT_TRUE(pipeline.Add(depth_pipelines_[i]));
      } else {
        EXPECT_TRUE(
            (pipeline.template AddPartial<&Depth::stencil_test_mask, &Depth::depth_test_function>(
                depth_pipelines_[i])));
      }
      EXPECT_TRUE(pipeline.Add(vs));
      EXPECT_TRUE(pipeline.status().ok());
      actions_.push_back([this, i] { Bind(i); });
      actions_.push_back([this] {
        const uint32_t cull = random_() % 4;
        const float clamp = static_cast<float>(random_() % 3);
        EXPECT_TRUE(
            (state_.template SetFields<&Raster::cull_mode, &Raster::global_depth_offset_clamp>(
                cull, clamp)));
        dynamic_raster_.cull_mode = cull;
        dynamic_raster_.global_depth_offset_clamp = clamp;
        SetDynamic();
      });
      actions_.push_back([this] {
        const uint32_t mask = random_() % 256;
        EXPECT_TRUE(state_.template SetFields<&Depth::stencil_test_mask>(mask));
        dynamic_depth_.stencil_test_mask = mask;
        SetDynamic();
      });
    }
    // A packet that a pipeline has, too: the last one that was set counts.
    actions_.push_back([this] {
      const Raster raster = raster_pipelines_[random_() % 3];
      EXPECT_TRUE(state_.Set(raster));
      raster_ = raster;
      raster_is_dynamic_ = false;
      SetDynamic();
    });
    dynamic_raster_.cull_mode = 0;
    dynamic_raster_.global_depth_offset_clamp = 0;
    dynamic_depth_.stencil_test_mask = 0;
    dynamic_depth_.depth_test_function = {};
  }
  void Bind(unsigned i) {
    state_.Bind(pipelines_[i]);
    raster_ = raster_pipelines_[i];
    raster_is_dynamic_ = true;
    depth_ = depth_pipelines_[i];
    depth_is_dynamic_ = i != 0;
    model_.Set(pipeline_vs_[i]);
    SetDynamic();
  }
  void SetDynamic() {
    Raster raster = raster_;
    if (raster_is_dynamic_) {
      raster.cull_mode = dynamic_raster_.cull_mode;
      raster.global_depth_offset_clamp = dynamic_raster_.global_depth_offset_clamp;
    }
    Depth depth = depth_;
    if (depth_is_dynamic_) {
      depth.stencil_test_mask = dynamic_depth_.stencil_test_mask;
      depth.depth_test_function = dynamic_depth_.depth_test_function;
    }
    model_.Set(raster);
    model_.Set(depth);
  }

  void MakeBatches() {
    // Small chunks: groups must continue in the next one.
    chunks_ = std::make_unique<gpu::HostChunks>(gpu::HostChunks::Options{.chunk_dwords = 600});
    naive_chunks_ = std::make_unique<gpu::HostChunks>();
    batch_ = std::make_unique<Batch<Gen>>(*chunks_);
    naive_ = std::make_unique<Batch<Gen>>(*naive_chunks_);
  }
  void End(Batch<Gen>& batch, gpu::HostChunks& chunks, Hardware& hardware) {
    (&batch == batch_.get() ? dwords_ : naive_dwords_) += batch.dwords();
    ASSERT_TRUE(batch.End().ok()) << batch.status();
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    ASSERT_THAT(decoded.problems, IsEmpty());
    hardware.Run(ConstantsByStage<Gen>(decoded.packets));
  }

  std::mt19937 random_;
  DrawState<Gen> state_{kModelScratch};
  Model<Gen> model_;
  std::vector<std::function<void()>> actions_;
  std::map<unsigned, std::function<void()>> first_;
  std::array<PipelineState<Gen>, 3> pipelines_;
  std::array<Raster, 3> raster_pipelines_;
  std::array<Depth, 3> depth_pipelines_;
  std::array<typename G::_3DSTATE_VS, 3> pipeline_vs_;
  Raster raster_, dynamic_raster_;
  Depth depth_, dynamic_depth_;
  bool raster_is_dynamic_ = false, depth_is_dynamic_ = false;
  std::unique_ptr<gpu::HostChunks> chunks_ = std::make_unique<gpu::HostChunks>();
  std::unique_ptr<gpu::HostChunks> naive_chunks_ = std::make_unique<gpu::HostChunks>();
  std::unique_ptr<Batch<Gen>> batch_ = std::make_unique<Batch<Gen>>(*chunks_);
  std::unique_ptr<Batch<Gen>> naive_ = std::make_unique<Batch<Gen>>(*naive_chunks_);
  Hardware hardware_{*FindGeneration(Gen::kName)}, naive_hardware_{*FindGeneration(Gen::kName)};
  size_t dwords_ = 0, naive_dwords_ = 0;
};

template <class Gen>
class ModelTest : public testing::Test {};
TYPED_TEST_SUITE(ModelTest, Generations);

TYPED_TEST(ModelTest, DrawsFindTheSameAsIfEverythingWereEmittedEachTime) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Driver<TypeParam> driver(seed);
    for (unsigned i = 0; i < 400 && !this->HasFatalFailure(); ++i) {
      driver.Step();
      switch (driver.random()() % 24) {
        case 0:
          driver.template Emit<typename TypeParam::Packets::STATE_BASE_ADDRESS>();
          break;
        case 1:
          driver.template Emit<typename TypeParam::Packets::_3DSTATE_BINDING_TABLE_POOL_ALLOC>();
          break;
        case 2:
          driver.NextBatch(/*same_context=*/true);
          break;
        case 3:
          driver.NextBatch(/*same_context=*/false);
          break;
        default:
          break;
      }
    }
    driver.Finish();
  }
}

}  // namespace
}  // namespace packsmith::intel
