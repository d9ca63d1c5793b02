#include "runtime/intel/state/l3.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {
namespace {

// Sources: PRMs, volume "L3 Cache and URB", allocation tables; Mesa's intel_l3_config.c. Gfx11 also
// has 16/80, which is known not to work.
constexpr L3Partition kGfx8[] = {
    {.urb = 48, .all = 48},
    {.urb = 48, .data = 16, .read_only = 32},
    {.urb = 32, .data = 16, .read_only = 48},
    {.urb = 32, .read_only = 64},
    {.urb = 32, .all = 64},
    {.slm = 24, .urb = 16, .all = 48},
};
constexpr L3Partition kGfx9[] = {
    {.urb = 48, .all = 48},
    {.urb = 48, .data = 16, .read_only = 32},
    {.urb = 32, .data = 16, .read_only = 48},
    {.urb = 32, .read_only = 64},
    {.urb = 32, .all = 64},
    {.slm = 32, .urb = 16, .all = 48},
};
constexpr L3Partition kOneBank[] = {
    {.urb = 32, .all = 48},
    {.urb = 32, .data = 8, .read_only = 40},
    {.urb = 32, .data = 32, .read_only = 16},
    {.slm = 16, .urb = 16, .all = 48},
};
constexpr L3Partition kGfx11[] = {{.urb = 32, .all = 64}};
constexpr L3Partition kGfx12[] = {{.urb = 32, .all = 88}, {.urb = 16, .all = 104}};
constexpr L3Partition kFull[] = {{.all = 128, .full = true}};

}  // namespace

absl::Span<const L3Partition> L3Partitions(const RenderDevice& device) {
  const L3Division division = FactsOf(device.version).l3;
  if (division == L3Division::kNone) return {};
  if (device.l3_banks == 0) return kFull;
  switch (division) {
    case L3Division::kNone:
      break;
    case L3Division::kGfx8:
      // Cherryview has the partitions of its successors.
      if (device.platforms != "chv") return kGfx8;
      return kGfx9;
    case L3Division::kGfx9:
      if (device.l3_banks == 1) return kOneBank;
      return kGfx9;
    case L3Division::kGfx11:
      return kGfx11;
    case L3Division::kGfx12:
      return kGfx12;
  }
  return {};
}

absl::StatusOr<L3Partition> ChooseL3(const RenderDevice& device, const L3Weights& weights) {
  L3Weights wanted = weights;
  if (!FactsOf(device.version).local_memory_in_l3) wanted.slm = 0;
  const double sum = wanted.slm + wanted.urb + wanted.all + wanted.data + wanted.read_only;
  for (double weight : {wanted.slm, wanted.urb, wanted.all, wanted.data, wanted.read_only}) {
    if (!(weight >= 0) || !std::isfinite(weight) || !(sum > 0)) {
      return absl::InvalidArgumentError(
          "weights of L3 must be finite numbers of at least 0, and not all 0");
    }
  }
  const L3Partition* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const L3Partition& p : L3Partitions(device)) {
    if (p.full) return p;
    const bool serves = (wanted.slm == 0 || p.slm != 0) && (wanted.urb == 0 || p.urb != 0) &&
                        (wanted.all == 0 || p.all != 0) &&
                        (wanted.data == 0 || p.data + p.all != 0) &&
                        (wanted.read_only == 0 || p.read_only + p.all != 0);
    if (!serves) continue;
    const auto off = [&](double want, unsigned have) {
      return std::abs(want / sum - static_cast<double>(have) / p.total());
    };
    const double distance = off(wanted.slm, p.slm) + off(wanted.urb, p.urb) +
                            off(wanted.all, p.all) + off(wanted.data, p.data) +
                            off(wanted.read_only, p.read_only);
    if (distance < least) {
      least = distance;
      best = &p;
    }
  }
  if (best == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "no L3 partition of ", device.name, " has a share for each weight: local memory ",
        wanted.slm, ", URB ", wanted.urb, ", all ", wanted.all, ", data ", wanted.data,
        ", read only ", wanted.read_only));
  }
  return *best;
}

unsigned UrbKbOf(const RenderDevice& device, const L3Partition& partition) {
  if (device.urb_kb != 0) return device.urb_kb;
  unsigned kb = partition.urb * device.l3_way_kb * device.l3_banks;
  if (device.most_urb_kb != 0) kb = std::min(kb, device.most_urb_kb);
  kb /= device.slices;
  return kb - std::min(kb, device.compute_kb_per_bank * device.l3_banks);
}

}  // namespace packsmith::intel
