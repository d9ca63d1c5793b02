#include "runtime/intel/shader/kernels.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace packsmith::intel {
namespace {

// The shortest instructions are 8 bytes; kernels begin at multiples of 64 (PRM, Kernel Start
// Pointer).
constexpr size_t kInstruction = 8;
constexpr uint64_t kAlignment = 64;

}  // namespace

Kernels::~Kernels() {
  lifetime_.End();
  if (!pool_) return;
  MutexLock lock(mutex_);
  for (const auto& [offset, entry] : by_offset_) (void)pool_->Free(offset);
}

absl::StatusOr<Kernel> Kernels::Upload(absl::Span<const uint8_t> instructions) {
  if (lifetime_.lost()) return lifetime_.status();
  if (instructions.empty() || instructions.size() % kInstruction != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a kernel of ", instructions.size(),
                                                   " bytes; it must have a multiple of 8, and at "
                                                   "least one instruction"));
  }
  const absl::string_view content(reinterpret_cast<const char*>(instructions.data()),
                                  instructions.size());
  MutexLock lock(mutex_);
  if (options_.share) {
    if (const auto found = by_content_.find(content); found != by_content_.end()) {
      Entry& entry = by_offset_.at(found->second);
      ++entry.users;
      ++statistics_.hits;
      return entry.kernel;
    }
  }
  absl::StatusOr<gpu::State> state =
      pool_->Allocate(instructions.size() + options_.prefetch_bytes, kAlignment);
  if (!state.ok()) return state.status();
  std::memcpy(state->cpu, instructions.data(), instructions.size());
  std::memset(state->cpu + instructions.size(), 0, options_.prefetch_bytes);
  const absl::Status flushed = pool_->Flush(*state, instructions.size() + options_.prefetch_bytes);
  if (!flushed.ok()) {
    (void)pool_->Free(state->offset);
    return flushed;
  }
  Entry entry{.kernel = {.offset = state->offset,
                         .address = state->address,
                         .size = static_cast<uint32_t>(instructions.size()),
                         .buffer = state->buffer},
              .users = 1};
  if (options_.share) {
    entry.content = &by_content_.emplace(content, state->offset).first->first;
  }
  by_offset_.emplace(state->offset, entry);
  ++statistics_.uploads;
  ++statistics_.kernels;
  statistics_.kernel_bytes += instructions.size();
  return entry.kernel;
}

absl::Status Kernels::Release(const Kernel& kernel) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const auto found = by_offset_.find(kernel.offset);
  if (found == by_offset_.end() || found->second.kernel.address != kernel.address) {
    return absl::NotFoundError(
        absl::StrCat("no kernel is at offset ", kernel.offset, ": it was released before"));
  }
  Entry& entry = found->second;
  if (--entry.users != 0) return absl::OkStatus();
  --statistics_.kernels;
  statistics_.kernel_bytes -= entry.kernel.size;
  if (entry.content != nullptr) by_content_.erase(by_content_.find(*entry.content));
  by_offset_.erase(found);
  return pool_->Free(kernel.offset);
}

std::optional<Kernels::Found> Kernels::At(uint64_t offset) const {
  MutexLock lock(mutex_);
  const auto has = [&](const Entry& entry) {
    return entry.content != nullptr && offset >= entry.kernel.offset &&
           offset - entry.kernel.offset < entry.kernel.size;
  };
  const auto found = [](const Entry& entry) {
    return Found{entry.kernel,
                 {reinterpret_cast<const uint8_t*>(entry.content->data()), entry.content->size()}};
  };
  // Most offsets are those of first instructions.
  if (offset <= ~uint32_t{0}) {
    const auto first = by_offset_.find(static_cast<uint32_t>(offset));
    if (first != by_offset_.end() && has(first->second)) return found(first->second);
  }
  for (const auto& [begin, entry] : by_offset_) {
    if (has(entry)) return found(entry);
  }
  return std::nullopt;
}

KernelStatistics Kernels::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

}  // namespace packsmith::intel
