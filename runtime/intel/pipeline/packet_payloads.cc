#include "runtime/intel/pipeline/packet_payloads.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/pipeline/packet_payloads_of.h"

namespace packsmith::intel {

extern const GenerationPayloads kGfx8Payloads, kGfx9Payloads, kGfx11Payloads, kGfx12Payloads,
    kGfx125Payloads, kXe2Payloads, kXe3Payloads;

absl::StatusOr<std::vector<KernelPayload>> PayloadsOf(absl::string_view generation,
                                                      const SeenPacket& work,
                                                      absl::Span<const SeenPacket> state) {
  static constexpr const GenerationPayloads* kAll[] = {
      &kGfx8Payloads,   &kGfx9Payloads, &kGfx11Payloads, &kGfx12Payloads,
      &kGfx125Payloads, &kXe2Payloads,  &kXe3Payloads,
  };
  std::string names;
  for (const GenerationPayloads* payloads : kAll) {
    if (generation == payloads->name) return payloads->read(work, state);
    absl::StrAppend(&names, names.empty() ? "" : ", ", payloads->name);
  }
  return absl::NotFoundError(absl::StrCat("thread payloads of ", generation,
                                          " are not described; those of ", names, " are"));
}

}  // namespace packsmith::intel
