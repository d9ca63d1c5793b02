// The vertices of real drivers' draws, held against a second computation, which reads packets by
// the manual's names and formats by theirs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "tests/sim/vertices/named_format.h"

namespace packsmith::sim {
namespace {

class DumpMemory : public MemoryAccess {
 public:
  explicit DumpMemory(const Memory& memory) : memory_(memory) {}
  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    return memory_.Copy(space, address, out);
  }
  size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t>) override { return 0; }

 private:
  const Memory& memory_;
};

struct NamedValue {
  uint64_t number = 0;
  std::string name;  // of the value
};
using NamedFields = std::map<std::string, NamedValue>;

NamedFields ReadFields(const tables::Tables& tables, const tables::Container& container,
                       absl::Span<const uint8_t> bytes) {
  NamedFields all;
  decode::ForEachField(tables, container, bytes, [&](const decode::FieldAt& at) {
    if (at.cut || at.width > 64) return;
    std::string name;
    decode::AppendFieldName(at.name, name);
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    all[name] = {decode::NumberOfBits(tables, *at.leaf, at.width, raw),
                 std::string(tables.ValueName(*at.leaf, raw))};
  });
  return all;
}

// The state by names.
class NamedState {
 public:
  void See(const std::string& packet, NamedFields fields) {
    if (packet == "3DSTATE_VERTEX_BUFFERS") {
      for (int i = 0;; ++i) {
        const std::string prefix = absl::StrCat("Vertex Buffer State[", i, "].");
        const auto slot = fields.find(prefix + "Vertex Buffer Index");
        if (slot == fields.end()) break;
        NamedFields& buffer = buffers_[slot->second.number];
        buffer.clear();
        for (const auto& [name, value] : fields) {
          if (absl::StartsWith(name, prefix)) buffer[name.substr(prefix.size())] = value;
        }
      }
    } else if (packet == "3DSTATE_VF_INSTANCING") {
      const uint64_t element = fields["Vertex Element Index"].number;
      steps_[element] = fields["Instancing Enable"].number != 0
                            ? std::optional<uint64_t>(fields["Instance Data Step Rate"].number)
                            : std::nullopt;
    }
    last_[packet] = std::move(fields);
  }

  uint64_t Number(const std::string& packet, const std::string& field) const {
    const auto fields = last_.find(packet);
    if (fields == last_.end()) return 0;
    const auto value = fields->second.find(field);
    return value == fields->second.end() ? 0 : value->second.number;
  }

  bool IsIndexed() const { return Number("3DPRIMITIVE", "Vertex Access Type") != 0; }

  // Empty: a restart.
  std::optional<uint32_t> Index(const Memory& memory, uint32_t number) const {
    if (!IsIndexed()) return number;
    const char* const packet = "3DSTATE_INDEX_BUFFER";
    const uint64_t begin = Number(packet, "Buffer Starting Address");
    uint64_t size = Number(packet, "Buffer Size");
    if (const uint64_t end = Number(packet, "Buffer Ending Address"); end != 0) {
      size = end + 1 - begin;
    }
    const uint64_t bytes = uint64_t{1} << Number(packet, "Index Format");
    const uint64_t at = (Number("3DPRIMITIVE", "Start Vertex Location") + number) * bytes;
    uint32_t index = 0;
    if (at + bytes <= size) {
      std::vector<uint8_t> read(bytes);
      memory.Copy(0, begin + at, absl::MakeSpan(read));
      for (uint64_t i = 0; i < bytes; ++i) index |= uint32_t{read[i]} << (8 * i);
    }
    const bool old_cut = Number(packet, "Cut Index Enable") != 0;
    if (old_cut && index == (bytes == 4 ? 0xffffffffu : (1u << 8 * bytes) - 1)) return std::nullopt;
    if (Number("3DSTATE_VF", "Indexed Draw Cut Index Enable") != 0 &&
        index == Number("3DSTATE_VF", "Cut Index")) {
      return std::nullopt;
    }
    return index;
  }

  // By dword.
  std::map<uint32_t, uint32_t> Vertex(const Memory& memory, uint32_t index,
                                      uint32_t instance) const {
    std::map<uint32_t, uint32_t> dwords;
    const NamedFields& elements = last_.at("3DSTATE_VERTEX_ELEMENTS");
    uint32_t at = 0;
    for (uint32_t i = 0;; ++i) {
      const auto field = [&](const std::string& name) -> NamedValue {
        const auto found = elements.find(absl::StrCat("Element[", i, "].", name));
        return found == elements.end() ? NamedValue{} : found->second;
      };
      if (field("Valid").number == 0) break;
      if (field("Edge Flag Enable").number != 0) continue;
      if (elements.count(absl::StrCat("Element[", i, "].Destination Element Offset")) != 0) {
        at = static_cast<uint32_t>(field("Destination Element Offset").number);
      }
      const auto parts = ReadFormatName(field("Source Element Format").name);
      for (uint32_t component = 0; component < 4; ++component) {
        const std::string control = field(absl::StrCat("Component ", component, " Control")).name;
        if (control == "NOSTORE") continue;
        uint32_t value = 0;
        if (control == "STORE_1_FP") value = 0x3f800000;
        if (control == "STORE_1_INT") value = 1;
        if (control == "STORE_VID") value = index;
        if (control == "STORE_IID") value = instance;
        if (control == "STORE_SRC") {
          value = Source(memory, i, field("Vertex Buffer Index").number,
                         field("Source Element Offset").number, *parts, component, index, instance);
        }
        for (const auto& [name, made] :
             std::map<std::string, uint32_t>{{"VertexID", index}, {"InstanceID", instance}}) {
          if (Number("3DSTATE_VF_SGVS", name + " Enable") != 0 &&
              Number("3DSTATE_VF_SGVS", name + " Element Offset") == i &&
              Number("3DSTATE_VF_SGVS", name + " Component Number") == component) {
            value = made;
          }
        }
        // What only Gfx11 and later have is not repeated here.
        if (Number("3DSTATE_VF_SGVS_2", "XP0 Enable") + Number("3DSTATE_VF_SGVS_2", "XP1 Enable") +
                Number("3DSTATE_VF_SGVS_2", "XP2 Enable") !=
            0) {
          return {};
        }
        dwords[at++] = value;
      }
    }
    return dwords;
  }

 private:
  uint32_t Source(const Memory& memory, uint32_t element, uint64_t slot, uint64_t offset,
                  const std::vector<NamedComponent>& parts, uint32_t component, uint32_t index,
                  uint32_t instance) const {
    const NamedComponent* part = nullptr;
    uint32_t bits = 0;
    for (const NamedComponent& one : parts) {
      bits += one.width;
      if (one.letter == "RGBA"[component]) part = &one;
    }
    if (part == nullptr) {
      const bool is_integer = parts[0].type == "UINT" || parts[0].type == "SINT";
      return component < 3 ? 0 : is_integer ? 1 : 0x3f800000;
    }
    const auto found = buffers_.find(slot);
    if (found == buffers_.end()) return NaiveComponent(*part, std::vector<uint8_t>(bits / 8));
    const NamedFields& buffer = found->second;
    const auto number = [&](const char* name) -> uint64_t {
      const auto value = buffer.find(name);
      return value == buffer.end() ? 0 : value->second.number;
    };
    uint32_t row =
        IsIndexed() ? index + static_cast<uint32_t>(Number("3DPRIMITIVE", "Base Vertex Location"))
                    : index + static_cast<uint32_t>(Number("3DPRIMITIVE", "Start Vertex Location"));
    std::optional<uint64_t> step;
    if (const auto known = steps_.find(element); known != steps_.end()) step = known->second;
    if (number("Buffer Access Type") != 0) step = number("Instance Data Step Rate");
    if (step) {
      row = static_cast<uint32_t>(Number("3DPRIMITIVE", "Start Instance Location") +
                                  (*step == 0 ? 0 : instance / *step));
    }
    const uint64_t begin = number("Buffer Starting Address");
    uint64_t size = number("Buffer Size");
    if (buffer.count("End Address") != 0) size = number("End Address") + 1 - begin;
    if (buffer.count("Max Index") != 0) {
      const bool inside = number("Max Index") == 0 || row <= number("Max Index");
      size = inside ? ~uint64_t{0} : 0;
    }
    const uint64_t at = row * number("Buffer Pitch") + offset;
    std::vector<uint8_t> bytes(bits / 8);
    if (number("Null Vertex Buffer") == 0 && at + bytes.size() <= size) {
      std::vector<uint8_t> read(bytes.size());
      if (memory.Copy(0, begin + at, absl::MakeSpan(read)) == read.size()) bytes = read;
    }
    return NaiveComponent(*part, bytes);
  }

  std::map<std::string, NamedFields> last_;
  std::map<uint64_t, NamedFields> buffers_;
  std::map<uint64_t, std::optional<uint64_t>> steps_;
};

struct Counts {
  int draws = 0;
  int indexed = 0;
  int instanced = 0;
  int vertices = 0;
  int dwords = 0;
  int primitives = 0;
  int outside = 0;
};

class Comparison : public decode::Sink {
 public:
  Comparison(const tables::Tables& tables, std::string name)
      : tables_(tables), name_(std::move(name)), description_(tables), state_(description_) {}

  void Begin(const Memory& memory) { memory_ = &memory; }
  const Counts& counts() const { return counts_; }

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.type != decode::RecordType::kPacket || record.container == nullptr) return;
    state_.See(*record.container, record.bytes, record.space);
    if (description_.Changes(*record.container) || record.container->draw != tables::kNone) {
      named_.See(std::string(record.name), ReadFields(tables_, *record.container, record.bytes));
    }
    if (record.container->draw != tables::kNone) Compare(record);
  }

 private:
  void Compare(const decode::Record& record) {
    const absl::StatusOr<VertexDraw> draw =
        state_.Draw(*record.container, record.bytes, {}, record.space);
    ASSERT_TRUE(draw.ok()) << name_ << ": " << draw.status();
    const DumpMemory memory(*memory_);
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, *draw);
    ASSERT_TRUE(fetch.ok()) << name_ << ": " << fetch.status();
    ++counts_.draws;
    counts_.indexed += draw->indexed ? 1 : 0;
    counts_.instanced += draw->instance_count > 1 ? 1 : 0;
    EXPECT_EQ(draw->indexed, named_.IsIndexed());
    EXPECT_EQ(draw->vertex_count, named_.Number("3DPRIMITIVE", "Vertex Count Per Instance"));
    VertexWalk walk(*fetch);
    for (int i = 0; i < 300 && walk.Next(); ++i) {
      const Vertex& vertex = walk.vertex();
      const std::optional<uint32_t> index = named_.Index(*memory_, vertex.number);
      ASSERT_EQ(vertex.index.restart, !index) << name_;
      if (!index) continue;
      fetch->Fetch(vertex);
      const std::map<uint32_t, uint32_t> expected =
          named_.Vertex(*memory_, *index, vertex.instance);
      for (const auto& [dword, value] : expected) {
        ASSERT_LT(dword, fetch->vue().size()) << name_;
        ASSERT_EQ(fetch->vue()[dword], value)
            << name_ << " at " << record.address << ", instance " << vertex.instance << ", vertex "
            << vertex.number << ", dword " << dword;
        ++counts_.dwords;
      }
      ++counts_.vertices;
    }
    counts_.outside += static_cast<int>(fetch->problems().elements_outside);
    PrimitiveWalk primitives(*fetch, 100000);
    while (primitives.Next() != nullptr) ++counts_.primitives;
  }

  const tables::Tables& tables_;
  const std::string name_;
  VertexDescription description_;
  VertexState state_;
  NamedState named_;
  const Memory* memory_ = nullptr;
  Counts counts_;
};

Counts Compared(const std::string& name, int files) {
  std::optional<Comparison> comparison;
  // Contexts persist from one submission to the next.
  std::optional<tables::Tables> tables;
  for (int i = 0; i < files; ++i) {
    const std::string path = absl::StrCat("tests/data/captures/", name, "/0", i, ".core.zst");
    const absl::StatusOr<Dump> dump = ReadDump(path);
    if (!dump.ok()) {
      ADD_FAILURE() << path << ": " << dump.status();
      return {};
    }
    if (!comparison) {
      const absl::StatusOr<tables::Tables> found = FindGeneration(dump->device.generation);
      if (!found.ok()) {
        ADD_FAILURE() << path << ": " << found.status();
        return {};
      }
      tables = *found;
      comparison.emplace(*tables, name);
    }
    comparison->Begin(dump->memory);
    decode::Decoder decoder(*tables, *comparison, {.follow = decode::Follow::kBatches});
    decoder.Decode(*dump);
  }
  return comparison ? comparison->counts() : Counts{};
}

TEST(Captures, VerticesAreThoseOfASecondComputation) {
  const std::pair<const char*, int> all[] = {
      {"i965-gl-basic", 3}, {"ilk-gl-basic", 3}, {"snb-gl-basic", 3}, {"ivb-gl-basic", 4},
      {"skl-gl-basic", 5},  {"icl-gl-basic", 5}, {"tgl-gl-basic", 5}, {"dg2-gl-basic", 5},
  };
  Counts sum;
  for (const auto& [name, files] : all) {
    const Counts one = Compared(name, files);
    EXPECT_GT(one.draws, 0) << name;
    EXPECT_GT(one.dwords, 0) << name;
    EXPECT_GT(one.primitives, 0) << name;
    EXPECT_EQ(one.outside, 0) << name << ": drivers' draws stay in their buffers";
    RecordProperty(name, absl::StrCat(one.draws, " draws, ", one.vertices, " vertices, ",
                                      one.primitives, " primitives, ", one.outside, " outside"));
    sum.indexed += one.indexed;
    sum.instanced += one.instanced;
  }
  EXPECT_GT(sum.indexed, 0);
}

}  // namespace
}  // namespace packsmith::sim
