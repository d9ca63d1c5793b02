#include "runtime/dump/dump.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace packsmith {
namespace {

// Where a buffer ends: its space plus one and its last byte, so that the default, also that of an
// empty buffer, is before every place.
using End = std::pair<uint64_t, uint64_t>;

End EndOf(const Buffer& buffer) {
  if (buffer.size == 0) return {};
  const uint64_t room = std::numeric_limits<uint64_t>::max() - buffer.address;
  return {uint64_t{buffer.space} + 1, buffer.address + std::min(buffer.size - 1, room)};
}

bool Holds(const Buffer& buffer, uint32_t space, uint64_t address) {
  return buffer.space == space && address >= buffer.address &&
         address - buffer.address < buffer.size;
}

// False where the buffer's size is that of its memory, which ends before `address`.
bool Mapped(const Memory& memory, const Buffer& buffer, uint64_t address) {
  return !buffer.size_is_memory || memory.Find(buffer.space, address) != nullptr;
}

// The last index up to `last` whose end is at `wanted` or above, or SIZE_MAX. Leaf i of the tree is
// tree[leaves + i], the children of node n are 2n and 2n + 1.
size_t LastReaching(const std::vector<End>& tree, size_t last, const End& wanted) {
  const size_t leaves = tree.size() / 2;
  size_t node = leaves + last;
  while (tree[node] < wanted) {
    while (node % 2 == 0) node /= 2;  // a left child: nothing before it below this parent
    if (node <= 1) return std::numeric_limits<size_t>::max();
    --node;
  }
  while (node < leaves) {
    node = 2 * node + 1;
    if (tree[node] < wanted) --node;
  }
  return node - leaves;
}

}  // namespace

void Dump::SortBuffers() {
  std::stable_sort(buffers.begin(), buffers.end(), [](const Buffer& a, const Buffer& b) {
    return std::tie(a.space, a.address, b.size) < std::tie(b.space, b.address, a.size);
  });
  greatest_end_.clear();
  if (buffers.empty()) return;
  size_t leaves = 1;
  while (leaves < buffers.size()) leaves *= 2;
  greatest_end_.assign(2 * leaves, End());
  for (size_t i = 0; i < buffers.size(); ++i) {
    greatest_end_[leaves + i] = EndOf(buffers[i]);
  }
  for (size_t node = leaves - 1; node > 0; --node) {
    greatest_end_[node] = std::max(greatest_end_[2 * node], greatest_end_[2 * node + 1]);
  }
  indexed_buffers_ = buffers.size();
}

const Buffer* Dump::FindBuffer(uint32_t space, uint64_t address) const {
  if (buffers.empty()) return nullptr;
  if (indexed_buffers_ != buffers.size()) {
    const Buffer* best = nullptr;
    for (const Buffer& buffer : buffers) {
      if (!Holds(buffer, space, address)) continue;
      if (best == nullptr || buffer.address > best->address ||
          (buffer.address == best->address && buffer.size <= best->size)) {
        best = &buffer;
      }
    }
    return best != nullptr && Mapped(memory, *best, address) ? best : nullptr;
  }
  const auto after =
      std::upper_bound(buffers.begin(), buffers.end(), std::make_pair(space, address),
                       [](const auto& place, const Buffer& buffer) {
                         return place < std::make_pair(buffer.space, buffer.address);
                       });
  if (after == buffers.begin()) return nullptr;
  const size_t found = LastReaching(greatest_end_, static_cast<size_t>(after - buffers.begin()) - 1,
                                    End{uint64_t{space} + 1, address});
  if (found >= buffers.size()) return nullptr;
  const Buffer& buffer = buffers[found];
  return Holds(buffer, space, address) && Mapped(memory, buffer, address) ? &buffer : nullptr;
}

void LateProblems::Add(uint64_t offset, std::string text) {
  absl::MutexLock lock(&mutex_);
  if (problems_.size() < Dump::kMaxProblems) problems_.push_back({offset, std::move(text)});
}

std::vector<Problem> LateProblems::All() const {
  absl::MutexLock lock(&mutex_);
  return problems_;
}

void Dump::AddProblem(uint64_t offset, std::string text) {
  if (problems.size() < kMaxProblems) {
    problems.push_back({offset, std::move(text)});
    return;
  }
  ++problems_left_out_;
  if (problems_left_out_ == 1) problems.push_back({offset, ""});
  problems.back().text =
      absl::StrCat("from here on, ", problems_left_out_, " further problems are not listed");
}

std::string IntelGenerationName(int verx10) {
  if (verx10 <= 0) return "";
  return absl::StrCat("gfx", verx10 % 10 == 0 ? verx10 / 10 : verx10);
}

Device DeviceOfGeneration(absl::string_view generation) {
  Device device;
  device.generation = std::string(generation);
  int number = 0;
  if (absl::StartsWith(generation, "gfx")) {
    device.family = "intel";
    // Names omit the point of 4.5, 7.5 and 12.5 and the zero of the others.
    if (absl::SimpleAtoi(generation.substr(3), &number) && number > 0 && number < 1000) {
      device.verx10 = number == 45 || number == 75 || number > 100 ? number : number * 10;
    }
  } else if (absl::StartsWith(generation, "agx")) {
    device.family = "agx";
  }
  return device;
}

std::string ValidUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](size_t n) { return static_cast<uint8_t>(text[i + n]); };
    const uint8_t first = byte(0);
    size_t length = 1;
    uint32_t code = first;
    uint32_t least = 0;
    if (first >= 0xf0 && first < 0xf8) {
      length = 4, code = first & 0x07, least = 0x10000;
    } else if (first >= 0xe0 && first < 0xf0) {
      length = 3, code = first & 0x0f, least = 0x800;
    } else if (first >= 0xc0 && first < 0xe0) {
      length = 2, code = first & 0x1f, least = 0x80;
    }
    bool good = (length > 1 || first < 0x80) && length <= text.size() - i;
    for (size_t n = 1; good && n < length; ++n) {
      good = (byte(n) & 0xc0) == 0x80;
      code = code << 6 | (byte(n) & 0x3f);
    }
    good = good && code >= least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (good) {
      out.append(text.data() + i, length);
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  return out;
}

}  // namespace packsmith
