#include "runtime/dump/hang_dump.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/dump/little_endian.h"
#include "runtime/dump/losses.h"
#include "runtime/dump/vma_properties.h"

namespace packsmith {
namespace {

constexpr uint64_t kMagic = 0x4245012345676463;
constexpr uint64_t kHeaderBytes = 24;
constexpr size_t kNameBytes = 64;
constexpr uint64_t kStatusPage = 4096;  // of an image that the i915 driver saved
// Of an image whose size the dump does not say: the largest one has 22 pages.
constexpr uint64_t kMostImage = 32 * 4096;
// Larger sparse ranges are written as ranges without memory.
constexpr uint64_t kMostSparse = 64 << 20;
constexpr uint32_t kOldest = 1, kNewest = 2;

enum class Block : uint32_t {
  kHeader = 1,
  kBuffer = 2,
  kMap = 3,
  kExec = 4,
  kImage = 5,
  kVmFlags = 6,
};

// Where the fields of a version's blocks are, in bytes from the block's start. Each block begins
// with its type and a padding word.
struct Layout {
  uint64_t buffer_bytes, buffer_name, buffer_address;
  uint64_t map_bytes, map_name, map_address;
  uint64_t exec_bytes, image_bytes;
  uint64_t flags_bytes;  // 0: the version has no such block
};
constexpr Layout kLayouts[] = {
    {88, 8, 72, 88, 8, 72, 16, 16, 0},
    {112, 28, 96, 88, 8, 72, 16, 24, 12},
};
constexpr uint64_t kProperties = 8, kExecAddress = 8, kImageSize = 8, kFlags = 8;

class Reader {
 public:
  Reader(FileBytes file, const RawOptions& options) : file_(std::move(file)), options_(options) {}

  absl::StatusOr<Dump> Read() {
    const absl::Span<const uint8_t> bytes = file_.bytes;
    if (!IsHangDump(bytes) || bytes.size() < kHeaderBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_.name, ": no header of a hang dump; give one, or name another format"));
    }
    const uint32_t version = ReadU32(bytes, 16);
    if (version < kOldest || version > kNewest) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s, offset 16: hang dumps of version %u cannot be read; versions %u to "
                          "%u can",
                          file_.name, version, kOldest, kNewest));
    }
    layout_ = kLayouts[version - kOldest];
    dump_.device = DeviceOfGeneration(options_.generation);
    if (dump_.device.family.empty()) dump_.device.family = "intel";
    for (uint64_t at = kHeaderBytes; at < bytes.size();) {
      const uint64_t size = ReadBlock(at);
      if (size == 0) break;
      at += size;
    }
    AddImages();
    dump_.SortBuffers();
    dump_.backing = std::move(file_.owner);
    return std::move(dump_);
  }

 private:
  // Returns the bytes that the block takes; 0: nothing more can be read.
  uint64_t ReadBlock(uint64_t at) {
    const absl::Span<const uint8_t> rest = file_.bytes.subspan(at);
    if (rest.size() < 4) {
      Cut(at, rest.size(), "block's type");
      return 0;
    }
    switch (static_cast<Block>(ReadU32(rest, 0))) {
      case Block::kHeader:
        dump_.AddProblem(at, "a second header; skipped");
        return kHeaderBytes;
      case Block::kBuffer:
        return ReadBuffer(at, rest);
      case Block::kMap:
        return ReadMap(at, rest);
      case Block::kExec:
        return ReadExec(at, rest);
      case Block::kImage:
        return ReadImage(at, rest);
      case Block::kVmFlags:
        if (layout_.flags_bytes == 0) break;
        if (rest.size() < layout_.flags_bytes) return Cut(at, rest.size(), "block of flags");
        of_xe_ = true;
        dump_.vm_flags = ReadU32(rest, kFlags);
        return layout_.flags_bytes;
    }
    dump_.AddProblem(at, absl::StrFormat("a block of the unknown type %u, whose length is not "
                                         "known; 0x%x bytes were left out",
                                         ReadU32(rest, 0), rest.size()));
    return 0;
  }

  uint64_t Cut(uint64_t at, uint64_t size, absl::string_view what) {
    dump_.AddProblem(at, absl::StrFormat("the file ends within a %s, after 0x%x bytes of it; left "
                                         "out",
                                         what, size));
    return 0;
  }

  std::string Name(absl::Span<const uint8_t> rest, uint64_t offset) {
    const absl::Span<const uint8_t> field = rest.subspan(offset, kNameBytes);
    const auto* const end = std::find(field.begin(), field.end(), uint8_t{0});
    return ValidUtf8(absl::string_view(reinterpret_cast<const char*>(field.data()),
                                       static_cast<size_t>(end - field.begin())));
  }

  // `size` bytes of data after a block's fields, or as many as the file has.
  absl::Span<const uint8_t> Data(uint64_t at, absl::Span<const uint8_t> rest, uint64_t fields,
                                 uint64_t size) {
    const absl::Span<const uint8_t> data = rest.subspan(fields);
    if (size <= data.size()) return data.subspan(0, size);
    dump_.AddProblem(at, absl::StrFormat("a block of 0x%x bytes of data, of which the file has "
                                         "0x%x; the rest is unmapped",
                                         size, data.size()));
    return data;
  }

  // Adds it to the list; `mapped`: the file has its bytes. False: it does not fit below 2^64.
  bool AddBuffer(uint64_t at, Buffer buffer, bool mapped) {
    if (buffer.size == 0) return false;
    if (buffer.size - 1 > std::numeric_limits<uint64_t>::max() - buffer.address) {
      dump_.AddProblem(at, absl::StrFormat("0x%x bytes at 0x%x go past 2^64; left out", buffer.size,
                                           buffer.address));
      return false;
    }
    // Memory of which nothing is known but its place.
    const bool plain = buffer.name.empty() && buffer.access.empty() && buffer.flags.empty();
    if (!plain || !mapped) dump_.buffers.push_back(std::move(buffer));
    return true;
  }

  uint64_t ReadBuffer(uint64_t at, absl::Span<const uint8_t> rest) {
    if (rest.size() < layout_.buffer_bytes) return Cut(at, rest.size(), "buffer's fields");
    Buffer buffer;
    buffer.name = Name(rest, layout_.buffer_name);
    buffer.address = PlainAddress(ReadU64(rest, layout_.buffer_address));
    buffer.size = ReadU64(rest, layout_.buffer_address + 8);
    if (layout_.buffer_name != kProperties) {
      VmaProperties properties;
      for (size_t i = 0; i < VmaProperties::kCount; ++i) {
        properties.values[i] = ReadU32(rest, kProperties + 4 * i);
      }
      of_xe_ = of_xe_ || properties.any();
      properties.Describe(buffer);
    }
    const absl::Span<const uint8_t> data = Data(at, rest, layout_.buffer_bytes, buffer.size);
    const uint64_t address = buffer.address;
    if (AddBuffer(at, std::move(buffer), true)) {
      const absl::Status mapped = dump_.memory.Map(0, address, data, data.size());
      if (!mapped.ok()) dump_.AddProblem(at, absl::StrCat(mapped.message(), "; left out"));
    }
    return layout_.buffer_bytes + data.size();
  }

  uint64_t ReadMap(uint64_t at, absl::Span<const uint8_t> rest) {
    if (rest.size() < layout_.map_bytes) return Cut(at, rest.size(), "mapped range");
    Buffer buffer;
    buffer.name = Name(rest, layout_.map_name);
    buffer.address = PlainAddress(ReadU64(rest, layout_.map_address));
    buffer.size = ReadU64(rest, layout_.map_address + 8);
    AddBuffer(at, std::move(buffer), false);
    return layout_.map_bytes;
  }

  uint64_t ReadExec(uint64_t at, absl::Span<const uint8_t> rest) {
    if (rest.size() < layout_.exec_bytes) return Cut(at, rest.size(), "batch's address");
    Submission submission;
    submission.index = static_cast<uint32_t>(dump_.submissions.size());
    submission.engine = options_.engine;
    submission.batch_address = PlainAddress(ReadU64(rest, kExecAddress));
    dump_.submissions.push_back(std::move(submission));
    return layout_.exec_bytes;
  }

  uint64_t ReadImage(uint64_t at, absl::Span<const uint8_t> rest) {
    if (rest.size() < layout_.image_bytes) return Cut(at, rest.size(), "image's size");
    Image image;
    image.at = at;
    const uint64_t size = ReadU64(rest, kImageSize);
    image.data = Data(at, rest, layout_.image_bytes, size);
    if (layout_.image_bytes > kImageSize + 8) image.offset = ReadU64(rest, kImageSize + 8);
    images_.push_back(image);
    return layout_.image_bytes + image.data.size();
  }

  // The i915 driver saves an image with its status page, the xe driver without it.
  void AddImages() {
    if (of_xe_) dump_.device.uapi = "xe";
    uint64_t address = kHangDumpImage;
    for (const Image& image : images_) {
      const uint64_t list = of_xe_ ? image.offset : std::max(kStatusPage, image.offset);
      if (list >= image.data.size()) {
        dump_.AddProblem(image.at, absl::StrFormat("the image of a context has 0x%x bytes, its "
                                                   "registers would begin at 0x%x; left out",
                                                   image.data.size(), list));
        continue;
      }
      const uint64_t begin = address + (of_xe_ ? kStatusPage : 0);
      if (!dump_.memory.Map(kGlobalSpace, begin, image.data, image.data.size()).ok()) continue;
      Submission submission;
      submission.index = static_cast<uint32_t>(dump_.submissions.size());
      submission.engine = options_.engine;
      submission.slot = 1 + submission.index;
      submission.space = kGlobalSpace;
      submission.own_space = 0;
      submission.batch_address = begin + list;
      submission.batch_length = image.data.size() - list;
      submission.kind = "context image";
      submission.unless_reached = true;
      dump_.submissions.push_back(std::move(submission));
      address += (image.data.size() / kStatusPage + 3) * kStatusPage;
    }
  }

  struct Image {
    uint64_t at = 0, offset = 0;
    absl::Span<const uint8_t> data;
  };

  FileBytes file_;
  const RawOptions& options_;
  Layout layout_ = {};
  Dump dump_;
  std::vector<Image> images_;
  bool of_xe_ = false;
};

bool IsBatch(const Submission& submission) {
  return submission.kind.empty() || submission.kind == "batch";
}

class HangDumpWriter {
 public:
  HangDumpWriter(const Dump& dump, const HangDumpOptions& options, FileWriter& out)
      : dump_(dump),
        layout_(kLayouts[options.version - kOldest]),
        out_(out),
        version_(options.version) {}

  absl::Status Write(uint32_t space) {
    space_ = space;
    Begin(Block::kHeader);
    AppendU64(kMagic, block_);
    AppendU32(version_, block_);
    AppendU32(0, block_);
    if (absl::Status status = End(); !status.ok()) return status;
    for (const Memory::Segment& segment : dump_.memory.segments()) {
      if (segment.space != space_) continue;
      if (absl::Status status = WriteBuffer(dump_.memory.Resolve(segment)); !status.ok()) {
        return status;
      }
    }
    for (const Buffer& buffer : dump_.buffers) {
      if (buffer.space != space_ || buffer.size_is_memory || buffer.size == 0) continue;
      const Memory::Segment* const next = dump_.memory.FindFrom(space_, buffer.address);
      if (next != nullptr && next->address <= buffer.address + (buffer.size - 1)) continue;
      ++kept_;
      Begin(Block::kMap);
      AppendPlace(buffer.name, layout_.map_address, buffer.address, buffer.size);
      if (absl::Status status = End(); !status.ok()) return status;
    }
    if (absl::Status status = WriteImage(); !status.ok()) return status;
    for (const Submission& submission : dump_.submissions) {
      if (!IsBatch(submission) || submission.space != space_) continue;
      Begin(Block::kExec);
      AppendU64(submission.batch_address, block_);
      if (absl::Status status = End(); !status.ok()) return status;
    }
    if (dump_.device.uapi != "xe" || layout_.flags_bytes == 0) return absl::OkStatus();
    Begin(Block::kVmFlags);
    AppendU32(dump_.vm_flags.value_or(0), block_);
    return End();
  }

  // What the dump has of buffers that was not written.
  std::vector<std::string> Lost() const {
    std::vector<std::string> lost;
    if (long_names_) lost.push_back("names of buffers beyond 63 bytes");
    if (words_) lost.push_back("accesses and flags of buffers");
    if (sparse_) lost.push_back("that large ranges without memory are sparse");
    const auto of_space = static_cast<size_t>(
        std::count_if(dump_.buffers.begin(), dump_.buffers.end(),
                      [this](const Buffer& one) { return one.space == space_; }));
    if (kept_ < of_space) {
      lost.push_back(
          absl::StrCat("extents of buffers that are not those of memory: ", of_space - kept_));
    }
    if (images_ > 1) lost.push_back("all images of contexts but the last");
    if (images_ > 0) lost.push_back("addresses of images of contexts");
    return lost;
  }

 private:
  void Begin(Block type) {
    block_.clear();
    AppendU32(static_cast<uint32_t>(type), block_);
    AppendU32(0, block_);
  }

  absl::Status End() { return out_.Append(absl::MakeConstSpan(block_)); }

  void AppendPlace(absl::string_view name, uint64_t address_at, uint64_t address, uint64_t size) {
    long_names_ = long_names_ || name.size() >= kNameBytes;
    name = name.substr(0, kNameBytes - 1);
    block_.insert(block_.end(), name.begin(), name.end());
    block_.resize(address_at);
    AppendU64(address, block_);
    AppendU64(size, block_);
  }

  absl::Status WriteBuffer(const Memory::Segment& segment) {
    if (segment.memory_size == 0) return absl::OkStatus();
    const Buffer* const buffer = dump_.FindBuffer(space_, segment.address);
    if (buffer != nullptr && buffer->address == segment.address &&
        (buffer->size_is_memory || buffer->size == segment.memory_size)) {
      ++kept_;
    }
    VmaProperties properties;
    if (buffer != nullptr && (!properties.Read(*buffer) || layout_.buffer_name == kProperties)) {
      words_ = words_ || !buffer->access.empty() || !buffer->flags.empty();
      properties = VmaProperties();
    }
    // Its memory would be zeros, of any length.
    if (properties.values[VmaProperties::kKind] == VmaProperties::kSparse &&
        segment.bytes.empty() && segment.memory_size > kMostSparse) {
      sparse_ = true;
      Begin(Block::kMap);
      AppendPlace(buffer->name, layout_.map_address, segment.address, segment.memory_size);
      return End();
    }
    Begin(Block::kBuffer);
    if (layout_.buffer_name != kProperties) {
      for (const uint32_t value : properties.values) AppendU32(value, block_);
    }
    AppendPlace(buffer == nullptr ? "" : buffer->name, layout_.buffer_address, segment.address,
                segment.memory_size);
    if (absl::Status status = End(); !status.ok()) return status;
    return AppendMemory(segment, 0);
  }

  // The segment's memory from `offset` on.
  absl::Status AppendMemory(const Memory::Segment& segment, uint64_t offset) {
    if (offset < segment.bytes.size()) {
      if (absl::Status status = out_.Append(segment.bytes.subspan(offset)); !status.ok()) {
        return status;
      }
      offset = segment.bytes.size();
    }
    static constexpr uint8_t kZeros[4096] = {};
    for (; offset < segment.memory_size;) {
      const uint64_t now = std::min<uint64_t>(sizeof(kZeros), segment.memory_size - offset);
      if (absl::Status status = out_.Append(absl::MakeConstSpan(kZeros, now)); !status.ok()) {
        return status;
      }
      offset += now;
    }
    return absl::OkStatus();
  }

  // The last one; with its status page if the i915 driver has saved it.
  absl::Status WriteImage() {
    const Submission* last = nullptr;
    for (const Submission& submission : dump_.submissions) {
      if (submission.kind != "context image" || submission.own_space.value_or(0) != space_)
        continue;
      ++images_;
      last = &submission;
    }
    if (last == nullptr) return absl::OkStatus();
    const bool of_xe = dump_.device.uapi == "xe" && layout_.flags_bytes != 0;
    std::vector<uint8_t> image;
    if (!of_xe) {
      image.resize(kStatusPage);
      if (last->batch_address >= kStatusPage) {
        dump_.memory.Copy(last->space, last->batch_address - kStatusPage, absl::MakeSpan(image));
      }
    }
    uint64_t most = last->batch_length == 0 ? kMostImage : last->batch_length;
    uint64_t replay_offset = 0;
    if (const ErrorLrc* context = of_xe ? ContextOf(*last) : nullptr) {
      replay_offset = context->replay_offset.value_or(0);
      if (context->replay_length && *context->replay_length <= most &&
          replay_offset <= most - *context->replay_length) {
        most = replay_offset + *context->replay_length;
      }
    }
    uint8_t page[kStatusPage];
    for (uint64_t done = 0; done < most;) {
      const size_t copied = dump_.memory.Copy(
          last->space, last->batch_address + done,
          absl::MakeSpan(page).subspan(0, std::min<uint64_t>(sizeof(page), most - done)));
      if (copied == 0) break;
      image.insert(image.end(), page, page + copied);
      done += copied;
    }
    Begin(Block::kImage);
    AppendU64(image.size(), block_);
    if (layout_.image_bytes > kImageSize + 8) AppendU64(replay_offset, block_);
    if (absl::Status status = End(); !status.ok()) return status;
    return out_.Append(absl::MakeConstSpan(image));
  }

  // What the kernel says of the context whose image this is, or null.
  const ErrorLrc* ContextOf(const Submission& image) const {
    if (dump_.error_state == nullptr) return nullptr;
    const auto is = [&](const ErrorLrc& lrc) {
      return lrc.image && *lrc.image + kStatusPage == image.batch_address;
    };
    for (const ErrorContext& context : dump_.error_state->contexts) {
      if (is(context)) return &context;
      for (const ErrorLrc& lrc : context.parallel) {
        if (is(lrc)) return &lrc;
      }
    }
    return nullptr;
  }

  const Dump& dump_;
  const Layout layout_;
  FileWriter& out_;
  const uint32_t version_;
  uint32_t space_ = 0;
  std::vector<uint8_t> block_;
  size_t kept_ = 0, images_ = 0;
  bool long_names_ = false, words_ = false, sparse_ = false;
};

}  // namespace

bool IsHangDump(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= 16 && ReadU32(bytes, 0) == static_cast<uint32_t>(Block::kHeader) &&
         ReadU64(bytes, 8) == kMagic;
}

absl::StatusOr<Dump> ReadHangDump(FileBytes file, const RawOptions& options) {
  return Reader(std::move(file), options).Read();
}

absl::StatusOr<std::vector<std::string>> WriteHangDump(const Dump& dump, const std::string& path,
                                                       const HangDumpOptions& options) {
  if (options.version < kOldest || options.version > kNewest) {
    return absl::InvalidArgumentError(
        absl::StrFormat("hang dumps of version %u cannot be written; versions %u to %u can",
                        options.version, kOldest, kNewest));
  }
  if (!dump.device.family.empty() && dump.device.family != "intel") {
    return absl::FailedPreconditionError(
        absl::StrCat("a hang dump is of Intel's GPUs, and this dump is of another one, ",
                     dump.device.family, "; write a GPU core dump"));
  }
  const auto last = std::find_if(dump.submissions.rbegin(), dump.submissions.rend(), IsBatch);
  if (last == dump.submissions.rend()) {
    return absl::FailedPreconditionError(
        "a hang dump needs a batch: this dump has none; write a GPU core dump");
  }
  const uint32_t space = last->space;
  absl::StatusOr<FileWriter> out = FileWriter::Create(path);
  if (!out.ok()) return out.status();
  HangDumpWriter writer(dump, options, *out);
  absl::Status status = writer.Write(space);
  if (status.ok()) status = out->Commit();
  if (!status.ok()) return status;

  std::vector<std::string> lost;
  lost.emplace_back("the GPU (read it with --gen)");
  uint64_t others = 0;
  for (const Memory::Segment& segment : dump.memory.segments()) {
    if (segment.space != space) others += dump.memory.Resolve(segment).memory_size;
  }
  if (others != 0) {
    lost.push_back(absl::StrFormat("0x%x bytes of memory in other address spaces", others));
  }
  const auto left_out = static_cast<size_t>(std::count_if(
      dump.submissions.begin(), dump.submissions.end(), [space](const Submission& one) {
        return one.kind != "context image" && (!IsBatch(one) || one.space != space);
      }));
  if (left_out != 0) {
    lost.push_back(absl::StrCat("submissions that are not batches of its space: ", left_out));
  }
  const auto add = [&lost](std::vector<std::string> more) {
    lost.insert(lost.end(), more.begin(), more.end());
  };
  add(LostOfSubmissions(
      dump, {}, [space](const Submission& one) { return IsBatch(one) && one.space == space; }));
  add(writer.Lost());
  add(LostBesides(dump));
  return lost;
}

}  // namespace packsmith
