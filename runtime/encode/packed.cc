#include "runtime/encode/packed.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::encode {
namespace {

// Texts of a dump are valid UTF-8.
void MakeValid(Dump& dump) {
  const auto valid = [](std::string& text) { text = ValidUtf8(text); };
  for (std::string* text : {&dump.device.family, &dump.device.generation, &dump.device.platform,
                            &dump.device.driver, &dump.device.uapi}) {
    valid(*text);
  }
  for (Submission& submission : dump.submissions) {
    valid(submission.engine);
    valid(submission.stream);
    valid(submission.kind);
    for (Submission::Base& base : submission.bases) valid(base.name);
  }
  for (Buffer& buffer : dump.buffers) valid(buffer.name);
}

}  // namespace

Dump ToDump(Packed packed) {
  Dump dump;
  dump.device = std::move(packed.device);
  const auto runs = std::make_shared<const std::vector<Image::Run>>(packed.image.Runs());
  dump.submissions = std::move(packed.submissions);
  if (dump.submissions.empty() && !runs->empty()) {
    Submission& submission = dump.submissions.emplace_back();
    submission.space = runs->front().space;
    submission.batch_address = runs->front().address;
    submission.batch_length = runs->front().bytes.size();
    if (packed.tables && !packed.tables->engines().empty()) {
      submission.engine = std::string(packed.tables->string(packed.tables->engines()[0].name));
    }
  }
  for (const Image::Run& run : *runs) {
    // Runs do not overlap.
    dump.memory.Map(run.space, run.address, run.bytes, run.bytes.size()).IgnoreError();
  }
  dump.buffers = std::move(packed.buffers);
  MakeValid(dump);
  dump.SortBuffers();
  dump.memory_is_complete = packed.memory_is_complete;
  dump.physical_space = packed.physical_space;
  dump.backing = runs;
  return dump;
}

absl::StatusOr<std::vector<uint8_t>> ToBytes(const Packed& packed) {
  std::vector<Image::Run> runs = packed.image.Runs();
  if (runs.empty()) return std::vector<uint8_t>();
  if (runs.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the bytes are not one piece: space ", runs[0].space, " has 0x",
                     absl::Hex(runs[0].bytes.size()), " bytes at 0x", absl::Hex(runs[0].address),
                     ", space ", runs[1].space, " has bytes at 0x", absl::Hex(runs[1].address),
                     "; --format=core holds any memory"));
  }
  return std::move(runs[0].bytes);
}

}  // namespace packsmith::encode
