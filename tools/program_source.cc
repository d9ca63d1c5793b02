#include "tools/program_source.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/generations/spellings.h"
#include "runtime/source/program.h"
#include "runtime/source/spelling.h"

namespace packsmith::tools {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLarge = 4096;  // bytes of a file

// The folder as the program, which is in `output`, names it.
std::string FromProgram(const std::string& data, const std::string& output) {
  std::error_code failed;
  const fs::path folder = fs::absolute(data, failed);
  if (output.empty() || output == "-" || failed) return folder.string();
  const fs::path relative =
      fs::relative(folder, fs::absolute(output, failed).parent_path(), failed);
  return failed || relative.empty() ? folder.string() : relative.string();
}

}  // namespace

bool IsProgramFormat(absl::string_view format) { return format == "cpp" || format == "c"; }

absl::Status WriteProgramSource(const tables::Tables& tables, const Dump& dump,
                                const ProgramRequest& request) {
  const absl::StatusOr<absl::Span<const uint8_t>> names = FindSpelling(tables);
  if (!names.ok()) return names.status();
  const absl::StatusOr<source::Spelling> spelling = source::Spelling::Open(*names);
  if (!spelling.ok()) return spelling.status();
  source::ProgramOptions options;
  options.language = request.format == "c" ? source::Language::kC : source::Language::kCpp;
  options.input = request.input == "-" ? "" : fs::path(request.input).filename().string();
  if (!request.data.empty()) {
    options.file_bytes = kLarge;
    options.folder = FromProgram(request.data, request.output);
  }
  const source::Program program = source::WriteProgram(tables, *spelling, dump, options);
  if (!program.files.empty()) {
    std::error_code failed;
    fs::create_directories(request.data, failed);
    if (failed) {
      return absl::FailedPreconditionError(
          absl::StrCat(request.data, ": ", failed.message(), "; --data names a folder"));
    }
  }
  for (const source::Program::File& file : program.files) {
    const absl::Status status = WriteFileWhole((fs::path(request.data) / file.name).string(),
                                               absl::MakeConstSpan(file.bytes));
    if (!status.ok()) return status;
  }
  return WriteFileWhole(request.output.empty() ? "-" : request.output,
                        absl::string_view(program.text));
}

}  // namespace packsmith::tools
