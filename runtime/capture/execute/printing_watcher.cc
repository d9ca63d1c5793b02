#include "runtime/capture/execute/printing_watcher.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/fence.h"
#include "runtime/capture/execute/work_dump.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/names_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/json_writer.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {
namespace {

using Format = UnpackOptions::Format;

// Ids of records of different devices are different: this number each.
constexpr uint64_t kIdsOfADevice = uint64_t{1} << 48;

std::unique_ptr<decode::Sink> MakeWriter(decode::Output& output, const UnpackOptions& options,
                                         uint64_t first_id) {
  switch (options.format) {
    case Format::kJsonl: {
      decode::JsonlOptions jsonl;
      jsonl.undescribed = options.strict;
      jsonl.first_id = first_id;
      return decode::MakeJsonlSink(output, jsonl);
    }
    case Format::kStats:
      return decode::MakeStatsSink(output);
    case Format::kNames:
      return decode::MakeNamesSink(output, {.offsets = !options.no_offsets});
    case Format::kText:
      break;
  }
  decode::TextOptions text;
  text.color = options.color;
  text.hide_zero_fields = options.hide_zero;
  text.offsets = !options.no_offsets;
  text.undescribed = options.strict;
  return decode::MakeTextSink(output, text);
}

decode::Options DecoderOptions(const UnpackOptions& from, uint64_t first_id) {
  decode::Options options;
  options.follow = from.follow;
  options.brief = from.format == Format::kStats || from.format == Format::kNames;
  options.continue_past_end = from.continue_past_end;
  if (from.max_packets != 0) options.most_packets = options.least_packets = from.max_packets;
  if (from.max_structs != 0) options.most_structs = options.least_structs = from.max_structs;
  if (from.max_code != 0) options.most_code_bytes = from.max_code;
  if (from.max_stores != 0) options.most_stores = options.least_stores = from.max_stores;
  if (from.max_calls != 0) options.deepest_call = from.max_calls;
  if (from.max_pointers != 0) options.deepest_pointer = from.max_pointers;
  options.first_id = first_id;
  return options;
}

}  // namespace

struct PrintingWatcher::Device {
  Device(const tables::Tables& of, decode::Output& output, const UnpackOptions& options,
         uint64_t first_id)
      : tables(of), writer(MakeWriter(output, options, first_id)) {
    decode::Filter filter;
    filter.names = options.filter;
    if (!filter.all()) filtered = decode::MakeFilterSink(*writer, std::move(filter));
    decoder = std::make_unique<decode::Decoder>(tables, filtered ? *filtered : *writer,
                                                DecoderOptions(options, first_id));
  }
  const tables::Tables tables;
  std::unique_ptr<decode::Sink> writer, filtered;
  std::unique_ptr<decode::Decoder> decoder;
};

PrintingWatcher::PrintingWatcher(decode::Output& output, UnpackOptions options,
                                 std::function<int64_t()> now)
    : output_(output),
      options_(std::move(options)),
      now_(std::move(now)),
      began_(Now()),
      heads_(output) {}
PrintingWatcher::~PrintingWatcher() = default;

int64_t PrintingWatcher::Now() const { return now_ ? now_() : MonotonicNow(); }

PrintingWatcher::Device* PrintingWatcher::DeviceOf(const Work& work) {
  for (const auto& [info, device] : devices_) {
    if (info == work.device) return device.get();
  }
  std::unique_ptr<Device> device;
  const absl::StatusOr<tables::Tables> tables =
      FindGeneration(work.device == nullptr ? "" : work.device->generation);
  if (tables.ok()) {
    device = std::make_unique<Device>(*tables, output_, options_, devices_.size() * kIdsOfADevice);
  }
  return devices_.emplace_back(work.device, std::move(device)).second.get();
}

void PrintingWatcher::WriteHead(const Work& work) {
  const int64_t since = Now() - began_;
  if (options_.format == Format::kJsonl) {
    const auto text = [&](absl::string_view key, absl::string_view value) {
      heads_.Put(absl::StrCat(",\"", key, "\":"));
      decode::JsonWriter(heads_).String(value);
    };
    const auto number = [&](absl::string_view key, uint64_t value) {
      heads_.Put(absl::StrCat(",\"", key, "\":", value));
    };
    heads_.Put(absl::StrCat("{\"type\":\"work\",\"number\":", work.number));
    number("time_ns", static_cast<uint64_t>(since));
    text("process", work.process);
    number("pid", static_cast<uint64_t>(work.pid));
    text("interface", work.interface);
    text("device", work.device == nullptr ? "" : work.device->name);
    text("engine", work.engine);
    number("instance", work.engine_instance);
    number("context", work.context);
    heads_.Put(",\"warnings\":[");
    for (size_t i = 0; i < work.warnings.size(); ++i) {
      if (i != 0) heads_.Put(",");
      decode::JsonWriter(heads_).String(work.warnings[i]);
    }
    heads_.Put("]}\n");
  } else if (options_.format != Format::kStats) {
    std::string head = absl::StrFormat(
        "== %d  %d.%06d s  %s[%d]  %s %s  %s%d  context %d\n", work.number, since / 1'000'000'000,
        since % 1'000'000'000 / 1000, decode::Harmless(work.process), work.pid, work.interface,
        work.device == nullptr ? absl::string_view("?") : work.device->name, work.engine,
        work.engine_instance, work.context);
    for (const std::string& warning : work.warnings) {
      absl::StrAppend(&head, "warning: ", decode::Harmless(warning), "\n");
    }
    heads_.Put(head);
  }
  heads_.Flush();
}

void PrintingWatcher::OnSubmit(const std::shared_ptr<const Work>& work) {
  WriteHead(*work);
  Device* const device = DeviceOf(*work);
  if (device == nullptr) return;
  const WorkDump made = DumpOf(*work);
  device->decoder->Decode(made.dump);
  device->decoder->Pause();
}

void PrintingWatcher::OnDone(const Work& work, Outcome outcome, absl::string_view why) {
  if (outcome != Outcome::kHung) return;
  if (options_.format == Format::kJsonl) {
    heads_.Put(absl::StrCat("{\"type\":\"hung\",\"number\":", work.number, ",\"why\":"));
    decode::JsonWriter(heads_).String(why);
    heads_.Put("}\n");
  } else if (options_.format != Format::kStats) {
    heads_.Put(absl::StrCat("== ", work.number, " hung: ", decode::Harmless(why), "\n"));
  }
  heads_.Flush();
}

void PrintingWatcher::Finish() {
  for (const auto& [info, device] : devices_) {
    if (device != nullptr) device->decoder->Finish();
  }
}

}  // namespace packsmith::capture
