// Finds what is wrong with submissions before they are executed: what hardware would fault at, or
// what writes to memory that another buffer has.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SUBMISSION_CHECKS_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SUBMISSION_CHECKS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/drm/executor.h"

namespace packsmith::capture {

// Decodes each submission with all that it points to, and warns of
// - pointers to memory that is not mapped, with the object that was mapped there in an earlier
//   submission of the context, if there was one: it may have been freed;
// - what is written through a pointer beyond the end of its buffer;
// - dwords of unknown packets, and batches that do not end.
// The same warning is given once, wherever in the batch it is. State carries over within a context.
class SubmissionChecks : public Watcher {
 public:
  // `warn` receives lines, without newlines; control characters are escaped. It is called with the
  // kernel's lock held.
  explicit SubmissionChecks(std::function<void(const Work& work, absl::string_view line)> warn);
  ~SubmissionChecks() override;

  void OnSubmit(const std::shared_ptr<const Work>& work) override;

  uint64_t warnings() const { return warnings_; }

 private:
  // Contexts whose mappings are remembered, and mappings of each.
  static constexpr size_t kMostContexts = 256, kMostMappings = 1 << 16;
  // Different warnings; further ones are not given.
  static constexpr size_t kMostWarnings = 4096;

  struct Device;
  // What was mapped in earlier submissions of a context.
  struct Was {
    uint64_t size = 0, object = 0, number = 0;  // number: of the last submission that had it
    std::string name;
  };
  struct History {
    std::weak_ptr<const AddressMap> last;
    absl::btree_map<uint64_t, Was> mappings;  // by address; they may overlap
  };

  Device* DeviceOf(const Work& work);
  // "; it was bo3 until submission 7", or nothing.
  std::string WhatWasAt(const Work& work, uint64_t address) const;
  void Remember(const Work& work);
  void Warn(const std::string& key, const std::string& text);

  const std::function<void(const Work& work, absl::string_view line)> warn_;
  std::vector<std::pair<const DeviceInfo*, std::unique_ptr<Device>>> devices_;
  absl::flat_hash_map<uint64_t, History> histories_;  // by context
  std::list<uint64_t> oldest_;                        // contexts, in the order of their first work
  std::set<std::string> warned_;
  uint64_t warnings_ = 0;
  const Work* work_ = nullptr;  // during OnSubmit()
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_SUBMISSION_CHECKS_H_
