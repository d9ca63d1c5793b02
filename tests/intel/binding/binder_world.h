// A binder with all that it needs: memory in the model's zones, and a batch.
#ifndef PACKSMITH_TESTS_INTEL_BINDING_BINDER_WORLD_H_
#define PACKSMITH_TESTS_INTEL_BINDING_BINDER_WORLD_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/memory/driver_zones.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {

template <class Gen>
struct BinderWorld {
  static constexpr uint32_t kMocs = 4;

  explicit BinderWorld(BindingModel which)
      : model(which),
        memory(Iris() ? IrisZones() : AnvZones(), Gen::kVersion, Gen::kName),
        chunks(*memory.buffers, {.zone = memory.Zone(Iris() ? "other" : "high heap")}),
        batch(chunks),
        scratch(Value(memory.buffers->Create({.size = 64,
                                              .zone = memory.Zone(Iris() ? "other" : "high heap"),
                                              .name = "scratch"}))) {
    options.model = model;
    options.zone = memory.Zone(Iris() ? "binder" : "binding tables");
    // Anv's surface states are 3 GiB from a 4 GiB line on.
    options.surface_base = Iris() ? memory.Begin("surface") : 4 * gpu::kGiB;
    options.surface_bytes =
        Iris() ? memory.space->zone(memory.Zone("surface")).size() : 3 * gpu::kGiB;
    options.bases = {.general_state_mocs = kMocs,
                     .stateless_data_port_access_mocs = kMocs,
                     .surface_state_mocs = kMocs,
                     .dynamic_state_mocs = kMocs,
                     .indirect_object_mocs = kMocs,
                     .instruction_mocs = kMocs};
    auto& bases = options.bases;
    if constexpr (requires { bases.bindless_surface_state_mocs; }) {
      bases.bindless_surface_state_mocs = kMocs;
    }
    if constexpr (requires { bases.bindless_sampler_state_mocs; }) {
      bases.bindless_sampler_state_mocs = kMocs;
    }
    options.mocs = kMocs;
    options.scratch = {scratch.address, scratch.handle};
    binder = Value(Binder<Gen>::Create(*memory.buffers, options));
  }

  bool Iris() const { return model == BindingModel::kBinder; }

  uint32_t BytesFor(size_t count) const {
    const uint32_t alignment = binder->rules().alignment;
    return (static_cast<uint32_t>(count) * 4 + alignment - 1) / alignment * alignment;
  }

  // The surfaces of a table in the current block, as offsets from the base of surfaces.
  std::vector<uint32_t> SurfacesAt(uint32_t pointer, size_t count) const {
    std::vector<uint32_t> surfaces(count);
    const uint64_t offset = uint64_t{pointer} << binder->rules().pointer_shift;
    EXPECT_LE(offset + count * 4, binder->block().size);
    std::memcpy(surfaces.data(), binder->block().cpu + offset, count * 4);
    // Entries are relative to the base that the hardware has.
    const uint64_t base = binder->rules().own_base ? options.surface_base : binder->block().address;
    for (uint32_t& surface : surfaces) {
      surface = static_cast<uint32_t>(base + surface - options.surface_base);
    }
    return surfaces;
  }

  const BindingModel model;
  BindingMemory memory;
  gpu::BufferChunks chunks;
  Batch<Gen> batch;
  const gpu::Buffer scratch;
  typename Binder<Gen>::Options options;
  std::unique_ptr<Binder<Gen>> binder;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BINDING_BINDER_WORLD_H_
