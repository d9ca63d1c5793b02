#include "tools/collect/beside.h"

#include <fcntl.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/base/version.h"
#include "runtime/dump/dump.h"

namespace packsmith::collect {
namespace {

namespace fs = std::filesystem;

// Longer than any record: the kernel gives at most 8192 bytes.
constexpr size_t kRecord = 16384;
// Of a driver's file.
constexpr size_t kMostOfFile = size_t{256} << 10;

// Below the folder of a card, and of each of its GTs.
constexpr absl::string_view kCardFiles[] = {"name", "info", "i915_dmc_info", "dmc_info",
                                            "i915_capabilities"};
constexpr absl::string_view kGtFiles[] = {"uc/guc_info", "uc/huc_info", "topology",     "hwconfig",
                                          "steering",    "hw_engines",  "sseu_topology"};

// The card's folder in debugfs: its name is a number, or, in newer kernels, the device's address.
std::string DebugFolder(const std::string& root, const std::string& address) {
  const std::string all = root + "/sys/kernel/debug/dri";
  std::error_code error;
  if (address.empty()) return "";
  for (fs::directory_iterator at(all, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() == address) return at->path().native();
    // "xe dev=0000:03:00.0 unique=0000:03:00.0"
    const std::string name = ReadSmall(at->path().native() + "/name");
    if (absl::StrContains(name, absl::StrCat("dev=", address))) return at->path().native();
  }
  return "";
}

}  // namespace

KernelLog::KernelLog(const std::string& root)
    : fd_(::open((root + "/dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}

void KernelLog::Add(const std::string& record) {
  // "6,1234,5678901,-;text\n KEY=value\n": level, number, microseconds, flags.
  for (const absl::string_view line : absl::StrSplit(record, '\n')) {
    const size_t semicolon = line.find(';');
    if (line.empty() || line[0] == ' ' || semicolon == absl::string_view::npos) continue;
    const std::vector<absl::string_view> head = absl::StrSplit(line.substr(0, semicolon), ',');
    uint64_t time = 0;
    if (head.size() < 3 || !absl::SimpleAtoi(head[2], &time)) continue;
    absl::StrAppendFormat(&text_, "[%5u.%06u] %s\n", time / 1'000'000, time % 1'000'000,
                          line.substr(semicolon + 1));
  }
}

void KernelLog::Read() {
  if (!fd_) return;
  std::string record(kRecord, '\0');
  std::string rest;
  while (true) {
    const ssize_t got = ::read(fd_.get(), record.data(), record.size());
    // EPIPE: records were overwritten before they were read; the next read is of the oldest left.
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (got <= 0) break;
    // A record each, or pieces of a file in tests.
    rest.append(record, 0, static_cast<size_t>(got));
    const size_t end = rest.rfind('\n') + 1;
    Add(rest.substr(0, end));
    rest.erase(0, end);
    if (text_.size() > 2 * kMost) text_.erase(0, text_.find('\n', text_.size() - kMost) + 1);
  }
  if (text_.size() > kMost) text_.erase(0, text_.find('\n', text_.size() - kMost) + 1);
}

std::vector<SmallFile> DriverFiles(const std::string& root, const Source& source) {
  std::vector<SmallFile> files;
  const std::string folder = DebugFolder(root, source.address);
  if (folder.empty()) return files;
  const auto add = [&](const std::string& below, absl::string_view where) {
    std::string content = ReadSmall(absl::StrCat(folder, "/", below), kMostOfFile);
    if (content.empty()) return;
    const std::string name = fs::path(below).filename().native();
    files.push_back(
        {absl::StrCat(name, where.empty() ? "" : ".", where, ".txt"), absl::StrCat(content, "\n")});
  };
  for (const absl::string_view name : kCardFiles) add(std::string(name), "");
  std::vector<std::string> gts;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().native();
    if (absl::StartsWith(name, "gt") && name.size() > 2 && absl::ascii_isdigit(name[2])) {
      gts.push_back(std::move(name));
    }
  }
  std::sort(gts.begin(), gts.end());
  for (const std::string& gt : gts) {
    for (const absl::string_view name : kGtFiles) add(absl::StrCat(gt, "/", name), gt);
  }
  return files;
}

std::string BootOf(const std::string& root) {
  return ReadSmall(root + "/proc/sys/kernel/random/boot_id").substr(0, 8);
}

std::string AboutJson(const std::string& root, const About& about) {
  rapidjson::StringBuffer out;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> json(out);
  json.SetIndent(' ', 2);
  const auto key = [&](absl::string_view name) {
    json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  };
  const auto value = [&](absl::string_view content) {
    const std::string text = ValidUtf8(absl::StripAsciiWhitespace(content));
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  };
  const auto text = [&](absl::string_view name, absl::string_view content) {
    if (absl::StripAsciiWhitespace(content).empty()) return;
    key(name);
    value(content);
  };
  const auto of_device = [&](absl::string_view name) {
    return ReadSmall(absl::StrCat(about.source.device, "/", name));
  };
  json.StartObject();
  text("type", "collected dump");
  text("version", Version());
  text("source", about.source.name);
  key("time");
  json.Int64(about.time);
  key("bytes");
  json.Uint64(about.bytes);
  key("complete");
  json.Bool(about.cut.empty());
  text("cut", about.cut);
  key("first_of_burst");
  json.Bool(about.first);
  text("driver", about.source.driver);
  text("address", about.source.address);
  text("vendor", of_device("vendor"));
  text("device", of_device("device"));
  text("subsystem_vendor", of_device("subsystem_vendor"));
  text("subsystem_device", of_device("subsystem_device"));
  text("revision", of_device("revision"));
  text("kernel", ReadSmall(root + "/proc/sys/kernel/osrelease"));
  text("kernel_build", ReadSmall(root + "/proc/sys/kernel/version"));
  text("command_line", ReadSmall(root + "/proc/cmdline"));
  text("boot", ReadSmall(root + "/proc/sys/kernel/random/boot_id"));
  text("host", ReadSmall(root + "/proc/sys/kernel/hostname"));
  // The lines that name firmware and versions; the whole files lie beside.
  key("firmware");
  json.StartArray();
  for (const SmallFile& file : about.files) {
    for (const absl::string_view line : absl::StrSplit(file.content, '\n')) {
      const std::string lower = absl::AsciiStrToLower(line);
      if (absl::StrContains(lower, "version") || absl::StrContains(lower, "firmware")) {
        value(absl::StrCat(file.name, ": ", absl::StripAsciiWhitespace(line)));
      }
    }
  }
  json.EndArray();
  json.EndObject();
  return absl::StrCat(absl::string_view(out.GetString(), out.GetSize()), "\n");
}

}  // namespace packsmith::collect
