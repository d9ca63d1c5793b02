// A job whose use list lacks a buffer: what decoding its core reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "absl/strings/string_view.h"
#include "packsmith/gfx9.h"
#include "runtime/base/file.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/elf_core.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"

namespace packsmith::intel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class T>
T Value(absl::StatusOr<T> result) {
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

struct Decoded {
  std::string text;
  decode::Summary summary;
  uint64_t texture = 0;  // its address

  uint64_t unmapped() const {
    return summary.faults[static_cast<size_t>(decode::FaultKind::kUnmapped)];
  }
};

class TextOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override { text_.append(text.data(), text.size()); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A draw that samples a texture, which its batch lists or not.
Decoded DrawWithATexture(bool is_named, gpu::CoreMemory memory = gpu::CoreMemory::kResident) {
  const std::string prefix = testing::TempDir() + "residents_test-";
  auto device = Value(
      gpu::HostDevice::Create({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90},
                               .core_prefix = prefix,
                               .core_memory = memory}));
  auto space =
      Value(gpu::AddressSpace::Create(Value(gpu::LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = gpu::Buffers::Create(*device, *space, {.largest_shared = 0});
  const gpu::ZoneId other = Value(space->FindZone("other"));
  const gpu::Buffer texture =
      Value(buffers->Create({.size = 65536, .zone = other, .name = "texture"}));
  const gpu::Buffer states =
      Value(buffers->Create({.size = 4096, .zone = other, .name = "states"}));

  // A binding table with one entry, and its descriptor 64 bytes after it.
  constexpr uint32_t kSurface = 64;
  uint32_t dwords[gfx9::RENDER_SURFACE_STATE::length] = {};
  std::memset(states.cpu, 0, states.size);
  std::memcpy(states.cpu, &kSurface, sizeof(kSurface));
  const gfx9::RENDER_SURFACE_STATE surface{
      .surface_horizontal_alignment =
          gfx9::RENDER_SURFACE_STATE::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4,
      .surface_vertical_alignment = gfx9::RENDER_SURFACE_STATE::SURFACE_VERTICAL_ALIGNMENT_VALIGN_4,
      .surface_type = gfx9::RENDER_SURFACE_STATE::SURFACE_TYPE_SURFTYPE_2D,
      .mocs = 4,
      .surface_base_address = texture.address,
  };
  EXPECT_FALSE(surface.pack(dwords));
  std::memcpy(states.cpu + kSurface, dwords, sizeof(dwords));

  gpu::BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);
  batch.Emit(
      gfx9::STATE_BASE_ADDRESS{
          .general_state_mocs = 4,
          .stateless_data_port_access_mocs = 4,
          .surface_state_base_address_modify_enable = true,
          .surface_state_mocs = 4,
          .surface_state_base_address = {states.address, states.handle},
          .dynamic_state_mocs = 4,
          .indirect_object_mocs = 4,
          .instruction_mocs = 4,
          .bindless_surface_state_mocs = 4,
      },
      gfx9::_3DSTATE_PS{.binding_table_entry_count = 1},
      gfx9::_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = 0},
      gfx9::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
  if (is_named) batch.Use(texture.handle, gpu::kReads);
  const absl::Status ended = batch.End();
  EXPECT_TRUE(ended.ok()) << ended;

  gpu::Residency residency(*buffers);
  for (const gpu::BufferUse& use : batch.uses().all()) {
    EXPECT_TRUE(residency.Add(use.buffer, use.writes()).ok());
  }
  const BatchPart& begin = batch.parts()[0];
  const gpu::Fence fence = Value(device->Submit({.batch_address = begin.chunk.gpu,
                                                 .batch_length = begin.total * uint64_t{4},
                                                 .residents = residency.residents()}));
  EXPECT_TRUE(buffers->Use(residency.handles(), fence).ok());

  const std::string path = prefix + gpu::HostDevice::CoreName(fence);
  const Dump dump = Value(ReadElfCore(Value(OpenFile(path))));
  std::filesystem::remove(path);
  const tables::Tables tables = Value(FindGeneration("gfx9"));
  TextOutput output;
  const auto sink = decode::MakeTextSink(output, {});
  decode::Decoder decoder(tables, *sink);
  decoder.Decode(dump);
  Decoded decoded;
  decoded.summary = decoder.Finish();
  decoded.text = output.text();
  decoded.texture = texture.address;
  return decoded;
}

TEST(Residents, ADrawWhoseTextureIsNotInTheUseListIsAtFault) {
  const Decoded decoded = DrawWithATexture(/*is_named=*/false);
  EXPECT_EQ(decoded.unmapped(), 1u);
  EXPECT_EQ(decoded.summary.first_faults[static_cast<size_t>(decode::FaultKind::kUnmapped)].name,
            "RENDER_SURFACE_STATE");
  const size_t at = decoded.text.find("fault: unmapped");
  ASSERT_NE(at, std::string::npos) << decoded.text;
  const std::string line = decoded.text.substr(at, decoded.text.find('\n', at) - at);
  EXPECT_THAT(line, AllOf(HasSubstr("Surface Base Address points to " +
                                    decode::ShowAddress(decoded.texture)),
                          HasSubstr("\"texture (not resident)\""), HasSubstr("Use() of a batch")));
}

TEST(Residents, ADrawWhoseTextureIsInTheUseListIsNot) {
  const Decoded decoded = DrawWithATexture(/*is_named=*/true);
  EXPECT_EQ(decoded.unmapped(), 0u) << decoded.text;
  EXPECT_THAT(decoded.text, HasSubstr("RENDER_SURFACE_STATE"));
}

TEST(Residents, CoresThatLeaveOutMemoryOnPurposeSayNothingOfIt) {
  EXPECT_EQ(DrawWithATexture(/*is_named=*/false, gpu::CoreMemory::kBound).unmapped(), 0u);
  const Decoded captured = DrawWithATexture(/*is_named=*/false, gpu::CoreMemory::kCaptured);
  EXPECT_EQ(captured.text.find("Surface Base Address points to"), std::string::npos);
}

}  // namespace
}  // namespace packsmith::intel
