// Recordings of generations without execution lists. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_CLASSIC_RECORDING_H_
#define PACKSMITH_RUNTIME_AUB_CLASSIC_RECORDING_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "runtime/aub/recording_parts.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/contexts/page_table_format.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// One address space, through the global page table, whose content changes from batch to batch.
class ClassicRecording {
 public:
  // All must outlive this.
  ClassicRecording(const tables::Tables& tables, AubWriter& packets, Lost& lost)
      : tables_(tables), packets_(packets), lost_(lost) {}

  absl::Status Add(const Dump& dump);

 private:
  absl::Status WriteSpace(const Dump& dump, uint32_t space);
  absl::Status WriteEntry(const sim::PageTableFormat& format, uint64_t page, bool present);

  const tables::Tables& tables_;
  AubWriter& packets_;
  Lost& lost_;
  std::set<uint64_t> mapped_;  // pages that have an entry
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_CLASSIC_RECORDING_H_
