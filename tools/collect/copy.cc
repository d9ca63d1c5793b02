#include "tools/collect/copy.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::collect {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
// How often room is asked for, in bytes of the dump.
constexpr uint64_t kAskAfter = uint64_t{16} << 20;

absl::Status WriteWhole(int fd, const char* data, size_t size) {
  while (size != 0) {
    const ssize_t wrote = ::write(fd, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return absl::ErrnoToStatus(errno, "cannot write the copy");
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return absl::OkStatus();
}

class Compressor {
 public:
  Compressor(int to, int level) : to_(to), context_(ZSTD_createCCtx()), out_(kBlock) {
    if (context_ == nullptr) return;
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    // A library without threads refuses this, and compresses in the caller's.
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_nbWorkers, 1);
  }

  absl::Status Add(const std::vector<char>& bytes, size_t size, bool last) {
    if (context_ == nullptr) return absl::ResourceExhaustedError("no memory for compressing");
    ZSTD_inBuffer in = {bytes.data(), size, 0};
    while (true) {
      ZSTD_outBuffer out = {out_.data(), out_.size(), 0};
      const size_t left =
          ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) {
        return absl::InternalError(absl::StrCat("compressing failed: ", ZSTD_getErrorName(left)));
      }
      if (absl::Status status = WriteWhole(to_, out_.data(), out.pos); !status.ok()) return status;
      written_ += out.pos;
      if (last ? left == 0 : in.pos == in.size) return absl::OkStatus();
    }
  }

  uint64_t written() const { return written_; }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const int to_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<char> out_;
  uint64_t written_ = 0;
};

}  // namespace

absl::Status Copy(const std::string& from, int to, const CopyOptions& options, Copied& copied) {
  const UniqueFd fd(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", from));
  Compressor compressor(to, options.level);
  std::vector<char> block(kBlock);
  uint64_t asked = 0;
  bool end = false;
  while (!end) {
    size_t size = 0;
    while (size < block.size() && !end) {
      const uint64_t left = options.most - copied.read;
      // One byte more tells whether the dump ends there.
      const size_t wanted = static_cast<size_t>(
          std::min<uint64_t>(block.size() - size, left == UINT64_MAX ? left : left + 1));
      const ssize_t got = ::read(fd.get(), block.data() + size, wanted);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        copied.cut =
            absl::StrCat("reading failed after ", copied.read, " bytes: ", std::strerror(errno));
      }
      end = got <= 0;
      if (end) break;
      uint64_t taken = static_cast<uint64_t>(got);
      if (taken > left) {
        taken = left;
        copied.cut = absl::StrCat("it is larger than the limit of ", options.most, " bytes");
        end = true;
      }
      size += taken;
      copied.read += taken;
    }
    const absl::Status status = compressor.Add(block, size, end);
    copied.written = compressor.written();
    if (!status.ok()) return status;
    if (copied.read - asked >= kAskAfter || end) {
      asked = copied.read;
      if (const std::string why = options.room(copied.written); !why.empty()) {
        return absl::ResourceExhaustedError(why);
      }
    }
  }
  if (::fsync(to) != 0) return absl::ErrnoToStatus(errno, "cannot sync the copy");
  return absl::OkStatus();
}

}  // namespace packsmith::collect
