// A file descriptor that is closed when its owner goes.
#ifndef PACKSMITH_RUNTIME_BASE_UNIQUE_FD_H_
#define PACKSMITH_RUNTIME_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace packsmith {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_UNIQUE_FD_H_
