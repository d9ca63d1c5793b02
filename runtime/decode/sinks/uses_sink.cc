#include "runtime/decode/sinks/uses_sink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/sinks/paths.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/json_writer.h"

namespace packsmith::decode {
namespace {

struct Use {
  uint32_t submission;  // of the packet
  std::string packet;
  uint32_t space;  // of the packet
  uint64_t address;
  std::vector<std::string> path;  // the records on the way from the packet to the field's
  std::string field;
  tables::Access access;
  uint64_t at;                         // the field's target
  bool reads = false, writes = false;  // a program does
  std::vector<uint64_t> draws, dispatches;
};

constexpr const char* kAccess[] = {"", "read", "write", "readwrite"};

void AddNumber(std::vector<uint64_t>& all, uint64_t number) {
  if (number != 0 && (all.empty() || all.back() != number)) all.push_back(number);
}

// "1 to 3, 7".
std::string Runs(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) absl::StrAppend(&text, end - i > 2 ? " to " : ", ", numbers[end - 1]);
    i = end;
  }
  return text;
}

class UsesSink : public Sink {
 public:
  UsesSink(Output& output, uint64_t address, bool jsonl)
      : out_(output), json_(out_), address_(address), jsonl_(jsonl) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    paths_.OnSchema(tables);
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnDump(const Dump* dump) override { dump_ = dump; }
  void OnSubmission(const Submission&, uint64_t) override { Finish(); }
  void OnLead(const Lead& lead) override { paths_.OnLead(lead); }

  void OnRecord(const Record& record) override {
    if (record.type == RecordType::kRegister) return;
    const Paths::Node& node = paths_.OnRecord(record);
    const uint64_t work = record.draw != 0       ? record.draw * 2
                          : record.dispatch != 0 ? record.dispatch * 2 + 1
                                                 : 0;
    if (work != work_) Finish();
    work_ = work;
    reaches_.Add(*tables_, record, node);
    const std::vector<Paths::Node>& nodes = paths_.nodes();
    if (record.kernel != nullptr && node.by != nullptr && nodes.size() > 1 &&
        Has(record.address, record.data_size)) {
      Add(record, nodes[nodes.size() - 2], *node.by);
    }
    const std::optional<ImageSeen> image = ImageOf(*tables_, record);
    for (const Paths::Led& led : node.leads) {
      uint64_t size = led.size;
      if (size == 0 && image && image->leaf == led.leaf && image->pitch != 0) {
        size = image->pitch * std::max<uint64_t>(image->height, 1) *
               std::max<uint64_t>(image->depth, 1);
      }
      const bool code = led.pointer->target_kind == tables::TargetKind::kData &&
                        tables_->data(led.pointer->target).is_code != 0;
      // Programs that the dump has are sized by their own record.
      if (size == 0 && code && InDump(led)) continue;
      // Commands continue until one of them ends them.
      if (size == 0 && led.pointer->target_kind == tables::TargetKind::kStream) size = Rest(led);
      image_ = image && image->leaf == led.leaf && image->use == tables::SurfaceUse::kAny;
      if (Has(led.address, size)) Add(record, node, led);
      image_ = false;
    }
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    if (!is_problem) return;
    if (jsonl_) {
      out_.Put("{\"type\":\"problem\"");
      json_.Member("text", text);
      out_.Put("}\n");
    } else {
      out_.Put(absl::StrCat("problem: ", Harmless(text), "\n"));
    }
  }

  void OnSummary(const Summary&) override {
    Finish();
    for (const Use& use : uses_) {
      if (jsonl_) {
        Jsonl(use);
      } else {
        Text(use);
      }
    }
    if (uses_.empty() && !jsonl_) {
      out_.Put(absl::StrCat("no packet points to ", ShowAddress(address_), "\n"));
    }
    out_.Flush();
  }

 private:
  // All records of a draw or dispatch are known: determines which images its programs read and
  // write.
  void Finish() {
    for (const SeenImage& seen : images_) {
      Use& use = uses_[seen.use];
      use.reads |= reaches_.Has(seen.stage, seen.index, tables::SurfaceUse::kTexture);
      use.writes |= reaches_.Has(seen.stage, seen.index, tables::SurfaceUse::kTarget);
    }
    images_.clear();
    reaches_.Clear();
    work_ = 0;
  }
  // From the programs, else from the description.
  static const char* AccessOf(const Use& use) {
    const auto access = use.reads && use.writes ? tables::Access::kReadWrite
                        : use.reads             ? tables::Access::kRead
                        : use.writes            ? tables::Access::kWrite
                                                : use.access;
    return kAccess[static_cast<size_t>(access)];
  }

  bool Has(uint64_t begin, uint64_t size) const {
    return address_ >= begin && address_ - begin < std::max<uint64_t>(size, 1);
  }
  bool InDump(const Paths::Led& led) const {
    return dump_ != nullptr && dump_->memory.Find(led.space, led.address) != nullptr;
  }
  // The bytes of the buffer from the field's target on.
  uint64_t Rest(const Paths::Led& led) const {
    if (dump_ == nullptr) return 0;
    const Buffer* const buffer = dump_->FindBuffer(led.space, led.address);
    return buffer == nullptr ? 0 : buffer->size - (led.address - buffer->address);
  }

  // The user: the packet on the way here whose settings a draw or dispatch uses, or the outermost
  // one.
  const Paths::Node& Packet() const {
    const std::vector<Paths::Node>& nodes = paths_.nodes();
    const auto find = [&](const auto& is) { return std::find_if(nodes.begin(), nodes.end(), is); };
    auto found = find([](const Paths::Node& node) { return node.bound; });
    if (found == nodes.end()) {
      found = find([](const Paths::Node& node) { return node.type == RecordType::kPacket; });
    }
    return found == nodes.end() ? nodes.front() : *found;
  }

  void Add(const Record& record, const Paths::Node& node, const Paths::Led& led) {
    const Paths::Node& packet = Packet();
    std::vector<std::string> path;
    for (const Paths::Node* one = &packet; one != &node;) path.push_back((++one)->name);
    const auto key =
        std::make_tuple(packet.submission, packet.address, path, led.field, led.address);
    const auto [known, fresh] = known_.try_emplace(key, uses_.size());
    if (fresh) {
      Use use{packet.submission,   packet.name, packet.space, packet.address, {}, led.field,
              led.pointer->access, led.address, false,        false,          {}, {}};
      use.path = std::move(path);
      uses_.push_back(std::move(use));
    }
    if (work_ != 0 && image_ && node.index >= 0) {
      images_.push_back({known->second, std::string(node.stage), node.index});
    }
    AddNumber(uses_[known->second].draws, record.draw);
    AddNumber(uses_[known->second].dispatches, record.dispatch);
  }

  void Text(const Use& use) {
    if (!headed_) {
      headed_ = true;
      out_.Put(absl::StrFormat("%4s  %-14s  %-9s  %-14s  %s\n", "sub", "packet", "access",
                               "points to", "packet and field, draws and dispatches"));
    }
    const char* const access = AccessOf(use);
    std::string line =
        absl::StrFormat("%4d  0x%012x  %-9s  0x%012x  %s", use.submission, use.address,
                        *access == 0 ? "-" : access, use.at, Harmless(use.packet));
    for (const std::string& name : use.path) absl::StrAppend(&line, " > ", Harmless(name));
    absl::StrAppend(&line, " > ", Harmless(use.field));
    if (!use.draws.empty()) {
      absl::StrAppend(&line, use.draws.size() == 1 ? "  draw " : "  draws ", Runs(use.draws));
    }
    if (!use.dispatches.empty()) {
      absl::StrAppend(&line, use.dispatches.size() == 1 ? "  dispatch " : "  dispatches ",
                      Runs(use.dispatches));
    }
    out_.Put(line);
    out_.Put('\n');
  }

  void Jsonl(const Use& use) {
    out_.Put("{\"type\":\"use\"");
    json_.Member("submission", uint64_t{use.submission});
    json_.Member("packet", use.packet);
    json_.Member("space", uint64_t{use.space});
    json_.MemberHex("address", use.address);
    out_.Put(",\"path\":[");
    for (const std::string& name : use.path) {
      if (&name != use.path.data()) out_.Put(',');
      json_.String(name);
    }
    out_.Put(']');
    json_.Member("field", use.field);
    json_.MemberHex("leads_to", use.at);
    const char* const access = AccessOf(use);
    if (*access != 0) json_.Member("access", absl::string_view(access));
    Numbers(",\"draws\":[", use.draws);
    Numbers(",\"dispatches\":[", use.dispatches);
    out_.Put("}\n");
  }

  void Numbers(absl::string_view begin, const std::vector<uint64_t>& all) {
    out_.Put(begin);
    for (const uint64_t& number : all) {
      if (&number != all.data()) out_.Put(',');
      out_.Decimal(number);
    }
    out_.Put(']');
  }

  ChunkWriter out_;
  JsonWriter json_;
  const uint64_t address_;
  const bool jsonl_;
  const tables::Tables* tables_ = nullptr;
  const Dump* dump_ = nullptr;
  Paths paths_;
  std::vector<Use> uses_;
  std::map<std::tuple<uint32_t, uint64_t, std::vector<std::string>, std::string, uint64_t>, size_t>
      known_;
  bool headed_ = false;
  // Of the draw or dispatch at hand.
  struct SeenImage {
    size_t use;
    std::string stage;
    int64_t index;
  };
  uint64_t work_ = 0;  // which one; 0: none
  StageReaches reaches_;
  std::vector<SeenImage> images_;
  bool image_ = false;  // the field at hand is an image's address
};

}  // namespace

std::unique_ptr<Sink> MakeUsesSink(Output& output, uint64_t address, bool jsonl) {
  return std::make_unique<UsesSink>(output, address, jsonl);
}

}  // namespace packsmith::decode
