#include "runtime/intel/shader/pipeline_cache.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

// The file: this header, the index, sorted by key, then the pipelines, each at a multiple of 8.
// Numbers are little-endian, as on all CPUs that have these GPUs.
constexpr char kMagic[8] = {'p', 's', 'p', 'i', 'p', 'e', 's', '\n'};
constexpr uint32_t kFormat = 1;

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t check;  // CRC of the header from `identity` on, and of the index
  CacheKey identity;
  uint64_t count;
  uint64_t size;  // of the file
};
static_assert(sizeof(Header) == 48);
constexpr size_t kChecked = 16;  // offset of `identity`

struct IndexEntry {
  CacheKey key;
  uint64_t offset;
  uint32_t size;
  uint32_t check;
};
static_assert(sizeof(IndexEntry) == 32);

uint64_t Aligned(uint64_t offset) { return (offset + 7) & ~uint64_t{7}; }

absl::Span<const uint8_t> BytesOfText(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

template <class T>
absl::Span<const uint8_t> BytesOfValues(const T* values, size_t count) {
  return {reinterpret_cast<const uint8_t*>(values), count * sizeof(T)};
}

}  // namespace

CacheKey CacheKeyOf(absl::Span<const uint8_t> bytes) {
  using Wide = unsigned __int128;
  constexpr auto wide = [](uint64_t high, uint64_t low) { return Wide{high} << 64 | low; };
  // The offset basis and prime of FNV for 128 bits (draft-eastlake-fnv).
  Wide hash = wide(0x6c62272e07bb0142, 0x62b821756295c58d);
  constexpr Wide kPrime = wide(0x0000000001000000, 0x000000000000013b);
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * kPrime;
  return {static_cast<uint64_t>(hash), static_cast<uint64_t>(hash >> 64)};
}

uint32_t CacheCheckOf(absl::Span<const uint8_t> bytes, uint32_t before) {
  uLong crc = before;
  // zlib counts in 32 bits.
  while (!bytes.empty()) {
    const size_t piece = std::min<size_t>(bytes.size(), size_t{1} << 30);
    crc = crc32(crc, bytes.data(), static_cast<uInt>(piece));
    bytes.remove_prefix(piece);
  }
  return static_cast<uint32_t>(crc);
}

absl::Status PipelineCache::Load(const std::string& path) {
  if (!options_.enabled) return absl::OkStatus();
  absl::StatusOr<FileBytes> file = OpenFile(path);
  if (!file.ok()) return file.status();
  return Load(*std::move(file));
}

absl::Status PipelineCache::Load(FileBytes file) {
  if (!options_.enabled) return absl::OkStatus();
  const absl::Span<const uint8_t> bytes = file.bytes;
  const auto damaged = [&](auto... text) {
    return absl::DataLossError(absl::StrCat(
        file.name, ": ", text..., "; the file is damaged: delete it, it will be made anew"));
  };
  Header header;
  if (bytes.size() < sizeof(header) || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(file.name, ": not a file of a pipeline cache"));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.format != kFormat) {
    return absl::InvalidArgumentError(absl::StrCat(file.name, ": version ", header.format,
                                                   " of the format; this program reads version ",
                                                   kFormat));
  }
  if (header.size != bytes.size()) {
    return damaged("it has ", bytes.size(), " bytes, and should have ", header.size);
  }
  if (header.count > (bytes.size() - sizeof(header)) / sizeof(IndexEntry)) {
    return damaged("it should have ", header.count, " pipelines, more than fit");
  }
  const size_t index_end = sizeof(header) + header.count * sizeof(IndexEntry);
  if (CacheCheckOf(bytes.subspan(kChecked, index_end - kChecked)) != header.check) {
    return damaged("its index does not have the expected checksum");
  }
  if (header.identity != CacheKeyOf(BytesOfText(options_.identity))) {
    return absl::FailedPreconditionError(absl::StrCat(
        file.name, ": pipelines of another device or driver than \"", options_.identity, "\""));
  }
  std::vector<std::pair<CacheKey, Entry>> found;
  found.reserve(header.count);
  // Save() writes them in this order. Pipelines that shared bytes could have any total size.
  uint64_t end = index_end;
  for (uint64_t i = 0; i < header.count; ++i) {
    IndexEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof(header) + i * sizeof(entry), sizeof(entry));
    if (entry.offset < index_end || entry.offset > bytes.size() ||
        entry.size > bytes.size() - entry.offset) {
      return damaged("pipeline ", i, " is at ", entry.offset, ", which is not in the file");
    }
    if (entry.offset < end) {
      return damaged("pipeline ", i, " is at ", entry.offset, ", before the end of the last one, ",
                     end);
    }
    end = entry.offset + entry.size;
    found.emplace_back(entry.key, Entry{.bytes = bytes.subspan(entry.offset, entry.size),
                                        .check = entry.check,
                                        .checked = false,
                                        .mapped = true});
  }
  MutexLock lock(mutex_);
  bool added = false;
  for (auto& [key, entry] : found) {
    if (!entries_.emplace(key, entry).second) continue;
    added = true;
    ++statistics_.entries;
    ++statistics_.mapped;
    statistics_.bytes += entry.bytes.size();
  }
  // Otherwise nothing refers to its bytes.
  if (added) files_.push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status PipelineCache::Save(const std::string& path) const {
  if (!options_.enabled) return absl::OkStatus();
  std::vector<std::pair<CacheKey, Entry>> sorted;
  {
    MutexLock lock(mutex_);
    sorted.assign(entries_.begin(), entries_.end());
  }
  // The bytes stay as long as the cache. Damaged ones are not passed on as good.
  std::erase_if(sorted, [](const auto& pair) {
    return !pair.second.checked && CacheCheckOf(pair.second.bytes) != pair.second.check;
  });
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<IndexEntry> index;
  uint64_t offset = sizeof(Header) + sorted.size() * sizeof(IndexEntry);
  for (const auto& [key, entry] : sorted) {
    index.push_back({key, offset, static_cast<uint32_t>(entry.bytes.size()), entry.check});
    offset = Aligned(offset + entry.bytes.size());
  }
  Header header = {.magic = {},
                   .format = kFormat,
                   .check = 0,
                   .identity = CacheKeyOf(BytesOfText(options_.identity)),
                   .count = sorted.size(),
                   .size = offset};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  const auto header_bytes = BytesOfValues(&header, 1);
  header.check = CacheCheckOf(BytesOfValues(index.data(), index.size()),
                              CacheCheckOf(header_bytes.subspan(kChecked)));

  absl::StatusOr<FileWriter> writer = FileWriter::Create(path);
  if (!writer.ok()) return writer.status();
  absl::Status status = writer->Append(header_bytes);
  if (status.ok()) status = writer->Append(BytesOfValues(index.data(), index.size()));
  for (const auto& [key, entry] : sorted) {
    constexpr uint8_t kZeros[8] = {};
    if (status.ok()) status = writer->Append(entry.bytes);
    const size_t rest = Aligned(entry.bytes.size()) - entry.bytes.size();
    if (status.ok()) status = writer->Append(absl::MakeConstSpan(kZeros, rest));
  }
  return status.ok() ? writer->Commit() : status;
}

std::optional<absl::Span<const uint8_t>> PipelineCache::Find(const CacheKey& key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    ++statistics_.misses;
    return std::nullopt;
  }
  Entry& entry = found->second;
  if (!entry.checked) {
    if (CacheCheckOf(entry.bytes) != entry.check) {
      ++statistics_.damaged;
      ++statistics_.misses;
      --statistics_.entries;
      --statistics_.mapped;
      statistics_.bytes -= entry.bytes.size();
      entries_.erase(found);
      return std::nullopt;
    }
    entry.checked = true;
  }
  ++statistics_.hits;
  return entry.bytes;
}

absl::Span<const uint8_t> PipelineCache::Add(const CacheKey& key, absl::Span<const uint8_t> bytes) {
  if (!options_.enabled || bytes.size() > options_.most_bytes || bytes.size() > ~uint32_t{0}) {
    return bytes;
  }
  const uint32_t check = CacheCheckOf(bytes);
  auto copy = std::make_unique<uint8_t[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  MutexLock lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    Entry& entry = found->second;
    if (entry.checked || CacheCheckOf(entry.bytes) == entry.check) {
      entry.checked = true;
      return entry.bytes;
    }
    ++statistics_.damaged;
    --statistics_.entries;
    --statistics_.mapped;
    statistics_.bytes -= entry.bytes.size();
    entries_.erase(found);
  }
  if (copied_bytes_ > options_.most_bytes - bytes.size()) return bytes;
  const Entry entry{.bytes = absl::MakeConstSpan(copy.get(), bytes.size()),
                    .check = check,
                    .checked = true,
                    .mapped = false};
  copies_.push_back(std::move(copy));
  copied_bytes_ += bytes.size();
  entries_.emplace(key, entry);
  ++statistics_.entries;
  statistics_.bytes += bytes.size();
  return entry.bytes;
}

PipelineCacheStatistics PipelineCache::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

}  // namespace packsmith::intel
