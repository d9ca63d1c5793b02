#include "runtime/capture/execute/engine_of.h"

#include "absl/strings/str_cat.h"

namespace packsmith::capture {

uint32_t EngineOf(const tables::Tables& tables, const Work& work) {
  const uint32_t named = work.engine.empty() ? tables::kNone : tables.FindEngine(work.engine);
  return named != tables::kNone ? named : tables.FindEngine(absl::StrCat(work.engine_class));
}

uint32_t StreamOf(const tables::Tables& tables, const WorkStream& stream, uint32_t engine) {
  const uint32_t named = stream.stream.empty() ? tables::kNone : tables.FindStream(stream.stream);
  if (named != tables::kNone) return named;
  for (uint32_t i = 0; engine != tables::kNone && i < tables.streams().size(); ++i) {
    if ((tables.stream(i).engines >> engine & 1) != 0) return i;
  }
  return 0;
}

}  // namespace packsmith::capture
