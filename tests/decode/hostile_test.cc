// Damaged captures: decoding ends, its output is bounded, and the output before the damage does not
// change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/read.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

// Keeps the beginning, counts the rest.
class CountingOutput : public Output {
 public:
  explicit CountingOutput(size_t keep = 0) : keep_(keep) {}
  void Append(absl::string_view text) override {
    const size_t room = keep_ - std::min(keep_, kept_.size());
    kept_.append(text.data(), std::min(room, text.size()));
    size_ += text.size();
  }
  const std::string& kept() const { return kept_; }
  uint64_t size() const { return size_; }

 private:
  size_t keep_;
  uint64_t size_ = 0;
  std::string kept_;
};

// A capture whose batch can be replaced: all other memory is that of the file.
class Capture {
 public:
  static std::vector<std::unique_ptr<Capture>> All() {
    std::vector<std::unique_ptr<Capture>> all;
    for (const char* name :
         {"skl-gl-basic/00", "skl-gl-basic/03", "skl-vulkaninfo/00", "skl-vulkaninfo/01"}) {
      absl::StatusOr<Dump> dump = ReadDump(absl::StrCat("tests/data/captures/", name, ".core.zst"));
      if (!dump.ok() || dump->submissions.empty()) {
        ADD_FAILURE() << name << ": " << dump.status();
        continue;
      }
      all.push_back(std::make_unique<Capture>(name, *std::move(dump)));
    }
    return all;
  }

  Capture(std::string name, Dump dump) : name_(std::move(name)), dump_(std::move(dump)) {
    const Submission& submission = dump_.submissions[0];
    batch_.resize(submission.batch_length);
    batch_.resize(
        dump_.memory.Copy(submission.space, submission.batch_address, absl::MakeSpan(batch_)));
  }

  const std::string& name() const { return name_; }
  const std::vector<uint8_t>& batch() const { return batch_; }

  // The same capture with another batch, which must outlive it. If `cut`, memory after the batch is
  // missing.
  Dump With(const std::vector<uint8_t>& batch, bool cut) const {
    const Submission& s = dump_.submissions[0];
    Dump dump;
    dump.device = dump_.device;
    dump.submissions = dump_.submissions;
    const uint64_t end = s.batch_address + batch_.size();
    const auto map = [&](const Memory::Segment& from, uint64_t begin, uint64_t last) {
      if (begin > last) return;
      const uint64_t skip = begin - from.address;
      const absl::Status status = dump.memory.Map(
          from.space, begin,
          from.bytes.subspan(std::min<uint64_t>(skip, from.bytes.size()), last - begin + 1),
          last - begin + 1);
      EXPECT_TRUE(status.ok()) << status;
    };
    for (const Memory::Segment& segment : dump_.memory.segments()) {
      if (segment.space != s.space || segment.last() < s.batch_address || segment.address >= end) {
        map(segment, segment.address, segment.last());
        continue;
      }
      if (segment.address < s.batch_address) map(segment, segment.address, s.batch_address - 1);
      if (segment.last() >= end && !cut) map(segment, end, segment.last());
    }
    if (!batch.empty()) {
      EXPECT_TRUE(dump.memory.Map(s.space, s.batch_address, batch, batch.size()).ok());
    }
    return dump;
  }

 private:
  std::string name_;
  Dump dump_;
  std::vector<uint8_t> batch_;
};

// Decodes into text, and some as records, too; checks the bounds that hold for every input.
std::string Decoded(const Dump& dump, size_t keep = 0) {
  CountingOutput text(keep);
  const std::unique_ptr<Sink> text_sink = MakeTextSink(text);
  Decoder decoder(Gfx9(), *text_sink);
  decoder.Decode(dump);
  const Summary summary = decoder.Finish();
  uint64_t memory = 0;
  for (const Memory::Segment& segment : dump.memory.segments()) memory += segment.bytes.size();
  const uint64_t most = kFewest + memory / 4 * kRepeats;
  if (summary.packets % 8 == 0) {
    CountingOutput records;
    const std::unique_ptr<Sink> sink = MakeJsonlSink(records);
    Decoder again(Gfx9(), *sink);
    again.Decode(dump);
    EXPECT_EQ(again.Finish().packets, summary.packets);
  }
  EXPECT_LE(summary.packets, most);
  EXPECT_LE(summary.structs, most);
  EXPECT_LE(text.size(), 8192 * most);
  return text.kept();
}

// How much of two texts is the same.
size_t Common(const std::string& a, const std::string& b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<long>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
}

// The text before the packet that holds `address`, and so before the damage there. Pointers are
// followed when the draw after them is known, so the text right before may differ.
size_t BeforeAddress(const std::string& text, uint64_t address) {
  size_t before = 0, previous = 0;
  for (size_t at = text.find("\n0x"); at != std::string::npos; at = text.find("\n0x", at + 1)) {
    if (std::stoull(text.substr(at + 3, 12), nullptr, 16) > address) break;
    previous = before;
    before = at;
  }
  return previous;
}

TEST(Hostile, TruncatedAtEvery64thDwordKeepsWhatCameBefore) {
  for (const auto& capture : Capture::All()) {
    const std::string whole = Decoded(capture->With(capture->batch(), false), ~size_t{0});
    for (size_t n = 0; n < capture->batch().size(); n += 64 * 4) {
      std::vector<uint8_t> batch(capture->batch().begin(),
                                 capture->batch().begin() + static_cast<long>(n));
      batch.shrink_to_fit();
      Dump dump = capture->With(batch, true);
      const std::string text = Decoded(dump, ~size_t{0});
      // Counts of later packets of the same draw are lost with them: up to 256 packets.
      const uint64_t address = dump.submissions[0].batch_address + n;
      const size_t same = Common(whole, text);
      if (n > 4096) {
        EXPECT_GE(same, BeforeAddress(whole, address - 4096)) << capture->name() << " " << n;
      }
    }
  }
}

TEST(Hostile, FlippedBitsAnywhereInTheBatch) {
  std::mt19937_64 random(20240601);
  for (const auto& capture : Capture::All()) {
    // More of the small ones, which are fast.
    const int inputs = capture->batch().size() > 4096 ? 150 : 850;
    for (int i = 0; i < inputs; ++i) {
      std::vector<uint8_t> batch = capture->batch();
      batch.shrink_to_fit();
      const uint64_t flips = 1 + random() % 64;
      for (uint64_t n = 0; n < flips; ++n) {
        batch[random() % batch.size()] ^= static_cast<uint8_t>(1u << random() % 8);
      }
      Decoded(capture->With(batch, (i & 1) != 0));
      if (HasFailure()) return;
    }
  }
}

void PutDword(std::vector<uint8_t>& bytes, size_t at, uint32_t dword) {
  std::memcpy(bytes.data() + at, &dword, sizeof(dword));
}

TEST(Hostile, RandomDwords) {
  std::mt19937_64 random(20240602);
  const auto captures = Capture::All();
  for (int i = 0; i < 200; ++i) {
    const auto& capture = captures[i % captures.size()];
    std::vector<uint8_t> batch(4 + random() % (capture->batch().size() / 4) * 4);
    for (size_t at = 0; at < batch.size(); at += 4) {
      PutDword(batch, at, static_cast<uint32_t>(random()));
    }
    Decoded(capture->With(batch, true));
    if (HasFailure()) return;
  }
}

TEST(Hostile, RandomPacketsWithOpcodesThatExist) {
  std::mt19937_64 random(20240603);
  std::vector<const tables::Container*> packets;
  for (const tables::Container& container : Gfx9().containers()) {
    if (container.kind == tables::ContainerKind::kPacket) packets.push_back(&container);
  }
  const auto captures = Capture::All();
  for (int i = 0; i < 400; ++i) {
    const auto& capture = captures[i % captures.size()];
    // Bodies of random dwords, of addresses that exist, or of small numbers.
    std::vector<uint8_t> batch(4 + random() % (capture->batch().size() / 4) * 4);
    const uint64_t style = random() % 3;
    const Dump whole = capture->With({}, false);
    std::vector<uint64_t> places{whole.submissions[0].batch_address};
    for (const Memory::Segment& segment : whole.memory.segments())
      places.push_back(segment.address);
    for (size_t at = 0; at < batch.size(); at += 4) {
      const uint64_t place = places[random() % places.size()];
      PutDword(batch, at,
               static_cast<uint32_t>(style == 0   ? random()
                                     : style == 1 ? at / 4 % 2 == 0 ? place + random() % 256 * 4
                                                                    : place >> 32
                                                  : random() % 64));
    }
    for (size_t at = 0; at < batch.size();) {
      const tables::Container& packet = *packets[random() % packets.size()];
      const auto noise = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() & 0x4003ff);
      PutDword(batch, at, packet.identify_value | (noise & ~packet.identify_mask));
      at += 4 + random() % 12 * 4;
    }
    Decoded(capture->With(batch, (i & 1) != 0));
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------------------------
// Worst cases.

constexpr uint32_t kEnd = 0x05000000;

TEST(Hostile, TablesThatFanOutAreBoundedInOutput) {
  // Thousands of pointers to one table of 255 entries, each of which points to a surface state.
  World world;
  std::vector<uint32_t> batch(19, 0x21);
  batch[0] = 0x61010011;
  for (const int high : {2, 5, 7, 9, 11, 17}) batch[high] = 0;
  batch.insert(batch.end(), {0x7820000a, 0, 0, 255u << 18, 0, 0, 0, 0, 0, 0, 0, 0});
  for (int i = 0; i < 4000; ++i) batch.insert(batch.end(), {0x782a0000, 0x400});
  batch.push_back(kEnd);
  world.Put(0, std::vector<uint32_t>(256, 0)).Put(0x400, std::vector<uint32_t>(256, 0x40));
  world.Put(0x10000, batch).Submit(0x10000);
  Decoded(world.dump());
}

TEST(Hostile, MiniatureStreamsOfRandomBytesEnd) {
  std::mt19937_64 random(20240604);
  for (int i = 0; i < 1000; ++i) {
    std::vector<uint32_t> stream(1 + random() % 256);
    for (uint32_t& dword : stream) {
      switch (random() % 4) {
        case 0:
          dword = static_cast<uint32_t>(random());
          break;
        case 1:  // kinds, with any flags
          dword = static_cast<uint32_t>(random() % 7 << 28 | (random() & 0x08ffff00));
          break;
        case 2:  // somewhere in itself
          dword = static_cast<uint32_t>(random() % stream.size() * 4 + 0x1000);
          break;
        default:
          dword = static_cast<uint32_t>(0xf0000000 * (random() % 8 == 0));
      }
    }
    World world;
    world.Put(0x1000, stream).Submit(0x1000);
    if (i % 3 == 1) world.last().stream = "program";
    if (i % 3 == 2) world.last().stream = "compute control";
    const Story story = Tell(Mini(), world);
    ASSERT_LE(story.summary.packets, kFewest + 2 * stream.size());
    ASSERT_LE(story.summary.structs, kFewest + 2 * stream.size());
  }
}

}  // namespace
}  // namespace packsmith::decode
