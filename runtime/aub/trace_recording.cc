#include "runtime/aub/trace_recording.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/aub/engines.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::aub {
namespace {

constexpr uint64_t kRingBytes = kPageBytes;
constexpr uint64_t kMostRing = 2u << 20;
// Of an engine that renders, and of another: the largest of all generations.
constexpr uint64_t kRenderImage = 22 * kPageBytes, kOtherImage = 2 * kPageBytes;

}  // namespace

absl::Status TraceRecording::Add(const Dump& dump) {
  if (std::none_of(dump.submissions.begin(), dump.submissions.end(),
                   [](const Submission& one) { return IsBatch(one) || one.kind == "ring"; })) {
    return absl::FailedPreconditionError(
        "a recording needs a submission: this dump has none; write a GPU core dump");
  }
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
  absl::Status status = memory_.Begin(dump);
  for (const Submission& submission : dump.submissions) {
    if (!status.ok()) return status;
    if (IsBatch(submission) || submission.kind == "ring") status = Submit(dump, submission);
  }
  // Rings whose commands were overwritten later.
  for (const uint64_t page : ring_pages_) {
    if (!status.ok()) break;
    uint8_t bytes[kPageBytes] = {};
    const size_t had = dump.memory.Copy(kGlobalSpace, page, absl::MakeSpan(bytes));
    if (had != 0) {
      status = packets_.MemoryWrite(AubSpace::kGlobal, page, absl::MakeConstSpan(bytes, had));
    }
  }
  ring_pages_.clear();
  return status;
}

absl::Status TraceRecording::WriteRegister(const RegisterValue& write) {
  if (write.offset == 0) return absl::OkStatus();
  return packets_.RegisterWrite(write.offset, write.value);
}

absl::Status TraceRecording::StartEngine(const Dump& dump, uint32_t base) {
  if (!engines_.insert(base).second) return absl::OkStatus();
  for (const absl::string_view field : {"Execlist Enable", "Disable Legacy Mode"}) {
    absl::Status status = WriteRegister(FieldOfRegister(tables_, base, "GFX_MODE", field, 1));
    if (!status.ok()) return status;
  }
  const absl::StatusOr<uint64_t> page = memory_.NewGlobal(dump, kPageBytes);
  if (!page.ok()) return page.status();
  return WriteRegister(FieldOfRegister(tables_, base, "HWS_PGA", "Address", *page));
}

absl::StatusOr<uint64_t> TraceRecording::DescriptorOf(uint64_t image, uint32_t number) const {
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

absl::string_view TraceRecording::LayoutOf(absl::string_view engine) const {
  const absl::string_view name = ClassOf(tables_, engine);
  if (name == "render" || name == "compute" || name.empty()) return "RENDER_CONTEXT_REGISTERS";
  constexpr absl::string_view kBlitter = "BLITTER_CONTEXT_REGISTERS";
  const bool has = tables_.FindContainer(kBlitter) != tables::kNone;
  return has && name == ClassOf(tables_, "copy") ? kBlitter : "CONTEXT_REGISTERS";
}

absl::StatusOr<TraceRecording::Image*> TraceRecording::ImageOf(const Dump& dump,
                                                               const Submission& submission) {
  const std::optional<uint64_t> ring_address =
      submission.ring ? std::make_optional(submission.ring->address) : std::nullopt;
  const absl::StatusOr<sim::PageTableRoot> root = memory_.RootOf(dump, OwnSpace(submission));
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
    lost_.Add(absl::StrCat("the engine ", submission.engine, ", which ", tables_.generation(),
                           " does not have: submitted to render"));
  }
  absl::Status status = StartEngine(dump, image.base);
  if (!status.ok()) return status;
  sim::ContextDescription description;
  description.layout = LayoutOf(submission.engine);
  description.engine_base = image.base;
  description.page_tables = *root;
  const uint64_t ring_bytes = submission.ring ? submission.ring->size : kRingBytes;
  if (ring_bytes == 0 || ring_bytes > kMostRing) {
    return absl::FailedPreconditionError(
        absl::StrFormat("a ring of 0x%x bytes cannot be recorded: rings have at most 0x%x bytes",
                        ring_bytes, kMostRing));
  }
  image.ring_bytes = (ring_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool renders = description.layout == "RENDER_CONTEXT_REGISTERS";
  description.bytes = renders ? kRenderImage : kOtherImage;
  absl::StatusOr<uint64_t> place = memory_.NewGlobal(dump, kPageBytes + description.bytes);
  if (!place.ok()) return place.status();
  image.address = *place;
  image.bytes = kPageBytes + description.bytes;
  if (ring_address) {
    image.ring = *ring_address;
  } else {
    place = memory_.NewGlobal(dump, kRingBytes);
    if (!place.ok()) return place.status();
    image.ring = *place;
  }
  description.ring_address = image.ring;
  description.ring_bytes = static_cast<uint32_t>(image.ring_bytes);
  const auto bytes = sim::MakeContextImage(tables_, description);
  if (!bytes.ok()) return bytes.status();
  for (uint64_t at = 0; at < bytes->size() && status.ok(); at += kPageBytes) {
    const auto page = absl::MakeConstSpan(*bytes).subspan(at, kPageBytes);
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

absl::Status TraceRecording::FindRing(absl::Span<const uint8_t> list, Image& image) const {
  sim::ContextImage::Options options;
  options.engine_base = image.base;
  const absl::StatusOr<sim::ContextImage> loads = sim::ContextImage::Parse(tables_, options, list);
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

absl::Status TraceRecording::SetRoot(Image& image, uint64_t root) {
  if (image.root == root) return absl::OkStatus();
  image.root = root;
  absl::Status status = WriteDword(image.root_at, root);
  if (status.ok()) status = WriteDword(image.root_high_at, root >> 32);
  return status;
}

absl::Status TraceRecording::WriteDword(uint64_t address, uint64_t value) {
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  return packets_.MemoryWrite(AubSpace::kGlobal, address, absl::MakeConstSpan(bytes).subspan(0, 4));
}

absl::Status TraceRecording::WriteRing(const Image& image, uint64_t offset,
                                       absl::Span<const uint8_t> commands) {
  absl::Status status;
  for (size_t done = 0; done < commands.size() && status.ok();) {
    const uint64_t at = (offset + done) % image.ring_bytes;
    const size_t now = std::min<uint64_t>(
        {commands.size() - done, kPageBytes - at % kPageBytes, image.ring_bytes - at});
    status = packets_.MemoryWrite(AubSpace::kGlobal, image.ring + at, commands.subspan(done, now));
    done += now;
  }
  return status;
}

absl::Status TraceRecording::Submit(const Dump& dump, const Submission& submission) {
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

absl::Status TraceRecording::ReadRing(const Dump& dump, const Submission& submission,
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
  for (uint64_t page = ring.address; page < ring.address + ring.size; page += kPageBytes) {
    ring_pages_.insert(page);
  }
  return absl::OkStatus();
}

absl::Status TraceRecording::Load(uint32_t base, uint64_t descriptor) {
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

absl::Status TraceRecording::Poll(uint32_t base, absl::string_view field, uint64_t value,
                                  absl::Status status) {
  if (!status.ok()) return status;
  const RegisterValue mask = FieldOfRegister(tables_, base, "EXECLIST_STATUS", field, 1);
  if (mask.offset == 0) return status;
  return packets_.RegisterPoll(mask.offset, mask.value, value == 0 ? 0 : mask.value);
}

}  // namespace packsmith::aub
