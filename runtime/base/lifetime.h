// Objects that refer to each other, and what happens when they are destroyed in the wrong order.
//
// An object must be destroyed before those that it refers to: buffers before their device. Where
// that goes wrong, nothing dangles: whatever refers to an object, directly or by others, is lost
// when the object is destroyed. What is lost refuses everything with FailedPrecondition, which
// names what was destroyed too early, and can itself be destroyed at any time.
//
//   class Pool {
//    public:
//     explicit Pool(Buffers& buffers) : buffers_(buffers, lifetime_) {}
//     ~Pool() {
//       lifetime_.End();  // first of all: whatever refers to this is lost
//       if (buffers_) buffers_->…;
//     }
//     absl::Status Grow() {
//       if (lifetime_.lost()) return lifetime_.status();
//       …
//     }
//     Lifetime& lifetime() const { return lifetime_; }  // for those that refer to this
//
//    private:
//     mutable Lifetime lifetime_{"state pool"};
//     Reference<Buffers> buffers_;
//   };
//
// Thread-safe, as far as destroying an object can be: nobody may be calling a method of it, or of
// one that refers to it, at that moment.

#ifndef PACKSMITH_RUNTIME_BASE_LIFETIME_H_
#define PACKSMITH_RUNTIME_BASE_LIFETIME_H_

#include <atomic>

#include "absl/status/status.h"

namespace packsmith {

class ReferenceBase;

class Lifetime {
 public:
  // Called once, when `owner` becomes lost: with a lock held, so that it must not make or destroy
  // other objects that have a Lifetime.
  using OnLoss = void (*)(void* owner);

  // what: the object, for messages. It is not copied, as of a literal.
  explicit Lifetime(const char* what) : what_(what) {}
  Lifetime(const char* what, void* owner, OnLoss on_loss)
      : what_(what), owner_(owner), on_loss_(on_loss) {}
  // A copy is another object's, to which nobody refers yet.
  Lifetime(const Lifetime& other) : what_(other.what_) {}
  Lifetime& operator=(const Lifetime&) { return *this; }
  ~Lifetime() { End(); }

  // The object is being destroyed.
  void End();

  // Whether something that the object refers to has been destroyed. One load.
  bool lost() const { return lost_.load(std::memory_order_relaxed) != nullptr; }
  // FailedPrecondition that says what was destroyed too early; Ok if nothing was.
  absl::Status status() const;

 private:
  friend class ReferenceBase;

  // To this and to all that refer to it. The lock is held.
  void Lose(const char* destroyed);

  const char* what_;
  void* owner_ = nullptr;
  OnLoss on_loss_ = nullptr;
  std::atomic<const char*> lost_{nullptr};  // what was destroyed
  ReferenceBase* first_ = nullptr;          // of those to this
};

class ReferenceBase {
 protected:
  ReferenceBase(Lifetime& to, Lifetime& from);
  ~ReferenceBase();
  bool there() const { return there_.load(std::memory_order_relaxed); }

 private:
  friend class Lifetime;

  Lifetime& from_;
  Lifetime* to_;  // null: destroyed
  std::atomic<bool> there_{true};
  ReferenceBase *previous_ = nullptr, *next_ = nullptr;  // in the list of to_
};

// From an object, whose Lifetime is `from`, to one that has to outlive it. The object itself has to
// be there when it is used as a pointer; it is there while the referring object is not lost.
template <class T>
class Reference : private ReferenceBase {
 public:
  Reference(T& to, Lifetime& from) : ReferenceBase(to.lifetime(), from), to_(&to) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Whether the object has not been destroyed. It may be lost all the same.
  explicit operator bool() const { return there(); }
  T* operator->() const { return to_; }
  T& operator*() const { return *to_; }

 private:
  T* const to_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_LIFETIME_H_
