#include "runtime/sim/contexts/execlists.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/value.h"

namespace packsmith::sim {
namespace {

using tables::kNone;

constexpr size_t kMostProblems = 64;

// Two writes to ELSP are a descriptor, the upper half first; of two elements the second one first.
constexpr size_t kPortWrites = 4;
constexpr size_t kPortElements = 2;

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::array<uint8_t, 8> Bytes(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  return bytes;
}

}  // namespace

// The loads of an image, and where they are.
struct Execlists::Image {
  std::vector<uint8_t> list;
  ContextImage loads;
};

Execlists::Execlists(const tables::Tables& tables, MemoryAccess& memory, RingRunner& runner,
                     const Options& options, const Structure& descriptor, const Structure& status,
                     const Structure& page)
    : tables_(tables),
      memory_(&memory),
      runner_(&runner),
      options_(options),
      descriptor_(descriptor),
      status_(status),
      page_(page) {}

absl::StatusOr<Execlists> Execlists::Make(const tables::Tables& tables, MemoryAccess& memory,
                                          RingRunner& runner, const Options& options) {
  const absl::StatusOr<Structure> descriptor = Structure::Find(tables, "CONTEXT_DESCRIPTOR");
  const absl::StatusOr<Structure> status = Structure::Find(tables, "CONTEXT_STATUS");
  const absl::StatusOr<Structure> page = Structure::Find(tables, "HARDWARE_STATUS_PAGE");
  for (const auto* found : {&descriptor, &status, &page}) {
    if (!found->ok()) return found->status();
  }
  Execlists lists(tables, memory, runner, options, *descriptor, *status, *page);
  absl::Status made = lists.FindRegisters();
  made.Update(lists.FindEntries());
  if (!made.ok()) return made;
  lists.Reset();
  return lists;
}

uint32_t Execlists::OffsetOf(absl::string_view name) const {
  const uint32_t container = tables_.FindContainer(name);
  if (container == kNone) return 0;
  const uint32_t offset = tables_.container(container).register_offset;
  return offset - DescribedBase(tables_) + options_.engine_base;
}

absl::Status Execlists::FindRegisters() {
  offsets_.elsp = OffsetOf("ELSP");
  offsets_.control = OffsetOf("EXECLIST_CONTROL");
  offsets_.status = OffsetOf("EXECLIST_STATUS");
  offsets_.status_high = OffsetOf("EXECLIST_STATUS_UDW");
  offsets_.lrca = OffsetOf("CURRENT_LRCA");
  offsets_.pointer = OffsetOf("CONTEXT_STATUS_BUFFER_PTR");
  const auto all = [&](absl::string_view name, std::vector<uint32_t>& to) {
    for (size_t i = 0;; ++i) {
      const uint32_t offset = OffsetOf(absl::StrCat(name, i));
      if (offset == 0) return;
      to.push_back(offset);
    }
  };
  all("EXECLIST_SQ_CONTENTS", offsets_.queue);
  all("CONTEXT_STATUS_BUFFER", offsets_.buffer);
  if (offsets_.elsp == 0 && (offsets_.control == 0 || offsets_.queue.empty())) {
    return absl::NotFoundError(
        absl::StrCat(tables_.generation(), " has neither a submit port nor a submit queue"));
  }
  queue_.resize(offsets_.queue.size() * 2);
  return absl::OkStatus();
}

absl::Status Execlists::FindEntries() {
  const auto leaves = tables_.leaves(status_.container().leaves);
  if (leaves.empty()) return absl::InvalidArgumentError("CONTEXT_STATUS has no fields");
  const absl::string_view first = tables_.string(leaves[0].name);
  for (size_t i = 0;; ++i) {
    const StructureField field = page_.Field(absl::StrCat("Context Status[", i, "].", first));
    if (!field) break;
    entry_offsets_.push_back((field.bit() - leaves[0].bit) / 8);
  }
  last_field_ = page_.Field("Context Status Last Written");
  if (entry_offsets_.empty() || !last_field_) {
    return absl::InvalidArgumentError(
        "HARDWARE_STATUS_PAGE must have \"Context Status\" and \"Context Status Last Written\"");
  }
  events_.resize(entry_offsets_.size());
  return absl::OkStatus();
}

size_t Execlists::MostElements() const {
  return offsets_.elsp != 0 ? kPortElements : offsets_.queue.size();
}

void Execlists::Reset() {
  running_.reset();
  pending_.reset();
  port_.clear();
  std::fill(events_.begin(), events_.end(), 0);
  // The first event is entry 0.
  last_ = events_.size() - 1;
  read_pointer_ = static_cast<uint32_t>(last_);
  next_slot_ = 0;
  last_reason_ = 0;
}

// --- Descriptors ---

uint64_t Execlists::ImageOf(uint64_t descriptor) const {
  return descriptor_.Get(Bytes(descriptor), descriptor_.Field("Logical Ring Context Address"));
}

bool Execlists::Flag(uint64_t descriptor, absl::string_view field) const {
  return descriptor_.Get(Bytes(descriptor), descriptor_.Field(field)) != 0;
}

uint64_t Execlists::IdOf(uint64_t descriptor) const {
  // Until Gfx11 an event has the upper half of the descriptor.
  if (status_.Field("Context ID")) return High(descriptor);
  return descriptor_.Get(Bytes(descriptor), descriptor_.Field("Software Context ID"));
}

uint64_t Execlists::active() const { return running_ ? running_->now() : 0; }

std::vector<uint64_t> Execlists::Submitted() const {
  std::vector<uint64_t> all;
  for (const std::optional<List>* list : {&running_, &pending_}) {
    if (!list->has_value()) continue;
    all.insert(all.end(), (*list)->descriptors.begin() + static_cast<ptrdiff_t>((*list)->active),
               (*list)->descriptors.end());
  }
  return all;
}

// --- Submitting ---

absl::Status Execlists::Submit(absl::Span<const uint64_t> descriptors) {
  List list;
  for (const uint64_t descriptor : descriptors) {
    if (!Flag(descriptor, "Valid")) break;
    list.descriptors.push_back(descriptor);
  }
  if (list.descriptors.empty()) {
    return absl::InvalidArgumentError("the first context of an execution list must be valid");
  }
  if (descriptors.size() > MostElements()) {
    return absl::InvalidArgumentError(absl::StrCat("an execution list has at most ", MostElements(),
                                                   " contexts, not ", descriptors.size()));
  }
  if (pending_) {
    return absl::FailedPreconditionError(
        "a list is pending: the next one may follow when an event says that it has been taken "
        "over");
  }
  list.slot = next_slot_;
  const uint64_t first = list.descriptors.front();
  if (!running_) {
    if (absl::Status status = Restore(first); !status.ok()) return status;
    next_slot_ = 1 - next_slot_;
    running_ = std::move(list);
    Report(Reason::kStart, first, 0);
    return absl::OkStatus();
  }
  const uint64_t before = running_->now();
  if (ImageOf(first) != ImageOf(before)) {
    next_slot_ = 1 - next_slot_;
    pending_ = std::move(list);
    return absl::OkStatus();
  }
  absl::Status status;
  if (Flag(first, "Force Restore")) {
    status = Save(before);
    if (status.ok()) status = Restore(first);
  } else {
    status = RestoreTail(first);
  }
  if (!status.ok()) return status;
  next_slot_ = 1 - next_slot_;
  running_ = std::move(list);
  Report(Reason::kLiteRestore, first, before);
  return absl::OkStatus();
}

absl::StatusOr<bool> Execlists::WriteRegister(uint32_t offset, uint32_t value) {
  if (offset == 0) return false;
  if (offset == offsets_.elsp) {
    port_.push_back(value);
    if (port_.size() < kPortWrites) return true;
    const auto descriptor = [&](size_t at) { return uint64_t{port_[at]} << 32 | port_[at + 1]; };
    const uint64_t both[] = {descriptor(2), descriptor(0)};
    port_.clear();
    absl::Status status = Submit(both);
    if (!status.ok()) return status;
    return true;
  }
  for (size_t i = 0; i < offsets_.queue.size(); ++i) {
    if (offset != offsets_.queue[i] && offset != offsets_.queue[i] + 4) continue;
    queue_[i * 2 + (offset - offsets_.queue[i]) / 4] = value;
    return true;
  }
  if (offset == offsets_.control) {
    const absl::StatusOr<Structure> control = Structure::Find(tables_, "EXECLIST_CONTROL");
    if (!control.ok()) return control.status();
    if (control->Get(Bytes(value), control->Field("Load")) == 0) return true;
    std::vector<uint64_t> descriptors;
    for (size_t i = 0; i < queue_.size(); i += 2) {
      descriptors.push_back(uint64_t{queue_[i + 1]} << 32 | queue_[i]);
    }
    absl::Status status = Submit(descriptors);
    if (!status.ok()) return status;
    return true;
  }
  if (offset == offsets_.pointer) {
    const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
    if (!pointer.ok()) return pointer.status();
    const StructureField read = pointer->Field("Read Pointer");
    const absl::StatusOr<uint32_t> bits = pointer->Dword(read, 1);
    const uint64_t mask = pointer->Get(Bytes(value), pointer->Field("Mask"));
    if (bits.ok() && (mask & *bits) != 0) {
      read_pointer_ = static_cast<uint32_t>(pointer->Get(Bytes(value), read));
    }
    return true;
  }
  return false;
}

std::optional<uint32_t> Execlists::ReadRegister(uint32_t offset) const {
  if (offset == 0) return std::nullopt;
  if (offset == offsets_.status) return StatusDword();
  if (offset == offsets_.status_high) return static_cast<uint32_t>(High(active()));
  if (offset == offsets_.lrca) {
    const absl::StatusOr<Structure> lrca = Structure::Find(tables_, "CURRENT_LRCA");
    if (!lrca.ok() || !running_) return 0;
    std::array<uint8_t, 8> bytes = {};
    absl::Status status = lrca->Set(absl::MakeSpan(bytes), lrca->Field("Valid"), 1);
    status.Update(lrca->Set(absl::MakeSpan(bytes), lrca->Field("Logical Ring Context Address"),
                            ImageOf(active())));
    return Low(decode::ReadBits(bytes, 0, 64));
  }
  if (offset == offsets_.elsp) return 0;
  for (size_t i = 0; i < offsets_.queue.size(); ++i) {
    if (offset == offsets_.queue[i]) return queue_[i * 2];
    if (offset == offsets_.queue[i] + 4) return queue_[i * 2 + 1];
  }
  for (size_t i = 0; i < std::min(offsets_.buffer.size(), events_.size()); ++i) {
    if (offset == offsets_.buffer[i]) return Low(events_[i]);
    if (offset == offsets_.buffer[i] + 4) return High(events_[i]);
  }
  if (offset == offsets_.pointer) {
    const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
    if (!pointer.ok()) return std::nullopt;
    std::array<uint8_t, 8> bytes = {};
    const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
    absl::Status status = pointer->Set(out, pointer->Field("Write Pointer"), last_);
    status.Update(pointer->Set(out, pointer->Field("Read Pointer"), read_pointer_));
    return static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
  }
  return std::nullopt;
}

uint32_t Execlists::StatusDword() const {
  const absl::StatusOr<Structure> status = Structure::Find(tables_, "EXECLIST_STATUS");
  if (!status.ok()) return 0;
  std::array<uint8_t, 8> bytes = {};
  // Fields that the generation does not have are left out.
  const auto set = [&](absl::string_view name, uint64_t value) {
    const StructureField field = status->Field(name);
    if (field) status->Set(absl::MakeSpan(bytes), field, value).IgnoreError();
  };
  set("Load Complete", pending_ ? 0 : 1);
  set("Busy", running_ ? 1 : 0);
  set("Idle", running_ ? 0 : 1);
  set("Execlist Write Pointer", static_cast<uint64_t>(next_slot_));
  set("Execlist Queue Full", pending_ ? 1 : 0);
  if (const StructureField reason = status->Field("Last Context Switch Reason")) {
    set("Last Context Switch Reason", last_reason_ & ((uint64_t{1} << reason.width()) - 1));
  }
  set("Arbitration Enable", 1);
  for (const std::optional<List>* list : {&running_, &pending_}) {
    if (!list->has_value()) continue;
    set(absl::StrCat("Execlist ", (*list)->slot, " Valid"), 1);
  }
  if (running_) {
    set("Current Execlist Pointer", static_cast<uint64_t>(running_->slot));
    set("Current Active Element Status", running_->active + 1);
    set(absl::StrCat("Execlist ", running_->slot, " Active"), 1);
  }
  return static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
}

// --- Images ---

absl::StatusOr<Execlists::Image> Execlists::ReadImage(uint64_t address, uint64_t bytes) const {
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
  return Image{std::move(list), *std::move(loads)};
}

bool Execlists::HasRingPage(const Image& image, uint64_t* address) const {
  const ImageRegister* control = image.loads.Find("CTX_CONTEXT_CONTROL");
  const ImageRegister* state = image.loads.Find("INDIRECT_RING_STATE");
  if (control == nullptr || state == nullptr) return false;
  const absl::StatusOr<Structure> structure = Structure::Make(tables_, control->container);
  const absl::StatusOr<Structure> where = Structure::Make(tables_, state->container);
  if (!structure.ok() || !where.ok()) return false;
  *address = where->Get(Bytes(ContextImage::Get(image.list, *state)),
                        where->Field("Indirect Ring State Address"));
  return structure->Get(Bytes(ContextImage::Get(image.list, *control)),
                        structure->Field("Indirect Ring State Enable")) != 0;
}

absl::Status Execlists::Restore(uint64_t descriptor) {
  const uint64_t address = ImageOf(descriptor) + kContextStatusPage;
  const absl::StatusOr<Image> image = ReadImage(address, options_.image_bytes);
  if (!image.ok()) return image.status();
  uint64_t page = 0;
  const bool has_page = HasRingPage(*image, &page);
  absl::StatusOr<Image> ring = absl::NotFoundError("");
  if (has_page) {
    ring = ReadImage(page, kContextStatusPage);
    if (!ring.ok()) return ring.status();
  }
  bool inhibited = false;
  if (const ImageRegister* control = image->loads.Find("CTX_CONTEXT_CONTROL")) {
    const absl::StatusOr<Structure> structure = Structure::Make(tables_, control->container);
    inhibited =
        structure.ok() && structure->Get(Bytes(ContextImage::Get(image->list, *control)),
                                         structure->Field("Engine Context Restore Inhibit")) != 0;
  }
  runner_->BeginContext(ImageOf(descriptor), inhibited);
  const uint64_t ring_context = ContextImage::Options().relative_bytes;
  image->loads.Load(image->list, [&](const ImageRegister& one, uint32_t value) {
    if (inhibited && one.at >= ring_context) return;
    runner_->WriteRegister(one.offset, value);
  });
  if (!has_page) return absl::OkStatus();
  ring->loads.Load(ring->list, [&](const ImageRegister& one, uint32_t value) {
    runner_->WriteRegister(one.offset, value);
  });
  return absl::OkStatus();
}

absl::Status Execlists::RestoreTail(uint64_t descriptor) {
  const uint64_t address = ImageOf(descriptor) + kContextStatusPage;
  absl::StatusOr<Image> image = ReadImage(address, options_.image_bytes);
  uint64_t page = 0;
  if (image.ok() && HasRingPage(*image, &page)) image = ReadImage(page, kContextStatusPage);
  if (!image.ok()) return image.status();
  const ImageRegister* tail = image->loads.Find("RING_BUFFER_TAIL");
  if (tail == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the context at 0x%x does not load the ring's tail", address));
  }
  const uint32_t value = ContextImage::Get(image->list, *tail);
  if (value == runner_->ReadRegister(tail->offset, tail->occurrence) &&
      problems_.size() < kMostProblems) {
    problems_.push_back(absl::StrFormat(
        "the context at 0x%x was submitted again with its ring's tail unchanged, 0x%x", address,
        value));
  }
  runner_->WriteRegister(tail->offset, value);
  return absl::OkStatus();
}

absl::Status Execlists::SaveList(uint64_t address, const Image& image, bool clears_inhibit) {
  std::vector<uint8_t> list = image.list;
  image.loads.Save(absl::MakeSpan(list), [&](const ImageRegister& one) {
    return runner_->ReadRegister(one.offset, one.occurrence);
  });
  const ImageRegister* control = image.loads.Find("CTX_CONTEXT_CONTROL");
  if (clears_inhibit && control != nullptr) {
    const absl::StatusOr<Structure> structure = Structure::Make(tables_, control->container);
    if (!structure.ok()) return structure.status();
    std::array<uint8_t, 8> bytes = Bytes(ContextImage::Get(list, *control));
    absl::Status set = structure->Set(absl::MakeSpan(bytes),
                                      structure->Field("Engine Context Restore Inhibit"), 0);
    if (!set.ok()) return set;
    ContextImage::Set(absl::MakeSpan(list), *control,
                      static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32)));
  }
  // The driver may write the tail at any time: only the values of the others are written.
  for (const ImageRegister& one : image.loads.registers()) {
    const absl::Span<const uint8_t> value = absl::MakeSpan(list).subspan(one.at, 4);
    if (std::equal(value.begin(), value.end(),
                   image.list.begin() + static_cast<ptrdiff_t>(one.at))) {
      continue;
    }
    if (memory_->Write(options_.space, address + one.at, value) != value.size()) {
      return absl::NotFoundError(
          absl::StrFormat("the context at 0x%x cannot be saved: no memory", address));
    }
  }
  return absl::OkStatus();
}

absl::Status Execlists::Save(uint64_t descriptor) {
  const uint64_t address = ImageOf(descriptor) + kContextStatusPage;
  const absl::StatusOr<Image> image = ReadImage(address, options_.image_bytes);
  if (!image.ok()) return image.status();
  // The saved image is complete: what a driver made it with is not inhibited any more [inferred:
  // drivers set the bit once and rely on later restores].
  absl::Status status = SaveList(address, *image, true);
  uint64_t page = 0;
  if (!status.ok() || !HasRingPage(*image, &page)) return status;
  const absl::StatusOr<Image> ring = ReadImage(page, kContextStatusPage);
  if (!ring.ok()) return ring.status();
  return SaveList(page, *ring, false);
}

// --- Running ---

absl::Status Execlists::Begin(List list, Reason reason, uint64_t away) {
  const uint64_t first = list.descriptors.front();
  running_ = std::move(list);
  Report(reason, first, away);
  return Restore(first);
}

absl::Status Execlists::Complete() {
  const uint64_t done = running_->now();
  if (absl::Status status = Save(done); !status.ok()) return status;
  if (running_->active + 1 < running_->descriptors.size()) {
    ++running_->active;
    Report(Reason::kNext, running_->now(), done);
    return Restore(running_->now());
  }
  Report(Reason::kEnd, 0, done);
  running_.reset();
  if (!pending_) return absl::OkStatus();
  List next = *std::move(pending_);
  pending_.reset();
  return Begin(std::move(next), Reason::kStart, 0);
}

absl::Status Execlists::Preempt() {
  const uint64_t away = running_->now();
  if (absl::Status status = Save(away); !status.ok()) return status;
  List next = *std::move(pending_);
  pending_.reset();
  return Begin(std::move(next), Reason::kPreempted, away);
}

EngineState Execlists::Run(uint64_t budget) {
  while (running_) {
    if (budget == 0) return EngineState::kBusy;
    const bool yield = pending_.has_value() && options_.preemption;
    const RunResult result = runner_->Run(budget, yield);
    // A switch costs something, so that lists of empty contexts end, too.
    budget -= std::min(budget, std::max<uint64_t>(result.commands, 1));
    absl::Status status;
    switch (result.stop) {
      case RingStop::kDrained:
        status = Complete();
        break;
      case RingStop::kPreemptible:
        if (yield) status = Preempt();
        break;
      case RingStop::kWaiting:
        if (!yield) return EngineState::kWaiting;
        status = Preempt();
        break;
      case RingStop::kBudget:
        break;
      case RingStop::kFault:
        return EngineState::kFault;
    }
    if (!status.ok()) {
      if (problems_.size() < kMostProblems) problems_.emplace_back(status.message());
      return EngineState::kFault;
    }
  }
  return EngineState::kIdle;
}

// --- Events ---

void Execlists::Report(Reason reason, uint64_t to, uint64_t away) {
  std::array<uint8_t, 8> bytes = {};
  const auto set = [&](absl::string_view name, uint64_t value) {
    const StructureField field = status_.Field(name);
    if (!field) return;
    absl::Status status = status_.Set(absl::MakeSpan(bytes), field, value);
    if (!status.ok() && problems_.size() < kMostProblems) problems_.emplace_back(status.message());
  };
  if (status_.Field("Context ID")) {
    const bool ends = reason == Reason::kNext || reason == Reason::kEnd;
    set("Idle To Active", reason == Reason::kStart);
    set("Preempted", reason == Reason::kPreempted || reason == Reason::kLiteRestore);
    set("Lite Restore", reason == Reason::kLiteRestore);
    set("Context Complete", ends);
    set("Element Switch", reason == Reason::kNext);
    set("Active To Idle", reason == Reason::kEnd);
    last_reason_ = decode::ReadBits(bytes, 0, 32);
    set("Context ID", reason == Reason::kStart ? 0 : IdOf(away));
    WriteEvent(decode::ReadBits(bytes, 0, 64));
    return;
  }
  // All ones: no context.
  const auto set_context = [&](absl::string_view id, absl::string_view counter,
                               uint64_t descriptor) {
    if (descriptor == 0) {
      std::array<uint8_t, 8> none = {};
      none.fill(0xff);
      set(id, status_.Get(none, status_.Field(id)));
      return;
    }
    set(id, IdOf(descriptor));
    set(counter, descriptor_.Get(Bytes(descriptor), descriptor_.Field("Software Counter")));
  };
  const bool preempts = reason == Reason::kPreempted || reason == Reason::kLiteRestore;
  set_context("Switched To Context ID", "Switched To Counter", to);
  set_context("Switched Away Context ID", "Switched Away Counter", away);
  set("Switched To New Queue", preempts || reason == Reason::kStart);
  set("Switch Detail",
      preempts ? status_.NamedValue(status_.Field("Switch Detail"), "Preempted").value_or(0) : 0);
  set("Engine Class", options_.engine_class);
  set("Engine Instance", options_.engine_instance);
  WriteEvent(decode::ReadBits(bytes, 0, 64));
}

void Execlists::WriteEvent(uint64_t event) {
  last_ = (last_ + 1) % events_.size();
  events_[last_] = event;
  ++events_written_;
  if (options_.status_page == 0) return;
  // A driver that sees the pointer finds the entry.
  const std::array<uint8_t, 8> bytes = Bytes(event);
  std::array<uint8_t, 4> pointer;
  decode::WriteBits(absl::MakeSpan(pointer), 0, 32, last_);
  const uint64_t page = options_.status_page;
  const bool written =
      memory_->Write(options_.space, page + entry_offsets_[last_], bytes) == bytes.size() &&
      memory_->Write(options_.space, page + last_field_.bit() / 8, pointer) == pointer.size();
  if (!written && problems_.size() < kMostProblems) {
    problems_.push_back(absl::StrFormat("there is no memory for the status page at 0x%x", page));
  }
}

}  // namespace packsmith::sim
