// One call of EXECBUFFER2: from its structures to work in queues.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_SUBMISSION_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_SUBMISSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

// Used once, with the kernel's lock held.
class Submission {
 public:
  Submission(I915File& file, Caller& caller, uapi::i915::gem_execbuffer2& args)
      : file_(file), caller_(caller), args_(args) {}

  // 0 or a negative errno.
  Result Run();

 private:
  struct Entry {
    uapi::i915::gem_exec_object2 exec = {};  // as the caller wrote it
    std::shared_ptr<I915Object> object;
    uint64_t flags = 0;  // with those that relocations add
    uint64_t address = 0;
  };
  struct Signal {
    std::shared_ptr<Syncobj> syncobj;
    uint64_t point = 0;
  };
  struct Relocation {
    size_t source = 0, target = 0;  // entries
    uint64_t offset = 0, value = 0;
    uint64_t presumed_at = 0;  // address of what the caller presumes
  };

  Result CheckArguments();
  Result ReadFences();
  Result ReadFenceArray(uint64_t address, uint64_t count);
  Result ReadTimelineFences(uint64_t address);
  Result ReadInFence();
  Result FindEngine();
  // Objects, addresses and relocations. -EAGAIN: `busy_` must be idle first; then it is tried
  // again.
  Result Prepare();
  Result FindObjects();
  Result CheckObject(Entry& entry, bool batch);
  Result PlaceObjects();
  Result ReadRelocations();
  Result CheckRelocation(size_t source, const uapi::i915::gem_relocation_entry& relocation,
                         uint64_t address);
  void WriteRelocations();
  void WriteOffsets();
  Result CheckUserMemory();
  void WarnOfRelocations();
  Result Submit();

  bool IsBatch(size_t index) const;
  AddressSpace::Wish WishOf(const Entry& entry, bool batch) const;
  std::shared_ptr<Work> MakeWork(const ContextEngine::Lane& lane,
                                 const std::shared_ptr<const AddressMap>& memory,
                                 const Entry& batch) const;
  void Warn(std::string text);

  I915File& file_;
  Caller& caller_;
  uapi::i915::gem_execbuffer2& args_;

  std::vector<uapi::i915::gem_exec_object2> objects_;  // as they were read
  std::vector<std::shared_ptr<Fence>> after_;
  std::vector<Signal> signals_;
  std::shared_ptr<Context> context_;
  size_t engine_ = 0;  // in the context's map
  size_t batches_ = 1;
  std::vector<Entry> entries_;
  bool relocate_ = false;
  std::vector<Relocation> relocations_;
  std::shared_ptr<I915Object> busy_;
  std::vector<std::string> warnings_;
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_SUBMISSION_H_
