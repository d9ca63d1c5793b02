// The calls of contexts and address spaces.
#include <bit>
#include <utility>

#include "runtime/capture/i915/engine_map.h"
#include "runtime/capture/i915/extensions.h"
#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

namespace {

// A file whose contexts were banned that often gets no more of them: three for a ban, and one for a
// hang soon after another. Source: Linux, i915_drm_client.h and intel_reset.c.
constexpr unsigned kMostScore = 9;

// The arrangement of execution units that a context begins with: all of them.
api::gem_context_param_sseu AllUnits(const Topology& topology) {
  return {.engine = {api::kClassRender, 0},
          .flags = 0,
          .slice_mask = topology.slice_mask,
          .subslice_mask = topology.subslice_masks[0],
          .min_eus_per_subslice = topology.eus,
          .max_eus_per_subslice = topology.eus,
          .rsvd = 0};
}

}  // namespace

std::shared_ptr<Context> I915File::MakeContext() const {
  auto context = std::make_shared<Context>();
  context->space = traits_.full_ppgtt ? device_.MakeSpace() : device_.global_space();
  context->map = RingEngines(device_);
  return context;
}

std::shared_ptr<Context> I915File::FindContext(uint32_t id) const {
  const auto it = contexts_.find(id);
  return it == contexts_.end() ? nullptr : it->second;
}

Result I915File::GemContextCreate(Caller& caller, api::gem_context_create_ext& args) {
  if ((args.flags & ~(api::kContextUseExtensions | api::kContextSingleTimeline)) != 0) {
    return -EINVAL;
  }
  if (record_->score >= kMostScore) {
    return Refuse(-EIO, "contexts of this file were banned too often");
  }
  const std::shared_ptr<Context> context = MakeContext();
  if ((args.flags & api::kContextSingleTimeline) != 0) {
    if (!traits_.execlists) return -EINVAL;
    context->single_timeline = true;
  }
  if ((args.flags & api::kContextUseExtensions) != 0) {
    const auto take = [&](uint32_t name, uint64_t address) -> Result {
      // CLONE is no longer known.
      if (name != api::kContextCreateSetparam) return -EINVAL;
      api::gem_context_create_ext_setparam extension = {};
      if (const Result bad = caller.Get(address, extension)) return bad;
      if (extension.param.ctx_id != 0) return -EINVAL;
      return SetParam(caller, *context, extension.param, /*creating=*/true);
    };
    if (const Result bad = WalkExtensions(caller, args.extensions, take)) return bad;
  }
  context->id = context_ids_.Insert(0);
  contexts_[context->id] = context;
  args.ctx_id = context->id;
  return 0;
}

Result I915File::GemContextDestroy(Caller&, api::gem_context_destroy& args) {
  if (args.pad != 0) return -EINVAL;
  // The one that every file has stays.
  if (args.ctx_id == 0) return -ENOENT;
  const std::shared_ptr<Context> context = FindContext(args.ctx_id);
  if (!context) return -ENOENT;
  contexts_.erase(args.ctx_id);
  context_ids_.Remove(args.ctx_id);
  context->Close(kernel());
  return 0;
}

Result I915File::GemContextGetparam(Caller& caller, api::gem_context_param& args) {
  const std::shared_ptr<Context> context = FindContext(args.ctx_id);
  if (!context) return -ENOENT;
  context->used = true;
  if (args.param == api::kContextSseu) return GetSseu(caller, *context, args);
  switch (args.param) {
    case api::kContextGttSize:
      args.value = context->space->size();
      break;
    case api::kContextNoErrorCapture:
      args.value = context->no_error_capture ? 1 : 0;
      break;
    case api::kContextBannable:
      args.value = context->bannable ? 1 : 0;
      break;
    case api::kContextRecoverable:
      args.value = context->recoverable ? 1 : 0;
      break;
    case api::kContextPriority:
      args.value = static_cast<uint64_t>(int64_t{context->priority});
      break;
    case api::kContextVm:
      if (!traits_.full_ppgtt) return -ENODEV;
      // An id of its own for each caller, who destroys it.
      args.value = spaces_.Insert(context->space);
      break;
    case api::kContextPersistence:
      args.value = context->persistent ? 1 : 0;
      break;
    case api::kContextProtectedContent:
      args.value = 0;
      break;
    default:
      return -EINVAL;
  }
  args.size = 0;
  return 0;
}

Result I915File::GemContextSetparam(Caller& caller, api::gem_context_param& args) {
  const std::shared_ptr<Context> context = FindContext(args.ctx_id);
  if (!context) return -ENOENT;
  // Until it is used, a context takes what only new ones take.
  const bool creating = args.ctx_id != 0 && !context->used;
  return SetParam(caller, *context, args, creating);
}

Result I915File::SetParam(Caller& caller, Context& context, api::gem_context_param& args,
                          bool creating) {
  switch (args.param) {
    case api::kContextNoErrorCapture:
      if (args.size != 0) return -EINVAL;
      context.no_error_capture = args.value != 0;
      return 0;
    case api::kContextBannable:
      if (args.size != 0) return -EINVAL;
      if (args.value == 0) return Refuse(-EPERM, "only root's contexts are never banned");
      context.bannable = true;
      return 0;
    case api::kContextRecoverable:
      if (args.size != 0) return -EINVAL;
      context.recoverable = args.value != 0;
      return 0;
    case api::kContextPriority: {
      const int64_t priority = static_cast<int64_t>(args.value);
      if (args.size != 0) return -EINVAL;
      if ((traits_.scheduler & api::kSchedulerPriority) == 0) return -ENODEV;
      if (priority > api::kContextMostPriority || priority < -api::kContextMostPriority) {
        return -EINVAL;
      }
      if (priority > 0) return Refuse(-EPERM, "only root may have a priority above 0");
      context.priority = static_cast<int>(priority);
      return 0;
    }
    case api::kContextSseu:
      return SetSseu(caller, context, args);
    case api::kContextVm: {
      if (!creating) return -EINVAL;
      if (args.size != 0) return -EINVAL;
      if (!traits_.full_ppgtt) return -ENODEV;
      if (args.value >> 32 != 0) return -ENOENT;
      const auto* const space = spaces_.Find(static_cast<uint32_t>(args.value));
      if (space == nullptr) return -ENOENT;
      context.space = *space;
      return 0;
    }
    case api::kContextEngines: {
      if (!creating || context.map.own) return -EINVAL;
      return ReadEngineMap(device_, caller, args.value, args.size, context.map);
    }
    case api::kContextPersistence:
      if (args.size != 0) return -EINVAL;
      if (args.value == 0) {
        // Its work has to be taken from the GPU when the context goes.
        if ((traits_.scheduler & api::kSchedulerPreemption) == 0) return -ENODEV;
        if (!traits_.resets_engines) return -ENODEV;
      }
      context.persistent = args.value != 0;
      return 0;
    case api::kContextProtectedContent:
      if (!creating) return -EINVAL;
      if (args.size != 0) return -EINVAL;
      if (args.value == 0) return 0;
      return Refuse(-ENODEV, "there is no protected content");
    case api::kContextLowLatency:
      if (args.size != 0) return -EINVAL;
      if (!traits_.guc) return -EINVAL;
      context.low_latency = args.value != 0;
      return 0;
    default:
      return -EINVAL;
  }
}

namespace {

// The engine that an arrangement of units is for. Null: there is none.
ContextEngine* FindSseuEngine(Context& context, const api::gem_context_param_sseu& sseu) {
  auto& engines = context.map.engines;
  if ((sseu.flags & api::kSseuEngineIndex) != 0) {
    if (!context.map.own || sseu.engine.engine_instance >= engines.size()) return nullptr;
    ContextEngine& engine = engines[sseu.engine.engine_instance];
    return engine.engines.empty() ? nullptr : &engine;
  }
  // An engine's name is for contexts that have no list.
  if (context.map.own) return nullptr;
  for (ContextEngine& engine : engines) {
    if (!engine.engines.empty() &&
        static_cast<uint16_t>(engine.engines[0].engine_class) == sseu.engine.engine_class &&
        engine.engines[0].instance == sseu.engine.engine_instance) {
      return &engine;
    }
  }
  return nullptr;
}

}  // namespace

Result I915File::GetSseu(Caller& caller, Context& context, api::gem_context_param& args) {
  if (args.size != 0) {
    api::gem_context_param_sseu sseu = {};
    if (args.size < sizeof(sseu)) return -EINVAL;
    if (const Result bad = caller.Get(args.value, sseu)) return bad;
    if (sseu.rsvd != 0 || (sseu.flags & ~api::kSseuEngineIndex) != 0) return -EINVAL;
    ContextEngine* const engine = FindSseuEngine(context, sseu);
    if (engine == nullptr) return -EINVAL;
    const api::gem_context_param_sseu& set = engine->sseu;
    const api::gem_context_param_sseu units =
        set.slice_mask != 0 ? set : AllUnits(device_.info().topology);
    sseu.slice_mask = units.slice_mask;
    sseu.subslice_mask = units.subslice_mask;
    sseu.min_eus_per_subslice = units.min_eus_per_subslice;
    sseu.max_eus_per_subslice = units.max_eus_per_subslice;
    if (const Result bad = caller.Put(args.value, sseu)) return bad;
  }
  args.size = sizeof(api::gem_context_param_sseu);
  return 0;
}

Result I915File::SetSseu(Caller& caller, Context& context, api::gem_context_param& args) {
  api::gem_context_param_sseu sseu = {};
  if (args.size < sizeof(sseu)) return -EINVAL;
  // Only Ice Lake's video driver ever needed it.
  if (traits_.version < 1100 || traits_.version >= 1200) return -ENODEV;
  if (const Result bad = caller.Get(args.value, sseu)) return bad;
  if (sseu.rsvd != 0 || (sseu.flags & ~api::kSseuEngineIndex) != 0) return -EINVAL;
  ContextEngine* const engine = FindSseuEngine(context, sseu);
  if (engine == nullptr) return -EINVAL;
  if (engine->engines[0].engine_class != EngineClass::kRender) return -ENODEV;
  const api::gem_context_param_sseu all = AllUnits(device_.info().topology);
  const int slices = std::popcount(sseu.slice_mask);
  const int subslices = std::popcount(sseu.subslice_mask);
  const int all_subslices = std::popcount(all.subslice_mask);
  if (slices == 0 || subslices == 0 || sseu.min_eus_per_subslice == 0 ||
      sseu.max_eus_per_subslice == 0 || sseu.max_eus_per_subslice < sseu.min_eus_per_subslice) {
    return -EINVAL;
  }
  if ((sseu.slice_mask & ~all.slice_mask) != 0 || (sseu.subslice_mask & ~all.subslice_mask) != 0 ||
      sseu.max_eus_per_subslice > device_.info().topology.max_eus) {
    return -EINVAL;
  }
  // One slice: all of its subslices or half of them, and all of their units.
  if (slices != 1 || (subslices != all_subslices && subslices != all_subslices / 2) ||
      sseu.min_eus_per_subslice != all.min_eus_per_subslice ||
      sseu.max_eus_per_subslice != all.max_eus_per_subslice) {
    return -EINVAL;
  }
  engine->sseu = sseu;
  args.size = sizeof(sseu);
  return 0;
}

Result I915File::GemVmCreate(Caller& caller, api::gem_vm_control& args) {
  if (!traits_.full_ppgtt) return -ENODEV;
  if (args.flags != 0) return -EINVAL;
  if (const Result bad = RefuseExtensions(caller, args.extensions)) return bad;
  args.vm_id = spaces_.Insert(device_.MakeSpace());
  return 0;
}

Result I915File::GemVmDestroy(Caller&, api::gem_vm_control& args) {
  if (args.flags != 0 || args.extensions != 0) return -EINVAL;
  return spaces_.Remove(args.vm_id) ? 0 : -ENOENT;
}

Result I915File::GetResetStats(Caller&, api::reset_stats& args) {
  if (args.flags != 0 || args.pad != 0) return -EINVAL;
  const std::shared_ptr<Context> context = FindContext(args.ctx_id);
  if (!context) return -ENOENT;
  context->used = true;
  // How often the GPU was reset is for root to know.
  args.reset_count = 0;
  args.batch_active = context->guilty;
  args.batch_pending = context->innocent;
  return 0;
}

}  // namespace packsmith::capture::i915
