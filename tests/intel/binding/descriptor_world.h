// A GPU's memory, laid out as anv does it, and a setup of descriptor sets in it: Gfx9 for binding
// tables and indirect descriptors, Gfx12.5 for direct ones and descriptor buffers.
#ifndef PACKSMITH_TESTS_INTEL_BINDING_DESCRIPTOR_WORLD_H_
#define PACKSMITH_TESTS_INTEL_BINDING_DESCRIPTOR_WORLD_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/intel/binding/descriptor_layout.h"
#include "runtime/intel/binding/descriptor_pool.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/intel/binding/descriptor_setup.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {

// Of the generation that has the model. Separate, so that a test need not compile packets.
DescriptorHardware HardwareFor(DescriptorModel model);

struct DescriptorWorld {
  explicit DescriptorWorld(DescriptorModel model);

  bool direct() const {
    return setup.model == DescriptorModel::kDirect || setup.model == DescriptorModel::kBuffer;
  }
  DescriptorPoolOptions PoolOptions(uint32_t max_sets, absl::Span<const DescriptorCount> counts,
                                    uint32_t inline_blocks = 0) const;
  std::unique_ptr<DescriptorPool> MakePool(uint32_t max_sets,
                                           absl::Span<const DescriptorCount> counts,
                                           uint32_t inline_blocks = 0) {
    return Value(DescriptorPool::Create(*memory.buffers, setup,
                                        PoolOptions(max_sets, counts, inline_blocks)));
  }
  DescriptorSetLayoutPtr Layout(absl::Span<const DescriptorBinding> bindings, bool push = false) {
    return Value(DescriptorSetLayout::Create(setup.model, bindings, push));
  }
  // A buffer, a view and a sampler that differ from all others.
  gpu::Buffer NewBuffer(uint64_t size);
  DescriptorImage NewImage();
  DescriptorSampler NewSampler();
  // `bytes` at a GPU address, as the GPU sees them.
  std::vector<uint8_t> Read(uint64_t address, size_t bytes);
  template <class T>
  T ReadAs(uint64_t address) {
    T value;
    std::memcpy(&value, Read(address, sizeof(T)).data(), sizeof(T));
    return value;
  }

  BindingMemory memory;
  std::unique_ptr<gpu::StatePool> states;    // surface states, from the setup's base of surfaces
  std::unique_ptr<gpu::StatePool> bindless;  // those with handles, if they are in another zone
  DescriptorSetup setup;
  uint32_t serial = 0;
};

// For the names of tests that are run for several models.
inline std::string NameOfModel(const testing::TestParamInfo<DescriptorModel>& info) {
  const char* const names[] = {"BindingTable", "Indirect", "Direct", "Buffer"};
  return names[static_cast<unsigned>(info.param)];
}

// All contents of a set's memory, to see whether they change.
std::vector<uint8_t> Content(const DescriptorSet& set);

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BINDING_DESCRIPTOR_WORLD_H_
