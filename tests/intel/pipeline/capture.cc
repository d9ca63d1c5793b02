#include "tests/intel/pipeline/capture.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"

namespace packsmith::intel {
namespace {

class Collector : public decode::Sink {
 public:
  explicit Collector(Captured& captured) : captured_(captured) {}

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.container == nullptr) return;
    Dwords dwords(record.bytes.size() / 4);
    std::memcpy(dwords.data(), record.bytes.data(), dwords.size() * 4);
    captured_[std::string(record.name)].insert(std::move(dwords));
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

 private:
  Captured& captured_;
};

Captured Read(absl::string_view generation, absl::string_view folder) {
  Captured captured;
  const auto tables = FindGeneration(generation);
  EXPECT_TRUE(tables.ok()) << tables.status();
  if (!tables.ok()) return captured;
  const auto files = DumpsIn(absl::StrCat("tests/data/captures/", folder));
  EXPECT_TRUE(files.ok()) << files.status();
  if (!files.ok()) return captured;
  Collector collector(captured);
  decode::Decoder decoder(*tables, collector);
  for (const std::string& file : *files) {
    const absl::StatusOr<Dump> dump = ReadDump(file);
    EXPECT_TRUE(dump.ok()) << dump.status();
    if (dump.ok()) decoder.Decode(*dump);
  }
  decoder.Finish();
  return captured;
}

}  // namespace

const Captured& CaptureOf(absl::string_view generation) {
  static auto& read = *new std::map<std::string, Captured>;
  static constexpr struct {
    const char* generation;
    const char* folder;
  } kFolders[] = {
      {"gfx8", "bdw-vk-compute"}, {"gfx9", "skl-gl-basic"},   {"gfx11", "icl-gl-basic"},
      {"gfx12", "tgl-gl-basic"},  {"gfx125", "dg2-gl-basic"},
  };
  const auto [found, is_new] = read.try_emplace(std::string(generation));
  if (is_new) {
    for (const auto& each : kFolders) {
      if (generation == each.generation) found->second = Read(generation, each.folder);
    }
  }
  return found->second;
}

}  // namespace packsmith::intel
