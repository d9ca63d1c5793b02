// Linux' i915_sysfs.c, intel_gt_sysfs_pm.c, sysfs_engines.c, i915_debugfs.c.
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/capture/devices/driver_files.h"

namespace packsmith::capture {
namespace {

std::string Capabilities(uint8_t capabilities) {
  std::string text;
  if ((capabilities & kEngineHevc) != 0) text = "hevc";
  if ((capabilities & kEngineSfc) != 0) absl::StrAppend(&text, text.empty() ? "" : " ", "sfc");
  return text;
}

void AddEngine(const EngineInfo& engine, const std::string& directory, FileWriter& writer) {
  const std::string name = absl::StrCat(NameOf(engine.engine_class), int{engine.instance});
  const std::string path = absl::StrCat(directory, "/", name);
  writer.Line(path, "name", name);
  writer.Line(path, "class", static_cast<int>(engine.engine_class));
  writer.Line(path, "instance", int{engine.instance});
  writer.Line(path, "capabilities", Capabilities(engine.capabilities));
  const bool video = engine.engine_class == EngineClass::kVideo;
  const bool enhance = engine.engine_class == EngineClass::kVideoEnhance;
  writer.Line(path, "known_capabilities", video ? "hevc sfc" : enhance ? "sfc" : "");
  for (const std::string& one : {path, path + "/.defaults"}) {
    writer.Line(one, "heartbeat_interval_ms", 2500);
    writer.Line(one, "max_busywait_duration_ns", 8000);
    writer.Line(
        one, "preempt_timeout_ms",
        engine.engine_class == EngineClass::kRender || engine.engine_class == EngineClass::kCompute
            ? 7500
            : 640);
    writer.Line(one, "stop_timeout_ms", 100);
    writer.Line(one, "timeslice_duration_ms", 1);
  }
}

// The names of frequencies: "gt_min_freq_mhz" of a device, "rps_min_freq_mhz" of a GT.
void AddFrequencies(const DeviceInfo& device, const std::string& directory,
                    absl::string_view prefix, FileWriter& writer) {
  const std::string path = absl::StrCat(directory, "/", prefix);
  for (const absl::string_view name : {"act", "cur"}) {
    writer.File(absl::StrCat(path, "_", name, "_freq_mhz"),
                {.content = absl::StrCat(device.min_mhz, "\n")});
  }
  for (const absl::string_view name : {"RP0", "boost"}) {
    writer.File(absl::StrCat(path, "_", name, "_freq_mhz"),
                {.content = absl::StrCat(device.max_mhz, "\n")});
  }
  for (const absl::string_view name : {"RP1", "RPn"}) {
    writer.File(absl::StrCat(path, "_", name, "_freq_mhz"),
                {.content = absl::StrCat(device.min_mhz, "\n")});
  }
  AddFrequencyLimits({.lowest = absl::StrCat(path, "_min_freq_mhz"),
                      .highest = absl::StrCat(path, "_max_freq_mhz"),
                      .low = device.min_mhz,
                      .high = device.max_mhz},
                     writer);
}

void AddGts(const DeviceInfo& device, const DevicePaths& paths, FileWriter& writer) {
  for (const GtInfo& gt : device.gts) {
    const std::string path = absl::StrCat(paths.card, "/gt/gt", int{gt.id});
    writer.Line(path, "id", int{gt.id});
    writer.Line(path, "rc6_enable", 1);
    writer.File(path + "/rc6_residency_ms", {.make = IdleMilliseconds});
    writer.Line(path, "throttle_reason_status", 0);
    AddFrequencies(device, path, "rps", writer);
  }
}

void AddDebugFiles(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer) {
  const DeviceInfo& device = *setup.device;
  writer.File(paths.debugfs + "/i915_capabilities",
              {.content = absl::StrCat("graphics version: ", device.version_x10 / 10,
                                       "\nplatform: ", KernelPlatform(device, setup.driver),
                                       "\nis_dgfx: ", device.discrete() ? "yes" : "no",
                                       "\nhas_llc: ", device.llc ? "yes" : "no",
                                       "\nhas_snoop: ", device.snoops ? "yes" : "no",
                                       "\nslice total: ", device.topology.slices(),
                                       "\nsubslice total: ", device.topology.subslices(),
                                       "\nEU total: ", device.topology.eu_total(), "\n"),
               .size = 0});
  writer.File(
      paths.debugfs + "/i915_frequency_info",
      {.content = absl::StrCat("Current freq: ", device.min_mhz, " MHz\nMin freq: ", device.min_mhz,
                               " MHz\nMax freq: ", device.max_mhz, " MHz\n"),
       .size = 0});
  std::string engines;
  for (const EngineInfo& engine : device.engines) {
    absl::StrAppend(&engines, NameOf(engine.engine_class), int{engine.instance}, "\n\tIDLE? yes\n");
  }
  writer.File(paths.debugfs + "/i915_engine_info", {.content = engines, .size = 0});
  writer.File(paths.debugfs + "/i915_gem_objects",
              {.content = "0 shrinkable [0 free] objects, 0 bytes\n", .size = 0});
  // Held open while registers are read.
  writer.File(paths.debugfs + "/i915_forcewake_user", {.mode = 0400, .size = 0});
  AddControl(setup, paths.debugfs + "/i915_wedged", "0\n", writer);
  AddControl(setup, paths.debugfs + "/i915_gem_drop_caches", "0x000001ff\n", writer);
  VirtualFiles& files = writer.files();
  for (const absl::string_view name : {"i915_error_state", "i915_gpu_info"}) {
    writer.File(absl::StrCat(paths.debugfs, "/", name),
                {.make = [&files, path = paths.card + "/error"] { return files.Read(path).text; },
                 .write =
                     [&files, paths](absl::string_view) {
                       ClearHang(paths, files).IgnoreError();
                       return 0;
                     },
                 .mode = 0644,
                 .size = 0});
  }
}

}  // namespace

void AddI915Files(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer) {
  const DeviceInfo& device = *setup.device;
  VirtualFiles& files = writer.files();
  writer.File(paths.card + "/error", {.content = std::string(kNoErrorState),
                                      .write =
                                          [&files, paths](absl::string_view) {
                                            ClearHang(paths, files).IgnoreError();
                                            return 0;
                                          },
                                      .mode = 0644,
                                      .size = 0});
  for (const EngineInfo& engine : device.engines) {
    AddEngine(engine, paths.card + "/engine", writer);
  }
  if (device.version_x10 >= 60) {
    AddFrequencies(device, paths.card, "gt", writer);
    AddGts(device, paths, writer);
    writer.Line(paths.card + "/power", "rc6_enable", 1);
    writer.File(paths.card + "/power/rc6_residency_ms", {.make = IdleMilliseconds});
  }
  // Sets of counters, which drivers would upload. None is there.
  if (device.version_x10 >= 75) writer.Owned(paths.card + "/metrics");
  AddDebugFiles(setup, paths, writer);
}

}  // namespace packsmith::capture
