#include "tests/oracle/run_unpack.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "runtime/base/file.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/dump/compressed.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith {

absl::StatusOr<std::string> RunUnpack(const std::vector<std::string>& files,
                                      const decode::Options& options, const std::string& xml) {
  std::vector<Dump> dumps;
  for (const std::string& file : files) {
    absl::StatusOr<Dump> dump = ReadDump(file);
    if (!dump.ok()) {
      return absl::Status(dump.status().code(), absl::StrCat(file, ": ", dump.status().message()));
    }
    if (!dump->problems.empty()) {
      return absl::DataLossError(absl::StrCat(file, ": ", dump->problems[0].text));
    }
    dumps.push_back(*std::move(dump));
  }
  if (dumps.empty()) return absl::InvalidArgumentError("no dumps to decode");

  std::vector<uint64_t> block;
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  if (xml.empty()) {
    tables = FindGeneration(dumps[0].device.generation);
  } else {
    const model::LoadResult description = model::Load(xml, model::ReadFileFromDisk);
    const absl::Status status = model::ToStatus(description);
    if (!status.ok()) return status;
    block = model::WriteTables(description.model);
    tables = tables::Tables::Open(absl::MakeConstSpan(
        reinterpret_cast<const uint8_t*>(block.data()), block.size() * sizeof(block[0])));
  }
  if (!tables.ok()) return tables.status();

  decode::StringOutput output;
  const std::unique_ptr<decode::Sink> sink = decode::MakeJsonlSink(output);
  decode::Decoder decoder(*tables, *sink, options);
  for (const Dump& dump : dumps) decoder.Decode(dump);
  decoder.Finish();
  return output.text();
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  absl::StatusOr<FileBytes> file = OpenFile(path);
  if (!file.ok()) return file.status();
  if (IsCompressed(file->bytes)) {
    absl::StatusOr<Decompressed> plain = Decompress(*std::move(file));
    if (!plain.ok()) return plain.status();
    if (plain->problem.has_value()) {
      return absl::DataLossError(absl::StrCat(path, ": ", plain->problem->text));
    }
    file = std::move(plain->file);
  }
  return std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
}

}  // namespace packsmith
