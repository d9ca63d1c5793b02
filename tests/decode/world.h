// Dumps made by hand, and the decoder's output for them.
#ifndef PACKSMITH_TESTS_DECODE_WORLD_H_
#define PACKSMITH_TESTS_DECODE_WORLD_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// The descriptions that the tests use, made from their XML once.
const tables::Tables& Gfx9();
const tables::Tables& Mini();
// Of a test's own description. Lives as long as the program.
tables::Tables TablesOf(absl::string_view xml);

// A dump that grows.
class World {
 public:
  // Memory at an address; must not overlap earlier memory.
  World& Put(uint64_t address, const std::vector<uint32_t>& dwords, uint32_t space = 0);
  World& PutBytes(uint64_t address, std::vector<uint8_t> bytes, uint32_t space = 0);
  // Zeros that take no room.
  World& PutZeros(uint64_t address, uint64_t size, uint32_t space = 0);
  // `length` 0: unknown.
  World& Submit(uint64_t address, uint64_t length = 0, absl::string_view stream = "",
                absl::string_view engine = "");
  Submission& last() { return dump_.submissions.back(); }
  Dump& dump() { return dump_; }
  const Dump& dump() const { return dump_; }

 private:
  std::deque<std::vector<uint8_t>> bytes_;
  Dump dump_;
};

// A field as the records give it.
struct SeenField {
  std::string name;
  uint64_t bit;
  uint32_t width;
  uint64_t raw;
  Value value;
};

// A record that outlives its call.
struct Seen {
  RecordType type;
  uint64_t id, parent;
  uint32_t space;
  uint64_t address;
  uint32_t depth;
  std::string name;
  std::vector<uint8_t> bytes;
  int64_t index, register_offset;
  uint64_t data_size, data_stride;
  std::vector<Fault> faults;
  std::vector<SeenField> fields;
  // Typed data: an element a line, "row: number format component=value…".
  std::vector<std::string> values = {};
  uint64_t data_first = 0, data_rows = 0;
  int64_t slot = -1;
  bool per_instance = false;
  // Programs.
  std::string stage = {}, ends = {};
  uint32_t simd = 0;
  std::vector<uint8_t> code = {};
  std::vector<Stored> stored = {};

  // Value of a field as conditions use it; all ones if there is no such field.
  uint64_t Number(absl::string_view field) const;
};

// A decoder's whole output.
struct Story : Sink {
  void OnSchema(const tables::Tables& tables) override { tables_ = &tables; }
  void OnDevice(const Device&, uint64_t id) override { ids.push_back(id); }
  void OnSubmission(const Submission&, uint64_t id) override { ids.push_back(id); }
  void OnRecord(const Record& record) override;
  void OnRemark(absl::string_view text, bool is_problem) override {
    (is_problem ? problems : remarks).emplace_back(text);
  }
  void OnSummary(const Summary& s) override { summary = s; }

  // Names of the packets, in order; unknown dwords are "?".
  std::vector<std::string> Packets() const;
  std::vector<Seen> Named(absl::string_view name) const;
  // The only record of that name; fails the test if there is not exactly one.
  Seen Only(absl::string_view name) const;
  // Faults of all records as "kind high:low".
  std::vector<std::string> Faults() const;

  std::vector<uint64_t> ids;
  std::vector<Seen> records;
  std::vector<std::string> problems, remarks;
  Summary summary;

 private:
  const tables::Tables* tables_ = nullptr;
};

Story Tell(const tables::Tables& tables, const World& world, const Options& options = {});
Story TellAll(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
              const Options& options = {});
std::string Text(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
                 const Options& options = {});
std::string Jsonl(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
                  const Options& options = {});

}  // namespace packsmith::decode

#endif  // PACKSMITH_TESTS_DECODE_WORLD_H_
