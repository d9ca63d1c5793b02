// Media threads, executed: which there are and what each of them is given; a packet that is left
// out is noticed.
#include "runtime/intel/compute/media_state.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/sim/streamer.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct SeenMediaThread {
  uint64_t kernel = 0;
  uint32_t x = 0, y = 0, waits_for = 0;
  std::vector<uint32_t> inline_data;
  std::vector<uint8_t> constants;
};

// The media pipeline.
template <class Gen>
class MediaHardware : public sim::Observer {
  using G = typename Gen::Packets;
  using Descriptor = typename G::INTERFACE_DESCRIPTOR_DATA;

 public:
  explicit MediaHardware(sim::MemoryAccess& memory)
      : memory_(memory), tables_(*FindGeneration(Gen::kName)) {}

  std::string Run(uint64_t batch) {
    problems.clear();
    sim::Streamer streamer(tables_, memory_, {.prefetch = false}, *this);
    streamer.EnterBatch(0, batch);
    if (streamer.Run(10000) != sim::Stop::kEnded) problems += "the batch does not end; ";
    if (busy_) problems += "threads without MEDIA_STATE_FLUSH; ";
    return problems;
  }
  std::string problems;
  std::vector<std::string> names;
  std::vector<SeenMediaThread> threads;
  size_t dispatches = 0;

 private:
  void OnProblem(const sim::Problem& problem) override { Wrong(problem.text); }
  void OnWork(const sim::Work& work) override {
    dispatches += work.role == tables::Role::kDispatch;
  }
  void Wrong(const std::string& text) { absl::StrAppend(&problems, text, "; "); }
  std::vector<uint8_t> Bytes(uint64_t at, size_t size) {
    std::vector<uint8_t> bytes(size);
    if (memory_.Read(0, at, absl::MakeSpan(bytes)) != size) Wrong("unmapped");
    return bytes;
  }

  void OnCommand(const sim::Command& command) override {
    names.emplace_back(tables_.string(command.container->name));
    std::vector<uint32_t> words(std::max<size_t>(command.bytes.size() / 4, 20));
    std::memcpy(words.data(), command.bytes.data(), command.bytes.size());
    const size_t size = command.bytes.size() / 4;
    const uint32_t* dw = words.data();
    const bool stalled = std::exchange(stalled_, false);
    if (Gen::PipeControl::matches(dw[0])) {
      const auto pipe = Gen::PipeControl::unpack(dw);
      stalled_ = pipe.command_streamer_stall_enable &&
                 (!Gen::kFacts.stall_needs_company || pipe.stall_at_pixel_scoreboard);
    } else if (G::MEDIA_VFE_STATE::matches(dw[0])) {
      if (!stalled) Wrong("MEDIA_VFE_STATE without a stall");
      if (busy_) Wrong("MEDIA_VFE_STATE while threads run");
      const auto vfe = G::MEDIA_VFE_STATE::unpack(dw);
      front_ = true;
      room_ = vfe.curbe_allocation_size * 32;
      entry_ = vfe.urb_entry_allocation_size * 8;
      if constexpr (requires { vfe.scoreboard_mask; }) scoreboard_ = vfe.scoreboard_mask;
      curbe_.clear();
      descriptors_.clear();
    } else if (G::MEDIA_CURBE_LOAD::matches(dw[0])) {
      if (busy_) Wrong("MEDIA_CURBE_LOAD while threads run");
      const auto load = G::MEDIA_CURBE_LOAD::unpack(dw);
      if (load.curbe_total_data_length > room_) Wrong("more constants than room");
      curbe_ = Bytes(load.curbe_data_start_address, load.curbe_total_data_length);
    } else if (G::MEDIA_INTERFACE_DESCRIPTOR_LOAD::matches(dw[0])) {
      if (busy_) Wrong("MEDIA_INTERFACE_DESCRIPTOR_LOAD while threads run");
      const auto load = G::MEDIA_INTERFACE_DESCRIPTOR_LOAD::unpack(dw);
      const auto bytes = Bytes(load.interface_descriptor_data_start_address,
                               load.interface_descriptor_total_length);
      descriptors_.clear();
      for (size_t at = 0; at < bytes.size(); at += 32) {
        uint32_t packed[8];
        std::memcpy(packed, &bytes[at], sizeof(packed));
        descriptors_.push_back(Descriptor::unpack(packed));
      }
    } else if (G::MEDIA_STATE_FLUSH::matches(dw[0])) {
      busy_ = false;
    } else if (G::MEDIA_OBJECT::matches(dw[0])) {
      const auto object = G::MEDIA_OBJECT::unpack(dw);
      SeenMediaThread thread;
      if constexpr (requires { object.use_scoreboard; }) {
        thread.x = object.scoreboard_x, thread.y = object.scoredboard_y;
        thread.waits_for = object.use_scoreboard ? object.scoreboard_mask : 0;
      } else {
        thread.x = object.x_position, thread.y = object.y_position;
      }
      thread.inline_data.assign(dw + G::MEDIA_OBJECT::length, dw + size);
      Start(object.interface_descriptor_offset, std::move(thread));
    } else if (G::MEDIA_OBJECT_WALKER::matches(dw[0])) {
      OnWalker(G::MEDIA_OBJECT_WALKER::unpack(dw),
               {dw + G::MEDIA_OBJECT_WALKER::length, dw + size});
    }
  }
  // Two loops in a block, in two loops over blocks; each ends where it leaves.
  void OnWalker(const auto& w, const std::vector<uint32_t>& inline_data) {
    const auto inside = [](int64_t x, int64_t y, uint32_t width, uint32_t height) {
      return x >= 0 && y >= 0 && x < width && y < height;
    };
    using Place = std::array<int64_t, 2>;
    Place outer = {w.global_start_x, w.global_start_y};
    for (uint32_t g = 0; g <= w.global_loop_exec_count; ++g) {
      if (!inside(outer[0], outer[1], w.global_resolution_x, w.global_resolution_y)) break;
      for (Place block = outer;
           inside(block[0], block[1], w.global_resolution_x, w.global_resolution_y);
           block[0] += w.global_inner_loop_unit_x, block[1] += w.global_inner_loop_unit_y) {
        Place row = {w.local_start_x, w.local_start_y};
        for (uint32_t l = 0; l <= w.local_loop_exec_count; ++l) {
          if (!inside(row[0], row[1], w.block_resolution_x, w.block_resolution_y)) break;
          for (Place at = row; inside(at[0], at[1], w.block_resolution_x, w.block_resolution_y);
               at[0] += w.local_inner_loop_unit_x, at[1] += w.local_inner_loop_unit_y) {
            SeenMediaThread thread;
            thread.x = static_cast<uint32_t>(block[0] + at[0]);
            thread.y = static_cast<uint32_t>(block[1] + at[1]);
            if constexpr (requires { w.use_scoreboard; }) {
              thread.waits_for = w.use_scoreboard ? w.scoreboard_mask : 0;
            }
            thread.inline_data = inline_data;
            Start(w.interface_descriptor_offset, std::move(thread));
          }
          row[0] += w.local_outer_loop_stride_x, row[1] += w.local_outer_loop_stride_y;
        }
      }
      outer[0] += w.global_outer_loop_stride_x, outer[1] += w.global_outer_loop_stride_y;
    }
  }
  void Start(uint32_t kernel, SeenMediaThread thread) {
    busy_ = true;
    if (!front_) Wrong("no front end");
    if (thread.inline_data.size() > entry_) Wrong("inline data that do not fit an entry");
    if ((thread.waits_for & ~scoreboard_) != 0) Wrong("waits for what the scoreboard lacks");
    if (kernel >= descriptors_.size()) return Wrong("no descriptor");
    const Descriptor& d = descriptors_[kernel];
    thread.kernel = d.kernel_start_pointer;
    const size_t begin = d.constant_urb_entry_read_offset * size_t{32};
    const size_t bytes = d.constant_urb_entry_read_length * size_t{32};
    if (bytes != 0) {
      if (begin + bytes > curbe_.size()) return Wrong("constants were not loaded");
      thread.constants.assign(curbe_.begin() + begin, curbe_.begin() + begin + bytes);
    }
    threads.push_back(std::move(thread));
  }

  sim::MemoryAccess& memory_;
  const tables::Tables tables_;
  bool front_ = false, stalled_ = false, busy_ = false;
  uint32_t room_ = 0, entry_ = 0, scoreboard_ = 0;
  std::vector<uint8_t> curbe_;
  std::vector<Descriptor> descriptors_;
};

template <class Gen>
class MediaStateTest : public testing::Test {
 protected:
  static RenderDevice FirstDevice() {
    for (const RenderDevice& device : RenderDevices()) {
      if (device.version == Gen::kVersion) return device;
    }
    return {};
  }
  MediaStateTest() : code_(Must(memory_.buffers->Create({.size = 4096, .zone = memory_.low}))) {
    for (uint32_t i = 0; i < constants_.size(); ++i) constants_[i] = static_cast<uint8_t>(i / 32);
  }
  std::vector<MediaKernel> Kernels() const {
    const auto at = static_cast<uint32_t>(code_.address);
    return {
        {.offset = at, .buffer = code_.handle, .constant_registers = 2},
        {.offset = at + 64, .buffer = code_.handle, .first_constant = 1, .constant_registers = 2},
        {.offset = at + 128, .buffer = code_.handle}};
  }
  std::string Run() {
    EXPECT_TRUE(batch_.End().ok()) << batch_.status();
    return hardware_.Run(batch_.parts()[0].chunk.gpu);
  }

  GpuMemory memory_;
  gpu::Buffer code_;
  std::array<uint8_t, 96> constants_;
  Batch<Gen> batch_{memory_.chunks};
  MediaState<Gen> media_{{.device = FirstDevice(), .subslices = 3}, memory_.states};
  MediaHardware<Gen> hardware_{memory_};
};
TYPED_TEST_SUITE(MediaStateTest, Generations);

TYPED_TEST(MediaStateTest, EachThreadGetsItsKernelConstantsAndInlineData) {
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  const uint32_t data[] = {5, 6, 7};
  ASSERT_TRUE(this->media_.Dispatch(this->batch_, {.kernel = 1, .x = 3, .y = 4}));
  ASSERT_TRUE(this->media_.Dispatch(this->batch_, {.kernel = 0, .x = 9, .inline_data = data}));
  ASSERT_TRUE(this->media_.Dispatch(this->batch_, {.kernel = 2}));
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  ASSERT_TRUE(this->media_.Finish(this->batch_)) << "nothing to do";
  ASSERT_EQ(this->Run(), "");
  EXPECT_THAT(this->hardware_.names,
              ElementsAre("PIPE_CONTROL", "MEDIA_VFE_STATE", "MEDIA_CURBE_LOAD",
                          "MEDIA_INTERFACE_DESCRIPTOR_LOAD", "MEDIA_OBJECT", "MEDIA_OBJECT",
                          "MEDIA_OBJECT", "MEDIA_STATE_FLUSH", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(this->hardware_.dispatches, 3u);
  const auto& threads = this->hardware_.threads;
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0].kernel, this->code_.address + 64);
  EXPECT_EQ(threads[0].x, 3u);
  EXPECT_EQ(threads[0].y, 4u);
  ASSERT_EQ(threads[0].constants.size(), 64u);
  EXPECT_EQ(threads[0].constants[0], 1);
  EXPECT_EQ(threads[0].constants[63], 2);
  EXPECT_EQ(threads[1].constants[0], 0);
  EXPECT_THAT(threads[1].inline_data, ElementsAre(5, 6, 7));
  EXPECT_EQ(threads[1].x, 9u);
  EXPECT_EQ(threads[2].constants.size(), 0u);
  EXPECT_TRUE(this->batch_.uses().Known(this->code_.handle, gpu::kReads));
}

TYPED_TEST(MediaStateTest, TheMediaPipelineIsSelectedAsTheGpgpuOneIs) {
  using Gen = TypeParam;
  using Select = typename Gen::Packets::PIPELINE_SELECT;
  std::vector<uint32_t> words[2];
  for (const bool media : {false, true}) {
    Batch<Gen> batch(this->memory_.chunks);
    {
      typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
      ASSERT_TRUE(media ? EmitMediaSelect<Gen>(group)
                        : EmitPipelineSelect<Gen>(group, Pipeline::kGpgpu));
    }
    ASSERT_TRUE(batch.End().ok());
    const BatchPart& part = batch.parts()[0];
    words[media].assign(part.chunk.words.begin(), part.chunk.words.begin() + part.dwords);
  }
  ASSERT_EQ(words[0].size(), words[1].size());
  const auto select = Select::unpack(&words[1].back());
  EXPECT_EQ(select.pipeline_selection, Select::PIPELINE_SELECTION_MEDIA);
  words[0].pop_back();
  words[1].pop_back();
  EXPECT_GT(words[0].size(), 0u);
  EXPECT_EQ(words[0], words[1]);
}

TYPED_TEST(MediaStateTest, AWalkHasAThreadForEachBlockInItsOrder) {
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  const uint32_t data[] = {11};
  for (const auto order : {MediaOrder::kRows, MediaOrder::kColumns}) {
    ASSERT_TRUE(this->media_.Walk(
        this->batch_, {.kernel = 0, .width = 7, .height = 3, .order = order, .inline_data = data}));
  }
  ASSERT_TRUE(
      this->media_.Walk(this->batch_, {.width = 1, .height = MediaState<TypeParam>::kMostBlocks}));
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  ASSERT_EQ(this->Run(), "");
  const auto& threads = this->hardware_.threads;
  ASSERT_EQ(threads.size(), 42 + size_t{MediaState<TypeParam>::kMostBlocks});
  for (uint32_t i = 0; i < 21; ++i) {
    EXPECT_EQ(threads[i].x, i % 7);
    EXPECT_EQ(threads[i].y, i / 7);
    EXPECT_EQ(threads[21 + i].x, i / 3);
    EXPECT_EQ(threads[21 + i].y, i % 3);
    EXPECT_THAT(threads[i].inline_data, ElementsAre(11));
  }
}

TYPED_TEST(MediaStateTest, WhatThreadsUseChangesOnlyAfterAFlush) {
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  const auto dispatch = [&] {
    const size_t before = this->batch_.dwords();
    EXPECT_TRUE(this->media_.Dispatch(this->batch_, {})) << this->media_.status();
    return this->batch_.dwords() - before;
  };
  using G = typename TypeParam::Packets;
  const size_t object = G::MEDIA_OBJECT::length, load = 4, flush = 2;
  dispatch();
  EXPECT_EQ(dispatch(), object);
  this->constants_[0] = 77;
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  EXPECT_EQ(dispatch(), flush + load + object);
  EXPECT_EQ(dispatch(), object);
  auto kernels = this->Kernels();
  kernels[0].bindings = 64;
  ASSERT_TRUE(this->media_.SetKernels(kernels));
  EXPECT_EQ(dispatch(), flush + load + object);
  ASSERT_TRUE(this->media_.SetKernels(kernels));
  EXPECT_EQ(dispatch(), object) << "the same kernels";
  ASSERT_TRUE(this->media_.SetScratch({.per_thread = 4096, .base = {0x10000}}));
  EXPECT_GT(dispatch(), flush + 2 * load + object);
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  this->media_.Forget();
  EXPECT_GT(dispatch(), 2 * load + object);
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  this->media_.template Emitted<typename G::STATE_BASE_ADDRESS>();
  EXPECT_EQ(dispatch(), load + object);
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  ASSERT_EQ(this->Run(), "");
  EXPECT_EQ(this->hardware_.threads[2].constants[0], 77);
}

TYPED_TEST(MediaStateTest, EachPacketIsNeeded) {
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  ASSERT_TRUE(this->media_.Dispatch(this->batch_, {.kernel = 1}));
  this->constants_[0] = 77;
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  ASSERT_TRUE(this->media_.Walk(this->batch_, {.width = 2, .height = 2}));
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  ASSERT_EQ(this->Run(), "");
  const auto names = this->hardware_.names;
  const size_t threads = this->hardware_.threads.size();
  const BatchPart& part = this->batch_.parts()[0];
  const std::vector<uint32_t> words(part.chunk.words.begin(),
                                    part.chunk.words.begin() + part.total);
  size_t at = 0;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const uint32_t length = (words[at] & 0xff) + 2;
    std::fill_n(part.chunk.words.begin() + at, length, 0u);
    MediaHardware<TypeParam> hardware(this->memory_);
    const std::string wrong = hardware.Run(part.chunk.gpu);
    const bool seen = hardware.threads.size() != threads ||
                      hardware.threads[1].constants != this->hardware_.threads[1].constants;
    EXPECT_TRUE(wrong != "" || seen) << names[i] << " " << i;
    std::copy_n(words.begin() + at, length, part.chunk.words.begin() + at);
    at += length;
  }
  EXPECT_EQ(names.size(), 10u);
}

TYPED_TEST(MediaStateTest, ThreadsWaitForOthersByTheScoreboard) {
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  if constexpr (MediaState<TypeParam>::kHasScoreboard) {
    const MediaDistance distances[] = {{-1, 0}, {0, -1}, {1, -1}};
    ASSERT_TRUE(this->media_.SetScoreboard(distances));
    ASSERT_TRUE(this->media_.Walk(this->batch_, {.width = 2, .height = 2, .waits_for = 0b111}));
    EXPECT_FALSE(this->media_.Dispatch(this->batch_, {.waits_for = 0b1000}));
    EXPECT_THAT(this->media_.TakeStatus().message(), HasSubstr("of 3 that the scoreboard has"));
    const MediaDistance far[] = {{-9, 0}};
    ASSERT_TRUE(this->media_.SetScoreboard(far));
    EXPECT_FALSE(this->media_.Dispatch(this->batch_, {}));
    EXPECT_THAT(this->media_.TakeStatus().message(), HasSubstr("scoreboard_0_delta_x"));
    ASSERT_TRUE(this->media_.Finish(this->batch_));
    ASSERT_EQ(this->Run(), "");
    ASSERT_EQ(this->hardware_.threads.size(), 4u);
    EXPECT_EQ(this->hardware_.threads[3].waits_for, 7u);
  } else {
    EXPECT_FALSE(this->media_.Dispatch(this->batch_, {.waits_for = 1}));
    EXPECT_THAT(this->media_.TakeStatus().message(), HasSubstr("of 0 that the scoreboard has"));
  }
}

TYPED_TEST(MediaStateTest, WhatDoesNotFitIsNamed) {
  const auto message = [&] { return std::string(this->media_.TakeStatus().message()); };
  EXPECT_FALSE(this->media_.Dispatch(this->batch_, {}));
  EXPECT_THAT(message(), HasSubstr("a thread of kernel 0; 0 were set"));
  EXPECT_FALSE(this->media_.SetKernels({}));
  EXPECT_THAT(message(), HasSubstr("0 media kernels; there are from 1 to 64"));
  EXPECT_FALSE(this->media_.SetKernels(std::vector<MediaKernel>(65)));
  EXPECT_THAT(message(), HasSubstr("65 media kernels"));
  EXPECT_FALSE(this->media_.SetKernels(std::vector<MediaKernel>{{.offset = 33}}));
  EXPECT_THAT(message(), HasSubstr("multiples of 64"));
  EXPECT_FALSE(this->media_.SetConstants(std::vector<uint8_t>(70000)));
  EXPECT_THAT(message(), HasSubstr("at most 64512"));
  ASSERT_TRUE(this->media_.SetKernels(this->Kernels()));
  EXPECT_FALSE(this->media_.Dispatch(this->batch_, {.kernel = 2}));
  EXPECT_THAT(message(), HasSubstr("kernel 1 reads 3 registers of constants; 0 bytes were set"));
  ASSERT_TRUE(this->media_.SetConstants(this->constants_));
  EXPECT_FALSE(this->media_.Walk(this->batch_, {.width = 0}));
  EXPECT_THAT(message(), HasSubstr("a walk of 0x1 blocks"));
  EXPECT_FALSE(this->media_.Walk(this->batch_, {.height = 5000}));
  EXPECT_THAT(message(), HasSubstr("divide the picture"));
  const std::vector<uint32_t> much(16 * 8 + 1);
  EXPECT_FALSE(this->media_.Dispatch(this->batch_, {.inline_data = much}));
  EXPECT_THAT(message(), HasSubstr("129 dwords of inline data; an entry of the URB has 128"));
  EXPECT_FALSE(this->media_.SetScratch({.per_thread = 1}));
  EXPECT_THAT(message(), HasSubstr("a power of two from 1024"));
  EXPECT_EQ(this->batch_.dwords(), 0u);
  // A place that its field does not hold: the batch says so.
  EXPECT_FALSE(this->media_.Dispatch(this->batch_, {.x = 5000}));
  EXPECT_TRUE(this->media_.status().ok());
  EXPECT_THAT(this->batch_.TakeStatus().message(), HasSubstr("MEDIA_OBJECT"));
  EXPECT_EQ(this->batch_.dwords(), 0u);
  ASSERT_TRUE(this->media_.Dispatch(this->batch_, {}));
  ASSERT_TRUE(this->media_.Finish(this->batch_));
  EXPECT_EQ(this->Run(), "") << "all of it is still emitted";
}

}  // namespace
}  // namespace packsmith::intel
