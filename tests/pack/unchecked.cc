#define PACKSMITH_UNCHECKED
#include "tests/pack/unchecked.h"

#include "packsmith/kinds.h"

bool PackedWithoutChecksFails(uint32_t* dw) {
  volatile uint32_t sixteen = 16;
  return static_cast<bool>(packsmith::kinds::INTEGERS{.small = sixteen}.pack(dw));
}
