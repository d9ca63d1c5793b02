#include "runtime/source/symbols.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace packsmith::source {
namespace {

constexpr size_t kLongestName = 60;

// What can be part of an identifier.
std::string Identifier(absl::string_view text) {
  std::string made;
  for (const char c : text.substr(0, kLongestName)) {
    const bool good = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (!good && (made.empty() || made.back() == '_')) continue;
    made += good ? absl::ascii_tolower(static_cast<unsigned char>(c)) : '_';
  }
  while (!made.empty() && made.back() == '_') made.pop_back();
  return made;
}

}  // namespace

std::string Hex(uint64_t number) { return absl::StrCat("0x", absl::Hex(number)); }

Symbols::Symbols(const Dump& dump) {
  absl::flat_hash_map<std::string, uint32_t> used;
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    if (segment.memory_size == 0) continue;
    const Buffer* buffer = dump.FindBuffer(segment.space, segment.address);
    std::string name = buffer == nullptr ? "" : Identifier(buffer->name);
    if (name.empty()) name = absl::StrCat("at_", absl::Hex(segment.address));
    name = absl::StrCat("buffer_", name);
    // The second one is _2, unless a buffer is called that.
    const std::string first = name;
    while (!used.emplace(name, 0).second) name = absl::StrCat(first, "_", ++used[first] + 1);
    places_.push_back({segment.space, segment.address, segment.memory_size, std::move(name)});
  }
}

const Symbols::Place* Symbols::Holder(uint32_t space, uint64_t address) const {
  auto after = std::upper_bound(places_.begin(), places_.end(), std::pair(space, address),
                                [](const std::pair<uint32_t, uint64_t>& key, const Place& place) {
                                  return key < std::pair(place.space, place.address);
                                });
  if (after == places_.begin()) return nullptr;
  const Place& place = *--after;
  return place.space == space && address - place.address < place.size ? &place : nullptr;
}

std::string Symbols::Find(uint32_t space, uint64_t address) const {
  const Place* place = Holder(space, address);
  if (place == nullptr) place = Holder(kGlobalSpace, address);
  if (place == nullptr) return {};
  if (address == place->address) return place->name;
  return absl::StrCat(place->name, " + ", Hex(address - place->address));
}

}  // namespace packsmith::source
