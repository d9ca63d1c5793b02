// packsmith-collect: saves dumps of GPU hangs before the kernel drops them.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/program/program.h"
#include "runtime/decode/sinks/text_sink.h"
#include "tools/collect/collector.h"
#include "tools/collect/source.h"
#include "tools/collect/store.h"

namespace packsmith::collect {
namespace {

constexpr char kHelp[] =
    R"(packsmith-collect [OPTIONS] [NAME...]
Saves dumps of GPU hangs before the kernel drops them. NAME is what the kernel calls a dump: devcd3
(a device core dump, as xe makes them) or card0 (i915's error file). Without a name, all that there
are: at start-up, and now and then.

Each dump becomes a folder of the store with data.zst, about.json, dmesg.txt and what the driver's
debugfs says of its firmware. The kernel's copy is dropped only when that is on the disk. Of a burst
of hangs, the first dumps are kept; later ones stay in the kernel until the burst ends.

  --store=DIR           the store (default: /var/lib/packsmith/dumps)
  --root=DIR            stands for /, for tests (default store: DIR/var/lib/packsmith/dumps)
  --driver=NAME,...     drivers whose dumps are collected (default: xe,i915)
  --keep                do not have the kernel drop its copy

Limits; sizes are bytes, or 512M, 8G:
  --max-size=SIZE       of the store (default: 8G): older dumps are removed for younger ones, but
                        not the first one of a burst
  --keep-free=SIZE      of the disk (default: 1G)
  --max-age=SECONDS     older dumps are removed (default: 2592000, 30 days; 0: never)
  --max-dump=SIZE       of what is read of one dump (default: 4G)
  --per-burst=N         dumps of one burst of a device (default: 8)
  --burst=SECONDS       a pause of that length ends a burst (default: 600)
  --level=N             of zstd, 1 (default) to 19
  --version
  -h, --help

Exit code: 0 all is saved, or stays in the kernel on purpose; 1 something could not be saved, and
stays in the kernel; 2 wrong usage.
)";

constexpr int kGood = 0, kFailed = 1, kWrongUsage = 2;

void Complain(absl::string_view text) {
  std::fprintf(stderr, "packsmith-collect: %s\n", decode::Harmless(text).c_str());
}

int Main(int argc, char** argv) {
  CLI::App app("", "packsmith-collect");
  app.set_help_flag();
  std::vector<std::string> names;
  std::string store_path;
  CollectOptions options;
  Limits limits;
  const auto size = [&](const char* name, uint64_t& to) {
    app.add_option(name, to)->transform(CLI::AsSizeValue(false));
  };
  const CLI::Range seconds(int64_t{0}, int64_t{1} << 40);
  app.add_option("NAME", names);
  app.add_option("--store", store_path);
  app.add_option("--root", options.root);
  app.add_option("--driver", options.drivers)->delimiter(',')->allow_extra_args(false);
  app.add_flag("--keep", options.keep);
  size("--max-size", limits.max_size);
  size("--keep-free", limits.keep_free);
  size("--max-dump", options.max_dump);
  app.add_option("--max-age", limits.max_age)->check(seconds);
  app.add_option("--burst", limits.burst)->check(seconds);
  app.add_option("--per-burst", limits.per_burst)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("--level", options.level)->check(CLI::Range(1, 19));
  if (const std::optional<int> done = tools::ParseCommandLine(
          app, {.name = "packsmith-collect", .help = kHelp}, argc, argv, Complain)) {
    return *done;
  }
  for (const std::string& name : names) {
    if (IsSourceName(name)) continue;
    Complain(absl::StrCat("\"", name, "\" must be devcd or card with a number: devcd3, card0"));
    return kWrongUsage;
  }
  // A dump has memory of other people's processes.
  ::umask(077);
  // A limit of the size of files is an error of write().
  std::signal(SIGXFSZ, SIG_IGN);
  if (store_path.empty()) store_path = options.root + "/var/lib/packsmith/dumps";
  const absl::StatusOr<Store> store = Store::Open(store_path, limits);
  if (!store.ok()) {
    Complain(store.status().message());
    return kFailed;
  }
  std::vector<Outcome> outcomes;
  if (names.empty()) outcomes = CollectAll(*store, options);
  for (const std::string& name : names) {
    if (const std::optional<Source> source = FindSource(options.root, name)) {
      outcomes.push_back(Collect(*source, *store, options));
    } else {
      outcomes.push_back({false, absl::StrCat(name, ": there is no dump (any more)")});
    }
  }
  int result = kGood;
  for (const Outcome& outcome : outcomes) {
    if (outcome.failed) result = kFailed;
    if (!outcome.message.empty()) Complain(outcome.message);
  }
  return result;
}

}  // namespace
}  // namespace packsmith::collect

int main(int argc, char** argv) { return packsmith::collect::Main(argc, argv); }
