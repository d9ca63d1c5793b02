#include "tests/intel/binding/decoded.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"

namespace packsmith::intel {
namespace {

class Collector : public decode::Sink {
 public:
  explicit Collector(DecodedJob& job) : job_(job) {}

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const packsmith::Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.type == decode::RecordType::kUnknown) {
      job_.problems.push_back(absl::StrFormat("unknown dwords at 0x%x", record.address));
    }
    for (const decode::Fault& fault : record.faults) {
      job_.problems.push_back(
          absl::StrFormat("%s at 0x%x: %s", record.name, record.address, fault.text));
    }
    const bool is_packet = record.type == decode::RecordType::kPacket;
    if (!is_packet && record.type != decode::RecordType::kStruct) return;
    DecodedRecord one{std::string(record.name),
                      record.id,
                      record.parent,
                      record.address,
                      record.index,
                      is_packet,
                      {}};
    one.dwords.resize(record.bytes.size() / 4);
    if (!one.dwords.empty()) {
      std::memcpy(one.dwords.data(), record.bytes.data(), one.dwords.size() * 4);
    }
    job_.children[one.parent].push_back(job_.records.size());
    job_.records.push_back(std::move(one));
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    if (is_problem) job_.problems.emplace_back(text);
  }
  void OnSummary(const decode::Summary&) override {}

 private:
  DecodedJob& job_;
};

}  // namespace

std::vector<const DecodedRecord*> DecodedJob::Below(uint64_t parent, absl::string_view name) const {
  std::vector<const DecodedRecord*> found;
  const auto below = children.find(parent);
  if (below == children.end()) return found;
  for (const size_t i : below->second) {
    if (records[i].name == name) found.push_back(&records[i]);
  }
  return found;
}

std::vector<std::string> DecodedJob::Packets() const {
  std::vector<std::string> names;
  for (const DecodedRecord& record : records) {
    if (record.is_packet) names.push_back(record.name);
  }
  return names;
}

DecodedJob DecodeJob(const BindingMemory& memory, const BatchCore& batch) {
  DecodedJob decoded;
  const std::string path = testing::TempDir() + "/job.core";
  const BatchPart& begin = batch.parts()[0];
  const absl::Status written = memory.host->WriteCore(
      {.batch_address = begin.chunk.gpu, .batch_length = begin.total * uint64_t{4}}, path);
  EXPECT_TRUE(written.ok()) << written;
  const absl::StatusOr<Dump> dump = ReadDump(path);
  EXPECT_TRUE(dump.ok()) << dump.status();
  if (!dump.ok()) return decoded;
  const auto tables = FindGeneration(dump->device.generation);
  EXPECT_TRUE(tables.ok()) << tables.status();
  if (!tables.ok()) return decoded;
  Collector collector(decoded);
  decode::Decoder decoder(*tables, collector, {});
  decoder.Decode(*dump);
  decoded.summary = decoder.Finish();
  return decoded;
}

}  // namespace packsmith::intel
