// Objects that refer to each other, and what happens when they are destroyed in the wrong order.
//
// An object must be destroyed before those that it refers to: buffers before their device. If the
// order is wrong, nothing dangles: all objects that refer to the destroyed one, directly or through
// others, are lost. The methods of a lost object return FailedPrecondition, which names what was
// destroyed too early; it can itself be destroyed at any time.
//
//   class Pool {
//    public:
//     explicit Pool(Buffers& buffers) : buffers_(buffers, lifetime_) {}
//     ~Pool() {
//       lifetime_.End();  // first: all objects that refer to this are lost
//       if (buffers_) buffers_->…;
//     }
//     absl::Status Grow() {
//       if (lifetime_.lost()) return lifetime_.status();
//       …
//     }
//     Lifetime& lifetime() const { return lifetime_; }  // for objects that refer to this
//
//    private:
//     mutable Lifetime lifetime_{"state pool"};
//     Reference<Buffers> buffers_;
//   };
//
// Thread-safe, except that no thread may be in a method of an object that is being destroyed, or of
// one that refers to it.

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

  // what: the object, for messages; a literal, since the text is not copied.
  explicit Lifetime(const char* what) : what_(what) {}
  Lifetime(const char* what, void* owner, OnLoss on_loss)
      : what_(what), owner_(owner), on_loss_(on_loss) {}
  // A copy belongs to another object, to which nothing refers yet.
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

  // Marks this and all that refer to it as lost. The lock is held.
  void Lose(const char* destroyed);

  const char* what_;
  void* owner_ = nullptr;
  OnLoss on_loss_ = nullptr;
  std::atomic<const char*> lost_{nullptr};  // what was destroyed
  ReferenceBase* first_ = nullptr;          // of the references to this
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

// From an object, whose Lifetime is `from`, to one that must outlive it. It may be dereferenced
// only while the object exists, which it does while the referring object is not lost.
template <class T>
class Reference : private ReferenceBase {
 public:
  Reference(T& to, Lifetime& from) : ReferenceBase(to.lifetime(), from), to_(&to) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Whether the object still exists. It may be lost nevertheless.
  explicit operator bool() const { return there(); }
  T* operator->() const { return to_; }
  T& operator*() const { return *to_; }

 private:
  T* const to_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_LIFETIME_H_
