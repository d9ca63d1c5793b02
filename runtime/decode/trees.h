// What a packet has led to, for packets that lead to the same: a program behind a pointer, its
// data, its code. Records are found again by their places and recognized by their bits; nothing
// else of what the decoder does for a record need be done once more. replay.cc makes trees and uses
// them.
#ifndef PACKSMITH_RUNTIME_DECODE_TREES_H_
#define PACKSMITH_RUNTIME_DECODE_TREES_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "runtime/decode/forms.h"
#include "runtime/decode/masked_bytes.h"
#include "runtime/decode/record.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// A record of a tree. First they are said to be the same in all bits; a field that is seen to hold
// something else may vary from then on, unless the tree would be another one.
struct TreeNode {
  static constexpr uint32_t kBehind = ~uint32_t{0};

  // Bits of what packets before it have said, when a pointer is followed. `memory`: as in
  // Decoder::Actions. Empty: none has said that.
  struct Asked {
    uint32_t memory;
    uint64_t bit;
    uint32_t width;
    absl::optional<uint64_t> raw;
  };
  // What later ones may ask for.
  struct Remembered {
    uint32_t memory;
    uint64_t byte, size;
  };
  // A base that the record sets, or not.
  struct Set {
    const FieldAt* at;
    bool holds;
  };

  uint32_t parent = 0;
  // Which pointer of the parent's form leads here; kBehind: the record comes `distance` bytes after
  // the beginning of the record `before`.
  uint32_t pointer = kBehind;
  uint32_t before = 0;
  uint64_t distance = 0;
  const tables::Pointer* to = nullptr;  // what that pointer means
  bool chosen = false;                  // that depends on states
  std::vector<Asked> asked;
  // Of a packet that comes in a stream of its own: where engines have packets of their own, what
  // else it might be.
  tables::PacketFinder* finder = nullptr;

  // Of packets and structures; null: data.
  const Form* form = nullptr;
  uint64_t form_number = 0;
  uint32_t container = tables::kNone;
  std::vector<Remembered> remembered;
  std::vector<Set> sets;
  bool has_kernel = false;
  Kernel kernel;
  // Where the kernel was last, and that its size there is the tree's.
  uint64_t code_epoch = 0, code_address = 0;
  uint32_t code_space = 0;

  uint64_t bytes = 0;
  uint64_t first_byte = 0;  // of the tree's
};

struct Tree {
  static constexpr size_t kMostNodes = 96;

  uint64_t number = 0;
  // What it was made for, and counts besides bits.
  uint64_t engines = 0;
  uint32_t nested_streams = 0;
  // What it adds to the decoder's counts. Costs are what the bounds are about.
  struct Counts {
    uint64_t packets_cost, structs_cost;
    uint64_t packets, structs, data;
  };
  Counts counts{};

  std::vector<TreeNode> nodes;
  std::vector<Record> records;
  // The nodes' bytes, one node's behind the other's: as they were when the record was seen first;
  // bits by which it is this tree; bits that are not always as they were.
  std::vector<uint8_t> said, must, varying;
  std::vector<absl::Span<const uint8_t>> varying_of;  // each node

  absl::Span<uint8_t> Of(const TreeNode& node, std::vector<uint8_t>& bytes) {
    return absl::MakeSpan(bytes).subspan(node.first_byte, node.bytes);
  }

  // What replay looks at in any case, close together: a step for each node.
  struct Step {
    // Null: the record comes behind another one.
    const FormPointer* from = nullptr;
    uint32_t parent = 0, before = 0;
    uint32_t bytes = 0;
    // Of the bits that do not vary. Records one right behind the other are compared at once, at the
    // first one: as many bytes, and none at the others.
    uint32_t compared = 0;
    uint32_t words = 0, words_count = 0;
    uint64_t distance = 0;
    bool chosen = false;  // the pointer's meaning depends on states, or it is not plain
    // Bits that vary may make another packet of it, or break limits.
    bool asks_finder = false, asks_limits = false;
    bool more = false;  // something else counts than bits that do not vary
  };
  std::vector<Step> steps;
  std::vector<MaskedBytes::Word> words;
  // Forms::made() when the forms of the nodes were seen to be theirs.
  uint64_t forms = 0;

  // Of the nodes.
  void MakeSteps();
  // Whether forms are still those of the nodes.
  bool HasForms() const;
  // Lets fields of a node vary in which `bytes` are different. False: it would be another tree. The
  // steps are to be made anew.
  bool Widen(const tables::Tables& tables, TreeNode& node, absl::Span<const uint8_t> bytes);
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TREES_H_
