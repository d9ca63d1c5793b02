#include "runtime/capture/execute/mapped_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::capture {
namespace {

// Clients poll what is written, and write what is polled.
template <typename T>
bool IsAligned(const void* at) {
  return reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0;
}

void Load(const uint8_t* from, uint8_t* to, size_t size) {
  if (size == 4 && IsAligned<uint32_t>(from)) {
    const uint32_t value =
        __atomic_load_n(reinterpret_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
    std::memcpy(to, &value, sizeof(value));
  } else if (size == 8 && IsAligned<uint64_t>(from)) {
    const uint64_t value =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(from), __ATOMIC_ACQUIRE);
    std::memcpy(to, &value, sizeof(value));
  } else {
    std::memcpy(to, from, size);
  }
}

void Store(uint8_t* to, const uint8_t* from, size_t size) {
  if (size == 4 && IsAligned<uint32_t>(to)) {
    uint32_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    __atomic_store_n(reinterpret_cast<uint32_t*>(to), value, __ATOMIC_RELEASE);
  } else if (size == 8 && IsAligned<uint64_t>(to)) {
    uint64_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    __atomic_store_n(reinterpret_cast<uint64_t*>(to), value, __ATOMIC_RELEASE);
  } else {
    std::memcpy(to, from, size);
  }
}

// Where a byte of a mapping is in its object, and how many follow it there. 0: none, the object
// ends before.
struct InObject {
  uint64_t offset = 0, size = 0;
};
InObject PlaceIn(const Mapping& mapping, uint64_t address) {
  const uint64_t at = address - mapping.address;
  uint64_t offset = mapping.offset, most = mapping.size - at;
  if (mapping.repeats != 0) {
    offset += at % mapping.repeats;
    most = std::min(most, mapping.repeats - at % mapping.repeats);
  } else {
    offset += at;
  }
  const uint64_t size = mapping.object->size();
  return {offset, offset >= size ? 0 : std::min(most, size - offset)};
}

// What is left of a mapping from an address on, where it holds no more than zeros.
uint64_t Rest(const Mapping& mapping, uint64_t address) {
  return mapping.size - (address - mapping.address);
}

}  // namespace

std::string NameOf(const Object& object) {
  return object.name.empty() ? absl::StrCat("bo", object.id()) : object.name;
}

void MappedMemory::Use(std::shared_ptr<const AddressMap> map, const Options& options) {
  map_ = std::move(map);
  options_ = options;
  runs_.fill({});
  missed_ = false;
  written_to_ = 0;
  overrun_ = {};
  scratch_write_.reset();
}

void MappedMemory::Drop() { Use(nullptr, {}); }

const MappedMemory::Run* MappedMemory::Find(uint32_t space, uint64_t address) const {
  if (space != options_.space && !options_.one_space) return nullptr;
  for (const Run& run : runs_) {
    if (address >= run.begin && address <= run.last) return &run;
  }
  const Mapping* const mapping = map_ == nullptr ? nullptr : map_->Find(address);
  if (mapping == nullptr) return nullptr;
  Run run{mapping->address, mapping->address + (mapping->size - 1), nullptr, mapping};
  const Object* const object = mapping->object.get();
  if (object != nullptr && object->memory() != nullptr && mapping->repeats == 0 &&
      mapping->offset < object->size()) {
    const absl::Span<uint8_t> bytes = object->memory()->bytes();
    const uint64_t size = std::min<uint64_t>(object->size(), bytes.size()) - mapping->offset;
    run.bytes = bytes.data() + mapping->offset;
    // What a mapping has beyond its object is not mapped.
    run.last = run.begin + (std::min(mapping->size, size) - 1);
    if (address > run.last) return nullptr;
  }
  Run& kept = runs_[next_run_++ % kRuns];
  kept = run;
  return &kept;
}

size_t MappedMemory::Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t at = address + done;
    const Run* const run = Find(space, at);
    uint64_t size = out.size() - done;
    bool good = run != nullptr;
    if (run == nullptr) {
      // A scratch page holds zeros; a page at most, since something may be mapped after it.
      size = std::min<uint64_t>(size, 4096 - at % 4096);
      good = options_.scratch_page;
      if (good) std::memset(out.data() + done, 0, size);
    } else if (run->bytes != nullptr) {
      size = std::min(size, run->last - at + 1);
      Load(run->bytes + (at - run->begin), out.data() + done, size);
    } else if (run->mapping->object == nullptr) {
      size = std::min(size, Rest(*run->mapping, at));
      std::memset(out.data() + done, 0, size);
    } else {
      const InObject in = PlaceIn(*run->mapping, at);
      size = std::min(size, in.size);
      good = size != 0 && run->mapping->object->Read(in.offset, out.subspan(done, size));
    }
    if (!good) {
      missed_ = true;
      miss_writes_ = false;
      miss_space_ = space;
      miss_address_ = at;
      break;
    }
    done += size;
  }
  Count(done);
  return done;
}

size_t MappedMemory::Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t at = address + done;
    const Run* const run = Find(space, at);
    uint64_t size = bytes.size() - done;
    bool good = run != nullptr && run->mapping->writable;
    if (run == nullptr) {
      size = std::min<uint64_t>(size, 4096 - at % 4096);
      good = options_.scratch_page;
      if (good && !scratch_write_) scratch_write_ = at;
    } else if (!good) {
      // Read-only.
    } else if (run->bytes != nullptr) {
      size = std::min(size, run->last - at + 1);
      Store(run->bytes + (at - run->begin), bytes.data() + done, size);
      NoteWrite(*run->mapping, at, size);
    } else if (run->mapping->object == nullptr) {
      size = std::min(size, Rest(*run->mapping, at));
    } else {
      const InObject in = PlaceIn(*run->mapping, at);
      size = std::min(size, in.size);
      good = size != 0 && run->mapping->object->Write(in.offset, bytes.subspan(done, size));
    }
    if (!good) {
      missed_ = true;
      miss_writes_ = true;
      miss_space_ = space;
      miss_address_ = at;
      break;
    }
    done += size;
  }
  Count(done);
  return done;
}

void MappedMemory::NoteWrite(const Mapping& mapping, uint64_t address, uint64_t size) {
  // Objects of which only parts are mapped next to each other are sparse.
  if (address == written_to_ && written_ != &mapping && written_ != nullptr &&
      overrun_.from == nullptr && address == mapping.address && mapping.offset == 0 &&
      mapping.object != written_->object &&
      written_->offset + written_->size == written_->object->size()) {
    overrun_ = {written_->object, mapping.object, address};
  }
  written_ = &mapping;
  written_to_ = address + size;
}

MappedMemory::Overrun MappedMemory::TakeOverrun() { return std::exchange(overrun_, {}); }

MappedMemory::Miss MappedMemory::last_miss() const {
  if (!missed_) return {};
  Miss miss{true, miss_writes_, miss_address_, ""};
  if (miss_space_ != options_.space && !options_.one_space) {
    miss.why = "which is in the global address space, where the batch has no memory";
    return miss;
  }
  if (map_ == nullptr) return miss;
  if (const Mapping* const in = map_->Find(miss_address_); in != nullptr && in->object != nullptr) {
    if (miss_writes_ && !in->writable) {
      miss.why = absl::StrCat("which is mapped read-only (", NameOf(*in->object), ")");
    } else if (in->object->user() != nullptr) {
      miss.why = absl::StrCat("which is in ", NameOf(*in->object),
                              ", memory of a process that it does not have any more");
    } else {
      miss.why = absl::StrCat("which is after the end of ", NameOf(*in->object));
    }
    return miss;
  }
  miss.why = "which is not mapped";
  const AddressMap::Mappings& all = map_->mappings();
  const auto after = all.upper_bound(miss_address_);
  const auto describe = [&](absl::string_view where, const Mapping& mapping) {
    absl::StrAppendFormat(
        &miss.why, "; %s it is %s, 0x%x bytes at 0x%x", where,
        mapping.object == nullptr ? "a range without memory" : NameOf(*mapping.object),
        mapping.size, mapping.address);
  };
  if (after != all.begin())
    describe("the last mapping below", std::prev(after)->second);
  else if (after != all.end())
    describe("the first mapping, above", after->second);
  return miss;
}

}  // namespace packsmith::capture
