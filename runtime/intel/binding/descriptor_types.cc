#include "runtime/intel/binding/descriptor_types.h"

namespace packsmith::intel {
namespace {

using Form = RecordForm;
using Row = DescriptorRecord;

struct TypeRow {
  const char* name;
  Row of[kDescriptorModels];  // by model
};

// Both the table and the set's memory point to it; the pipeline decides which of them a shader
// uses.
constexpr Row Tabled(Form form, uint16_t bytes, uint16_t alignment, uint16_t own, bool bindless) {
  return {.form = form,
          .bytes = bytes,
          .alignment = alignment,
          .surface_bytes = own,
          .surface_table = true,
          .bindless = bindless};
}
constexpr Row kSurfaceOnly = {
    .form = Form::kSurface, .bytes = 64, .alignment = 64, .bindless = true};
constexpr Row kData = {.form = Form::kAddress, .bytes = 16, .alignment = 8, .bindless = true};
constexpr Row kInline = {.form = Form::kBytes, .bytes = 1, .alignment = 64, .bindless = true};

// An image, or a similar type. `form` is that of its indirect record.
constexpr TypeRow Image(const char* name, Form form) {
  return {name,
          {Tabled(Form::kNothing, 0, 1, 0, false), Tabled(form, 8, 8, 0, true),
           Tabled(Form::kSurface, 64, 64, 0, true), kSurfaceOnly}};
}
constexpr TypeRow ABuffer(const char* name) {
  return {name,
          {Tabled(Form::kNothing, 0, 1, 64, false), Tabled(Form::kAddress, 16, 8, 64, true),
           Tabled(Form::kSurface, 64, 64, 0, true), kSurfaceOnly}};
}
// The surface state of a buffer with a dynamic offset is made when it is bound: no record has it,
// so it is reached through the table only.
constexpr TypeRow ADynamicBuffer(const char* name) {
  return {name,
          {Tabled(Form::kNothing, 0, 1, 0, false),
           Tabled(Form::kAddress, 16, 8, 0, false),
           Tabled(Form::kSurface, 64, 64, 0, false),
           {}}};
}

constexpr TypeRow kTypes[kDescriptorTypes] = {
    {"sampler",
     {{.sampler_table = true},
      {.form = Form::kHandles, .bytes = 8, .alignment = 8, .sampler_table = true, .bindless = true},
      {.sampler_bytes = 32, .sampler_table = true, .bindless = true},
      {.form = Form::kSampler, .bytes = 32, .alignment = 32, .bindless = true}}},
    {"combined image and sampler",
     {{.surface_table = true, .sampler_table = true},
      {.form = Form::kHandles,
       .bytes = 8,
       .alignment = 8,
       .surface_table = true,
       .sampler_table = true,
       .bindless = true},
      {.form = Form::kSurface,
       .bytes = 64,
       .alignment = 64,
       .sampler_bytes = 32,
       .surface_table = true,
       .sampler_table = true,
       .bindless = true},
      {.form = Form::kSurfaceAndSampler, .bytes = 128, .alignment = 64, .bindless = true}}},
    Image("sampled image", Form::kHandles),
    Image("storage image", Form::kStorage),
    Image("uniform texel buffer", Form::kHandles),
    Image("storage texel buffer", Form::kStorage),
    ABuffer("uniform buffer"),
    ABuffer("storage buffer"),
    ADynamicBuffer("dynamic uniform buffer"),
    ADynamicBuffer("dynamic storage buffer"),
    Image("input attachment", Form::kHandles),
    {"inline uniform block", {kInline, kInline, kInline, kInline}},
    {"acceleration structure", {kData, kData, kData, kData}},
    {"mutable descriptor", {}},
};

constexpr const char* kModels[kDescriptorModels] = {"binding table", "indirect", "direct",
                                                    "descriptor buffer"};

static_assert(sizeof(HandlesRecord) == 8 && sizeof(StorageRecord) == 8 &&
              sizeof(AddressRecord) == 16);

}  // namespace

const char* NameOf(DescriptorType type) {
  return static_cast<unsigned>(type) < kDescriptorTypes ? kTypes[static_cast<unsigned>(type)].name
                                                        : "descriptor of no known type";
}

const char* NameOf(DescriptorModel model) {
  return static_cast<unsigned>(model) < kDescriptorModels ? kModels[static_cast<unsigned>(model)]
                                                          : "unknown";
}

DescriptorRecord RecordOf(DescriptorModel model, DescriptorType type) {
  const unsigned row = static_cast<unsigned>(type), column = static_cast<unsigned>(model);
  if (row >= kDescriptorTypes || column >= kDescriptorModels) return {};
  return kTypes[row].of[column];
}

uint32_t MostDescriptors(DescriptorModel model, DescriptorType type) {
  const DescriptorRecord record = RecordOf(model, type);
  if (type == DescriptorType::kInlineUniformBlock) return kMostInlineBytes;
  const bool direct = model == DescriptorModel::kDirect || model == DescriptorModel::kBuffer;
  uint64_t most = ~uint64_t{0};
  const auto room = [&](uint64_t heap, uint64_t bytes) {
    if (bytes != 0 && heap / bytes < most) most = heap / bytes;
  };
  room(direct ? kDirectHeap : kIndirectHeap, record.bytes);
  room(kDirectHeap, record.sampler_bytes);
  if (!record.bindless && record.surface_table) room(kMostTableSurfaces, 1);
  if (!record.bindless && record.sampler_table) room(kMostTableSamplers, 1);
  if (IsDynamic(type) && record.surface_table) room(kMostDynamicBuffers, 1);
  return most == ~uint64_t{0} ? 0 : static_cast<uint32_t>(most);
}

}  // namespace packsmith::intel
