// What vertices read of their draws, as the simulator's vertex fetch finds it: in the packets that
// were executed, and in the memory that they point to.
#ifndef PACKSMITH_TESTS_INTEL_DRIVER_DRAWN_VALUES_H_
#define PACKSMITH_TESTS_INTEL_DRIVER_DRAWN_VALUES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "runtime/sim/work.h"
#include "runtime/tables/tables.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {

// The first vertex, the first instance, and the draw's number.
using DrawnValues = std::array<uint32_t, 3>;

// Of a pipeline whose first vertex element has the ids, and the second one the draw's number.
class DrawnValuesReader {
 public:
  DrawnValuesReader(const Machine& machine, const tables::Tables& tables)
      : machine_(machine), tables_(tables), description_(tables), state_(description_) {}

  // From Machine::shaders, of the draw at hand.
  DrawnValues Read(const sim::Work& work, sim::WorkMemory& memory) {
    for (; seen_ < machine_.packets.size(); ++seen_) {
      const auto& dwords = machine_.dwords[seen_];
      state_.See(
          tables_.container(tables_.FindContainer(machine_.packets[seen_])),
          absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(dwords.data()), dwords.size() * 4));
    }
    const std::optional<sim::DrawParameters> numbers = sim::DrawParametersOf(tables_, work);
    EXPECT_TRUE(numbers.has_value());
    if (!numbers.has_value()) return {};
    auto draw = state_.Draw(*work.command.container, work.command.bytes, *numbers);
    EXPECT_TRUE(draw.ok()) << draw.status();
    if (!draw.ok()) return {};
    const FetchMemory fetched(memory);
    auto fetch = sim::VertexFetch::Make(fetched, *std::move(draw));
    EXPECT_TRUE(fetch.ok()) << fetch.status();
    if (!fetch.ok()) return {};
    sim::VertexWalk walk(*fetch);
    EXPECT_TRUE(walk.Next());
    fetch->Fetch(walk.vertex());
    const absl::Span<const uint32_t> vue = fetch->vue();
    EXPECT_GE(vue.size(), 5u);
    return vue.size() < 5 ? DrawnValues() : DrawnValues{vue[0], vue[1], vue[4]};
  }

 private:
  // Memory as vertex fetch sees it, through its cache.
  class FetchMemory : public sim::MemoryAccess {
   public:
    explicit FetchMemory(sim::WorkMemory& memory) : memory_(memory) {}
    size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
      return memory_.Read(tables::ClientKind::kVertexFetch, space, address, out);
    }
    size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t>) override { return 0; }

   private:
    sim::WorkMemory& memory_;
  };

  const Machine& machine_;
  const tables::Tables tables_;
  sim::VertexDescription description_;
  sim::VertexState state_;
  size_t seen_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_DRIVER_DRAWN_VALUES_H_
