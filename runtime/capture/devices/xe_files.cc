// Linux' xe_tile_sysfs.c, xe_gt_sysfs.c, xe_gt_freq.c, xe_gt_idle.c, xe_hw_engine_class_sysfs.c,
// xe_debugfs.c.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/capture/devices/driver_files.h"

namespace packsmith::capture {
namespace {

// Times of the scheduler, with the limits that the driver accepts.
void AddEngineClass(const std::string& path, FileWriter& writer) {
  for (const std::string& one : {path, path + "/.defaults"}) {
    writer.Line(one, "job_timeout_ms", 5000);
    writer.Line(one, "preempt_timeout_us", 640000);
    writer.Line(one, "timeslice_duration_us", 1000);
  }
  writer.Line(path, "job_timeout_min", 1);
  writer.Line(path, "job_timeout_max", 10000);
  writer.Line(path, "preempt_timeout_min", 1);
  writer.Line(path, "preempt_timeout_max", 10000000);
  writer.Line(path, "timeslice_duration_min", 1);
  writer.Line(path, "timeslice_duration_max", 10000000);
}

void AddGt(const DeviceInfo& device, const GtInfo& gt, const std::string& path,
           FileWriter& writer) {
  const std::string freq = path + "/freq0";
  writer.Line(freq, "act_freq", 0);
  writer.Line(freq, "cur_freq", device.min_mhz);
  writer.Line(freq, "rp0_freq", device.max_mhz);
  writer.Line(freq, "rpe_freq", device.min_mhz);
  writer.Line(freq, "rpn_freq", device.min_mhz);
  writer.Line(freq + "/throttle", "status", 0);
  AddFrequencyLimits({.lowest = freq + "/min_freq",
                      .highest = freq + "/max_freq",
                      .low = device.min_mhz,
                      .high = device.max_mhz},
                     writer);
  writer.Line(path + "/gtidle", "name", gt.media ? "gt1-mc" : "gt0-rc");
  writer.Line(path + "/gtidle", "idle_status", "gt-c6");
  writer.File(path + "/gtidle/idle_residency_ms", {.make = IdleMilliseconds});
  std::set<absl::string_view> classes;
  for (const EngineInfo& engine : device.engines) {
    if (engine.gt == gt.id) classes.insert(NameOf(engine.engine_class));
  }
  for (const absl::string_view name : classes) {
    AddEngineClass(absl::StrCat(path, "/engines/", name), writer);
  }
}

std::string Info(const DeviceSetup& setup) {
  const DeviceInfo& device = *setup.device;
  std::string text = absl::StrCat(
      "graphics_verx100 ", device.version_x10 * 10, "\nplatform ",
      KernelPlatform(device, setup.driver), "\nis_dgfx ", device.discrete() ? "yes" : "no",
      "\nva_bits ", int{device.xe_va_bits}, "\nrevid ", int{device.revision}, "\ntile_count 1\n");
  for (const GtInfo& gt : device.gts) {
    absl::StrAppend(&text, "gt", int{gt.id}, " force wake 0\n");
  }
  return text;
}

}  // namespace

void AddXeFiles(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer) {
  const DeviceInfo& device = *setup.device;
  const std::string tile = paths.device + "/tile0";
  for (const GtInfo& gt : device.gts) {
    AddGt(device, gt, absl::StrCat(tile, "/gt", int{gt.id}), writer);
    const std::string debug = absl::StrCat(paths.debugfs, "/gt", int{gt.id});
    AddControl(setup, debug + "/force_reset", "", writer);
    AddControl(setup, debug + "/force_reset_sync", "", writer);
  }
  if (device.discrete()) {
    writer.Line(tile, "physical_vram_size_bytes", device.vram_bytes);
    writer.Line(paths.device, "vram_d3cold_threshold", 300);
  }
  writer.File(paths.debugfs + "/info", {.content = Info(setup), .size = 0});
  AddControl(setup, paths.debugfs + "/wedged_mode", "1\n", writer);
}

}  // namespace packsmith::capture
