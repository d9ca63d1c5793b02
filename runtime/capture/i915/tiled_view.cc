#include "runtime/capture/i915/tiled_view.h"

#include <cstring>
#include <utility>

#include "runtime/kernel/uapi/i915.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

std::unique_ptr<TiledView> TiledView::Make(uint64_t size) {
  std::shared_ptr<SharedMemory> memory = SharedMemory::Create(size, "i915 tiled");
  return memory ? std::unique_ptr<TiledView>(new TiledView(std::move(memory))) : nullptr;
}

void TiledView::SetTiling(uint32_t mode, uint32_t stride, bool swizzled) {
  plan_.reset();
  last_.clear();
  stride_ = stride;
  if (mode == api::kTilingNone) return;
  const uint64_t tile_rows = mode == api::kTilingX ? 8 : 32;
  const uint64_t rows = memory_->bytes().size() / (stride * tile_rows) * tile_rows;
  tiled_size_ = rows * stride;
  // Both kinds of tile keep 16 bytes of a row together.
  const layout::Format* const format = layout::FindFormat("R32G32B32A32_UINT");
  if (rows == 0 || format == nullptr) return;
  const absl::StatusOr<layout::Layout> layout = layout::Layout::Of(
      {.scheme = mode == api::kTilingX ? layout::Scheme::kIntelX : layout::Scheme::kIntelY,
       .format = format,
       .width_px = stride / 16,
       .height_px = static_cast<uint32_t>(rows),
       .stride_B = stride,
       .bit6_swizzle = swizzled});
  if (!layout.ok()) return;
  absl::StatusOr<layout::CopyPlan> plan =
      layout::CopyPlan::Make(*layout, layout::WholeLevel(*layout, 0, 0));
  if (plan.ok()) plan_ = *std::move(plan);
}

void TiledView::Read(const Object& object, std::vector<uint8_t>& rows) const {
  const absl::Span<const uint8_t> bytes = object.memory()->bytes();
  rows.assign(bytes.begin(), bytes.end());
  if (!plan_) return;
  (void)plan_->CopyOut(bytes, absl::MakeSpan(rows).first(tiled_size_), stride_);
}

void TiledView::Write(Object& object, const std::vector<uint8_t>& rows) const {
  const absl::Span<uint8_t> bytes = object.memory()->bytes();
  if (plan_) {
    (void)plan_->CopyIn(absl::MakeConstSpan(rows).first(tiled_size_), stride_, bytes);
  }
  const uint64_t begin = plan_ ? tiled_size_ : 0;
  std::memcpy(bytes.data() + begin, rows.data() + begin, rows.size() - begin);
}

void TiledView::Sync(Object& object) {
  const absl::Span<uint8_t> view = memory_->bytes();
  std::vector<uint8_t> rows;
  Read(object, rows);
  if (last_.empty()) {
    // The view as it is now has not been written to.
    std::memcpy(view.data(), rows.data(), rows.size());
    last_ = std::move(rows);
    return;
  }
  // Programs write to the view meanwhile: each word is read once, and only what changed on the
  // other side is written.
  bool view_written = false;
  for (size_t at = 0; at < rows.size(); at += sizeof(uint64_t)) {
    uint64_t seen, before, other;
    std::memcpy(&seen, view.data() + at, sizeof(seen));
    std::memcpy(&before, last_.data() + at, sizeof(before));
    std::memcpy(&other, rows.data() + at, sizeof(other));
    if (seen == before && other == before) continue;
    for (size_t i = 0; i < sizeof(uint64_t); ++i) {
      const auto byte = static_cast<uint8_t>(seen >> (8 * i));
      if (byte != last_[at + i]) {
        rows[at + i] = byte;
        view_written = true;
      } else if (rows[at + i] != byte) {
        view[at + i] = rows[at + i];
      }
    }
  }
  if (view_written) Write(object, rows);
  last_ = std::move(rows);
}

}  // namespace packsmith::capture::i915
