// How many samples of a pixel a generation has: what its packets can place.
//
//   if (samples > kMostSamples<Gfx9>) …

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_SAMPLES_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_SAMPLES_H_

#include <cstdint>

namespace packsmith::intel {

template <class Gen>
constexpr uint32_t MostSamples() {
  using Pattern = typename Gen::Packets::_3DSTATE_SAMPLE_PATTERN;
  return requires(Pattern p) { p._16x_sample0_x_offset; }
  ? 16 : 8;
}
template <class Gen>
inline constexpr uint32_t kMostSamples = MostSamples<Gen>();

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_SAMPLES_H_
