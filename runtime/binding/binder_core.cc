#include "runtime/binding/binder_core.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

// Odd numbers without a pattern, to mix bits by multiplication.
constexpr uint64_t kMixA = 0x9e3779b97f4a7c15, kMixB = 0xc2b2ae3d27d4eb4f;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Load64(const uint32_t* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

BinderCore::BinderCore(Buffers& buffers, const BindingRules& rules, const Options& options)
    : buffers_(buffers), rules_(rules), options_(options), surfaces_(rules.block / 4) {
  // Never more than half full.
  slots_.resize(std::bit_ceil(size_t{2} * (rules.block / rules.alignment)));
  mask_ = slots_.size() - 1;
}

BinderCore::~BinderCore() {
  (void)ReleaseOld();
  if (block_.handle != 0) (void)buffers_.Release(block_.handle);
}

absl::Status BinderCore::ReleaseOld() {
  absl::Status first;
  for (const Buffer& block : old_) first.Update(buffers_.Release(block.handle));
  old_.clear();
  return first;
}

absl::StatusOr<Buffer> BinderCore::NewBlock() const {
  const absl::StatusOr<Buffer> block = buffers_.Create({.size = rules_.block,
                                                        .zone = options_.zone,
                                                        .name = options_.name,
                                                        .heap = options_.heap,
                                                        .alignment = 4096,
                                                        .writable = false});
  if (!block.ok()) return block.status();
  const uint64_t base = options_.surface_base, bytes = options_.surface_bytes;
  const bool reached = rules_.own_base || (block->address <= base && bytes <= kSurfaceReach &&
                                           base - block->address <= kSurfaceReach - bytes);
  if (reached && block->cpu != nullptr) return block;
  (void)buffers_.Release(block->handle);
  return absl::FailedPreconditionError(
      reached ? "binding tables want a heap that the CPU sees"
              : absl::StrFormat("a block of binding tables at 0x%x does not reach surface states "
                                "at 0x%x to 0x%x: all must lie within 4 GiB from it",
                                block->address, base, base + bytes - 1));
}

void BinderCore::UseBlock(const Buffer& block) {
  block_ = block;
  next_ = rules_.first;
  std::fill(slots_.begin(), slots_.end(), Slot());
}

uint64_t BinderCore::HashOf(absl::Span<const uint32_t> surfaces) {
  const uint32_t* at = surfaces.data();
  size_t left = surfaces.size();
  uint64_t hash = left * kMixA;
  for (; left >= 4; at += 4, left -= 4) {
    hash = Mix(Load64(at) ^ hash, Load64(at + 2) ^ kMixB);
  }
  if (left >= 2) {
    hash = Mix(Load64(at) ^ hash, kMixA);
    at += 2;
    left -= 2;
  }
  if (left != 0) hash = Mix(*at ^ hash, kMixB);
  return Mix(hash, kMixA);
}

absl::Status BinderCore::TooMany(size_t count) const {
  return absl::InvalidArgumentError(
      absl::StrFormat("a binding table of %d surfaces; there may be %d", count, kMostSurfaces));
}

absl::Status BinderCore::BadSurface(absl::Span<const uint32_t> surfaces) const {
  for (size_t i = 0; i < surfaces.size(); ++i) {
    if (surfaces[i] % 64 == 0 && surfaces[i] < options_.surface_bytes) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "surface %d of a binding table is at offset 0x%x; it is to be a multiple of 64 below 0x%x",
        i, surfaces[i], options_.surface_bytes));
  }
  return absl::InternalError("all surfaces of a binding table are where they may be");
}

absl::Status BinderCore::NotBegun() const {
  return absl::FailedPreconditionError(
      "tables are bound for a batch that does not know their base: Begin() it first");
}

}  // namespace packsmith::gpu
