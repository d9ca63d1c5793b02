#include "runtime/debug/show_jobs.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/base/addresses.h"
#include "runtime/base/mutex.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"
#include "runtime/memory/debug_submit.h"
#include "runtime/tables/tables.h"

namespace packsmith::gpu {
namespace {

class StderrOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override { std::fwrite(text.data(), 1, text.size(), stderr); }
};

void ShowOnStderr(Device& device, const Job& job) {
  // Jobs of several threads come one after the other.
  static Mutex& mutex = *new Mutex;
  MutexLock lock(mutex);
  StderrOutput output;
  ShowJobOn(output, device, job);
}

}  // namespace

void ShowJobsOnStderr() { show_job.store(ShowOnStderr, std::memory_order_release); }

void ShowJobOn(decode::Output& output, Device& device, const Job& job) {
  output.Append(
      absl::StrFormat("job for engine %s, space %d, context %d, batch at 0x%x, %d bytes\n",
                      job.engine, job.space, job.context, job.batch_address, job.batch_length));
  const absl::StatusOr<tables::Tables> tables = FindGeneration(device.generation());
  if (!tables.ok()) {
    output.Append(absl::StrFormat("  it cannot be decoded: %s\n", tables.status().message()));
    return;
  }
  Dump dump;
  for (const Resident& resident : job.residents) {
    const absl::StatusOr<absl::Span<uint8_t>> bytes = device.Map(resident.memory);
    if (!bytes.ok()) continue;  // the CPU cannot see it
    // What two residents have at one place is shown as the first one's.
    (void)dump.memory.Map(0, PlainAddress(resident.address), *bytes, bytes->size());
  }
  dump.submissions.push_back({.engine = job.engine,
                              .context = job.context,
                              .batch_address = PlainAddress(job.batch_address),
                              .batch_length = job.batch_length});
  const std::unique_ptr<decode::Sink> sink =
      decode::MakeTextSink(output, {.hide_zero_fields = true});
  decode::Decoder decoder(*tables, *sink);
  decoder.Decode(dump);
  (void)decoder.Finish();
}

}  // namespace packsmith::gpu
