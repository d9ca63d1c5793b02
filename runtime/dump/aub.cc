#include "runtime/dump/aub.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "runtime/dump/aub_format.h"
#include "runtime/dump/little_endian.h"

namespace packsmith {
namespace {

using namespace aub_format;  // NOLINT(google-build-using-namespace): its only users

constexpr size_t kWord = 4;

const OperationName* FindOperation(uint32_t operation) {
  const auto* const found =
      std::find_if(std::begin(kOperations), std::end(kOperations),
                   [&](const OperationName& one) { return one.operation == operation; });
  return found == std::end(kOperations) ? nullptr : found;
}

bool IsClassicOperation(uint32_t operation) {
  return operation == kHeader || operation == kContextCreate || operation == kBinaryDump ||
         operation == kBmp || operation == kBlock;
}

absl::string_view TextOf(absl::Span<const uint8_t> bytes) {
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace

// --- Reading ---

AubPackets::Header AubPackets::HeaderAt(uint64_t offset) const {
  if (offset >= bytes_.size() || bytes_.size() - offset < kWord) return {};
  const uint32_t word = ReadU32(bytes_, offset);
  if (TypeOf(word) != kType) return {};
  Header header;
  header.operation = OperationOf(word);
  header.classic = FamilyOf(word) == kClassic;
  if (!header.classic && FamilyOf(word) != kMemoryTrace) return {};
  header.size =
      (LengthOf(word) + uint64_t{header.classic ? kClassicBias : kMemoryTraceBias}) * kWord;
  if (header.classic && header.operation == kBlock && header.size >= kBlockWords * kWord &&
      bytes_.size() - offset >= kBlockWords * kWord) {
    const uint64_t data = ReadU32(bytes_, offset + kBlockSize * kWord);
    header.size += (data + kWord - 1) / kWord * kWord;
  }
  return header;
}

uint32_t AubPackets::Word(size_t index) const {
  return (index + 1) * kWord <= packet_.size() ? ReadU32(packet_, index * kWord) : 0;
}

void AubPackets::Report(uint64_t offset, std::string text) {
  if (dump_ != nullptr) dump_->AddProblem(offset, std::move(text));
}

void AubPackets::ReportKind(const Header& header, absl::string_view name) {
  if (dump_ == nullptr || !reported_.insert({header.classic, header.operation}).second) return;
  Report(offset_,
         absl::StrFormat("%s packet 0x%02x%s cannot be used; skipped, as are others of its "
                         "kind",
                         header.classic ? "classic" : "memory trace", header.operation,
                         name.empty() ? "" : absl::StrCat(" (", name, ")")));
}

// Moves to the next packet. False: there is none.
bool AubPackets::Begin() {
  Header header = HeaderAt(next_);
  if (header.size == 0 && next_ < bytes_.size()) {
    // The next packet that can be told from other bytes: of a known operation, with another one
    // after it, or the end.
    const uint64_t lost = next_;
    for (next_ += kWord; next_ < bytes_.size(); next_ += kWord) {
      header = HeaderAt(next_);
      if (header.size == 0 || header.size > bytes_.size() - next_) continue;
      const bool known = header.classic ? IsClassicOperation(header.operation)
                                        : FindOperation(header.operation) != nullptr;
      const uint64_t after = next_ + header.size;
      if (known && (after == bytes_.size() || HeaderAt(after).size != 0)) break;
    }
    next_ = std::min<uint64_t>(next_, bytes_.size());
    Report(lost, absl::StrFormat("no packet begins here; 0x%x bytes were skipped", next_ - lost));
    if (next_ == bytes_.size()) return false;
  }
  if (next_ >= bytes_.size()) return false;
  offset_ = next_;
  packet_ = bytes_.subspan(offset_);
  if (header.size > packet_.size()) {
    Report(offset_, absl::StrFormat("a packet of 0x%x bytes, of which the file has 0x%x",
                                    header.size, packet_.size()));
  }
  packet_ = packet_.subspan(0, header.size);
  next_ = offset_ + packet_.size();
  return true;
}

std::optional<AubPacket> AubPackets::Next() {
  if (second_) return *std::exchange(second_, std::nullopt);
  AubPacket packet;
  while (true) {
    if (part_ < parts_) {
      if (ReadPart(packet)) return packet;
      continue;
    }
    if (!Begin()) return std::nullopt;
    packet = AubPacket();
    packet.offset = offset_;
    const Header header = HeaderAt(offset_);
    if (header.classic ? ReadClassic(header, packet) : Read(header, packet)) return packet;
  }
}

bool AubPackets::Read(const Header& header, AubPacket& packet) {
  const OperationName* const known = FindOperation(header.operation);
  switch (header.operation) {
    case kVersionExt:
      ReadVersion();
      return false;
    case kRegisterWrite:
      if (SpaceOf(Word(2)) != kSpaceMmio) {
        return false;  // of other units than the GPU's engines
      }
      if (packet_.size() < (kRegisterData + 1) * kWord) {
        Report(offset_, "a register write without a value; left out");
        return false;
      }
      packet.kind = AubPacket::Kind::kRegisterWrite;
      packet.address = Word(1);
      packet.value = Word(kRegisterData);
      if (SizeOf(Word(2)) == SizeOf(kSizeQword) && packet_.size() >= (kRegisterData + 2) * kWord) {
        second_ = packet;
        second_->address += kWord;
        second_->value = Word(kRegisterData + 1);
      }
      return true;
    case kMemoryWrite:
      return ReadMemoryWrite(packet);
    case kDiscontiguous:
      if (!CheckWrite(Word(1))) return false;
      parts_ = PairsOf(Word(1));
      if (parts_ > kMostPairs) {
        Report(offset_, absl::StrFormat("a packet with %u writes, which has room for %u; the rest "
                                        "was left out",
                                        parts_, kMostPairs));
        parts_ = kMostPairs;
      }
      part_ = 0;
      part_data_ = kPairsData * kWord;
      return false;
    case kComment:
      packet.kind = AubPacket::Kind::kComment;
      packet.data = packet_.subspan(std::min<size_t>(2 * kWord, packet_.size()));
      return true;
    default:
      if (known == nullptr || !known->without_effect) ReportKind(header, "");
      return false;
  }
}

// Data of the packet from its byte `begin` on, or as much as it has.
absl::Span<const uint8_t> AubPackets::Data(uint64_t begin, uint64_t size) {
  absl::Span<const uint8_t> data = packet_.subspan(std::min<uint64_t>(begin, packet_.size()));
  if (size > data.size()) {
    Report(offset_, absl::StrFormat("a write of 0x%x bytes, of which its packet has 0x%x; the rest "
                                    "was left out",
                                    size, data.size()));
  }
  return data.subspan(0, size);
}

bool AubPackets::CheckWrite(uint32_t flags) {
  const bool repeated = (flags & kRepeat) != 0;
  if (!repeated && TilingOf(flags) == 0) return true;
  Report(offset_, absl::StrFormat("a memory write with %s data cannot be used; left out",
                                  repeated ? "repeated" : "tiled"));
  return false;
}

bool AubPackets::ReadMemoryWrite(AubPacket& packet) {
  const uint32_t flags = Word(kWriteFlags);
  if (packet_.size() < kWriteData * kWord) {
    Report(offset_, "a memory write without a size; left out");
    return false;
  }
  if (!CheckWrite(flags)) return false;
  packet.kind = AubPacket::Kind::kMemoryWrite;
  const uint32_t space = SpaceOf(flags);
  if (space < std::size(kSpaces)) packet.space = kSpaces[space];
  packet.address = Word(1) | uint64_t{Word(2)} << 32;
  packet.data = Data(kWriteData * kWord, Word(kWriteSize));
  const uint32_t hint = HintOf(flags);
  if (hint >= kFirstTableHint && hint <= kLastTableHint) {
    packet.table_level = hint - kFirstTableHint + 1;
  }
  packet.is_page_table = IsTableSpace(space) || packet.table_level != 0;
  return !packet.data.empty();
}

// The next write of a packet with several: the data of all is back to back.
bool AubPackets::ReadPart(AubPacket& packet) {
  const size_t at = kPairs + kPairWords * part_++;
  const uint32_t space = SpaceOf(Word(1));
  packet = AubPacket();
  packet.offset = offset_;
  packet.kind = AubPacket::Kind::kMemoryWrite;
  if (space < std::size(kSpaces)) packet.space = kSpaces[space];
  packet.is_page_table = IsTableSpace(space);
  packet.address = Word(at) | uint64_t{Word(at + 1)} << 32;
  const uint64_t size = Word(at + 2);
  if (size == 0) return false;
  packet.data = Data(part_data_, size);
  part_data_ += size;
  return !packet.data.empty();
}

bool AubPackets::ReadClassic(const Header& header, AubPacket& packet) {
  if (header.operation == kHeader) {
    const uint64_t size = Word(kHeaderCommentSize);
    const uint64_t begin = std::min<uint64_t>(kHeaderComment * kWord, packet_.size());
    ReadPciId(TextOf(packet_.subspan(begin, size)));
    return false;
  }
  if (header.operation != kBlock) {
    if (!IsClassicOperation(header.operation)) ReportKind(header, "");
    return false;
  }
  if (packet_.size() < kBlockWords * kWord) {
    Report(offset_, "a block without a size; left out");
    return false;
  }
  const uint64_t words = uint64_t{LengthOf(Word(0))} + kClassicBias;
  const uint32_t what = Word(1) & 0xff, type = Word(1) >> 8 & 0xff, space = Word(1) >> 16 & 0xff;
  packet.address = Word(kBlockAddress);
  if (words > kBlockAddressHigh) packet.address |= uint64_t{Word(kBlockAddressHigh)} << 32;
  if (what != kDataWrite && what != kCommandWrite) return false;  // a comment, or a register
  packet.data = Data(words * kWord, Word(kBlockSize));
  if (packet.data.empty()) return false;
  if (what == kCommandWrite) {
    for (const RingType& ring : kRings) {
      if (ring.type == type) packet.engine = ring.engine;
    }
    if (packet.engine.empty()) return false;  // batches, which a ring starts
    packet.kind = AubPacket::Kind::kRingWrite;
    return true;
  }
  packet.kind = AubPacket::Kind::kMemoryWrite;
  packet.space = space == kClassicGlobal     ? AubSpace::kGlobal
                 : space == kClassicLocal    ? AubSpace::kDevice
                 : space == kClassicNonlocal ? AubSpace::kSystem
                 : space == kClassicEntry    ? AubSpace::kGlobalEntry
                                             : AubSpace::kOther;
  return true;
}

void AubPackets::ReadPciId(absl::string_view text) {
  constexpr absl::string_view kKey = "PCI-ID=";
  const size_t at = text.find(kKey);
  if (at == absl::string_view::npos) return;
  text.remove_prefix(at + kKey.size());
  const absl::string_view number = text.substr(0, text.find_first_of(" ,;\n"));
  absl::string_view digits = number;
  uint32_t id = 0;
  const bool hexadecimal = absl::ConsumePrefix(&digits, "0x");
  if (hexadecimal ? absl::SimpleHexAtoi(digits, &id) : absl::SimpleAtoi(digits, &id)) {
    device_.pci_id = id;
  }
}

void AubPackets::ReadVersion() {
  const uint32_t number = DeviceOf(Word(kVersionDevice));
  for (const DeviceNumber& device : kDevices) {
    if (device.number != number) continue;
    device_.platform = std::string(device.platform);
    device_.kernel_verx10 = device.verx10;
  }
  ReadPciId(TextOf(packet_.subspan(std::min<uint64_t>(kVersionText * kWord, packet_.size()))));
}

bool IsAub(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < kWord) return false;
  const uint32_t word = ReadU32(bytes, 0);
  if (TypeOf(word) != kType) return false;
  // The packets that files begin with, and their least lengths.
  if (FamilyOf(word) == kMemoryTrace) {
    return OperationOf(word) == kVersionExt && LengthOf(word) + kMemoryTraceBias >= kVersionText;
  }
  return FamilyOf(word) == kClassic && OperationOf(word) == kHeader &&
         LengthOf(word) + kClassicBias >= kHeaderComment;
}

absl::StatusOr<Dump> ReadAub(FileBytes file, const RawOptions& options) {
  if (!IsAub(file.bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.name, ": no header of an AUB file; give one, or name another format"));
  }
  Dump dump;
  AubPackets packets(file.bytes, &dump);
  while (packets.Next()) {
  }
  dump.device = packets.device();
  dump.device.family = "intel";
  if (!options.generation.empty()) {
    Device given = DeviceOfGeneration(options.generation);
    given.pci_id = dump.device.pci_id;
    dump.device = std::move(given);
  }
  auto recording = std::make_shared<AubRecording>();
  recording->file = std::move(file);
  dump.recording = std::move(recording);
  return dump;
}

// --- Writing ---

namespace {

// The words of a text, padded with zeros.
void AppendText(absl::string_view text, std::vector<uint32_t>& words) {
  for (size_t at = 0; at < text.size(); at += kWord) {
    uint32_t word = 0;
    for (size_t i = 0; i < kWord && at + i < text.size(); ++i) {
      word |= uint32_t{static_cast<uint8_t>(text[at + i])} << (8 * i);
    }
    words.push_back(word);
  }
}

std::string Description(const Device& device, absl::string_view name) {
  return device.pci_id ? absl::StrFormat("PCI-ID=0x%04x %s", *device.pci_id, name)
                       : std::string(name);
}

}  // namespace

absl::Status AubWriter::Append(const std::vector<uint32_t>& words, absl::Span<const uint8_t> data) {
  std::vector<uint8_t> bytes;
  bytes.reserve(words.size() * kWord);
  for (const uint32_t word : words) AppendU32(word, bytes);
  absl::Status status = out_->Append(absl::MakeConstSpan(bytes));
  if (status.ok()) status = out_->Append(data);
  static constexpr uint8_t kZeros[kWord] = {};
  const size_t past = data.size() % kWord;
  if (status.ok() && past != 0) status = out_->Append(absl::MakeConstSpan(kZeros, kWord - past));
  return status;
}

absl::Status AubWriter::Version(const Device& device, absl::string_view name) {
  uint32_t number = 0;
  for (const DeviceNumber& one : kDevices) {
    const bool is = one.platform == device.platform;
    if (is || (number == 0 && one.verx10 == device.verx10)) number = one.number;
    if (is) break;
  }
  std::vector<uint32_t> words = {0, kFileVersion, number << 8 | kPhysical | kToolAubDump, 0, 0};
  AppendText(Description(device, name), words);
  words[0] =
      FirstWord(kMemoryTrace, kVersionExt, static_cast<uint32_t>(words.size()) - kMemoryTraceBias);
  return Append(words);
}

absl::Status AubWriter::ClassicHeader(const Device& device, absl::string_view name) {
  std::vector<uint32_t> words = {0, kHeaderVersion};
  AppendText("packsmith", words);
  words.resize(kHeaderCommentSize);
  std::vector<uint32_t> comment;
  const std::string text = Description(device, name);
  AppendText(text, comment);
  words.push_back(static_cast<uint32_t>(comment.size() * kWord));
  words.insert(words.end(), comment.begin(), comment.end());
  words[0] = FirstWord(kClassic, kHeader, static_cast<uint32_t>(words.size()) - kClassicBias);
  return Append(words);
}

absl::Status AubWriter::MemoryWrite(AubSpace space, uint64_t address,
                                    absl::Span<const uint8_t> data) {
  const uint32_t number = space == AubSpace::kGlobal        ? kGlobalNumber
                          : space == AubSpace::kGlobalEntry ? kEntryNumber
                          : space == AubSpace::kDevice      ? kDeviceNumber
                                                            : kSystemNumber;
  const auto words = static_cast<uint32_t>(kWriteData + (data.size() + kWord - 1) / kWord);
  return Append({FirstWord(kMemoryTrace, kMemoryWrite, words - kMemoryTraceBias),
                 static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), number << 28,
                 static_cast<uint32_t>(data.size())},
                data);
}

absl::Status AubWriter::RegisterWrite(uint32_t offset, uint32_t value) {
  return Append({FirstWord(kMemoryTrace, kRegisterWrite, 6 - kMemoryTraceBias), offset, kSizeDword,
                 0xffffffff, 0, value});
}

absl::Status AubWriter::RegisterPoll(uint32_t offset, uint32_t mask, uint32_t value) {
  return Append({FirstWord(kMemoryTrace, kRegisterPoll, 6 - kMemoryTraceBias), offset, kSizeDword,
                 mask, 0, value});
}

absl::Status AubWriter::ClassicWrite(AubSpace space, uint64_t address,
                                     absl::Span<const uint8_t> data) {
  const uint32_t number = space == AubSpace::kGlobalEntry ? kClassicEntry : kClassicGlobal;
  return Append({FirstWord(kClassic, kBlock, kBlockWords - kClassicBias), number << 16 | kDataWrite,
                 0, static_cast<uint32_t>(address), static_cast<uint32_t>(data.size())},
                data);
}

absl::Status AubWriter::ClassicRing(absl::string_view engine, absl::Span<const uint8_t> commands) {
  uint32_t type = kRings[0].type;
  for (const RingType& ring : kRings) {
    if (ring.engine == engine) type = ring.type;
  }
  return Append({FirstWord(kClassic, kBlock, kBlockWords - kClassicBias), type << 8 | kCommandWrite,
                 0, 0, static_cast<uint32_t>(commands.size())},
                commands);
}

}  // namespace packsmith
