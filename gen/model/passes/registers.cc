#include "gen/model/passes/registers.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace packsmith::model {

void CheckRegisters(Context& context) {
  std::map<uint32_t, Location> offsets;
  for (const Container& c : context.model.containers) {
    if (c.kind != ContainerKind::kRegister) continue;
    if (c.register_offset % 4 != 0) {
      context.Report(Code::kBadRegister, context.At(c.where, "offset"),
                     "registers lie at multiples of 4 bytes");
    }
    const auto [old, fresh] = offsets.emplace(c.register_offset, c.where);
    if (fresh) continue;
    context
        .Report(Code::kBadRegister, context.At(c.where, "offset"),
                absl::StrCat("two registers are at offset ", c.register_offset))
        .notes.push_back({old->second, "the other is here"});
  }
}

}  // namespace packsmith::model
