#include "runtime/decode/fields/part_finder.h"

namespace packsmith::decode {

std::unique_ptr<PartFinder::Tests> PartFinder::Make(const tables::Container& container) const {
  auto tests = std::make_unique<Tests>();
  for (const tables::Part& part : tables_.parts(container.parts)) {
    Test& test = tests->emplace_back(Test{});
    if (part.when == tables::kNone) {
      test.simple = true;
      continue;
    }
    const absl::Span<const tables::Term> terms = tables_.terms(tables_.condition(part.when).terms);
    if (terms.size() != 1 || terms[0].of_state != 0 || terms[0].ends_clause == 0) continue;
    const tables::Leaf& leaf = tables_.leaf(terms[0].leaf);
    const bool fixed = terms[0].leaf - container.leaves.first < container.leaves.count;
    const uint32_t low = leaf.bit % 32;
    if (!fixed || low + leaf.width > 32) continue;
    const uint64_t ones = (uint64_t{1} << leaf.width) - 1;
    if (terms[0].value > ones) continue;
    test.offset = leaf.bit / 32 * 4;
    test.mask = static_cast<uint32_t>(ones << low);
    test.value = static_cast<uint32_t>(terms[0].value << low);
    test.negated = terms[0].negated != 0;
    test.simple = true;
  }
  return tests;
}

}  // namespace packsmith::decode
