#include "runtime/intel/batch/batch_core.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "packsmith/names.h"
#include "runtime/base/type_name.h"

namespace packsmith::intel {
namespace {

uint64_t MaskOf(unsigned width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

bool IsPowerOfTwo(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

}  // namespace

BatchCore::BatchCore(gpu::ChunkSource& source, const BatchOptions& options,
                     const BatchCommands& commands)
    : lifetime_("batch", this, [](void* batch) { static_cast<BatchCore*>(batch)->LoseChunks(); }),
      source_(source, lifetime_),
      options_(options),
      commands_(commands),
      special_from_(FirstSpecial()) {
  if (!IsPowerOfTwo(options.end_alignment) || options.end_alignment < 8 ||
      options.end_alignment > 4096) {
    Refuse(absl::InvalidArgumentError(absl::StrFormat(
        "end_alignment is %d; it must be a power of two from 8 to 4096", options.end_alignment)));
  }
  if (options.second_level && !commands.has_second_level) {
    Refuse(absl::InvalidArgumentError(
        absl::StrFormat("second_level: %s has one level of batches; a batch that is to return is "
                        "called with CallReturning()",
                        commands.generation)));
  }
}

BatchCore::~BatchCore() = default;

uint64_t BatchCore::NewNumber() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

absl::Status BatchCore::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

bool BatchCore::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  if (in_group()) {
    FailGroup();
  } else if (noted_at_ != nullptr && noted_at_ == cursor_) {
    uses_.DropSince(noted_from_);
  }
  noted_at_ = nullptr;
  return false;
}

bool BatchCore::RefusePacket(const error& e, const char* function) {
  return Refuse(absl::InvalidArgumentError(absl::StrFormat(
      "%s after %d dwords of the batch: %s (item %d): %s", TypeNameIn(function), dwords(),
      e.field == nullptr ? "a value" : e.field, e.item, packsmith::text(e.why))));
}

size_t BatchCore::dwords() const {
  size_t sum = 0;
  for (const BatchPart& part : parts_) sum += part.dwords;
  if (!ended_ && !parts_.empty()) {
    sum += static_cast<size_t>(end() - begin()) - parts_.back().dwords;
  }
  return sum;
}

// -- Chunks -------------------------------------------------------------------------------------

size_t BatchCore::Reserve() const {
  // A jump out of a second-level batch is followed by an end, see MakeRoom(). Both are padded:
  // kernels require that a batch's length is a multiple of 8.
  const size_t jump =
      commands_.start_dwords + (options_.second_level ? commands_.end_dwords : 0) + 1;
  const size_t end = commands_.end_dwords + options_.end_alignment / 4 - 1;
  return std::max(jump, end) + (kept_open_ ? 0 : options_.kept_dwords);
}

bool BatchCore::MakeRoom(size_t dwords) {
  if (ended_) {
    return Refuse(absl::FailedPreconditionError("the batch has ended; Reset() begins another one"));
  }
  if (in_group()) {
    return Refuse(absl::FailedPreconditionError("a group is open: emit to it, or close it first"));
  }
  if (lifetime_.lost()) return Refuse(lifetime_.status());
  if (const std::string taken = source_->generation();
      !taken.empty() && taken != commands_.generation) {
    return Refuse(absl::FailedPreconditionError(absl::StrFormat(
        "a batch of %s packets for a device of %s: make a batch of the device's generation",
        commands_.generation, taken)));
  }
  const size_t needed = dwords + Reserve();
  absl::StatusOr<gpu::Chunk> chunk = source_->NewChunk(needed);
  if (!chunk.ok()) {
    return Refuse(absl::Status(
        chunk.status().code(),
        absl::StrFormat("no chunk for %d more dwords, after %d dwords of the batch: %s", dwords,
                        this->dwords(), chunk.status().message())));
  }
  if (chunk->words.size() < needed || chunk->words.size() > kUnbound || chunk->gpu % 8 != 0 ||
      chunk->buffer == 0 || chunk->buffer >= kFirstLabel) {
    return Refuse(absl::InternalError(
        absl::StrFormat("the source gave a chunk of %d dwords at %#x with handle %d; it must have "
                        "at least %d dwords, be at a multiple of 8, and have a handle from 1 to %d",
                        chunk->words.size(), chunk->gpu, chunk->buffer, needed, kFirstLabel - 1)));
  }
  uint32_t jump[8];
  const error e = commands_.start(jump, address(chunk->gpu, chunk->buffer), options_.second_level,
                                  options_.global);
  if (e) return RefusePacket(e, "P = the jump to a chunk]");
  if (!parts_.empty()) {
    BatchPart& last = parts_.back();
    std::memcpy(cursor_, jump, commands_.start_dwords * 4);
    last.dwords = static_cast<uint32_t>(cursor_ - begin());
    last.total = last.dwords + commands_.start_dwords;
    if (options_.second_level) {
      // A start with the second-level bit replaces the second-level address, so that execution does
      // not return here. Hardware that treats it as a call returns to an end, and so to the caller,
      // too.
      std::memcpy(cursor_ + commands_.start_dwords, commands_.end, commands_.end_dwords * 4);
      last.total += commands_.end_dwords;
    }
    if (last.total % 2 != 0) begin()[last.total++] = commands_.noop;
  }
  parts_.push_back({*chunk, 0, 0});
  cursor_ = chunk->words.data();
  limit_ = cursor_ + (chunk->words.size() - Reserve());
  fence_ = cursor_;
  return true;
}

void BatchCore::LoseChunks() {
  // Addresses of an ended batch can still be queried; nothing is read or written there.
  if (ended_) {
    for (BatchPart& part : parts_) part.chunk.words = {};
  } else {
    parts_.clear();
  }
  Refuse(lifetime_.status());
  cursor_ = limit_ = group_begin_ = nullptr;
  fence_ = noted_at_ = nullptr;
  uses_.Clear();
  packet_uses_ = packet_relocations_ = own_relocations_ = 0;
  for (Place& label : labels_) label = {};
  label_uses_.clear();
  relocations_.clear();
}

void BatchCore::OpenKept() {
  if (kept_open_) return;
  kept_open_ = true;
  if (!ended_ && !in_group() && !parts_.empty()) limit_ += options_.kept_dwords;
}

bool BatchCore::AlignTo(uint32_t bytes) {
  if (!IsPowerOfTwo(bytes) || bytes < 4 || bytes > 4096) {
    return Refuse(absl::InvalidArgumentError(absl::StrFormat(
        "a packet's alignment is %d bytes; it must be a power of two from 4 to 4096", bytes)));
  }
  const auto missing = [&] {
    const uint64_t gpu = PlaceOf(cursor_, access::none).gpu;
    return static_cast<size_t>((bytes - gpu % bytes) % bytes / 4);
  };
  if ((ended_ || in_group() || parts_.empty()) && !MakeRoom(0)) return false;
  if (missing() > room() && !MakeRoom(bytes / 4)) return false;
  const size_t count = missing();
  std::fill_n(cursor_, count, commands_.noop);
  cursor_ += count;
  return true;
}

uint32_t* BatchCore::OpenSlowly(size_t dwords) {
  // MakeRoom() reports what is wrong. (An empty group gets a place, too.)
  dwords = std::max<size_t>(dwords, 1);
  const bool within = in_group();
  if ((!ended_ && !within && room() >= dwords) || MakeRoom(dwords)) return OpenGroup(dwords);
  if (within) {
    ++groups_within_;
  } else {
    group_begin_ = cursor_;
    cursor_ = limit_;
  }
  FailGroup();
  return Nowhere(dwords);
}

uint32_t* BatchCore::Nowhere(size_t dwords) {
  nowhere_.push_back(std::make_unique<uint32_t[]>(dwords));
  return nowhere_.back().get();
}

void BatchCore::DropGroup() {
  if (groups_within_ != 0) {
    --groups_within_;
    return;
  }
  cursor_ = group_begin_;
  group_begin_ = nullptr;
  group_failed_ = false;
  special_from_ = FirstSpecial();
  nowhere_.clear();
  if (parts_.empty()) return;
  DropFrom(cursor_);
  const Place from = PlaceAt(cursor_);
  for (Place& label : labels_) {
    if (label.part == from.part && label.dword > from.dword) label = {};
  }
}

bool BatchCore::RefuseInGroup(size_t dwords, size_t room) {
  return Refuse(absl::ResourceExhaustedError(
      absl::StrFormat("the group has room for %d more dwords, but %d are needed: open it with more",
                      room, dwords)));
}

bool BatchCore::Retract(size_t dwords) {
  if (ended_ || in_group() || fence_ == nullptr || static_cast<size_t>(cursor_ - fence_) < dwords) {
    return false;
  }
  cursor_ -= dwords;
  noted_at_ = nullptr;
  return true;
}

void BatchCore::Reset() {
  status_ = absl::OkStatus();
  ended_ = false;
  kept_open_ = false;
  stays_ = false;
  ++resets_;
  number_ = NewNumber();
  cursor_ = limit_ = group_begin_ = nullptr;
  group_failed_ = false;
  groups_within_ = 0;
  special_from_ = FirstSpecial();
  nowhere_.clear();
  fence_ = nullptr;
  parts_.clear();
  uses_.Clear();
  noted_at_ = nullptr;
  packet_uses_ = 0;
  labels_.clear();
  label_uses_.clear();
  relocations_.clear();
  packet_relocations_ = own_relocations_ = 0;
}

// -- Addresses ----------------------------------------------------------------------------------

BatchCore::Place BatchCore::PlaceAt(const uint32_t* dword) const {
  return {static_cast<uint32_t>(parts_.size() - 1), static_cast<uint32_t>(dword - begin())};
}

address BatchCore::PlaceOf(const uint32_t* dword, access use) const {
  const gpu::Chunk& chunk = parts_.back().chunk;
  return address(chunk.gpu + static_cast<uint64_t>(dword - begin()) * 4, chunk.buffer, use);
}

void BatchCore::AddRelocation(const Place& place, unsigned bit, unsigned width, gpu::UseFlags flags,
                              uint32_t buffer, uint64_t gpu) {
  relocations_.push_back({place.part, place.dword, static_cast<uint8_t>(bit),
                          static_cast<uint8_t>(width), flags, buffer, gpu});
}

bool BatchCore::Record(const uint32_t* dword, unsigned bit, unsigned width, uint64_t gpu,
                       uint32_t buffer, gpu::UseFlags flags) {
  if (group_failed_) return true;  // all of it will be dropped
  if (buffer >= kFirstLabel) {
    const uint32_t label = buffer - kFirstLabel;
    if (label >= labels_.size()) {
      return Refuse(absl::InvalidArgumentError("a packet refers to a label of another batch"));
    }
    label_uses_.push_back({PlaceAt(dword), static_cast<uint8_t>(bit), static_cast<uint8_t>(width),
                           static_cast<uint8_t>(bit), true, flags, label, gpu});
    return true;
  }
  if (options_.relocations) {
    AddRelocation(PlaceAt(dword), bit, width, flags, buffer, gpu);
  }
  AddUse(buffer, flags);
  return true;
}

void BatchCore::DropFrom(const uint32_t* end) {
  if (group_failed_) return;  // DropGroup() will
  const Place from = PlaceAt(end);
  const auto beyond = [&](const Place& place) {
    return place.part == from.part && place.dword >= from.dword;
  };
  while (!label_uses_.empty() && beyond(label_uses_.back().place)) label_uses_.pop_back();
  while (!relocations_.empty() && beyond({relocations_.back().part, relocations_.back().dword})) {
    relocations_.pop_back();
  }
}

void BatchCore::Patch(const uint32_t* dword, unsigned bit, unsigned width, unsigned from,
                      Label label) {
  label_uses_.push_back({PlaceAt(dword), static_cast<uint8_t>(bit), static_cast<uint8_t>(width),
                         static_cast<uint8_t>(from), false, gpu::kReads, label.index_, 0});
}

uint32_t BatchCore::Delta(const Relocation& relocation, uint64_t base) const {
  return parts_[relocation.part].chunk.words[relocation.dword] - static_cast<uint32_t>(base);
}

// -- Labels -------------------------------------------------------------------------------------

Label BatchCore::NewLabel() {
  if (labels_.size() >= kUnbound - kFirstLabel) {
    Refuse(absl::ResourceExhaustedError(
        absl::StrFormat("a batch has at most %d labels", kUnbound - kFirstLabel)));
    return Label();
  }
  labels_.push_back({});
  return Label(static_cast<uint32_t>(labels_.size() - 1));
}

bool BatchCore::Bind(Label label) {
  if ((ended_ || in_group() || parts_.empty()) && !MakeRoom(0)) return false;
  return BindAt(label, cursor_);
}

bool BatchCore::BindAt(Label label, const uint32_t* dword) {
  if (label.index_ >= labels_.size()) {
    return Refuse(absl::InvalidArgumentError("the label to be bound is not one of this batch"));
  }
  if (labels_[label.index_].part != kUnbound) {
    return Refuse(absl::FailedPreconditionError(absl::StrFormat(
        "label %d is already bound; make a new label for this place", label.index_)));
  }
  labels_[label.index_] = PlaceAt(dword);
  fence_ = dword;
  return true;
}

Label BatchCore::Here() {
  const Label label = NewLabel();
  Bind(label);
  return label;
}

address BatchCore::At(Label label, uint64_t bytes) const {
  // The handle of an invalid label is refused when a packet uses it.
  const uint32_t index = std::min(label.index_, kUnbound - kFirstLabel);
  return address(bytes, kFirstLabel + index);
}

absl::StatusOr<uint64_t> BatchCore::Resolve(const LabelUse& use) const {
  const Place& place = labels_[use.label];
  const uint64_t user =
      parts_[use.place.part].chunk.gpu + static_cast<uint64_t>(use.place.dword) * 4;
  if (place.part == kUnbound) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the packet at %#x refers to label %d, which was never bound", user, use.label));
  }
  const uint64_t gpu =
      parts_[place.part].chunk.gpu + static_cast<uint64_t>(place.dword) * 4 + use.bytes;
  if (use.is_address && (gpu & MaskOf(use.bit)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the packet at %#x refers to label %d at %#x, but can hold multiples of %d "
                        "only: align the label's place",
                        user, use.label, gpu, uint64_t{1} << use.bit));
  }
  if (const unsigned end = use.bit + unsigned{use.width};
      use.is_address && end <= 32 && gpu >> end != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the packet at %#x refers to label %d at %#x, but can hold %d bits only",
                        user, use.label, gpu, end));
  }
  return gpu;
}

void BatchCore::Fill(const LabelUse& use, uint64_t gpu) {
  uint32_t* dword = parts_[use.place.part].chunk.words.data() + use.place.dword;
  uint64_t value = gpu >> use.from & MaskOf(use.width);
  unsigned bit = use.bit;
  for (unsigned left = use.width; left != 0; ++dword) {
    const unsigned width = std::min(left, 32 - bit);
    const uint32_t mask = static_cast<uint32_t>(MaskOf(width) << bit);
    *dword = (*dword & ~mask) | static_cast<uint32_t>(value << bit & mask);
    value >>= width;
    left -= width;
    bit = 0;
  }
}

// -- Ending -------------------------------------------------------------------------------------

absl::Status BatchCore::End() {
  if (lifetime_.lost()) return lifetime_.status();
  if (ended_) {
    return absl::FailedPreconditionError("the batch has already ended");
  }
  if (!status_.ok()) return status_;
  if ((in_group() || parts_.empty()) && !MakeRoom(0)) return status_;

  std::vector<uint64_t> values;
  values.reserve(label_uses_.size());
  for (const LabelUse& use : label_uses_) {
    const absl::StatusOr<uint64_t> gpu = Resolve(use);
    if (!gpu.ok()) {
      Refuse(gpu.status());
      return status_;
    }
    values.push_back(*gpu);
  }

  // From here on nothing fails.
  packet_uses_ = uses_.size();
  packet_relocations_ = relocations_.size();
  for (const BatchPart& part : parts_) uses_.Add(part.chunk.buffer, gpu::kReads);
  for (size_t i = 0; i < label_uses_.size(); ++i) {
    const LabelUse& use = label_uses_[i];
    Fill(use, values[i]);
    const uint32_t buffer = parts_[labels_[use.label].part].chunk.buffer;
    uses_.Add(buffer, use.flags);
    if (options_.relocations && use.is_address) {
      AddRelocation(use.place, use.bit, use.width, use.flags, buffer, values[i]);
    }
  }
  BatchPart& last = parts_.back();
  last.dwords = static_cast<uint32_t>(cursor_ - begin());
  if (options_.relocations) {
    for (uint32_t i = 0; i + 1 < parts_.size(); ++i) {
      AddRelocation({i, parts_[i].dwords + commands_.start_address_dword},
                    commands_.start_address_bit, commands_.start_address_width, gpu::kReads,
                    parts_[i + 1].chunk.buffer, parts_[i + 1].chunk.gpu);
    }
  }
  std::memcpy(cursor_, commands_.end, commands_.end_dwords * 4);
  uint32_t* at = cursor_ + commands_.end_dwords;
  while ((last.chunk.gpu + static_cast<uint64_t>(at - begin()) * 4) % options_.end_alignment != 0) {
    *at++ = commands_.noop;
  }
  last.total = static_cast<uint32_t>(at - begin());
  if (options_.noop) {
    std::memcpy(parts_.front().chunk.words.data(), commands_.end, commands_.end_dwords * 4);
  }
  ended_ = true;
  limit_ = cursor_;
  own_relocations_ = relocations_.size();
  absl::Status flushed;
  for (const BatchPart& part : parts_) flushed.Update(FlushPart(part));
  return flushed;
}

absl::Status BatchCore::ContinueAt(const address& next) {
  if (lifetime_.lost()) return lifetime_.status();
  if (!ended_ || options_.second_level) {
    return absl::FailedPreconditionError(
        ended_ ? "a second-level batch returns to its caller, and cannot continue elsewhere"
               : "the batch has not ended: emit a jump instead");
  }
  uint32_t jump[8];
  if (const error e = commands_.start(jump, next, false, options_.global)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a jump cannot reach 0x%x, where the batch is to continue", next.gpu));
  }
  // A batch that does nothing continues at once.
  const uint32_t part = options_.noop ? 0 : static_cast<uint32_t>(parts_.size() - 1);
  BatchPart& last = parts_[part];
  const uint32_t at = options_.noop ? 0 : last.dwords;
  uint32_t* const words = last.chunk.words.data();
  relocations_.resize(own_relocations_);
  if (next.gpu == 0) {
    std::memcpy(words + at, commands_.end, commands_.end_dwords * 4);
    return FlushPart(last);
  }
  std::memcpy(words + at, jump, commands_.start_dwords * 4);
  while (last.total < at + commands_.start_dwords || last.total % 2 != 0) {
    if (last.total >= at + commands_.start_dwords) words[last.total] = commands_.noop;
    ++last.total;
  }
  if (options_.relocations) {
    AddRelocation({part, at + commands_.start_address_dword}, commands_.start_address_bit,
                  commands_.start_address_width, gpu::kReads, next.buffer, next.gpu);
  }
  return FlushPart(last);
}

// -- Copies -------------------------------------------------------------------------------------

bool BatchCore::AppendCore(const BatchCore& other) {
  if (&other == this) {
    return Refuse(absl::InvalidArgumentError("a batch cannot be appended to itself"));
  }
  if (other.lifetime_.lost()) return Refuse(other.lifetime_.status());
  if (!other.status_.ok()) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat("the batch to be appended has an error: ", other.status_.message())));
  }
  if (options_.relocations && !other.options_.relocations) {
    return Refuse(absl::FailedPreconditionError(
        "the batch to be appended has no relocations: give it BatchOptions::relocations, too"));
  }
  if (other.options_.noop && other.ended_) {
    return Refuse(absl::FailedPreconditionError(
        "the batch to be appended begins with an end: it was made with BatchOptions::noop"));
  }
  if (other.stays_) {
    return Refuse(absl::FailedPreconditionError(
        "the batch to be appended has places that shaders or its callers write: a copy would not "
        "be written; call it"));
  }
  if (other.in_group()) {
    return Refuse(
        absl::FailedPreconditionError("the batch to be appended has an open group: close it"));
  }
  for (const LabelUse& use : other.label_uses_) {
    if (other.labels_[use.label].part == kUnbound) {
      return Refuse(absl::FailedPreconditionError(absl::StrFormat(
          "the batch to be appended refers to its label %d, which was never bound", use.label)));
    }
  }
  if (labels_.size() + other.labels_.size() > kUnbound - kFirstLabel) {
    return Refuse(absl::ResourceExhaustedError("the two batches have too many labels"));
  }
  if (ended_ || in_group()) return MakeRoom(0);  // reports why

  uint32_t* const cursor = cursor_;
  uint32_t* const limit = limit_;
  const uint32_t* const fence = fence_;
  const size_t parts = parts_.size();

  // The beginning of each of the other's parts here.
  std::vector<Place> starts;
  for (size_t i = 0; i < other.parts_.size(); ++i) {
    const BatchPart& part = other.parts_[i];
    const bool open = i + 1 == other.parts_.size() && !other.ended_;
    const size_t count =
        open ? static_cast<size_t>(other.cursor_ - other.begin()) : size_t{part.dwords};
    // Even an empty run has a place, since a label may be there.
    if (Room(count) == nullptr || (parts_.empty() && !MakeRoom(count))) {
      parts_.resize(parts);
      cursor_ = cursor;
      limit_ = limit;
      fence_ = fence;
      return false;
    }
    starts.push_back(PlaceAt(cursor_));
    if (count != 0) std::memcpy(cursor_, part.chunk.words.data(), count * 4);
    cursor_ += count;
    fence_ = cursor_;
  }
  const auto moved = [&](const Place& place) {
    if (place.part == kUnbound) return place;
    const Place& start = starts[place.part];
    return Place{start.part, start.dword + place.dword};
  };
  const uint32_t first_label = static_cast<uint32_t>(labels_.size());
  for (const Place& label : other.labels_) labels_.push_back(moved(label));
  for (const LabelUse& use : other.label_uses_) {
    label_uses_.push_back(use);
    label_uses_.back().place = moved(use.place);
    label_uses_.back().label += first_label;
  }
  // What End() added belongs to the other's own chunks.
  const bool ended = other.ended_;
  const size_t relocations = ended ? other.packet_relocations_ : other.relocations_.size();
  for (const Relocation& one : other.relocations().subspan(0, relocations)) {
    const Place place = moved({one.part, one.dword});
    AddRelocation(place, one.bit, one.width, one.flags, one.buffer, one.gpu);
  }
  const size_t uses = ended ? other.packet_uses_ : other.uses_.size();
  for (const gpu::BufferUse& use : other.uses_.all().subspan(0, uses))
    AddUse(use.buffer, use.flags);
  return true;
}

}  // namespace packsmith::intel
