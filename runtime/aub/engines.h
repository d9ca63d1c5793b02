// Engines of recordings, by where their registers are.
#ifndef PACKSMITH_RUNTIME_AUB_ENGINES_H_
#define PACKSMITH_RUNTIME_AUB_ENGINES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// The name of the engine whose registers begin at `base`: "render", "vcs1", "ccs0:1" (of tile 1).
// Empty: not known. The description has the first engine of each class, this the others.
std::string EngineAt(const tables::Tables& tables, uint32_t base);

// The inverse, for names that the description knows. Empty: the generation has no such engine.
std::optional<uint32_t> BaseOfEngine(const tables::Tables& tables, absl::string_view engine);

// The engine of a name in the description's words, without the number and the tile; "blitter" for
// "copy". Empty: the description does not know it.
absl::string_view ClassOf(const tables::Tables& tables, absl::string_view engine);

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_ENGINES_H_
