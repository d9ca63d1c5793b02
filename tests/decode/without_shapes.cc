#include "tests/decode/without_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::decode {
namespace {

std::string Said(const tables::Tables& tables, const Dumps& dumps, Options options, bool shapes,
                 const std::function<std::unique_ptr<Sink>(Output&)>& make) {
  StringOutput output;
  const std::unique_ptr<Sink> sink = make(output);
  options.shapes = shapes;
  Decoder decoder(tables, *sink, options);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return output.text();
}

}  // namespace

void ExpectSameWithoutShapes(const tables::Tables& tables, const Dumps& dumps, Options options) {
  const auto text = [](bool zeros, bool color, bool undescribed) {
    return [=](Output& output) {
      TextOptions options;
      options.hide_zero_fields = !zeros;
      options.color = color;
      options.undescribed = undescribed;
      options.offsets = !color;
      return MakeTextSink(output, options);
    };
  };
  const auto jsonl = [](bool undescribed) {
    return [=](Output& output) { return MakeJsonlSink(output, {.undescribed = undescribed}); };
  };
  const std::pair<const char*, std::function<std::unique_ptr<Sink>(Output&)>> kSinks[] = {
      {"text", text(true, false, false)},
      {"text without zeros", text(false, false, false)},
      {"text in colour", text(false, true, false)},
      {"text with what is not described", text(true, false, true)},
      {"jsonl", jsonl(false)},
      {"jsonl with what is not described", jsonl(true)},
  };
  for (const auto& [name, make] : kSinks) {
    const std::string with = Said(tables, dumps, options, true, make);
    const std::string without = Said(tables, dumps, options, false, make);
    if (with == without) continue;
    size_t at = 0;
    while (at < std::min(with.size(), without.size()) && with[at] == without[at]) ++at;
    const size_t line = with.rfind('\n', at) + 1;
    ADD_FAILURE() << name << ", with shapes: " << with.substr(line, 300)
                  << "\nwithout: " << without.substr(line, 300);
  }
}

}  // namespace packsmith::decode
