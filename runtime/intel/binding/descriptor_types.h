// The types of descriptors, and the memory of each in the models that drivers use.
//
// A descriptor tells a shader where a buffer, image or sampler is. There are four models of it:
//
//   kBindingTable  the shader names an entry of the stage's binding table; the set's memory has
//                  only data for the shader
//   kIndirect      the set's memory has small records, which the shader reads: handles of surface
//                  states elsewhere, or addresses. What fits is also in the binding table.
//   kDirect        the set's memory has the surface states themselves, within reach of the surface
//                  state base; samplers are in another heap
//   kBuffer        as kDirect, but the memory is the application's, and there are no tables
//
// The sizes are those of Mesa's anv, which uses kIndirect up to Gfx12.0 and kDirect from Gfx12.5
// on.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TYPES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TYPES_H_

#include <cstdint>

#include "runtime/intel/binding/table_limits.h"

namespace packsmith::intel {

enum class DescriptorType : uint8_t {
  kSampler,
  kCombinedImageSampler,
  kSampledImage,
  kStorageImage,
  kUniformTexelBuffer,
  kStorageTexelBuffer,
  kUniformBuffer,
  kStorageBuffer,
  kUniformBufferDynamic,  // an offset is added when the set is bound
  kStorageBufferDynamic,
  kInputAttachment,
  kInlineUniformBlock,  // bytes for the shader, in the set itself
  kAccelerationStructure,
  kMutable,  // one of several types: the last one that was written
};
inline constexpr unsigned kDescriptorTypes = 14;

enum class DescriptorModel : uint8_t { kBindingTable, kIndirect, kDirect, kBuffer };
inline constexpr unsigned kDescriptorModels = 4;

// For messages: "sampled image".
const char* NameOf(DescriptorType type);
const char* NameOf(DescriptorModel model);

// What a descriptor's record holds.
enum class RecordForm : uint8_t {
  kNothing,
  kHandles,            // HandlesRecord
  kStorage,            // StorageRecord
  kAddress,            // AddressRecord
  kSurface,            // a surface state
  kSurfaceAndSampler,  // a surface state, followed by a sampler state
  kSampler,            // a sampler state
  kBytes,              // what the application wrote
};

// Sizes in bytes, for each plane of an image.
struct DescriptorRecord {
  RecordForm form = RecordForm::kNothing;
  uint16_t bytes = 0;          // in the set's memory; kInlineUniformBlock: 1 for each byte
  uint16_t alignment = 1;      // of a binding's first record there: a power of two
  uint16_t sampler_bytes = 0;  // in the heap of samplers
  uint16_t surface_bytes = 0;  // for a surface state of its own, which binding tables refer to
  bool surface_table = false;  // may have an entry in the binding table
  bool sampler_table = false;  // may have one in the table of samplers
  bool bindless = false;       // a shader can reach it without such an entry

  friend bool operator==(const DescriptorRecord&, const DescriptorRecord&) = default;
};

// kMutable has none: it depends on its types.
DescriptorRecord RecordOf(DescriptorModel model, DescriptorType type);

// The records that shaders read. They are a convention of driver and shader compiler, not of the
// hardware.
struct HandlesRecord {
  uint32_t surface = 0;  // the bindless handle, as in a message to the sampler
  uint32_t sampler = 0;  // offset from the base of samplers
};
struct StorageRecord {
  uint32_t surface = 0;  // as above
  uint32_t depth = 0;    // of 3D images of which a view shows some slices
};
struct AddressRecord {
  uint64_t address = 0;  // 0: none
  uint32_t size = 0;     // bytes
  uint32_t zero = 0;
};

inline constexpr uint32_t kSurfaceStateBytes = 64, kSamplerStateBytes = 16;
// Distance of one sampler from the next in the heap of samplers.
inline constexpr uint32_t kSamplerStride = 32;
// In a record of kSurfaceAndSampler.
inline constexpr uint32_t kSamplerBehindSurface = 64;
// The alignment of a set's memory; that of its samplers is kSamplerStride.
inline constexpr uint32_t kSetAlignment = 64;

// Limits.
inline constexpr uint32_t kMostSets = 8;                 // of a pipeline layout
inline constexpr uint32_t kMostDynamicBuffers = 16;      // of a pipeline layout
inline constexpr uint32_t kMostPushDescriptors = 32;     // of a set
inline constexpr uint32_t kMostInlineBlocks = 32;        // of a set
inline constexpr uint32_t kMostInlineBytes = 4096;       // of a block
inline constexpr uint32_t kMostPlanes = 3;               // of an image
inline constexpr uint32_t kMostEmbeddedSamplers = 2048;  // different ones of a device
inline constexpr uint64_t kIndirectHeap = 3ull << 30;    // bytes for sets of kIndirect
inline constexpr uint64_t kDirectHeap = 2ull << 30;      // and of kDirect, and for its samplers

// The maximum number of descriptors of a type, for applications: limited by the heap, or by the
// table if they are reached only through it. kMutable: 0.
uint32_t MostDescriptors(DescriptorModel model, DescriptorType type);

// Whether a shader reads the set's memory as data, so that the memory needs a surface state.
constexpr bool IsData(RecordForm form) {
  return form == RecordForm::kHandles || form == RecordForm::kStorage ||
         form == RecordForm::kAddress || form == RecordForm::kBytes;
}
// Types with offset and size of a buffer.
constexpr bool IsBuffer(DescriptorType type) {
  return type == DescriptorType::kUniformBuffer || type == DescriptorType::kStorageBuffer ||
         type == DescriptorType::kUniformBufferDynamic ||
         type == DescriptorType::kStorageBufferDynamic;
}
constexpr bool IsDynamic(DescriptorType type) {
  return type == DescriptorType::kUniformBufferDynamic ||
         type == DescriptorType::kStorageBufferDynamic;
}
constexpr bool HasSampler(DescriptorType type) {
  return type == DescriptorType::kSampler || type == DescriptorType::kCombinedImageSampler;
}
// An image, or a buffer that is read as one: types whose view has a surface state.
constexpr bool HasView(DescriptorType type) {
  return type == DescriptorType::kCombinedImageSampler || type == DescriptorType::kSampledImage ||
         type == DescriptorType::kStorageImage || type == DescriptorType::kUniformTexelBuffer ||
         type == DescriptorType::kStorageTexelBuffer || type == DescriptorType::kInputAttachment;
}
// Whether shaders may write to what the descriptor points to.
constexpr bool IsWritable(DescriptorType type) {
  return type == DescriptorType::kStorageImage || type == DescriptorType::kStorageTexelBuffer ||
         type == DescriptorType::kStorageBuffer || type == DescriptorType::kStorageBufferDynamic;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TYPES_H_
