// Which engine of a description a submission is for.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_ENGINE_OF_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_ENGINE_OF_H_

#include <cstdint>

#include "runtime/capture/drm/work.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {

// An index in the tables: by the engine's name, or else by the number of its class, which is one of
// the names that descriptions give their engines. tables::kNone: they have no such engine.
uint32_t EngineOf(const tables::Tables& tables, const Work& work);

// An index in the tables: the named stream, or else the first one that the engine reads (of
// engine kNone: the first one).
uint32_t StreamOf(const tables::Tables& tables, const WorkStream& stream, uint32_t engine);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_ENGINE_OF_H_
