#include "gen/model/load.h"

#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/passes/resolve.h"
#include "gen/model/syntax/parse.h"

namespace packsmith::model {

absl::StatusOr<std::string> ReadFileFromDisk(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return absl::NotFoundError("the file does not exist or cannot be opened");
  std::string text;
  char buffer[1 << 16];
  size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) text.append(buffer, got);
  if (std::ferror(file.get()) != 0) return absl::DataLossError("the file cannot be read");
  return text;
}

namespace {

// Everything after parsing.
void Finish(const Sources& sources, LoadResult& result) {
  result.sources = sources;
  Resolve(result.sources, result.diagnostics, result.model);
  result.diagnostics.Sort(result.model.files);

  // FNV-1a: the digest tells versions of a description apart; it is not a protection.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const int32_t file : result.model.files) {
    for (const char c : result.sources.file(file).text()) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  }
  result.model.digest = absl::StrFormat("%016x", hash);
}

}  // namespace

LoadResult Load(const std::string& path, const ReadFile& read_file) {
  Parsed parsed;
  LoadResult result;
  Parse(path, read_file, parsed, result.diagnostics, result.model);
  Finish(parsed.sources, result);
  return result;
}

LoadResult Loader::Load(const std::string& path) {
  LoadResult result;
  Parse(path, read_file_, parsed_, result.diagnostics, result.model);
  if (result.diagnostics.all().empty()) {
    parsed_.models.insert_or_assign(path, result.model.CopyUnresolved());
  }
  Finish(parsed_.sources, result);
  return result;
}

absl::Status ToStatus(const LoadResult& result) {
  if (!result.diagnostics.has_errors()) return absl::OkStatus();
  return absl::InvalidArgumentError(FormatAll(result.diagnostics, result.sources));
}

}  // namespace packsmith::model
