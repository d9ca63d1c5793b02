#include "runtime/base/lifetime.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"

namespace packsmith {
namespace {

// One lock for all: objects are rarely made and destroyed, and a chain of them is lost at once. It
// is never destroyed, since static objects may be destroyed after it.
Mutex& Lock() {
  static Mutex& lock = *new Mutex;
  return lock;
}

}  // namespace

void Lifetime::Lose(const char* destroyed) {
  if (lost()) return;
  lost_.store(destroyed, std::memory_order_relaxed);
  if (on_loss_ != nullptr) on_loss_(owner_);
  for (ReferenceBase* at = first_; at != nullptr; at = at->next_) at->from_.Lose(destroyed);
}

void Lifetime::End() {
  MutexLock lock(Lock());
  while (first_ != nullptr) {
    ReferenceBase& reference = *first_;
    first_ = reference.next_;
    reference.to_ = nullptr;
    reference.there_.store(false, std::memory_order_relaxed);
    reference.from_.Lose(what_);
  }
  // An object that is being destroyed is not called back.
  on_loss_ = nullptr;
}

absl::Status Lifetime::status() const {
  const char* const destroyed = lost_.load(std::memory_order_relaxed);
  if (destroyed == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the ", destroyed, " was destroyed before the ", what_,
                   " depending on it: destroy objects before those that they were made with"));
}

ReferenceBase::ReferenceBase(Lifetime& to, Lifetime& from) : from_(from), to_(&to) {
  MutexLock lock(Lock());
  next_ = to.first_;
  if (next_ != nullptr) next_->previous_ = this;
  to.first_ = this;
  if (to.lost()) from.Lose(to.lost_.load(std::memory_order_relaxed));
}

ReferenceBase::~ReferenceBase() {
  MutexLock lock(Lock());
  if (to_ == nullptr) return;
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : to_->first_) = next_;
}

}  // namespace packsmith
