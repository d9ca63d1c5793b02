#include "runtime/dump/i915_error_writer.h"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/ascii85.h"
#include "runtime/dump/engine_names.h"

namespace packsmith {
namespace {

constexpr uint64_t kPage = 4096;

class Writer {
 public:
  Writer(const Dump& dump, const I915ErrorOptions& options) : dump_(dump), options_(options) {}

  absl::StatusOr<std::string> Write() {
    Head();
    // The engines, in the order of their first submission.
    std::vector<std::pair<std::string, const Submission*>> engines;
    for (const Submission& submission : dump_.submissions) {
      // The memory of rings and images is there anyway.
      if (submission.kind == "ring" || submission.kind == "context image") continue;
      const std::string name = EngineName(submission.engine);
      for (const auto& [other, unused] : engines) {
        if (other == name) {
          return absl::FailedPreconditionError(
              absl::StrCat("an error state has one batch for each engine, and ", name,
                           " has several; write each submission by itself"));
        }
      }
      engines.emplace_back(name, &submission);
    }
    for (const auto& [name, submission] : engines) Engine(name, *submission);
    if (!status_.ok()) return status_;
    for (const auto& [name, submission] : engines) {
      for (const Memory::Segment& mapped : dump_.memory.segments()) {
        const Memory::Segment& segment = dump_.memory.Resolve(mapped);
        if (segment.space != submission->space) continue;
        SegmentOf(name, *submission, segment);
        if (!status_.ok()) return status_;
      }
    }
    if (!engines.empty()) {
      for (const Memory::Segment& mapped : dump_.memory.segments()) {
        const Memory::Segment& segment = dump_.memory.Resolve(mapped);
        if (segment.space == kGlobalSpace) Global(segment);
      }
    }
    for (const auto& [name, submission] : engines) Requests(name);
    if (!status_.ok()) return status_;
    return std::move(text_);
  }

 private:
  std::string EngineName(absl::string_view ours) const {
    return std::string(KernelEngineName(ours, options_.new_names));
  }

  std::string Address(uint64_t address, char between) {
    if (options_.two_words) {
      return absl::StrFormat("0x%08x%c%08x", static_cast<uint32_t>(address >> 32), between,
                             static_cast<uint32_t>(address));
    }
    if (address > 0xffffffff && status_.ok()) {
      status_ = absl::FailedPreconditionError(absl::StrFormat(
          "address 0x%x does not fit one word; write addresses in two words", address));
    }
    return absl::StrFormat("0x%08x", static_cast<uint32_t>(address));
  }

  void Head() {
    if (dump_.error_state == nullptr) {
      text_ = "GPU HANG: ecode 0:0:0x00000000\nKernel: none\n";
    } else {
      const ErrorState& state = *dump_.error_state;
      absl::StrAppend(&text_, state.title.empty() ? "GPU HANG" : state.title, "\n");
      for (const ErrorFact& fact : state.facts) {
        if (fact.key == "Platform" || fact.key == "PCI ID" || fact.key.empty()) continue;
        absl::StrAppend(&text_, fact.key, ": ", fact.value, "\n");
      }
      for (const ErrorRegister& one : state.registers) {
        absl::StrAppend(&text_, one.name, ": ", ValueOf(one), "\n");
      }
    }
    if (!dump_.device.platform.empty()) {
      absl::StrAppend(&text_, "Platform: ", dump_.device.platform, "\n");
    }
    if (dump_.device.pci_id)
      absl::StrAppendFormat(&text_, "PCI ID: 0x%04x\n", *dump_.device.pci_id);
  }

  void Engine(const std::string& name, const Submission& submission) {
    absl::StrAppend(&text_, name, " command stream:\n");
    const auto line = [this](absl::string_view key, absl::string_view value) {
      absl::StrAppend(&text_, "  ", key, ": ", value, "\n");
    };
    bool written = false;
    if (dump_.error_state != nullptr) {
      for (const ErrorEngine& engine : dump_.error_state->engines) {
        if (EngineName(engine.name) != name) continue;
        written = true;
        for (const ErrorRegister& one : engine.registers) line(one.name, ValueOf(one));
        if (engine.hung) line("hung", "yes");
        for (const ErrorRequest& request : engine.requests) {
          if (IsInPort(request)) absl::StrAppend(&text_, "  ", request.text, "\n");
        }
        if (!engine.process.empty()) line("Active context", engine.process);
      }
    }
    if (written) return;
    if (submission.head) line("HEAD", absl::StrFormat("0x%08x", *submission.head));
    if (submission.tail) line("TAIL", absl::StrFormat("0x%08x", *submission.tail));
    if (submission.acthd) line("ACTHD", Address(*submission.acthd, ' '));
    if (submission.ipehr) line("IPEHR", absl::StrFormat("0x%08x", *submission.ipehr));
  }

  // Requests that the engine has been given are in its block, the others in a list.
  static bool IsInPort(const ErrorRequest& request) {
    return absl::StartsWith(request.text, "ELSP[");
  }

  void Requests(const std::string& name) {
    if (dump_.error_state == nullptr) return;
    for (const ErrorEngine& engine : dump_.error_state->engines) {
      if (EngineName(engine.name) != name) continue;
      const auto waiting = std::count_if(engine.requests.begin(), engine.requests.end(),
                                         [](const ErrorRequest& one) { return !IsInPort(one); });
      if (waiting == 0) continue;
      absl::StrAppend(&text_, Owner(name), " --- ", waiting, " requests\n");
      for (const ErrorRequest& request : engine.requests) {
        if (!IsInPort(request)) absl::StrAppend(&text_, "  ", request.text, "\n");
      }
    }
  }

  // The driver's own buffers, named as kernels do.
  void Global(const Memory::Segment& segment) {
    const auto object = [&](absl::string_view owner, absl::string_view name) {
      Object(owner, name, kGlobalSpace, segment.address, segment.memory_size);
    };
    if (dump_.error_state != nullptr) {
      for (const ErrorEngine& engine : dump_.error_state->engines) {
        if (engine.ring_address != segment.address) continue;
        return object(Owner(EngineName(engine.name)), options_.new_names ? "ring" : "ringbuffer");
      }
    }
    for (const Submission& submission : dump_.submissions) {
      if (submission.kind != "context image" || submission.space != kGlobalSpace) continue;
      if (segment.Contains(kGlobalSpace, submission.batch_address)) {
        return object(Owner(EngineName(submission.engine)), "HW context");
      }
    }
    object("global", "semaphores");
  }

  static std::string ValueOf(const ErrorRegister& one) {
    std::string text = one.is_64
                           ? absl::StrFormat("0x%08x %08x", one.value >> 32, one.value & 0xffffffff)
                           : absl::StrFormat("0x%08x", one.value);
    for (size_t i = 0; i < one.extra.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? " [" : ", ", absl::StrFormat("0x%08x", one.extra[i]));
    }
    if (!one.extra.empty()) text.push_back(']');
    return text;
  }

  // The kernel captures buffers; a segment that holds several becomes several, so that the batch
  // begins one.
  void SegmentOf(const std::string& engine, const Submission& submission,
                 const Memory::Segment& segment) {
    uint64_t begin = segment.address;
    const uint64_t batch = submission.batch_address;
    if (segment.Contains(submission.space, batch) && batch != begin) {
      Object(Owner(engine), "user", segment.space, begin, batch - begin);
      begin = batch;
    }
    const bool is_batch = begin == batch;
    Object(Owner(engine), is_batch ? (options_.new_names ? "batch" : "gtt_offset") : "user",
           segment.space, begin, segment.memory_size - (begin - segment.address));
  }

  std::string Owner(const std::string& engine) const {
    return options_.new_names ? engine : absl::StrCat(engine, " ring");
  }

  // `size` bytes at `address`, as an object of its own.
  void Object(absl::string_view owner, absl::string_view name, uint32_t space, uint64_t address,
              uint64_t size) {
    if (size >= uint64_t{1} << 32) {
      status_ = absl::FailedPreconditionError(
          absl::StrFormat("the buffer at 0x%x is too large for an error state", address));
      return;
    }
    absl::StrAppend(&text_, owner, " --- ", name, " = ", Address(address, ' '), "\n");
    std::vector<uint8_t> bytes(size);
    dump_.memory.Copy(space, address, absl::MakeSpan(bytes));
    switch (options_.data) {
      case I915ErrorData::kHexWords:
        HexWords(bytes);
        break;
      case I915ErrorData::kAscii85:
        text_.push_back('~');
        AppendAscii85(bytes, text_);
        text_.push_back('\n');
        break;
      case I915ErrorData::kAscii85Zlib:
        Deflated(bytes);
        break;
    }
  }

  void HexWords(const std::vector<uint8_t>& bytes) {
    for (size_t at = 0; at < bytes.size(); at += 4) {
      uint32_t word = 0;
      for (size_t i = 0; i < std::min<size_t>(4, bytes.size() - at); ++i) {
        word |= uint32_t{bytes[at + i]} << 8 * i;
      }
      absl::StrAppendFormat(&text_, "%08x :  %08x\n", at, word);
    }
  }

  // A flush after each page, as the kernel does it.
  void Deflated(const std::vector<uint8_t>& bytes) {
    z_stream stream = {};
    if (deflateInit(&stream, Z_BEST_SPEED) != Z_OK) {
      status_ = absl::ResourceExhaustedError("no memory for compression");
      return;
    }
    std::vector<uint8_t> out;
    uint8_t chunk[1 << 14];
    for (size_t at = 0;; at += kPage) {
      const bool last = at + kPage >= bytes.size();
      const size_t size = at < bytes.size() ? std::min<size_t>(kPage, bytes.size() - at) : 0;
      stream.next_in = const_cast<Bytef*>(bytes.data() + at);  // zlib only reads it
      stream.avail_in = static_cast<uInt>(size);
      do {
        stream.next_out = chunk;
        stream.avail_out = sizeof(chunk);
        deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
        out.insert(out.end(), chunk, chunk + (sizeof(chunk) - stream.avail_out));
      } while (stream.avail_out == 0);
      if (last) break;
    }
    deflateEnd(&stream);
    text_.push_back(':');
    AppendAscii85(out, text_);
    text_.push_back('\n');
  }

  const Dump& dump_;
  const I915ErrorOptions options_;
  std::string text_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> WriteI915Error(const Dump& dump, const I915ErrorOptions& options) {
  return Writer(dump, options).Write();
}

}  // namespace packsmith
