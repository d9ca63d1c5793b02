#include "runtime/aub/write.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/aub/commands.h"
#include "runtime/aub/engines.h"
#include "runtime/aub/recorded_memory.h"
#include "runtime/aub/spaces.h"
#include "runtime/base/file.h"
#include "runtime/decode/value.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/losses.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/execlist_registers.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::aub {
namespace {

constexpr uint64_t kPage = RecordedMemory::kPage;
constexpr uint64_t kGlobalEnd = uint64_t{1} << 32;
// Where rings and contexts may be in the global space: not at its start, which drivers keep free.
constexpr uint64_t kFirstGlobal = uint64_t{1} << 20;
constexpr uint64_t kRingBytes = kPage;
// Of an engine that renders, and of another: the largest of all generations.
constexpr uint64_t kRenderImage = 22 * kPage, kOtherImage = 2 * kPage;

bool IsBatch(const Submission& submission) {
  return submission.kind.empty() || submission.kind == "batch";
}

uint32_t OwnSpace(const Submission& submission) {
  return submission.own_space.value_or(submission.space);
}

// The pages of 4 KiB that a space's memory touches, each once, with their bytes.
class PagesOf {
 public:
  PagesOf(const Dump& dump, uint32_t space) : dump_(dump), space_(space) {}

  // Calls visit(address, bytes, whole) in the order of addresses; `bytes` is empty for zeros, and
  // `whole` is false if the dump has only a part of the page. Stops at an error.
  template <typename Visit>
  absl::Status ForEach(const Visit& visit) {
    std::optional<uint64_t> done;  // the last page
    for (const Memory::Segment& mapped : dump_.memory.segments()) {
      if (mapped.space != space_) continue;
      const Memory::Segment& segment = dump_.memory.Resolve(mapped);
      if (segment.memory_size == 0) continue;
      uint64_t page = segment.address - segment.address % kPage;
      if (done && page <= *done) {
        if (*done == segment.last() - segment.last() % kPage) continue;
        page = *done + kPage;
      }
      for (;; page += kPage) {
        absl::Status status = Visit1(segment, page, visit);
        if (!status.ok()) return status;
        done = page;
        if (segment.last() - page < kPage) break;
      }
    }
    return absl::OkStatus();
  }

 private:
  template <typename Visit>
  absl::Status Visit1(const Memory::Segment& segment, uint64_t page, const Visit& visit) {
    if (page >= segment.address && segment.last() - page >= kPage - 1) {
      const uint64_t offset = page - segment.address;
      if (offset >= segment.bytes.size()) return visit(page, absl::Span<const uint8_t>(), true);
      if (segment.bytes.size() - offset >= kPage) {
        return visit(page, segment.bytes.subspan(offset, kPage), true);
      }
    }
    // Pieces of segments.
    uint64_t copied = 0;
    std::array<uint8_t, kPage> bytes = {};
    for (uint64_t at = 0; at < kPage;) {
      const size_t now = dump_.memory.Copy(space_, page + at, absl::MakeSpan(bytes).subspan(at));
      copied += now;
      at += now;
      if (at >= kPage) break;
      const Memory::Segment* const next = dump_.memory.FindFrom(space_, page + at);
      if (next == nullptr || next->address - page >= kPage) break;
      at = std::max(at + 1, next->address - page);
    }
    return visit(page, absl::MakeConstSpan(bytes), copied == kPage);
  }

  const Dump& dump_;
  const uint32_t space_;
};

bool IsZero(absl::Span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

class RecordingWriter::Impl {
 public:
  Impl(const tables::Tables& tables, const Device& device, FileWriter out)
      : tables_(tables),
        out_(std::move(out)),
        packets_(out_),
        is_classic_(tables.FindContainer("CONTEXT_DESCRIPTOR") == tables::kNone) {
    Device named = device;
    if (named.verx10 == 0) named.verx10 = device.kernel_verx10;
    status_ = is_classic_ ? packets_.ClassicHeader(named, tables.title())
                          : packets_.Version(named, tables.title());
  }

  absl::Status Add(const Dump& dump) {
    if (status_.ok()) status_ = CheckSize(dump);
    if (!status_.ok()) return status_;
    status_ = is_classic_ ? AddClassic(dump) : AddTrace(dump);
    if (status_.ok()) Lose(dump);
    return status_;
  }

  absl::StatusOr<std::vector<std::string>> Finish() {
    if (status_.ok()) status_ = out_.Commit();
    if (!status_.ok()) return status_;
    return std::vector<std::string>(lost_.begin(), lost_.end());
  }

 private:
  // A context on an engine: one image, one ring.
  struct Image {
    uint32_t base = 0;
    uint64_t address = 0;
    uint64_t ring = 0;
    uint64_t ring_bytes = 0;
    uint64_t descriptor = 0;
    // Addresses of the registers' values.
    uint64_t head_at = 0, tail_at = 0, root_at = 0, root_high_at = 0;
    uint64_t root = 0;  // that it names
    uint64_t bytes = 0;
  };

  void LoseOne(std::string phrase) {
    if (std::find(lost_.begin(), lost_.end(), phrase) == lost_.end()) {
      lost_.push_back(std::move(phrase));
    }
  }

  void Lose(const Dump& dump) {
    const auto chosen = [](const Submission& one) { return one.kind != "context image"; };
    std::set<uint32_t> used = {kGlobalSpace};
    bool renumbered = false, images = false;
    for (const Submission& submission : dump.submissions) {
      if (!chosen(submission)) {
        images = true;
        continue;
      }
      used.insert(submission.space);
      used.insert(OwnSpace(submission));
      renumbered = renumbered || submission.context != 0;
    }
    if (is_classic_) used.erase(kGlobalSpace);
    if (!dump.buffers.empty()) LoseOne("buffers: names and extents");
    for (std::string& phrase :
         LostOfSubmissions(dump, {.engines = true, .rings = !is_classic_}, chosen)) {
      LoseOne(std::move(phrase));
    }
    if (renumbered) LoseOne("numbers of contexts, which count from 0 in their order");
    if (images) LoseOne("which memory is an image of a context");
    if (std::any_of(dump.memory.segments().begin(), dump.memory.segments().end(),
                    [&](const Memory::Segment& one) { return used.count(one.space) == 0; })) {
      LoseOne("address spaces of no submission");
    }
    if (parts_of_pages_) LoseOne("ends of memory within pages of 4 KiB, which zeros fill");
    if (!dump.device.driver.empty() || !dump.device.uapi.empty()) {
      LoseOne("names of the driver and of its interface");
    }
    for (std::string& phrase : LostBesides(dump)) LoseOne(std::move(phrase));
  }

  static absl::Status CheckSize(const Dump& dump) {
    uint64_t pages = 0;
    for (const Memory::Segment& segment : dump.memory.segments()) {
      const uint64_t size = dump.memory.Resolve(segment).memory_size;
      pages += size / kPage + (size % kPage == 0 ? 0 : 1);
      if (pages <= kMostPages) continue;
      return absl::ResourceExhaustedError(
          absl::StrCat("the dump has more than ", kMostPages,
                       " pages of memory, too many for a recording; write a GPU core dump"));
    }
    return absl::OkStatus();
  }

  // --- The classic family ---

  absl::Status AddClassic(const Dump& dump) {
    std::optional<uint32_t> space;
    for (const Submission& submission : dump.submissions) {
      if (!IsBatch(submission)) continue;
      if (space && *space != submission.space) {
        return absl::FailedPreconditionError(
            "a recording of this generation has one address space, and the dump's batches are in "
            "several; write a GPU core dump");
      }
      space = submission.space;
    }
    if (!space) {
      return absl::FailedPreconditionError(
          "a recording needs a batch: this dump has none; write a GPU core dump");
    }
    const auto format = sim::PageTableFormat::Make(tables_, sim::PageTableKind::kGlobal, 0);
    if (!format.ok()) return format.status();
    PagesOf pages(dump, *space);
    absl::Status status = pages.ForEach(
        [&](uint64_t page, absl::Span<const uint8_t> bytes, bool whole) -> absl::Status {
          if (page >= kGlobalEnd) {
            return absl::FailedPreconditionError(
                absl::StrFormat("a recording of this generation has addresses of 32 bits, "
                                "and the dump has memory "
                                "at 0x%x; write a GPU core dump",
                                page));
          }
          parts_of_pages_ = parts_of_pages_ || !whole;
          return WriteClassicPage(*format, page, bytes);
        });
    for (const Submission& submission : dump.submissions) {
      if (!status.ok()) break;
      if (!IsBatch(submission)) {
        if (submission.kind != "context image") LoseOne("rings");
        continue;
      }
      absl::StatusOr<std::vector<uint8_t>> start =
          StartOfBatch(tables_, submission.batch_address, false);
      if (!start.ok()) return start.status();
      const absl::string_view engine = ClassOf(tables_, submission.engine);
      status = packets_.ClassicRing(engine.empty() ? "render" : engine, *start);
    }
    return status;
  }

  absl::Status WriteClassicPage(const sim::PageTableFormat& format, uint64_t page,
                                absl::Span<const uint8_t> bytes) {
    const sim::Structure& entry = format.levels().front().entry;
    if (classic_pages_.insert(page).second) {
      const absl::StatusOr<uint64_t> value = format.EncodePage(0, NewPage(), {}, false);
      if (!value.ok()) return value.status();
      uint8_t encoded[sizeof(uint64_t)];
      decode::WriteBits(absl::MakeSpan(encoded), 0, 64, *value);
      absl::Status status =
          packets_.ClassicWrite(AubSpace::kGlobalEntry, page / kPage * entry.size(),
                                absl::MakeConstSpan(encoded, entry.size()));
      if (!status.ok()) return status;
    }
    static constexpr uint8_t kZeros[kPage] = {};
    return packets_.ClassicWrite(AubSpace::kGlobal, page,
                                 bytes.empty() ? absl::MakeConstSpan(kZeros) : bytes);
  }

  // --- The memory trace ---

  uint64_t NewPage() { return kPage * ++last_page_; }

  absl::Status WritePhysical(uint64_t page, absl::Span<const uint8_t> bytes) {
    return packets_.MemoryWrite(AubSpace::kSystem, page, bytes);
  }

  // All zeros are one page.
  absl::StatusOr<uint64_t> ZeroPage() {
    if (zero_page_ == 0) {
      zero_page_ = NewPage();
      static constexpr uint8_t kZeros[kPage] = {};
      absl::Status status = WritePhysical(zero_page_, kZeros);
      if (!status.ok()) return status;
    }
    return zero_page_;
  }

  absl::Status MapGlobal(uint64_t address, uint64_t physical) {
    const auto format = sim::PageTableFormat::Make(tables_, sim::PageTableKind::kGlobal, 0);
    if (!format.ok()) return format.status();
    const absl::StatusOr<uint64_t> value = format->EncodePage(0, physical, {}, false);
    if (!value.ok()) return value.status();
    uint8_t encoded[sizeof(uint64_t)];
    decode::WriteBits(absl::MakeSpan(encoded), 0, 64, *value);
    const uint64_t bytes = format->levels().front().entry.size();
    return packets_.MemoryWrite(AubSpace::kGlobalEntry, address / kPage * bytes,
                                absl::MakeConstSpan(encoded, bytes));
  }

  // Pages of the global space that nothing has, mapped and zero.
  absl::StatusOr<uint64_t> NewGlobal(const Dump& dump, uint64_t bytes) {
    for (uint64_t at = next_global_;;) {
      if (at + bytes > kGlobalEnd) {
        return absl::ResourceExhaustedError(
            "the dump's global space has no room for rings and contexts");
      }
      const Memory::Segment* const next = dump.memory.FindFrom(kGlobalSpace, at);
      if (next != nullptr && next->address < at + bytes) {
        if (next->last() >= kGlobalEnd) {
          at = kGlobalEnd;
          continue;
        }
        at = next->last() - next->last() % kPage + kPage;
        continue;
      }
      next_global_ = at + bytes;
      static constexpr uint8_t kZeros[kPage] = {};
      for (uint64_t page = at; page < at + bytes; page += kPage) {
        const uint64_t physical = NewPage();
        absl::Status status = MapGlobal(page, physical);
        if (status.ok()) status = WritePhysical(physical, kZeros);
        if (!status.ok()) return status;
      }
      return at;
    }
  }

  absl::Status AddTrace(const Dump& dump) {
    if (std::none_of(dump.submissions.begin(), dump.submissions.end(),
                     [](const Submission& one) { return IsBatch(one) || one.kind == "ring"; })) {
      return absl::FailedPreconditionError(
          "a recording needs a submission: this dump has none; write a GPU core dump");
    }
    roots_.clear();
    // Contexts continue from dump to dump, unless this one has memory where they are.
    const auto taken = [&](uint64_t address, uint64_t bytes) {
      const Memory::Segment* const next = dump.memory.FindFrom(kGlobalSpace, address);
      return next != nullptr && next->address < address + bytes;
    };
    for (const auto& [key, image] : images_) {
      if (!taken(image.address, image.bytes) && !taken(image.ring, image.ring_bytes)) continue;
      images_.clear();
      break;
    }
    absl::Status status = WriteGlobal(dump);
    for (const Submission& submission : dump.submissions) {
      if (!status.ok()) return status;
      if (IsBatch(submission) || submission.kind == "ring") status = Submit(dump, submission);
    }
    // Rings whose commands were overwritten later.
    for (const uint64_t page : ring_pages_) {
      if (!status.ok()) break;
      uint8_t bytes[kPage] = {};
      const size_t had = dump.memory.Copy(kGlobalSpace, page, absl::MakeSpan(bytes));
      if (had != 0) {
        status = packets_.MemoryWrite(AubSpace::kGlobal, page, absl::MakeConstSpan(bytes, had));
      }
    }
    ring_pages_.clear();
    return status;
  }

  // A dump after the first one overwrites what its predecessor had in the global space.
  absl::Status WriteGlobal(const Dump& dump) {
    PagesOf pages(dump, kGlobalSpace);
    return pages.ForEach(
        [&](uint64_t page, absl::Span<const uint8_t> bytes, bool whole) -> absl::Status {
          if (page >= kGlobalEnd) {
            LoseOne("the global space above 4 GiB");
            return absl::OkStatus();
          }
          parts_of_pages_ = parts_of_pages_ || !whole;
          const uint64_t physical = NewPage();
          absl::Status status = MapGlobal(page, physical);
          static constexpr uint8_t kZeros[kPage] = {};
          if (status.ok()) {
            status = WritePhysical(physical, bytes.empty() ? absl::MakeConstSpan(kZeros) : bytes);
          }
          return status;
        });
  }

  // Page tables of a space, with its memory.
  absl::StatusOr<sim::PageTableRoot> RootOf(const Dump& dump, uint32_t space) {
    const auto known = roots_.find(space);
    if (known != roots_.end()) return known->second;
    sim::PageTableRoot root = {.kind = sim::PageTableKind::kFourLevels, .tables = {NewPage()}};
    RecordedMemory tables(~uint64_t{0});
    static constexpr uint8_t kZeros[kPage] = {};
    tables.Write(RecordedMemory::kSystem, root.tables[0], kZeros);
    sim::PhysicalSpaces spaces = kPhysicalSpaces;
    spaces.tables = RecordedMemory::kSystem;
    absl::StatusOr<sim::PageTables> made = sim::PageTables::Open(tables_, tables, root, spaces);
    if (!made.ok()) return made.status();
    const uint64_t limit = made->limit();
    PagesOf pages(dump, space);
    absl::Status status = pages.ForEach(
        [&](uint64_t page, absl::Span<const uint8_t> bytes, bool whole) -> absl::Status {
          if (space == kGlobalSpace) return absl::OkStatus();
          if (page >= limit) {
            LoseOne(absl::StrFormat("memory at 0x%x and above", limit));
            return absl::OkStatus();
          }
          parts_of_pages_ = parts_of_pages_ || !whole;
          const bool zero = bytes.empty() || IsZero(bytes);
          const absl::StatusOr<uint64_t> physical =
              zero ? ZeroPage() : absl::StatusOr<uint64_t>(NewPage());
          if (!physical.ok()) return physical.status();
          absl::Status done = made->Map({.address = page, .physical = *physical, .bytes = kPage},
                                        [this]() -> absl::StatusOr<uint64_t> { return NewPage(); });
          if (done.ok() && !zero) done = WritePhysical(*physical, bytes);
          return done;
        });
    for (const auto& [page, version] : tables.pages(RecordedMemory::kSystem)) {
      if (status.ok()) status = WritePhysical(page, absl::MakeConstSpan(version.bytes, kPage));
    }
    if (!status.ok()) return status;
    roots_.emplace(space, root);
    return root;
  }

  absl::Status WriteRegister(const RegisterValue& write) {
    if (write.offset == 0) return absl::OkStatus();
    return packets_.RegisterWrite(write.offset, write.value);
  }

  // Execution lists, and a status page.
  absl::Status StartEngine(const Dump& dump, uint32_t base) {
    if (!engines_.insert(base).second) return absl::OkStatus();
    for (const absl::string_view field : {"Execlist Enable", "Disable Legacy Mode"}) {
      absl::Status status = WriteRegister(FieldOfRegister(tables_, base, "GFX_MODE", field, 1));
      if (!status.ok()) return status;
    }
    const absl::StatusOr<uint64_t> page = NewGlobal(dump, kPage);
    if (!page.ok()) return page.status();
    return WriteRegister(FieldOfRegister(tables_, base, "HWS_PGA", "Address", *page));
  }

  absl::StatusOr<uint64_t> DescriptorOf(uint64_t image, uint32_t number) const {
    const absl::StatusOr<sim::Structure> structure =
        sim::Structure::Find(tables_, "CONTEXT_DESCRIPTOR");
    if (!structure.ok()) return structure.status();
    std::array<uint8_t, 8> bytes = {};
    absl::Status status;
    const auto set = [&](absl::string_view name, uint64_t value) {
      status.Update(structure->Set(absl::MakeSpan(bytes), structure->Field(name), value));
    };
    const std::optional<uint64_t> mode = structure->NamedValue(
        structure->Field("Addressing Mode"), "Legacy context with 64-bit addresses");
    set("Valid", 1);
    set("Addressing Mode", mode.value_or(0));
    set("Privilege Access", 1);
    set("Logical Ring Context Address", image);
    set(structure->Field("Context ID") ? "Context ID" : "Software Context ID", number);
    if (!status.ok()) return status;
    return decode::ReadBits(bytes, 0, 64);
  }

  absl::string_view LayoutOf(absl::string_view engine) const {
    const absl::string_view name = ClassOf(tables_, engine);
    if (name == "render" || name == "compute" || name.empty()) return "RENDER_CONTEXT_REGISTERS";
    constexpr absl::string_view kBlitter = "BLITTER_CONTEXT_REGISTERS";
    const bool has = tables_.FindContainer(kBlitter) != tables::kNone;
    return has && name == ClassOf(tables_, "copy") ? kBlitter : "CONTEXT_REGISTERS";
  }

  // `ring`: where the dump has it; else it is a new one.
  absl::StatusOr<Image*> ImageOf(const Dump& dump, const Submission& submission) {
    const std::optional<uint64_t> ring_address =
        submission.ring ? std::make_optional(submission.ring->address) : std::nullopt;
    const absl::StatusOr<sim::PageTableRoot> root = RootOf(dump, OwnSpace(submission));
    if (!root.ok()) return root.status();
    const auto key =
        std::make_tuple(submission.context, submission.slot, submission.engine, ring_address);
    if (const auto known = images_.find(key); known != images_.end()) {
      absl::Status status = SetRoot(known->second, root->tables[0]);
      if (!status.ok()) return status;
      return &known->second;
    }
    Image image;
    image.root = root->tables[0];
    image.base = BaseOfEngine(tables_, submission.engine).value_or(sim::DescribedBase(tables_));
    if (ClassOf(tables_, submission.engine).empty()) {
      LoseOne(absl::StrCat("the engine ", submission.engine, ", which ", tables_.generation(),
                           " does not have: submitted to render"));
    }
    absl::Status status = StartEngine(dump, image.base);
    if (!status.ok()) return status;
    sim::ContextDescription description;
    description.layout = LayoutOf(submission.engine);
    description.engine_base = image.base;
    description.page_tables = *root;
    image.ring_bytes = submission.ring ? submission.ring->size : kRingBytes;
    if (image.ring_bytes == 0 || image.ring_bytes % kPage != 0 || image.ring_bytes > kMostRing) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "a ring of 0x%x bytes cannot be recorded: rings have whole pages, at most 0x%x bytes",
          image.ring_bytes, kMostRing));
    }
    const bool renders = description.layout == "RENDER_CONTEXT_REGISTERS";
    description.bytes = renders ? kRenderImage : kOtherImage;
    absl::StatusOr<uint64_t> place = NewGlobal(dump, kPage + description.bytes);
    if (!place.ok()) return place.status();
    image.address = *place;
    image.bytes = kPage + description.bytes;
    if (ring_address) {
      image.ring = *ring_address;
    } else {
      place = NewGlobal(dump, kRingBytes);
      if (!place.ok()) return place.status();
      image.ring = *place;
    }
    description.ring_address = image.ring;
    description.ring_bytes = static_cast<uint32_t>(image.ring_bytes);
    const auto bytes = sim::MakeContextImage(tables_, description);
    if (!bytes.ok()) return bytes.status();
    for (uint64_t at = 0; at < bytes->size() && status.ok(); at += kPage) {
      const auto page = absl::MakeConstSpan(*bytes).subspan(at, kPage);
      if (!IsZero(page)) status = packets_.MemoryWrite(AubSpace::kGlobal, image.address + at, page);
    }
    if (!status.ok()) return status;
    status = FindRing(absl::MakeConstSpan(*bytes).subspan(sim::kContextStatusPage), image);
    if (!status.ok()) return status;
    const absl::StatusOr<uint64_t> descriptor =
        DescriptorOf(image.address, static_cast<uint32_t>(images_.size() + 1));
    if (!descriptor.ok()) return descriptor.status();
    image.descriptor = *descriptor;
    return &images_.emplace(key, image).first->second;
  }

  absl::Status FindRing(absl::Span<const uint8_t> list, Image& image) const {
    sim::ContextImage::Options options;
    options.engine_base = image.base;
    const absl::StatusOr<sim::ContextImage> loads =
        sim::ContextImage::Parse(tables_, options, list);
    if (!loads.ok()) return loads.status();
    const auto find = [&](absl::string_view name, uint64_t* at) {
      const sim::ImageRegister* const one = loads->Find(name);
      if (one != nullptr) *at = image.address + sim::kContextStatusPage + one->at;
      return one != nullptr;
    };
    const bool ring =
        find("RING_BUFFER_HEAD", &image.head_at) && find("RING_BUFFER_TAIL", &image.tail_at);
    const bool root = (find("PTBP_LDW", &image.root_at) && find("PTBP_UDW", &image.root_high_at)) ||
                      (find("PDP0_LDW", &image.root_at) && find("PDP0_UDW", &image.root_high_at));
    if (ring && root) return absl::OkStatus();
    return absl::NotFoundError("the context image has no ring, or no page tables");
  }

  // The context goes on with other page tables.
  absl::Status SetRoot(Image& image, uint64_t root) {
    if (image.root == root) return absl::OkStatus();
    image.root = root;
    absl::Status status = WriteDword(image.root_at, root);
    if (status.ok()) status = WriteDword(image.root_high_at, root >> 32);
    return status;
  }

  absl::Status WriteDword(uint64_t address, uint64_t value) {
    std::array<uint8_t, 8> bytes;
    decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
    return packets_.MemoryWrite(AubSpace::kGlobal, address,
                                absl::MakeConstSpan(bytes).subspan(0, 4));
  }

  // Commands in the image's ring.
  absl::Status WriteRing(const Image& image, uint64_t offset, absl::Span<const uint8_t> commands) {
    absl::Status status;
    for (size_t done = 0; done < commands.size() && status.ok();) {
      const uint64_t at = (offset + done) % image.ring_bytes;
      const size_t now =
          std::min<uint64_t>({commands.size() - done, kPage - at % kPage, image.ring_bytes - at});
      status =
          packets_.MemoryWrite(AubSpace::kGlobal, image.ring + at, commands.subspan(done, now));
      done += now;
    }
    return status;
  }

  absl::Status Submit(const Dump& dump, const Submission& submission) {
    const absl::StatusOr<Image*> image = ImageOf(dump, submission);
    if (!image.ok()) return image.status();
    uint64_t head = 0;
    std::vector<uint8_t> commands;
    if (IsBatch(submission)) {
      const bool global = submission.space == kGlobalSpace;
      absl::StatusOr<std::vector<uint8_t>> start =
          StartOfBatch(tables_, submission.batch_address, !global);
      if (!start.ok()) return start.status();
      commands = *std::move(start);
      commands.resize((commands.size() + 7) / 8 * 8);  // tails are multiples of 8
    } else if (!submission.ring) {
      return absl::FailedPreconditionError("a ring without its extent cannot be recorded");
    } else {
      const absl::Status read = ReadRing(dump, submission, commands);
      if (!read.ok()) return read;
      head = submission.batch_address - submission.ring->address;
    }
    const uint64_t tail = (head + commands.size()) % (*image)->ring_bytes;
    absl::Status status = WriteRing(**image, head, commands);
    if (status.ok()) status = WriteDword((*image)->head_at, head);
    if (status.ok()) status = WriteDword((*image)->tail_at, tail);
    if (status.ok()) status = Load((*image)->base, (*image)->descriptor);
    return status;
  }

  absl::Status ReadRing(const Dump& dump, const Submission& submission,
                        std::vector<uint8_t>& commands) {
    const Submission::Ring& ring = *submission.ring;
    if (submission.batch_address < ring.address ||
        submission.batch_address - ring.address >= ring.size ||
        submission.batch_length >= ring.size || ring.size > kMostRing) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "the ring at 0x%x has 0x%x bytes, and cannot hold commands from 0x%x on, 0x%x bytes",
          ring.address, ring.size, submission.batch_address, submission.batch_length));
    }
    commands.resize(submission.batch_length);
    const uint64_t first =
        std::min(submission.batch_length, ring.address + ring.size - submission.batch_address);
    size_t read = dump.memory.Copy(submission.space, submission.batch_address,
                                   absl::MakeSpan(commands).subspan(0, first));
    if (read == first) {
      read +=
          dump.memory.Copy(submission.space, ring.address, absl::MakeSpan(commands).subspan(first));
    }
    commands.resize(read / 8 * 8);
    for (uint64_t page = ring.address; page < ring.address + ring.size; page += kPage) {
      ring_pages_.insert(page);
    }
    return absl::OkStatus();
  }

  // Gives the engine the context, and waits until it has taken it.
  absl::Status Load(uint32_t base, uint64_t descriptor) {
    const auto low = static_cast<uint32_t>(descriptor);
    const auto high = static_cast<uint32_t>(descriptor >> 32);
    const auto offset = [&](absl::string_view name) {
      const uint32_t container = tables_.FindContainer(name);
      if (container == tables::kNone) return uint32_t{0};
      return tables_.container(container).register_offset - sim::DescribedBase(tables_) + base;
    };
    absl::Status status;
    const auto write = [&](uint32_t at, uint32_t value) {
      if (status.ok()) status = packets_.RegisterWrite(at, value);
    };
    if (const uint32_t port = offset("ELSP"); port != 0) {
      for (const uint32_t value : {0u, 0u, high, low}) write(port, value);
      return Poll(base, "Execlist 0 Valid", 0, status);
    }
    const uint32_t queue = offset("EXECLIST_SQ_CONTENTS0");
    write(queue, low);
    write(queue + 4, high);
    const RegisterValue load =
        FieldOfRegister(tables_, base, "EXECLIST_CONTROL", "Load Submit Queue", 1);
    write(load.offset, load.value);
    return Poll(base, "Load Complete", 1, status);
  }

  absl::Status Poll(uint32_t base, absl::string_view field, uint64_t value, absl::Status status) {
    if (!status.ok()) return status;
    const RegisterValue mask = FieldOfRegister(tables_, base, "EXECLIST_STATUS", field, 1);
    if (mask.offset == 0) return status;
    return packets_.RegisterPoll(mask.offset, mask.value, value == 0 ? 0 : mask.value);
  }

  static constexpr uint64_t kMostRing = 2u << 20;

  using ImageKey = std::tuple<uint32_t, uint32_t, std::string, std::optional<uint64_t>>;

  const tables::Tables tables_;
  FileWriter out_;
  AubWriter packets_;
  const bool is_classic_;
  absl::Status status_;
  uint64_t last_page_ = 0;  // that was taken, by number
  uint64_t zero_page_ = 0;
  uint64_t next_global_ = kFirstGlobal;
  std::map<uint32_t, sim::PageTableRoot> roots_;  // of the dump, by space
  std::map<ImageKey, Image> images_;
  std::set<uint32_t> engines_;
  std::set<uint64_t> classic_pages_, ring_pages_;
  std::vector<std::string> lost_;
  bool parts_of_pages_ = false;
};

RecordingWriter::RecordingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

absl::StatusOr<RecordingWriter> RecordingWriter::Create(const tables::Tables& tables,
                                                        const Device& device,
                                                        const std::string& path) {
  absl::StatusOr<FileWriter> out = FileWriter::Create(path);
  if (!out.ok()) return out.status();
  return RecordingWriter(std::make_unique<Impl>(tables, device, *std::move(out)));
}

absl::Status RecordingWriter::Add(const Dump& dump) { return impl_->Add(dump); }

absl::StatusOr<std::vector<std::string>> RecordingWriter::Finish() { return impl_->Finish(); }

}  // namespace packsmith::aub
