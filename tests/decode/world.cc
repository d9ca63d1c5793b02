#include "tests/decode/world.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::decode {
namespace {

tables::Tables Described(const std::string& path,
                         const model::ReadFile& read = model::ReadFileFromDisk) {
  const model::LoadResult loaded = model::Load(path, read);
  const absl::Status status = model::ToStatus(loaded);
  if (!status.ok()) ADD_FAILURE() << status;
  // Tables are views; these live as long as the program.
  static auto& blocks = *new std::deque<std::vector<uint64_t>>;
  const std::vector<uint64_t>* block = &blocks.emplace_back(model::WriteTables(loaded.model));
  const absl::StatusOr<tables::Tables> tables = tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(block->data()), block->size() * sizeof(uint64_t)});
  if (!tables.ok()) ADD_FAILURE() << tables.status();
  return *tables;
}

}  // namespace

const tables::Tables& Gfx9() {
  static const tables::Tables kTables = Described("xml/intel/gfx9.xml");
  return kTables;
}

const tables::Tables& Mini() {
  static const tables::Tables kTables = Described("tests/mini/mini.xml");
  return kTables;
}

tables::Tables TablesOf(absl::string_view xml) {
  return Described("test.xml", [&](const std::string&) { return std::string(xml); });
}

World& World::Put(uint64_t address, const std::vector<uint32_t>& dwords, uint32_t space) {
  std::vector<uint8_t> bytes;
  for (const uint32_t dword : dwords) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(dword >> shift));
  }
  return PutBytes(address, std::move(bytes), space);
}

World& World::PutBytes(uint64_t address, std::vector<uint8_t> bytes, uint32_t space) {
  // Exactly as large as it is, so that a sanitizer sees reads past its end.
  bytes.shrink_to_fit();
  bytes_.push_back(std::move(bytes));
  const absl::Status status = dump_.memory.Map(space, address, bytes_.back(), bytes_.back().size());
  if (!status.ok()) ADD_FAILURE() << status;
  return *this;
}

World& World::PutZeros(uint64_t address, uint64_t size, uint32_t space) {
  const absl::Status status = dump_.memory.Map(space, address, {}, size);
  if (!status.ok()) ADD_FAILURE() << status;
  return *this;
}

World& World::Submit(uint64_t address, uint64_t length, absl::string_view stream,
                     absl::string_view engine) {
  Submission submission;
  submission.index = static_cast<uint32_t>(dump_.submissions.size());
  submission.batch_address = address;
  submission.batch_length = length;
  submission.stream = std::string(stream);
  submission.engine = std::string(engine);
  dump_.submissions.push_back(submission);
  return *this;
}

uint64_t Seen::Number(absl::string_view field) const {
  for (const SeenField& f : fields) {
    if (f.name == field) return NumberOf(f.value, f.raw);
  }
  return ~uint64_t{0};
}

void Story::OnRecord(const Record& record) {
  ids.push_back(record.id);
  Seen seen{record.type,
            record.id,
            record.parent,
            record.space,
            record.address,
            record.depth,
            std::string(record.type == RecordType::kUnknown ? "?" : record.name),
            {record.bytes.begin(), record.bytes.end()},
            record.index,
            record.register_offset,
            record.data_size,
            record.data_stride,
            {record.faults.begin(), record.faults.end()},
            {}};
  ForEachElement(record,
                 [&](uint64_t row, const DataElement& element, absl::Span<const uint8_t> bytes) {
                   std::string line = absl::StrCat(row, ": ", element.number, " ", element.name);
                   for (const tables::Component& c : tables_->components(*element.format)) {
                     if (c.type == tables::ComponentType::kUnused) continue;
                     const Value value = DecodeComponent(c, bytes);
                     absl::StrAppend(&line, " ", tables_->string(c.name), "=");
                     if (value.kind == ValueKind::kReal) {
                       absl::StrAppendFormat(&line, "%g", value.real);
                     } else if (value.kind == ValueKind::kSigned) {
                       absl::StrAppend(&line, value.signed_value);
                     } else {
                       absl::StrAppend(&line, value.unsigned_value);
                     }
                   }
                   seen.values.push_back(std::move(line));
                 });
  seen.data_first = record.data_first;
  seen.data_rows = record.data_rows;
  seen.slot = record.slot;
  seen.per_instance = record.per_instance;
  if (record.kernel != nullptr) {
    seen.stage = std::string(record.kernel->stage);
    seen.ends = std::string(record.kernel->ends);
    seen.simd = record.kernel->simd;
    seen.code.assign(record.kernel->code.begin(), record.kernel->code.end());
  }
  seen.stored.assign(record.stored.begin(), record.stored.end());
  if (record.container != nullptr) {
    ForEachField(*tables_, *record.container, record.bytes, [&](const FieldAt& at) {
      if (at.width > 64) return;
      SeenField field{"", at.bit, at.width, ReadBits(record.bytes, at.bit, at.width), {}};
      AppendFieldName(at.name, field.name);
      field.value = DecodeValue(*tables_, *at.leaf, at.width, field.raw);
      seen.fields.push_back(std::move(field));
    });
  }
  records.push_back(std::move(seen));
}

std::vector<std::string> Story::Packets() const {
  std::vector<std::string> names;
  for (const Seen& seen : records) {
    if (seen.type == RecordType::kPacket || seen.type == RecordType::kUnknown) {
      names.push_back(seen.name);
    }
  }
  return names;
}

std::vector<Seen> Story::Named(absl::string_view name) const {
  std::vector<Seen> named;
  for (const Seen& seen : records) {
    if (seen.name == name) named.push_back(seen);
  }
  return named;
}

Seen Story::Only(absl::string_view name) const {
  const std::vector<Seen> named = Named(name);
  EXPECT_EQ(named.size(), 1u) << name;
  return named.empty() ? Seen{} : named[0];
}

std::vector<std::string> Story::Faults() const {
  std::vector<std::string> faults;
  for (const Seen& seen : records) {
    for (const Fault& fault : seen.faults) {
      faults.push_back(absl::StrCat(FaultKindName(fault.kind), " ", fault.bit + fault.width - 1,
                                    ":", fault.bit));
    }
  }
  return faults;
}

Story TellAll(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
              const Options& options) {
  Story story;
  Decoder decoder(tables, story, options);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return story;
}

Story Tell(const tables::Tables& tables, const World& world, const Options& options) {
  return TellAll(tables, {&world.dump()}, options);
}

namespace {

std::string Written(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
                    const Options& options, std::unique_ptr<Sink> sink,
                    const StringOutput& output) {
  Decoder decoder(tables, *sink, options);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return output.text();
}

}  // namespace

std::string Text(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
                 const Options& options) {
  StringOutput output;
  return Written(tables, dumps, options, MakeTextSink(output), output);
}

std::string Jsonl(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
                  const Options& options) {
  StringOutput output;
  return Written(tables, dumps, options, MakeJsonlSink(output), output);
}

}  // namespace packsmith::decode
