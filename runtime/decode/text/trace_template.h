// The text that a sink has written for a trace, for traces of the same number.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_TRACE_TEMPLATE_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_TRACE_TEMPLATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/decode/record.h"
#include "runtime/decode/text/record_template.h"

namespace packsmith::decode {

// Text, and what is between its pieces.
struct TraceTemplate {
  enum class Kind : uint8_t {
    kAddress,  // of the record
    kBuffer,   // that has the address
    kHidden,   // the number of omitted fields
    kField,    // that may vary
    kPointer,  // a field whose value is all that varies; its name is in the text before it
    kDwords,   // data that may vary
  };
  struct Step {
    Kind kind;
    uint32_t record;
    size_t text_end;  // of the text before it
    size_t indent;    // of the record
    // kField: index in `fields`. kHidden: the record's first one, and their number.
    uint32_t field = 0, fields = 0;
    uint64_t zeros = 0;  // kHidden: the number of its other omitted fields
    size_t name = 0;     // kPointer: characters of the name, with padding
  };

  uint64_t trace = 0;
  size_t indent = 0;
  bool ready = false;
  bool refused = false;  // there is none: each record must be written
  std::string text;
  size_t text_size = 0;  // the part of it that is used
  std::vector<Step> steps;
  std::vector<ShownField> fields;  // without their bits
  size_t room = 0;                 // for writing all of it

  // Clears it: the trace gets no text.
  void Refuse() {
    TraceTemplate none;
    none.trace = trace;
    none.indent = indent;
    none.refused = true;
    *this = std::move(none);
  }
};

// A fixed number of them, of a bounded length.
class TraceTemplates {
 public:
  static constexpr size_t kMostText = 64 * 1024;
  // This bounds the number of steps, too, each of which needs some.
  static constexpr size_t kMostRoom = 4 * kMostText;

  TraceTemplates() : texts_(kEntries) {}

  // The trace's text, or an empty one in its place.
  TraceTemplate& At(uint64_t trace, size_t indent) {
    std::unique_ptr<TraceTemplate>& text = texts_[trace % kEntries];
    if (text == nullptr) text = std::make_unique<TraceTemplate>();
    if (text->trace != trace || text->indent != indent) {
      *text = TraceTemplate{};
      text->trace = trace;
      text->indent = indent;
    }
    return *text;
  }
  // For a change of the meaning of addresses.
  void Clear() {
    for (std::unique_ptr<TraceTemplate>& text : texts_) text.reset();
  }

 private:
  static constexpr size_t kEntries = 128;

  std::vector<std::unique_ptr<TraceTemplate>> texts_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_TRACE_TEMPLATE_H_
