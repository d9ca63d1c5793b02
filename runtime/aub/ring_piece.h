// What commands of a ring do that a driver has just submitted. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_RING_PIECE_H_
#define PACKSMITH_RUNTIME_AUB_RING_PIECE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// The address of the batch that the commands start, if that and no-ops is all that they do.
std::optional<uint64_t> OnlyBatch(const tables::Tables& tables, absl::string_view engine,
                                  absl::Span<const uint8_t> commands);

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_RING_PIECE_H_
