#include "runtime/aub/play.h"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/aub/engines.h"
#include "runtime/aub/recorded_memory.h"
#include "runtime/aub/ring_piece.h"
#include "runtime/aub/spaces.h"
#include "runtime/base/addresses.h"
#include "runtime/decode/fields/value.h"
#include "runtime/dump/aub.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/execlist_registers.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::aub {
namespace {

constexpr uint32_t kEngineBits = sim::kEngineRegisters - 1;
constexpr size_t kMostEngines = 256;
constexpr uint32_t kHighestLevel = 5;
constexpr uint64_t kMostRing = 2u << 20;

std::array<uint8_t, 8> Bytes(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  return bytes;
}

// The registers that an image loads.
struct Image {
  uint64_t address = 0;  // of the list
  std::vector<uint8_t> list;
  sim::ContextImage loads;

  const sim::ImageRegister* Find(absl::string_view name) const { return loads.Find(name); }

  // A field of a register; empty if the image does not have it.
  std::optional<uint64_t> Get(const tables::Tables& tables, absl::string_view name,
                              absl::string_view field) const {
    const sim::ImageRegister* const one = loads.Find(name);
    if (one == nullptr) return std::nullopt;
    const absl::StatusOr<sim::Structure> structure = sim::Structure::Make(tables, one->container);
    if (!structure.ok()) return std::nullopt;
    return structure->Get(Bytes(sim::ContextImage::Get(list, *one)), structure->Field(field));
  }
};

class Player {
 public:
  Player(const tables::Tables& tables, Dump& dump, const PlayOptions& options, FileBytes file)
      : tables_(tables),
        dump_(dump),
        options_(options),
        file_(std::move(file)),
        // A page may be made for a few bytes that are written to it, and again after each
        // submission.
        memory_((uint64_t{64} << 20) + 8 * file_.bytes.size()) {
    const uint64_t size = file_.bytes.size();
    budget_ = {1024 + size / 16, (uint64_t{1} << 16) + size * 16, (uint64_t{1} << 16) + size / 64};
  }

  void Play() {
    absl::StatusOr<GlobalSpace> global = GlobalSpace::Make(tables_, memory_);
    if (!global.ok()) {
      dump_.AddProblem(0,
                       absl::StrCat("the recording cannot be played: ", global.status().message()));
      return;
    }
    global_.emplace(*std::move(global));
    AubPackets packets(file_.bytes, nullptr);
    while (const std::optional<AubPacket> packet = packets.Next()) {
      offset_ = packet->offset;
      switch (packet->kind) {
        case AubPacket::Kind::kRegisterWrite:
          WriteRegister(*packet);
          break;
        case AubPacket::Kind::kMemoryWrite:
          WriteMemory(*packet);
          break;
        case AubPacket::Kind::kRingWrite:
          RunCommands(*packet);
          break;
        case AubPacket::Kind::kComment:
          break;
      }
    }
    Finish();
  }

 private:
  struct Snapshot {
    uint32_t space = 0;
    Runs runs;
  };
  // Page tables, and what they mapped at the last submission.
  struct Tables {
    uint32_t context = 0;  // that used them first
    std::optional<ProcessSpace> space;
    std::optional<Snapshot> last;
  };
  // A context's state on an engine.
  struct State {
    uint32_t context = 0;
    uint32_t slot = 0;
  };
  // A ring's piece, until the end of the file shows whether it was overwritten.
  struct Piece {
    size_t submission;
    Runs runs;
  };

  void Report(std::string text) { dump_.AddProblem(offset_, std::move(text)); }

  void ReportOnce(absl::string_view key, std::string text) {
    if (reported_.insert(std::string(key)).second) Report(std::move(text));
  }

  // --- Writes ---

  void WriteMemory(const AubPacket& packet) {
    if (packet.table_level == kHighestLevel) {
      five_levels_.insert(packet.address - packet.address % RecordedMemory::kPage);
    }
    size_t written = 0;
    switch (packet.space) {
      case AubSpace::kGlobal:
        written = global_->Write(0, packet.address, packet.data);
        break;
      case AubSpace::kGlobalEntry:
        written = memory_.Write(RecordedMemory::kEntries, packet.address, packet.data);
        break;
      case AubSpace::kDevice:
        if (packet.is_page_table) memory_.MarkTables(packet.address, packet.data.size());
        written = memory_.Write(RecordedMemory::kDevice, packet.address, packet.data);
        break;
      case AubSpace::kSystem:
        written = memory_.Write(RecordedMemory::kSystem, packet.address, packet.data);
        break;
      case AubSpace::kProcess:
      case AubSpace::kOther:
        ReportOnce("space", absl::StrFormat("a write to an address space that cannot be played, at "
                                            "0x%x; left out, as are others",
                                            packet.address));
        return;
    }
    if (written == packet.data.size()) return;
    if (memory_.exhausted()) {
      ReportOnce("memory",
                 "the writes of the recording take more memory than one of this size can "
                 "fill; from here on they are left out");
    } else {
      Report(absl::StrFormat("a write of 0x%x bytes at 0x%x goes past the end of the address space",
                             packet.data.size(), packet.address));
    }
  }

  void WriteRegister(const AubPacket& packet) {
    const auto offset = static_cast<uint32_t>(packet.address);
    const uint32_t base = offset & ~kEngineBits;
    auto found = engines_.find(base);
    if (found == engines_.end()) {
      if (engines_.size() == kMostEngines) return;
      absl::StatusOr<sim::ExeclistRegisters> made = sim::ExeclistRegisters::Make(tables_, base);
      if (!made.ok()) return;  // the generation has no execution lists
      found = engines_.emplace(base, *std::move(made)).first;
    }
    const auto written = found->second.Write(offset, packet.value);
    if (!written.ok() || !written->submission) return;
    for (const uint64_t descriptor : *written->submission) Submit(base, descriptor);
  }

  // --- Submissions ---

  absl::StatusOr<Image> ReadImage(uint64_t address, uint32_t base, absl::string_view engine) const {
    std::vector<uint8_t> list(sim::kContextStatusPage);
    list.resize(global_->Read(0, address, absl::MakeSpan(list)));
    sim::ContextImage::Options options;
    options.engine_base = base;
    const absl::string_view name = ClassOf(tables_, engine);
    if (!name.empty()) options.engine = name;
    absl::StatusOr<sim::ContextImage> loads = sim::ContextImage::Parse(tables_, options, list);
    if (!loads.ok()) return loads.status();
    return Image{address, std::move(list), *std::move(loads)};
  }

  // An engine executes the context from its ring's head to its tail.
  void Submit(uint32_t base, uint64_t descriptor) {
    const absl::StatusOr<sim::Structure> structure =
        sim::Structure::Find(tables_, "CONTEXT_DESCRIPTOR");
    if (!structure.ok()) return;
    const std::array<uint8_t, 8> bytes = Bytes(descriptor);
    const auto get = [&](absl::string_view name) {
      return structure->Get(bytes, structure->Field(name));
    };
    if (get("Valid") == 0) return;
    const uint64_t address = get("Logical Ring Context Address");
    std::string engine = EngineAt(tables_, base);
    if (engine.empty()) {
      ReportOnce(absl::StrCat("engine", base),
                 absl::StrFormat("a submission to an unknown engine, whose registers are at 0x%x; "
                                 "decoded as render",
                                 base));
      engine = "render";
    }
    const absl::StatusOr<Image> image = ReadImage(address + sim::kContextStatusPage, base, engine);
    if (!image.ok()) {
      Report(absl::StrFormat("the context at 0x%x cannot be executed: %s", address,
                             image.status().message()));
      return;
    }
    absl::StatusOr<sim::PageTableRoot> root = sim::PageTableRootOf(image->loads, image->list);
    if (!root.ok()) {
      Report(absl::StrFormat("the context at 0x%x cannot be executed: %s", address,
                             root.status().message()));
      return;
    }
    const std::optional<uint64_t> narrow = structure->NamedValue(
        structure->Field("Addressing Mode"), "Legacy context with 32-bit addresses");
    if (narrow && get("Addressing Mode") == *narrow) root->kind = sim::PageTableKind::kThreeLevels;
    // Nothing in the context says so, but a writer that uses five levels names them.
    if (root->kind == sim::PageTableKind::kFourLevels && five_levels_.count(root->tables[0]) != 0) {
      root->kind = sim::PageTableKind::kFiveLevels;
    }
    Execute(engine, base, address, *image, *root);
  }

  void Execute(const std::string& engine, uint32_t base, uint64_t image_address, const Image& image,
               const sim::PageTableRoot& root) {
    absl::StatusOr<Image> page = absl::NotFoundError("");
    if (image.Get(tables_, "CTX_CONTEXT_CONTROL", "Indirect Ring State Enable").value_or(0) != 0) {
      const uint64_t at =
          image.Get(tables_, "INDIRECT_RING_STATE", "Indirect Ring State Address").value_or(0);
      page = ReadImage(at, base, engine);
      if (!page.ok()) {
        Report(absl::StrFormat("the ring's registers at 0x%x cannot be read: %s", at,
                               page.status().message()));
        return;
      }
    }
    const Image& holder = page.ok() ? *page : image;
    const auto field = [&](absl::string_view name, absl::string_view of) {
      return holder.Get(tables_, name, of).value_or(0);
    };
    const uint64_t ring = field("RING_BUFFER_START", "Starting Address") |
                          field("RING_BUFFER_START_UDW", "Starting Address Upper") << 32;
    const uint64_t head = field("RING_BUFFER_HEAD", "Head Offset");
    const uint64_t tail = field("RING_BUFFER_TAIL", "Tail Offset");
    const uint64_t size = (field("RCS_RING_BUFFER_CTL", "Buffer Length (in pages - 1)") + 1) * 4096;
    if (head == tail) return;
    // Some recordings have a wrong size, which only counts where the ring wraps.
    if (tail < head && (head >= size || size > kMostRing)) {
      Report(
          absl::StrFormat("the ring at 0x%x has 0x%x bytes, its head is at 0x%x and its tail at "
                          "0x%x; it is not executed",
                          ring, size, head, tail));
      return;
    }
    RunRing(engine, image_address, root, {ring, std::max({size, head, tail})}, head, tail);
    // The engine saves where it has come to.
    const sim::ImageRegister* const saved = holder.Find("RING_BUFFER_HEAD");
    if (saved == nullptr) return;
    const std::array<uint8_t, 8> value = Bytes(tail);
    global_->Write(0, holder.address + saved->at, absl::MakeSpan(value).subspan(0, 4));
  }

  void RunRing(const std::string& engine, uint64_t image_address, const sim::PageTableRoot& root,
               const Submission::Ring& ring, uint64_t head, uint64_t tail) {
    const uint64_t first = (tail > head ? tail : ring.size) - head;
    const uint64_t length = first + (tail > head ? 0 : tail);
    std::vector<uint8_t> commands(length);
    uint64_t read =
        global_->Read(0, ring.address + head, absl::MakeSpan(commands).subspan(0, first));
    if (read == first) {
      read += global_->Read(0, ring.address, absl::MakeSpan(commands).subspan(first));
    }
    if (read != length) {
      Report(absl::StrFormat("of the ring's 0x%x bytes from 0x%x on 0x%x are in memory", length,
                             ring.address + head, read));
    }
    commands.resize(read);
    Submission submission;
    submission.engine = engine;
    const bool maps = Enter(root, image_address, submission);
    const std::optional<uint64_t> batch = OnlyBatch(tables_, engine, commands);
    if (batch) {
      submission.batch_address = PlainAddress(*batch);
      // A batch may be in the global space, too.
      const auto has = [&](uint32_t space) {
        return dump_.memory.Find(space, submission.batch_address) != nullptr;
      };
      uint8_t byte[1];
      if (!has(submission.space) &&
          global_->Read(0, submission.batch_address, absl::MakeSpan(byte)) == 1) {
        if (maps) submission.own_space = submission.space;
        submission.space = kGlobalSpace;
      }
    } else {
      submission.kind = "ring";
      submission.own_space = submission.space;
      submission.space = kGlobalSpace;
      submission.batch_address = ring.address + head;
      submission.batch_length = length;
      submission.ring = ring;
      pieces_.push_back({dump_.submissions.size(), RingRuns(ring.address, head, first, commands)});
    }
    Add(std::move(submission));
  }

  // The commands as memory of the ring, which lives as long as the dump.
  Runs RingRuns(uint64_t ring, uint64_t head, uint64_t first,
                const std::vector<uint8_t>& commands) {
    kept_->push_back(commands);
    const uint8_t* const bytes = kept_->back().data();
    const uint64_t upper = std::min<uint64_t>(first, commands.size());
    Runs runs;
    if (commands.size() > upper) AddRun(runs, {ring, bytes + upper, commands.size() - upper});
    if (upper != 0) AddRun(runs, {ring + head, bytes, upper});
    return runs;
  }

  void Add(Submission submission) {
    submission.index = static_cast<uint32_t>(dump_.submissions.size());
    dump_.submissions.push_back(std::move(submission));
  }

  // The context of an image, which keeps it when it gets other page tables. A new image is of the
  // context that its page tables are known from, or of a new one.
  State& EnterState(uint64_t image_address, Tables& tables, bool new_tables) {
    const auto [found, is_new] = states_.try_emplace(image_address);
    State& state = found->second;
    if (is_new) {
      if (new_tables) slots_.push_back(0);
      state.context = new_tables ? static_cast<uint32_t>(slots_.size() - 1) : tables.context;
      state.slot = slots_[state.context]++;
    }
    if (new_tables) tables.context = state.context;
    return state;
  }

  // Fills in the context and its space as it is now. Returns whether anything is mapped in it.
  bool Enter(const sim::PageTableRoot& root, uint64_t image_address, Submission& submission) {
    const auto [found, is_new] =
        page_tables_.try_emplace(std::make_tuple(root.kind, root.tables, root.entries));
    Tables& tables = found->second;
    if (is_new) {
      absl::StatusOr<ProcessSpace> space = ProcessSpace::Make(tables_, memory_, root);
      if (space.ok()) {
        tables.space.emplace(*std::move(space));
      } else {
        Report(absl::StrCat("the page tables of a context cannot be read: ",
                            space.status().message()));
      }
    }
    const bool new_image = states_.count(image_address) == 0;
    const State& state = EnterState(image_address, tables, is_new);
    submission.context = state.context;
    submission.slot = state.slot;
    if (tables.space) {
      memory_.Freeze();
      std::string problem;
      Runs runs = tables.space->List(budget_, problem);
      if (!problem.empty()) {
        ReportOnce(absl::StrCat("tables", root.tables[0]),
                   absl::StrCat("context ", state.context, ": ", problem));
      }
      Enter(tables.last, std::move(runs));
      submission.space = tables.last->space;
    }
    if (new_image && options_.images) AddImage(submission, image_address);
    return tables.last && !tables.last->runs.empty();
  }

  // Makes `last` a space with the memory `runs`, unless it is that already.
  void Enter(std::optional<Snapshot>& last, Runs runs) {
    if (last && last->runs == runs) return;
    if (last && runs.size() > budget_.segments) {
      ReportOnce("segments",
                 "too many submissions with other memory than the one before them; from here on "
                 "submissions are shown with the memory of earlier ones");
      return;
    }
    const uint32_t space = NewSpace();
    Map(space, runs);
    last = Snapshot{space, std::move(runs)};
  }

  uint32_t NewSpace() {
    if (next_space_ == kGlobalSpace) ++next_space_;
    return next_space_++;
  }

  void Map(uint32_t space, const Runs& runs) {
    for (const Run& run : runs) {
      if (budget_.segments == 0) {
        ReportOnce("mapped",
                   "more pieces of memory than a recording of this size can fill; the "
                   "rest is unmapped");
        return;
      }
      --budget_.segments;
      const absl::Status mapped = dump_.memory.Map(
          space, run.address,
          run.bytes == nullptr ? absl::Span<const uint8_t>() : absl::MakeSpan(run.bytes, run.size),
          run.size);
      if (!mapped.ok()) Report(std::string(mapped.message()));
    }
  }

  void AddImage(const Submission& of, uint64_t address) {
    Submission image;
    image.engine = of.engine;
    image.context = of.context;
    image.slot = 1 + static_cast<uint32_t>(dump_.submissions.size());
    image.space = kGlobalSpace;
    image.own_space = of.space;
    image.batch_address = address + sim::kContextStatusPage;
    image.batch_length = sim::kContextStatusPage;
    image.kind = "context image";
    image.unless_reached = true;
    Add(std::move(image));
  }

  // Classic: an engine executes commands of its ring at once, in the global space.
  void RunCommands(const AubPacket& packet) {
    is_classic_ = true;
    Submission submission;
    submission.engine = std::string(packet.engine);
    if (ClassOf(tables_, submission.engine).empty()) {
      ReportOnce(packet.engine, absl::StrCat(tables_.generation(), " has no engine ", packet.engine,
                                             "; decoded as render"));
      submission.engine = "render";
    }
    memory_.Freeze();
    Enter(classic_, global_->List(budget_));
    submission.space = classic_->space;
    if (const std::optional<uint64_t> batch = OnlyBatch(tables_, submission.engine, packet.data)) {
      submission.batch_address = PlainAddress(*batch);
    } else {
      submission.kind = "ring";
      submission.own_space = submission.space;
      submission.space = NewSpace();
      submission.batch_length = packet.data.size();
      Map(submission.space, {{0, packet.data.data(), packet.data.size()}});
    }
    Add(std::move(submission));
  }

  // --- The end ---

  void Finish() {
    memory_.Freeze();
    offset_ = 0;
    if (!is_classic_ || !states_.empty()) Map(kGlobalSpace, global_->List(budget_));
    for (const Piece& piece : pieces_) {
      const bool is_there = std::all_of(piece.runs.begin(), piece.runs.end(), [&](const Run& run) {
        std::vector<uint8_t> now(run.size);
        return global_->Read(0, run.address, absl::MakeSpan(now)) == run.size &&
               std::equal(now.begin(), now.end(), run.bytes);
      });
      if (is_there) continue;
      const uint32_t space = NewSpace();
      Map(space, piece.runs);
      dump_.submissions[piece.submission].space = space;
    }
    if (options_.images) MapPhysical();
    if (dump_.submissions.empty()) {
      dump_.AddProblem(0, "the recording has no submission to an engine");
    }
    struct Backing {
      FileBytes file;
      std::shared_ptr<const void> pages, kept;
    };
    auto backing = std::make_shared<Backing>();
    backing->file = std::move(file_);
    backing->pages = memory_.owner();
    backing->kept = kept_;
    dump_.backing = std::move(backing);
    dump_.SortBuffers();
  }

  // One space for both memories: a page that both have is that of the system.
  void MapPhysical() {
    Runs runs;
    const auto& system = memory_.pages(RecordedMemory::kSystem);
    const auto& device = memory_.pages(RecordedMemory::kDevice);
    auto one = system.begin();
    auto other = device.begin();
    while (one != system.end() || other != device.end()) {
      const bool takes_one =
          other == device.end() || (one != system.end() && one->first <= other->first);
      const auto& [address, version] = takes_one ? *one : *other;
      AddRun(runs, {address, version.bytes, RecordedMemory::kPage});
      if (other != device.end() && other->first == address) ++other;
      if (takes_one) ++one;
    }
    dump_.physical_space = NewSpace();
    Map(*dump_.physical_space, runs);
  }

  const tables::Tables& tables_;
  Dump& dump_;
  const PlayOptions options_;
  FileBytes file_;
  RecordedMemory memory_;
  Budget budget_;
  std::optional<GlobalSpace> global_;
  std::map<uint32_t, sim::ExeclistRegisters> engines_;
  std::map<std::tuple<sim::PageTableKind, std::array<uint64_t, 4>, uint64_t>, Tables> page_tables_;
  std::map<uint64_t, State> states_;  // by address of the image
  std::vector<uint32_t> slots_;       // of each context, how many
  std::optional<Snapshot> classic_;
  std::vector<Piece> pieces_;
  std::shared_ptr<std::list<std::vector<uint8_t>>> kept_ =
      std::make_shared<std::list<std::vector<uint8_t>>>();
  std::set<std::string> reported_;
  std::set<uint64_t> five_levels_;  // addresses of tables of the fifth level
  uint64_t offset_ = 0;
  uint32_t next_space_ = 0;
  bool is_classic_ = false;
};

}  // namespace

void Play(const tables::Tables& tables, Dump& dump, const PlayOptions& options) {
  if (dump.recording == nullptr) return;
  FileBytes file = dump.recording->file;
  dump.recording = nullptr;
  Player(tables, dump, options, std::move(file)).Play();
}

}  // namespace packsmith::aub
