// What each buffer's pages had when they were last recorded.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_SEEN_PAGES_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_SEEN_PAGES_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "runtime/capture/records/page_store.h"

namespace packsmith::capture {

// By buffer, in groups of pages, so that large buffers with little content cost little. Groups that
// were not asked for during some thousand records are forgotten, which costs time only: buffers
// need not be reported when they end.
class SeenPages {
 public:
  static constexpr uint64_t kGroupPages = 512;
  // A place whose number is 0 and whose version is kZero is a page that was zero.
  static constexpr uint32_t kZero = 1;
  using Group = std::array<PageStore::Place, kGroupPages>;

  // space: 0 for a buffer with an identity; one more than the space of memory without, whose
  // address is `buffer` then. `page`: of any page of the group. Valid until the next call.
  Group& Of(uint64_t space, uint64_t buffer, uint64_t page) {
    Entry& entry = groups_[{space, buffer, page / kGroupPages}];
    if (entry.group == nullptr) entry.group = std::make_unique<Group>();
    entry.used = record_;
    return *entry.group;
  }

  // A record is complete.
  void Next() {
    if (++record_ % kForgetAfter != 0) return;
    absl::erase_if(
        groups_, [this](const auto& entry) { return record_ - entry.second.used > kForgetAfter; });
  }

 private:
  static constexpr uint64_t kForgetAfter = 1024;  // records
  struct Entry {
    std::unique_ptr<Group> group;
    uint64_t used = 0;
  };
  absl::flat_hash_map<std::array<uint64_t, 3>, Entry> groups_;
  uint64_t record_ = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_SEEN_PAGES_H_
