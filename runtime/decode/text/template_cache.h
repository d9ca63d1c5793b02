// The templates of records and traces that a sink has written, for later ones: a fixed number of
// them, of a bounded length.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_TEMPLATE_CACHE_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_TEMPLATE_CACHE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/line_template.h"

namespace packsmith::decode {

// The fields of a shape's records. Most hold the same value in record after record, and their text
// is literal; the others, addresses and what else was seen to vary, are holes.
struct ShapeTemplate {
  uint64_t shape = 0;
  size_t indent = 0;
  MaskedBytes same;  // the fields whose text is literal
  LineTemplate lines;

  // For Learn(): a record, and the fields that have varied, in their order.
  std::vector<uint8_t> bytes;
  std::vector<bool> varies;
};

// A record of a shape that is new here, or in which a field has changed for the first time, is
// written field by field, and the template is made anew: at most once for each field.
class ShapeTemplates {
 public:
  static constexpr size_t kMostText = 32 * 1024;
  static constexpr size_t kMostRoom = ~size_t{0};

  ShapeTemplates() : templates_(kEntries) {}

  // Or null.
  const ShapeTemplate* Find(const Record& record, size_t indent) const {
    const ShapeTemplate* const found = templates_[SlotOf(record.shape, indent)].get();
    if (found == nullptr || found->shape != record.shape || found->indent != indent) {
      return nullptr;
    }
    return found->same.AreIn(record.bytes) ? found : nullptr;
  }

  // Whether Learn() pays: not for shapes that occur once or twice, or that will be part of a trace.
  bool IsWorth(const Record& record) {
    uint8_t& seen = seen_[record.shape % kEntries];
    seen = static_cast<uint8_t>(std::min(seen + 1, kOftenEnough + 1));
    return seen > kOftenEnough;
  }
  // For a record that Find() does not find: determines which of `fields`, all that it shows, vary.
  // The result has that in `varies`; the caller fills its lines.
  ShapeTemplate& Learn(const Record& record, size_t indent, absl::Span<const ShownField> fields);
  // If they could not be filled.
  void Drop(ShapeTemplate& dropped) { dropped.shape = 0; }

 private:
  static constexpr size_t kEntries = 512;
  static constexpr int kOftenEnough = 2;

  // Shapes are numbered consecutively, and most come at only one depth.
  static size_t SlotOf(uint64_t shape, size_t indent) { return (shape + indent * 37) % kEntries; }

  std::vector<std::unique_ptr<ShapeTemplate>> templates_;
  std::array<uint8_t, kEntries> seen_{};  // how often IsWorth() was asked for shapes, about
};

// The records of a trace.
struct TraceTemplate {
  uint64_t trace = 0;
  size_t indent = 0;
  bool ready = false;
  bool refused = false;  // there is none: each record must be written
  LineTemplate lines;

  // Clears it: the trace gets no template.
  void Refuse() {
    ready = false;
    refused = true;
    lines.Clear();
  }
};

class TraceTemplates {
 public:
  static constexpr size_t kMostText = 64 * 1024;
  // This bounds the number of holes, too, each of which needs some.
  static constexpr size_t kMostRoom = 4 * kMostText;

  TraceTemplates() : templates_(kEntries) {}

  // The trace's template, or an empty one in its place.
  TraceTemplate& At(uint64_t trace, size_t indent) {
    std::unique_ptr<TraceTemplate>& at = templates_[trace % kEntries];
    if (at == nullptr) at = std::make_unique<TraceTemplate>();
    if (at->trace != trace || at->indent != indent) {
      *at = TraceTemplate{};
      at->trace = trace;
      at->indent = indent;
    }
    return *at;
  }
  // For a change of the meaning of addresses.
  void Clear() {
    for (std::unique_ptr<TraceTemplate>& one : templates_) one.reset();
  }

 private:
  static constexpr size_t kEntries = 128;

  std::vector<std::unique_ptr<TraceTemplate>> templates_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_TEMPLATE_CACHE_H_
