// The functions that the tracer replaces. Each passes the call on, with what the program
// gave, and leaves errno as the call left it.
#include <errno.h>
#include <stdarg.h>

#include "tools/mock/face/channel.h"
#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"
#include "tools/trace/face/files.h"

namespace packsmith::trace::face {
namespace {

using mock::face::Answer;
using mock::face::Raw;
using mock::face::RawSyscall;
using mock::face::RealSymbol;
using mock::face::Returned;
using mock::face::TransactBytes;

constexpr unsigned kDrmType = 'd';
constexpr unsigned Type(unsigned long request) { return (request >> 8) & 0xff; }
constexpr size_t Size(unsigned long request) { return (request >> 16) & 0x3fff; }

// One call of a GPU's driver, which the recorder is told of.
class Told {
 public:
  Told(int fd, unsigned long request, const void* argument)
      : argument_(argument), size_(Size(request)) {
    if (Type(request) != kDrmType || size_ > kMostArgument) return;
    const int error = errno;
    file_ = FindFile(fd, scratch_);
    if (file_ != nullptr) interest_ = file_->InterestIn(request);
    message_.request = static_cast<uint32_t>(request);
    message_.flags = fd;
    if (interest_ != Interest::kNone) message_.file = file_->number;
    if (interest_ == Interest::kBeforeAndAfter) {
      message_.op = kBefore;
      Answer answer;
      // A call whose argument cannot be read fails.
      if (TransactBytes(message_, argument_, size_, -1, answer) >= 0) {
        ticket_ = answer.reply.argument;
      }
    }
    errno = error;
  }

  // `result`: 0 or more, or a negative errno.
  void End(long result) {
    const bool after = interest_ == Interest::kAfter && result >= 0;
    if (!after && ticket_ == 0) return;
    message_.op = kAfter;
    message_.size = ticket_;
    message_.result = static_cast<int32_t>(result);
    Answer answer;
    TransactBytes(message_, argument_, size_, -1, answer);
  }

 private:
  const void* const argument_;
  const size_t size_;
  File scratch_;
  const File* file_ = nullptr;
  Interest interest_ = Interest::kNone;
  mock::Request message_;
  uint64_t ticket_ = 0;
};

}  // namespace

extern "C" {

int TraceIoctl(int fd, unsigned long request, ...) FACE_FUNCTION("ioctl");
int TraceIoctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  auto* const real = FACE_REAL("ioctl", TraceIoctl);
  const auto pass_on = [&] {
    return real != nullptr ? real(fd, request, argument)
                           : static_cast<int>(Returned(Raw(SYS_ioctl, fd, request, argument)));
  };
  if (Type(request) != kDrmType) return pass_on();
  Told told(fd, request, argument);
  const int result = pass_on();
  told.End(result == -1 ? -errno : result);
  return result;
}

int TraceClose(int fd) FACE_FUNCTION("close");
int TraceClose(int fd) {
  if (fd >= 0) ForgetFiles(static_cast<unsigned>(fd), static_cast<unsigned>(fd));
  auto* const real = FACE_REAL("close", TraceClose);
  return real != nullptr ? real(fd) : static_cast<int>(Returned(Raw(SYS_close, fd)));
}

int TraceCloseRange(unsigned first, unsigned last, int flags) FACE_FUNCTION("close_range");
int TraceCloseRange(unsigned first, unsigned last, int flags) {
  // With flags it may only mark them.
  if (flags == 0) ForgetFiles(first, last);
  auto* const real = FACE_REAL("close_range", TraceCloseRange);
  return real != nullptr ? real(first, last, flags)
                         : static_cast<int>(Returned(Raw(SYS_close_range, first, last, flags)));
}

void TraceCloseFrom(int first) FACE_FUNCTION("closefrom");
void TraceCloseFrom(int first) {
  ForgetFiles(first < 0 ? 0 : static_cast<unsigned>(first), ~0u);
  auto* const real = FACE_REAL("closefrom", TraceCloseFrom);
  if (real != nullptr) {
    real(first);
  } else {
    Raw(SYS_close_range, first < 0 ? 0 : first, ~0u, 0);
  }
}

int TraceDup2(int from, int to) FACE_FUNCTION("dup2");
int TraceDup2(int from, int to) {
  if (to >= 0 && from != to) ForgetFiles(static_cast<unsigned>(to), static_cast<unsigned>(to));
  auto* const real = FACE_REAL("dup2", TraceDup2);
  if (real != nullptr) return real(from, to);
  return static_cast<int>(Returned(from == to
                                       ? Raw(SYS_fcntl, from, 1 /* F_GETFD */, 0) < 0 ? -EBADF : to
                                       : Raw(SYS_dup3, from, to, 0)));
}

int TraceDup3(int from, int to, int flags) FACE_FUNCTION("dup3");
int TraceDup3(int from, int to, int flags) {
  if (to >= 0 && from != to) ForgetFiles(static_cast<unsigned>(to), static_cast<unsigned>(to));
  auto* const real = FACE_REAL("dup3", TraceDup3);
  if (real != nullptr) return real(from, to, flags);
  return static_cast<int>(Returned(Raw(SYS_dup3, from, to, flags)));
}

// Any call has at most six arguments; the C library passes on as many, given or not.
long TraceSyscall(long number, ...) FACE_FUNCTION("syscall");
long TraceSyscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (long& word : a) word = va_arg(arguments, long);
  va_end(arguments);
  auto* const real = FACE_REAL("syscall", TraceSyscall);
  const auto pass_on = [&] {
    return real != nullptr ? real(number, a[0], a[1], a[2], a[3], a[4], a[5])
                           : Returned(RawSyscall(number, a[0], a[1], a[2], a[3], a[4], a[5]));
  };
  if (number == SYS_ioctl) {
    Told told(static_cast<int>(a[0]), static_cast<unsigned long>(a[1]),
              reinterpret_cast<const void*>(a[2]));
    const long result = pass_on();
    told.End(result == -1 ? -errno : result);
    return result;
  }
  if (number == SYS_close) ForgetFiles(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[0]));
  if (number == SYS_close_range && a[2] == 0) {
    ForgetFiles(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]));
  }
#ifdef SYS_dup2
  if (number == SYS_dup2 && a[0] != a[1]) {
    ForgetFiles(static_cast<unsigned>(a[1]), static_cast<unsigned>(a[1]));
  }
#endif
  if (number == SYS_dup3) ForgetFiles(static_cast<unsigned>(a[1]), static_cast<unsigned>(a[1]));
  return pass_on();
}

}  // extern "C"

}  // namespace packsmith::trace::face
