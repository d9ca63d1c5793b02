// Programs in C++ and C that make a dump: its memory and submissions, with generated headers.
#ifndef PACKSMITH_RUNTIME_SOURCE_PROGRAM_H_
#define PACKSMITH_RUNTIME_SOURCE_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dump/dump.h"
#include "runtime/source/spelling.h"
#include "runtime/tables/tables.h"

namespace packsmith::source {

struct ProgramOptions {
  Language language = Language::kCpp;
  // Bytes that are not described, and are at least this many without long zeros, become files.
  uint64_t file_bytes = ~uint64_t{0};
  std::string folder = {};  // where the program looks for them; from its own folder
  std::string input = {};   // for the comment at its beginning
};

struct Program {
  struct File {
    std::string name;
    std::vector<uint8_t> bytes;
  };
  std::string text;
  std::vector<File> files;
};

// The program, compiled with the headers of the description and packsmith/rebuild.h, writes a GPU
// core dump with the same memory, byte for byte, device, submissions and buffers. Packets and
// structures that decoding reaches are initialised by members, other memory is numbers.
Program WriteProgram(const tables::Tables& tables, const Spelling& spelling, const Dump& dump,
                     const ProgramOptions& options);

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_PROGRAM_H_
