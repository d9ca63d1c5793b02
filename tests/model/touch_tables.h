// Reads everything that tables offer, as a decoder would, for tests that hand out damaged ones.
#ifndef PACKSMITH_TESTS_MODEL_TOUCH_TABLES_H_
#define PACKSMITH_TESTS_MODEL_TOUCH_TABLES_H_

#include "runtime/tables/tables.h"

namespace packsmith::model {

// Returns a number that depends on all that was read, so that no compiler leaves it out.
uint64_t TouchTables(const tables::Tables& tables);

}  // namespace packsmith::model

#endif  // PACKSMITH_TESTS_MODEL_TOUCH_TABLES_H_
