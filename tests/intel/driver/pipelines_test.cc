// Pipelines that a cache keeps from one run to the next, restart indices, and the switches of
// PACKSMITH_DEBUG that concern command buffers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/debug.h"
#include "runtime/intel/driver/saved_bytes.h"
#include "runtime/intel/driver/thread_scratch.h"
#include "runtime/intel/shader/pipeline_cache.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class PipelinesTest : public DrawFixture {
 protected:
  ~PipelinesTest() override { SetDebug(0); }
  static void On(DebugSwitch which) { SetDebug(static_cast<uint32_t>(which)); }

  // With the right checksum.
  static DrawnBytes Resealed(absl::Span<const uint8_t> bytes) {
    SavedBytes sealed;
    for (const uint8_t byte : bytes.first(bytes.size() - 4)) sealed.Put(byte);
    sealed.Seal();
    return {sealed.bytes().begin(), sealed.bytes().end()};
  }

  static constexpr CacheKey kKey = {.low = 1, .high = 2}, kOther = {.low = 2, .high = 2};

  // The fragment shader, or that of meshes, spills more than the shaders before it.
  static constexpr uint32_t kPixelFactor = 3;

  // A run of a program with this cache: a pipeline of kernels whose code begins with these bytes.
  struct Run {
    Run(const std::string& generation, PipelineCache& cache)
        // The smallest part's URB has no room for all stages.
        : machine(generation,
                  {.pipelines = &cache, .part = generation == "gfx8" ? "bdw gt3" : ""}) {}

    absl::StatusOr<std::unique_ptr<GraphicsPipeline>> New(const CacheKey* key,
                                                          const ShaderScratch& scratch = {}) {
      // Two kernels in one upload, and another one.
      DrawnBytes code(192, 0x11), other(64, 0x22);
      const auto first = machine.context->NewKernel(code),
                 second = machine.context->NewKernel(other);
      EXPECT_TRUE(first.ok() && second.ok());
      VertexShader vertex{.entry = {.offset = *first, .start_register = 2}, .urb_read_length = 1};
      vertex.program.scratch = scratch;
      FragmentShader fragment{.simd16 = ShaderEntry{.offset = *first + 128, .start_register = 4},
                              .simd32 = ShaderEntry{.offset = *second, .start_register = 6}};
      fragment.program.scratch = scratch;
      fragment.program.scratch.bytes_per_thread *= kPixelFactor;
      const Varying varyings[] = {Location(0)};
      const StreamedVarying streamed[] = {{.what = Varying::kPosition}};
      const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32_FLOAT}};
      const BlendTarget blend[] = {BlendTarget::Over()};
      return machine.context->NewGraphicsPipeline(
          {.shaders = {.vertex = &vertex, .fragment = &fragment},
           .varyings = varyings,
           .vertices = {.attributes = attributes, .primitive_restart = true},
           .rasterization = {.cull = CullMode::kBack},
           .blend = {.targets = blend},
           .stream_output = {.varyings = streamed, .strides = {16}},
           .key = key});
    }
    // The states at a draw with it.
    ExecutedWork Draw(const GraphicsPipeline& pipeline) {
      const auto commands = machine.context->NewCommandBuffer({});
      EXPECT_TRUE(commands.ok());
      EXPECT_TRUE((*commands)->Bind(pipeline)) << (*commands)->status();
      EXPECT_TRUE((*commands)->SetVertexBuffers({})) << (*commands)->status();
      const gpu::Buffer indices = machine.BufferOf("indices", DrawnBytes(64, 0));
      EXPECT_TRUE((*commands)->SetIndexBuffer(
          {.memory = {indices.address, indices.handle}, .size = 64, .type = IndexType::kUint16}));
      EXPECT_TRUE((*commands)->Draw({.vertices = 3, .indexed = true})) << (*commands)->status();
      return Last(**commands);
    }
    // One with all stages before the rasterizer, each of which spills twice as much as the one
    // before it.
    absl::StatusOr<std::unique_ptr<GraphicsPipeline>> NewPatches(const CacheKey* key,
                                                                 const ShaderScratch& scratch) {
      const auto kernel = machine.context->NewKernel(DrawnBytes(64, 0x11));
      EXPECT_TRUE(kernel.ok());
      const bool single = machine.context->generation().version < 200;
      ShaderScratch next = scratch;
      const auto program = [&] {
        next.bytes_per_thread *= 2;
        return ShaderProgram{.scratch = next};
      };
      const VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2},
                                .urb_read_length = 1};
      const TessControlShader control{
          .program = program(),
          .entry = {.offset = *kernel, .start_register = 2},
          .dispatch = single ? HullDispatch::kSinglePatch : HullDispatch::kPatchPerLane,
          .input_control_points = 3};
      const TessEvalShader eval{.program = program(),
                                .entry = {.offset = *kernel, .start_register = 4},
                                .patch_read_length = 1};
      const GeometryShader geometry{.program = program(),
                                    .entry = {.offset = *kernel, .start_register = 2}};
      return machine.context->NewGraphicsPipeline(
          {.shaders = {.vertex = &vertex,
                       .tess_control = &control,
                       .tess_eval = &eval,
                       .geometry = &geometry},
           .vertices = {.topology = Topology::kPatchList, .patch_points = 3},
           .key = key});
    }
    // One of tasks and meshes.
    absl::StatusOr<std::unique_ptr<GraphicsPipeline>> NewMeshes(const CacheKey* key,
                                                                const ShaderScratch& scratch) {
      const auto kernel = machine.context->NewKernel(DrawnBytes(64, 0x11));
      EXPECT_TRUE(kernel.ok());
      WorkgroupProgram group{.entry = *kernel, .invocations = 32};
      group.program.scratch = scratch;
      const TaskShader task{.group = group};
      group.program.scratch.bytes_per_thread *= kPixelFactor;
      const MeshShader mesh{.group = group, .most_primitives = 16, .vertex_pitch_bytes = 64};
      return machine.context->NewGraphicsPipeline(
          {.task = &task, .mesh = &mesh, .task_urb_units = 4, .mesh_urb_units = 20, .key = key});
    }
    ExecutedWork DrawMeshes(const GraphicsPipeline& pipeline) {
      const auto commands = machine.context->NewCommandBuffer({});
      EXPECT_TRUE(commands.ok());
      EXPECT_TRUE((*commands)->Bind(pipeline)) << (*commands)->status();
      EXPECT_TRUE((*commands)->Draw(MeshDrawCall{.x = 2})) << (*commands)->status();
      return Last(**commands);
    }
    ExecutedWork Last(CommandBuffer& commands) {
      const size_t before = machine.works.size();
      machine.Run(commands);
      EXPECT_EQ(machine.works.size(), before + 1);
      return machine.works.empty() ? ExecutedWork() : machine.works.back();
    }

    Machine machine;
  };

  // What is allocated next is elsewhere than in a run without this.
  static void TakeScratch(const Run& run) {
    EXPECT_TRUE(run.machine.context->ScratchFor(ScratchStage::kVertex, 65536).ok());
  }
  // That a pipeline that the cache keeps has, in another run, the packets that it would have if it
  // were made there. make(run, key); draw: a method of Run.
  template <class Make, class Draw>
  void ExpectOwnScratch(const Make& make, Draw draw, std::vector<const char*> packets) {
    if (!KnowsScratch()) GTEST_SKIP();
    PipelineCache cache({.identity = "test"});
    Run first(GetParam(), cache), second(GetParam(), cache);
    const auto saved = make(first, &kKey);
    ASSERT_TRUE(saved.ok()) << saved.status();
    EXPECT_EQ(cache.statistics().entries, 1u);
    TakeScratch(second);
    const auto found = second.machine.context->FindGraphicsPipeline(kKey);
    ASSERT_TRUE(found.ok()) << found.status();
    const auto made = make(second, nullptr);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(Buffers(**found), Buffers(**made));
    EXPECT_FALSE(Buffers(**found).empty());
    const ExecutedWork before = (first.*draw)(**saved), after = (second.*draw)(**found),
                       expected = (second.*draw)(**made);
    for (const char* const packet : packets) {
      EXPECT_EQ(PacketOf(after, packet), PacketOf(expected, packet)) << packet;
      EXPECT_NE(PacketOf(after, packet), PacketOf(before, packet)) << packet;
    }
    EXPECT_EQ(second.machine.problems, std::vector<std::string>());
  }
  static std::vector<uint32_t> Buffers(const GraphicsPipeline& pipeline) {
    std::vector<uint32_t> buffers;
    for (const gpu::BufferUse& use : pipeline.scratch_uses()) buffers.push_back(use.buffer);
    return buffers;
  }
  static std::vector<uint32_t> PacketOf(const ExecutedWork& work, absl::string_view name) {
    for (const auto& [packet, dwords] : work.states) {
      if (packet == name) return dwords;
    }
    ADD_FAILURE() << name;
    return {};
  }
};
INSTANTIATE_TEST_SUITE_P(, PipelinesTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(PipelinesTest, ASecondRunMapsThePipelineWithItsKernels) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/cache-" + GetParam();
  ExecutedWork first;
  {
    PipelineCache cache({.identity = "test"});
    Run run(GetParam(), cache);
    EXPECT_EQ(run.machine.context->FindGraphicsPipeline(kKey).status().code(),
              absl::StatusCode::kNotFound);
    const auto pipeline = run.New(&kKey);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    EXPECT_EQ(cache.statistics().entries, 1u);
    first = run.Draw(**pipeline);
    ASSERT_TRUE(cache.Save(path).ok());
  }
  PipelineCache cache({.identity = "test"});
  ASSERT_TRUE(cache.Load(path).ok());
  EXPECT_EQ(cache.statistics().mapped, 1u);
  Run run(GetParam(), cache);
  // Other kernels are where the first run had those of the pipeline.
  ASSERT_TRUE(run.machine.context->NewKernel(DrawnBytes(1024, 0x33)).ok());
  const auto pipeline = run.machine.context->FindGraphicsPipeline(kKey);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ((*pipeline)->vertex_plan().count, 1u);
  const ExecutedWork second = run.Draw(**pipeline);
  EXPECT_EQ(run.machine.problems, std::vector<std::string>());

  // All states are the same but where kernels and memory are.
  ASSERT_EQ(first.states.size(), second.states.size());
  size_t kernels = 0;
  for (size_t i = 0; i < first.states.size(); ++i) {
    const auto& [name, dwords] = first.states[i];
    SCOPED_TRACE(name);
    ASSERT_EQ(name, second.states[i].first);
    std::vector<uint32_t> other = second.states[i].second;
    ASSERT_EQ(dwords.size(), other.size());
    for (size_t d = 0; d < dwords.size(); ++d) {
      if (dwords[d] == other[d]) continue;
      const bool points = name == "3DSTATE_VS" || name == "3DSTATE_PS";
      ASSERT_TRUE(points) << d;
      // What is there now is what was there then.
      uint8_t bytes[4] = {};
      const uint64_t at = run.machine.context->kernel_pool().base() + (other[d] & ~uint32_t{63});
      ASSERT_TRUE(run.machine.device->Read(0, at, absl::MakeSpan(bytes)).ok());
      EXPECT_TRUE(bytes[0] == 0x11 || bytes[0] == 0x22) << int{bytes[0]};
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 3u);
}

// Bytes that a shader's thread spills.
constexpr ShaderScratch kSpills = {.bytes_per_thread = 3000};

TEST_P(PipelinesTest, ASecondRunSpillsToItsOwnMemory) {
  ExpectOwnScratch([](Run& run, const CacheKey* key) { return run.New(key, kSpills); }, &Run::Draw,
                   {"3DSTATE_VS", "3DSTATE_PS"});
}

TEST_P(PipelinesTest, ASecondRunsPatchesSpillToItsOwnMemory) {
  ExpectOwnScratch([](Run& run, const CacheKey* key) { return run.NewPatches(key, kSpills); },
                   &Run::Draw, {"3DSTATE_HS", "3DSTATE_DS", "3DSTATE_GS"});
}

TEST_P(PipelinesTest, ASecondRunsMeshesSpillToItsOwnMemory) {
  if (!HasMeshes()) GTEST_SKIP();
  ExpectOwnScratch([](Run& run, const CacheKey* key) { return run.NewMeshes(key, kSpills); },
                   &Run::DrawMeshes, {"3DSTATE_TASK_CONTROL", "3DSTATE_MESH_CONTROL"});
}

TEST_P(PipelinesTest, SizesOfScratchMemoryThatNoPipelineHasAreDataLoss) {
  if (!KnowsScratch()) GTEST_SKIP();
  PipelineCache cache({.identity = "test"});
  Run first(GetParam(), cache), second(GetParam(), cache);
  ASSERT_TRUE(first.New(&kKey, kSpills).ok());
  const absl::Span<const uint8_t> kept = *cache.Find(kKey);
  ScratchBytes sizes;
  sizes[ScratchStage::kVertex] = kSpills.bytes_per_thread;
  sizes[ScratchStage::kPixel] = kSpills.bytes_per_thread * kPixelFactor;
  const auto bytes_of = [](const ScratchBytes& of) {
    return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&of), sizeof(of));
  };
  const auto was = bytes_of(sizes);
  const auto place = std::search(kept.begin(), kept.end(), was.begin(), was.end());
  ASSERT_NE(place, kept.end());
  const auto find = [&](ScratchStage stage, uint32_t bytes) {
    ScratchBytes other = sizes;
    other[stage] = bytes;
    DrawnBytes changed(kept.begin(), kept.end());
    const auto now = bytes_of(other);
    std::copy(now.begin(), now.end(), changed.begin() + (place - kept.begin()));
    const CacheKey key = {.low = 100 + uint64_t{bytes}, .high = static_cast<uint64_t>(stage)};
    cache.Add(key, Resealed(changed));
    return second.machine.context->FindGraphicsPipeline(key).status();
  };
  EXPECT_TRUE(find(ScratchStage::kVertex, 1024).ok());
  EXPECT_TRUE(find(ScratchStage::kPixel, 0).ok());
  for (const uint32_t bytes : {uint32_t{4 << 20}, ~uint32_t{0}}) {
    EXPECT_EQ(find(ScratchStage::kVertex, bytes).code(), absl::StatusCode::kDataLoss) << bytes;
  }
  // Stages that the pipeline does not have, or that no pipeline has.
  EXPECT_EQ(find(ScratchStage::kCompute, 1024).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(find(ScratchStage::kTask, 1024).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(find(ScratchStage::kMesh, 1024).code(), absl::StatusCode::kDataLoss);
}

TEST_P(PipelinesTest, WhatDoesNotHoldInAnotherRunIsNotKept) {
  PipelineCache cache({.identity = "test"});
  Run run(GetParam(), cache);
  EXPECT_TRUE(run.New(nullptr).ok());
  EXPECT_EQ(cache.statistics().entries, 0u);
  // Scratch memory of the program's own.
  EXPECT_TRUE(run.New(&kKey, {.bytes_per_thread = 1024, .surface = 64}).ok());
  EXPECT_EQ(cache.statistics().entries, 0u);
  // Kernels that the context did not upload.
  VertexShader vertex{.entry = {.offset = 0x100000, .start_register = 2}};
  const auto pipeline =
      run.machine.context->NewGraphicsPipeline({.shaders = {.vertex = &vertex}, .key = &kKey});
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(cache.statistics().entries, 0u);
}

TEST_P(PipelinesTest, WhatIsNotAPipelineIsDataLoss) {
  PipelineCache cache({.identity = "test"});
  Run run(GetParam(), cache);
  ASSERT_TRUE(run.New(&kKey).ok());
  const absl::Span<const uint8_t> whole = *cache.Find(kKey);
  uint64_t low = 100;
  const auto find = [&](absl::Span<const uint8_t> bytes) {
    const CacheKey key = {.low = ++low};
    cache.Add(key, bytes);
    return run.machine.context->FindGraphicsPipeline(key).status();
  };
  EXPECT_TRUE(find(whole).ok());
  for (size_t size = 0; size < whole.size(); size += 1 + size / 7) {
    EXPECT_EQ(find(whole.first(size)).code(), absl::StatusCode::kDataLoss) << size;
  }
  // Any other word is damage. With a checksum that agrees it is an error, or a pipeline with
  // another value.
  for (size_t at = 0; at + 4 <= whole.size(); at += 4 + at / 16 / 4 * 4) {
    DrawnBytes changed(whole.begin(), whole.end());
    for (size_t i = 0; i < 4; ++i) changed[at + i] ^= 0xff;
    EXPECT_EQ(find(changed).code(), absl::StatusCode::kDataLoss) << at;
    (void)find(Resealed(changed));
  }
  // A kernel is not a pipeline, nor the reverse.
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = 64};
  kernel.local_size = {8, 1, 1};
  EXPECT_TRUE(run.machine.context->NewComputeKernel(kOther, DrawnBytes(128, 0x44), kernel).ok());
  EXPECT_EQ(run.machine.context->FindGraphicsPipeline(kOther).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(run.machine.context->FindComputeKernel(kKey).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_P(PipelinesTest, WhatAnotherBuildOrGenerationKeptIsDataLoss) {
  PipelineCache cache({.identity = "test"});
  Run run(GetParam(), cache);
  ASSERT_TRUE(run.New(&kKey).ok());
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = 64};
  kernel.local_size = {8, 1, 1};
  ASSERT_TRUE(run.machine.context->NewComputeKernel(kOther, DrawnBytes(128, 0x44), kernel).ok());
  // Another generation with the same cache.
  Run other(GetParam() == "gfx9" ? "gfx11" : "gfx9", cache);
  EXPECT_EQ(other.machine.context->FindGraphicsPipeline(kKey).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(other.machine.context->FindComputeKernel(kOther).status().code(),
            absl::StatusCode::kDataLoss);
  // The first eight bytes say what it is, of which version and generation.
  constexpr CacheKey kChanged = {.low = 5}, kChangedKernel = {.low = 6};
  const auto change = [&](const CacheKey& from, const CacheKey& to) {
    const absl::Span<const uint8_t> whole = *cache.Find(from);
    DrawnBytes changed(whole.begin(), whole.end());
    changed[2] ^= 1;  // the version
    cache.Add(to, Resealed(changed));
  };
  change(kKey, kChanged);
  change(kOther, kChangedKernel);
  EXPECT_EQ(run.machine.context->FindGraphicsPipeline(kChanged).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(run.machine.context->FindComputeKernel(kChangedKernel).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE(run.machine.context->FindGraphicsPipeline(kKey).ok());
  EXPECT_TRUE(run.machine.context->FindComputeKernel(kOther).ok());
}

TEST_P(PipelinesTest, KernelsAreKeptWithTheirCode) {
  PipelineCache cache({.identity = "test"});
  {
    Run run(GetParam(), cache);
    ComputeKernel kernel;
    kernel.simd16() = {.present = true, .offset = 64};
    kernel.local_size = {8, 8, 1};
    const auto made = run.machine.context->NewComputeKernel(kKey, DrawnBytes(128, 0x44), kernel);
    ASSERT_TRUE(made.ok()) << made.status();
    kernel.simd16().offset = 128;
    EXPECT_EQ(run.machine.context->NewComputeKernel(kOther, DrawnBytes(128, 0x44), kernel)
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  Run run(GetParam(), cache);
  ASSERT_TRUE(run.machine.context->NewKernel(DrawnBytes(1024, 0x33)).ok());
  auto kernel = run.machine.context->FindComputeKernel(kKey);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->local_size, (std::array<uint32_t, 3>{8, 8, 1}));
  uint8_t byte[1] = {};
  EXPECT_TRUE(run.machine.device
                  ->Read(0, run.machine.context->kernel_pool().base() + kernel->simd16().offset,
                         absl::MakeSpan(byte))
                  .ok());
  EXPECT_EQ(byte[0], 0x44);
  EXPECT_EQ(run.machine.context->FindComputeKernel(kOther).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(PipelinesTest, StripsRestartAtTheGreatestIndexOfTheBuffersType) {
  const auto pipeline = NewPipeline({.vertices = {.primitive_restart = true}});
  auto commands = New();
  BindAll(*commands, *pipeline);
  for (const IndexType type : {IndexType::kUint16, IndexType::kUint8, IndexType::kUint32}) {
    EXPECT_TRUE(
        commands->SetIndexBuffer({.memory = At(indices_), .size = sizeof(kIndexes), .type = type}));
    EXPECT_TRUE(commands->Draw({.vertices = 3, .indexed = true})) << commands->status();
  }
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 3u);
  EXPECT_EQ(StateOf(0, "3DSTATE_VF")[1], 0xffffu);
  EXPECT_EQ(StateOf(1, "3DSTATE_VF")[1], 0xffu);
  EXPECT_EQ(StateOf(2, "3DSTATE_VF")[1], 0xffffffffu);
}

TEST_P(PipelinesTest, NoopExecutesNothing) {
  On(DebugSwitch::kNoop);
  const auto pipeline = NewPipeline();
  for (const Engine engine : {Engine::kRender, Engine::kCopy}) {
    auto commands = New({.engine = engine});
    if (engine == Engine::kRender) {
      BindAll(*commands, *pipeline);
      EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    }
    machine_.packets.clear();
    machine_.Run(*commands);
    EXPECT_EQ(machine_.packets, std::vector<std::string>{"MI_BATCH_BUFFER_END"});
  }
  EXPECT_TRUE(machine_.works.empty());
}

TEST_P(PipelinesTest, No16TakesTheOtherWidths) {
  On(DebugSwitch::kNo16);
  const auto code = machine_.context->NewKernel(DrawnBytes(256, 0));
  ASSERT_TRUE(code.ok());
  FragmentShader fragment{.simd16 = ShaderEntry{.offset = *code, .start_register = 4}};
  const auto make = [&] {
    return machine_.context->NewGraphicsPipeline(
        {.shaders = {.vertex = &vertex_, .fragment = &fragment}});
  };
  vertex_ = {.entry = {.offset = *code, .start_register = 2}, .urb_read_length = 1};
  EXPECT_NE(make().status().message().find("no16"), std::string::npos);
  const bool narrow = GetParam() != "xe2" && GetParam() != "xe3";
  const ShaderEntry other{.offset = *code + 128, .start_register = 4};
  (narrow ? fragment.simd8 : fragment.simd32) = other;
  EXPECT_TRUE(make().ok());

  auto commands = New();
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code};
  kernel.local_size = {8, 1, 1};
  EXPECT_FALSE(commands->Bind(kernel));
  EXPECT_NE(commands->status().message().find("no16"), std::string::npos) << commands->status();
  commands = New();
  kernel.simd32() = {.present = true, .offset = *code};
  EXPECT_TRUE(commands->Bind(kernel)) << commands->status();
}

}  // namespace
}  // namespace packsmith::intel
