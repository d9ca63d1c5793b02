// The commands that a batch writes by itself, one generation's: a namespace cannot be a template
// argument, so a type stands for it.
//
//   namespace packsmith::gpu {
//   PACKSMITH_GENERATION(Gfx9, gfx9, 90);  // the version times ten
//   }
//
// gfx9.h and its neighbours do so for each generation.

#ifndef PACKSMITH_RUNTIME_BATCH_GENERATION_H_
#define PACKSMITH_RUNTIME_BATCH_GENERATION_H_

#define PACKSMITH_GENERATION(Name, names, version)                            \
  struct Name {                                                               \
    static constexpr char kName[] = #names; /* as dumps and tables have it */ \
    static constexpr unsigned kVersion = version;                             \
    using Packets = names::generation; /* all there are, by their names */    \
    using BatchStart = names::MI_BATCH_BUFFER_START;                          \
    using BatchEnd = names::MI_BATCH_BUFFER_END;                              \
    using Noop = names::MI_NOOP;                                              \
    using StoreData = names::MI_STORE_DATA_IMM;                               \
    using StoreRegister = names::MI_STORE_REGISTER_MEM;                       \
    using LoadRegister = names::MI_LOAD_REGISTER_MEM;                         \
    using LoadRegisterConstant = names::MI_LOAD_REGISTER_IMM;                 \
    using CopyRegister = names::MI_LOAD_REGISTER_REG;                         \
    using CopyMemory = names::MI_COPY_MEM_MEM;                                \
    using Math = names::MI_MATH;                                              \
    using MathInstruction = names::MI_MATH_ALU_INSTRUCTION;                   \
    using Predicate = names::MI_PREDICATE;                                    \
    using SetPredicate = names::MI_SET_PREDICATE;                             \
    using PipeControl = names::PIPE_CONTROL;                                  \
    using GeneralRegister = names::CS_GPR0;                                   \
    using PredicateSource0 = names::MI_PREDICATE_SRC0;                        \
    using PredicateSource1 = names::MI_PREDICATE_SRC1;                        \
  }

#endif  // PACKSMITH_RUNTIME_BATCH_GENERATION_H_
