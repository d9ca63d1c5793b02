// Vertices, indices: data whose type is in other packets, and that draws read.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_DRAWN_DATA_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_DRAWN_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// As the packets of a context have described it so far.
struct DrawnData {
  // Where rows are: a vertex buffer, the index buffer.
  struct Slot {
    bool set = false;
    uint32_t space = 0;
    uint64_t address = 0, size = 0, stride = 0;  // bytes
    bool per_instance = false;
    uint32_t step = 1;  // instances that share a row
    const tables::Format* format = nullptr;
    absl::string_view name;  // of the format
  };
  // What rows consist of: a vertex element.
  struct Element {
    bool set = false;
    uint64_t slot = 0, offset = 0;  // bytes from the start of the row
    const tables::Format* format = nullptr;
    absl::string_view name;  // of the format
    bool per_instance = false;
    uint32_t step = 1;
  };
  struct Rows {
    std::vector<Slot> slots;
    std::vector<Element> elements;
    uint64_t version = 0;  // counts changes
  };
  // What a draw reads; the same again is not shown.
  struct Read {
    uint64_t rows_version, indices_version, first, count, first_instance, instances, bias;
    bool indexed;
    std::optional<uint64_t> cut;  // the index that ends a primitive
    bool operator==(const Read&) const = default;
  };

  // Makes room; `drawn`: TableActions::drawn.
  void Resize(const std::vector<bool>& drawn) {
    constexpr size_t kMostSlots = 64;  // vertex buffers, vertex elements
    rows.resize(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (!drawn[i]) continue;
      rows[i].slots.resize(kMostSlots);
      rows[i].elements.resize(kMostSlots);
    }
  }

  std::vector<Rows> rows;  // by kind of data; only those that draws read have slots
  std::optional<Read> last_read;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_DRAWN_DATA_H_
