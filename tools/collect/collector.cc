#include "tools/collect/collector.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/collect/beside.h"
#include "tools/collect/copy.h"

namespace packsmith::collect {
namespace {

int64_t Now() { return static_cast<int64_t>(std::time(nullptr)); }

std::string NameFor(const Source& source) {
  return source.address.empty() ? source.name : absl::StrCat(source.name, " of ", source.address);
}

Outcome Failure(const Source& source, absl::string_view why) {
  return {true, absl::StrCat(NameFor(source), ": ", why,
                             "; the kernel still has the dump, until it drops it by itself (xe: an "
                             "hour, before Linux 6.11 five minutes; i915: at a restart)")};
}

// Has the kernel drop what the store has, and says both.
Outcome Finished(const Source& source, const Store& store, const CollectOptions& options,
                 std::string message) {
  if (options.keep) return {false, std::move(message)};
  std::string why;
  store.Exclusively([&] { why = Drop(source); });
  if (why.empty()) return {false, std::move(message)};
  return {true, absl::StrCat(message, "; but ", why, ", so the next hang is not kept")};
}

}  // namespace

Outcome Collect(const Source& source, const Store& store, const CollectOptions& options) {
  if (std::find(options.drivers.begin(), options.drivers.end(), source.driver) ==
      options.drivers.end()) {
    return {false, absl::StrCat(NameFor(source), ": left alone, its driver is ",
                                source.driver.empty() ? "not known" : source.driver,
                                " (--driver adds one)")};
  }
  // The log is a ring: what led to the hang may be overwritten while a large dump is copied.
  KernelLog log(options.root);
  log.Read();
  About about;
  about.source = source;
  about.time = Now();
  about.boot = BootOf(options.root);
  Store::Claim claim;
  std::string why;
  const absl::StatusOr<Store::Answer> answer =
      store.Take(source.address, source.id, about.boot, about.time, claim, why);
  if (!answer.ok()) return Failure(source, answer.status().message());
  switch (*answer) {
    case Store::Answer::kTaken:
      break;
    case Store::Answer::kBusy:
      return {};
    case Store::Answer::kHave:
      // An earlier run ended between saving and dropping.
      return Finished(source, store, options, absl::StrCat(NameFor(source), ": is saved already"));
    case Store::Answer::kPartial:
      return {false, absl::StrCat(NameFor(source),
                                  ": a part of it is saved already; the kernel's "
                                  "copy is left alone")};
    case Store::Answer::kEnough:
      return {false, absl::StrCat(NameFor(source),
                                  ": left in the kernel, its burst has as many "
                                  "dumps as are kept (--per-burst)")};
    case Store::Answer::kNoRoom:
      return Failure(source, why);
  }
  absl::StatusOr<UniqueFd> file = claim.Create("data.zst");
  if (!file.ok()) return Failure(source, file.status().message());
  CopyOptions copy;
  copy.level = options.level;
  copy.most = options.max_dump;
  copy.room = [&](uint64_t written) { return store.MakeRoom(claim, written); };
  Copied copied;
  absl::Status status = Copy(source.data, file->get(), copy, copied);
  file->Reset();
  if (!status.ok()) return Failure(source, status.message());
  if (copied.read == 0) {
    return Failure(source, copied.cut.empty() ? "the dump is empty" : copied.cut);
  }
  about.bytes = copied.read;
  about.cut = copied.cut;
  about.first = claim.kept().first;
  about.files = DriverFiles(options.root, source);
  log.Read();
  status = claim.Write("dmesg.txt", log.text());
  for (const SmallFile& one : about.files) status.Update(claim.Write(one.name, one.content));
  status.Update(claim.Write("about.json", AboutJson(options.root, about)));
  if (!status.ok()) return Failure(source, status.message());
  const absl::StatusOr<std::string> path = store.Publish(claim, !copied.cut.empty());
  if (!path.ok()) return Failure(source, path.status().message());
  if (!copied.cut.empty()) {
    // More of it may be had by hand.
    return {true,
            absl::StrCat(NameFor(source), ": only a part is saved in ", *path, ": ", copied.cut)};
  }
  return Finished(source, store, options,
                  absl::StrCat(NameFor(source), ": ", copied.read, " bytes saved in ", *path));
}

std::vector<Outcome> CollectAll(const Store& store, const CollectOptions& options) {
  const std::vector<Source> sources = FindSources(options.root);
  std::vector<std::string> ids;
  for (const Source& source : sources) ids.push_back(source.id);
  std::vector<Outcome> outcomes(sources.size());
  if (absl::Status status = store.Tidy(BootOf(options.root), ids, Now()); !status.ok()) {
    outcomes.push_back({true, std::string(status.message())});
  }
  // Devices do not wait for one another: while one is copied, the next hang of another is lost.
  std::map<std::string, std::vector<size_t>> by_device;
  for (size_t i = 0; i < sources.size(); ++i) by_device[sources[i].address].push_back(i);
  std::vector<std::thread> threads;
  for (const auto& [address, indices] : by_device) {
    threads.emplace_back([&sources, &outcomes, &store, &options, &mine = indices] {
      for (const size_t i : mine) outcomes[i] = Collect(sources[i], store, options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace packsmith::collect
