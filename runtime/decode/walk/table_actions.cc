#include "runtime/decode/walk/table_actions.h"

namespace packsmith::decode {
namespace {

// Calls visit(pointer) for each pointer of the leaves.
template <class Visit>
void ForEachPointer(const tables::Tables& tables, tables::Range leaves, const Visit& visit) {
  for (const tables::Leaf& leaf : tables.leaves(leaves)) {
    if (leaf.extra == tables::kNone) continue;
    for (uint32_t p = tables.extra(leaf.extra).pointer; p != tables::kNone;
         p = tables.pointer(p).next) {
      visit(tables.pointer(p));
    }
  }
}

class Analysis {
 public:
  explicit Analysis(const tables::Tables& tables) : tables_(tables) {
    result_.of.resize(tables.containers().size());
    result_.drawn.resize(tables.data_kinds().size());
    result_.marks.resize(tables.containers().size());
  }

  TableActions Run(uint32_t deepest_pointer) {
    FindDrawn();
    FindRemembered();
    FindAhead();
    for (uint32_t i = 0; i < result_.of.size(); ++i) NoteContainer(i);
    for (uint32_t i = 0; i < result_.of.size(); ++i) MarkContainer(i);
    SpreadAsks(deepest_pointer);
    return std::move(result_);
  }

 private:
  void FindDrawn() {
    for (const tables::Draw& draw : tables_.draws()) {
      result_.drawn[draw.data] = true;
      if (draw.indices != tables::kNone) result_.drawn[draw.indices] = true;
    }
  }

  void FindRemembered() {
    for (const tables::Expression& e : tables_.expressions()) {
      if (e.kind != tables::ExpressionKind::kState || result_.of[e.container].remembered) continue;
      result_.of[e.container].remembered = true;
      result_.of[e.container].memory = result_.memories++;
    }
  }

  // Packets are read ahead, with the structures that they point to.
  void FindAhead() {
    seen_ahead_.resize(result_.of.size());
    for (uint32_t i = 0; i < result_.of.size(); ++i) {
      if (tables_.container(i).kind != tables::ContainerKind::kPacket) continue;
      seen_ahead_[i] = true;
      ForEachPointer(tables_, tables_.container(i).leaves, [&](const tables::Pointer& pointer) {
        if (pointer.target_kind != tables::TargetKind::kStruct) return;
        seen_ahead_[pointer.target] = true;
        result_.of[i].points_to_remembered |= result_.of[pointer.target].remembered;
      });
    }
  }

  bool Asks(uint32_t expression) const {
    if (expression == tables::kNone) return false;
    const tables::Expression& e = tables_.expression(expression);
    return e.kind == tables::ExpressionKind::kState && seen_ahead_[e.container];
  }

  void Note(Actions& actions, tables::Range leaves) {
    for (const tables::Leaf& leaf : tables_.leaves(leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables_.extra(leaf.extra);
      if (extra.pointer != tables::kNone) actions.asks_state |= Asks(extra.high);
      if (extra.element != tables::kNone) {
        const tables::Element& element = tables_.element(extra.element);
        for (const uint32_t e : {element.number, element.slot, element.offset}) {
          actions.asks_state |= Asks(e);
        }
        actions.describes_data |= result_.drawn[element.data];
      }
      actions.sets_or_writes |= Acts(tables_, leaf);
    }
    ForEachPointer(tables_, leaves, [&](const tables::Pointer& pointer) {
      actions.pointers = true;
      for (const uint32_t e : AmountExpressions(pointer)) actions.asks_state |= Asks(e);
      actions.describes_data |=
          pointer.target_kind == tables::TargetKind::kData && result_.drawn[pointer.target];
    });
  }

  void NoteContainer(uint32_t index) {
    Actions& actions = result_.of[index];
    const tables::Container& container = tables_.container(index);
    Note(actions, container.leaves);
    Note(actions, container.tail_leaves);
    for (const tables::Part& part : tables_.parts(container.parts)) {
      Note(actions, tables_.container(part.container).leaves);
      actions.parts_remembered |= result_.of[part.container].remembered;
    }
  }

  void MarkContainer(uint32_t index) {
    const tables::Container& container = tables_.container(index);
    uint8_t& mark = result_.marks[index];
    if (container.role == tables::Role::kDraw) mark |= kDraw;
    if (container.role == tables::Role::kDispatch) mark |= kDispatch;
    if (container.flows.count != 0 || result_.of[index].sets_or_writes) mark |= kBusy;
  }

  // A packet asks for what its structures ask for.
  void SpreadAsks(uint32_t deepest_pointer) {
    const auto points_to_asking = [&](tables::Range leaves) {
      bool found = false;
      ForEachPointer(tables_, leaves, [&](const tables::Pointer& pointer) {
        found |= pointer.target_kind == tables::TargetKind::kStruct &&
                 result_.of[pointer.target].asks_state;
      });
      return found;
    };
    for (uint32_t depth = 0; depth < deepest_pointer; ++depth) {
      bool changed = false;
      for (uint32_t i = 0; i < result_.of.size(); ++i) {
        if (result_.of[i].asks_state) continue;
        const tables::Container& container = tables_.container(i);
        bool asks = points_to_asking(container.leaves) || points_to_asking(container.tail_leaves);
        for (const tables::Part& part : tables_.parts(container.parts)) {
          asks = asks || points_to_asking(tables_.container(part.container).leaves);
        }
        result_.of[i].asks_state = asks;
        changed |= asks;
      }
      if (!changed) break;
    }
  }

  const tables::Tables& tables_;
  TableActions result_;
  std::vector<bool> seen_ahead_;  // by container
};

}  // namespace

TableActions AnalyzeTables(const tables::Tables& tables, uint32_t deepest_pointer) {
  return Analysis(tables).Run(deepest_pointer);
}

}  // namespace packsmith::decode
