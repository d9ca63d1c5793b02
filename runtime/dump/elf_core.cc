#include "runtime/dump/elf_core.h"

#include <elf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/dump/elf_notes.h"

namespace packsmith {
namespace {

// elf.h of some systems has no name for Intel's graphics.
constexpr uint16_t kMachineIntelGpu = 205;
constexpr char kOwner[] = "packsmith";
constexpr uint64_t kMaxAddress = std::numeric_limits<uint64_t>::max();
// Keeps each note far below the 4 GiB that its header can state.
constexpr size_t kBuffersInANote = size_t{1} << 16;
constexpr uint64_t kSegmentAlignment = 64;  // in the file
// Of a paged segment; in the range that ELF leaves to operating systems.
constexpr uint32_t kPagedSegment = 0x65053001;
constexpr size_t kPageRunSize = 8;  // bytes in the file
// Several pages of a dump may be one page of the memory file. More than this many times its size is
// a damaged or hostile list, which would make decoding as slow as the memory that it claims.
constexpr uint64_t kMostRepeats = 64;
constexpr uint64_t kLeastPagedBytes = uint64_t{1} << 30;

// libelf knows the layouts and byte orders; it is given one header at a time, because its own walk
// of the file refuses a table that is cut off.
template <typename Header>
Header FromFile(Elf_Type type, const uint8_t* bytes) {
  uint8_t copy[sizeof(Header)];
  std::memcpy(copy, bytes, sizeof(Header));
  Header header = {};
  Elf_Data from = {};
  from.d_buf = copy;
  from.d_type = type;
  from.d_version = EV_CURRENT;
  from.d_size = sizeof(Header);
  Elf_Data to = from;
  to.d_buf = &header;
  if (elf64_xlatetom(&to, &from, ELFDATA2LSB) == nullptr) return Header();
  return header;
}

template <typename Header>
void ToFile(Elf_Type type, Header header, std::vector<uint8_t>& out) {
  const size_t at = out.size();
  out.resize(at + sizeof(Header));
  Elf_Data from = {};
  from.d_buf = &header;
  from.d_type = type;
  from.d_version = EV_CURRENT;
  from.d_size = sizeof(Header);
  Elf_Data to = from;
  to.d_buf = out.data() + at;
  static_cast<void>(elf64_xlatetof(&to, &from, ELFDATA2LSB));
}

// `size` bytes at `offset`, or as many of them as there are.
absl::Span<const uint8_t> Slice(absl::Span<const uint8_t> bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

uint32_t LittleEndian32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[3]} << 24;
}

// A stretch of memory that some program header asks for.
struct Wanted {
  uint32_t space;
  uint32_t header;  // number of the program header: the lower one wins
  uint64_t address;
  uint64_t size;
  absl::Span<const uint8_t> bytes;
  bool wraps = false;  // the file says that it goes past 2^64: its address is damaged

  uint64_t last() const { return address + (size - 1); }
};

class CoreReader {
 public:
  CoreReader(FileBytes file, CoreAddresses addresses, absl::string_view folder)
      : file_(std::move(file)), addresses_(addresses), folder_(folder) {}

  absl::StatusOr<Dump> Read() {
    if (absl::Status status = CheckHeader(); !status.ok()) return status;
    ReadProgramHeaders();
    ReadPaged();
    MakeAddressesPlain();
    MapWanted();
    Complete();
    dump_.backing = std::move(file_.owner);
    if (memory_.owner != nullptr) {
      dump_.backing = std::make_shared<std::pair<std::shared_ptr<const void>, FileBytes>>(
          std::move(dump_.backing), std::move(memory_));
    }
    return std::move(dump_);
  }

 private:
  absl::Status CheckHeader() {
    const absl::Span<const uint8_t> bytes = file_.bytes;
    const auto refuse = [this](uint64_t offset, absl::string_view what, absl::string_view remedy) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s, offset %u: %s; %s", file_.name, offset, what, remedy));
    };
    if (!IsElf(bytes)) {
      return refuse(0, "no ELF magic (7f 45 4c 46)", "give a GPU core dump or name another format");
    }
    if (bytes.size() < sizeof(Elf64_Ehdr)) {
      return refuse(
          bytes.size(),
          absl::StrFormat("the file ends within the ELF header of %u bytes", sizeof(Elf64_Ehdr)),
          "it is cut off, fetch it again");
    }
    if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB) {
      return refuse(EI_CLASS, "not a 64-bit little-endian file",
                    "GPU cores are ELF64 little-endian");
    }
    ehdr_ = FromFile<Elf64_Ehdr>(ELF_T_EHDR, bytes.data());
    if (ehdr_.e_type != ET_CORE) {
      return refuse(offsetof(Elf64_Ehdr, e_type),
                    absl::StrFormat("ELF type %u is not ET_CORE (4)", ehdr_.e_type),
                    "this is a program or an object file, give a GPU core dump");
    }
    if (ehdr_.e_machine != kMachineIntelGpu && ehdr_.e_machine != EM_NONE) {
      dump_.AddProblem(
          offsetof(Elf64_Ehdr, e_machine),
          absl::StrFormat(
              "machine %u is not a known GPU (205: Intel, 0: named by the device note); "
              "read anyway",
              ehdr_.e_machine));
    }
    return absl::OkStatus();
  }

  uint64_t HeaderCount() {
    if (ehdr_.e_phnum != PN_XNUM) return ehdr_.e_phnum;
    const absl::Span<const uint8_t> section = Slice(file_.bytes, ehdr_.e_shoff, sizeof(Elf64_Shdr));
    if (ehdr_.e_shoff == 0 || section.size() < sizeof(Elf64_Shdr)) {
      dump_.AddProblem(offsetof(Elf64_Ehdr, e_shoff),
                       absl::StrFormat("section header 0, which has the number of segments, is not "
                                       "in the file (offset 0x%x); %u assumed",
                                       ehdr_.e_shoff, PN_XNUM));
      return PN_XNUM;
    }
    return FromFile<Elf64_Shdr>(ELF_T_SHDR, section.data()).sh_info;
  }

  void ReadProgramHeaders() {
    uint64_t count = HeaderCount();
    if (count == 0) {
      dump_.AddProblem(offsetof(Elf64_Ehdr, e_phnum), "no program headers: no memory, no notes");
      return;
    }
    const uint64_t stride = ehdr_.e_phentsize;
    if (stride < sizeof(Elf64_Phdr)) {
      dump_.AddProblem(offsetof(Elf64_Ehdr, e_phentsize),
                       absl::StrFormat("program headers of %u bytes instead of %u; none was read",
                                       stride, sizeof(Elf64_Phdr)));
      return;
    }
    const uint64_t size = file_.bytes.size();
    const uint64_t room = ehdr_.e_phoff < size ? size - ehdr_.e_phoff : 0;
    const uint64_t whole = room < sizeof(Elf64_Phdr) ? 0 : (room - sizeof(Elf64_Phdr)) / stride + 1;
    if (count > whole) {
      dump_.AddProblem(ehdr_.e_phoff,
                       absl::StrFormat("the ELF header states %u program headers, the file has "
                                       "room for %u; the rest is missing",
                                       count, whole));
      count = whole;
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = ehdr_.e_phoff + i * stride;
      const Elf64_Phdr header = FromFile<Elf64_Phdr>(ELF_T_PHDR, file_.bytes.data() + at);
      if (header.p_type == PT_LOAD) AddLoad(static_cast<uint32_t>(i), at, header);
      if (header.p_type == PT_NOTE) ReadNotes(at, header);
      // Their run may be named by a note that comes later.
      if (header.p_type == kPagedSegment) paged_.push_back(static_cast<uint32_t>(i));
    }
  }

  // Opens the memory file, or says why its pages are missing.
  void OpenMemory() {
    constexpr absl::string_view kMissing = "its pages are unmapped";
    const uint64_t at = HeaderOffset(paged_.front());
    if (folder_.empty()) {
      dump_.AddProblem(
          at,
          absl::StrFormat("the memory is in the file \"%s\" of the folder of this core: give the "
                          "core by its name there, not through a pipe; %s",
                          kMemoryFile, kMissing));
      return;
    }
    absl::StatusOr<FileBytes> memory = OpenMemoryFile(folder_);
    if (!memory.ok()) {
      dump_.AddProblem(at, absl::StrFormat("%s; %s", memory.status().message(), kMissing));
      return;
    }
    const absl::string_view run = RunOfMemoryFile(TextOf(memory->bytes));
    if (run_.empty() || run != run_) {
      dump_.AddProblem(
          at, absl::StrFormat("%s is of run \"%s\", this core of run \"%s\": put it back into its "
                              "own folder; %s",
                              memory->name, ValidUtf8(run), run_, kMissing));
      return;
    }
    memory_ = *std::move(memory);
  }

  void ReadPaged() {
    if (paged_.empty()) return;
    OpenMemory();
    paged_left_ = std::max(kLeastPagedBytes, memory_.bytes.size() * kMostRepeats);
    for (const uint32_t number : paged_) {
      const uint64_t at = HeaderOffset(number);
      AddPaged(number, at, FromFile<Elf64_Phdr>(ELF_T_PHDR, file_.bytes.data() + at));
    }
  }

  void AddPaged(uint32_t number, uint64_t at, const Elf64_Phdr& header) {
    const auto report = [&](absl::string_view what) {
      dump_.AddProblem(at, absl::StrFormat("segment at 0x%x: %s", header.p_vaddr, what));
    };
    uint64_t size = header.p_memsz;
    if (header.p_paddr > std::numeric_limits<uint32_t>::max()) {
      return report(absl::StrFormat(
          "the number of an address space must have 32 bits, not 0x%x; left out", header.p_paddr));
    }
    if (size == 0) return;
    const bool wraps = size - 1 > kMaxAddress - header.p_vaddr;
    if (wraps) {
      report(absl::StrFormat("0x%x bytes go past 2^64; cut there", size));
      size = kMaxAddress - header.p_vaddr + 1;
    }
    const absl::Span<const uint8_t> list = Slice(file_.bytes, header.p_offset, header.p_filesz);
    // Many headers may name the same list: reading more than the file has is repetition.
    if (list.size() > file_.bytes.size() - list_bytes_) {
      return report("its list of pages overlaps others; left out");
    }
    list_bytes_ += list.size();

    // Pages that are contiguous in the memory file, and the zeros after them, are one piece.
    Wanted piece{static_cast<uint32_t>(header.p_paddr), number, header.p_vaddr, 0, {}, wraps};
    const auto end_piece = [&] {
      if (piece.size != 0) wanted_.push_back(piece);
      piece.address += piece.size;
      piece.size = 0;
      piece.bytes = {};
    };
    uint64_t done = 0, missing = 0;
    for (size_t i = 0; i + kPageRunSize <= list.size() && done < size; i += kPageRunSize) {
      const PageRun run{LittleEndian32(list.data() + i), LittleEndian32(list.data() + i + 4)};
      const uint64_t here = std::min(uint64_t{run.count} * kMemoryPage, size - done);
      if (here == 0) continue;
      done += here;
      if (run.first == 0) {
        piece.size += here;
        continue;
      }
      absl::Span<const uint8_t> bytes =
          Slice(memory_.bytes, uint64_t{run.first} * kMemoryPage, std::min(here, paged_left_));
      paged_left_ -= bytes.size();
      const bool contiguous = !piece.bytes.empty() && piece.size == piece.bytes.size() &&
                              piece.bytes.data() + piece.bytes.size() == bytes.data();
      if (contiguous) {
        piece.bytes = absl::MakeConstSpan(piece.bytes.data(), piece.bytes.size() + bytes.size());
      } else {
        end_piece();
        piece.bytes = bytes;
      }
      piece.size += bytes.size();
      if (bytes.size() == here) continue;
      missing += here - bytes.size();
      end_piece();
      piece.address += here - bytes.size();
    }
    end_piece();
    // That there is no memory file at all has been reported.
    if (missing != 0 && !memory_.bytes.empty()) {
      report(absl::StrFormat("0x%x bytes are not in the memory file; unmapped", missing));
    }
    if (done < size) {
      report(absl::StrFormat("the list of pages has 0x%x of 0x%x bytes; the rest is unmapped", done,
                             size));
    }
  }

  void AddLoad(uint32_t number, uint64_t at, const Elf64_Phdr& header) {
    uint64_t size = header.p_memsz;
    uint64_t stored = header.p_filesz;
    if (header.p_paddr > std::numeric_limits<uint32_t>::max()) {
      dump_.AddProblem(at, absl::StrFormat("segment at 0x%x: the number of an address space must "
                                           "have 32 bits, not 0x%x; left out",
                                           header.p_vaddr, header.p_paddr));
      return;
    }
    if (stored > size) {
      dump_.AddProblem(at, absl::StrFormat("segment at 0x%x: 0x%x bytes in the file for 0x%x of "
                                           "memory; the surplus was left out",
                                           header.p_vaddr, stored, size));
      stored = size;
    }
    if (size == 0) return;
    const bool wraps = size - 1 > kMaxAddress - header.p_vaddr;
    if (wraps) {
      dump_.AddProblem(at, absl::StrFormat("segment at 0x%x: 0x%x bytes go past 2^64; cut there",
                                           header.p_vaddr, size));
      size = kMaxAddress - header.p_vaddr + 1;  // cannot be 0: p_vaddr is not 0 here
      stored = std::min(stored, size);
    }
    const uint32_t space = static_cast<uint32_t>(header.p_paddr);
    const absl::Span<const uint8_t> bytes = Slice(file_.bytes, header.p_offset, stored);
    if (bytes.size() == stored) {
      wanted_.push_back({space, number, header.p_vaddr, size, bytes, wraps});
      return;
    }
    // What the file does not have is unknown and stays unmapped, but the zeros after it are known.
    dump_.AddProblem(
        at,
        absl::StrFormat("segment at 0x%x: 0x%x bytes at file offset 0x%x, of which the file has "
                        "0x%x; the rest is unmapped",
                        header.p_vaddr, stored, header.p_offset, bytes.size()));
    if (!bytes.empty()) {
      wanted_.push_back({space, number, header.p_vaddr, bytes.size(), bytes, wraps});
    }
    if (stored < size) {
      wanted_.push_back({space, number, header.p_vaddr + stored, size - stored, {}, wraps});
    }
  }

  void ReadNotes(uint64_t at, const Elf64_Phdr& header) {
    absl::Span<const uint8_t> notes = Slice(file_.bytes, header.p_offset, header.p_filesz);
    if (notes.size() < header.p_filesz) {
      dump_.AddProblem(at, absl::StrFormat("notes of 0x%x bytes at file offset 0x%x, of which the "
                                           "file has 0x%x; read that far",
                                           header.p_filesz, header.p_offset, notes.size()));
    }
    // Many headers may name the same large notes: reading more than the file has is repetition.
    if (notes.size() > file_.bytes.size() - note_bytes_) {
      dump_.AddProblem(at, "these notes overlap others; left out");
      return;
    }
    note_bytes_ += notes.size();
    const uint64_t alignment = header.p_align == 8 ? 8 : 4;
    const auto aligned = [alignment](uint64_t n) { return (n + alignment - 1) & ~(alignment - 1); };
    uint64_t pos = 0;
    while (notes.size() - pos >= sizeof(Elf64_Nhdr)) {
      const uint64_t offset = header.p_offset + pos;
      const Elf64_Nhdr note = FromFile<Elf64_Nhdr>(ELF_T_WORD, notes.data() + pos);
      const uint64_t desc_pos = pos + aligned(sizeof(Elf64_Nhdr) + uint64_t{note.n_namesz});
      const absl::Span<const uint8_t> name = Slice(notes, pos + sizeof(Elf64_Nhdr), note.n_namesz);
      const absl::Span<const uint8_t> desc = Slice(notes, desc_pos, note.n_descsz);
      const bool cut = name.size() < note.n_namesz || desc.size() < note.n_descsz;
      if (cut) {
        dump_.AddProblem(offset, absl::StrFormat("a note with a name of %u and a text of %u bytes "
                                                 "does not fit in its segment; cut there",
                                                 note.n_namesz, note.n_descsz));
      }
      if (IsOurs(name)) {
        saw_note_ = true;
        if (note.n_type == kRunNote) {
          run_ = ReadRunNote(TextOf(desc), header.p_offset + desc_pos, dump_);
        } else {
          ReadNote(note.n_type, TextOf(desc), header.p_offset + desc_pos, dump_);
        }
      }
      pos = desc_pos + aligned(note.n_descsz);
      if (cut || pos > notes.size()) return;
    }
  }

  static bool IsOurs(absl::Span<const uint8_t> name) {
    constexpr size_t kSize = sizeof(kOwner) - 1;
    return name.size() >= kSize && name.size() <= kSize + 1 &&
           std::memcmp(name.data(), kOwner, kSize) == 0 &&
           (name.size() == kSize || name[kSize] == 0);
  }

  static absl::string_view TextOf(absl::Span<const uint8_t> desc) {
    absl::string_view text(reinterpret_cast<const char*>(desc.data()), desc.size());
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
  }

  // Brings Intel's addresses into one form: packets and registers may have them in another.
  void MakeAddressesPlain() {
    if (addresses_ == CoreAddresses::kAsWritten) return;
    if (ehdr_.e_machine != kMachineIntelGpu && dump_.device.family != "intel") return;
    for (Wanted& wanted : wanted_) {
      if (!wanted.wraps) wanted.address = PlainAddress(wanted.address);
    }
    for (Buffer& buffer : dump_.buffers) buffer.address = PlainAddress(buffer.address);
    for (Submission& submission : dump_.submissions) {
      submission.batch_address = PlainAddress(submission.batch_address);
      if (submission.acthd) submission.acthd = PlainAddress(*submission.acthd);
      if (submission.ring) submission.ring->address = PlainAddress(submission.ring->address);
      for (Submission::Base& base : submission.bases) base.address = PlainAddress(base.address);
    }
  }

  void MapWanted() {
    std::sort(wanted_.begin(), wanted_.end(), [](const Wanted& a, const Wanted& b) {
      return std::tie(a.space, a.address, a.header) < std::tie(b.space, b.address, b.header);
    });
    for (size_t begin = 0; begin < wanted_.size();) {
      uint64_t last = wanted_[begin].last();
      size_t end = begin + 1;
      while (end < wanted_.size() && wanted_[end].space == wanted_[begin].space &&
             wanted_[end].address <= last) {
        last = std::max(last, wanted_[end].last());
        ++end;
      }
      if (end - begin == 1) {
        MapPart(wanted_[begin], wanted_[begin].address, wanted_[begin].last());
      } else {
        MapOverlapping(absl::MakeConstSpan(wanted_).subspan(begin, end - begin));
      }
      begin = end;
    }
    std::vector<Wanted>().swap(wanted_);
  }

  void MapPart(const Wanted& wanted, uint64_t first, uint64_t last) {
    const uint64_t size = last - first + 1;
    const absl::Status status = dump_.memory.Map(
        wanted.space, first, Slice(wanted.bytes, first - wanted.address, size), size);
    if (!status.ok()) dump_.AddProblem(HeaderOffset(wanted.header), std::string(status.message()));
  }

  uint64_t HeaderOffset(uint32_t number) const {
    return ehdr_.e_phoff + uint64_t{number} * ehdr_.e_phentsize;
  }

  // Sweeps over stretches that overlap, sorted by address. At each place the lowest header number
  // wins; every step uses up the start or the end of a stretch, so there are at most twice as many.
  void MapOverlapping(absl::Span<const Wanted> group) {
    const auto later = [group](size_t a, size_t b) { return group[a].header > group[b].header; };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> active(later);
    std::vector<uint64_t> mapped(group.size(), 0);
    size_t next = 0;
    uint64_t at = group[0].address;
    size_t piece = group.size();  // the stretch being mapped, and from where
    uint64_t piece_first = 0;
    while (true) {
      while (next < group.size() && group[next].address <= at) active.push(next++);
      while (!active.empty() && group[active.top()].last() < at) active.pop();
      if (active.empty()) break;  // a group has no gaps
      const size_t winner = active.top();
      uint64_t last = group[winner].last();
      if (next < group.size()) last = std::min(last, group[next].address - 1);
      if (winner != piece) {
        if (piece != group.size()) MapPart(group[piece], piece_first, at - 1);
        piece = winner;
        piece_first = at;
      }
      mapped[winner] += last - at + 1;
      if (last == kMaxAddress) {
        at = last;
        MapPart(group[piece], piece_first, last);
        piece = group.size();
        break;
      }
      at = last + 1;
    }
    if (piece != group.size()) MapPart(group[piece], piece_first, at - 1);
    for (size_t i = 0; i < group.size(); ++i) {
      if (mapped[i] == group[i].size) continue;
      dump_.AddProblem(
          HeaderOffset(group[i].header),
          absl::StrFormat("space %u: the segment 0x%x..0x%x overlaps an earlier one of "
                          "the file, which is kept; 0x%x bytes were left out",
                          group[i].space, group[i].address, group[i].last(),
                          group[i].size - mapped[i]));
    }
  }

  void Complete() {
    Device& device = dump_.device;
    if (!saw_note_) {
      dump_.AddProblem(0, "no packsmith notes: the submissions are unknown");
    }
    if (device.family.empty() && ehdr_.e_machine == kMachineIntelGpu) device.family = "intel";
    if (device.generation.empty() && device.family == "intel") {
      device.generation = IntelGenerationName(device.verx10);
    }
    dump_.SortBuffers();
    // Memory that is missing may be in the damaged part.
    dump_.memory_is_complete = dump_.memory_is_complete && dump_.problems.empty();
  }

  FileBytes file_;
  const CoreAddresses addresses_;
  Dump dump_;
  Elf64_Ehdr ehdr_ = {};
  std::vector<Wanted> wanted_;
  uint64_t note_bytes_ = 0;
  bool saw_note_ = false;
  const std::string folder_;     // of the memory file
  std::string run_;              // that it must be of
  std::vector<uint32_t> paged_;  // the numbers of the paged segments' headers
  FileBytes memory_;             // the memory file
  uint64_t paged_left_ = 0;      // bytes of it that may still be mapped
  uint64_t list_bytes_ = 0;
};

// The size without the zeros at the end.
size_t SizeWithoutZeros(absl::Span<const uint8_t> bytes) {
  static constexpr uint8_t kZeros[4096] = {};
  size_t size = bytes.size();
  while (size >= sizeof(kZeros) &&
         std::memcmp(bytes.data() + size - sizeof(kZeros), kZeros, sizeof(kZeros)) == 0) {
    size -= sizeof(kZeros);
  }
  while (size > 0 && bytes[size - 1] == 0) --size;
  return size;
}

absl::Status AppendNote(uint32_t type, absl::string_view text, std::vector<uint8_t>& out) {
  if (text.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(
        "a note of a core would exceed 4 GiB; give the buffers shorter names");
  }
  Elf64_Nhdr note = {};
  note.n_namesz = sizeof(kOwner);
  note.n_descsz = static_cast<uint32_t>(text.size());
  note.n_type = type;
  ToFile(ELF_T_WORD, note, out);
  const auto append = [&out](const char* data, size_t size) {
    out.insert(out.end(), data, data + size);
    out.resize((out.size() + 3) & ~size_t{3});
  };
  append(kOwner, sizeof(kOwner));
  append(text.data(), text.size());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> NotesOf(const Dump& dump) {
  std::vector<uint8_t> notes;
  for (const CoreNote& note : CoreNotes(dump)) {
    absl::Status status = AppendNote(note.type, note.json, notes);
    if (!status.ok()) return status;
  }
  return notes;
}

// A core up to the program headers of its segments, which the caller appends to `headers`. The
// notes follow them, then, from the offset `content` on, the segments' content.
struct Beginning {
  std::vector<uint8_t> headers;
  uint64_t content = 0;
};

absl::StatusOr<Beginning> Begin(const Device& device, size_t segments,
                                absl::Span<const uint8_t> notes) {
  const uint64_t count = uint64_t{segments} + 1;
  if (count > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%u segments are more than an ELF file can count (2^32 - 1); join some", count));
  }
  const bool many = count >= PN_XNUM;

  Elf64_Ehdr ehdr = {};
  std::memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
  ehdr.e_ident[EI_CLASS] = ELFCLASS64;
  ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
  ehdr.e_ident[EI_VERSION] = EV_CURRENT;
  ehdr.e_type = ET_CORE;
  ehdr.e_machine = CoreMachine(device);
  ehdr.e_version = EV_CURRENT;
  ehdr.e_ehsize = sizeof(Elf64_Ehdr);
  ehdr.e_phentsize = sizeof(Elf64_Phdr);
  ehdr.e_phoff = sizeof(Elf64_Ehdr);
  ehdr.e_phnum = many ? PN_XNUM : static_cast<uint16_t>(count);
  if (many) {
    ehdr.e_shoff = sizeof(Elf64_Ehdr);
    ehdr.e_shentsize = sizeof(Elf64_Shdr);
    ehdr.e_shnum = 1;
    ehdr.e_phoff += sizeof(Elf64_Shdr);
  }

  Beginning beginning;
  std::vector<uint8_t>& headers = beginning.headers;
  headers.reserve(ehdr.e_phoff + count * sizeof(Elf64_Phdr));
  ToFile(ELF_T_EHDR, ehdr, headers);
  if (many) {
    Elf64_Shdr section = {};
    section.sh_info = static_cast<uint32_t>(count);
    ToFile(ELF_T_SHDR, section, headers);
  }
  Elf64_Phdr note = {};
  note.p_type = PT_NOTE;
  note.p_flags = PF_R;
  note.p_offset = ehdr.e_phoff + count * sizeof(Elf64_Phdr);
  note.p_filesz = note.p_memsz = notes.size();
  note.p_align = 4;
  ToFile(ELF_T_PHDR, note, headers);
  beginning.content = note.p_offset + notes.size();
  return beginning;
}

uint64_t AlignedUp(uint64_t offset) {
  return (offset + kSegmentAlignment - 1) & ~(kSegmentAlignment - 1);
}

}  // namespace

bool IsElf(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

absl::StatusOr<Dump> ReadElfCore(FileBytes file, CoreAddresses addresses,
                                 absl::string_view folder) {
  return CoreReader(std::move(file), addresses, folder).Read();
}

std::vector<CoreNote> CoreNotes(const Dump& dump) {
  std::vector<CoreNote> notes = {{kDeviceNote, DeviceToJson(dump.device)}};
  for (const Submission& submission : dump.submissions) {
    notes.push_back({kSubmissionNote, SubmissionToJson(submission)});
  }
  if (dump.memory_is_complete || dump.physical_space) {
    notes.push_back({kMemoryNote, MemoryToJson(dump)});
  }
  const absl::Span<const Buffer> buffers = dump.buffers;
  for (size_t i = 0; i < buffers.size(); i += kBuffersInANote) {
    notes.push_back({kBuffersNote, BuffersToJson(buffers.subspan(i, kBuffersInANote))});
  }
  return notes;
}

uint16_t CoreMachine(const Device& device) {
  return device.family == "intel" ? kMachineIntelGpu : EM_NONE;
}

absl::Status WriteElfCore(const Dump& dump, const std::string& path) {
  const absl::StatusOr<std::vector<uint8_t>> notes = NotesOf(dump);
  if (!notes.ok()) return notes.status();
  absl::StatusOr<Beginning> beginning = Begin(dump.device, dump.memory.segments().size(), *notes);
  if (!beginning.ok()) return beginning.status();
  std::vector<uint8_t>& headers = beginning->headers;
  uint64_t offset = beginning->content;

  std::vector<size_t> stored;  // so that long zeros are read only once
  stored.reserve(dump.memory.segments().size());
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    stored.push_back(SizeWithoutZeros(segment.bytes));
    Elf64_Phdr load = {};
    load.p_type = PT_LOAD;
    load.p_flags = PF_R | PF_W;
    if (stored.back() != 0) offset = AlignedUp(offset);
    load.p_offset = offset;
    load.p_vaddr = segment.address;
    load.p_paddr = segment.space;
    load.p_filesz = stored.back();
    load.p_memsz = segment.memory_size;
    load.p_align = segment.address % 4 == 0 && offset % 4 == 0 ? 4 : 1;
    ToFile(ELF_T_PHDR, load, headers);
    offset += stored.back();
  }

  absl::StatusOr<FileWriter> writer = FileWriter::Create(path);
  if (!writer.ok()) return writer.status();
  absl::Status status = writer->Append(headers);
  if (status.ok()) status = writer->Append(*notes);
  size_t i = 0;
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    const size_t size = stored[i++];
    if (size == 0 || !status.ok()) continue;
    static constexpr uint8_t kPadding[kSegmentAlignment] = {};
    status =
        writer->Append(absl::MakeConstSpan(kPadding, AlignedUp(writer->size()) - writer->size()));
    if (status.ok()) {
      status = writer->Append(dump.memory.Resolve(segment).bytes.subspan(0, size));
    }
  }
  if (!status.ok()) return status;
  return writer->Commit();
}

absl::StatusOr<std::vector<uint8_t>> MakePagedCore(const Dump& about, absl::string_view run,
                                                   absl::Span<const PagedSegment> segments) {
  absl::StatusOr<std::vector<uint8_t>> notes = NotesOf(about);
  if (!notes.ok()) return notes.status();
  if (absl::Status status = AppendNote(kRunNote, RunToJson(run), *notes); !status.ok()) {
    return status;
  }
  absl::StatusOr<Beginning> beginning = Begin(about.device, segments.size(), *notes);
  if (!beginning.ok()) return beginning.status();
  std::vector<uint8_t> core = std::move(beginning->headers);
  uint64_t offset = beginning->content;
  for (const PagedSegment& segment : segments) {
    Elf64_Phdr header = {};
    header.p_type = kPagedSegment;
    header.p_flags = PF_R | PF_W;
    header.p_offset = offset;
    header.p_vaddr = segment.address;
    header.p_paddr = segment.space;
    header.p_filesz = segment.runs.size() * kPageRunSize;
    header.p_memsz = segment.memory_size;
    header.p_align = 4;
    ToFile(ELF_T_PHDR, header, core);
    offset += header.p_filesz;
  }
  core.reserve(offset);
  core.insert(core.end(), notes->begin(), notes->end());
  for (const PagedSegment& segment : segments) {
    for (const PageRun& run_of_pages : segment.runs) {
      for (const uint32_t number : {run_of_pages.count, run_of_pages.first}) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
          core.push_back(static_cast<uint8_t>(number >> shift));
        }
      }
    }
  }
  return core;
}

}  // namespace packsmith
