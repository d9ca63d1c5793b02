// packet_payloads.h for one generation: the build instantiates it once for each.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_OF_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_OF_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/type_name.h"
#include "runtime/intel/pipeline/packet_payloads.h"
#include "runtime/intel/pipeline/payload_packets.h"

namespace packsmith::intel {

struct GenerationPayloads {
  const char* name;  // by the XML
  std::vector<KernelPayload> (*read)(const SeenPacket& work, absl::Span<const SeenPacket> state);
};

// The name that a description has for a packet: that of its type, but for what C++ does not allow.
template <class P>
absl::string_view DescribedName() {
  absl::string_view name = TypeNameIn(__PRETTY_FUNCTION__);
  name.remove_prefix(name.rfind(':') + 1);
  if (name.size() > 1 && name[0] == '_' && absl::ascii_isdigit(name[1])) name.remove_prefix(1);
  return name;
}

template <class Gen>
class PayloadReader {
  using G = typename Gen::Packets;
  // As 3DSTATE_CONSTANT_ALL has their bits.
  enum Stage { kVertex, kHull, kDomain, kGeometry, kPixel };

 public:
  static std::vector<KernelPayload> Read(const SeenPacket& work,
                                         absl::Span<const SeenPacket> state) {
    PayloadReader reader(work, state);
    reader.ReadDispatch();
    if (absl::StartsWith(work.name, "3DMESH")) {
      reader.ReadMeshes();
    } else if (absl::StartsWith(work.name, "3DPRIMITIVE") || work.name == "EXECUTE_INDIRECT_DRAW") {
      reader.ReadVertices();
    }
    return std::move(reader.kernels_);
  }

 private:
  PayloadReader(const SeenPacket& work, absl::Span<const SeenPacket> state)
      : work_(work), state_(state) {}

  void Add(absl::string_view stage, uint64_t kernel, absl::StatusOr<ThreadPayload> payload) {
    kernels_.push_back({stage, kernel, std::move(payload)});
  }
  // What is cut off is as if it were not there.
  template <class P>
  static std::optional<P> Whole(const SeenPacket& packet) {
    if (packet.dwords.size() < P::length) return std::nullopt;
    return P::unpack(packet.dwords.data());
  }
  template <class P>
  std::optional<P> Find() const {
    for (auto packet = state_.rbegin(); packet != state_.rend(); ++packet) {
      if (packet->name == DescribedName<P>()) return Whole<P>(*packet);
    }
    return std::nullopt;
  }

  // Push constants of a stage, which later generations set by packets of their own, or by one for
  // several stages.
  template <class Constants>
  PayloadInputs ConstantsOf(Stage stage) const {
    PayloadInputs inputs;
    for (const SeenPacket& packet : state_) {
      if (packet.name == DescribedName<Constants>()) {
        if (const auto own = Whole<Constants>(packet)) {
          inputs.constant_units = ReadConstantUnits(*own);
        }
      }
      if constexpr (requires { typename G::_3DSTATE_CONSTANT_ALL; }) {
        using All = typename G::_3DSTATE_CONSTANT_ALL;
        if (packet.name == DescribedName<All>()) ReadSharedConstants(packet, stage, inputs);
      }
    }
    return inputs;
  }
  static void ReadSharedConstants(const SeenPacket& packet, Stage stage, PayloadInputs& inputs) {
    using All = typename G::_3DSTATE_CONSTANT_ALL;
    using Buffer = typename All::ps_item;
    constexpr size_t kHeader = All::dwords_needed(0);
    if (packet.dwords.size() < kHeader) return;
    const All all = All::unpack(packet.dwords.data());
    if ((all.shader_update_enable >> stage & 1) == 0) return;
    inputs.constant_units = 0;
    for (size_t at = kHeader; at + Buffer::length <= packet.dwords.size(); at += Buffer::length) {
      inputs.constant_units += Buffer::unpack(&packet.dwords[at]).constant_buffer_read_length;
    }
  }

  // `read` makes a shader of the packet.
  template <class Packet, class Constants, class F>
  void ReadStage(absl::string_view stage, Stage number, F read) {
    const std::optional<Packet> packet = Find<Packet>();
    if (!packet || !IsOn(*packet)) return;
    const auto shader = read(*packet);
    if (absl::Status status = CheckDispatchMode(*packet); !status.ok()) {
      Add(stage, shader.entry.offset, std::move(status));
      return;
    }
    Add(stage, shader.entry.offset, PayloadOf(shader, Gen::kFacts, ConstantsOf<Constants>(number)));
  }
  void ReadVertices() {
    ReadStage<typename G::_3DSTATE_VS, typename G::_3DSTATE_CONSTANT_VS>(
        "vertex shader", kVertex, [](const auto& packet) { return ReadVertexShader<Gen>(packet); });
    ReadStage<typename G::_3DSTATE_HS, typename G::_3DSTATE_CONSTANT_HS>(
        "tessellation control shader", kHull,
        [](const auto& packet) { return ReadTessControl<Gen>(packet); });
    ReadStage<typename G::_3DSTATE_DS, typename G::_3DSTATE_CONSTANT_DS>(
        "tessellation evaluation shader", kDomain,
        [](const auto& packet) { return ReadTessEval<Gen>(packet); });
    ReadStage<typename G::_3DSTATE_GS, typename G::_3DSTATE_CONSTANT_GS>(
        "geometry shader", kGeometry,
        [](const auto& packet) { return ReadGeometryShader<Gen>(packet); });
    ReadFragments();
  }

  void ReadFragments() {
    constexpr absl::string_view kStage = "fragment shader";
    const auto packet = Find<typename G::_3DSTATE_PS>();
    const auto extra = Find<typename G::_3DSTATE_PS_EXTRA>();
    if (!packet || !extra || !extra->pixel_shader_valid) return;
    const auto windower = Find<typename G::_3DSTATE_WM>();
    const auto setup = Find<typename G::_3DSTATE_SBE>();
    if (!windower || !setup) {
      Add(kStage, packet->kernel_start_pointer_0,
          absl::NotFoundError(absl::StrCat("there is no ", windower ? "3DSTATE_SBE" : "3DSTATE_WM",
                                           " before the draw")));
      return;
    }
    const FragmentShader shader = ReadFragmentShader<Gen>(*packet, *extra, *windower, *setup);
    const PayloadInputs inputs = ConstantsOf<typename G::_3DSTATE_CONSTANT_PS>(kPixel);
    const std::pair<unsigned, const std::optional<ShaderEntry>*> kernels[] = {
        {8, &shader.simd8}, {16, &shader.simd16}, {32, &shader.simd32}};
    for (const auto& kernel : kernels) {
      if (!kernel.second->has_value()) continue;
      Add(kStage, (*kernel.second)->offset, PayloadOf(shader, kernel.first, Gen::kFacts, inputs));
    }
    if (shader.multi_polygon) {
      Add(kStage, shader.multi_polygon->entry.offset,
          MultiPolygonPayloadOf(shader, Gen::kFacts, inputs));
    }
  }

  void ReadMeshes() {
    if constexpr (requires { typename G::_3DSTATE_MESH_SHADER; }) {
      const auto add = [&](absl::string_view stage, const auto& shader) {
        const WorkgroupProgram group = ReadWorkgroup(shader);
        Add(stage, group.entry, PayloadOf(group, Gen::kFacts));
      };
      const auto tasks = Find<typename G::_3DSTATE_TASK_CONTROL>();
      const auto task = Find<typename G::_3DSTATE_TASK_SHADER>();
      if (tasks && task && tasks->taskshader_enable) add("task shader", *task);
      const auto meshes = Find<typename G::_3DSTATE_MESH_CONTROL>();
      const auto mesh = Find<typename G::_3DSTATE_MESH_SHADER>();
      if (meshes && mesh && meshes->meshshader_enable) add("mesh shader", *mesh);
      ReadFragments();
    }
  }

  void ReadDispatch() {
    const auto add = [&](const ComputeThreads& threads) {
      Add("compute shader", threads.kernel, PayloadOf(threads, Gen::kFacts));
    };
    if constexpr (requires { typename G::GPGPU_WALKER; }) {
      if (work_.name != DescribedName<typename G::GPGPU_WALKER>()) return;
      const auto walker = Whole<typename G::GPGPU_WALKER>(work_);
      if (!walker) return;
      const int64_t number = walker->interface_descriptor_offset;
      for (auto packet = state_.rbegin(); packet != state_.rend(); ++packet) {
        if (packet->name != DescribedName<typename G::INTERFACE_DESCRIPTOR_DATA>() ||
            std::max<int64_t>(packet->index, 0) != number)
          continue;
        const auto descriptor = Whole<typename G::INTERFACE_DESCRIPTOR_DATA>(*packet);
        if (!descriptor) break;
        add(ReadComputeThreads(*walker, *descriptor));
        return;
      }
      Add("compute shader", 0,
          absl::NotFoundError(
              absl::StrCat("there is no INTERFACE_DESCRIPTOR_DATA ", number, " in memory")));
    } else {
      if (work_.name == DescribedName<typename G::COMPUTE_WALKER>()) {
        if (const auto walker = Whole<typename G::COMPUTE_WALKER>(work_)) {
          add(ReadComputeThreads(walker->body));
        }
      }
      if constexpr (requires { typename G::EXECUTE_INDIRECT_DISPATCH; }) {
        if (work_.name != DescribedName<typename G::EXECUTE_INDIRECT_DISPATCH>()) return;
        if (const auto dispatch = Whole<typename G::EXECUTE_INDIRECT_DISPATCH>(work_)) {
          add(ReadComputeThreads(dispatch->compute_walker_body));
        }
      }
    }
  }

  const SeenPacket& work_;
  const absl::Span<const SeenPacket> state_;
  std::vector<KernelPayload> kernels_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_OF_H_
