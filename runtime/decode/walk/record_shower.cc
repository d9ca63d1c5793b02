#include "runtime/decode/walk/record_shower.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/walk/bound_settings.h"
#include "runtime/decode/walk/draw_data.h"
#include "runtime/decode/walk/follower.h"
#include "runtime/decode/walk/pointers.h"

namespace packsmith::decode {
namespace {

// A record's shape is not replaced while the record, and what it points to, is being shown.
class ShapeUse {
 public:
  explicit ShapeUse(Shape* shape) : shape_(shape) {
    if (shape_ != nullptr) ++shape_->users;
  }
  ~ShapeUse() {
    if (shape_ != nullptr) --shape_->users;
  }
  ShapeUse(const ShapeUse&) = delete;
  ShapeUse& operator=(const ShapeUse&) = delete;

 private:
  Shape* const shape_;
};

// The registers of a command streamer begin less than this number of bytes after the engine's.
constexpr uint32_t kEngineRegisters = 0x1000;

// The description of a register of another engine than the first; kNone if there is none.
uint32_t FindRegisterOfFirstEngine(const tables::Tables& tables, uint32_t offset) {
  const absl::Span<const tables::Engine> engines = tables.engines();
  for (size_t i = 1; i < engines.size(); ++i) {
    const uint32_t begin = engines[i].registers;
    if (begin == 0 || offset < begin || offset - begin >= kEngineRegisters) continue;
    const uint32_t found = tables.FindRegister(engines[0].registers + (offset - begin));
    if (found == tables::kNone) continue;
    const uint64_t has = tables.container(found).engines;
    if ((has >> i & 1) != 0) return found;
  }
  return tables::kNone;
}

}  // namespace

RecordShower::RecordShower(Walk& walk)
    : walk_(walk), tables_(walk.tables), acting_(walk.tables, Acts) {}

// Inline where it is called: each packet and structure comes here.
[[gnu::always_inline]] inline void RecordShower::ShowView(Shape* shape, const Shown& shown,
                                                          const RecordView& dumped,
                                                          const RecordView& view,
                                                          absl::Span<const Stored> stored) {
  const Options& options = walk_.options;
  const tables::Container& container = view.container;
  const Actions& actions = walk_.actions.of[shown.container];
  const bool is_packet = shown.type == RecordType::kPacket;
  const bool is_new_packet = is_packet && !shown.again;
  if (is_new_packet) {
    walk_.costs.AddPacket(shown.bytes.size());
  } else if (!is_packet) {
    walk_.costs.AddStruct(shown.bytes.size());
  }
  const bool points = shape != nullptr ? !shape->pointers.empty() : actions.pointers;
  const bool acts = shape != nullptr ? !shape->acting.empty() : actions.sets_or_writes;

  // Before its pointers are checked: parts ask for fields of the header that they follow.
  if (!shown.again && (shape == nullptr || shape->remembered)) Remember(shown.container, view);
  walk_.faults.clear();
  walk_.record = shown.address;
  const Working working(walk_.out, options, is_packet ? container.role : tables::Role::kOther);
  Targets targets;
  if (!options.brief) {
    if (shape == nullptr) {
      walk_.fault_finder.Find(dumped, shown.length, shown.stated_length == ShapeCache::kOwnLength,
                              walk_.faults);
      if (shown.learns && stored.empty() && walk_.faults.empty()) Learn(shown, dumped);
    }
    if (points && (!is_packet || options.follow != Follow::kNone)) {
      walk_.follower->Check(view, shape, targets);
    }
  }
  uint32_t& owner = walk_.out.owner().submission;
  const uint32_t submission = std::exchange(owner, shown.again ? shown.submission : owner);
  const uint64_t id = walk_.out.EmitDescribed({shown.type, shown.space, shown.address, shown.parent,
                                               shown.depth, shown.index, shown.again, walk_.stream},
                                              dumped, shape, stored, walk_.faults);
  owner = submission;
  if (acts) SetAndWrite(view, shape, shown.space, shown.address, id);
  if (options.brief) return;
  if (walk_.FollowsAll()) {
    if (is_new_packet && actions.describes_data) walk_.draw_data->Describe(view);
    if (points) walk_.follower->Follow(view, targets, id, shown.pointers);
    if (is_new_packet && container.draw != tables::kNone) {
      // When one draw is shown, the one before it is not.
      const uint64_t draw = walk_.out.owner().draw;
      if (options.bound.draw != 0 && options.bound.draw == draw) {
        walk_.context->drawn.last_read.reset();
      }
      walk_.draw_data->Show(container, shown.now, id);
    }
  }
  if (is_new_packet && walk_.bound_settings != nullptr) {
    walk_.bound_settings->KeepOrShow(shown, id);
  }
}

void RecordShower::Show(Shape* shape, const Shown& shown) {
  const tables::Container& container = tables_.container(shown.container);
  if (shape != nullptr) {
    const ShapeUse use(shape);
    const RecordView view{container, shown.bytes, shape->parts};
    return ShowView(shape, shown, view, view, {});
  }
  // Only a packet's own stores: those of the packet that points here are none of a structure's.
  const bool has_own = shown.type == RecordType::kPacket && !shown.again;
  const absl::Span<const Stored> stored =
      has_own ? absl::MakeConstSpan(walk_.stored) : absl::Span<const Stored>();
  const PlacedParts parts = walk_.parts.Place(container, shown.bytes);
  const RecordView dumped{container, shown.bytes, parts};
  if (stored.empty()) return ShowView(nullptr, shown, dumped, dumped, {});
  const PlacedParts parts_now = walk_.parts.Place(container, shown.now);
  ShowView(nullptr, shown, dumped, {container, shown.now, parts_now}, stored);
}

void RecordShower::ShowRegisters(absl::string_view engine,
                                 absl::Span<const ErrorRegister> registers) {
  const uint32_t number = tables_.FindEngine(engine);
  const uint64_t engines = number == tables::kNone ? ~uint64_t{0} : uint64_t{1} << number;
  for (const ErrorRegister& one : registers) {
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<uint8_t>(one.value >> 8 * i);
    const auto show = [&](uint32_t index, absl::Span<const uint8_t> part) {
      PlacedParts parts;
      Record record;
      record.type = RecordType::kRegister;
      record.engine = engine;
      record.dumped = &one;
      record.name = one.name;
      if (index != tables::kNone) {
        record.container = &tables_.container(index);
        record.name = tables_.string(record.container->name);
        record.register_offset = record.container->register_offset;
        part = part.subspan(0, record.container->bytes);
        walk_.faults.clear();
        parts = walk_.parts.Place(*record.container, part);
        walk_.fault_finder.Find({*record.container, part, parts}, part.size(), false, walk_.faults);
        record.faults = walk_.faults;
        record.parts = parts;
      }
      record.bytes = part;
      walk_.out.Emit(record);
    };
    const absl::Span<const uint8_t> all(bytes, one.is_64 ? 8 : 4);
    show(tables_.FindDumped(one.name, engines), all);
    if (!one.is_64) continue;
    const uint32_t high = tables_.FindDumped(absl::StrCat(one.name, ":high"), engines);
    if (high != tables::kNone) show(high, all.subspan(4));
  }
}

void RecordShower::Learn(const Shown& shown, const RecordView& record) {
  Shape* const shape = walk_.shapes.Learn(record, shown.stated_length);
  if (shape == nullptr) return;
  const Actions& actions = walk_.actions.of[shown.container];
  const tables::Container& container = record.container;
  const bool describes_data = actions.describes_data || container.draw != tables::kNone;
  shape->asks_state = actions.asks_state && (!shape->pointers.empty() || describes_data);
  shape->remembered = actions.remembered;
  for (const PlacedPart& placed : shape->parts) {
    shape->remembered |= walk_.actions.of[placed.part->container].remembered;
  }
  const bool alone = !shape->asks_state && !describes_data && container.flows.count == 0;
  shape->quiet = alone && shape->acting.empty();
  shape->is_traced = alone && !shape->pointers.empty() && walk_.FollowsAll() &&
                     !walk_.options.continue_past_end && container.role == tables::Role::kOther;
}

void RecordShower::Remember(uint32_t container, const RecordView& record) {
  walk_.actions.ForEachRemembered(
      tables_, container, record, [&](uint32_t memory, uint64_t byte, uint64_t size) {
        walk_.state().Remember(memory, record.bytes.subspan(byte, size));
      });
}

void RecordShower::SetBase(const FieldAt& at, absl::Span<const uint8_t> bytes, bool holds) {
  const tables::Extra& extra = tables_.extra(at.leaf->extra);
  if (at.cut || extra.sets_base == tables::kNone) return;
  if (holds) {
    walk_.state().SetBase(extra.sets_base, NumberOfBits(tables_, *at.leaf, at.width,
                                                        ReadBits(bytes, at.bit, at.width)));
  } else if (tables_.bases()[extra.sets_base].otherwise != tables::kNone) {
    // Switched off: the other one is used again.
    walk_.state().SetBase(extra.sets_base, std::nullopt);
  }
}

void RecordShower::SetBases(const RecordView& record) {
  ForEachField(tables_, acting_, record, [&](const FieldAt& at) {
    const Scope scope(tables_, at, record.bytes);
    SetBase(at, record.bytes, scope.Holds(tables_.extra(at.leaf->extra).sets_when));
  });
}

void RecordShower::SetAndWrite(const RecordView& record, const Shape* shape, uint32_t space,
                               uint64_t address, uint64_t id) {
  const auto act = [&](const FieldAt& at) {
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.stores_leaf != tables::kNone && walk_.bound == nullptr) Store(record, at, id);
    if (at.cut) return;
    if (extra.sets_base == tables::kNone && extra.writes_leaf == tables::kNone) return;
    const Scope scope(tables_, at, record.bytes);
    SetBase(at, record.bytes, scope.Holds(extra.sets_when));
    if (extra.writes_leaf == tables::kNone || at.bit % 8 != 0 || walk_.options.brief) return;
    WriteRegister(record, at, scope, space, address, id);
  };
  if (shape == nullptr) return ForEachField(tables_, acting_, record, act);
  for (const FieldAt& at : shape->acting) act(at);
}

void RecordShower::Store(const RecordView& record, const FieldAt& at, uint64_t id) {
  // A short form of the packet may have only some of the field's dwords; those are stored.
  const absl::Span<const uint8_t> bytes = record.bytes;
  const tables::Extra& extra = tables_.extra(at.leaf->extra);
  const Scope scope(tables_, at, bytes);
  const tables::Leaf& leaf = tables_.leaf(extra.stores_leaf);
  FieldAt to = at;
  to.leaf = &leaf;
  to.bit = scope.BitOf(extra.stores_leaf);
  to.width = leaf.width;
  if (at.bit % 8 != 0 || to.bit + to.width > bytes.size() * 8 || !scope.Holds(extra.stores_when)) {
    return;
  }
  Target target{walk_.own_space, scope.Number(extra.stores_leaf).value_or(0), true};
  if (leaf.extra != tables::kNone) {
    const tables::Pointer* const pointer =
        walk_.pointers->PointerOf(tables_.extra(leaf.extra), scope);
    if (pointer != nullptr) target = walk_.pointers->TargetOf(to, *pointer, scope, bytes);
  }
  if (target.base_known && !walk_.overlay.Store(target.space, target.address,
                                                bytes.subspan(at.bit / 8, at.width / 8), id)) {
    walk_.limits.Report(Limit::kStores, [&] {
      return absl::StrCat("up to the packet at ", ShowAddress(walk_.here),
                          ", packets of the submission store more than ", walk_.overlay.most(),
                          " dwords, the limit for a dump of this size; jumps to targets that are "
                          "stored later are not followed; unpack --max-stores=N allows more");
    });
  }
}

void RecordShower::WriteRegister(const RecordView& packet, const FieldAt& at, const Scope& scope,
                                 uint32_t space, uint64_t address, uint64_t parent) {
  const std::optional<uint64_t> offset = scope.Number(tables_.extra(at.leaf->extra).writes_leaf);
  if (!offset || *offset > 0xffffffffu) return;
  uint32_t index = tables_.FindRegister(static_cast<uint32_t>(*offset));
  // Registers that all engines have are described for the first one.
  const bool of_another_engine = index == tables::kNone;
  if (of_another_engine) {
    index = FindRegisterOfFirstEngine(tables_, static_cast<uint32_t>(*offset));
    if (index == tables::kNone) return;
  }
  walk_.faults.clear();
  const tables::Container& described = tables_.container(index);
  Record record;
  record.type = RecordType::kStruct;
  record.parent = parent;
  record.space = space;
  record.address = address + at.bit / 8;
  record.container = &described;
  record.name = tables_.string(described.name);
  // One write may be half of a register.
  record.bytes = packet.bytes.subspan(at.bit / 8, std::min(at.width / 8, described.bytes));
  record.register_offset = static_cast<int64_t>(*offset);
  const PlacedParts parts = walk_.parts.Place(described, record.bytes);
  record.parts = parts;
  const RecordView view{described, record.bytes, parts};
  walk_.fault_finder.Find(view, record.bytes.size(), false, walk_.faults);
  std::vector<Fault>& faults = walk_.faults;
  faults.erase(std::remove_if(faults.begin(), faults.end(),
                              [](const Fault& f) { return f.kind == FaultKind::kBeyondLength; }),
               faults.end());
  record.faults = faults;
  walk_.out.Emit(record);
  // What another engine's register sets is not the first one's state.
  if (of_another_engine) return;
  RememberRegister(index, record.bytes);
  if (walk_.actions.of[index].sets_or_writes) {
    SetAndWrite(view, nullptr, space, record.address, record.id);
  }
}

void RecordShower::RememberRegister(uint32_t index, absl::Span<const uint8_t> written) {
  // After a packet that is shown once more, others may have written the register.
  if (!walk_.actions.of[index].remembered || walk_.bound != nullptr) return;
  const uint32_t memory = walk_.actions.of[index].memory;
  if (tables_.container(index).masked == 0 || written.size() != 4) {
    return walk_.state().Remember(memory, written);
  }
  const absl::Span<const uint8_t> before = walk_.state().Remembered(memory);
  uint8_t now[4] = {};
  std::copy_n(before.begin(), std::min<size_t>(before.size(), 4), now);
  for (size_t i = 0; i < 2; ++i) {
    now[i] = static_cast<uint8_t>((now[i] & ~written[i + 2]) | (written[i] & written[i + 2]));
  }
  walk_.state().Remember(memory, now);
}

}  // namespace packsmith::decode
