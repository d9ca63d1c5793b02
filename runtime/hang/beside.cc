#include "runtime/hang/beside.h"

#include <rapidjson/document.h>

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"
#include "runtime/hang/kernel_events.h"

namespace packsmith::hang {
namespace {

constexpr uint64_t kMostOfAbout = uint64_t{1} << 20;

// The text of a file, or nothing.
std::string TextOf(const std::string& path, uint64_t most) {
  const absl::StatusOr<FileBytes> file = OpenFile(path, most);
  if (!file.ok()) return "";
  const absl::Span<const uint8_t> bytes =
      file->bytes.subspan(file->bytes.size() - std::min<uint64_t>(file->bytes.size(), most));
  return {bytes.begin(), bytes.end()};
}

std::string Member(const rapidjson::Document& json, const char* name) {
  const auto found = json.FindMember(name);
  if (found == json.MemberEnd() || !found->value.IsString()) return "";
  return {found->value.GetString(), found->value.GetStringLength()};
}

}  // namespace

Beside ReadBeside(const std::string& dump_path) {
  const size_t slash = dump_path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? std::string() : dump_path.substr(0, slash + 1);
  Beside beside;
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(
      TextOf(absl::StrCat(folder, "about.json"), kMostOfAbout).c_str());
  if (json.HasParseError() || !json.IsObject() || Member(json, "type") != "collected dump") {
    return beside;
  }
  beside.device = Member(json, "address");
  beside.events = ReadKernelLog(TextOf(absl::StrCat(folder, "dmesg.txt"), kMostOfLog));
  return beside;
}

}  // namespace packsmith::hang
