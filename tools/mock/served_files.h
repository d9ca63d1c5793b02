// What clients have open.
#ifndef PACKSMITH_TOOLS_MOCK_SERVED_FILES_H_
#define PACKSMITH_TOOLS_MOCK_SERVED_FILES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"

namespace packsmith::mock {

// A client's end of what was opened.
struct Opened {
  int error = 0;  // a negative errno
  UniqueFd fd;
};

// Device files. A file ends when all copies of the client's end, in all processes, are closed.
// Thread-safe.
class ServedFiles {
 public:
  // `token`: of the run; see protocol.h.
  ServedFiles(capture::MockKernel& kernel, std::string token);

  Opened Open(uint32_t minor);
  // Null: there is none (any more).
  std::shared_ptr<capture::File> Find(uint64_t number);
  // Lets go of the files that no client has open any more. Whether there were any.
  bool DropClosed();
  // Readable when there is something to drop.
  int descriptor() const { return closed_.get(); }
  size_t open() const;
  uint64_t opened() const;

 private:
  struct Served {
    std::shared_ptr<capture::File> file;
    UniqueFd ours;
  };

  capture::MockKernel& kernel_;
  const std::string token_;
  const UniqueFd closed_;
  Mutex dropping_;  // taken before the other
  mutable Mutex mutex_;
  std::map<uint64_t, Served> files_;
  uint64_t opened_ = 0;
};

// Files of the tree that clients have opened to write to them. Each write() of a client is one
// message. Thread-safe.
class WrittenFiles {
 public:
  explicit WrittenFiles(capture::VirtualFiles& files);

  Opened Open(const std::string& path);
  // Does what was written until now. Costs nothing while no file is open.
  void Drain();
  // Readable when there is something to drain.
  int descriptor() const { return written_.get(); }

 private:
  struct Written {
    std::string path;
    UniqueFd ours;
  };

  capture::VirtualFiles& files_;
  const UniqueFd written_;
  Mutex mutex_;
  std::map<uint64_t, Written> open_;
  std::atomic<size_t> open_count_ = 0;  // of open_
  uint64_t opened_ = 0;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_SERVED_FILES_H_
