// Template arguments of the runtime for a generation: its packets and its facts. A namespace cannot
// be a template argument, so a type represents it.
//
// gfx9.h and its neighbours, which the build makes from gfx.h.in, have one for each
// generation of xml/generations.bzl. A custom description has the facts of the generation that it
// extends:
//
//   #include "packsmith/mine.h"
//   struct Mine : packsmith::intel::Generation<mine::generation, 90> {};  // its version times ten

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_GENERATION_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_GENERATION_H_

#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// The commands with which the streamer computes. Empty for streamers that lack some of them: these
// have batches, but no Arithmetic.
template <class P>
struct ArithmeticCommands {};
template <class P>
requires requires {
  typename P::MI_MATH;
  typename P::MI_COPY_MEM_MEM;
}
struct ArithmeticCommands<P> {
  using StoreRegister = typename P::MI_STORE_REGISTER_MEM;
  using LoadRegister = typename P::MI_LOAD_REGISTER_MEM;
  using LoadRegisterConstant = typename P::MI_LOAD_REGISTER_IMM;
  using CopyRegister = typename P::MI_LOAD_REGISTER_REG;
  using CopyMemory = typename P::MI_COPY_MEM_MEM;
  using Math = typename P::MI_MATH;
  using MathInstruction = typename P::MI_MATH_ALU_INSTRUCTION;
  using Predicate = typename P::MI_PREDICATE;
  using SetPredicate = typename P::MI_SET_PREDICATE;
  using GeneralRegister = typename P::CS_GPR0;
  using PredicateSource0 = typename P::MI_PREDICATE_SRC0;
  using PredicateSource1 = typename P::MI_PREDICATE_SRC1;
  using PredicateResult = typename P::MI_PREDICATE_RESULT;
  // What a predicated MI_BATCH_BUFFER_START tests before Gfx12.5.
  using StartPredicate = typename P::MI_PREDICATE_RESULT_1;
  // Later it tests what MI_SET_PREDICATE has found.
  static constexpr bool kStartAsksSetPredicate = requires { typename P::MI_SET_PREDICATE_RESULT; };
};

// P: the struct of all packets by name that each generated header has.
template <class P, unsigned version_x10 = P::version_x10>
struct Generation : ArithmeticCommands<P> {
  static constexpr auto& kName = P::name;  // as in dumps and tables
  static constexpr unsigned kVersion = version_x10;
  // Code should test these facts instead of comparing kVersion.
  static constexpr GenerationFacts kFacts = FactsOf(version_x10);
  static_assert(kFacts.version_x10 == version_x10,
                "the generation has no column in runtime/intel/device/generation_facts.h");

  using Packets = P;
  // The commands that the runtime itself emits.
  using BatchStart = typename P::MI_BATCH_BUFFER_START;
  using BatchEnd = typename P::MI_BATCH_BUFFER_END;
  using Noop = typename P::MI_NOOP;
  using StoreData = typename P::MI_STORE_DATA_IMM;
  using PipeControl = typename P::PIPE_CONTROL;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_GENERATION_H_
