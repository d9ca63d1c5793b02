// The process that makes a system call: its memory and its file descriptors.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_CALLER_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_CALLER_H_

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::capture {

// What a call returns: 0 or more, or the negative of an errno.
using Result = int;

// The memory of a process. Both calls return false if not all of it could be read or written, which
// is EFAULT; a write may then have been done in part.
class UserMemory {
 public:
  virtual ~UserMemory() = default;
  virtual bool Read(uint64_t address, absl::Span<uint8_t> out) const = 0;
  virtual bool Write(uint64_t address, absl::Span<const uint8_t> bytes) const = 0;
};

// The memory of any process that the system lets this one read: itself and its descendants.
class ProcessMemory : public UserMemory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  bool Read(uint64_t address, absl::Span<uint8_t> out) const override;
  bool Write(uint64_t address, absl::Span<const uint8_t> bytes) const override;

 private:
  const pid_t pid_;
};

class SharedMemory;

class Caller {
 public:
  // `memory` outlives the call where an object is made of it (userptr).
  Caller(pid_t pid, std::string name, std::shared_ptr<const UserMemory> memory)
      : pid_(pid), name_(std::move(name)), memory_(std::move(memory)) {}
  virtual ~Caller() = default;

  // Gives the process a descriptor. Its number there, or a negative errno.
  virtual Result Install(UniqueFd fd, bool close_on_exec) = 0;
  // A duplicate, in this process, of the caller's descriptor; empty: there is none (EBADF).
  virtual UniqueFd Take(int number) = 0;
  // Maps memory where the process has room, to be read and written, for calls that do what mmap()
  // does. 0 and where it is, or a negative errno; `offset` and `size` are in whole pages.
  virtual Result Map(const SharedMemory& memory, uint64_t offset, uint64_t size,
                     uint64_t& address) {
    (void)memory, (void)offset, (void)size, (void)address;
    return -ENODEV;
  }
  // Whether nobody waits for the result any more: calls that wait end.
  virtual bool gone() const { return false; }

  pid_t pid() const { return pid_; }
  // The program's name, for messages and records.
  const std::string& name() const { return name_; }
  const std::shared_ptr<const UserMemory>& memory() const { return memory_; }

  // Whole structures; 0 or -EFAULT.
  template <typename T>
  Result Get(uint64_t address, T& out) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return memory_->Read(address, {reinterpret_cast<uint8_t*>(&out), sizeof(T)}) ? 0 : -EFAULT;
  }
  template <typename T>
  Result Put(uint64_t address, const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return memory_->Write(address, {reinterpret_cast<const uint8_t*>(&value), sizeof(T)}) ? 0
                                                                                          : -EFAULT;
  }
  // `count` structures that follow each other. Callers bound `count` first; a range that passes the
  // end of the address space is -EFAULT.
  template <typename T>
  Result GetArray(uint64_t address, uint64_t count, std::vector<T>& out) const {
    static_assert(std::is_trivially_copyable_v<T>);
    out.clear();
    if (count == 0) return 0;
    if (count > (~uint64_t{0} - address) / sizeof(T)) return -EFAULT;
    // Read in steps: a count that is too large fails at the end of mapped memory, before it is
    // allocated.
    constexpr uint64_t kStep = (uint64_t{1} << 20) / sizeof(T) + 1;
    while (out.size() < count) {
      const size_t begin = out.size();
      const uint64_t step = std::min<uint64_t>(kStep, count - begin);
      out.resize(begin + step);
      if (!memory_->Read(address + begin * sizeof(T),
                         {reinterpret_cast<uint8_t*>(out.data() + begin), step * sizeof(T)})) {
        out.clear();
        return -EFAULT;
      }
    }
    return 0;
  }

 private:
  const pid_t pid_;
  const std::string name_;
  const std::shared_ptr<const UserMemory> memory_;
};

// This process, which calls the mock kernel as a library.
class OwnCaller : public Caller {
 public:
  OwnCaller();
  Result Install(UniqueFd fd, bool close_on_exec) override;
  UniqueFd Take(int number) override;
  Result Map(const SharedMemory& memory, uint64_t offset, uint64_t size,
             uint64_t& address) override;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_CALLER_H_
