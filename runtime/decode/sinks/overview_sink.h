// The content of a dump and the places of its draws: a first, brief pass, so that the text of the
// second one can begin with a summary.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_OVERVIEW_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_OVERVIEW_SINK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/decode/record.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/walk/settings.h"

namespace packsmith::decode {

// For Options::brief. Memory is bounded by the number of packets that the tables describe and of
// contexts, not by the dump.
class OverviewSink : public Sink {
 public:
  // `draw`: the draw for Select(), counted from 1; 0: none.
  explicit OverviewSink(uint64_t draw = 0) : draw_(draw) {}
  // Select() is for the packet of this ordinal, as Filter counts them: a draw or a dispatch.
  void WantPacket(uint64_t ordinal) { packet_ = ordinal; }
  // Select() is for this draw, or this dispatch, counted from 1.
  void WantDraw(uint64_t draw) { draw_ = draw; }
  void WantDispatch(uint64_t dispatch) { dispatch_ = dispatch; }

  void OnSchema(const tables::Tables& tables) override;
  void OnDevice(const Device&, uint64_t) override {}
  void OnDump(const Dump* dump) override { dump_ = dump; }
  void OnSubmission(const Submission& submission, uint64_t id) override;
  void OnRecord(const Record&) override {}
  void OnPackets(absl::Span<const Brief> packets) override;
  void OnRemark(absl::string_view text, bool is_problem) override;
  void OnSummary(const Summary& summary) override;

  // The following only after the decoder has finished. Text(): whole lines.
  std::string Text(bool offsets) const;
  uint64_t draws() const { return summary_.draws; }
  uint64_t dispatches() const { return summary_.dispatches; }
  // The packets that make up the draw: all since the draw before it; of those before that, the last
  // of each kind in the same context, and where packets change only some of what their kind can
  // hold, the last that has set each of those (settings.h). In the form of Filter; no `draw` if
  // there is no such draw.
  void Select(Filter& filter) const {
    filter.draw = found_;
    filter.packets = packets_;
    filter.first_packet = first_packet_;
    filter.last_packet = last_packet_;
  }

 private:
  struct Line {
    uint32_t index;
    std::string engine, kind;
    uint64_t address, length;
    std::string buffer;
    uint64_t packets = 0, draws = 0, dispatches = 0, unknown_dwords = 0, problems = 0;
  };
  // The last packet that has set something, by its ordinal.
  using LastOf = std::map<SettingKey, uint64_t>;

  // Whether the wanted packet is still to come.
  bool Looks() const {
    return !found_ &&
           (draws_seen_ < draw_ || dispatches_seen_ < dispatch_ || packet_ != ~uint64_t{0});
  }
  void Remember(const Brief& packet, uint64_t ordinal);

  uint64_t draw_;
  uint64_t packet_ = ~uint64_t{0};
  uint64_t dispatch_ = 0;
  const tables::Tables* tables_ = nullptr;
  const Dump* dump_ = nullptr;
  std::unique_ptr<SettingRules> rules_;
  std::vector<Line> lines_;       // of the first submissions
  Line rest_{};                   // of the others
  std::vector<uint64_t> counts_;  // by container
  uint64_t first_unknown_ = 0;
  bool any_unknown_ = false;
  std::vector<std::string> problems_;
  Summary summary_;

  uint64_t ordinal_ = 0;
  uint64_t draws_seen_ = 0, dispatches_seen_ = 0;
  uint64_t after_last_draw_ = 0;  // ordinal of the first packet after the previous draw
  std::map<std::pair<uint32_t, uint32_t>, LastOf> last_;  // by context and slot
  LastOf* here_ = nullptr;
  bool found_ = false;
  std::vector<uint64_t> packets_;
  uint64_t first_packet_ = 1, last_packet_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_OVERVIEW_SINK_H_
