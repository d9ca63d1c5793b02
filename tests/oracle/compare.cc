#include "tests/oracle/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/oracle/records.h"

namespace packsmith {
namespace {

constexpr char kNothing[] = "(nothing)";

// Names of the rules, so that a misspelt one does not compile.
constexpr char kExtendedPrimitive[] = "primitive-shown-as-extended";
constexpr char kUnsignedInt[] = "signed-shown-unsigned";
constexpr char kFirstRegisterOnly[] = "first-register-value-for-all";
constexpr char kLowDwordOnly[] = "wide-integer-cut-to-32-bits";
constexpr char kReadsPastEnd[] = "reads-past-packet";
constexpr char kFixedCount[] = "fixed-number-of-structures";
constexpr char kFixedTable[] = "binding-table-of-32";
constexpr char kInvalidPointer[] = "follows-invalid-pointer";
constexpr char kGfx4BatchEnd[] = "gfx4-batch-end-unknown";
constexpr char kWalksOn[] = "walks-past-batch-end";
constexpr char kGfx8Registers[] = "gfx8-register-pairs-misplaced";
constexpr char kMustBeZero[] = "must-be-zero-shown";
constexpr char kMustBeOne[] = "must-be-one-shown";
constexpr char kOtherDrivers[] = "field-of-other-drivers";
constexpr char kFormatName[] = "format-name";
constexpr char kCanonicalAddress[] = "address-sign-extended";
constexpr char kEncoded[] = "encoded-value";
constexpr char kBoolAsNumber[] = "bool-as-number";

constexpr CompareRule kRules[] = {
    {kExtendedPrimitive, RuleKind::kDefect,
     "bit 11, which tells 3DPRIMITIVE from 3DPRIMITIVE_EXTENDED, is not in its opcode mask",
     "icl-gl-basic tgl-gl-basic dg2-gl-basic dg2-gl-compute"},
    {kUnsignedInt, RuleKind::kDefect, "signed integers are printed without their sign", ""},
    {kFirstRegisterOnly, RuleKind::kDefect,
     "MI_LOAD_REGISTER_IMM of several registers: each is shown with the first one's value", ""},
    {kLowDwordOnly, RuleKind::kDefect, "integers of more than 32 bits are cut to 32 for printing",
     "hsw-vk-compute"},
    {kReadsPastEnd, RuleKind::kDefect,
     "a field that lies beyond the packet's end is read all the same, with the dwords it needs",
     "hsw-vk-compute bdw-vk-compute tgl-gl-basic dg2-gl-basic tgl-gl-compute "
     "dg2-gl-compute"},
    {kFixedCount, RuleKind::kDefect,
     "a fixed number of structures is shown, however many the state says there are",
     "skl-gl-basic ivb-gl-basic hsw-vk-compute bdw-vk-compute icl-gl-basic tgl-gl-basic "
     "dg2-gl-basic dg2-gl-compute"},
    {kFixedTable, RuleKind::kDefect,
     "32 binding table entries are shown where the packet does not say how many there are",
     "skl-gl-basic i965-gl-basic ilk-gl-basic snb-gl-basic ivb-gl-basic hsw-vk-compute "
     "bdw-vk-compute icl-gl-basic tgl-gl-basic dg2-gl-basic dg2-gl-compute"},
    {kInvalidPointer, RuleKind::kDefect, "a pointer is followed though its valid bit is clear",
     "skl-gl-basic i965-gl-basic ilk-gl-basic snb-gl-basic bdw-vk-compute "
     "skl-gl-compute"},
    {kGfx4BatchEnd, RuleKind::kDefect, "MI_BATCH_BUFFER_END is missing in its tables before Gfx6",
     "i965-gl-basic ilk-gl-basic"},
    {kWalksOn, RuleKind::kDefect, "what follows a batch's end that it did not know",
     "i965-gl-basic ilk-gl-basic"},
    {kGfx8Registers, RuleKind::kDefect,
     "Gfx8's table begins the further registers of MI_LOAD_REGISTER_IMM a dword early, on the "
     "first "
     "one's value",
     "bdw-vk-compute"},
    {kMustBeZero, RuleKind::kOmission,
     "must-be-zero fields are in the records only when they are wrong, as faults",
     "skl-gl-basic bdw-vk-compute icl-gl-basic tgl-gl-basic dg2-gl-basic dg2-gl-compute"},
    {kMustBeOne, RuleKind::kOmission,
     "must-be-one bits are in the records only when they are wrong, as faults; the oracle shows "
     "them with a value that is not theirs",
     "ivb-gl-basic hsw-vk-compute"},
    {kOtherDrivers, RuleKind::kOmission,
     "the oracle's tables leave out fields that Intel's compute and media drivers define",
     "bdw-vk-compute skl-gl-basic skl-vulkaninfo icl-gl-basic tgl-gl-basic dg2-gl-basic "
     "skl-gl-compute icl-gl-compute tgl-gl-compute dg2-gl-compute"},
    {kFormatName, RuleKind::kOmission,
     "names of surface formats come from another library than the oracle's tables", ""},
    {kCanonicalAddress, RuleKind::kNotation,
     "records hold 48 address bits, the oracle whatever the 64 bits are",
     "skl-gl-basic bdw-vk-compute icl-gl-basic tgl-gl-basic dg2-gl-basic skl-gl-compute "
     "icl-gl-compute tgl-gl-compute dg2-gl-compute"},
    {kEncoded, RuleKind::kNotation,
     "the record has the decoded value and, as `raw`, the bits that the oracle shows", ""},
    {kBoolAsNumber, RuleKind::kNotation, "one bit, a bool to one and a number to the other", ""},
};

// Fields that the oracle's tables give as must-be-zero and print.
struct NamedField {
  const char* item;
  const char* field;
};
constexpr NamedField kMustBeZeroFields[] = {
    {"3DSTATE_PS_EXTRA", "Pixel Shader Does not write to RT"},
    {"3DSTATE_CONSTANT_VS", "MOCS"},
    {"3DSTATE_CONSTANT_HS", "MOCS"},
    {"3DSTATE_CONSTANT_DS", "MOCS"},
    {"3DSTATE_CONSTANT_GS", "MOCS"},
    {"3DSTATE_CONSTANT_PS", "MOCS"},
};

// Likewise for must-be-one; those of Gfx7 have no name.
constexpr NamedField kMustBeOneFields[] = {
    {"3DSTATE_BLEND_STATE_POINTERS", ""},
    {"3DSTATE_CC_STATE_POINTERS", ""},
    {"3DSTATE_DEPTH_STENCIL_STATE_POINTERS", ""},
    {"3DSTATE_GATHER_POOL_ALLOC", ""},
    {"3DSTATE_3D_MODE", "Mask"},
};

// Fields that its tables leave out and drivers other than Mesa's define.
constexpr NamedField kOtherDriversFields[] = {
    {"3DSTATE_BTD", "Per Thread Scratch Space"},
    {"CFE_STATE", "Compute Dispatch All walker Enable"},
    {"CFE_STATE", "Compute Overdispatch Disable"},
    {"CFE_STATE", "Debug Counter Control"},
    {"CFE_STATE", "Debug Object ID"},
    {"CFE_STATE", "Large GRF Thread Adjust Disable"},
    {"CFE_STATE", "Resume Indicator Debugkey"},
    {"CFE_STATE", "Stop And Drain Timer Enable"},
    {"CFE_STATE", "Stop And Drain Timer"},
    {"CFE_STATE", "Walker Number Debugkey"},
    {"COMPUTE_WALKER", "Dispatch Complete"},
    {"COMPUTE_WALKER", "UAV Consumer"},
    {"COMPUTE_WALKER", "UAV Producer"},
    {"COMPUTE_WALKER", "UAV Wait To Produce"},
    {"COMPUTE_WALKER", "body.Compute Dispatch All walker Enable"},
    {"COMPUTE_WALKER", "body.Debug Object ID"},
    {"COMPUTE_WALKER", "body.Dispatch Walk Order"},
    {"COMPUTE_WALKER", "body.Partition Dispatch Parameter"},
    {"COMPUTE_WALKER", "body.Post Sync.Dataport Subslice Cache Flush"},
    {"COMPUTE_WALKER", "body.Post Sync.System Memory Fence Request"},
    {"INTERFACE_DESCRIPTOR_DATA", "Mask Stack Exception Enable"},
    {"INTERFACE_DESCRIPTOR_DATA", "Over Dispatch Control"},
    {"INTERFACE_DESCRIPTOR_DATA", "Thread Preemption Disable"},
    {"MEDIA_VFE_STATE", "Disable Slice 0 Subslice 2"},
    {"MEDIA_VFE_STATE", "Fused EU Dispatch"},
    {"MI_ATOMIC", "Workload Partition ID Offset Enable"},
    {"MI_BATCH_BUFFER_END", "Predicate Enable"},
    {"MI_BATCH_BUFFER_START", "Add Offset Enable"},
    {"MI_BATCH_BUFFER_START", "Enable Command Cache"},
    {"MI_BATCH_BUFFER_START", "Indirect Address Enable"},
    {"MI_BATCH_BUFFER_START", "POSH Enable"},
    {"MI_BATCH_BUFFER_START", "POSH Start"},
    {"MI_CONDITIONAL_BATCH_BUFFER_END", "Compare Buffer Encrypted Memory Read Enable"},
    {"MI_CONDITIONAL_BATCH_BUFFER_END", "Compare Operation"},
    {"MI_CONDITIONAL_BATCH_BUFFER_END", "End Current Batch Buffer Level"},
    {"MI_CONDITIONAL_BATCH_BUFFER_END", "Predicate Enable"},
    {"MI_COPY_MEM_MEM", "MOCS Enable"},
    {"MI_COPY_MEM_MEM", "MOCS Index For Read"},
    {"MI_COPY_MEM_MEM", "MOCS Index For Write"},
    {"MI_FLUSH_DW", "Flush PPC"},
    {"MI_LOAD_REGISTER_IMM", "Force Posted"},
    {"MI_LOAD_REGISTER_IMM", "MMIO Remap Enable"},
    {"MI_LOAD_REGISTER_MEM", "MMIO Remap Enable"},
    {"MI_LOAD_REGISTER_MEM", "MOCS Enable"},
    {"MI_LOAD_REGISTER_MEM", "MOCS"},
    {"MI_LOAD_REGISTER_MEM", "Workload Partition ID Offset Enable"},
    {"MI_LOAD_REGISTER_REG", "MMIO Remap Enable Destination"},
    {"MI_LOAD_REGISTER_REG", "MMIO Remap Enable Source"},
    {"MI_SEMAPHORE_WAIT", "Semaphore Wait Context Switch Mode"},
    {"MI_SET_PREDICATE", "Predicate Enable WPARID"},
    {"MI_STORE_DATA_IMM", "MOCS Enable"},
    {"MI_STORE_DATA_IMM", "MOCS"},
    {"MI_STORE_DATA_IMM", "Workload Partition ID Offset Enable"},
    {"MI_STORE_REGISTER_MEM", "MMIO Remap Enable"},
    {"MI_STORE_REGISTER_MEM", "MOCS Enable"},
    {"MI_STORE_REGISTER_MEM", "MOCS Index"},
    {"MI_STORE_REGISTER_MEM", "Workload Partition ID Offset Enable"},
    {"PIPELINE_SELECT", "Enable Compute To 3D Performance Mode"},
    {"PIPELINE_SELECT", "Media Sampler Power Clock Gate Disable"},
    {"PIPELINE_SELECT", "Render Sampler Power Gate Enable"},
    {"PIPELINE_SELECT", "Render Slice Common Power Gate Enable"},
    {"PIPELINE_SELECT", "Special Mode Enable"},
    {"PIPE_CONTROL", "AMFS Flush Enable"},
    {"PIPE_CONTROL", "Flush EU Stall Buffer"},
    {"PIPE_CONTROL", "Post Sync Operation L3 Cacheability Control"},
    {"PIPE_CONTROL", "Predicate Enable"},
    {"PIPE_CONTROL", "Protected Memory Application ID"},
    {"PIPE_CONTROL", "Protected Memory Disable"},
    {"PIPE_CONTROL", "TBIMR Force Batch Closure"},
    {"PIPE_CONTROL", "Tile Cache Flush Enable"},
    {"PIPE_CONTROL", "Workload Partition ID Offset Enable"},
    {"RENDER_SURFACE_STATE", "Coherency Type"},
    {"RENDER_SURFACE_STATE", "Corner Texel Mode"},
    {"RENDER_SURFACE_STATE", "Disable Support For Multi GPU Atomics"},
    {"RENDER_SURFACE_STATE", "Disable Support For Multi GPU Partial Writes"},
    {"RENDER_SURFACE_STATE", "Disallow Low Quality Filtering"},
    {"RENDER_SURFACE_STATE", "Quilt Height"},
    {"RENDER_SURFACE_STATE", "Quilt Width"},
    {"RENDER_SURFACE_STATE", "Sample Tap Discard Disable"},
    {"RENDER_SURFACE_STATE", "Separate UV Plane Enable"},
    {"RENDER_SURFACE_STATE", "Standard Tiling Mode Extensions"},
    {"RENDER_SURFACE_STATE", "YUV Interpolation Enable"},
    {"STATE_BASE_ADDRESS", "Coherency Setting Modify Enable"},
    {"STATE_BASE_ADDRESS", "Disable Support For Multi GPU Atomics For Stateless Accesses"},
    {"STATE_BASE_ADDRESS", "Disable Support For Multi GPU Partial Writes For Stateless Messages"},
    {"STATE_BASE_ADDRESS", "Enable Memory Compression For All Stateless Accesses"},
};

bool OracleInteger(absl::string_view text, uint64_t* value) {
  if (absl::ConsumePrefix(&text, "0x")) return absl::SimpleHexAtoi(text, value);
  if (absl::SimpleAtoi(text, value)) return true;
  int64_t negative = 0;
  if (!absl::SimpleAtoi(text, &negative)) return false;
  *value = static_cast<uint64_t>(negative);
  return true;
}

bool IsReal(absl::string_view text) {
  return absl::StrContains(text, '.') || absl::StrContains(text, "nan") ||
         absl::StrContains(text, "inf");
}

// The rule that makes two values equal, "" if they are equal without one, null if they differ.
const char* CompareValues(const OracleField& oracle, const RecordField& record) {
  const RecordValue& value = record.value;
  if (oracle.value == "true" || oracle.value == "false") {
    const uint64_t expected = oracle.value == "true" ? 1 : 0;
    if (value.kind == RecordValue::Kind::kBool) return value.bits == expected ? "" : nullptr;
    if (value.kind == RecordValue::Kind::kInteger && value.bits == expected) return kBoolAsNumber;
    return nullptr;
  }
  if (IsReal(oracle.value)) {
    // JSON has no infinities: the bits identify the value. The oracle prints the sign of a NaN.
    if (absl::StrContains(oracle.value, "nan") || absl::StrContains(oracle.value, "inf")) {
      if (!record.raw.has_value()) return nullptr;
      const uint32_t bits = static_cast<uint32_t>(*record.raw);
      float real;
      std::memcpy(&real, &bits, sizeof real);
      const bool negative = std::signbit(real);
      const bool same_sign = absl::StartsWith(oracle.value, "-") == negative;
      const bool nan = absl::StrContains(oracle.value, "nan");
      return same_sign && (nan ? std::isnan(real) : std::isinf(real)) ? "" : nullptr;
    }
    if (value.kind != RecordValue::Kind::kReal && value.kind != RecordValue::Kind::kInteger) {
      return nullptr;
    }
    if (oracle.value == absl::StrFormat("%f", value.real)) return "";
    // The shortest decimal that gives back a float is not the float.
    if (oracle.value == absl::StrFormat("%f", static_cast<float>(value.real))) return "";
    return nullptr;
  }
  uint64_t expected = 0;
  if (!OracleInteger(oracle.value, &expected)) return nullptr;
  const int width = record.high_bit >= 0 ? record.high_bit - record.low_bit + 1 : 64;
  switch (value.kind) {
    case RecordValue::Kind::kBool:
      if (value.bits == expected) return kBoolAsNumber;
      break;
    case RecordValue::Kind::kInteger:
      if (value.bits == expected) return "";
      if (value.negative) {
        const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
        if ((value.bits & mask) == expected || (value.bits & 0xffffffff) == expected) {
          return kUnsignedInt;
        }
      }
      break;
    case RecordValue::Kind::kText:
      if (!value.is_hex) break;
      if (value.bits == expected) return "";
      if (absl::StartsWith(oracle.value, "0x")) {
        constexpr uint64_t kMask48 = (uint64_t{1} << 48) - 1;
        if (width > 32 && value.bits == (expected & kMask48)) return kCanonicalAddress;
      } else if (width > 32 && (value.bits & 0xffffffff) == expected) {
        return kLowDwordOnly;
      }
      break;
    case RecordValue::Kind::kReal:
    case RecordValue::Kind::kNone:
      break;
  }
  // An address has `raw` too where 48 bits are not all of it; that does not excuse its value.
  if (record.raw.has_value() && *record.raw == expected && !absl::StartsWith(oracle.value, "0x")) {
    return kEncoded;
  }
  return nullptr;
}

std::string Show(absl::string_view value, absl::string_view enum_name) {
  return enum_name.empty() ? std::string(value) : absl::StrCat(value, " (", enum_name, ")");
}

class Comparison {
 public:
  Comparison(const Oracle& oracle, const std::vector<Record>& records)
      : oracle_(oracle), records_(records), seen_(records.size()), matched_(records.size()) {
    for (const CompareRule& rule : kRules) result_.rules[rule.name] = 0;
  }

  CompareResult Run() {
    for (size_t r = 0; r < records_.size(); ++r) seen_[r].resize(records_[r].fields.size());
    for (const Record& record : records_) {
      if (record.type == "unknown") ++result_.unknown_records;
      for (const RecordFault& fault : record.faults) ++result_.faults[fault.kind];
    }
    int submissions = 0;
    for (const Record& record : records_)
      submissions = std::max(submissions, record.submission + 1);
    result_.batches = static_cast<int64_t>(oracle_.batches.size());
    for (size_t b = 0; b < oracle_.batches.size(); ++b) {
      batch_ = &oracle_.batches[b];
      Batch(static_cast<int>(b));
    }
    for (int s = static_cast<int>(oracle_.batches.size()); s < submissions; ++s) {
      CompareMismatch mismatch;
      mismatch.batch = s;
      mismatch.item = "submission";
      mismatch.oracle = kNothing;
      mismatch.record = absl::StrCat("submission ", s);
      Add(std::move(mismatch));
    }
    return std::move(result_);
  }

 private:
  // Records that hang off one packet.
  using Children = std::vector<int>;

  static bool IsStream(const Record& record) {
    return record.type == "packet" || record.type == "unknown";
  }

  void Add(CompareMismatch mismatch) {
    ++result_.mismatch_count;
    if (result_.mismatches.size() < CompareResult::kMaxMismatches) {
      result_.mismatches.push_back(std::move(mismatch));
    }
  }

  void Mismatch(const OracleItem* item, const Record* record, absl::string_view field,
                std::string oracle, std::string in_record) {
    CompareMismatch mismatch;
    mismatch.batch = batch_->number;
    mismatch.oracle_line = item != nullptr ? item->line : 0;
    if (item != nullptr && item->has_address) {
      mismatch.address = item->address;
    } else if (record != nullptr) {
      mismatch.address = record->address;
    }
    mismatch.item = item != nullptr ? std::string(item->name) : record->name;
    if (item != nullptr && item->index >= 0) absl::StrAppend(&mismatch.item, " ", item->index);
    mismatch.field = std::string(field);
    mismatch.oracle = std::move(oracle);
    mismatch.record = std::move(in_record);
    Add(std::move(mismatch));
  }

  void Use(const char* rule) { ++result_.rules[rule]; }

  void Batch(int number) {
    // Positions of the commands on both sides.
    std::vector<int> theirs, ours;
    for (size_t i = 0; i < batch_->items.size(); ++i) {
      const OracleItem& item = batch_->items[i];
      if (item.kind == OracleKind::kPacket) ++result_.oracle_packets;
      for (const OracleField& field : item.fields) {
        if (field.struct_name.empty() && item.kind != OracleKind::kPointerTable &&
            item.kind != OracleKind::kData) {
          ++result_.oracle_fields;
        }
      }
      if (item.kind == OracleKind::kPacket || item.kind == OracleKind::kUnknown) {
        theirs.push_back(static_cast<int>(i));
      }
    }
    children_.clear();
    by_place_.clear();
    first_record_ = -1;
    last_record_ = -1;
    for (size_t r = 0; r < records_.size(); ++r) {
      if (records_[r].submission != number) continue;
      if (first_record_ < 0) first_record_ = static_cast<int>(r);
      last_record_ = static_cast<int>(r);
      if (IsStream(records_[r])) {
        ours.push_back(static_cast<int>(r));
      } else if (records_[r].type == "struct" || records_[r].type == "data") {
        children_[PacketOf(static_cast<int>(r))].push_back(static_cast<int>(r));
        if (records_[r].has_address) by_place_[records_[r].address].push_back(static_cast<int>(r));
      }
    }
    packet_records_.assign(batch_->items.size(), -1);
    Align(theirs, ours);
    for (size_t i = 0; i < batch_->items.size(); ++i) Item(static_cast<int>(i));
    Leftovers();
  }

  // The packet that a record was reached from, -1 if none.
  int PacketOf(int record) const {
    // Parents precede their children, so this ends.
    for (int r = records_[record].parent; r >= 0 && r < record; r = records_[r].parent) {
      if (records_[r].type == "packet") return r;
      record = r;
    }
    return -1;
  }

  // Pairs the commands by address, in order. Where the two sides part, the shorter skip wins.
  void Align(const std::vector<int>& theirs, const std::vector<int>& ours) {
    size_t t = 0, o = 0;
    while (t < theirs.size() || o < ours.size()) {
      if (t < theirs.size() && o < ours.size()) {
        const uint64_t address = batch_->items[theirs[t]].address;
        if (address == records_[ours[o]].address) {
          Pair(theirs[t++], ours[o++]);
          continue;
        }
        size_t skip_ours = o, skip_theirs = t;
        while (skip_ours < ours.size() && records_[ours[skip_ours]].address != address) ++skip_ours;
        while (skip_theirs < theirs.size() &&
               batch_->items[theirs[skip_theirs]].address != records_[ours[o]].address) {
          ++skip_theirs;
        }
        const bool ours_meets = skip_ours < ours.size();
        const bool theirs_meets = skip_theirs < theirs.size();
        if (ours_meets && (!theirs_meets || skip_ours - o <= skip_theirs - t)) {
          while (o < skip_ours) Extra(ours[o++]);
        } else if (theirs_meets) {
          while (t < skip_theirs) Missing(theirs[t++]);
        } else {
          Missing(theirs[t++]);
          Extra(ours[o++]);
        }
        continue;
      }
      if (t < theirs.size()) {
        Missing(theirs[t++]);
      } else {
        Extra(ours[o++]);
      }
    }
  }

  void Missing(int item_number) {
    const OracleItem& item = batch_->items[item_number];
    if (item.kind == OracleKind::kUnknown && item_number > 0) {
      // The oracle did not see the end of the batch, or it is past that already.
      const OracleItem& before = batch_->items[item_number - 1];
      if (before.kind == OracleKind::kUnknown && past_end_ == item_number - 1) {
        past_end_ = item_number;
        Use(kWalksOn);
        return;
      }
    }
    Mismatch(&item, nullptr, "", std::string(item.name), kNothing);
  }

  void Extra(int record) {
    const Record& r = records_[record];
    Mismatch(nullptr, &r, "", kNothing, r.type == "unknown" ? "unknown dwords" : r.name);
    matched_[record] = kReported;
  }

  void Pair(int item_number, int record) {
    const OracleItem& item = batch_->items[item_number];
    const Record& r = records_[record];
    if (item.kind == OracleKind::kUnknown) {
      if (r.type == "unknown") {
        ++result_.not_compared["dwords unknown to both"];
        return;
      }
      if (item.heading_value == 0x05000000 && r.name == "MI_BATCH_BUFFER_END") {
        Use(kGfx4BatchEnd);
        past_end_ = item_number;
        return;
      }
      Mismatch(&item, &r, "", std::string(item.name), r.name);
      return;
    }
    if (r.type == "unknown") {
      Mismatch(&item, &r, "", std::string(item.name), "unknown dwords");
      return;
    }
    if (item.name != r.name) {
      const bool extended = item.name == "3DPRIMITIVE_EXTENDED" && r.name == "3DPRIMITIVE" &&
                            !item.dwords.empty() && (item.dwords[0] >> 11 & 1) == 0;
      if (!extended) {
        Mismatch(&item, &r, "", std::string(item.name), r.name);
        return;
      }
      Use(kExtendedPrimitive);
    }
    packet_records_[item_number] = record;
    ++result_.packets_compared;
    Fields(item, record, 0, "");
  }

  void Item(int item_number) {
    const OracleItem& item = batch_->items[item_number];
    const int packet = item.packet >= 0 ? packet_records_[item.packet] : -1;
    switch (item.kind) {
      case OracleKind::kPacket:
        last_packets_[item.name] = &item;
        return;
      case OracleKind::kUnknown:
        return;
      case OracleKind::kStruct:
        return Struct(item, packet);
      case OracleKind::kRegister:
        return Register(item, packet);
      case OracleKind::kPointerTable:
        return PointerTable(item, packet);
      case OracleKind::kUnavailable:
        return Unavailable(item, packet);
      case OracleKind::kData:
        return Data(item_number, packet);
      case OracleKind::kReference:
        ++result_.not_compared[absl::StrCat(OracleKindName(item.kind), ": ", item.name)];
        return;
    }
  }

  const Children& ChildrenOf(int packet) const {
    static const Children* const kNone = new Children;
    const auto it = children_.find(packet);
    return it == children_.end() ? *kNone : it->second;
  }

  // The value of a record's field, as a number.
  static std::optional<uint64_t> ValueOf(const Record& record, absl::string_view name) {
    for (const RecordField& field : record.fields) {
      if (field.name == name) return field.value.bits;
    }
    return std::nullopt;
  }

  static bool SameStruct(const OracleItem& item, const Record& record) {
    if (record.type != "struct" || !record.has_address || record.address != item.address) {
      return false;
    }
    if (!item.name.empty()) return item.name == record.name;
    // Without a heading, its fields identify it.
    return item.fields.empty() || ValueOf(record, item.fields[0].name).has_value();
  }

  // A structure inside a larger one: the name of the repetition's item, "Entry[3].", that lies at
  // the oracle's address in `record`; empty if none does.
  static std::string Inner(const OracleItem& item, const Record& record) {
    if (record.type != "struct" || !record.has_address || record.address > item.address ||
        item.index < 0) {
      return "";
    }
    if (item.address - record.address > (1 << 20)) return "";
    const int low = static_cast<int>(item.address - record.address) * 8;
    const int high = low + static_cast<int>(item.dwords.size()) * 32 - 1;
    const std::string suffix = absl::StrCat("[", item.index, "].");
    for (const RecordField& field : record.fields) {
      if (field.low_bit < low || field.low_bit > high) continue;
      const size_t at = field.name.find(suffix);
      if (at != std::string::npos) return field.name.substr(0, at + suffix.size());
    }
    return "";
  }

  void Struct(const OracleItem& item, int packet) {
    if (!item.has_address) {
      ++result_.not_compared[absl::StrCat("heading without contents: ", item.name)];
      return;
    }
    for (int r : ChildrenOf(packet)) {
      if (SameStruct(item, records_[r])) return Found(item, r, 0, "");
    }
    for (int r : ChildrenOf(packet)) {
      const std::string prefix = Inner(item, records_[r]);
      if (!prefix.empty()) {
        return Found(item, r, static_cast<int>(item.address - records_[r].address) * 8, prefix);
      }
    }
    const auto place = by_place_.find(item.address);
    if (place != by_place_.end()) {
      for (int r : place->second) {
        if (!SameStruct(item, records_[r])) continue;
        ++result_.structs_found_elsewhere;
        return Found(item, r, 0, "");
      }
    }
    // More entries than the table has: an earlier entry of the same table was found.
    if (item.index > 0 && last_found_packet_ == item.packet && last_found_name_ == item.name &&
        IsBeyondTable(item)) {
      Use(kFixedCount);
      Excuse(item);
      return;
    }
    if (packet >= 0 && IsInvalidPointer(records_[packet])) {
      Use(kInvalidPointer);
      Excuse(item);
      return;
    }
    Mismatch(&item, nullptr, "", item.name.empty() ? "structure" : std::string(item.name),
             kNothing);
  }

  // Whether a packet declares its pointer unused.
  static bool IsInvalidPointer(const Record& packet) {
    for (const RecordField& field : packet.fields) {
      if (absl::EndsWith(field.name, " Valid") && field.value.kind == RecordValue::Kind::kBool &&
          field.value.bits == 0) {
        return true;
      }
    }
    return false;
  }

  // Viewports and scissors: the last 3DSTATE_CLIP has their number. That of other tables is
  // unknown.
  bool IsBeyondTable(const OracleItem& item) const {
    if (item.name != "CC_VIEWPORT" && item.name != "SF_CLIP_VIEWPORT" &&
        item.name != "SCISSOR_RECT") {
      return true;
    }
    const std::optional<uint64_t> last = LastValue("3DSTATE_CLIP", "Maximum VP Index");
    return static_cast<uint64_t>(item.index) > last.value_or(0);
  }

  // The value of a field in the latest packet of a name, up to the current item.
  std::optional<uint64_t> LastValue(absl::string_view packet, absl::string_view name) const {
    const auto it = last_packets_.find(packet);
    if (it == last_packets_.end()) return std::nullopt;
    for (const OracleField& field : it->second->fields) {
      uint64_t value = 0;
      if (field.name == name && OracleInteger(field.value, &value)) return value;
    }
    return std::nullopt;
  }

  // The value of a field in the next packet of a name, before the next draw.
  std::optional<uint64_t> NextValue(int after, absl::string_view packet,
                                    absl::string_view name) const {
    for (size_t i = static_cast<size_t>(after) + 1; i < batch_->items.size(); ++i) {
      const OracleItem& item = batch_->items[i];
      if (item.kind != OracleKind::kPacket) continue;
      if (absl::StartsWith(item.name, "3DPRIMITIVE")) return std::nullopt;
      if (item.name != packet) continue;
      for (const OracleField& field : item.fields) {
        uint64_t value = 0;
        if (field.name == name && OracleInteger(field.value, &value)) return value;
      }
    }
    return std::nullopt;
  }

  // Before Gfx6 structures have the counts: the one before a packet's records, or the next one
  // before the next draw.
  bool IsCountOf(int packet, absl::string_view structure, absl::string_view name,
                 uint64_t count) const {
    const auto is_it = [&](const Record& record) {
      return record.type == "struct" && record.name == structure;
    };
    for (int r = packet; r >= 0; --r) {
      if (!is_it(records_[r])) continue;
      if (ValueOf(records_[r], name) == count) return true;
      break;
    }
    for (size_t r = static_cast<size_t>(packet) + 1; r < records_.size(); ++r) {
      if (absl::StartsWith(records_[r].name, "3DPRIMITIVE")) break;
      if (is_it(records_[r])) return ValueOf(records_[r], name) == count;
    }
    return false;
  }

  // All of an item's fields, because the item as a whole is excused.
  void Excuse(const OracleItem& item) {
    for (const OracleField& field : item.fields) {
      if (field.struct_name.empty()) ++result_.fields_excused;
    }
  }

  void Found(const OracleItem& item, int record, int first_bit, const std::string& prefix) {
    ++result_.structs_compared;
    last_found_packet_ = item.packet;
    last_found_name_ = item.name;
    Fields(item, record, first_bit, prefix);
  }

  void Register(const OracleItem& item, int packet) {
    const OracleItem* writer = item.packet >= 0 ? &batch_->items[item.packet] : nullptr;
    for (int r : ChildrenOf(packet)) {
      const Record& record = records_[r];
      if (record.type != "struct" || record.name != item.name) continue;
      if (record.register_offset.value_or(item.address) != item.address) continue;
      if (!record.dwords.empty() && record.dwords[0] != static_cast<uint32_t>(item.heading_value) &&
          writer != nullptr && writer->name == "MI_LOAD_REGISTER_IMM" &&
          writer->dwords.size() > 3 && writer->dwords[2] == item.heading_value) {
        Use(kFirstRegisterOnly);
        Excuse(item);
        return;
      }
      ++result_.registers_compared;
      Fields(item, r, 0, "");
      return;
    }
    Mismatch(&item, nullptr, "", absl::StrCat("register ", item.name), kNothing);
  }

  // Whether a packet that has a table for each stage refers to that of `stage`. Gfx6 has bits for
  // it; before, a pointer of zero means that there is none.
  static bool HasTable(const Record& packet, absl::string_view stage) {
    const std::optional<uint64_t> change =
        ValueOf(packet, absl::StrCat(stage, " Binding Table Change"));
    if (change) return *change != 0;
    return ValueOf(packet, absl::StrCat("Pointer to ", stage, " Binding Table")).value_or(0) != 0;
  }

  void PointerTable(const OracleItem& item, int packet) {
    // Before Gfx7 one packet points to the tables of all stages, which the oracle shows in their
    // order.
    const absl::string_view stage = item.name;
    const bool many =
        stage == "VS" || stage == "GS" || stage == "CLIP" || stage == "SF" || stage == "PS";
    int wanted = 0;
    if (many) {
      if (!HasTable(records_[packet], stage)) {
        Use(kInvalidPointer);
        return;
      }
      for (const absl::string_view before : {"VS", "GS", "CLIP", "SF", "PS"}) {
        if (before == stage) break;
        wanted += HasTable(records_[packet], before) ? 1 : 0;
      }
    }
    std::vector<const Record*> entries;
    int table = -1;
    for (int r : ChildrenOf(packet)) {
      const Record& record = records_[r];
      if (record.type != "struct" || record.name != "BINDING_TABLE_STATE") continue;
      if (record.index == 0) ++table;
      if (many && table != wanted) continue;
      matched_[r] = kReported;
      entries.push_back(&record);
    }
    // Where the oracle shows more entries than there are records, the table must end there: by its
    // count, or by an entry that is zero.
    if (entries.size() < item.fields.size()) {
      absl::string_view unit = stage == "PS" ? "WM" : stage;
      if (!many) {
        unit = item.packet >= 0 ? batch_->items[item.packet].name : absl::string_view();
        absl::ConsumePrefix(&unit, "3DSTATE_BINDING_TABLE_POINTERS_");
      }
      uint64_t next = 0;
      const bool zero = OracleInteger(item.fields[entries.size()].value, &next) && next == 0;
      const std::string owner = absl::StrCat("3DSTATE_", unit);
      constexpr absl::string_view kCount = "Binding Table Entry Count";
      const bool counted = LastValue(owner, kCount) == entries.size() ||
                           NextValue(item.packet, owner, kCount) == entries.size() ||
                           IsCountOf(packet, absl::StrCat(unit, "_STATE"), kCount, entries.size());
      if (!zero && !counted) {
        Mismatch(&item, nullptr, absl::StrCat("pointer ", entries.size()),
                 std::string(item.fields[entries.size()].value), kNothing);
      }
    }
    for (const OracleField& field : item.fields) {
      int index = 0;
      uint64_t expected = 0;
      if (!absl::SimpleAtoi(field.name, &index) || !OracleInteger(field.value, &expected)) continue;
      const Record* entry = nullptr;
      for (const Record* e : entries) {
        if (e->index == index) entry = e;
      }
      if (entry == nullptr) {
        // The table ends earlier than the oracle believes.
        Use(kFixedTable);
        continue;
      }
      ++result_.pointers_compared;
      if (entry->dwords.empty() || entry->dwords[0] != expected) {
        Mismatch(&item, nullptr, absl::StrCat("pointer ", index), std::string(field.value),
                 entry->dwords.empty() ? kNothing : absl::StrFormat("0x%08x", entry->dwords[0]));
      }
    }
  }

  // The n-th buffer of a kind after a packet is the n-th record of that kind under it.
  void Data(int item_number, int packet) {
    const OracleItem& item = batch_->items[item_number];
    absl::string_view name;
    if (item.name == "vertex buffer") {
      name = "vertex buffer";
    } else if (absl::StartsWith(item.name, "constant buffer")) {
      name = "constants";
    }
    int n = 0;
    for (int i = item_number - 1; i >= 0 && batch_->items[i].packet == item.packet; --i) {
      if (batch_->items[i].kind == OracleKind::kData && batch_->items[i].name == item.name) ++n;
    }
    for (int r : ChildrenOf(packet)) {
      const Record& record = records_[r];
      if (record.type != "data" || (!name.empty() && record.name != name)) continue;
      if (n-- > 0) continue;
      matched_[r] = kReported;
      ++result_.data_compared;
      if (!name.empty() && record.size != item.heading_value) {
        Mismatch(&item, &record, "size", absl::StrCat(item.heading_value),
                 absl::StrCat(record.size));
      }
      return Values(item, record);
    }
    ++result_.not_compared[absl::StrCat("data without record: ", item.name)];
  }

  void Values(const OracleItem& item, const Record& record) {
    std::vector<uint8_t> bytes = record.bytes;
    for (uint32_t dword : record.dwords) {
      for (int shift = 0; shift < 32; shift += 8) bytes.push_back(dword >> shift & 0xff);
    }
    // Indices are of 1, 2 or 4 bytes, anything else is dwords.
    size_t size = 4;
    if (record.name == "index buffer") {
      size = size_t{1} << LastValue("3DSTATE_INDEX_BUFFER", "Index Format").value_or(2);
    }
    for (size_t v = 0; v < item.fields.size(); ++v) {
      // A record may hold only the beginning.
      if ((v + 1) * size > bytes.size()) break;
      uint32_t value = 0;
      for (size_t b = 0; b < size; ++b) value |= uint32_t{bytes[v * size + b]} << (8 * b);
      const absl::string_view expected = item.fields[v].value;
      std::string shown;
      if (absl::StrContains(expected, '.')) {
        float real;
        std::memcpy(&real, &value, sizeof real);
        shown = absl::StrFormat("%.2f", real);
      } else {
        uint64_t number = 0;
        shown = OracleInteger(expected, &number) && number == value
                    ? std::string(expected)
                    : absl::StrFormat("0x%x", value);
      }
      ++result_.values_compared;
      if (shown != expected) {
        Mismatch(&item, &record, absl::StrCat("value ", v), std::string(expected), shown);
      }
    }
  }

  void Unavailable(const OracleItem& item, int packet) {
    if (packet >= 0) {
      for (const RecordFault& fault : records_[packet].faults) {
        if (fault.kind == "unmapped" || fault.kind == "truncated") {
          ++result_.not_compared["unavailable memory, a fault in the record too"];
          return;
        }
      }
      if (IsInvalidPointer(records_[packet])) {
        Use(kInvalidPointer);
        return;
      }
    }
    absl::string_view stage = item.packet >= 0 ? batch_->items[item.packet].name : "";
    if (absl::ConsumePrefix(&stage, "3DSTATE_SAMPLER_STATE_POINTERS_") &&
        LastValue(absl::StrCat("3DSTATE_", stage), "Sampler Count") == uint64_t{0}) {
      Use(kFixedCount);
      return;
    }
    ++result_.not_compared[absl::StrCat("unavailable memory, no fault in the record: ", item.name)];
  }

  // Compares the fields of `item` with those of a record that begin with `prefix`.
  void Fields(const OracleItem& item, int record_number, int first_bit, const std::string& prefix) {
    const Record& record = records_[record_number];
    matched_[record_number] = kCompared;
    CompareDwords(item, record, first_bit);
    absl::flat_hash_map<absl::string_view, absl::InlinedVector<int, 2>> by_name;
    for (size_t f = 0; f < record.fields.size(); ++f) {
      absl::string_view name = record.fields[f].name;
      if (absl::ConsumePrefix(&name, prefix)) by_name[name].push_back(static_cast<int>(f));
    }
    std::vector<bool> taken(record.fields.size());
    const bool misplaced = IsMisplacedRegisters(item);
    if (misplaced) MisplacedRegisters(item, record_number);
    for (const OracleField& field : item.fields) {
      if (!field.struct_name.empty()) continue;
      if (misplaced && (absl::StartsWith(field.name, "Register Offset") ||
                        absl::StartsWith(field.name, "Data DWord"))) {
        ++result_.fields_excused;
        continue;
      }
      // A nested structure may have ended without a trace: from the inside out, the first that has
      // a field of this name left.
      int found = -1;
      for (int parent = field.parent;; parent = item.fields[parent].parent) {
        const auto it = by_name.find(OracleFieldPath(item, field.name, parent));
        if (it != by_name.end()) {
          for (int f : it->second) {
            if (taken[f]) continue;
            if (found < 0 || CompareValues(field, record.fields[f]) != nullptr) {
              found = f;
              if (CompareValues(field, record.fields[f]) != nullptr) break;
            }
          }
        }
        if (found >= 0 || parent < 0) break;
      }
      const std::string path = prefix + OracleFieldPath(item, field.name, field.parent);
      if (found < 0) {
        if (InItems(field, record_number, path)) {
          ++result_.fields_compared;
        } else if (OnlyInOracle(item, record, field)) {
          ++result_.fields_excused;
        } else {
          Mismatch(&item, &record, path, Show(field.value, field.enum_name), kNothing);
        }
        continue;
      }
      taken[found] = true;
      seen_[record_number][found] = true;
      ++result_.fields_compared;
      const RecordField& ours = record.fields[found];
      const char* rule = CompareValues(field, ours);
      const bool format_name =
          ours.enum_name.empty() && !field.enum_name.empty() &&
          (field.name == "Source Element Format" || field.name == "Surface Format");
      if (format_name) Use(kFormatName);
      if (rule == nullptr || (field.enum_name != ours.enum_name && !format_name)) {
        Mismatch(&item, &record, path, Show(field.value, field.enum_name),
                 Show(ours.value.text, ours.enum_name));
      } else if (*rule != '\0') {
        Use(rule);
      }
    }
  }

  // A field that is wider than 32 bits to the oracle, which prints the low ones, and that is a
  // repetition of dwords in the record.
  bool InItems(const OracleField& field, int record_number, const std::string& path) {
    const Record& record = records_[record_number];
    bool same = false;
    for (size_t f = 0; f < record.fields.size(); ++f) {
      absl::string_view rest = record.fields[f].name;
      int index = 0;
      if (!absl::ConsumePrefix(&rest, path) || !absl::ConsumePrefix(&rest, "[") ||
          !absl::ConsumeSuffix(&rest, "]") || !absl::SimpleAtoi(rest, &index)) {
        continue;
      }
      if (index == 0) same = CompareValues(field, record.fields[f]) != nullptr;
      if (same) seen_[record_number][f] = true;
    }
    if (same) Use(kLowDwordOnly);
    return same;
  }

  bool OnlyInOracle(const OracleItem& item, const Record& record, const OracleField& field) {
    if (item.name == "3DPRIMITIVE_EXTENDED" && record.name == "3DPRIMITIVE" &&
        absl::StartsWith(field.name, "Extended Parameter")) {
      return true;  // the rule was counted where the packets were paired
    }
    if (field.value == "0" || field.value == "false") {
      for (const NamedField& zero : kMustBeZeroFields) {
        if (item.name == zero.item && field.name == zero.field) {
          Use(kMustBeZero);
          return true;
        }
      }
    }
    // One write is half of the register; for the rest the oracle shows what follows the packet.
    if (item.kind == OracleKind::kRegister && item.dwords.size() > record.dwords.size()) {
      Use(kReadsPastEnd);
      return true;
    }
    for (const NamedField& one : kMustBeOneFields) {
      if (item.name == one.item && field.name == one.field) {
        Use(kMustBeOne);
        return true;
      }
    }
    return false;
  }

  // Gfx8's MI_LOAD_REGISTER_IMM as the oracle shows it; what the record should say is clear from
  // the packet's dwords.
  static bool IsMisplacedRegisters(const OracleItem& item) {
    if (item.name != "MI_LOAD_REGISTER_IMM" || item.dwords.size() < 3) return false;
    bool misplaced = false;
    for (const OracleField& field : item.fields) {
      if (field.name == "Data DWord") return false;
      uint64_t value = 0;
      misplaced |= field.name == "Register Offset[0]" && OracleInteger(field.value, &value) &&
                   value == (item.dwords[2] & 0x7ffffc);
    }
    return misplaced;
  }

  // Compares the record's registers with the packet's dwords, in order.
  void MisplacedRegisters(const OracleItem& item, int record_number) {
    const Record& record = records_[record_number];
    Use(kGfx8Registers);
    size_t dword = 1;
    for (size_t f = 0; f < record.fields.size(); ++f) {
      const RecordField& field = record.fields[f];
      const bool offset = absl::StrContains(field.name, "Register Offset");
      if (!offset && !absl::StrContains(field.name, "Data DWord")) continue;
      seen_[record_number][f] = true;
      // Offsets and values alternate.
      const uint32_t expected = dword >= item.dwords.size() ? 0
                                : offset                    ? item.dwords[dword] & 0x7ffffc
                                                            : item.dwords[dword];
      if (offset != (dword % 2 == 1) || dword >= item.dwords.size() ||
          field.value.bits != expected) {
        Mismatch(&item, &record, field.name, absl::StrFormat("0x%08x", expected), field.value.text);
      }
      ++dword;
    }
  }

  void CompareDwords(const OracleItem& item, const Record& record, int first_bit) {
    if (record.dwords.empty()) return;
    const size_t first = static_cast<size_t>(first_bit / 32);
    for (size_t d = 0; d < item.dwords.size(); ++d) {
      if (first + d >= record.dwords.size()) {
        Use(kReadsPastEnd);
        return;
      }
      ++result_.dwords_compared;
      if (item.dwords[d] != record.dwords[first + d]) {
        Mismatch(&item, &record, absl::StrCat("dword ", d),
                 absl::StrFormat("0x%08x", item.dwords[d]),
                 absl::StrFormat("0x%08x", record.dwords[first + d]));
      }
    }
  }

  // Fields of compared records that the oracle does not have, and records that it does not have.
  void Leftovers() {
    if (first_record_ < 0) return;
    for (int r = first_record_; r <= last_record_; ++r) {
      const Record& record = records_[r];
      if (matched_[r] == kCompared) {
        for (size_t f = 0; f < record.fields.size(); ++f) {
          if (seen_[r][f]) continue;
          const RecordField& field = record.fields[f];
          const auto is_it = [&](const NamedField& one) {
            return record.name == one.item && field.name == one.field;
          };
          if (std::any_of(std::begin(kOtherDriversFields), std::end(kOtherDriversFields), is_it)) {
            Use(kOtherDrivers);
            continue;
          }
          Mismatch(nullptr, &record, field.name, kNothing, Show(field.value.text, field.enum_name));
        }
      } else if (matched_[r] == kNot && (record.type == "struct" || record.type == "data")) {
        ++result_.only_in_records[absl::StrCat(
            record.register_offset.has_value() ? "register" : record.type, " ", record.name)];
      }
    }
  }

  enum Matched : uint8_t { kNot, kReported, kCompared };

  const Oracle& oracle_;
  const std::vector<Record>& records_;
  CompareResult result_;
  // Per record: which fields the oracle has, and whether it was compared at all.
  std::vector<std::vector<bool>> seen_;
  std::vector<Matched> matched_;

  // The current batch.
  const OracleBatch* batch_ = nullptr;
  absl::flat_hash_map<int, Children> children_;
  absl::flat_hash_map<uint64_t, Children> by_place_;
  int first_record_ = -1;
  int last_record_ = -1;
  // Record of each of the oracle's items that is a packet, -1 for none.
  std::vector<int> packet_records_;
  int past_end_ = -1;
  // By name, over all batches so far.
  absl::flat_hash_map<absl::string_view, const OracleItem*> last_packets_;
  int last_found_packet_ = -1;
  absl::string_view last_found_name_;
};

void AppendCounts(absl::string_view title, const std::map<std::string, int64_t>& counts,
                  std::string* out) {
  if (counts.empty()) return;
  absl::StrAppend(out, title, ":\n");
  for (const auto& [name, count] : counts) absl::StrAppendFormat(out, "  %8d  %s\n", count, name);
}

const char* RuleKindName(RuleKind kind) {
  switch (kind) {
    case RuleKind::kDefect:
      return "defect";
    case RuleKind::kOmission:
      return "omission";
    case RuleKind::kNotation:
      return "notation";
  }
  return "?";
}

}  // namespace

absl::Span<const CompareRule> CompareRules() { return kRules; }

absl::StatusOr<CompareResult> CompareWithRecords(const Oracle& oracle, absl::string_view jsonl) {
  absl::StatusOr<std::vector<Record>> records = ParseRecords(jsonl);
  if (!records.ok()) return records.status();
  return Comparison(oracle, *records).Run();
}

std::vector<std::string> SilentRules(absl::string_view folder, const CompareResult& result) {
  std::vector<std::string> silent;
  for (const CompareRule& rule : kRules) {
    const std::vector<absl::string_view> folders =
        absl::StrSplit(rule.folders, ' ', absl::SkipEmpty());
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) continue;
    const auto it = result.rules.find(rule.name);
    if (it == result.rules.end() || it->second == 0) silent.push_back(rule.name);
  }
  return silent;
}

std::string CompareResult::Report(int max_mismatches) const {
  std::string out;
  absl::StrAppendFormat(&out,
                        "%d batches, %d packets, %d fields in the oracle\n"
                        "compared: %d packets, %d structs, %d registers, %d pointers, %d fields, "
                        "%d dwords, %d buffers with %d values; excused: %d fields\n",
                        batches, oracle_packets, oracle_fields, packets_compared, structs_compared,
                        registers_compared, pointers_compared, fields_compared, dwords_compared,
                        data_compared, values_compared, fields_excused);
  absl::StrAppendFormat(&out, "unknown runs: %d, structs found after another packet: %d\n",
                        unknown_records, structs_found_elsewhere);
  absl::StrAppend(&out, "rules used:\n");
  for (const CompareRule& rule : kRules) {
    const auto it = rules.find(rule.name);
    if (it == rules.end() || it->second == 0) continue;
    absl::StrAppendFormat(&out, "  %8d  %s (%s): %s\n", it->second, rule.name,
                          RuleKindName(rule.kind), rule.reason);
  }
  AppendCounts("faults in the records", faults, &out);
  AppendCounts("not compared", not_compared, &out);
  AppendCounts("only in the records", only_in_records, &out);
  absl::StrAppendFormat(&out, "mismatches: %d\n", mismatch_count);
  for (int i = 0; i < max_mismatches && i < static_cast<int>(mismatches.size()); ++i) {
    const CompareMismatch& m = mismatches[i];
    absl::StrAppendFormat(&out, "  batch %d, 0x%x, %s%s%s: oracle %s, record %s", m.batch,
                          m.address, m.item, m.field.empty() ? "" : ", ", m.field, m.oracle,
                          m.record);
    if (m.oracle_line > 0) absl::StrAppendFormat(&out, " (oracle line %d)", m.oracle_line);
    absl::StrAppend(&out, "\n");
  }
  return out;
}

}  // namespace packsmith
