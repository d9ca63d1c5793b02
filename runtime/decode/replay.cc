// Packets that point to the same as earlier ones of their form. Part of the Decoder.
//
// While a packet and its records are shown, Note...() record where each record was found and the
// conditions for that. The next packet of the form is compared record by record: the same pointers,
// the bits that identify this tree, what the record sets and what others remember of it, in the
// same order. If all of it holds, the result is known, and is shown at once. If anything differs,
// all changes are reverted, and the packet is decoded normally.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/decode/decoder.h"

namespace packsmith::decode {
namespace {

constexpr size_t kMostTrees = 4;  // of a form
constexpr size_t kUsualNodes = 16;
// Packets without a matching tree, of a form that has kMostTrees, before one of them is replaced.
constexpr uint32_t kPatience = 16;
// The same, if making one has failed again and again.
constexpr uint32_t kMostPatience = 1 << 16;

}  // namespace

// A tree that is being made.
struct Decoder::Making {
  // A pointer of a node that was followed.
  struct Followed {
    uint32_t pointer;  // of the node's form
    const tables::Pointer* to;
    std::vector<TreeNode::Asked> asked;
    uint64_t address;
    uint32_t last = TreeNode::kBehind;  // last node found by it; kBehind: none
  };

  std::unique_ptr<Tree> tree = std::make_unique<Tree>();
  std::vector<std::vector<Followed>> followed;  // of each node
  uint64_t first_id = 0;
  bool spoiled = false;
};

bool Decoder::IsMaking() const { return making_ != nullptr && !making_->spoiled; }

void Decoder::Spoil() {
  if (making_ != nullptr) making_->spoiled = true;
}

void Decoder::ShowNoting(Form& form, const tables::Container& container, const Frame& frame,
                         absl::Span<const uint8_t> bytes, uint64_t parent) {
  const auto show = [&] {
    if (form.quiet) return QuietPacket(form, container, frame, bytes, parent);
    stored_.clear();
    Packet(tables_.IndexOf(container), frame, bytes, bytes, bytes.size(), parent, &form);
  };
  if (IsMaking() || ++form.without_tree < form.patience) return show();
  form.without_tree = 0;
  Making making;
  making.first_id = next_id_;
  making.tree->nodes.reserve(kUsualNodes);
  making.tree->records.reserve(kUsualNodes);
  making.followed.reserve(kUsualNodes);
  making.tree->engines = engines_;
  making.tree->nested_streams = nested_streams_;
  const auto counts = [&] {
    return Tree::Counts{packets_, structs_, summary_.packets, summary_.structs, summary_.data};
  };
  const Tree::Counts before = counts();
  const uint64_t problems = summary_.problems, number = form.number;
  const size_t codes = code_.size();
  Making* const outer = std::exchange(making_, &making);  // which is spoiled
  show();
  making_ = outer;
  Tree& tree = *making.tree;
  const Tree::Counts after = counts();
  tree.counts = {after.packets_cost - before.packets_cost, after.structs_cost - before.structs_cost,
                 after.packets - before.packets, after.structs - before.structs,
                 after.data - before.data};
  if (form.number != number) return;
  if (making.spoiled || tree.nodes.size() < 2 || next_id_ - making.first_id != tree.nodes.size() ||
      summary_.problems != problems || code_.size() != codes || !overlay_.empty() ||
      !Finish(making)) {
    form.patience = std::min(form.patience * 2, kMostPatience);
    return;
  }
  tree.number = ++last_tree_;
  if (form.trees.size() < kMostTrees) {
    form.trees.push_back(std::move(making.tree));
  } else {
    form.trees[form.next_tree++ % kMostTrees] = std::move(making.tree);
  }
  form.patience = form.trees.size() < kMostTrees ? 1 : kPatience;
}

void Decoder::NotePointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                          const Target& target, uint64_t parent) {
  Making& making = *making_;
  if (making.spoiled) return;
  making.spoiled = true;
  const uint64_t index = parent - making.first_id;
  if (index >= making.tree->nodes.size()) return;
  const Form* const form = making.tree->nodes[index].form;
  if (form == nullptr) return;
  const auto known = std::find_if(
      form->pointers.begin(), form->pointers.end(),
      [&](const FormPointer& p) { return p.at.leaf == at.leaf && p.at.bit == at.bit; });
  if (known == form->pointers.end()) return;
  if (pointer.target_kind == tables::TargetKind::kData &&
      FormatOf(pointer, scope).format != nullptr) {
    return;
  }
  if (pointer.until_zero != 0 || pointer.other != tables::kNone || pointer.end != tables::kNone) {
    return;
  }
  Making::Followed followed{
      static_cast<uint32_t>(known - form->pointers.begin()), &pointer, {}, target.address};
  for (const uint32_t e : ExpressionsOf(pointer)) {
    if (e == tables::kNone) continue;
    const tables::Expression& expression = tables_.expression(e);
    if (expression.kind != tables::ExpressionKind::kState) continue;
    const tables::Leaf& leaf = tables_.leaf(expression.leaf);
    if (leaf.width > 64) return;
    const uint32_t memory = actions_[expression.container].memory;
    followed.asked.push_back({memory, leaf.bit, leaf.width, Said(memory, leaf.bit, leaf.width)});
  }
  making.followed[index].push_back(std::move(followed));
  making.spoiled = false;
}

void Decoder::NoteRecord(const Record& record, const Form* form) {
  Making& making = *making_;
  if (making.spoiled) return;
  making.spoiled = true;
  Tree& tree = *making.tree;
  const bool is_data = record.type == RecordType::kData;
  if (tree.nodes.size() >= Tree::kMostNodes || record.id != making.first_id + tree.nodes.size() ||
      (form == nullptr) != is_data || !record.faults.empty() || !record.stored.empty() ||
      record.register_offset >= 0 || !record.elements.empty() || record.slot >= 0 ||
      record.bytes.empty()) {
    return;
  }
  TreeNode node;
  node.bytes = record.bytes.size();
  node.first_byte = tree.said.size();
  tree.said.insert(tree.said.end(), record.bytes.begin(), record.bytes.end());
  tree.must.resize(tree.said.size());
  if (!tree.nodes.empty()) {
    const uint64_t parent = record.parent - making.first_id;
    if (parent >= tree.nodes.size() || making.followed[parent].empty()) return;
    node.parent = static_cast<uint32_t>(parent);
    Making::Followed& from = making.followed[parent].back();
    node.to = from.to;
    if (from.last == TreeNode::kBehind) {
      if (record.address != from.address) return;
      node.pointer = from.pointer;
      node.chosen = tree.nodes[parent].form->pointers[from.pointer].pointer == nullptr;
      node.asked = std::move(from.asked);
    } else {
      const Record& before = tree.records[from.last];
      if (is_data || before.space != record.space || record.address < before.address) return;
      node.before = from.last;
      node.distance = record.address - before.address;
    }
    from.last = static_cast<uint32_t>(tree.nodes.size());
  }
  if (is_data) {
    if (record.kernel != nullptr) {
      node.has_kernel = true;
      node.kernel = *record.kernel;
    } else if (node.bytes != std::min(record.data_size, options_.most_data_bytes)) {
      return;
    }
  } else {
    node.container = tables_.IndexOf(*record.container);
    const Actions& actions = actions_[node.container];
    if (form->asks_state || actions.describes_data || record.container->draw != tables::kNone ||
        record.container->role != tables::Role::kOther || node.bytes != form->bytes) {
      return;
    }
    for (const FieldAt& at : form->acting) {
      const tables::Extra& extra = tables_.extra(at.leaf->extra);
      if (extra.stores_leaf != tables::kNone || extra.writes_leaf != tables::kNone) return;
    }
    const Scope scope(tables_, *record.container, record.bytes);
    for (const tables::Flow& flow : tables_.flows(record.container->flows)) {
      if (!form->flows_by_bits) return;
      if (!scope.Holds(flow.when)) continue;
      if (flow.kind != tables::FlowKind::kTerminate && flow.kind != tables::FlowKind::kEnd) return;
      break;
    }
    node.form = form;
    node.form_number = form->number;
    form->same.AddMask(tree.Of(node, tree.must));
    const RecordView view{*record.container, record.bytes, form->parts};
    ForEachRemembered(node.container, view, [&](uint32_t memory, uint64_t byte, uint64_t size) {
      node.remembered.push_back({memory, byte, size});
    });
    for (const FieldAt& at : form->acting) {
      const uint32_t when = tables_.extra(at.leaf->extra).sets_when;
      const Scope field(tables_, at, record.bytes);
      node.sets.push_back({&at, field.Holds(when)});
      if (when == tables::kNone) continue;
      for (const tables::Term& term : tables_.terms(tables_.condition(when).terms)) {
        if (term.of_state != 0) return;
        SetBits(field.BitOf(term.leaf), tables_.leaf(term.leaf).width, tree.Of(node, tree.must));
      }
    }
    if (record.type == RecordType::kPacket && !tree.nodes.empty()) {
      if (node.to->target_kind != tables::TargetKind::kStream) return;
      node.finder = &Finder(node.to->target, engines_);
    }
  }
  tree.nodes.push_back(std::move(node));
  tree.records.push_back(record);
  making.followed.emplace_back();
  making.spoiled = false;
}

bool Decoder::Finish(Making& making) {
  Tree& tree = *making.tree;
  // The tree must not set bases that its own pointers use: all pointers of a record are checked
  // before the first of them is followed.
  std::vector<bool> sets(tables_.bases().size());
  for (const TreeNode& node : tree.nodes) {
    for (const TreeNode::Set& set : node.sets) {
      const uint32_t base = tables_.extra(set.at->leaf->extra).sets_base;
      if (base != tables::kNone) sets[base] = true;
    }
  }
  const auto counts_from_outside = [&](const tables::Pointer& pointer) {
    uint32_t base = pointer.base;
    for (size_t i = 0; i < sets.size() && base != tables::kNone && base != tables::kZeroBase; ++i) {
      if (sets[base]) return false;
      base = tables_.bases()[base].otherwise;
    }
    return pointer.scale == tables::kNone ||
           tables_.expression(pointer.scale).kind != tables::ExpressionKind::kState;
  };
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    if (node.form == nullptr) continue;
    if (node.form->number != node.form_number) return false;
    const absl::Span<const uint8_t> bytes = tree.Of(node, tree.said);
    const auto must_be = [&](uint32_t expression, const Scope& scope) {
      if (expression == tables::kNone) return true;
      const tables::Expression& e = tables_.expression(expression);
      if (e.kind == tables::ExpressionKind::kLeaf) {
        SetBits(scope.BitOf(e.leaf), tables_.leaf(e.leaf).width, tree.Of(node, tree.must));
      }
      return e.kind != tables::ExpressionKind::kState;
    };
    for (size_t p = 0; p < node.form->pointers.size(); ++p) {
      const FormPointer& known = node.form->pointers[p];
      const Scope scope(tables_, known.at, bytes, state_->bases);
      const tables::Extra& extra = tables_.extra(known.at.leaf->extra);
      if (extra.high != tables::kNone &&
          tables_.expression(extra.high).kind == tables::ExpressionKind::kState) {
        return false;
      }
      const auto is_of_it = [&](const Making::Followed& f) { return f.pointer == p; };
      const auto& followed = making.followed[i];
      const auto from = std::find_if(followed.begin(), followed.end(), is_of_it);
      if (from != followed.end()) {
        if (from->last == TreeNode::kBehind) return false;
        // The address is the same for all of them.
        for (uint32_t k = extra.pointer; known.pointer == nullptr && k != tables::kNone;
             k = tables_.pointer(k).next) {
          const tables::Pointer& other = tables_.pointer(k);
          if (other.base != from->to->base || other.relative != from->to->relative ||
              other.scale != from->to->scale || other.space_when != tables::kNone ||
              other.space != from->to->space) {
            return false;
          }
        }
        if (!counts_from_outside(*from->to)) return false;
        for (const uint32_t e : ExpressionsOf(*from->to)) (void)must_be(e, scope);
        continue;
      }
      // A pointer to nothing, for reasons that are in the record.
      if (known.pointer == nullptr || known.somewhere) return false;
      for (const uint32_t e : ExpressionsOf(*known.pointer)) {
        if (!must_be(e, scope)) return false;
      }
      if (known.pointer->end != tables::kNone || known.pointer->until_zero != 0) return false;
      std::optional<uint64_t> size;
      if (!LeadsNowhere(*known.pointer, scope, TargetOf(known.at, *known.pointer, scope, bytes),
                        size)) {
        return false;
      }
    }
  }
  tree.varying.resize(tree.said.size());
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    tree.varying_of.push_back(tree.Of(node, tree.varying));
    Record& record = tree.records[i];
    if (node.form != nullptr) record.parts = node.form->parts;
    if (node.has_kernel) record.kernel = &node.kernel;
    record.faults = {};
    record.stored = {};
  }
  tree.MakeSteps();
  tree.forms = forms_.made();
  return true;
}

bool Decoder::Replays(Form& form, const Frame& frame, absl::Span<const uint8_t> bytes,
                      uint64_t parent) {
  for (size_t i = 0; i < form.trees.size(); ++i) {
    Tree& tree = *form.trees[i];
    if (tree.engines != engines_ || tree.nested_streams != nested_streams_ ||
        tree.counts.structs_cost > most_structs_ - std::min(most_structs_, structs_) ||
        tree.counts.packets_cost > most_packets_ - std::min(most_packets_, packets_)) {
      continue;
    }
    places_[0] = {frame.space, frame.address, bytes};
    replaying_ = true;
    const bool found = FindAll(tree);
    replaying_ = false;
    if (!found) {
      Undo();
      continue;
    }
    done_.clear();
    done_bytes_.clear();
    form.without_tree = 0;
    // The last tree is the most likely one.
    if (i != 0) std::swap(form.trees[i], form.trees[0]);
    Show(tree, frame.depth, parent);
    return true;
  }
  return false;
}

bool Decoder::FindAll(Tree& tree) {
  if (tree.forms != forms_.made()) {
    if (!tree.HasForms()) return false;
    tree.forms = forms_.made();
  }
  const size_t count = tree.steps.size();
  bool widened = false;
  for (size_t i = 0; i < count; ++i) {
    const Tree::Step& step = tree.steps[i];
    Place& place = places_[i];
    if (step.from != nullptr) {
      const Place& from = places_[step.parent];
      record_ = from.address;
      // Bytes after the record are not read.
      const Target target =
          step.chosen ? ChosenTarget(tree, i) : PlainTarget(*step.from, from.bytes);
      if (!target.base_known || IsNull(*tree.nodes[i].to, target)) return false;
      place = {target.space, target.address, There(target.space, target.address, kReplayed)};
    } else if (i != 0) {
      const Place& before = places_[step.before];
      if (step.distance > ~before.address) return false;
      place.space = before.space;
      place.address = before.address + step.distance;
      if (step.distance + step.bytes <= before.bytes.size()) {
        place.bytes = before.bytes.subspan(step.distance);
      } else {
        place.bytes = There(place.space, place.address, kReplayed);
      }
    }
    if (place.bytes.size() < step.bytes) return false;
    if (step.compared != 0 && !widened) {
      const absl::Span<const MaskedBytes::Word> words(tree.words.data() + step.words,
                                                      step.words_count);
      widened = !MaskedBytes::AreIn(words, step.compared, place.bytes);
    }
    if (widened && !Widen(tree, i)) return false;
    if (complete_ != nullptr && tree.nodes[i].form != nullptr) {
      record_ = place.address;
      if (HasForbidden(*tree.nodes[i].form, place.bytes.subspan(0, step.bytes))) return false;
    }
    if (step.more && !HasMore(tree, i)) return false;
  }
  if (widened) {
    tree.MakeSteps();
    // Users that know it by its number must see another tree now.
    tree.number = ++last_tree_;
  }
  return true;
}

bool Decoder::Widen(Tree& tree, size_t index) {
  TreeNode& node = tree.nodes[index];
  // This may change the node's steps.
  const absl::Span<const uint8_t> bytes = places_[index].bytes;
  return tree.Widen(tables_, node, bytes) && (node.finder == nullptr || IsItself(node, bytes));
}

bool Decoder::IsItself(const TreeNode& node, absl::Span<const uint8_t> bytes) {
  uint32_t first = 0;
  // The rest of the opcode may be in the next segment.
  if (bytes.size() < sizeof(first)) return false;
  std::memcpy(&first, bytes.data(), sizeof(first));
  return node.finder->Find(first, bytes.size()) == node.container;
}

bool Decoder::HasMore(Tree& tree, size_t index) {
  const Tree::Step& step = tree.steps[index];
  const Place& place = places_[index];
  TreeNode& node = tree.nodes[index];
  if (!node.asked.empty() && !IsSaid(node.asked)) return false;
  if (node.has_kernel && !IsCodeOf(node, place)) return false;
  if (step.asks_limits && !node.form->Has(place.bytes)) return false;
  if (step.asks_finder && !IsItself(node, place.bytes)) return false;
  for (const TreeNode::Remembered& part : node.remembered) {
    RememberBytes(part.memory, place.bytes.subspan(part.byte, part.size));
  }
  const absl::Span<const uint8_t> bytes = place.bytes.subspan(0, step.bytes);
  for (const TreeNode::Set& set : node.sets) SetBase(*set.at, bytes, set.holds);
  return true;
}

std::optional<uint64_t> Decoder::Said(uint32_t memory, uint64_t bit, uint32_t width) const {
  const std::vector<uint8_t>& last = state_->last[memory];
  if (bit + width > last.size() * 8) return std::nullopt;
  return ReadBits(last, bit, width);
}

bool Decoder::IsSaid(absl::Span<const TreeNode::Asked> all) const {
  return std::all_of(all.begin(), all.end(), [&](const TreeNode::Asked& asked) {
    return Said(asked.memory, asked.bit, asked.width) == asked.raw;
  });
}

Decoder::Target Decoder::ChosenTarget(const Tree& tree, size_t index) const {
  const TreeNode& node = tree.nodes[index];
  const TreeNode& parent = tree.nodes[node.parent];
  const FormPointer& known = parent.form->pointers[node.pointer];
  const absl::Span<const uint8_t> bytes = places_[node.parent].bytes.subspan(0, parent.bytes);
  const Scope scope(tables_, known.at, bytes, state_->bases);
  if (node.chosen && PointerOf(tables_.extra(known.at.leaf->extra), scope) != node.to) {
    return {0, 0, false};
  }
  return TargetOf(known.at, *node.to, scope, bytes);
}

bool Decoder::IsCodeOf(TreeNode& node, const Place& place) {
  if (node.code_epoch == code_epoch_ && node.code_address == place.address &&
      node.code_space == place.space) {
    return true;
  }
  const auto known = code_.find({place.space, place.address});
  if (known == code_.end() || known->second.ends != node.kernel.ends ||
      known->second.size != node.kernel.code.size()) {
    return false;
  }
  const absl::Span<const uint8_t> code = There(place.space, place.address, known->second.size);
  if (code.size() != known->second.size) return false;
  node.kernel.code = code;
  node.code_epoch = code_epoch_;
  node.code_address = place.address;
  node.code_space = place.space;
  return true;
}

void Decoder::Undo() {
  for (; !done_.empty(); done_.pop_back()) {
    const Done& done = done_.back();
    if (done.is_base) {
      state_->bases[done.number] = done.base;
      continue;
    }
    const auto bytes = done_bytes_.end() - static_cast<ptrdiff_t>(done.bytes);
    state_->last[done.number].assign(bytes, done_bytes_.end());
    done_bytes_.erase(bytes, done_bytes_.end());
  }
}

void Decoder::Show(Tree& tree, uint32_t depth, uint64_t parent) {
  const size_t count = tree.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const TreeNode& node = tree.nodes[i];
    const Place& place = places_[i];
    Record& record = tree.records[i];
    record.id = next_id_ + i;
    record.parent = i == 0 ? parent : next_id_ + node.parent;
    Attribute(record);
    record.space = place.space;
    record.address = place.address;
    record.bytes = place.bytes.subspan(0, node.bytes);
  }
  tree.records[0].depth = depth;
  next_id_ += count;
  packets_ += tree.counts.packets_cost;
  structs_ += tree.counts.structs_cost;
  summary_.packets += tree.counts.packets;
  summary_.structs += tree.counts.structs;
  summary_.data += tree.counts.data;
  sink_.OnTree({tree.number, tree.records, tree.varying_of});
}

}  // namespace packsmith::decode
