// Shows submissions as they are made, as `unpack` shows dumps.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PRINTING_WATCHER_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PRINTING_WATCHER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/capture/execute/unpack_options.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/chunk_writer.h"

namespace packsmith::capture {

// Each submission is headed by a line with its number, the time since the watcher was made, its
// process, engine and context, and followed by its warnings; state carries over within a context.
// As JSON lines, the head is a record of type "work". One that hangs is named again. All text has
// reached the output when a method returns, apart from that of Format::kStats.
class PrintingWatcher : public Watcher {
 public:
  // `output` must outlive this. `now`: CLOCK_MONOTONIC in nanoseconds, for tests; empty: the
  // system's.
  PrintingWatcher(decode::Output& output, UnpackOptions options, std::function<int64_t()> now = {});
  ~PrintingWatcher() override;

  void OnSubmit(const std::shared_ptr<const Work>& work) override;
  void OnDone(const Work& work, Outcome outcome, absl::string_view why) override;
  // Writes the summary of each device. The last call.
  void Finish();

 private:
  struct Device;
  Device* DeviceOf(const Work& work);
  void WriteHead(const Work& work);
  int64_t Now() const;

  decode::Output& output_;
  const UnpackOptions options_;
  const std::function<int64_t()> now_;
  const int64_t began_;
  decode::ChunkWriter heads_;
  // In the order of their first submissions; null: it cannot be decoded.
  std::vector<std::pair<const DeviceInfo*, std::unique_ptr<Device>>> devices_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_PRINTING_WATCHER_H_
