// Two files of one program, one that checks values and one that does not.
#ifndef PACKSMITH_TESTS_PACK_UNCHECKED_H_
#define PACKSMITH_TESTS_PACK_UNCHECKED_H_

#include <cstdint>

// Packs a value that does not fit, by pack's default; true if that was an error.
bool PackedWithChecksFails(uint32_t* dw);
bool PackedWithoutChecksFails(uint32_t* dw);

#endif  // PACKSMITH_TESTS_PACK_UNCHECKED_H_
