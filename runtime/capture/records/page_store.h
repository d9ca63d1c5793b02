// The memory file of a run (runtime/dump/memory_file.h) while it is written: each content once.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_PAGE_STORE_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_PAGE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/memory_file.h"

namespace packsmith::capture {

// Pages by number, from 1, with counts of references. A page without references keeps its content,
// and may be referred to again, until its place is needed. Not thread-safe.
//
// Contents are compared through a mapping of the file, so that they cost no memory beside the
// system's cache of it.
class PageStore {
 public:
  // What a page's place holds: its number, and how often it had another content before.
  struct Place {
    uint32_t number = 0;  // 0: none
    uint32_t version = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };

  // Creates the file in `folder`; AlreadyExists if there is one.
  static absl::StatusOr<std::unique_ptr<PageStore>> Create(const std::string& folder,
                                                           absl::string_view run);
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;
  ~PageStore();

  // Whether page `number` has this content. `page` here and below: kMemoryPage bytes.
  bool Holds(uint32_t number, const uint8_t* page) const;
  // Whether `place` still has the content that it had then.
  bool IsCurrent(const Place& place) const;
  Place PlaceOf(uint32_t number) const { return {number, slots_[number].version}; }

  // A page with this content, or 0. `hash` is HashOf(page).
  static uint64_t HashOf(const uint8_t* page);
  uint32_t Find(const uint8_t* page, uint64_t hash) const;

  // Adds a page with one reference. It is written by Flush(), or before. 0: the file is full (2^32
  // pages). An error of a write is returned by Flush().
  uint32_t Insert(const uint8_t* page, uint64_t hash);

  bool IsReferenced(uint32_t number) const { return slots_[number].references != 0; }
  void Refer(uint32_t number);
  // Ends one reference to each page of the runs.
  void Release(absl::Span<const PageRun> runs);

  // Writes what was inserted. After an error, the pages inserted since the last call are not in the
  // file, and must be released.
  absl::Status Flush();

  // FailedPrecondition if another program has shortened the file.
  absl::Status CheckFile() const;

  // Bytes of pages that are referenced, with page 0.
  uint64_t used_bytes() const { return (used_ + 1) * kMemoryPage; }
  // Bytes that the file occupies.
  uint64_t file_bytes() const { return (slots_.size() - returned_) * kMemoryPage; }
  // Gives the places of pages without references back to the file system, where that can be done.
  void ReturnUnused();

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t references = 0;
    uint32_t version = 0;
    bool free = false;      // in free_
    bool staged = false;    // in staged_
    bool returned = false;  // to the file system
  };

  explicit PageStore(std::string path) : path_(std::move(path)) {}
  // The content of a page, or null if it cannot be had.
  const uint8_t* ContentOf(uint32_t number) const;
  absl::Status WriteStaged();
  absl::Status WriteAt(uint64_t offset, absl::Span<const uint8_t> bytes);

  const std::string path_;
  int fd_ = -1;
  std::vector<Slot> slots_;  // by number; [0] is the header
  std::vector<uint32_t> free_;
  absl::flat_hash_map<uint64_t, uint32_t> by_hash_;
  uint64_t used_ = 0;           // pages with references
  uint64_t returned_ = 0;       // pages
  uint64_t written_pages_ = 0;  // the file is as long as that
  absl::Status failed_;         // of a write since the last Flush()

  // Inserted, and not yet written.
  std::vector<uint8_t> staged_bytes_;
  std::vector<uint32_t> staged_;
  absl::flat_hash_map<uint32_t, size_t> staged_at_;  // index in staged_
  std::vector<uint32_t> since_flush_;                // inserted since the last Flush()

  mutable std::vector<const uint8_t*> windows_;  // mappings of the file
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_PAGE_STORE_H_
