#include "tests/intel/batch/built.h"

#include <cstring>

#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/generations/generations.h"

namespace packsmith::intel {
namespace {

class Collector : public decode::Sink {
 public:
  explicit Collector(Decoded& decoded) : decoded_(decoded) {}

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.type == decode::RecordType::kUnknown) {
      decoded_.problems.push_back("unknown dwords");
    }
    if (record.type != decode::RecordType::kPacket) return;
    Met met{std::string(record.name), record.address, record.depth, {}, record.faults.size()};
    met.dwords.resize(record.bytes.size() / 4);
    std::memcpy(met.dwords.data(), record.bytes.data(), met.dwords.size() * 4);
    decoded_.packets.push_back(std::move(met));
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    if (is_problem) decoded_.problems.emplace_back(text);
  }
  void OnSummary(const decode::Summary&) override {}

 private:
  Decoded& decoded_;
};

}  // namespace

std::vector<std::string> Decoded::Names() const {
  std::vector<std::string> names;
  for (const Met& met : packets) names.push_back(met.name);
  return names;
}

World& World::Put(absl::Span<const gpu::Chunk> chunks) {
  for (const gpu::Chunk& chunk : chunks) Put(chunk.gpu, chunk.words);
  return *this;
}

World& World::Put(uint64_t gpu, absl::Span<const uint32_t> words) {
  const auto bytes = absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(words.data()),
                                         words.size() * sizeof(uint32_t));
  const absl::Status status = dump_.memory.Map(0, gpu, bytes, bytes.size());
  EXPECT_TRUE(status.ok()) << status.message();
  return *this;
}

Decoded World::Decode(absl::string_view generation, uint64_t gpu) {
  Decoded decoded;
  const auto tables = FindGeneration(generation);
  EXPECT_TRUE(tables.ok()) << tables.status().message();
  if (!tables.ok()) return decoded;
  dump_.device = DeviceOfGeneration(generation);
  Submission submission;
  submission.engine = "render";
  submission.batch_address = gpu;
  submission.batch_length = uint64_t{1} << 32;
  dump_.submissions = {submission};
  Collector collector(decoded);
  decode::Decoder decoder(*tables, collector, {.follow = decode::Follow::kBatches});
  decoder.Decode(dump_);
  decoded.summary = decoder.Finish();
  return decoded;
}

std::vector<uint32_t> PacketsOf(const BatchCore& batch) {
  std::vector<uint32_t> dwords;
  for (const BatchPart& part : batch.parts()) {
    dwords.insert(dwords.end(), part.chunk.words.begin(), part.chunk.words.begin() + part.dwords);
  }
  return dwords;
}

}  // namespace packsmith::intel
