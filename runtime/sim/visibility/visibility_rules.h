// What a description says about visibility (docs/xml.md, Visibility): what is needed between a
// write and a read, and how the manual calls it.
#ifndef PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_RULES_H_
#define PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_RULES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Actions that make caches forget what they have read.
inline constexpr tables::CacheActions kInvalidations =
    SetOf(tables::Meaning::kInvalidateVertices) | SetOf(tables::Meaning::kInvalidateTextures) |
    SetOf(tables::Meaning::kInvalidateConstants) | SetOf(tables::Meaning::kInvalidateState) |
    SetOf(tables::Meaning::kInvalidateInstructions) | SetOf(tables::Meaning::kInvalidateL3);

// What is needed between a write of one client and a read of another, or of its own. One action of
// each clause: first the flushes, which must be complete, then the invalidations; and, in any order
// with these, the flushes by which a cache that writes forgets what it has read.
struct VisibilityNeed {
  enum Completion : uint8_t { kByStall, kByWrite };

  absl::InlinedVector<tables::CacheActions, 6> flush, renew, invalidate;
  Completion completion = kByStall;

  bool nothing() const { return flush.empty() && renew.empty() && invalidate.empty(); }
};

// Made once; cheap to ask.
class VisibilityRules {
 public:
  // `tables` must outlive this.
  explicit VisibilityRules(const tables::Tables& tables);

  // Whether the description says anything.
  bool any() const { return any_; }
  bool Has(tables::ClientKind client) const { return clients_[Index(client)] != nullptr; }
  // Nothing, if one of the two is not described.
  const VisibilityNeed& NeedOf(tables::ClientKind writer, tables::ClientKind reader) const {
    return needs_[Index(writer)][Index(reader)];
  }

  // The fields and packets of an engine (index in the tables) that have one action of each clause,
  // for messages: "Texture Cache Invalidation Enable of PIPE_CONTROL".
  std::string NamesOf(absl::Span<const tables::CacheActions> clauses, uint32_t engine) const;

 private:
  static size_t Index(tables::ClientKind kind) { return static_cast<size_t>(kind); }

  const tables::Tables tables_;
  bool any_ = false;
  std::array<const tables::Client*, tables::kClientKinds> clients_ = {};
  std::array<std::array<VisibilityNeed, tables::kClientKinds>, tables::kClientKinds> needs_;
};

// What a client is called in messages: "vertex fetch".
absl::string_view NameOf(tables::ClientKind client);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VISIBILITY_VISIBILITY_RULES_H_
