#include "runtime/html/page_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "runtime/html/page_parts.h"

namespace packsmith::html {
namespace {

// A low one: dumps are large, and most of a page is repetition that any level finds.
constexpr int kLevel = 3;
// Bytes of an element before base64; a multiple of three, so that only the last one is padded.
constexpr size_t kElement = 3 * (size_t{1} << 18);

}  // namespace

PageWriter::PageWriter(decode::Output& output)
    : output_(output), stream_(std::make_unique<z_stream_s>()) {
  // Fails only for want of memory.
  if (deflateInit(stream_.get(), kLevel) != Z_OK) stream_.reset();
  output_.Append(PageBeginning());
}

PageWriter::~PageWriter() {
  if (stream_ != nullptr) deflateEnd(stream_.get());
}

void PageWriter::Append(absl::string_view bytes) { Deflate(bytes, false); }

void PageWriter::Finish() {
  Deflate({}, true);
  PutElement(true);
  output_.Append(PageEnd());
}

void PageWriter::Deflate(absl::string_view bytes, bool last) {
  if (stream_ == nullptr) return;
  do {
    // zlib counts in 32 bits.
    const absl::string_view some = bytes.substr(0, size_t{1} << 30);
    bytes.remove_prefix(some.size());
    // zlib does not write to its input.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(some.data()));
    stream_->avail_in = static_cast<uInt>(some.size());
    const int flush = last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
    do {
      char room[1 << 16];
      stream_->next_out = reinterpret_cast<Bytef*>(room);
      stream_->avail_out = sizeof(room);
      (void)deflate(stream_.get(), flush);
      compressed_.append(room, sizeof(room) - stream_->avail_out);
      if (compressed_.size() >= kElement) PutElement(false);
    } while (stream_->avail_out == 0);
  } while (!bytes.empty());
}

void PageWriter::PutElement(bool last) {
  size_t begin = 0;
  while (compressed_.size() - begin >= kElement || (last && begin < compressed_.size())) {
    const size_t size = std::min(kElement, compressed_.size() - begin);
    std::string text;
    absl::Base64Escape(absl::string_view(compressed_).substr(begin, size), &text);
    output_.Append("<script type=\"application/x-packsmith\">");
    output_.Append(text);
    output_.Append("</script>\n");
    begin += size;
  }
  compressed_.erase(0, begin);
}

}  // namespace packsmith::html
