#include "runtime/sim/execution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/parameters.h"

namespace packsmith::sim {

using tables::kNone;
using tables::OperandRole;
using tables::OperationKind;

namespace {

constexpr uint64_t kDword = 4, kQword = 8;
// No operation moves more at once: a report of counters is the largest.
constexpr uint64_t kMostBytes = 4096;
// Dwords of the arguments of an indirect draw: the largest structure has five.
constexpr size_t kMostArguments = 16;
// What an entry of the global page table stands for.
constexpr uint64_t kPage = 4096;

}  // namespace

Execution::Execution(Streamer& streamer, const Plan& plan, Command& command)
    : streamer_(streamer), tables_(streamer.tables_), plan_(plan), command_(command) {}

// --- Operands ---

uint64_t Execution::Evaluate(const tables::Operand& operand) const {
  return decode::Evaluate(
             tables_.expression(operand.expression),
             [&](uint32_t leaf) { return std::optional(NumberOf(leaf)); },
             [&](uint32_t container, uint32_t leaf) {
               return std::optional(streamer_.StateValue(container, leaf).value_or(0));
             })
      .value_or(0);
}

uint64_t Execution::NumberOf(uint32_t leaf_index) const {
  if (const std::optional<uint64_t> number = Scope().Number(leaf_index)) return *number;
  // The short form of a packet has only the lower part of some fields.
  const tables::Leaf& leaf = tables_.leaf(leaf_index);
  const uint64_t end = command_.bytes.size() * 8;
  if (leaf.bit >= end || leaf.width > 64) return 0;
  const auto width = static_cast<uint32_t>(std::min<uint64_t>(leaf.width, end - leaf.bit));
  return decode::NumberOfBits(tables_, leaf, width,
                              decode::ReadBits(command_.bytes, leaf.bit, width));
}

uint64_t Execution::Number(const Operation& operation, OperandRole role, uint64_t otherwise) const {
  const tables::Operand* const operand = operation.operand(role);
  return operand == nullptr ? otherwise : Evaluate(*operand);
}

std::optional<uint64_t> Execution::Raw(const Operation& operation, OperandRole role) const {
  const tables::Operand* const operand = operation.operand(role);
  if (operand == nullptr) return std::nullopt;
  const uint32_t leaf = LeafOf(tables_, *operand);
  return leaf == kNone ? std::nullopt : Scope().Raw(leaf);
}

std::optional<uint32_t> Execution::Named(const Operation& operation, OperandRole role,
                                         const NameIndex& names) const {
  const std::optional<uint64_t> raw = Raw(operation, role);
  return raw ? names.Find(*raw) : std::nullopt;
}

uint32_t Execution::RegisterOf(const Operation& operation, OperandRole role) const {
  const tables::Operand& operand = *operation.operand(role);
  const auto offset = static_cast<uint32_t>(Evaluate(operand));
  if (operand.is_register != 0) return EngineOffset(tables_, streamer_.options_.engine, offset);
  const uint32_t leaf = LeafOf(tables_, operand);
  if (std::find(engine_based_.begin(), engine_based_.end(), leaf) == engine_based_.end()) {
    return offset;
  }
  return offset + tables_.engines()[streamer_.options_.engine].registers;
}

Place Execution::PlaceOf(uint32_t leaf_index, uint64_t high) const {
  const decode::Scope scope = Scope();
  Place place{streamer_.options_.own_space, scope.Number(leaf_index).value_or(0)};
  if (const tables::Pointer* const pointer = PointerOf(tables_, leaf_index, scope)) {
    place.space = decode::SpaceOf(*pointer, scope, place.space);
  }
  place.address = decode::MaskAddress(place.address + (high << 32), tables_.address_mask());
  return place;
}

Place Execution::BatchAt(uint32_t leaf) {
  Place place = PlaceOf(leaf);
  if (!streamer_.privileged_ && place.space != streamer_.options_.own_space &&
      NeedsPrivilege(tables_, place.space)) {
    streamer_.Report(ProblemKind::kPrivileged,
                     "a batch without privilege starts only batches in its own space");
    place.space = streamer_.options_.own_space;
  }
  return place;
}

bool Execution::IsDenied(const Operation& operation) {
  if (streamer_.privileged_ || !operation.may_need_privilege) return false;
  const decode::Scope scope = Scope();
  for (const OperandRole role : {OperandRole::kMemory, OperandRole::kSource}) {
    const tables::Operand* const operand = operation.operand(role);
    const uint32_t leaf = operand == nullptr ? kNone : LeafOf(tables_, *operand);
    const tables::Pointer* const pointer =
        leaf == kNone ? nullptr : PointerOf(tables_, leaf, scope);
    if (pointer == nullptr) continue;
    const uint32_t own = streamer_.options_.own_space;
    const uint32_t space = decode::SpaceOf(*pointer, scope, own);
    if (space == own || !NeedsPrivilege(tables_, space)) continue;
    streamer_.Report(
        ProblemKind::kPrivileged,
        absl::StrCat(tables_.string(plan_.container->name),
                     " has no access to the global space: the batch has no privilege"));
    return true;
  }
  return false;
}

std::optional<Place> Execution::Destination(const Operation& operation) const {
  if (const tables::Operand* const memory = operation.operand(OperandRole::kMemory)) {
    const uint32_t leaf = LeafOf(tables_, *memory);
    if (leaf != kNone) {
      Place place = PlaceOf(leaf, Number(operation, OperandRole::kHigh, 0));
      place.address = decode::MaskAddress(
          place.address + tables_.expression(memory->expression).add, tables_.address_mask());
      return place;
    }
    return Place{streamer_.options_.own_space, Evaluate(*memory)};
  }
  const bool own = Number(operation, OperandRole::kPage, 0) != 0;
  const std::optional<uint64_t>& page =
      own ? streamer_.options_.context_status_page : streamer_.options_.status_page;
  if (!page) return std::nullopt;
  return Place{kGlobalSpace, *page + Number(operation, OperandRole::kIndex, 0)};
}

// --- Effects ---

void Execution::WriteRegister(uint32_t offset, uint32_t value) {
  if (!streamer_.privileged_ && streamer_.registers_.IsPrivileged(offset)) {
    const uint32_t described = tables_.FindRegister(offset);
    streamer_.Report(
        ProblemKind::kPrivileged,
        absl::StrFormat(
            "0x%x%s is not written: the batch has no privilege", offset,
            described == kNone
                ? ""
                : absl::StrCat(" (", tables_.string(tables_.container(described).name), ")")));
    return;
  }
  for (Streamer* const other : streamer_.connected_) {
    const uint32_t base = tables_.engines()[other->options_.engine].registers;
    if (offset - base < kEngineRegisterBytes) other->registers_.Write(offset, value);
  }
  const uint32_t old = streamer_.registers_.Read(offset);
  streamer_.registers_.Write(offset, value);
  streamer_.observer_.OnRegister(command_, offset, old, streamer_.registers_.Read(offset));
}

void Execution::DoubtCounter(uint32_t offset) {
  const absl::string_view doubt = streamer_.statistics_.Doubt(offset);
  if (doubt.empty()) return;
  const uint32_t index = tables_.FindRegister(offset & ~uint32_t{4});
  streamer_.Report(ProblemKind::kApproximate,
                   absl::StrCat(index == kNone ? absl::string_view("a counter")
                                               : tables_.string(tables_.container(index).name),
                                " is read: ", doubt));
}

void Execution::Store(const Place& place, absl::Span<const uint8_t> bytes) {
  const size_t written =
      streamer_.seen_.Write(plan_.stores_as, place.space, place.address, bytes, command_);
  streamer_.window_.OnWrite(place.space, place.address, written);
  if (written != 0) {
    streamer_.observer_.OnStore(command_, place.space, place.address, bytes.first(written));
  }
  if (written < bytes.size() && streamer_.memory_.exhausted()) {
    streamer_.Report(ProblemKind::kUnsupported,
                     "writes are left out: there are as many pages as the simulation keeps");
  } else if (written < bytes.size()) {
    streamer_.ReportUnmapped(
        absl::StrFormat("%d bytes are written at 0x%x, where the dump has no memory",
                        bytes.size() - written, place.address + written));
  }
}

void Execution::StoreNumber(const Place& place, uint64_t value, uint64_t bytes) {
  std::array<uint8_t, 8> buffer;
  std::memcpy(buffer.data(), &value, buffer.size());
  Store(place, absl::MakeConstSpan(buffer).first(std::min<uint64_t>(bytes, buffer.size())));
}

void Execution::Load(const Place& place, absl::Span<uint8_t> out, bool polls) {
  const size_t read = polls ? streamer_.memory_.Read(place.space, place.address, out)
                            : streamer_.seen_.Read(tables::ClientKind::kStreamer, place.space,
                                                   place.address, out, command_);
  if (read == out.size()) return;
  std::fill(out.begin() + static_cast<ptrdiff_t>(read), out.end(), uint8_t{0});
  streamer_.ReportUnmapped(
      absl::StrFormat("%d bytes are read at 0x%x, where the dump has no memory: zeros",
                      out.size() - read, place.address + read));
}

uint32_t Execution::Load32(const Place& place, bool polls) {
  uint32_t value = 0;
  std::array<uint8_t, kDword> bytes;
  Load(place, absl::MakeSpan(bytes), polls);
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

// --- The packet ---

Execution::Outcome Execution::Prepare() {
  for (const Operation& operation : plan_.operations) {
    switch (operation.kind) {
      case OperationKind::kSkip:
        if (Applies(operation.when) &&
            (streamer_.registers_.Read(RegisterOf(operation, OperandRole::kRegister)) & 1) ==
                (Number(operation, OperandRole::kValue, 0) & 1)) {
          return Outcome::kSkipped;
        }
        break;
      case OperationKind::kPrivileged:
        if (!streamer_.privileged_ && Applies(operation.when)) return Outcome::kDenied;
        break;
      case OperationKind::kEngineBase:
        if (Applies(operation.when)) {
          engine_based_.push_back(LeafOf(tables_, *operation.operand(OperandRole::kRegister)));
        }
        break;
      default:
        break;
    }
  }
  if (!plan_.replaces) return Outcome::kDone;
  // The conditions are those of the packet as it is in memory.
  absl::InlinedVector<const Operation*, 8> replaced;
  for (const Operation& operation : plan_.operations) {
    if ((operation.kind == OperationKind::kReplace ||
         operation.kind == OperationKind::kAddRegister) &&
        Applies(operation.when)) {
      replaced.push_back(&operation);
    }
  }
  if (replaced.empty()) return Outcome::kDone;
  streamer_.patched_.assign(command_.bytes.begin(), command_.bytes.end());
  command_.bytes = streamer_.patched_;
  known_when_ = kNone;
  for (const Operation* const operation : replaced) {
    if (operation->kind == OperationKind::kReplace) {
      Replace(*operation);
    } else {
      AddRegister(*operation);
    }
  }
  return Outcome::kDone;
}

void Execution::AddRegister(const Operation& operation) {
  const uint32_t leaf_index = LeafOf(tables_, *operation.operand(OperandRole::kField));
  if (leaf_index == kNone) return;
  const tables::Leaf& leaf = tables_.leaf(leaf_index);
  if (leaf.width > 64 || leaf.bit + leaf.width > command_.bytes.size() * 8) return;
  const uint64_t sum = NumberOf(leaf_index) +
                       streamer_.registers_.Read(RegisterOf(operation, OperandRole::kRegister));
  decode::WriteBits(absl::MakeSpan(streamer_.patched_), leaf.bit, leaf.width, sum >> leaf.shift);
}

void Execution::Replace(const Operation& operation) {
  uint32_t leaf_index = kNone;
  if (const tables::Operand* const field = operation.operand(OperandRole::kField)) {
    leaf_index = LeafOf(tables_, *field);
  } else if (const uint64_t index = Number(operation, OperandRole::kIndex, 0);
             index < plan_.groups.size()) {
    leaf_index = plan_.groups[index];
  }
  if (leaf_index == kNone) return;
  const tables::Leaf& leaf = tables_.leaf(leaf_index);
  if (leaf.bit + leaf.width > command_.bytes.size() * 8) return;
  const uint64_t value = streamer_.registers_.Read64(RegisterOf(operation, OperandRole::kRegister));
  decode::WriteBits(absl::MakeSpan(streamer_.patched_), leaf.bit,
                    std::min<uint32_t>(leaf.width, 64), value);
}

Execution::Outcome Execution::Run() {
  // A wait that does not hold has no effect, and is executed again.
  for (const Operation& operation : plan_.operations) {
    if (operation.kind == OperationKind::kWait && Applies(operation.when) && !IsDenied(operation) &&
        Wait(operation) == Outcome::kWaiting) {
      return Outcome::kWaiting;
    }
  }
  streamer_.observer_.OnCommand(command_);
  WriteFields();
  const tables::CacheActions actions = plan_.fences ? Actions() : 0;
  if (actions != 0) streamer_.seen_.BeginFence(actions);
  Outcome outcome = Outcome::kDone;
  for (const Operation& operation : plan_.operations) {
    if (operation.only_prepares || !Applies(operation.when) || IsDenied(operation)) continue;
    const Outcome one = Do(operation);
    if (one != Outcome::kDone) outcome = one;
  }
  if (plan_.container->role != tables::Role::kOther) {
    const bool indirect =
        std::any_of(plan_.operations.begin(), plan_.operations.end(),
                    [](const Operation& o) { return o.kind == OperationKind::kDrawIndirect; });
    if (!indirect) DoWork();
  }
  if (actions != 0) streamer_.seen_.EndFence(actions);
  return outcome;
}

tables::CacheActions Execution::Actions() const {
  tables::CacheActions actions = 0;
  const uint64_t end = command_.bytes.size() * 8;
  for (const CacheField& field : plan_.cache_fields) {
    if (field.bit + field.width > end) continue;
    if (decode::ReadBits(command_.bytes, field.bit, field.width) != 0) actions |= field.actions;
  }
  for (const Operation& operation : plan_.operations) {
    if (operation.kind != OperationKind::kFence || !Scope().Holds(operation.when)) continue;
    actions |= static_cast<tables::CacheActions>(Number(operation, OperandRole::kDoes, 0));
  }
  return actions;
}

void Execution::WriteFields() {
  const uint32_t base =
      engine_based_.empty() ? 0 : tables_.engines()[streamer_.options_.engine].registers;
  const auto write = [&](uint32_t leaf_index, const decode::Scope& scope) {
    const std::optional<uint64_t> value = scope.Raw(leaf_index);
    const std::optional<uint64_t> offset =
        scope.Number(tables_.extra(tables_.leaf(leaf_index).extra).writes_leaf);
    if (!value || !offset) return;
    WriteRegister(static_cast<uint32_t>(*offset) + base, static_cast<uint32_t>(*value));
  };
  for (const uint32_t leaf : plan_.writes) write(leaf, Scope());
  if (plan_.tail_writes.empty()) return;
  const tables::Container& container = *plan_.container;
  for (uint64_t at = container.tail_bit; at + container.tail_size <= command_.bytes.size() * 8;
       at += container.tail_size) {
    for (const uint32_t leaf : plan_.tail_writes) write(leaf, Scope(at));
  }
}

Execution::Outcome Execution::Do(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kNothing:
    case OperationKind::kUnpredicated:
    case OperationKind::kSkip:
    case OperationKind::kEngineBase:
    case OperationKind::kReplace:
    case OperationKind::kAddRegister:
    case OperationKind::kWait:
    case OperationKind::kFence:
    case OperationKind::kSignal:
    case OperationKind::kArbitrationPoint:
    case OperationKind::kPrivileged:
      break;
    case OperationKind::kDropPrivilege:
      streamer_.drops_privilege_ = true;
      break;
    case OperationKind::kUnsupported:
      streamer_.Report(ProblemKind::kUnsupported,
                       absl::StrCat(tables_.string(plan_.container->name), " is not simulated"));
      break;
    case OperationKind::kSwitchContext:
      SwitchContext(operation);
      break;
    case OperationKind::kUpdatePageTable:
      UpdatePageTable(operation);
      break;
    case OperationKind::kWriteRegister: {
      const uint32_t offset = RegisterOf(operation, OperandRole::kRegister);
      const auto value = static_cast<uint32_t>(Number(operation, OperandRole::kValue, 0));
      const auto mask = static_cast<uint32_t>(Number(operation, OperandRole::kMask, ~uint32_t{0}));
      WriteRegister(offset, (streamer_.registers_.Read(offset) & ~mask) | (value & mask));
      break;
    }
    case OperationKind::kLoadRegister:
      LoadRegister(operation);
      break;
    case OperationKind::kStoreRegister:
      StoreRegister(operation);
      break;
    case OperationKind::kCopyRegister:
      DoubtCounter(RegisterOf(operation, OperandRole::kSource));
      WriteRegister(RegisterOf(operation, OperandRole::kRegister),
                    streamer_.registers_.Read(RegisterOf(operation, OperandRole::kSource)));
      break;
    case OperationKind::kStore:
      StoreValue(operation);
      break;
    case OperationKind::kCopyMemory:
      CopyMemory(operation);
      break;
    case OperationKind::kMath:
      Math(operation);
      break;
    case OperationKind::kPredicate:
      Predicate(operation);
      break;
    case OperationKind::kSetPredicate:
      SetPredicate(operation);
      break;
    case OperationKind::kAtomic:
      Atomic(operation);
      break;
    case OperationKind::kEnd:
      return End(operation);
    case OperationKind::kReport:
      MakeReport(operation);
      break;
    case OperationKind::kPreParser:
      streamer_.window_.Enable(Number(operation, OperandRole::kValue, 0) == 0);
      break;
    case OperationKind::kArbitration:
      streamer_.arbitration_ = Number(operation, OperandRole::kValue, 1) != 0;
      break;
    case OperationKind::kDrawIndirect:
      DrawIndirect(operation);
      break;
    case OperationKind::kBlitDestination:
    case OperationKind::kBlitSource:
    case OperationKind::kBlitBits:
    case OperationKind::kBlitPattern:
    case OperationKind::kBlitPatternBits:
    case OperationKind::kBlitColor:
    case OperationKind::kBlitKey:
    case OperationKind::kBlitRectangle:
    case OperationKind::kBlitClip:
    case OperationKind::kBlitAgain:
    case OperationKind::kBlitSetup:
    case OperationKind::kBlit:
      DoBlit(operation);
      break;
  }
  return Outcome::kDone;
}

void Execution::LoadRegister(const Operation& operation) {
  const std::optional<Place> from = Destination(operation);
  const uint32_t offset = RegisterOf(operation, OperandRole::kRegister);
  const uint64_t bytes = std::min(Number(operation, OperandRole::kBytes, kDword), kQword);
  for (uint64_t i = 0; from && i < bytes; i += kDword) {
    WriteRegister(offset + static_cast<uint32_t>(i), Load32({from->space, from->address + i}));
  }
}

void Execution::StoreRegister(const Operation& operation) {
  const std::optional<Place> to = Destination(operation);
  const uint32_t offset = RegisterOf(operation, OperandRole::kRegister);
  if (!to) {
    streamer_.Report(ProblemKind::kApproximate, "the address of the status page is not known");
    return;
  }
  DoubtCounter(offset);
  StoreNumber(*to, streamer_.registers_.Read64(offset),
              Number(operation, OperandRole::kBytes, kDword));
}

void Execution::StoreValue(const Operation& operation) {
  const std::optional<Place> to = Destination(operation);
  if (!to) {
    streamer_.Report(ProblemKind::kApproximate, "the address of the status page is not known");
    return;
  }
  if (operation.operand(OperandRole::kValue) != nullptr) {
    StoreNumber(*to, Number(operation, OperandRole::kValue, 0),
                Number(operation, OperandRole::kBytes, kDword));
    return;
  }
  StoreFields(*to);
}

void Execution::StoreFields(Place at) {
  ForEachStored([&](uint64_t value, uint64_t bytes) {
    StoreNumber(at, value, bytes);
    at.address += bytes;
  });
}

void Execution::CopyMemory(const Operation& operation) {
  const std::optional<Place> to = Destination(operation);
  const uint32_t source = LeafOf(tables_, *operation.operand(OperandRole::kSource));
  if (!to || source == kNone) return;
  std::vector<uint8_t> bytes(std::min(Number(operation, OperandRole::kBytes, kDword), kMostBytes));
  Load(PlaceOf(source), absl::MakeSpan(bytes));
  Store(*to, bytes);
}

void Execution::Math(const Operation& operation) {
  if (plan_.alu_opcode == kNone || plan_.alu_operand_1 == kNone || plan_.alu_operand_2 == kNone) {
    streamer_.Report(ProblemKind::kUnsupported, "the description lacks fields of instructions");
    return;
  }
  Registers& registers = streamer_.registers_;
  const uint32_t first = RegisterOf(operation, OperandRole::kRegister);
  const auto general = [&](uint32_t n) { return first + n * static_cast<uint32_t>(kQword); };
  const auto problem = [&](uint64_t at, absl::string_view text) {
    streamer_.Report(ProblemKind::kApproximate,
                     absl::StrCat("instruction ", at, " of ", tables_.string(plan_.container->name),
                                  ": ", text));
  };
  Alu alu;
  const tables::Container& container = *plan_.container;
  uint64_t index = 0;
  for (uint64_t bit = container.tail_bit; bit + container.tail_size <= command_.bytes.size() * 8;
       bit += container.tail_size, ++index) {
    const decode::Scope scope = Scope(bit);
    const auto name = [&](uint32_t leaf, const NameIndex& names) {
      const std::optional<uint64_t> raw = scope.Raw(leaf);
      return raw ? names.Find(*raw) : std::nullopt;
    };
    const std::optional<uint32_t> code = name(plan_.alu_opcode, plan_.alu_opcodes);
    if (!code) {
      problem(index, "an unknown opcode");
      continue;
    }
    const auto opcode = static_cast<AluOpcode>(*code);
    const std::optional<uint32_t> one = name(plan_.alu_operand_1, plan_.alu_operands_1);
    const std::optional<uint32_t> two = name(plan_.alu_operand_2, plan_.alu_operands_2);
    const auto to_source = [&](uint64_t value) {
      if (one == kSourceA) {
        alu.a = value;
      } else if (one == kSourceB) {
        alu.b = value;
      } else {
        problem(index, "only SRCA and SRCB can be loaded");
      }
    };
    switch (opcode) {
      case AluOpcode::kNoop:
      case AluOpcode::kFenceReads:
      case AluOpcode::kFenceWrites:
        break;
      case AluOpcode::kLoad:
      case AluOpcode::kLoadInverted: {
        if (!two || *two >= kSourceA) {
          problem(index, "only a register can be loaded from");
          break;
        }
        const uint64_t value = registers.Read64(general(*two));
        to_source(opcode == AluOpcode::kLoad ? value : ~value);
        break;
      }
      case AluOpcode::kLoadZero:
        to_source(0);
        break;
      case AluOpcode::kLoadOnes:
        to_source(~uint64_t{0});
        break;
      case AluOpcode::kStore:
      case AluOpcode::kStoreInverted: {
        if (!one || *one >= kSourceA || !two || *two < kAccumulator) {
          problem(index, "ACCU, ZF or CF can be stored, to a register");
          break;
        }
        uint64_t value = alu.accumulator;
        if (*two == kZeroFlag) value = alu.zero ? ~uint64_t{0} : 0;
        if (*two == kCarryFlag) value = alu.carry ? ~uint64_t{0} : 0;
        if (opcode == AluOpcode::kStoreInverted) value = ~value;
        WriteRegister(general(*one), static_cast<uint32_t>(value));
        WriteRegister(general(*one) + static_cast<uint32_t>(kDword),
                      static_cast<uint32_t>(value >> 32));
        break;
      }
      case AluOpcode::kLoadIndirect: {
        if (!one || *one >= kSourceA) {
          problem(index, "only a register can be loaded to");
          break;
        }
        std::array<uint8_t, kQword> bytes;
        Load({streamer_.options_.own_space,
              decode::MaskAddress(alu.accumulator, tables_.address_mask())},
             absl::MakeSpan(bytes));
        uint64_t value = 0;
        std::memcpy(&value, bytes.data(), bytes.size());
        registers.Write64(general(*one), value);
        break;
      }
      case AluOpcode::kStoreIndirect:
        if (!two || *two >= kSourceA) {
          problem(index, "only a register can be stored");
          break;
        }
        StoreNumber({streamer_.options_.own_space,
                     decode::MaskAddress(alu.accumulator, tables_.address_mask())},
                    registers.Read64(general(*two)), kQword);
        break;
      default:
        if (!alu.Compute(opcode)) problem(index, "hardware shifts by powers of two up to 32 only");
        break;
    }
  }
}

void Execution::Predicate(const Operation& operation) {
  Registers& registers = streamer_.registers_;
  const auto read = [&](OperandRole role) { return registers.Read64(RegisterOf(operation, role)); };
  const std::optional<uint32_t> compare =
                                    Named(operation, OperandRole::kCompare, operation.compare),
                                combine =
                                    Named(operation, OperandRole::kCombine, operation.combine),
                                load = Named(operation, OperandRole::kLoad, operation.load);
  if (!compare || !combine || !load) {
    streamer_.Report(ProblemKind::kUnsupported, "an unknown operation on the predicate");
    return;
  }
  bool value = false;
  switch (static_cast<PredicateCompare>(*compare)) {
    case PredicateCompare::kTrue:
      value = true;
      break;
    case PredicateCompare::kFalse:
      break;
    case PredicateCompare::kSourcesEqual:
      value = read(OperandRole::kSource) == read(OperandRole::kValue);
      break;
    case PredicateCompare::kDeltasEqual:
      value = read(OperandRole::kSource) - read(OperandRole::kValue) == read(OperandRole::kData);
      break;
  }
  const uint32_t result = RegisterOf(operation, OperandRole::kResult);
  const bool before = (registers.Read(result) & 1) != 0;
  switch (static_cast<PredicateCombine>(*combine)) {
    case PredicateCombine::kSet:
      break;
    case PredicateCombine::kAnd:
      value = value && before;
      break;
    case PredicateCombine::kOr:
      value = value || before;
      break;
    case PredicateCombine::kXor:
      value = value != before;
      break;
  }
  switch (static_cast<PredicateLoad>(*load)) {
    case PredicateLoad::kKeep:
      return;
    case PredicateLoad::kLoad:
      break;
    case PredicateLoad::kLoadInverted:
      value = !value;
      break;
  }
  WriteRegister(result, value ? 1 : 0);
}

void Execution::SetPredicate(const Operation& operation) {
  const std::optional<uint32_t> mode = Named(operation, OperandRole::kValue, operation.value);
  if (!mode) {
    streamer_.Report(ProblemKind::kUnsupported, "an unknown condition of MI_SET_PREDICATE");
    return;
  }
  Noop& noop = streamer_.noop_;
  noop.in_register = std::nullopt;
  noop.mode = static_cast<NoopMode>(*mode);
  noop.result = RegisterOf(operation, OperandRole::kResult);
  noop.result_2 = RegisterOf(operation, OperandRole::kSource);
  if (operation.operand(OperandRole::kRegister) == nullptr) return;
  // The condition is evaluated once.
  const bool off = streamer_.IsNoop();
  noop.in_register = RegisterOf(operation, OperandRole::kRegister);
  WriteRegister(*noop.in_register, off ? 1 : 0);
}

void Execution::Atomic(const Operation& operation) {
  const std::optional<uint32_t> opcode = Named(operation, OperandRole::kOpcode, operation.opcode),
                                size = Named(operation, OperandRole::kSize, operation.size);
  const std::optional<Place> place = Destination(operation);
  if (!opcode || !size || !place) {
    streamer_.Report(ProblemKind::kUnsupported, "an unknown atomic operation");
    return;
  }
  const uint32_t bytes = 4u << *size;
  const Registers& registers = streamer_.registers_;
  // An operand of 16 bytes is in two registers.
  const auto pair = [&](OperandRole role) {
    const uint32_t first = RegisterOf(operation, role);
    return absl::MakeUint128(registers.Read64(first + kQword), registers.Read64(first));
  };
  absl::uint128 one = pair(OperandRole::kSource), two = pair(OperandRole::kData);
  if (Number(operation, OperandRole::kInline, 0) != 0) {
    one = two = 0;
    for (size_t i = 0; i < plan_.stored.size(); ++i) {
      const absl::uint128 dword = Scope().Raw(plan_.stored[i]).value_or(0);
      (i % 2 == 0 ? one : two) |= dword << static_cast<int>(32 * (i / 2 % 4));
    }
  }
  std::array<uint8_t, 16> buffer = {};
  const absl::Span<uint8_t> data = absl::MakeSpan(buffer).first(bytes);
  Load(*place, data);
  uint64_t low = 0, high = 0;
  std::memcpy(&low, buffer.data(), 8);
  std::memcpy(&high, buffer.data() + 8, 8);
  const absl::uint128 old = absl::MakeUint128(high, low);
  const auto kind = static_cast<AtomicOpcode>(*opcode);
  const absl::uint128 now = ComputeAtomic(kind, bytes, old, one, two);
  low = absl::Uint128Low64(now);
  high = absl::Uint128High64(now);
  std::memcpy(buffer.data(), &low, 8);
  std::memcpy(buffer.data() + 8, &high, 8);
  Store(*place, data);
  if (Number(operation, OperandRole::kReturn, 0) == 0) return;
  // A predecrement returns the new value.
  const absl::uint128 returned = kind == AtomicOpcode::kPredecrement ? now : old;
  const uint32_t to = RegisterOf(operation, OperandRole::kResult);
  for (uint32_t i = 0; i < bytes / 4; ++i) {
    WriteRegister(to + 4 * i,
                  static_cast<uint32_t>(absl::Uint128Low64(returned >> static_cast<int>(32 * i))));
  }
}

Execution::Outcome Execution::Wait(const Operation& operation) {
  std::optional<uint32_t> comparison = static_cast<uint32_t>(Comparison::kGreater);
  if (operation.operand(OperandRole::kCompare) != nullptr) {
    comparison = Named(operation, OperandRole::kCompare, operation.compare);
  }
  if (!comparison) {
    streamer_.Report(ProblemKind::kUnsupported, "an unknown comparison: the wait is left out");
    return Outcome::kDone;
  }
  const uint32_t value =
      operation.operand(OperandRole::kRegister) != nullptr
          ? streamer_.registers_.Read(RegisterOf(operation, OperandRole::kRegister))
          : Load32(Destination(operation).value_or(Place{}), true);
  const auto data = static_cast<uint32_t>(Number(operation, OperandRole::kValue, 0));
  return Holds(static_cast<Comparison>(*comparison), value, data) ? Outcome::kDone
                                                                  : Outcome::kWaiting;
}

Execution::Outcome Execution::End(const Operation& operation) {
  const std::optional<Place> place = Destination(operation);
  if (!place) return Outcome::kDone;
  uint32_t value = Load32(*place);
  if (Number(operation, OperandRole::kMask, 0) != 0) {
    value &= Load32({place->space, place->address + kDword});
  }
  const auto comparison =
      static_cast<Comparison>(Named(operation, OperandRole::kCompare, operation.compare)
                                  .value_or(static_cast<uint32_t>(Comparison::kGreater)));
  if (Holds(comparison, value, static_cast<uint32_t>(Number(operation, OperandRole::kValue, 0)))) {
    return Outcome::kDone;
  }
  return Number(operation, OperandRole::kLevel, 0) != 0 ? Outcome::kEndsLevel : Outcome::kEndsAll;
}

void Execution::MakeReport(const Operation& operation) {
  const std::optional<Place> place = Destination(operation);
  if (!place) return;
  if (operation.layout == nullptr) return;
  // Nothing counts here.
  std::vector<uint8_t> report(std::min<uint64_t>(operation.layout->bytes, kMostBytes));
  for (const tables::Leaf& leaf : tables_.leaves(operation.layout->leaves)) {
    if (leaf.extra == kNone || leaf.width > 64 || leaf.bit + leaf.width > report.size() * 8)
      continue;
    const auto put = [&](uint64_t value) {
      decode::WriteBits(absl::MakeSpan(report), leaf.bit, leaf.width, value);
    };
    switch (tables_.extra(leaf.extra).meaning) {
      case tables::Meaning::kReportNumber:
        put(Number(operation, OperandRole::kValue, 0));
        break;
      case tables::Meaning::kClock:
        put(streamer_.registers_.clock());
        break;
      case tables::Meaning::kReportContext:
        put(streamer_.options_.context);
        break;
      default:
        break;
    }
  }
  Store(*place, report);
  streamer_.Report(ProblemKind::kApproximate, "performance counters are reported as zeros");
}

void Execution::UpdatePageTable(const Operation& operation) {
  const std::optional<Place> page = Destination(operation);
  if (!page) return;
  const std::optional<StreamerOptions::PageTable>& table = streamer_.options_.global_table;
  if (!table) {
    streamer_.Report(ProblemKind::kApproximate,
                     "the place of the global page table is not known: its entries stay");
    return;
  }
  const uint64_t first = page->address / kPage;
  uint64_t bytes = 0;
  ForEachStored([&](uint64_t, uint64_t size) { bytes += size; });
  if (first >= table->entries || bytes > (table->entries - first) * table->entry_bytes) {
    streamer_.Report(ProblemKind::kApproximate,
                     absl::StrFormat("the global page table has no entry for 0x%x: nothing is "
                                     "written",
                                     page->address));
    return;
  }
  StoreFields({table->space, table->address + first * table->entry_bytes});
}

void Execution::SwitchContext(const Operation& operation) {
  const std::optional<Place> image = Destination(operation);
  if (!image) return;
  Streamer& s = streamer_;
  if (s.context_ == image->address && Number(operation, OperandRole::kForce, 0) == 0) return;
  if (s.context_) s.contexts_.Save(*s.context_, {s.registers_.written(), s.states_, s.noop_});
  s.context_ = image->address;
  if (Number(operation, OperandRole::kInhibit, 0) != 0) return;
  const SavedContext* const saved = s.contexts_.Find(image->address);
  if (saved == nullptr) {
    s.Report(ProblemKind::kApproximate,
             "a context is restored that was never saved: state stays as it is");
    return;
  }
  s.registers_.Restore(saved->registers);
  s.states_ = saved->states;
  s.noop_ = saved->noop;
}

void Execution::DrawIndirect(const Operation& operation) {
  const std::optional<Place> arguments = Destination(operation);
  std::array<uint32_t, kMostArguments> dwords = {};
  const size_t bytes = operation.layout == nullptr ? 0 : operation.layout->bytes;
  if (!arguments || bytes == 0 || bytes % kDword != 0 || bytes > sizeof(dwords)) {
    streamer_.Report(ProblemKind::kUnsupported, "indirect draws of an unknown format");
    return;
  }
  uint64_t count = Number(operation, OperandRole::kCount, 0);
  if (Number(operation, OperandRole::kCounted, 0) != 0) {
    const uint32_t source = LeafOf(tables_, *operation.operand(OperandRole::kSource));
    count = std::min<uint64_t>(count, Load32(PlaceOf(source)));
  }
  if (count > streamer_.indirect_draws_left_) {
    streamer_.Report(ProblemKind::kUnsupported,
                     absl::StrCat("of ", count, " indirect draws only the first ",
                                  streamer_.indirect_draws_left_, " are simulated"));
    count = streamer_.indirect_draws_left_;
  }
  streamer_.indirect_draws_left_ -= count;
  const absl::Span<uint32_t> one = absl::MakeSpan(dwords).first(bytes / kDword);
  Place at = *arguments;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t read = streamer_.seen_.Read(
        tables::ClientKind::kStreamer, at.space, at.address,
        absl::MakeSpan(reinterpret_cast<uint8_t*>(one.data()), bytes), command_);
    if (read < bytes) {
      streamer_.ReportUnmapped(
          absl::StrFormat("the arguments of draw %d at 0x%x are not in the dump", i, at.address));
      break;
    }
    DoWork(one, operation.layout);
    at.address += bytes;
  }
}

}  // namespace packsmith::sim
