#include "runtime/kernel/i915/contexts.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu::i915 {
namespace {

namespace api = uapi::i915;

// Priorities of the kernel that are above and below that of all who ask for none.
int64_t PriorityOf(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return -api::kContextMostPriority / 2;
    case Priority::kNormal:
      return 0;
    case Priority::kHigh:
      return api::kContextMostPriority / 2;
    case Priority::kHighest:
      return api::kContextMostPriority;
  }
  return 0;
}

// The parameters with which a context is created: a chain of structures that refer to each other.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  void Set(api::ContextParam param, uint64_t value, uint32_t size = 0) {
    api::gem_context_create_ext_setparam& made = chain_.at(count_);
    made = {};
    made.base.name = api::kContextCreateSetparam;
    made.param = {.ctx_id = 0, .size = size, .param = param, .value = value};
    if (count_ != 0) {
      chain_.at(count_ - 1).base.next_extension = reinterpret_cast<uintptr_t>(&made);
    }
    ++count_;
  }
  // One engine for each kind; of several, the kernel takes one that is free.
  void SetEngines(const std::vector<EngineKind>& kinds);

  uint64_t address() const { return count_ == 0 ? 0 : reinterpret_cast<uintptr_t>(chain_.data()); }

 private:
  using Name = api::engine_class_instance;

  // A structure with engines after it.
  template <typename Head>
  static std::vector<uint64_t> WithEngines(const Head& head, const std::vector<Name>& names) {
    const size_t bytes = sizeof(Head) + names.size() * sizeof(Name);
    std::vector<uint64_t> words((bytes + 7) / 8);
    std::memcpy(words.data(), &head, sizeof(Head));
    std::memcpy(reinterpret_cast<uint8_t*>(words.data()) + sizeof(Head), names.data(),
                names.size() * sizeof(Name));
    return words;
  }

  std::array<api::gem_context_create_ext_setparam, 6> chain_;
  size_t count_ = 0;
  std::deque<std::vector<uint64_t>> lists_;
};

void Parameters::SetEngines(const std::vector<EngineKind>& kinds) {
  std::vector<Name> names;
  uint64_t extensions = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::vector<Name>& instances = kinds[i].instances;
    if (instances.size() == 1) {
      names.push_back(instances[0]);
      continue;
    }
    names.push_back({api::kClassInvalid, api::kInstanceInvalidNone});
    api::context_engines_load_balance head = {};
    head.base.next_extension = extensions;
    head.base.name = api::kEnginesLoadBalance;
    head.engine_index = static_cast<uint16_t>(i);
    head.num_siblings = static_cast<uint16_t>(instances.size());
    lists_.push_back(WithEngines(head, instances));
    extensions = reinterpret_cast<uintptr_t>(lists_.back().data());
  }
  lists_.push_back(WithEngines(api::context_param_engines{.extensions = extensions}, names));
  Set(api::kContextEngines, reinterpret_cast<uintptr_t>(lists_.back().data()),
      static_cast<uint32_t>(sizeof(api::context_param_engines) + names.size() * sizeof(Name)));
}

}  // namespace

absl::Status Contexts::CheckSpace(uint32_t space) const {
  if (space == 0 || capabilities_.has_spaces) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("space %d: %s has one set of page tables, space 0", space, calls_.path()));
}

absl::StatusOr<Contexts::Context> Contexts::Make(const ContextOptions& options) {
  const absl::Status status = CheckSpace(options.space);
  if (!status.ok()) return status;
  if (options.protects && options.recoverable) {
    return absl::InvalidArgumentError(
        "a context for protected memory cannot be recoverable: its session ends when it hangs");
  }
  if (options.priority != Priority::kNormal && !capabilities_.properties.has_priorities) {
    return absl::UnimplementedError(absl::StrFormat(
        "%s has no priorities; DeviceProperties::has_priorities says so", calls_.path()));
  }
  Parameters parameters;
  if (capabilities_.has_spaces) {
    Space& space = spaces_[options.space];
    if (!space.has_tables) {
      api::gem_vm_control args = {};
      const absl::Status made = calls_.Do("GEM_VM_CREATE", api::kGemVmCreate, args);
      if (!made.ok()) return made;
      space.tables = args.vm_id;
      space.has_tables = true;
    }
    parameters.Set(api::kContextVm, space.tables);
    parameters.SetEngines(capabilities_.engines);
  }
  if (options.priority != Priority::kNormal) {
    parameters.Set(api::kContextPriority, static_cast<uint64_t>(PriorityOf(options.priority)));
  }
  if (!options.recoverable) parameters.Set(api::kContextRecoverable, 0);
  if (options.protects) parameters.Set(api::kContextProtectedContent, 1);
  api::gem_context_create_ext args = {};
  args.extensions = parameters.address();
  if (args.extensions != 0) args.flags = api::kContextUseExtensions;
  const int result = calls_.Try(api::kGemContextCreateExt, args);
  if (result == -ENODEV && options.protects) {
    return absl::UnimplementedError(absl::StrFormat("%s has no protected content", calls_.path()));
  }
  if (result < 0) return calls_.Error(-result, "GEM_CONTEXT_CREATE");
  return Context{
      .id = args.ctx_id, .space = options.space, .recoverable = options.recoverable, .lost = false};
}

absl::StatusOr<Contexts::Context*> Contexts::FindLocked(uint32_t space, uint32_t context) {
  if (context != 0) {
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) {
      return absl::InvalidArgumentError(absl::StrFormat("there is no context %d", context));
    }
    if (found->second.space != space) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "context %d is of space %d, not of space %d", context, found->second.space, space));
    }
    return &found->second;
  }
  const absl::Status status = CheckSpace(space);
  if (!status.ok()) return status;
  const auto found = spaces_.find(space);
  if (found != spaces_.end() && found->second.has_context) return &found->second.context;
  // The file's own context is that of the only space.
  Context made = {.id = 0, .space = space, .recoverable = true, .lost = false};
  if (capabilities_.has_spaces) {
    const absl::StatusOr<Context> created = Make({.space = space});
    if (!created.ok()) return created.status();
    made = *created;
  }
  Space& owner = spaces_[space];
  owner.context = made;
  owner.has_context = true;
  return &owner.context;
}

absl::StatusOr<Contexts::Target> Contexts::Find(uint32_t space, uint32_t context) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> found = FindLocked(space, context);
  if (!found.ok()) return found.status();
  return Target{.id = (*found)->id, .recoverable = (*found)->recoverable};
}

absl::StatusOr<uint32_t> Contexts::Create(const ContextOptions& options) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context> made = Make(options);
  if (!made.ok()) return made.status();
  contexts_.emplace(next_, *made);
  return next_++;
}

absl::Status Contexts::Destroy(uint32_t context) {
  MutexLock lock(mutex_);
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) {
    return absl::NotFoundError(absl::StrFormat(
        "there is no context %d that was created, or it no longer exists", context));
  }
  api::gem_context_destroy args = {.ctx_id = found->second.id, .pad = 0};
  const absl::Status status = calls_.Do("GEM_CONTEXT_DESTROY", api::kGemContextDestroy, args);
  if (status.ok()) contexts_.erase(found);
  return status;
}

absl::StatusOr<ContextState> Contexts::StateOf(uint32_t space, uint32_t context) {
  MutexLock lock(mutex_);
  if (context == 0) {
    const absl::Status status = CheckSpace(space);
    if (!status.ok()) return status;
    const auto found = spaces_.find(space);
    // No job was submitted yet.
    if (found == spaces_.end() || !found->second.has_context) return ContextState::kGood;
  }
  const absl::StatusOr<Context*> found = FindLocked(space, context);
  if (!found.ok()) return found.status();
  if ((*found)->lost) return ContextState::kLost;
  api::reset_stats args = {};
  args.ctx_id = (*found)->id;
  const absl::Status status = calls_.Do("GET_RESET_STATS", api::kGetResetStats, args);
  if (!status.ok()) return status;
  if (args.batch_active != 0) {
    return (*found)->recoverable ? ContextState::kHung : ContextState::kLost;
  }
  return args.batch_pending != 0 ? ContextState::kReset : ContextState::kGood;
}

void Contexts::NoteLost(uint32_t space, uint32_t context) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> found = FindLocked(space, context);
  if (found.ok()) (*found)->lost = true;
}

}  // namespace packsmith::gpu::i915
