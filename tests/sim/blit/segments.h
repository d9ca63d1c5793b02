// Memory of a few segments, for tests.
#ifndef PACKSMITH_TESTS_SIM_BLIT_SEGMENTS_H_
#define PACKSMITH_TESTS_SIM_BLIT_SEGMENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

class Segments : public MemoryAccess {
 public:
  // Bytes that are readable and writable, zero at first. Valid as long as this object.
  std::vector<uint8_t>& Map(uint32_t space, uint64_t address, size_t size) {
    segments_.push_back({space, address, std::vector<uint8_t>(size)});
    return segments_.back().bytes;
  }

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    ++calls_;
    size_t done = 0;
    while (done < out.size()) {
      const Segment* segment = Find(space, address + done);
      if (segment == nullptr) break;
      const size_t at = static_cast<size_t>(address + done - segment->address);
      const size_t size = std::min(out.size() - done, segment->bytes.size() - at);
      std::copy_n(segment->bytes.data() + at, size, out.data() + done);
      done += size;
    }
    return done;
  }

  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override {
    ++calls_;
    size_t done = 0;
    while (done < bytes.size()) {
      auto* segment = const_cast<Segment*>(Find(space, address + done));
      if (segment == nullptr) break;
      const size_t at = static_cast<size_t>(address + done - segment->address);
      const size_t size = std::min(bytes.size() - done, segment->bytes.size() - at);
      std::copy_n(bytes.data() + done, size, segment->bytes.data() + at);
      done += size;
    }
    return done;
  }

  // Of Read() and Write().
  int calls() const { return calls_; }

 private:
  struct Segment {
    uint32_t space;
    uint64_t address;
    std::vector<uint8_t> bytes;
  };

  const Segment* Find(uint32_t space, uint64_t address) const {
    for (const Segment& segment : segments_) {
      if (segment.space == space && address >= segment.address &&
          address - segment.address < segment.bytes.size()) {
        return &segment;
      }
    }
    return nullptr;
  }

  std::list<Segment> segments_;
  mutable int calls_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_BLIT_SEGMENTS_H_
