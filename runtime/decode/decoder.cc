#include "runtime/decode/decoder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/trace/player.h"
#include "runtime/decode/walk/bound_settings.h"
#include "runtime/decode/walk/draw_data.h"
#include "runtime/decode/walk/follower.h"
#include "runtime/decode/walk/limits.h"
#include "runtime/decode/walk/pointers.h"
#include "runtime/decode/walk/record_shower.h"
#include "runtime/decode/walk/residency.h"
#include "runtime/decode/walk/streams.h"
#include "runtime/decode/walk/walk.h"

namespace packsmith::decode {

class Decoder::Impl {
 public:
  Impl(const tables::Tables& tables, Sink& sink, const Options& options)
      : tables_(tables),
        walk_(tables, sink, options),
        pointers_(walk_),
        residency_(walk_),
        shower_(walk_),
        follower_(walk_),
        draw_data_(walk_),
        streams_(walk_),
        traces_(walk_) {
    walk_.pointers = &pointers_;
    walk_.residency = &residency_;
    walk_.shower = &shower_;
    walk_.follower = &follower_;
    walk_.draw_data = &draw_data_;
    walk_.streams = &streams_;
    walk_.traces = &traces_;
    if (options.bound.any()) {
      bound_settings_ = std::make_unique<BoundSettings>(walk_);
      walk_.bound_settings = bound_settings_.get();
    }
    sink.OnSchema(tables);
    walk_.out.TakeId();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Decode(const Dump& dump, absl::Span<const Submission> submissions);
  void DecodeExecuted(const Dump& dump, const Submission& submission, const Setting& work,
                      const Settings& settings);
  Emitter& out() { return walk_.out; }

 private:
  // What holds before the first packet of a submission. Returns the id of its record.
  uint64_t BeginSubmission(const Dump& dump, const Submission& submission);
  // The submission's context, as earlier submissions have left it.
  Context& ContextOf(const Submission& submission);
  void WalkSubmission(const Dump& dump, const Submission& submission);
  // The stream that the submission names, or the first that its engine reads; kNone: there is none.
  uint32_t StreamOf(const Submission& submission) const;
  // A batch that is a structure.
  void ShowStructures(const Submission& submission, uint64_t parent);
  void ReportProblems(absl::Span<const packsmith::Problem> problems);

  const tables::Tables& tables_;
  Walk walk_;
  Pointers pointers_;
  Residency residency_;
  RecordShower shower_;
  Follower follower_;
  DrawData draw_data_;
  Streams streams_;
  TracePlayer traces_;
  std::unique_ptr<BoundSettings> bound_settings_;  // only with Options::bound
  std::map<std::pair<uint32_t, uint32_t>, Context> contexts_;
  bool device_shown_ = false;
};

void Decoder::Impl::ReportProblems(absl::Span<const packsmith::Problem> problems) {
  for (const packsmith::Problem& problem : problems) {
    walk_.out.Problem(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
  }
}

void Decoder::Impl::Decode(const Dump& dump, absl::Span<const Submission> submissions) {
  Sink& sink = walk_.out.sink();
  if (!device_shown_) {
    sink.OnDevice(dump.device, walk_.out.TakeId());
    device_shown_ = true;
  }
  ReportProblems(dump.problems);
  sink.OnDump(&dump);
  if (dump.error_state != nullptr && !walk_.options.brief) {
    shower_.ShowRegisters("", dump.error_state->registers);
    for (const ErrorEngine& engine : dump.error_state->engines) {
      shower_.ShowRegisters(engine.name, engine.registers);
    }
  }
  streams_.KeepReached(
      std::any_of(submissions.begin(), submissions.end(),
                  [](const Submission& submission) { return submission.unless_reached; }));
  for (const Submission& submission : submissions) {
    if (submission.unless_reached &&
        streams_.IsReached(submission.space, submission.batch_address)) {
      continue;
    }
    streams_.AddReached(submission.space, submission.batch_address);
    WalkSubmission(dump, submission);
  }
  walk_.out.FlushBriefs();
  if (dump.late_problems != nullptr) ReportProblems(dump.late_problems->All());
  sink.OnDump(nullptr);
}

Context& Decoder::Impl::ContextOf(const Submission& submission) {
  Context& context = contexts_[{submission.context, submission.slot}];
  context.state.Resize(tables_.bases().size(), walk_.actions.memories);
  for (const Submission::Base& base : submission.bases) {
    for (uint32_t i = 0; i < tables_.bases().size(); ++i) {
      if (tables_.string(tables_.bases()[i].name) == base.name) {
        context.state.SetBase(i, base.address);
      }
    }
  }
  context.drawn.Resize(walk_.actions.drawn);
  // What draws read is shown at least once a submission: its memory may differ.
  context.drawn.last_read.reset();
  // The same addresses may hold other packets now.
  context.ahead.Clear();
  if (walk_.bound_settings != nullptr) context.settings.resize(tables_.streams().size());
  return context;
}

uint64_t Decoder::Impl::BeginSubmission(const Dump& dump, const Submission& submission) {
  const Options& options = walk_.options;
  walk_.memory.Begin(dump.memory);
  walk_.complete = dump.memory_is_complete ? &dump : nullptr;
  walk_.context = &ContextOf(submission);
  follower_.programs().Clear();
  walk_.looked_ahead = false;
  walk_.own_space = submission.own_space.value_or(submission.space);
  walk_.bare_begin = submission.bare ? submission.batch_address : Walk::kNoAddress;
  walk_.nested_streams = 0;
  const uint64_t dwords = DwordsOf(dump);
  walk_.costs = CostsOf(options, dwords);
  walk_.overlay.Begin(MostStores(options, dwords));
  walk_.limits.BeginSubmission();
  if (bound_settings_ != nullptr) bound_settings_->BeginSubmission();
  Emitter& out = walk_.out;
  out.owner().submission = submission.index;
  out.FlushBriefs();
  ++out.summary().submissions;
  const uint64_t id = out.TakeId();
  out.sink().OnSubmission(submission, id);

  walk_.engines = ~uint64_t{0};
  if (submission.engine.empty()) return id;
  const uint32_t engine = tables_.FindEngine(submission.engine);
  if (engine != tables::kNone) {
    walk_.engines = uint64_t{1} << engine;
  } else {
    out.Remark(absl::StrCat("engine \"", submission.engine,
                            "\" is not described; packets of all engines are tried"));
  }
  return id;
}

uint32_t Decoder::Impl::StreamOf(const Submission& submission) const {
  const auto streams = static_cast<uint32_t>(tables_.streams().size());
  uint32_t stream = 0;
  if (!submission.stream.empty()) {
    stream = tables_.FindStream(submission.stream);
  } else {
    while (stream + 1 < streams && (tables_.stream(stream).engines & walk_.engines) == 0) ++stream;
  }
  return stream < streams ? stream : tables::kNone;
}

void Decoder::Impl::ShowStructures(const Submission& submission, uint64_t parent) {
  const uint32_t index = tables_.FindContainer(submission.stream);
  if (index == tables::kNone || tables_.container(index).kind != tables::ContainerKind::kStruct) {
    return walk_.out.Problem(absl::StrCat("there is no stream and no structure \"",
                                          submission.stream, "\" in ", tables_.generation()));
  }
  const tables::Container& container = tables_.container(index);
  const uint64_t fit = container.variable == 0 ? submission.batch_length / container.bytes : 1;
  walk_.here = submission.batch_address;
  follower_.ShowTable(
      {index, tables::kNone, std::max<uint64_t>(fit, 1), std::nullopt, fit > 1, false},
      submission.space, submission.batch_address, parent, 0);
}

void Decoder::Impl::WalkSubmission(const Dump& dump, const Submission& submission) {
  const uint64_t parent = BeginSubmission(dump, submission);
  const uint32_t stream = StreamOf(submission);
  if (stream == tables::kNone) return ShowStructures(submission, parent);
  // A length of zero says nothing about the batch.
  const uint64_t end = submission.batch_length == 0
                           ? ~uint64_t{0}
                           : AddSaturated(submission.batch_address, submission.batch_length);
  Frame frame{submission.space, submission.batch_address, end, 0, submission.batch_address};
  if (submission.ring) {
    frame.ring = true;
    const uint64_t ring_end = AddSaturated(submission.ring->address, submission.ring->size);
    if (end > ring_end) {
      frame.end = ring_end;
      frame.wrapped_begin = submission.ring->address;
      frame.wrapped_end = std::min(submission.ring->address + (end - ring_end), ring_end);
    }
  }
  streams_.Show(stream, walk_.engines, std::move(frame), parent);
}

void Decoder::Impl::DecodeExecuted(const Dump& dump, const Submission& submission,
                                   const Setting& work, const Settings& settings) {
  walk_.out.sink().OnDump(&dump);
  const uint64_t parent = BeginSubmission(dump, submission);
  walk_.stream = work.stream;
  walk_.context->settings[work.stream] = settings;
  bound_settings_->RememberAll(settings.All());
  walk_.here = work.address;
  walk_.stored.clear();
  Shown shown;
  shown.container = work.container;
  shown.bytes = shown.now = work.bytes;
  shown.length = work.bytes.size();
  shown.learns = walk_.UsesShapes();
  shown.space = work.space;
  shown.address = work.address;
  shown.parent = parent;
  shower_.Show(nullptr, shown);
  walk_.out.sink().OnDump(nullptr);
}

Decoder::Decoder(const tables::Tables& tables, Sink& sink, const Options& options)
    : impl_(std::make_unique<Impl>(tables, sink, options)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::Decode(const Dump& dump) { impl_->Decode(dump, dump.submissions); }
void Decoder::Decode(const Dump& dump, absl::Span<const Submission> submissions) {
  impl_->Decode(dump, submissions);
}
void Decoder::DecodeExecuted(const Dump& dump, const Submission& submission, const Setting& work,
                             const Settings& settings) {
  impl_->DecodeExecuted(dump, submission, work, settings);
}
void Decoder::Pause() { impl_->out().sink().OnPause(); }
const Summary& Decoder::summary() const { return impl_->out().summary(); }
uint64_t Decoder::next_id() const { return impl_->out().next_id(); }

Summary Decoder::Finish() {
  impl_->out().sink().OnSummary(summary());
  return summary();
}

}  // namespace packsmith::decode
