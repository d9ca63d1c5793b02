#include "runtime/sim/contexts/context_pool.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/quad_word.h"

namespace packsmith::sim {
namespace {

// Drivers use two elements of a list: what runs, and what runs next.
constexpr size_t kElements = 2;

}  // namespace

ContextPool::ContextPool(const tables::Tables& tables, MemoryAccess& memory, Execlists& lists,
                         uint32_t space, const Structure& descriptor, const Structure& status)
    : tables_(tables),
      memory_(&memory),
      lists_(&lists),
      space_(space),
      descriptor_(descriptor),
      status_(status),
      events_read_(lists.events().written()) {}

absl::StatusOr<ContextPool> ContextPool::Make(const tables::Tables& tables, MemoryAccess& memory,
                                              Execlists& lists, uint32_t space) {
  const absl::StatusOr<Structure> descriptor = Structure::Find(tables, "CONTEXT_DESCRIPTOR");
  if (!descriptor.ok()) return descriptor.status();
  const absl::StatusOr<Structure> status = Structure::Find(tables, "CONTEXT_STATUS");
  if (!status.ok()) return status.status();
  return ContextPool(tables, memory, lists, space, *descriptor, *status);
}

absl::StatusOr<uint32_t> ContextPool::Create(const ContextDescription& description) {
  if (contexts_.size() >= kMostContexts) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kMostContexts, " contexts"));
  }
  if (description.ring_bytes == 0 || description.indirect_ring_state != 0) {
    return absl::InvalidArgumentError("a context of a pool has a ring, described in its own image");
  }
  ContextDescription empty = description;
  empty.ring_address = empty.ring_head = empty.ring_tail = 0;
  absl::StatusOr<std::vector<uint8_t>> bytes = MakeContextImage(tables_, empty);
  if (!bytes.ok()) return bytes.status();
  Context context;
  context.image_bytes = bytes->size();
  context.bytes = *std::move(bytes);
  context.ring_bytes = description.ring_bytes;
  ContextImage::Options options;
  options.engine_base = description.engine_base;
  absl::StatusOr<ContextImage> registers = ContextImage::Parse(
      tables_, options, absl::MakeSpan(context.bytes).subspan(kContextStatusPage));
  if (!registers.ok()) return registers.status();
  context.registers = *std::move(registers);
  context.levels = description.page_tables.kind;
  contexts_.emplace(next_id_, std::move(context));
  return next_id_++;
}

absl::StatusOr<ContextPool::Context*> ContextPool::FindPinned(uint32_t id) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return absl::NotFoundError(absl::StrCat("no context ", id));
  if (!found->second.ring) {
    return absl::FailedPreconditionError(absl::StrCat("context ", id, " must be pinned first"));
  }
  return &found->second;
}

absl::StatusOr<std::pair<Structure, uint64_t>> ContextPool::Locate(const Context& context,
                                                                   absl::string_view name) const {
  const ImageRegister* one = context.registers ? context.registers->Find(name) : nullptr;
  if (one == nullptr) return absl::NotFoundError(absl::StrCat("the image has no ", name));
  const absl::StatusOr<Structure> structure = Structure::Make(tables_, one->container);
  if (!structure.ok()) return structure.status();
  return std::make_pair(*structure, context.image + kContextStatusPage + one->at);
}

absl::StatusOr<uint32_t> ContextPool::ReadField(const Context& context, absl::string_view name,
                                                absl::string_view field) const {
  const absl::StatusOr<std::pair<Structure, uint64_t>> found = Locate(context, name);
  if (!found.ok()) return found.status();
  const auto& [structure, address] = *found;
  std::array<uint8_t, 8> bytes = {};
  if (memory_->Read(space_, address, absl::MakeSpan(bytes).subspan(0, 4)) != 4) {
    return absl::NotFoundError(absl::StrFormat("there is no memory at 0x%x", address));
  }
  return static_cast<uint32_t>(structure.Get(bytes, structure.Field(field)));
}

absl::Status ContextPool::WriteField(const Context& context, absl::string_view name,
                                     absl::string_view field, uint64_t value) {
  const absl::StatusOr<std::pair<Structure, uint64_t>> found = Locate(context, name);
  if (!found.ok()) return found.status();
  const auto& [structure, address] = *found;
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> dword = absl::MakeSpan(bytes).subspan(0, 4);
  const size_t read = memory_->Read(space_, address, dword);
  absl::Status status = structure.Set(absl::MakeSpan(bytes), structure.Field(field), value);
  if (!status.ok()) return status;
  if (read != dword.size() || memory_->Write(space_, address, dword) != dword.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no memory at 0x%x", address));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ContextPool::DescriptorOf(uint32_t id, const Context& context) const {
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  absl::Status status;
  const auto set = [&](absl::string_view name, uint64_t value) {
    status.Update(descriptor_.Set(out, descriptor_.Field(name), value));
  };
  const StructureField mode = descriptor_.Field("Addressing Mode");
  const bool wide = context.levels == PageTableKind::kFourLevels;
  const std::optional<uint64_t> addressing = descriptor_.NamedValue(
      mode, wide ? "Legacy context with 64-bit addresses" : "Legacy context with 32-bit addresses");
  set("Valid", 1);
  set("Addressing Mode", addressing.value_or(0));
  set("Privilege Access", 1);
  set("Logical Ring Context Address", context.image);
  set(descriptor_.Field("Context ID") ? "Context ID" : "Software Context ID", id);
  if (!status.ok()) return status;
  return decode::ReadBits(bytes, 0, 64);
}

absl::Status ContextPool::Pin(uint32_t id, uint64_t image, uint64_t ring) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return absl::NotFoundError(absl::StrCat("no context ", id));
  Context& context = found->second;
  if (context.ring)
    return absl::FailedPreconditionError(absl::StrCat("context ", id, " is pinned"));
  absl::StatusOr<Ring> made = Ring::Make(*memory_, space_, ring, context.ring_bytes);
  if (!made.ok()) return made.status();
  const uint64_t before = std::exchange(context.image, image);
  absl::Status status;
  if (memory_->Write(space_, image, context.bytes) != context.bytes.size()) {
    status = absl::NotFoundError(
        absl::StrFormat("there is no memory for the image of context %d at 0x%x", id, image));
  }
  if (status.ok()) status = WriteField(context, "RING_BUFFER_START", "Starting Address", ring);
  absl::StatusOr<uint32_t> head = 0;
  if (status.ok()) {
    // A context that was pinned before goes on where it was.
    head = ReadField(context, "RING_BUFFER_TAIL", "Tail Offset");
    status = head.ok() ? made->Reset(*head) : head.status();
  }
  absl::StatusOr<uint64_t> descriptor = 0;
  if (status.ok()) {
    descriptor = DescriptorOf(id, context);
    status = descriptor.status();
  }
  if (!status.ok()) {
    context.image = before;
    return status;
  }
  context.descriptor = *descriptor;
  context.ring = *std::move(made);
  return absl::OkStatus();
}

absl::Status ContextPool::Submit(uint32_t id, absl::Span<const uint32_t> dwords) {
  const absl::StatusOr<Context*> found = FindPinned(id);
  if (!found.ok()) return found.status();
  Context& context = **found;
  if (context.banned)
    return absl::FailedPreconditionError(absl::StrCat("context ", id, " is banned"));
  const absl::StatusOr<uint32_t> head = ReadField(context, "RING_BUFFER_HEAD", "Head Offset");
  if (!head.ok()) return head.status();
  const absl::StatusOr<uint32_t> tail = context.ring->Write(dwords, *head);
  if (!tail.ok()) return tail.status();
  absl::Status status = WriteField(context, "RING_BUFFER_TAIL", "Tail Offset", *tail);
  if (!status.ok()) return status;
  if (!context.queued) {
    context.queued = true;
    queue_.push_back(id);
  }
  return SubmitQueued();
}

absl::Status ContextPool::SubmitQueued() {
  if (!pending_.empty() || queue_.empty()) return absl::OkStatus();
  // What runs may only be followed: a context that has got more requests is submitted again as the
  // first one, which makes the engine read its tail; others wait until it is complete.
  std::vector<uint32_t> ids;
  if (!inflight_.empty()) {
    if (queue_.front() != inflight_.front()) return absl::OkStatus();
    // The second one of the list must not be lost.
    ids = inflight_;
    for (const uint32_t id : queue_) {
      if (ids.size() < kElements && std::find(ids.begin(), ids.end(), id) == ids.end()) {
        ids.push_back(id);
      }
    }
  } else {
    ids.assign(queue_.begin(),
               queue_.begin() + static_cast<ptrdiff_t>(std::min(kElements, queue_.size())));
  }
  std::vector<uint64_t> descriptors;
  for (const uint32_t id : ids) descriptors.push_back(contexts_.at(id).descriptor);
  if (absl::Status status = lists_->Submit(descriptors); !status.ok()) return status;
  for (const uint32_t id : ids) {
    Context& context = contexts_.at(id);
    context.submitted = true;
    context.queued = false;
    queue_.erase(std::remove(queue_.begin(), queue_.end(), id), queue_.end());
  }
  pending_ = std::move(ids);
  return absl::OkStatus();
}

ContextPool::Event ContextPool::Understand(uint64_t event) const {
  const std::array<uint8_t, 8> bytes = QuadWord(event);
  const auto get = [&](absl::string_view name) { return status_.Get(bytes, status_.Field(name)); };
  Event said;
  if (status_.Field("Context ID")) {
    said.takes_over = get("Idle To Active") != 0 || get("Preempted") != 0;
    said.completes = get("Context Complete") != 0;
    return said;
  }
  const StructureField away = status_.Field("Switched Away Context ID");
  std::array<uint8_t, 8> none;
  none.fill(0xff);
  said.takes_over =
      get("Switched To New Queue") != 0 || status_.Get(bytes, away) == status_.Get(none, away);
  said.completes = !said.takes_over && get("Switch Detail") == 0;
  return said;
}

void ContextPool::Finish(uint32_t id) {
  const auto found = contexts_.find(id);
  if (found != contexts_.end()) found->second.submitted = false;
}

absl::Status ContextPool::HandleEvents() {
  const uint64_t written = lists_->events().written();
  if (written - events_read_ > lists_->events().entries()) {
    events_read_ = written;
    return absl::DataLossError("the engine has overwritten events that were not read");
  }
  for (; events_read_ != written; ++events_read_) {
    const size_t behind = static_cast<size_t>(written - events_read_ - 1);
    const size_t index = (lists_->events().last() + lists_->events().entries() - behind) %
                         lists_->events().entries();
    const Event event = Understand(lists_->events().event(index));
    if (event.takes_over) {
      if (pending_.empty())
        return absl::DataLossError("an event reports a list that was not pending");
      for (const uint32_t id : inflight_) {
        if (std::find(pending_.begin(), pending_.end(), id) == pending_.end()) Finish(id);
      }
      inflight_ = std::exchange(pending_, {});
    } else if (event.completes) {
      if (inflight_.empty())
        return absl::DataLossError("an event completes a context that did not run");
      const uint32_t id = inflight_.front();
      inflight_.erase(inflight_.begin());
      if (std::find(inflight_.begin(), inflight_.end(), id) == inflight_.end() &&
          std::find(pending_.begin(), pending_.end(), id) == pending_.end()) {
        Finish(id);
      }
    }
  }
  return SubmitQueued();
}

absl::Status ContextPool::Ban(uint32_t id) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return absl::NotFoundError(absl::StrCat("no context ", id));
  Context& context = found->second;
  context.banned = true;
  context.queued = false;
  queue_.erase(std::remove(queue_.begin(), queue_.end(), id), queue_.end());
  if (!context.submitted) return absl::OkStatus();
  lists_->Reset();
  events_read_ = lists_->events().written();
  // The others start again from their last saved state.
  std::deque<uint32_t> again;
  for (const std::vector<uint32_t>* list : {&inflight_, &pending_}) {
    for (const uint32_t other : *list) {
      contexts_.at(other).submitted = false;
      if (other == id || std::find(again.begin(), again.end(), other) != again.end()) continue;
      again.push_back(other);
    }
  }
  inflight_.clear();
  pending_.clear();
  for (auto other = again.rbegin(); other != again.rend(); ++other) {
    if (std::exchange(contexts_.at(*other).queued, true)) {
      queue_.erase(std::remove(queue_.begin(), queue_.end(), *other), queue_.end());
    }
    queue_.push_front(*other);
  }
  return SubmitQueued();
}

absl::Status ContextPool::Unpin(uint32_t id) {
  const absl::StatusOr<Context*> found = FindPinned(id);
  if (!found.ok()) return found.status();
  Context& context = **found;
  if (context.submitted || context.queued) {
    return absl::FailedPreconditionError(absl::StrCat("context ", id, " has not completed"));
  }
  // The image is kept: the context may be pinned again.
  std::vector<uint8_t> bytes(context.image_bytes);
  if (memory_->Read(space_, context.image, absl::MakeSpan(bytes)) != bytes.size()) {
    return absl::NotFoundError(
        absl::StrFormat("the image of context %d at 0x%x is not in memory", id, context.image));
  }
  context.bytes = std::move(bytes);
  context.ring.reset();
  context.image = context.descriptor = 0;
  return absl::OkStatus();
}

absl::Status ContextPool::Destroy(uint32_t id) {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return absl::NotFoundError(absl::StrCat("no context ", id));
  if (found->second.ring) {
    return absl::FailedPreconditionError(absl::StrCat("context ", id, " must be unpinned first"));
  }
  contexts_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<ContextInfo> ContextPool::Info(uint32_t id) const {
  const auto found = contexts_.find(id);
  if (found == contexts_.end()) return absl::NotFoundError(absl::StrCat("no context ", id));
  const Context& context = found->second;
  ContextInfo info;
  info.banned = context.banned;
  if (!context.ring) return info;
  info.image = context.image;
  info.descriptor = context.descriptor;
  info.state = context.submitted ? ContextState::kSubmitted
               : context.queued  ? ContextState::kQueued
                                 : ContextState::kPinned;
  const absl::StatusOr<uint32_t> head = ReadField(context, "RING_BUFFER_HEAD", "Head Offset");
  if (!head.ok()) return head.status();
  info.head = *head;
  info.tail = context.ring->tail();
  return info;
}

}  // namespace packsmith::sim
