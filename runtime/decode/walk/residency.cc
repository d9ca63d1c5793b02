#include "runtime/decode/walk/residency.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/walk/pointers.h"

namespace packsmith::decode {

bool Residency::IsForbidden(const tables::Pointer& pointer, const Target& target) const {
  if (walk_.complete == nullptr || walk_.guesses != 0 || !target.base_known ||
      target.space != walk_.own_space) {
    return false;
  }
  return IsUnread(tables_, pointer) && !walk_.pointers->IsNull(pointer, target) &&
         target.address != walk_.state().Base(tables_, pointer.base).value_or(0) &&
         !walk_.pointers->HasMemory(target);
}

bool Residency::HasForbidden(const Shape& shape, absl::Span<const uint8_t> bytes) const {
  if (walk_.complete == nullptr || !shape.has_unread) return false;
  return std::any_of(shape.pointers.begin(), shape.pointers.end(), [&](const ShapePointer& known) {
    if (!known.unread) return false;
    const Scope scope(tables_, known.at, bytes, walk_.state().bases());
    return IsForbidden(*known.pointer,
                       walk_.pointers->TargetOf(known, *known.pointer, scope, bytes));
  });
}

std::string Residency::WhyMissing(const FieldAt& at, const Target& target) const {
  const std::string where = ShowAddress(target.address);
  if (walk_.complete == nullptr) return absl::StrCat("the dump has no memory at ", where);
  const Buffer* const buffer = walk_.complete->FindBuffer(target.space, target.address);
  if (buffer == nullptr) {
    return absl::StrCat("the job may not use memory at ", where);
  }
  return absl::StrCat(tables_.string(at.leaf->name), " points to ", where, ", in \"", buffer->name,
                      "\", which the job may not use: add its memory to the job's residents, as "
                      "Use() of a batch does");
}

}  // namespace packsmith::decode
