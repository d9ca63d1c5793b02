// Dumps of hangs whose cause is known, for any generation from Gfx8 on: a batch that hangs is made
// of the description's packets, executed by the simulator to where it stops, and saved as the
// kernel would. Nothing here has a packet's bits.
#ifndef PACKSMITH_TESTS_HANG_SEEDED_H_
#define PACKSMITH_TESTS_HANG_SEEDED_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/hang/events.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

enum class Seed {
  kPageFault,
  kCatError,
  kNeverStarted,
  kSemaphore,         // which nothing writes
  kSemaphoreOfOther,  // which another engine's ring, or a later batch, writes
  kEvent,
  kLoop,          // an unconditional jump back
  kLoopOnMemory,  // ends by a value in memory that never comes
  kPreemption,
  kResetByOther,
  kAlreadyReset,
  kBatchMissing,
  kUnknownCommand,
  kReservedBits,
  kShader,
  kPipeline,  // a fixed function does not finish, and those before it wait
  kNothing,   // an engine in the middle of good work
};
inline constexpr int kSeeds = static_cast<int>(Seed::kNothing) + 1;

// "page fault", as in the table of docs/hang.md.
absl::string_view NameOf(Seed seed);

// A packet of a description, by its name and those of its fields.
class MadePacket {
 public:
  // Fails the test if the description does not have it.
  MadePacket(const tables::Tables& tables, absl::string_view name);
  bool Has(absl::string_view field) const;
  // The value as the field has it: an address with its low zeros.
  MadePacket& Set(absl::string_view field, uint64_t value);
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  void Write(const tables::Leaf& leaf, uint64_t raw);

  const tables::Tables& tables_;
  const tables::Container* container_ = nullptr;
  std::vector<uint32_t> words_;
};

struct SeededHang {
  std::string text;           // of the dump, as the kernel writes it
  std::vector<Event> events;  // from a kernel log
};

// What writes the dump: i915, i915 where the firmware (GuC) schedules and saves the registers, xe.
enum class Form { kI915, kI915Guc, kXe };

// Empty: the driver's dump cannot show such a hang. `engines`: on how many of them the queue of an
// xe dump runs at once.
std::optional<SeededHang> SeedHang(const tables::Tables& tables, Seed seed, Form form,
                                   uint32_t engines = 1);

// Seed::kPipeline with these busy stages, by their places in the pipeline. `work`: the packet that
// is the last draw or dispatch.
std::optional<SeededHang> SeedPipelineHang(const tables::Tables& tables,
                                           const std::set<uint16_t>& busy, Form form,
                                           absl::string_view work = "3DPRIMITIVE");

}  // namespace packsmith::hang

#endif  // PACKSMITH_TESTS_HANG_SEEDED_H_
