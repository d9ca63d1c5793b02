#include "runtime/sim/contexts/contexts_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::sim {
namespace {

using tables::kNone;
using tables::Leaf;

// "Head Offset 0x40, Wrap Count 2": the fields that are not zero.
std::string Fields(const tables::Tables& tables, uint32_t container, uint32_t value) {
  std::string text;
  if (container == kNone) return text;
  uint8_t bytes[4];
  decode::WriteBits(absl::MakeSpan(bytes), 0, 32, value);
  for (const Leaf& leaf : tables.leaves(tables.container(container).leaves)) {
    const bool reserved = (leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0;
    if (reserved || leaf.bit + leaf.width > 32) continue;
    const uint64_t raw = decode::ReadBits(bytes, leaf.bit, leaf.width);
    if (raw == 0) continue;
    const absl::string_view name = tables.string(leaf.name);
    if (!text.empty()) text += ", ";
    if (leaf.type == tables::LeafType::kBool) {
      absl::StrAppend(&text, name);
      continue;
    }
    const absl::string_view named = tables.ValueName(leaf, raw);
    absl::StrAppend(&text, name, " ");
    if (named.empty()) {
      absl::StrAppendFormat(&text, "0x%x", decode::NumberOfBits(tables, leaf, leaf.width, raw));
    } else {
      absl::StrAppend(&text, named);
    }
  }
  return text;
}

// A context image of a dump.
struct ReadImage {
  std::vector<uint8_t> list;
  absl::StatusOr<ContextImage> image = absl::UnknownError("");
};

ReadImage ReadImageOf(const tables::Tables& tables, const Dump& dump,
                      const Submission& submission) {
  ReadImage out{ContextImageBytes(dump, submission)};
  ContextImage::Options options;
  const uint32_t engine = tables.FindEngine(submission.engine);
  if (engine != kNone) options.engine = submission.engine;
  options.engine_base = BaseOfImage(tables, options.engine, out.list);
  out.image = ContextImage::Parse(tables, options, out.list);
  return out;
}

// The memory of a dump, which is only read.
class DumpMemory : public MemoryAccess {
 public:
  explicit DumpMemory(const Memory& memory) : memory_(memory) {}
  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    return memory_.Copy(space, address, out);
  }
  size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t>) override { return 0; }

 private:
  const Memory& memory_;
};

std::string RootText(const PageTableRoot& root) {
  if (root.kind == PageTableKind::kFourLevels) {
    return absl::StrFormat("four levels from 0x%x", root.tables[0]);
  }
  if (root.kind == PageTableKind::kFiveLevels) {
    return absl::StrFormat("five levels from 0x%x", root.tables[0]);
  }
  return absl::StrFormat("three levels from 0x%x, 0x%x, 0x%x, 0x%x", root.tables[0], root.tables[1],
                         root.tables[2], root.tables[3]);
}

}  // namespace

void ContextImagesText::Add(const tables::Tables& tables, const Dump& dump) {
  for (const Submission& submission : dump.submissions) {
    if (submission.kind != "context image") continue;
    auto [list, image] = ReadImageOf(tables, dump, submission);
    absl::StrAppendFormat(&text_, "%scontext image  engine %s, at 0x%x", text_.empty() ? "" : "\n",
                          decode::Harmless(submission.engine), submission.batch_address);
    if (!image.ok()) {
      ++failures_;
      absl::StrAppend(&text_, "\n    ", image.status().message(), "\n");
      continue;
    }
    ++images_;
    const auto before = last_.find(submission.engine);
    if (before == last_.end()) {
      absl::StrAppendFormat(&text_, ", registers: %d\n", image->registers().size());
      for (const ImageRegister& one : image->registers()) {
        const uint32_t value = ContextImage::Get(list, one);
        std::string line = absl::StrFormat("    %-36s 0x%08x  %s", image->NameOf(one), value,
                                           Fields(tables, one.container, value));
        line.erase(line.find_last_not_of(' ') + 1);
        absl::StrAppend(&text_, line, "\n");
      }
    } else {
      const std::vector<ImageDifference> differences =
          CompareImages(tables, before->second.image, before->second.list, *image, list);
      absl::StrAppendFormat(&text_, ", differences from the one at 0x%x: %d\n",
                            before->second.address, differences.size());
      text_ += DifferencesText(differences);
      last_.erase(before);
    }
    last_.emplace(submission.engine,
                  Seen{*std::move(image), std::move(list), submission.batch_address});
  }
}

PageTablesOfDump ShowPageTables(const tables::Tables& tables, const Dump& dump) {
  PageTablesOfDump out;
  DumpMemory memory(dump.memory);
  bool any = false;
  for (const Submission& submission : dump.submissions) {
    if (submission.kind != "context image") continue;
    any = true;
    const std::string which =
        absl::StrFormat("context image  engine %s, at 0x%x", decode::Harmless(submission.engine),
                        submission.batch_address);
    const ReadImage read = ReadImageOf(tables, dump, submission);
    if (!read.image.ok()) {
      out.problems.push_back(absl::StrCat(which, ": ", read.image.status().message()));
      continue;
    }
    const absl::StatusOr<PageTableRoot> root = PageTableRootOf(*read.image, read.list);
    if (!root.ok()) {
      out.problems.push_back(absl::StrCat(which, ": ", root.status().message()));
      continue;
    }
    absl::StrAppend(&out.text, out.text.empty() ? "" : "\n", which, ", page tables of ",
                    RootText(*root), "\n");
    if (!dump.physical_space) {
      out.problems.push_back(absl::StrCat(
          which, ": the dump does not have the page tables: it has no memory by physical address"));
      continue;
    }
    const uint32_t space = *dump.physical_space;
    const absl::StatusOr<PageTables> found =
        PageTables::Open(tables, memory, *root, {space, space, space});
    if (!found.ok()) {
      out.problems.push_back(absl::StrCat(which, ": ", found.status().message()));
      continue;
    }
    PageTableListing listing;
    out.text += PageTablesText(*found, kMostRanges, &listing);
    if (!listing.complete()) {
      out.problems.push_back(absl::StrCat(which, ": the page tables could not be read whole"));
    }
  }
  if (!any) {
    out.problems.push_back(
        "there is no context image, which says where page tables are: dumps that the kernel makes "
        "of a hang may have some");
  }
  return out;
}

std::string PageTablesText(const PageTables& tables, uint64_t most_ranges,
                           PageTableListing* listed) {
  std::string text;
  uint64_t ranges = 0;
  const PageTableListing listing = tables.List([&](const MappedRange& range) {
    if (++ranges > most_ranges) return;
    const PageAttributes& is = range.attributes;
    absl::StrAppendFormat(&text, "0x%012x..0x%012x  %s0x%x, pages of %d KiB%s%s%s\n", range.address,
                          range.address + range.bytes, is.device ? "device " : "", range.physical,
                          range.page_bytes / 1024, is.writable ? "" : ", read-only",
                          is.null ? ", null" : "",
                          is.pat == 0 ? "" : absl::StrCat(", PAT ", is.pat));
  });
  if (ranges > most_ranges) {
    absl::StrAppendFormat(&text, "further ranges: %d\n", ranges - most_ranges);
  }
  if (listed != nullptr) *listed = listing;
  absl::StrAppendFormat(&text, "tables: %d", listing.tables);
  if (listing.unreadable != 0)
    absl::StrAppendFormat(&text, ", not in memory: %d", listing.unreadable);
  if (listing.loops != 0) {
    absl::StrAppendFormat(&text, ", entries that point to a table above them: %d", listing.loops);
  }
  if (listing.skipped != 0) absl::StrAppendFormat(&text, ", not read: %d", listing.skipped);
  return text + "\n";
}

}  // namespace packsmith::sim
