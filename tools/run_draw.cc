#include "tools/run_draw.h"

#include <memory>
#include <optional>
#include <utility>

#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/work.h"
#include "tools/run_vertices.h"

namespace packsmith::tools {
namespace {

// Forwards the records of one piece of work, and tells vertex fetch of the structures among them.
class WorkSink : public decode::Sink {
 public:
  WorkSink(decode::Sink& next, bool submissions, sim::VertexState& vertices)
      : next_(next), submissions_(submissions), vertices_(vertices) {}

  void OnSchema(const tables::Tables& tables) override { next_.OnSchema(tables); }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t id) override {
    if (submissions_) next_.OnSubmission(submission, id);
  }
  void OnDump(const Dump* dump) override { next_.OnDump(dump); }
  void OnRecord(const decode::Record& record) override {
    if (record.type == decode::RecordType::kStruct && record.register_offset < 0) {
      vertices_.See(*record.container, record.bytes, record.space);
    }
    next_.OnRecord(record);
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    next_.OnRemark(text, is_problem);
  }
  void OnSummary(const decode::Summary&) override {}

 private:
  decode::Sink& next_;
  const bool submissions_;
  sim::VertexState& vertices_;
};

decode::Setting SettingOf(const tables::Tables& tables, const sim::Command& command,
                          const Submission& submission, uint32_t stream, uint64_t order) {
  return {.container = tables.IndexOf(*command.container),
          .stream = stream,
          .space = command.space,
          .address = command.address,
          .depth = command.level,
          .submission = submission.index,
          .order = order,
          .bytes = {command.bytes.begin(), command.bytes.end()}};
}

}  // namespace

RunDescription::RunDescription(const tables::Tables& tables)
    : tables_(tables), rules_(tables), vertices_(tables), is_state_(tables.containers().size()) {}

bool RunDescription::IsState(uint32_t container) {
  std::optional<bool>& known = is_state_[container];
  if (!known) known = sim::Plan(tables_, tables_.container(container)).is_state;
  return *known;
}

void RunState::See(const sim::Command& command, const Submission& submission, uint32_t stream) {
  const tables::Tables& tables = description_->tables_;
  const uint32_t container = tables.IndexOf(*command.container);
  if (!description_->IsState(container)) return;
  vertices_.See(*command.container, command.bytes, submission.own_space.value_or(submission.space));
  std::shared_ptr<const decode::Setting> setting;
  const auto keep = [&](const decode::SettingKey& key) {
    if (setting == nullptr) {
      setting = std::make_shared<const decode::Setting>(
          SettingOf(tables, command, submission, stream, seen_++));
    }
    settings_.Set(key, setting);
  };
  description_->rules_.ForEach(container, command.bytes, nullptr, command.space, keep);
  // One dword that has no other effect is state, too.
  if (setting == nullptr) keep({container, decode::SettingKey::What::kAll, 0});
}

void RunState::Show(const RunWork& work, const RunDrawOptions& options,
                    decode::Output& output) const {
  const tables::Tables& tables = description_->tables_;
  const sim::Command& command = work.work.command;
  const bool is_draw = work.work.role == tables::Role::kDraw;
  Dump now;
  now.device = work.dump.device;
  now.buffers = work.dump.buffers;
  now.SortBuffers();
  now.memory_is_complete = work.dump.memory_is_complete;
  now.memory = work.memory.Snapshot();

  sim::VertexState vertices = vertices_;
  {
    const std::unique_ptr<decode::Sink> sink =
        options.jsonl ? decode::MakeJsonlSink(output, {.schema = false})
                      : decode::MakeTextSink(output, options.text);
    WorkSink forwards(*sink, !options.jsonl, vertices);
    decode::Options how;
    how.bound.each = true;
    (is_draw ? how.draws_before : how.dispatches_before) = work.number - 1;
    decode::Decoder decoder(tables, forwards, how);
    decoder.DecodeExecuted(now, work.submission,
                           SettingOf(tables, command, work.submission, work.stream, seen_),
                           settings_);
  }
  const std::optional<sim::DrawParameters> numbers = sim::DrawParametersOf(tables, work.work);
  if (!numbers) return;
  const uint32_t space = work.submission.own_space.value_or(work.submission.space);
  ShowVertices(vertices.Draw(*command.container, command.bytes, *numbers, space), work.memory,
               {.draw = work.number, .most = options.most_vertices, .jsonl = options.jsonl},
               output);
}

}  // namespace packsmith::tools
