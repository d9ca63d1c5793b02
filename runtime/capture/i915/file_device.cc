// The calls that ask for what the device has.
#include <unistd.h>

#include <vector>

#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

Result I915File::NoOperation(Caller&, uapi::drm::nothing&) { return 0; }

Result I915File::Getparam(Caller& caller, api::getparam& args) {
  const DeviceInfo& info = device_.info();
  const auto has = [&](EngineClass engine_class, uint16_t instance) {
    return device_.FindEngine(static_cast<uint16_t>(engine_class), instance) != nullptr ? 1 : 0;
  };
  int32_t value = 0;
  switch (args.param) {
    // Of drivers before GEM.
    case api::kParamIrqActive:
    case api::kParamAllowBatchbuffer:
    case api::kParamLastDispatch:
    case api::kParamHasExecConstants:
      return -ENODEV;
    case api::kParamChipsetId:
      value = info.pci_id;
      break;
    case api::kParamRevision:
      value = info.revision;
      break;
    case api::kParamNumFencesAvail:
      value = info.fences;
      break;
    case api::kParamHasOverlay:
    case api::kParamHasSecureBatches:  // root's alone
    case api::kParamHasResourceStreamer:
    case api::kParamHasPooledEu:
    case api::kParamMinEuInPool:
      break;
    case api::kParamHasBsd:
      value = has(EngineClass::kVideo, 0);
      break;
    case api::kParamHasBlt:
      value = has(EngineClass::kCopy, 0);
      break;
    case api::kParamHasVebox:
      value = has(EngineClass::kVideoEnhance, 0);
      break;
    case api::kParamHasBsd2:
      value = has(EngineClass::kVideo, 1);
      break;
    case api::kParamHasLlc:
      value = info.llc ? 1 : 0;
      break;
    case api::kParamHasWt:
      value = info.llc && traits_.version >= 750 && traits_.version < 900 ? 1 : 0;
      break;
    case api::kParamHasAliasingPpgtt:
      value = static_cast<int32_t>(info.ppgtt);
      break;
    case api::kParamHasSemaphores:
      value = (traits_.scheduler & api::kSchedulerSemaphores) != 0 ? 1 : 0;
      break;
    case api::kParamCmdParserVersion:
      value = traits_.command_parser;
      break;
    case api::kParamSubsliceTotal:
      if (!info.reports_topology()) return -ENODEV;
      value = static_cast<int32_t>(info.topology.subslices());
      break;
    case api::kParamEuTotal:
      if (!info.reports_topology()) return -ENODEV;
      value = static_cast<int32_t>(info.topology.eu_total());
      break;
    case api::kParamHasGpuReset:
      value = traits_.resets_engines ? 2 : 1;
      break;
    case api::kParamHucStatus:
      // The firmware of video engines is loaded from Gfx11 on, unless asked for otherwise.
      if (traits_.version < 900) return -ENODEV;
      if (traits_.version < 1100) return -EOPNOTSUPP;
      value = 1;
      break;
    case api::kParamMmapGttVersion:
      value = 4;
      break;
    case api::kParamHasScheduler:
      value = static_cast<int32_t>(traits_.scheduler);
      break;
    case api::kParamMmapVersion:
    case api::kParamHasGem:
    case api::kParamHasPageflipping:
    case api::kParamHasExecbuf2:
    case api::kParamHasRelaxedFencing:
    case api::kParamHasCoherentRings:
    case api::kParamHasRelaxedDelta:
    case api::kParamHasGen7SolReset:
    case api::kParamHasWaitTimeout:
    case api::kParamHasPrimeVmapFlush:
    case api::kParamHasPinnedBatches:
    case api::kParamHasExecNoReloc:
    case api::kParamHasExecHandleLut:
    case api::kParamHasCoherentPhysGtt:
    case api::kParamHasExecSoftpin:
    case api::kParamHasExecAsync:
    case api::kParamHasExecFence:
    case api::kParamHasExecCapture:
    case api::kParamHasExecBatchFirst:
    case api::kParamHasExecFenceArray:
    case api::kParamHasExecSubmitFence:
    case api::kParamHasExecTimelineFences:
    case api::kParamHasUserptrProbe:
      value = 1;
      break;
    case api::kParamHasContextIsolation:
      // A bit for each class whose engines begin with a state of their own.
      for (const EngineInfo& engine : info.engines) {
        if (traits_.execlists || engine.engine_class == EngineClass::kRender) {
          value |= 1 << static_cast<int>(engine.engine_class);
        }
      }
      break;
    case api::kParamSliceMask:
      if (traits_.version >= 1250) return -EINVAL;
      if (!info.reports_topology()) return -ENODEV;
      value = static_cast<int32_t>(info.topology.slice_mask);
      break;
    case api::kParamSubsliceMask:
      if (traits_.version >= 1250) return -EINVAL;
      if (!info.reports_topology()) return -ENODEV;
      value = static_cast<int32_t>(info.topology.subslice_masks[0]);
      break;
    case api::kParamCsTimestampFrequency:
    case api::kParamOaTimestampFrequency:
      value = static_cast<int32_t>(info.timestamp_hz);
      break;
    case api::kParamMmapGttCoherent:
      // Writes through the aperture of Broxton's small parts arrive late.
      value = info.platform == "bxt" || info.platform == "glk" || info.platform == "chv" ? 0 : 1;
      break;
    case api::kParamPerfRevision:
      value = 7;
      break;
    case api::kParamPxpStatus:
      return -ENODEV;
    case api::kParamHasContextFreqHint:
      if (!traits_.guc) return -EINVAL;
      value = 1;
      break;
    default:
      return -EINVAL;
  }
  return caller.Put(args.value, value);
}

Result I915File::RegRead(Caller&, api::reg_read& args) {
  // The only register that everyone may read.
  if ((args.offset & ~uint64_t{7}) != api::kRegTimestamp) return -EINVAL;
  if ((args.offset & 7) > api::kRegTwice) return -EINVAL;
  args.val = device_.Timestamp();
  return 0;
}

Result I915File::PerfOpen(Caller& caller, api::perf_open_param& args) {
  if (!traits_.perf) return -EOPNOTSUPP;
  if ((args.flags & ~api::kPerfKnownFlags) != 0) return -EINVAL;
  if (args.num_properties == 0 || args.num_properties >= api::kPerfMostProperty) return -EINVAL;
  struct Property {
    uint64_t id, value;
  };
  std::vector<Property> properties;
  if (const Result bad = caller.GetArray(args.properties_ptr, args.num_properties, properties)) {
    return bad;
  }
  for (const Property& property : properties) {
    if (property.id == 0 || property.id >= api::kPerfMostProperty) return -EINVAL;
  }
  return Refuse(-EACCES, "counters of the whole GPU are root's");
}

Result I915File::PerfAddConfig(Caller&, api::perf_oa_config&) {
  if (!traits_.perf) return -EOPNOTSUPP;
  return Refuse(-EACCES, "configurations of counters are root's");
}

Result I915File::PerfRemoveConfig(Caller&, api::perf_remove_config&) {
  if (!traits_.perf) return -EOPNOTSUPP;
  return Refuse(-EACCES, "configurations of counters are root's");
}

}  // namespace packsmith::capture::i915
