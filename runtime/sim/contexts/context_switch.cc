#include "runtime/sim/contexts/context_switch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/quad_word.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::sim {
namespace {

constexpr absl::string_view kControl = "CTX_CONTEXT_CONTROL";
constexpr absl::string_view kRestoreInhibit = "Engine Context Restore Inhibit";

}  // namespace

uint64_t ContextSwitch::Image::Get(const tables::Tables& tables, absl::string_view name,
                                   absl::string_view field) const {
  const ImageRegister* one = loads.Find(name);
  if (one == nullptr) return 0;
  const absl::StatusOr<Structure> structure = Structure::Make(tables, one->container);
  if (!structure.ok()) return 0;
  return structure->Get(QuadWord(ContextImage::Get(list, *one)), structure->Field(field));
}

absl::StatusOr<ContextSwitch::Image> ContextSwitch::Read(uint64_t address, uint64_t bytes) const {
  std::vector<uint8_t> list(bytes);
  list.resize(memory_->Read(options_.space, address, absl::MakeSpan(list)));
  ContextImage::Options options;
  options.engine_base = options_.engine_base;
  options.engine = options_.engine;
  absl::StatusOr<ContextImage> loads = ContextImage::Parse(tables_, options, list);
  if (!loads.ok()) {
    return absl::Status(loads.status().code(),
                        absl::StrFormat("context registers at 0x%x of space %d: %s", address,
                                        options_.space, loads.status().message()));
  }
  return Image{address, std::move(list), *std::move(loads)};
}

absl::StatusOr<ContextSwitch::Image> ContextSwitch::ReadMain(uint64_t image) const {
  return Read(image + kContextStatusPage, options_.image_bytes);
}

absl::StatusOr<std::optional<ContextSwitch::Image>> ContextSwitch::ReadRingPage(
    const Image& image) const {
  if (image.Get(tables_, kControl, "Indirect Ring State Enable") == 0) return std::nullopt;
  absl::StatusOr<Image> page = Read(
      image.Get(tables_, "INDIRECT_RING_STATE", "Indirect Ring State Address"), kContextStatusPage);
  if (!page.ok()) return page.status();
  return *std::move(page);
}

absl::Status ContextSwitch::Restore(uint64_t image) {
  const absl::StatusOr<Image> main = ReadMain(image);
  if (!main.ok()) return main.status();
  const absl::StatusOr<std::optional<Image>> ring = ReadRingPage(*main);
  if (!ring.ok()) return ring.status();
  const bool inhibited = main->Get(tables_, kControl, kRestoreInhibit) != 0;
  runner_->BeginContext(image, inhibited);
  const uint64_t ring_context = ContextImage::Options().relative_bytes;
  main->loads.Load(main->list, [&](const ImageRegister& one, uint32_t value) {
    if (inhibited && one.at >= ring_context) return;
    runner_->WriteRegister(one.offset, value);
  });
  if (!ring->has_value()) return absl::OkStatus();
  (*ring)->loads.Load((*ring)->list, [&](const ImageRegister& one, uint32_t value) {
    runner_->WriteRegister(one.offset, value);
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> ContextSwitch::RestoreTail(uint64_t image) {
  const absl::StatusOr<Image> main = ReadMain(image);
  if (!main.ok()) return main.status();
  const absl::StatusOr<std::optional<Image>> ring = ReadRingPage(*main);
  if (!ring.ok()) return ring.status();
  const Image& holder = ring->has_value() ? **ring : *main;
  const ImageRegister* tail = holder.loads.Find("RING_BUFFER_TAIL");
  if (tail == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the context at 0x%x does not load the ring's tail", image));
  }
  const uint32_t value = ContextImage::Get(holder.list, *tail);
  const bool moved = value != runner_->ReadRegister(tail->offset, tail->occurrence);
  runner_->WriteRegister(tail->offset, value);
  return moved;
}

absl::Status ContextSwitch::SaveList(const Image& image) {
  std::vector<uint8_t> list = image.list;
  image.loads.Save(absl::MakeSpan(list), [&](const ImageRegister& one) {
    return runner_->ReadRegister(one.offset, one.occurrence);
  });
  if (const ImageRegister* control = image.loads.Find(kControl)) {
    const absl::StatusOr<Structure> structure = Structure::Make(tables_, control->container);
    if (!structure.ok()) return structure.status();
    std::array<uint8_t, 8> bytes = QuadWord(ContextImage::Get(list, *control));
    absl::Status set = structure->Set(absl::MakeSpan(bytes), structure->Field(kRestoreInhibit), 0);
    if (!set.ok()) return set;
    ContextImage::Set(absl::MakeSpan(list), *control,
                      static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32)));
  }
  // The driver may write the tail at any time: only what has changed is written.
  for (const ImageRegister& one : image.loads.registers()) {
    const absl::Span<const uint8_t> value = absl::MakeSpan(list).subspan(one.at, 4);
    const auto before = image.list.begin() + static_cast<ptrdiff_t>(one.at);
    if (std::equal(value.begin(), value.end(), before)) continue;
    if (memory_->Write(options_.space, image.address + one.at, value) != value.size()) {
      return absl::NotFoundError(absl::StrFormat(
          "the context registers at 0x%x cannot be saved: there is no memory", image.address));
    }
  }
  return absl::OkStatus();
}

absl::Status ContextSwitch::Save(uint64_t image) {
  const absl::StatusOr<Image> main = ReadMain(image);
  if (!main.ok()) return main.status();
  const absl::StatusOr<std::optional<Image>> ring = ReadRingPage(*main);
  if (!ring.ok()) return ring.status();
  absl::Status status = SaveList(*main);
  if (status.ok() && ring->has_value()) status = SaveList(**ring);
  return status;
}

}  // namespace packsmith::sim
