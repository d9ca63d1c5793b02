// std::mutex, with the annotations that let clang check what is guarded.
//
// Not absl::Mutex: an installed abseil is not instrumented, so ThreadSanitizer does not see its
// locks and reports all that they guard.

#ifndef PACKSMITH_RUNTIME_BASE_MUTEX_H_
#define PACKSMITH_RUNTIME_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace packsmith {

class ABSL_LOCKABLE Mutex {
 public:
  // The names that std::condition_variable_any calls.
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_MUTEX_H_
