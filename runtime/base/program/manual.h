// Manual pages.
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_MANUAL_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_MANUAL_H_

#include <string>

#include "runtime/base/program/facts.h"

namespace packsmith::tools {

// A page for section 1, in the macros of man(7). It depends on nothing but the program.
std::string ManualPage(const ProgramFacts& program);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_MANUAL_H_
