// Timestamps as time. The GPU counts ticks, in as many bits as its generation has.
//
//   const TimestampClock clock = {.hertz = properties.timestamp_hertz,
//                                 .bits = Gfx9::kFacts.timestamp_bits};
//   const uint64_t ns = Nanoseconds(clock, TicksBetween(clock, before, after));

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_TIMESTAMP_CLOCK_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_TIMESTAMP_CLOCK_H_

#include <cstdint>

namespace packsmith::intel {

struct TimestampClock {
  uint64_t hertz = 0;  // ticks a second, as the kernel reports; 0: not known
  unsigned bits = 64;  // of a timestamp; after the highest number comes 0
};

constexpr uint64_t TimestampMask(const TimestampClock& clock) {
  return clock.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << clock.bits) - 1;
}
// From one timestamp to a later one, less than one round of the counter apart: at 36 bits and 12
// MHz that is 95 minutes.
constexpr uint64_t TicksBetween(const TimestampClock& clock, uint64_t from, uint64_t to) {
  return (to - from) & TimestampMask(clock);
}
// The timestamp with more bits than the counter has, from an earlier result of this function that
// is less than one round of the counter ago. `ticks` may have any upper bits.
constexpr uint64_t ExtendTimestamp(const TimestampClock& clock, uint64_t earlier, uint64_t ticks) {
  return earlier + TicksBetween(clock, earlier, ticks);
}
// Rounded down; 2^64 - 1 if it is more. 0 if the frequency is not known.
constexpr uint64_t Nanoseconds(const TimestampClock& clock, uint64_t ticks) {
  constexpr uint64_t kBillion = 1000000000;
  if (clock.hertz == 0) return 0;
  const uint64_t seconds = ticks / clock.hertz, rest = ticks % clock.hertz;
  if (seconds >= ~uint64_t{0} / kBillion) return ~uint64_t{0};
  // Of less than a second: frequencies are far below 2^34.
  return seconds * kBillion + rest * kBillion / clock.hertz;
}
// The time of a tick in nanoseconds: Vulkan's timestampPeriod. 0 if the frequency is not known.
constexpr float NanosecondsOfTick(const TimestampClock& clock) {
  return clock.hertz == 0 ? 0.0f : static_cast<float>(1e9 / static_cast<double>(clock.hertz));
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_TIMESTAMP_CLOCK_H_
