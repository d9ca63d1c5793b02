#include "runtime/sim/contexts/context_image.h"

#include <algorithm>
#include <initializer_list>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/quad_word.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::sim {
namespace {

using tables::kNone;
using tables::Leaf;

// The upper half of a write to a masked register selects the bits of the lower half.
constexpr uint32_t kMaskShift = 16;
constexpr uint32_t kFullMask = 0xffff0000;

uint64_t Dwords(absl::Span<const uint8_t> list, uint64_t at) {
  return decode::ReadBits(list, at * 8, 32);
}

bool Ends(const tables::Tables& tables, const tables::Container& packet,
          absl::Span<const uint8_t> bytes) {
  const decode::Scope scope(tables, packet, bytes);
  for (const tables::Flow& flow : tables.flows(packet.flows)) {
    if (scope.Holds(flow.when)) return true;
  }
  return false;
}

}  // namespace

uint32_t DescribedBase(const tables::Tables& tables) {
  const uint32_t tail = tables.FindContainer("RING_BUFFER_TAIL");
  if (tail == kNone) return 0;
  const uint32_t offset = tables.container(tail).register_offset;
  return offset - offset % kEngineRegisters;
}

uint32_t FindEngineRegister(const tables::Tables& tables, uint32_t base, uint32_t offset) {
  if (offset >= base && offset - base < kEngineRegisters) {
    const uint32_t found = tables.FindRegister(DescribedBase(tables) + (offset - base));
    if (found != kNone) return found;
  }
  return tables.FindRegister(offset);
}

// --- Parsing ---

absl::StatusOr<ContextImage> ContextImage::Parse(const tables::Tables& tables,
                                                 const Options& options,
                                                 absl::Span<const uint8_t> list) {
  const uint32_t stream = tables.FindStream(options.stream);
  const uint32_t engine = tables.FindEngine(options.engine);
  if (stream == kNone || engine == kNone) {
    return absl::NotFoundError(
        absl::StrCat(tables.generation(), " has no ", stream == kNone ? "stream \"" : "engine \"",
                     stream == kNone ? options.stream : options.engine, "\""));
  }
  ContextImage image(tables);
  image.engine_base_ = options.engine_base;
  image.tail_ = tables.FindContainer("RING_BUFFER_TAIL");
  image.Walk(options, stream, uint64_t{1} << engine, list);
  if (image.registers_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a context image: no register load in the first ", image.parsed_bytes_, " bytes"));
  }
  return image;
}

void ContextImage::Walk(const Options& options, uint32_t stream, uint64_t engines,
                        absl::Span<const uint8_t> list) {
  std::map<uint32_t, uint32_t> loads;  // by register
  uint64_t at = 0;
  while (at < list.size() && !ended_ && registers_.size() < kMostRegisters) {
    const absl::Span<const uint8_t> rest = list.subspan(at);
    const auto first = static_cast<uint32_t>(std::min<size_t>(rest.size(), 4));
    const auto word = static_cast<uint32_t>(decode::ReadBits(rest, 0, first * 8));
    const uint32_t index = tables_.FindPacket(stream, engines, word, first);
    uint64_t length = 0;
    if (index == kNone) {
      length = tables_.UnknownBytes(stream, word);
      if (length == 0) break;
    } else {
      const tables::Container& packet = tables_.container(index);
      length = decode::LengthOf(tables_, packet, rest);
      const absl::Span<const uint8_t> bytes =
          rest.subspan(0, std::min<uint64_t>(length, rest.size()));
      const auto visit = [&](const decode::FieldAt& field) {
        if (field.cut || field.leaf->extra == kNone || field.bit % 8 != 0 || field.width != 32) {
          return;
        }
        const uint32_t leaf = tables_.extra(field.leaf->extra).writes_leaf;
        if (leaf == kNone || registers_.size() >= kMostRegisters) return;
        const decode::Scope scope(tables_, field, bytes);
        const std::optional<uint64_t> said = scope.Number(leaf);
        if (!said) return;
        ImageRegister one;
        one.at = at + field.bit / 8;
        one.offset = static_cast<uint32_t>(*said);
        if (one.at < options.relative_bytes || one.offset < kEngineRegisters) {
          one.offset = options.engine_base + one.offset % kEngineRegisters;
        }
        one.offset_leaf = leaf;
        one.offset_bit = at * 8 + scope.BitOf(leaf);
        one.occurrence = loads[one.offset]++;
        one.container = FindEngineRegister(tables_, options.engine_base, one.offset);
        one.masked = one.container != kNone && tables_.container(one.container).masked != 0;
        registers_.push_back(one);
      };
      decode::ForEachField(tables_, packet, bytes, visit);
      ended_ = Ends(tables_, packet, bytes);
    }
    at += std::min<uint64_t>(std::max<uint64_t>(length, 1), rest.size());
  }
  parsed_bytes_ = at;
}

std::string ContextImage::NameOf(const ImageRegister& one) const {
  if (one.container != kNone) {
    return std::string(tables_.string(tables_.container(one.container).name));
  }
  return absl::StrFormat("register 0x%x", one.offset);
}

const ImageRegister* ContextImage::Find(uint32_t engine_offset) const {
  const ImageRegister* found = nullptr;
  for (const ImageRegister& one : registers_) {
    if (one.offset == engine_base_ + engine_offset) found = &one;
  }
  return found;
}

const ImageRegister* ContextImage::Find(absl::string_view name) const {
  const uint32_t container = tables_.FindContainer(name);
  const ImageRegister* found = nullptr;
  for (const ImageRegister& one : registers_) {
    if (container != kNone && one.container == container) found = &one;
  }
  return found;
}

uint32_t ContextImage::Get(absl::Span<const uint8_t> list, const ImageRegister& one) {
  if (one.at + 4 > list.size()) return 0;
  return static_cast<uint32_t>(Dwords(list, one.at));
}

void ContextImage::Set(absl::Span<uint8_t> list, const ImageRegister& one, uint32_t value) {
  if (one.at + 4 > list.size()) return;
  decode::WriteBits(list, one.at * 8, 32, value);
}

void ContextImage::Load(absl::Span<const uint8_t> list,
                        absl::FunctionRef<void(const ImageRegister&, uint32_t)> write) const {
  for (const ImageRegister& one : registers_) write(one, Get(list, one));
}

void ContextImage::Save(absl::Span<uint8_t> list,
                        absl::FunctionRef<uint32_t(const ImageRegister&)> read) const {
  for (const ImageRegister& one : registers_) {
    if (tail_ != kNone && one.container == tail_) continue;
    const uint32_t value = read(one);
    Set(list, one, one.masked ? value | kFullMask : value);
  }
}

std::vector<uint8_t> ContextImageBytes(const Dump& dump, const Submission& submission) {
  const uint64_t length =
      submission.batch_length == 0 ? kMostContextImage : submission.batch_length;
  std::vector<uint8_t> list(std::min(length, kMostContextImage));
  list.resize(dump.memory.Copy(submission.space, submission.batch_address, absl::MakeSpan(list)));
  return list;
}

uint32_t BaseOfImage(const tables::Tables& tables, absl::string_view engine,
                     absl::Span<const uint8_t> list) {
  ContextImage::Options options;
  options.engine = engine;
  // Offsets as they are.
  options.engine_base = 0;
  options.relative_bytes = 0;
  const absl::StatusOr<ContextImage> image = ContextImage::Parse(tables, options, list);
  if (!image.ok()) return DescribedBase(tables);
  const uint32_t offset = image->registers().front().offset;
  const uint32_t base = offset - offset % kEngineRegisters;
  return base == 0 ? DescribedBase(tables) : base;
}

// --- Making ---

namespace {

// Puts an image together: first the loads of the layout, then values by name.
class Maker {
 public:
  Maker(const tables::Tables& tables, uint32_t engine_base)
      : tables_(tables), engine_base_(engine_base) {}

  absl::Status Begin(absl::string_view layout) {
    const absl::StatusOr<Structure> structure = Structure::Find(tables_, layout);
    if (!structure.ok()) return structure.status();
    const tables::Container& container = structure->container();
    list_.assign(container.bytes, 0);
    for (const Leaf& leaf : tables_.leaves(container.leaves)) {
      if ((leaf.flags & tables::kForced) == 0 || leaf.extra == kNone) continue;
      decode::WriteBits(absl::MakeSpan(list_), leaf.bit, leaf.width,
                        tables_.extra(leaf.extra).forced);
    }
    // The layout has offsets within the engine's registers.
    const absl::Status status = Parse();
    if (!status.ok()) return status;
    for (const ImageRegister& one : image_.front().registers()) {
      const Leaf& leaf = tables_.leaf(one.offset_leaf);
      decode::Value value;
      value.unsigned_value = one.offset;
      const std::optional<uint64_t> raw = decode::EncodeValue(tables_, leaf, value);
      if (!raw) {
        return absl::InvalidArgumentError(
            absl::StrFormat("an engine's registers cannot be at 0x%x", engine_base_));
      }
      decode::WriteBits(absl::MakeSpan(list_), one.offset_bit, leaf.width, *raw);
    }
    return Parse();
  }

  bool Has(absl::string_view name) const { return image_.front().Find(name) != nullptr; }

  absl::Status SetDword(absl::string_view name, uint32_t value) {
    const ImageRegister* one = image_.front().Find(name);
    if (one == nullptr) return Missing(name);
    ContextImage::Set(absl::MakeSpan(list_), *one, value);
    return absl::OkStatus();
  }

  using FieldValue = std::pair<absl::string_view, uint64_t>;
  absl::Status SetFields(absl::string_view name, std::initializer_list<FieldValue> fields) {
    const ImageRegister* one = image_.front().Find(name);
    if (one == nullptr) return Missing(name);
    const absl::StatusOr<Structure> structure = Structure::Make(tables_, one->container);
    if (!structure.ok()) return structure.status();
    uint32_t dword = 0;
    for (const auto& [field_name, value] : fields) {
      const absl::StatusOr<StructureField> field = structure->Require(field_name);
      if (!field.ok()) return field.status();
      const absl::StatusOr<uint32_t> bits = structure->Dword(*field, value);
      if (!bits.ok()) return bits.status();
      dword |= *bits;
      if (!one->masked) continue;
      const absl::StatusOr<uint32_t> mask = structure->Dword(*field, 1);
      if (!mask.ok()) return mask.status();
      dword |= *mask << kMaskShift;
    }
    ContextImage::Set(absl::MakeSpan(list_), *one, dword);
    return absl::OkStatus();
  }

  std::vector<uint8_t> Take() { return std::move(list_); }

 private:
  absl::Status Parse() {
    ContextImage::Options options;
    options.engine_base = engine_base_;
    options.relative_bytes = list_.size();
    absl::StatusOr<ContextImage> parsed = ContextImage::Parse(tables_, options, list_);
    if (!parsed.ok()) return parsed.status();
    image_.assign(1, *std::move(parsed));
    return absl::OkStatus();
  }

  absl::Status Missing(absl::string_view name) const {
    return absl::NotFoundError(absl::StrCat("the context image of ", tables_.generation(),
                                            " has no register \"", name, "\""));
  }

  const tables::Tables& tables_;
  const uint32_t engine_base_;
  std::vector<uint8_t> list_;
  std::vector<ContextImage> image_;  // one, after Begin()
};

absl::Status SetRing(Maker& maker, const ContextDescription& context) {
  if (context.ring_bytes == 0) return absl::OkStatus();
  if (context.ring_bytes % 4096 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ring has whole pages of 4096 bytes, not ", context.ring_bytes, " bytes"));
  }
  absl::Status status = maker.SetFields("RING_BUFFER_HEAD", {{"Head Offset", context.ring_head}});
  const auto set = [&](absl::Status next) { status.Update(std::move(next)); };
  set(maker.SetFields("RING_BUFFER_TAIL", {{"Tail Offset", context.ring_tail}}));
  set(maker.SetFields("RING_BUFFER_START", {{"Starting Address", LowDword(context.ring_address)}}));
  if (maker.Has("RING_BUFFER_START_UDW")) {
    set(maker.SetDword("RING_BUFFER_START_UDW", HighDword(context.ring_address)));
  } else if (HighDword(context.ring_address) != 0) {
    set(absl::InvalidArgumentError(
        absl::StrFormat("a ring at 0x%x: its address has 32 bits", context.ring_address)));
  }
  set(maker.SetFields("RCS_RING_BUFFER_CTL",
                      {{"Ring Buffer Enable", 1},
                       {"Buffer Length (in pages - 1)", context.ring_bytes / 4096 - 1}}));
  return status;
}

absl::Status SetPageTables(Maker& maker, const PageTableRoot& root) {
  const auto set = [&](absl::string_view low, absl::string_view high, uint64_t table) {
    absl::Status status = maker.SetDword(low, LowDword(table));
    status.Update(maker.SetDword(high, HighDword(table)));
    return status;
  };
  if (root.kind == PageTableKind::kFourLevels || root.kind == PageTableKind::kFiveLevels) {
    return maker.Has("PTBP_LDW") ? set("PTBP_LDW", "PTBP_UDW", root.tables[0])
                                 : set("PDP0_LDW", "PDP0_UDW", root.tables[0]);
  }
  if (root.kind != PageTableKind::kThreeLevels) {
    return absl::InvalidArgumentError("a context's page tables have three, four or five levels");
  }
  for (size_t i = 0; i < root.tables.size(); ++i) {
    absl::Status status =
        set(absl::StrCat("PDP", i, "_LDW"), absl::StrCat("PDP", i, "_UDW"), root.tables[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> MakeContextImage(const tables::Tables& tables,
                                                      const ContextDescription& context) {
  Maker maker(tables, context.engine_base);
  absl::Status status = maker.Begin(context.layout);
  if (!status.ok()) return status;
  constexpr absl::string_view kControl = "CTX_CONTEXT_CONTROL";
  constexpr absl::string_view kRestoreInhibit = "Engine Context Restore Inhibit";
  constexpr absl::string_view kInhibitSwitch = "Inhibit Synchronous Context Switch";
  const uint64_t inhibit = context.restore_inhibit ? 1 : 0;
  const uint64_t no_switch = context.inhibit_synchronous_switch ? 1 : 0;
  if (context.indirect_ring_state != 0) {
    status = maker.SetFields(kControl, {{kRestoreInhibit, inhibit},
                                        {kInhibitSwitch, no_switch},
                                        {"Indirect Ring State Enable", 1}});
    if (status.ok()) {
      status = maker.SetFields("INDIRECT_RING_STATE",
                               {{"Indirect Ring State Address", context.indirect_ring_state}});
    }
  } else {
    status = maker.SetFields(kControl, {{kRestoreInhibit, inhibit}, {kInhibitSwitch, no_switch}});
    status.Update(SetRing(maker, context));
  }
  status.Update(SetPageTables(maker, context.page_tables));
  // A context that was stopped runs when it is restored.
  if (maker.Has("MI_MODE")) status.Update(maker.SetFields("MI_MODE", {{"Stop Ring", 0}}));
  for (const auto& [name, value] : context.registers) status.Update(maker.SetDword(name, value));
  if (!status.ok()) return status;
  std::vector<uint8_t> list = maker.Take();
  const uint64_t pages = (list.size() + 4095) / 4096 * 4096;
  const uint64_t bytes = context.bytes != 0 ? context.bytes : pages;
  constexpr uint64_t kMostBytes = uint64_t{1} << 24;
  if (bytes % 4096 != 0 || bytes < pages || bytes > kMostBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a context of 0x%x bytes: they must be whole pages, from 0x%x to 0x%x",
                        bytes, pages, kMostBytes));
  }
  std::vector<uint8_t> image(kContextStatusPage + bytes);
  std::copy(list.begin(), list.end(), image.begin() + kContextStatusPage);
  return image;
}

absl::StatusOr<std::vector<uint8_t>> MakeIndirectRingState(const tables::Tables& tables,
                                                           const ContextDescription& context) {
  Maker maker(tables, context.engine_base);
  absl::Status status = maker.Begin("INDIRECT_RING_STATE_PAGE");
  if (!status.ok()) return status;
  status = SetRing(maker, context);
  if (!status.ok()) return status;
  std::vector<uint8_t> page = maker.Take();
  page.resize(4096);
  return page;
}

// --- Comparing ---

namespace {

std::vector<ImageDifference::Field> DifferentFields(const tables::Tables& tables,
                                                    uint32_t container, uint32_t before,
                                                    uint32_t after) {
  std::vector<ImageDifference::Field> fields;
  if (container == kNone) return fields;
  uint8_t a[4], b[4];
  decode::WriteBits(absl::MakeSpan(a), 0, 32, before);
  decode::WriteBits(absl::MakeSpan(b), 0, 32, after);
  for (const Leaf& leaf : tables.leaves(tables.container(container).leaves)) {
    if (leaf.bit + leaf.width > 32 ||
        (leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0) {
      continue;
    }
    const auto value = [&](absl::Span<const uint8_t> bytes) {
      return decode::NumberOfBits(tables, leaf, leaf.width,
                                  decode::ReadBits(bytes, leaf.bit, leaf.width));
    };
    if (value(a) == value(b)) continue;
    fields.push_back({std::string(tables.string(leaf.name)), value(a), value(b)});
  }
  return fields;
}

}  // namespace

absl::StatusOr<PageTableRoot> PageTableRootOf(const ContextImage& image,
                                              absl::Span<const uint8_t> list) {
  const auto half = [&](absl::string_view name) {
    const ImageRegister* const one = image.Find(name);
    return one == nullptr ? uint64_t{0} : ContextImage::Get(list, *one);
  };
  const auto table = [&](absl::string_view name) {
    return half(absl::StrCat(name, "_LDW")) | half(absl::StrCat(name, "_UDW")) << 32;
  };
  PageTableRoot root;
  for (size_t i = 0; i < root.tables.size(); ++i) {
    root.tables[i] = table(absl::StrCat("PDP", i));
    if (i > 0 && root.tables[i] != 0) root.kind = PageTableKind::kThreeLevels;
  }
  if (const uint64_t single = table("PTBP"); single != 0) {
    root = {.kind = PageTableKind::kFourLevels, .tables = {single}};
  }
  if (root.tables == PageTableRoot{}.tables) {
    return absl::NotFoundError("the image names no page tables");
  }
  return root;
}

std::vector<ImageDifference> CompareImages(const tables::Tables& tables, const ContextImage& before,
                                           absl::Span<const uint8_t> before_list,
                                           const ContextImage& after,
                                           absl::Span<const uint8_t> after_list) {
  std::vector<ImageDifference> differences;
  // Images of different engines have the same registers, which count from other bases.
  struct Key {
    bool of_engine;
    uint32_t offset, occurrence;
    auto operator<=>(const Key&) const = default;
  };
  const auto key = [](const ContextImage& image, const ImageRegister& one) {
    const uint32_t base = image.engine_base();
    const bool of_engine = one.offset >= base && one.offset - base < kEngineRegisters;
    return Key{of_engine, of_engine ? one.offset - base : one.offset, one.occurrence};
  };
  std::map<Key, const ImageRegister*> others;
  for (const ImageRegister& one : after.registers()) others.emplace(key(after, one), &one);
  for (const ImageRegister& one : before.registers()) {
    const auto found = others.find(key(before, one));
    ImageDifference difference;
    difference.name = before.NameOf(one);
    difference.occurrence = one.occurrence;
    difference.before = ContextImage::Get(before_list, one);
    if (found != others.end()) {
      difference.after = ContextImage::Get(after_list, *found->second);
      others.erase(found);
    }
    if (difference.before == difference.after) continue;
    if (difference.after) {
      difference.fields =
          DifferentFields(tables, one.container, *difference.before, *difference.after);
    }
    differences.push_back(std::move(difference));
  }
  for (const ImageRegister& one : after.registers()) {
    if (others.count(key(after, one)) == 0) continue;
    ImageDifference difference;
    difference.name = after.NameOf(one);
    difference.occurrence = one.occurrence;
    difference.after = ContextImage::Get(after_list, one);
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::string DifferencesText(absl::Span<const ImageDifference> differences) {
  std::string text;
  for (const ImageDifference& one : differences) {
    const auto value = [](const std::optional<uint32_t>& v) {
      return v ? absl::StrFormat("0x%08x", *v) : std::string("absent");
    };
    std::string name = one.name;
    if (one.occurrence != 0) absl::StrAppend(&name, " (load ", one.occurrence + 1, ")");
    absl::StrAppendFormat(&text, "%-36s %s -> %s\n", name, value(one.before), value(one.after));
    for (const ImageDifference::Field& field : one.fields) {
      absl::StrAppendFormat(&text, "    %-32s 0x%x -> 0x%x\n", field.name, field.before,
                            field.after);
    }
  }
  return text;
}

}  // namespace packsmith::sim
