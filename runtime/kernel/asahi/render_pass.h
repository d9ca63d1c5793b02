// Render passes for AsahiDevice::SubmitRender(), made from API terms: a size, attachments by their
// layouts and what happens to them, and the programs that runtime/agx has built.
//
//   const AsahiPassImage colors[] = {{.layout = &placement, .image = {color.address,
//   color.handle}}}; AsahiPass pass{.stream = vdm.parts().front().chunk.gpu, .width = 1920, .height
//   = 1080}; pass.colors = colors; pass.load = *TileProgramOf<G13>(*clear.End(),
//   {.uniform_register_count = 64}); …                                   // store, partial_load,
//   partial_store AsahiAttachments attachments; absl::StatusOr<AsahiRender> render =
//   RenderOf<G13>(pass, uses, attachments); render->scissors = …;               // what a pass does
//   not say fence = device.SubmitRender(job, *render);
//
// `uses` then has the attachments' buffers; those of programs and streams note themselves.

#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_RENDER_PASS_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_RENDER_PASS_H_

#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/kernel/asahi/commands.h"
#include "runtime/layout/layout.h"

namespace packsmith::gpu {

// What an attachment has when a pass begins, and what becomes of it when the pass ends.
enum class PassLoad : uint8_t { kLoad, kClear, kDiscard };
enum class PassStore : uint8_t { kStore, kDiscard };

struct AsahiPassImage {
  const layout::Layout* layout = nullptr;  // one of AGX; null: there is no such attachment
  address image = {};                      // of its first byte
  uint32_t level = 0, first_layer = 0;     // the pass has AsahiPass::layers from there on
  PassLoad load = PassLoad::kClear;
  PassStore store = PassStore::kStore;
};

struct AsahiPass {
  uint64_t stream = 0;                         // the first block of the vertex data master
  uint32_t width = 0, height = 0, layers = 1;  // pixels, layers: not more than attachments have
  uint32_t samples = 1;                        // those of the attachments
  uint32_t tile_width = 0, tile_height = 0;    // pixels; 0: the largest tile that fits
  // What the colours of a sample take in a tile: a multiple of 8. 0: the least. The programs decide
  // where in a sample each colour is; with gaps between them it is more than that.
  uint32_t bytes_per_sample = 0;

  // Colours are loaded, cleared and stored by the programs, in whatever format they write.
  absl::Span<const AsahiPassImage> colors = {};
  // By the hardware: Z16_UNORM or Z32_FLOAT, and S8_UINT, of one size; none is linear.
  AsahiPassImage depth = {}, stencil = {};
  float clear_depth = 1;
  uint8_t clear_stencil = 0;

  // `load` fills a tile's colours when they are loaded or cleared, and `store` stores them. A pass
  // with colours has the second pair in any case: the hardware splits passes by itself.
  AsahiTileProgram load = {}, store = {}, partial_load = {}, partial_store = {};
};

// What an AsahiRender points to.
using AsahiAttachments = absl::InlinedVector<AsahiAttachment, 10>;

// A program that UscProgram::End() has returned, and what it binds. InvalidArgument for addresses
// that are not such an offset, and for 0: to the kernel, that is none.
template <class Gen>
absl::StatusOr<AsahiTileProgram> TileProgramOf(const address& program,
                                               const typename Gen::Counts& resources);

// The render pass, with `attachments`, which must outlive its use. Tiles without primitives are
// processed if something is cleared. Not said by a pass, and as AsahiRender has them by default:
// arrays that PPP records index, samplers, visibility, helpers, times, and the words
// `multisample_control` and `ppp_control`. InvalidArgument, with what does not fit; nothing has
// changed then.
template <class Gen>
absl::StatusOr<AsahiRender> RenderOf(const AsahiPass& pass, BufferUses& uses,
                                     AsahiAttachments& attachments);

// -- Implementation -------------------------------------------------------------------------------

// What the hardware itself does with depth and stencil.
struct AsahiDepthPlan {
  struct Side {
    bool loads = false, stores = false, is_compressed = false;
  };
  Side depth, stencil;
  bool is_16_bit = false;
  uint32_t width = 0, height = 0;  // of the buffers; 0: there are none
};
// All that needs no packing.
absl::Status PlanAsahiRender(const AsahiPass& pass, AsahiRender& render, AsahiDepthPlan& plan);
void ListAsahiAttachments(const AsahiPass& pass, BufferUses& uses, AsahiAttachments& attachments);
absl::Status CheckAsahiProgram(uint64_t offset);

template <class Record, class Word>
absl::Status PackAsahiWord(const Record& record, absl::string_view what, Word& word) {
  static_assert(Record::size == sizeof(Word));
  uint8_t bytes[Record::size] = {};
  if (const error e = record.pack(bytes)) return agx::PackStatus(e, what);
  std::memcpy(&word, bytes, sizeof(word));
  return absl::OkStatus();
}

template <class Gen>
absl::StatusOr<AsahiTileProgram> TileProgramOf(const address& program,
                                               const typename Gen::Counts& resources) {
  AsahiTileProgram result;
  absl::Status status = CheckAsahiProgram(program.gpu);
  if (status.ok()) {
    status = PackAsahiWord(resources, absl::StrFormat("the program of a tile at %#x", program.gpu),
                           result.resources);
  }
  if (!status.ok()) return status;
  result.program = static_cast<uint32_t>(program.gpu);
  return result;
}

template <class Gen>
absl::StatusOr<AsahiRender> RenderOf(const AsahiPass& pass, BufferUses& uses,
                                     AsahiAttachments& attachments) {
  AsahiRender render;
  AsahiDepthPlan plan;
  absl::Status status = PlanAsahiRender(pass, render, plan);
  if (status.ok() && plan.width != 0) {
    // What each of the two bits for compression is for is not known; they are set together.
    using Format = typename Gen::ZLS_Format;
    const typename Gen::ZLS_Control control{
        .z_compress_1 = plan.depth.is_compressed,
        .s_compress_1 = plan.stencil.is_compressed,
        .z_compress_2 = plan.depth.is_compressed,
        .s_compress_2 = plan.stencil.is_compressed,
        .s_load_enable = plan.stencil.loads,
        .z_load_enable = plan.depth.loads,
        .s_store_enable = plan.stencil.stores,
        .z_store_enable = plan.depth.stores,
        .z_format = plan.is_16_bit ? Format::_16 : Format::_32F,
    };
    const typename Gen::ZLS_Pixels pixels{.width = plan.width, .height = plan.height};
    status = PackAsahiWord(control, "depth and stencil", render.zls_control);
    if (status.ok()) status = PackAsahiWord(pixels, "depth and stencil", render.zls_pixels);
  }
  if (!status.ok()) return status;
  ListAsahiAttachments(pass, uses, attachments);
  render.fragment_attachments = attachments;
  return render;
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_RENDER_PASS_H_
