#include "gen/model/passes/streams.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {

namespace {

class StreamPass : public Pass {
 public:
  explicit StreamPass(Context& context) : Pass(context) {}

  void Run() {
    if (model_.engines.size() > 64) {
      Report(Code::kTooLarge, model_.engines[64].where, "more than 64 engines");
    }
    for (Stream& stream : model_.streams) stream.engines = EngineMask(stream.engines_text);
    for (Container& c : model_.containers) {
      c.engines = EngineMask(c.engines_text);
      if (c.kind != ContainerKind::kPacket) continue;
      if (c.stream_name.empty()) {
        c.stream = model_.streams.empty() ? -1 : 0;
        if (c.stream < 0) {
          Report(Code::kUnknownReference, c.where,
                 "a packet belongs to a stream, and the file declares none with <stream>");
        }
        continue;
      }
      c.stream = Find(model_.streams, c.stream_name.text);
      if (c.stream < 0) {
        Report(Code::kUnknownReference, c.stream_name.where,
               absl::StrCat("there is no <stream name=\"", c.stream_name.text, "\">"));
      }
    }
    for (const Container& c : model_.containers) {
      if (c.stream < 0) continue;
      const Stream& stream = model_.streams[static_cast<size_t>(c.stream)];
      if ((c.engines & stream.engines) == 0) {
        Report(Code::kContradiction, c.engines_text.where,
               absl::StrCat("no engine that reads \"", stream.name, "\" has this packet"))
            .notes.push_back({stream.where, "the stream is here"});
      }
    }
  }

 private:
  uint64_t EngineMask(const Deferred& text) {
    if (text.empty()) return ~uint64_t{0};
    uint64_t mask = 0;
    for (const absl::string_view name : absl::StrSplit(text.text, ' ', absl::SkipEmpty())) {
      bool found = false;
      for (size_t i = 0; i < model_.engines.size() && i < 64; ++i) {
        if (model_.engines[i].name == name) {
          mask |= uint64_t{1} << i;
          found = true;
        }
      }
      if (!found) {
        Report(Code::kUnknownReference, text.where,
               absl::StrCat("there is no <engine name=\"", name, "\">"));
      }
    }
    return mask;
  }
};

}  // namespace

void ResolveStreams(Context& context) { StreamPass(context).Run(); }

}  // namespace packsmith::model
