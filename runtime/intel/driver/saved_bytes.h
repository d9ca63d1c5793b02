// Values as bytes of one version of this library, and back: for what caches keep.
//
//   SavedBytes out;
//   out.Put(plan);                    // any plain value
//   out.PutAll(absl::MakeConstSpan(words));
//   out.Seal();
//   SavedReader in(out.bytes());
//   VertexPlan again;
//   if (!in.Unseal() || !in.Get(again)) …   // damaged; there are fewer bytes
//
// Values are as they are in memory: not every byte is that of a value (a bool's, an enum's), so
// that nothing is read of bytes whose checksum is wrong.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_BYTES_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "runtime/intel/shader/pipeline_cache.h"

namespace packsmith::intel {

class SavedBytes {
 public:
  template <class T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    const auto* const from = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(value));
  }
  // A number, and as many values.
  template <class T>
  void PutAll(absl::Span<const T> values) {
    Put(static_cast<uint32_t>(values.size()));
    for (const T& value : values) Put(value);
  }
  // A value, and its size, by which another version of its type is known.
  template <class T>
  void PutSized(const T& value) {
    Put(static_cast<uint32_t>(sizeof(value)));
    Put(value);
  }
  // Appends the checksum of all that was put. Last.
  void Seal() { Put(CacheCheckOf(bytes_)); }
  absl::Span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class SavedReader {
 public:
  explicit SavedReader(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  // False, and the value is as before, if there are fewer bytes.
  template <class T>
  bool Get(T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    if (bytes_.size() < sizeof(value)) return false;
    std::memcpy(static_cast<void*>(&value), bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return true;
  }
  template <class T>
  bool GetAll(std::vector<T>& values) {
    uint32_t count = 0;
    if (!Get(count) || bytes_.size() / sizeof(T) < count) return false;
    values.resize(count);
    for (T& value : values) (void)Get(value);
    return true;
  }
  template <class T>
  bool GetSized(T& value) {
    uint32_t size = 0;
    return Get(size) && size == sizeof(value) && Get(value);
  }
  // Checks the checksum, and takes it away. First.
  bool Unseal() {
    uint32_t check = 0;
    if (bytes_.size() < sizeof(check)) return false;
    const absl::Span<const uint8_t> sealed = bytes_.first(bytes_.size() - sizeof(check));
    std::memcpy(&check, sealed.data() + sealed.size(), sizeof(check));
    if (check != CacheCheckOf(sealed)) return false;
    bytes_ = sealed;
    return true;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  absl::Span<const uint8_t> bytes_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_BYTES_H_
