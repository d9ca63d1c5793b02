#include "runtime/agx/control_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace packsmith::agx {
namespace {

// "packsmith::agx_g13::Index_List" of "bool … [with … Block = packsmith::agx_g13::Index_List; …]".
absl::string_view TypeNameIn(absl::string_view function) {
  const size_t at = function.rfind("Block = ");
  if (at == absl::string_view::npos) return function;
  const absl::string_view rest = function.substr(at + 8);
  return rest.substr(0, rest.find_first_of(";],"));
}

}  // namespace

absl::Status StreamCore::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

bool StreamCore::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return false;
}

bool StreamCore::RefuseBlock(const error& e, const char* function) {
  return Refuse(PackStatus(
      e, absl::StrFormat("%s after %d bytes of the stream", TypeNameIn(function), bytes())));
}

size_t StreamCore::bytes() const {
  size_t sum = 0;
  for (const StreamPart& part : parts_) sum += part.bytes;
  // The current chunk's size is not noted yet.
  if (!ended_ && !parts_.empty()) sum += static_cast<size_t>(cursor_ - begin());
  return sum;
}

void StreamCore::Close(const uint8_t* last, uint32_t bytes) {
  StreamPart& part = parts_.back();
  std::memcpy(cursor_, last, bytes);
  part.bytes = static_cast<uint32_t>(cursor_ - begin());
  part.total = part.bytes + bytes;
}

bool StreamCore::MakeRoom(size_t bytes) {
  if (ended_) {
    return Refuse(
        absl::FailedPreconditionError("the stream has ended; Reset() begins another one"));
  }
  if (lifetime_.lost()) return Refuse(lifetime_.status());
  const size_t kept =
      std::max({size_t{blocks_.link_bytes}, blocks_.terminate.size(), blocks_.give_back.size()});
  const size_t dwords = (bytes + kept + 3) / 4;
  const absl::StatusOr<gpu::Chunk> chunk = source_->NewChunk(dwords);
  if (!chunk.ok()) {
    return Refuse(absl::Status(
        chunk.status().code(),
        absl::StrFormat("no chunk for %d bytes more, after %d bytes of the %s stream: %s", bytes,
                        this->bytes(), blocks_.name, chunk.status().message())));
  }
  if (chunk->words.size() < dwords ||
      chunk->words.size() > std::numeric_limits<uint32_t>::max() / 4 || chunk->gpu % 4 != 0) {
    return Refuse(absl::InternalError(absl::StrFormat(
        "the source gave a chunk of %d dwords at %#x, but %d dwords were requested, at a multiple "
        "of 4",
        chunk->words.size(), chunk->gpu, dwords)));
  }
  uint8_t link[64];
  const error e = blocks_.link(link, {chunk->gpu, chunk->buffer});
  if (e) {
    return Refuse(PackStatus(e, absl::StrFormat("no link can reach the %s stream's chunk at %#x",
                                                blocks_.name, chunk->gpu)));
  }
  if (!parts_.empty()) Close(link, blocks_.link_bytes);
  if (chunk->buffer != 0) uses_->Add(chunk->buffer, gpu::kReads);
  parts_.push_back({*chunk});
  cursor_ = begin();
  limit_ = cursor_ + (chunk->words.size() * 4 - kept);
  return true;
}

bool StreamCore::EmitBytes(absl::Span<const uint8_t> blocks) {
  if (blocks.size() % 4 != 0) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrFormat("blocks must be whole dwords, not %d bytes", blocks.size())));
  }
  if (blocks.empty()) return true;
  uint8_t* const to = Room(blocks.size());
  if (to == nullptr) return false;
  std::memcpy(to, blocks.data(), blocks.size());
  cursor_ += blocks.size();
  return true;
}

void StreamCore::LoseChunks() {
  if (ended_) {
    for (StreamPart& part : parts_) part.chunk.words = {};
  } else {
    parts_.clear();
  }
  cursor_ = limit_ = nullptr;
  Refuse(lifetime_.status());
}

absl::Status StreamCore::Finish(absl::Span<const uint8_t> last) {
  if (lifetime_.lost()) return lifetime_.status();
  if (ended_) return absl::FailedPreconditionError("the stream has ended already");
  if (!status_.ok()) return status_;
  if (parts_.empty() && !MakeRoom(0)) return status_;
  Close(last.data(), static_cast<uint32_t>(last.size()));
  ended_ = true;
  limit_ = cursor_;
  absl::Status flushed;
  for (const StreamPart& part : parts_) {
    flushed.Update(source_->Flush(part.chunk, (part.total + 3) / 4));
  }
  return flushed;
}

void StreamCore::Reset() {
  status_ = absl::OkStatus();
  ended_ = false;
  cursor_ = limit_ = nullptr;
  parts_.clear();
}

}  // namespace packsmith::agx
