#include "gen/model/passes/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gen/model/passes/clients.h"

namespace packsmith::model {
namespace {

using Kind = tables::OperationKind;
using R = tables::OperandRole;

// A bit for each role.
using Roles = uint64_t;
static_assert(tables::kOperandRoles <= 64);

constexpr Roles SetOf(std::initializer_list<R> roles) {
  Roles set = 0;
  for (const R role : roles) set |= Roles{1} << static_cast<uint32_t>(role);
  return set;
}

// The operands that an operation must have, those that it may have, and a set of which it must
// have exactly one.
struct Signature {
  Roles required = 0, optional = 0, one_of = 0;
};

constexpr Roles kRectangle = SetOf({R::kLeft, R::kTop, R::kRight, R::kBottom});
constexpr Roles kSurface =
    SetOf({R::kMemory, R::kPitch, R::kTiling, R::kX, R::kY, R::kLevel, R::kWidth, R::kHeight,
           R::kSlice, R::kSliceRows, R::kAlignX, R::kAlignY, R::kMipTail, R::kVolume});

Signature SignatureOf(Kind kind) {
  switch (kind) {
    case Kind::kNothing:
    case Kind::kUnsupported:
    case Kind::kUnpredicated:
    case Kind::kArbitrationPoint:
    case Kind::kPrivileged:
    case Kind::kDropPrivilege:
      return {};
    case Kind::kFence:
      return {0, SetOf({R::kDoes})};
    case Kind::kSkip:
    case Kind::kWriteRegister:
      return {SetOf({R::kRegister, R::kValue}), SetOf({R::kMask})};
    case Kind::kEngineBase:
    case Kind::kMath:
      return {SetOf({R::kRegister})};
    case Kind::kReplace:
      return {SetOf({R::kRegister}), 0, SetOf({R::kField, R::kIndex})};
    case Kind::kAddRegister:
      return {SetOf({R::kRegister, R::kField})};
    case Kind::kLoadRegister:
      return {SetOf({R::kRegister, R::kMemory}), SetOf({R::kBytes})};
    case Kind::kStoreRegister:
      return {SetOf({R::kRegister}), SetOf({R::kBytes, R::kPage}), SetOf({R::kMemory, R::kIndex})};
    case Kind::kCopyRegister:
      return {SetOf({R::kRegister, R::kSource})};
    case Kind::kStore:
      return {0, SetOf({R::kValue, R::kBytes, R::kPage}), SetOf({R::kMemory, R::kIndex})};
    case Kind::kCopyMemory:
      return {SetOf({R::kMemory, R::kSource}), SetOf({R::kBytes})};
    case Kind::kPredicate:
      return {
          SetOf({R::kCompare, R::kCombine, R::kLoad, R::kSource, R::kValue, R::kData, R::kResult})};
    case Kind::kSetPredicate:
      return {SetOf({R::kValue, R::kResult, R::kSource}), SetOf({R::kRegister})};
    case Kind::kAtomic:
      return {SetOf({R::kMemory, R::kOpcode, R::kSize, R::kReturn, R::kInline, R::kSource, R::kData,
                     R::kResult})};
    case Kind::kWait:
      return {SetOf({R::kValue}), SetOf({R::kCompare, R::kHigh}),
              SetOf({R::kMemory, R::kRegister})};
    case Kind::kEnd:
      return {SetOf({R::kMemory, R::kValue}), SetOf({R::kCompare, R::kMask, R::kLevel})};
    case Kind::kSignal:
    case Kind::kPreParser:
    case Kind::kArbitration:
      return {SetOf({R::kValue})};
    case Kind::kReport:
      return {SetOf({R::kMemory, R::kValue, R::kLayout})};
    case Kind::kUpdatePageTable:
      return {SetOf({R::kMemory})};
    case Kind::kSwitchContext:
      return {SetOf({R::kMemory}), SetOf({R::kInhibit, R::kForce})};
    case Kind::kDrawIndirect:
      return {SetOf({R::kMemory, R::kCount, R::kLayout}), SetOf({R::kCounted, R::kSource})};
    case Kind::kBlitDestination:
      return {0, kSurface};
    case Kind::kBlitSource:
      return {0, kSurface | SetOf({R::kLeft, R::kTop})};
    case Kind::kBlitBits:
      return {0, SetOf({R::kMemory, R::kX, R::kPacking, R::kBackground, R::kForeground,
                        R::kTransparent})};
    case Kind::kBlitPattern:
      return {0, SetOf({R::kMemory, R::kX, R::kY})};
    case Kind::kBlitPatternBits:
      return {SetOf({R::kValue, R::kHigh}),
              SetOf({R::kX, R::kY, R::kBackground, R::kForeground, R::kTransparent})};
    case Kind::kBlitColor:
      return {0, SetOf({R::kValue})};
    case Kind::kBlitKey:
      return {SetOf({R::kMode, R::kLow, R::kHigh})};
    case Kind::kBlitRectangle:
      return {0, kRectangle | SetOf({R::kBytes})};
    case Kind::kBlitClip:
      return {kRectangle};
    case Kind::kBlitAgain:
      return {};
    case Kind::kBlitSetup:
    case Kind::kBlit:
      return {0, SetOf({R::kRaster, R::kFormat, R::kMask, R::kClipped, R::kOrder})};
  }
  return {};
}

// Roles whose operand is an address in memory or the offset of a register.
constexpr Roles kPlaces = SetOf({R::kMemory});

std::string NamesOf(Roles roles) {
  std::string names;
  for (size_t i = 0; i < tables::kOperandRoles; ++i) {
    if ((roles >> i & 1) == 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", kOperandNames[i]);
  }
  return names;
}

// Whether the operand is the name of a tiling, which stands for its number.
bool ResolveTiling(Late<Expression>& operand) {
  const auto* const name =
      std::find(std::begin(kTilingNames), std::end(kTilingNames), operand.text);
  if (name == std::end(kTilingNames)) return false;
  operand.is.kind = Expression::Kind::kConstant;
  operand.is.add = static_cast<uint64_t>(name - std::begin(kTilingNames));
  return true;
}

}  // namespace

void ResolveLevels(Context& context, ExpressionReader& reader, Stream& stream) {
  if (stream.levels.empty() || context.model.containers.empty()) return;
  reader.Resolve(stream.levels, {&context.model.containers[0], nullptr});
  if (stream.levels.is.kind == Expression::Kind::kField) {
    context.Report(Code::kBadExpression, stream.levels.where,
                   "levels must be a number or PACKET.FIELD[*N][+N]");
    stream.levels.is = {};
  }
}

void ResolveOperations(Context& context, ExpressionReader& reader, Container& c) {
  const Scope top{&c, nullptr};
  const auto report = [&](Location where, std::string text) {
    context.Report(Code::kBadOperation, where, std::move(text));
  };
  if (!c.operations.empty() && c.kind == ContainerKind::kRegister) {
    report(c.operations[0].where, "registers are not executed");
  }
  for (Operation& operation : c.operations) {
    reader.Resolve(operation.when, top);
    Roles given = 0;
    for (size_t i = 0; i < tables::kOperandRoles; ++i) {
      Late<Expression>& operand = operation.operands[i];
      if (operand.empty()) continue;
      given |= Roles{1} << i;
      if (static_cast<R>(i) == R::kTiling && ResolveTiling(operand)) continue;
      if (static_cast<R>(i) == R::kDoes) {
        operand.is.kind = Expression::Kind::kConstant;
        operand.is.add = 0;
        for (const tables::CacheActions clause : ReadClauses(context, operand)) {
          operand.is.add |= clause;
        }
        continue;
      }
      const int index = context.FindContainer(operand.text);
      if (static_cast<R>(i) == R::kLayout) {
        if (index < 0 ||
            context.model.containers[static_cast<size_t>(index)].kind != ContainerKind::kStruct) {
          report(operand.where, absl::StrCat("\"", operand.text, "\" is not a structure"));
          continue;
        }
        operand.is.kind = Expression::Kind::kConstant;
        operand.is.add = static_cast<uint64_t>(index);
        continue;
      }
      // The name of a register stands for its offset.
      if (index >= 0) {
        const Container& named = context.model.containers[static_cast<size_t>(index)];
        if (named.kind == ContainerKind::kRegister) {
          operand.is.kind = Expression::Kind::kConstant;
          operand.is.add = named.register_offset;
          operation.is_register[i] = true;
          continue;
        }
      }
      reader.Resolve(operand, top);
      if ((kPlaces >> i & 1) != 0 && operand.is.kind == Expression::Kind::kField &&
          operand.is.ref.field->type != FieldType::kAddress) {
        report(operand.where, absl::StrCat("\"", operand.text, "\" is not an address field"));
      }
    }
    const Signature takes = SignatureOf(operation.kind);
    const absl::string_view kind = kOperationNames[static_cast<size_t>(operation.kind)];
    if (const Roles missing = takes.required & ~given; missing != 0) {
      report(operation.where, absl::StrCat("an operation \"", kind, "\" needs ", NamesOf(missing)));
    }
    if (const Roles extra = given & ~(takes.required | takes.optional | takes.one_of); extra != 0) {
      report(operation.where, absl::StrCat("an operation \"", kind, "\" has no ", NamesOf(extra)));
    }
    if (const Roles one = given & takes.one_of;
        takes.one_of != 0 && (one == 0 || (one & (one - 1)) != 0)) {
      report(operation.where,
             absl::StrCat("an operation \"", kind, "\" needs one of ", NamesOf(takes.one_of)));
    }
  }
}

}  // namespace packsmith::model
