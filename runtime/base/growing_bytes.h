// A byte buffer for input of unknown size. Internal to file and compressed.

#ifndef PACKSMITH_RUNTIME_BASE_GROWING_BYTES_H_
#define PACKSMITH_RUNTIME_BASE_GROWING_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "runtime/base/file.h"

namespace packsmith {

// Unlike std::vector it does not touch bytes before they are written, moves pages instead of bytes
// when large (realloc), and running out of memory is a return value.
class GrowingBytes {
 public:
  // Room for at least one more byte; empty if there is no memory for it. Doubles, from 256 KiB.
  absl::Span<uint8_t> Room() {
    if (size_ == capacity_) {
      const size_t grown = std::max(size_t{1} << 18, capacity_ * 2);
      void* moved = grown > capacity_ ? std::realloc(data_.get(), grown) : nullptr;
      if (moved == nullptr) return {};
      static_cast<void>(data_.release());
      data_.reset(static_cast<uint8_t*>(moved));
      capacity_ = grown;
    }
    return absl::MakeSpan(data_.get() + size_, capacity_ - size_);
  }

  // The first `count` bytes of Room() have been written.
  void Wrote(size_t count) { size_ += count; }

  size_t size() const { return size_; }

  FileBytes Take(std::string name) && {
    FileBytes file;
    file.bytes = absl::MakeConstSpan(data_.get(), size_);
    file.owner = std::shared_ptr<const void>(std::move(data_));
    file.name = std::move(name);
    return file;
  }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_GROWING_BYTES_H_
