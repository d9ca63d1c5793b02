// A decoder's output with what it remembers of earlier records, compared with that without.
#ifndef PACKSMITH_TESTS_DECODE_WITHOUT_FORMS_H_
#define PACKSMITH_TESTS_DECODE_WITHOUT_FORMS_H_

#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

using Dumps = std::vector<const Dump*>;

// Fails the test if a sink's output for the dumps, one after the other, differs without shapes:
// every sink that writes fields, in every way that it writes them.
void ExpectSameWithoutShapes(const tables::Tables& tables, const Dumps& dumps,
                             Options options = {});

}  // namespace packsmith::decode

#endif  // PACKSMITH_TESTS_DECODE_WITHOUT_FORMS_H_
