// Objects whose memory is never freed, so that handles may outlive the owner of the object: an
// object that is no longer used is reused as another one of its type. Handles must detect that with
// a serial number.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_TYPE_STABLE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_TYPE_STABLE_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace packsmith::intel {

// All unused objects of the type.
template <class T>
struct KeptShelf {
  Mutex mutex;
  std::vector<T*> objects ABSL_GUARDED_BY(mutex);

  static KeptShelf& Instance() {
    static KeptShelf& shelf = *new KeptShelf;
    return shelf;
  }
};

template <class T>
struct ReturnKept {
  void operator()(T* object) const {
    *object = T();  // what it owned is freed
    KeptShelf<T>& shelf = KeptShelf<T>::Instance();
    MutexLock lock(shelf.mutex);
    shelf.objects.push_back(object);
  }
};

template <class T>
using Kept = std::unique_ptr<T, ReturnKept<T>>;

template <class T>
Kept<T> TakeKept() {
  KeptShelf<T>& shelf = KeptShelf<T>::Instance();
  {
    MutexLock lock(shelf.mutex);
    if (!shelf.objects.empty()) {
      Kept<T> object(shelf.objects.back());
      shelf.objects.pop_back();
      return object;
    }
  }
  return Kept<T>(new T);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_TYPE_STABLE_H_
