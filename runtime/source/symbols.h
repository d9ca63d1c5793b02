// The buffers of a program, by the names of their addresses.
#ifndef PACKSMITH_RUNTIME_SOURCE_SYMBOLS_H_
#define PACKSMITH_RUNTIME_SOURCE_SYMBOLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dump/dump.h"

namespace packsmith::source {

class Symbols {
 public:
  struct Place {
    uint32_t space;
    uint64_t address;
    uint64_t size;
    std::string name;  // an identifier
  };

  // One for each segment of the dump's memory, in their order. Its name is that of the buffer that
  // holds its beginning, or else its address.
  explicit Symbols(const Dump& dump);

  const std::vector<Place>& places() const { return places_; }

  // "buffer_batch + 0x40", for an address in a buffer of the space, or of the global one. Empty if
  // there is none.
  std::string Find(uint32_t space, uint64_t address) const;

 private:
  const Place* Holder(uint32_t space, uint64_t address) const;

  std::vector<Place> places_;  // by space and address
};

// A number in hexadecimal.
std::string Hex(uint64_t number);

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_SYMBOLS_H_
