// Writes a Model as the block that runtime/tables reads. The only maker of decode tables.
#ifndef PACKSMITH_GEN_MODEL_WRITE_TABLES_H_
#define PACKSMITH_GEN_MODEL_WRITE_TABLES_H_

#include <cstdint>
#include <vector>

#include "gen/model/ast/model.h"

namespace packsmith::model {

// The model must be free of errors. The same model gives the same bytes. The vector's element type
// keeps the block aligned as its reader wants it.
std::vector<uint64_t> WriteTables(const Model& model);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_TABLES_H_
