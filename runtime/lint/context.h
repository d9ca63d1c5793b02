// What is known of one GPU context while its batches pass by.
#ifndef PACKSMITH_RUNTIME_LINT_CONTEXT_H_
#define PACKSMITH_RUNTIME_LINT_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Base addresses, and how many bytes from them may be used.
class Bases {
 public:
  struct Base {
    std::optional<uint64_t> value, size;
  };

  // Index `base` as in Tables::bases(): the one that counts, with the others that it may fall back
  // to. Null if nothing has set any.
  const Base* Find(const tables::Tables& tables, uint32_t base) const;
  void Set(uint32_t base, std::optional<uint64_t> value) { all_[base].value = value; }
  void SetSize(uint32_t base, std::optional<uint64_t> size) { all_[base].size = size; }

 private:
  absl::flat_hash_map<uint32_t, Base> all_;
  Base zero_{0, std::nullopt};
};

struct Context {
  // All of its batches are in the input, from the first one on: what no packet has set was never
  // set.
  bool is_whole = false;
  uint64_t packets = 0;      // so far; a packet's number counts from 1
  uint64_t work = 0;         // number of the last draw or dispatch, 0: none
  uint64_t batch_begin = 0;  // of the last packet before the batch
  // By container: the number of the last such packet.
  absl::flat_hash_map<uint32_t, uint64_t> last_seen;
  // By container: the last record, of those that expressions ask for.
  absl::flat_hash_map<uint32_t, std::vector<uint8_t>> last;
  Bases bases;

  uint64_t LastSeen(uint32_t container) const {
    const auto found = last_seen.find(container);
    return found == last_seen.end() ? 0 : found->second;
  }
};

// Which containers expressions ask for, and the values of such expressions.
class Evaluator {
 public:
  explicit Evaluator(const tables::Tables& tables);

  void Remember(const decode::Record& record, Context& context) const;
  // Empty for kNone, and if something that it depends on is not known.
  std::optional<uint64_t> Evaluate(uint32_t expression, const decode::Scope& scope,
                                   const Context& context) const;

 private:
  const tables::Tables& tables_;
  std::vector<bool> asked_;  // by container
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_CONTEXT_H_
