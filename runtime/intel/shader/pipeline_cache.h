// Compiled pipelines, kept by the hash of what they were made of, in memory and in a file that
// another run maps.
//
//   PipelineCache cache({.identity = absl::StrCat("skl 0x1912 ", driver_version)});
//   const absl::Status loaded = cache.Load(path);     // not OK: starts empty; the status says why
//   const CacheKey key = CacheKeyOf(source_and_options);
//   auto pipeline = cache.Find(key);
//   if (!pipeline) pipeline = cache.Add(key, Compile(…));
//   ...
//   return cache.Save(path);
//
// What a pipeline's bytes are is the caller's: instructions, sizes of scratch memory, packed state.
// They must hold in other runs, so addresses have no place in them. Of two pipelines under one key
// the first is kept.
//
// A file is written whole or not at all. One that is damaged, or of another identity, is refused
// before anything of it is used; damage to a single pipeline is found when that is first asked for,
// which is then a miss.
//
// Thread-safe.

#ifndef PACKSMITH_RUNTIME_INTEL_SHADER_PIPELINE_CACHE_H_
#define PACKSMITH_RUNTIME_INTEL_SHADER_PIPELINE_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/base/mutex.h"

namespace packsmith::intel {

// 128 bits that identify what a pipeline was made of: a hash whose collisions do not happen.
struct CacheKey {
  uint64_t low = 0, high = 0;

  friend bool operator==(const CacheKey&, const CacheKey&) = default;
  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
  template <class H>
  friend H AbslHashValue(H h, const CacheKey& key) {
    return H::combine(std::move(h), key.low, key.high);
  }
};

// FNV-1a of 128 bits: the same in all runs. Not for input that someone chooses in order to collide;
// a cryptographic hash, cut to 128 bits, is a key as well.
CacheKey CacheKeyOf(absl::Span<const uint8_t> bytes);

// CRC-32: what tells damaged bytes from whole ones.
uint32_t CacheCheckOf(absl::Span<const uint8_t> bytes, uint32_t before = 0);

struct PipelineCacheStatistics {
  uint64_t entries = 0;
  uint64_t bytes = 0;   // of all pipelines
  uint64_t mapped = 0;  // entries of a loaded file
  uint64_t hits = 0, misses = 0;
  uint64_t damaged = 0;  // entries that were dropped when they were asked for
};

class PipelineCache {
 public:
  struct Options {
    // Device, driver and their versions: pipelines of a file with another identity are not used.
    std::string identity;
    bool enabled = true;  // false: nothing is kept, found, loaded or saved
    // Of pipelines that Add() keeps; further ones are not kept.
    uint64_t most_bytes = uint64_t{256} << 20;
  };

  explicit PipelineCache(Options options) : options_(std::move(options)) {}
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // Adds the pipelines of a file, which stays mapped; those that are known already stay. Another
  // process may replace the file, but must not change or shorten it. Errors, none of which adds
  // anything: those of OpenFile(); InvalidArgument: no file of a cache, or of another version;
  // FailedPrecondition: of another identity; DataLoss: damaged.
  absl::Status Load(const std::string& path);
  // The same, of bytes in memory.
  absl::Status Load(FileBytes file);
  // Writes all pipelines: FileWriter's errors.
  absl::Status Save(const std::string& path) const;

  // The bytes are valid as long as the cache.
  std::optional<absl::Span<const uint8_t>> Find(const CacheKey& key);
  // Keeps a copy, and returns what is kept under the key: the copy, or an earlier pipeline. If
  // there is no more room, or the cache is off, `bytes` itself.
  absl::Span<const uint8_t> Add(const CacheKey& key, absl::Span<const uint8_t> bytes);

  PipelineCacheStatistics statistics() const;

 private:
  struct Entry {
    absl::Span<const uint8_t> bytes;
    uint32_t check = 0;    // CRC of the bytes
    bool checked = false;  // against that
    bool mapped = false;
  };

  const Options options_;
  mutable Mutex mutex_;
  absl::flat_hash_map<CacheKey, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<uint8_t[]>> copies_ ABSL_GUARDED_BY(mutex_);
  std::vector<FileBytes> files_ ABSL_GUARDED_BY(mutex_);
  uint64_t copied_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  PipelineCacheStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_SHADER_PIPELINE_CACHE_H_
