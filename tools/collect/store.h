// The folder of collected dumps. Each dump is a folder, which appears whole:
//
//   20261124T030405Z_0000-03-00.0_devcd3_1a2b3c4d_first/
//       data.zst   the dump      about.json   dmesg.txt   guc_info.gt0.txt …
//
// The name says when it was read, from which device and source, in which boot; `first`: it is the
// first one of a burst of hangs, which is not removed for younger ones; `partial`: the dump is cut.
//
// Several threads and processes may use a store at once.
#ifndef PACKSMITH_TOOLS_COLLECT_STORE_H_
#define PACKSMITH_TOOLS_COLLECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::collect {

struct Limits {
  uint64_t max_size = uint64_t{8} << 30;   // bytes of all dumps; younger ones push out older ones
                                           // that are not the first of a burst
  uint64_t keep_free = uint64_t{1} << 30;  // bytes of the disk that stay free
  int64_t max_age = 30 * 86400;            // seconds; 0: none is too old
  int64_t burst = 600;                     // a pause of N seconds ends a burst of one device
  uint64_t per_burst = 8;                  // dumps of a burst that are kept
};

// A dump of the store, from its folder's name.
struct Kept {
  std::string name;  // of the folder
  int64_t time = 0;  // seconds since 1970
  std::string address, id, boot;
  bool first = false, partial = false;
  bool temporary = false;  // it is being written, or its writer has died

  // Empty if the name has another form.
  static bool Parse(absl::string_view name, Kept& kept);
  std::string FolderName() const;
};

class Store {
 public:
  // Makes the folder, for its owner only, if it is missing.
  static absl::StatusOr<Store> Open(const std::string& path, const Limits& limits);

  enum class Answer {
    kTaken,    // the caller is the only one who copies this dump
    kBusy,     // another process copies it
    kHave,     // it is in the store already, whole
    kPartial,  // a part of it is in the store, and more could not be had
    kEnough,   // its burst has as many dumps as are kept
    kNoRoom,   // limits forbid it, or the disk is full
  };
  // A dump that is being written. Removed with all it has unless Publish() was called.
  class Claim {
   public:
    Claim() = default;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();

    // A new file of the dump, to write.
    absl::StatusOr<UniqueFd> Create(const std::string& name) const;
    // The same, written whole and synced.
    absl::Status Write(const std::string& name, absl::string_view content) const;
    const Kept& kept() const { return kept_; }

   private:
    friend class Store;
    std::string path_;  // empty: there is nothing to remove
    UniqueFd fd_;       // the folder, locked
    Kept kept_;
  };

  // Asks for a dump: `id` of the boot `boot`, of the device `address`, at `now`. kTaken: `claim` is
  // then the caller's. kNoRoom: `why` says what is short. Errors of the file system.
  absl::StatusOr<Answer> Take(const std::string& address, const std::string& id,
                              const std::string& boot, int64_t now, Claim& claim,
                              std::string& why) const;

  // Whether there is room for a dump that has `written` bytes so far; removes older ones for it,
  // never the first of a burst. Empty, or what is short.
  std::string MakeRoom(const Claim& claim, uint64_t written) const;

  // Makes the dump appear under its name, for good: syncs before and after. Its path.
  absl::StatusOr<std::string> Publish(Claim& claim, bool partial) const;

  // Removes what is too old, and looks after what writers left that have died. It is kept as
  // partial unless the kernel still has the dump: then `boot` is its boot and `present` has its id.
  absl::Status Tidy(const std::string& boot, absl::Span<const std::string> present,
                    int64_t now) const;

  // Calls act() while no other thread or process that uses the store is in this or another method.
  void Exclusively(const std::function<void()>& act) const;

  const std::string& path() const { return path_; }

 private:
  // While it exists, no other thread or process changes the folder's entries.
  class Lock;
  Store() = default;

  std::vector<Kept> All() const;
  uint64_t SizeOf(const Kept& kept) const;
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }
  std::string RoomFor(uint64_t written, const std::string& except) const;
  void RemoveOld(int64_t now) const;
  // The folder of a dump that nobody writes, locked; else none.
  UniqueFd LockAbandoned(const std::string& name) const;

  std::string path_;
  Limits limits_;
  UniqueFd folder_;
  std::unique_ptr<Mutex> mutex_ = std::make_unique<Mutex>();
};

}  // namespace packsmith::collect

#endif  // PACKSMITH_TOOLS_COLLECT_STORE_H_
