#include "gen/model/syntax/parse.h"

#include <algorithm>
#include <pugixml.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gen/model/ast/reach.h"
#include "gen/model/names.h"
#include "gen/model/syntax/attributes.h"
#include "gen/model/syntax/container_parser.h"
#include "gen/model/syntax/text.h"

namespace packsmith::model {
namespace {

constexpr size_t kLargestFile = 16 << 20;
constexpr size_t kLongestLineage = 64;
constexpr size_t kMostFiles = 256;

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// Paths are relative to the file that names them, unless they begin at the root.
std::string PathBeside(const std::string& path, const std::string& named) {
  return !named.empty() && named[0] == '/' ? named : DirectoryOf(path) + named;
}

class Parser : public ContainerParser {
 public:
  Parser(const ReadFile& read_file, Parsed& parsed, Diagnostics& diagnostics, Model& model)
      : ContainerParser(parsed, diagnostics, model), read_file_(read_file) {}

  void ParseFile(const std::string& path, Location named_at, bool included = false) {
    if (std::find(lineage_.begin(), lineage_.end(), path) != lineage_.end() ||
        lineage_.size() >= kLongestLineage) {
      diagnostics_.Add(Code::kInheritanceCycle, named_at,
                       absl::StrCat("\"", path, "\" extends or includes itself: ",
                                    absl::StrJoin(lineage_, " → ")));
      return;
    }
    if (model_.files.size() >= kMostFiles) {
      diagnostics_.Add(Code::kTooLarge, named_at,
                       absl::StrCat("a description has at most ", kMostFiles, " files"));
      return;
    }
    absl::StatusOr<std::string> text = read_file_(path);
    if (!text.ok() || text->size() > kLargestFile) {
      diagnostics_.Add(
          Code::kCannotRead, named_at,
          absl::StrCat("cannot read \"", path, "\": ",
                       text.ok() ? "larger than 16 MiB" : std::string(text.status().message())));
      return;
    }
    lineage_.push_back(path);
    model_.inputs.push_back(path);
    const int32_t file = sources_.Add(path, *std::move(text));
    model_.files.push_back(file);
    const int32_t outer = std::exchange(file_, file);
    // An included file is part of the one that includes it: what both declare is declared twice.
    parsed_.layers.push_back(included ? parsed_.layers[static_cast<size_t>(outer)] : file);
    ParseDocument(included);
    file_ = outer;
    lineage_.pop_back();
  }

 private:
  void ParseDocument(bool included) {
    ForgetElement();  // it may have been of a document that is gone
    const SourceFile& source = sources_.file(file_);
    if (const size_t bad = FirstBadByte(source.text()); bad != source.text().size()) {
      Report(Code::kMalformedXml, {file_, static_cast<uint32_t>(bad)},
             "not well-formed XML: invalid UTF-8 or a forbidden character");
      return;
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(
        source.text().data(), source.text().size(),
        pugi::parse_default | pugi::parse_fragment | pugi::parse_doctype, pugi::encoding_utf8);
    if (!parsed) {
      Report(Code::kMalformedXml, {file_, static_cast<uint32_t>(parsed.offset)},
             absl::StrCat("not well-formed XML: ", parsed.description()));
      return;
    }
    const pugi::xml_node root = document.document_element();
    if (!root) {
      Report(Code::kMalformedXml, {file_, 0}, "not well-formed XML: no root element");
      return;
    }
    for (const pugi::xml_node beside : document.children()) {
      if (beside == root) continue;
      if (beside.type() == pugi::node_doctype) {
        Report(Code::kMalformedXml, At(beside),
               "a description must not have a document type; remove it");
      } else if (beside.type() == pugi::node_element) {
        Report(Code::kMalformedXml, At(beside), "not well-formed XML: a second root element");
      } else {
        Report(Code::kMalformedXml, At(root), "not well-formed XML: text outside the root element");
      }
    }
    if (absl::string_view(root.name()) != "packsmith") {
      Report(Code::kUnknownElement, root ? At(root) : Location{file_, 0},
             absl::StrCat("the root element must be <packsmith>, not <", root.name(), ">"));
      return;
    }
    if (included) {
      Allow(root, NoAttributes());
      for (const pugi::xml_node child : root.children()) ParseTopLevel(child, root);
      return;
    }
    Allow(root, RootAttributes());
    const std::string extends = ReadText(root, "extends");
    if (!extends.empty()) {
      Extend(PathBeside(sources_.file(file_).path(), extends), At(root, "extends"));
    }
    const bool heir = !extends.empty();
    // What names a generation and its products is its own and is not inherited.
    model_.platforms.clear();
    model_.doc.clear();
    model_.source.clear();
    SetIfGiven(model_.family, heir ? ReadText(root, "family") : Require(root, "family"));
    SetIfGiven(model_.generation, Require(root, "generation"));
    Read(root, RootAttributes(), model_);
    model_.version_x10 = ReadVersion(root);
    const std::string default_namespace = ReadText(root, "generation");
    model_.cpp_namespace = ReadText(root, "namespace");
    if (model_.cpp_namespace.empty()) model_.cpp_namespace = default_namespace;
    model_.c_prefix = ReadText(root, "prefix");
    if (model_.c_prefix.empty()) model_.c_prefix = absl::AsciiStrToUpper(default_namespace);
    CheckIdentifier(root, "namespace", model_.cpp_namespace);
    CheckIdentifier(root, "prefix", model_.c_prefix);
    if (!IsCppNamespace(model_.cpp_namespace)) {
      Report(Code::kNameCollision,
             At(root, FindAttribute(root, "namespace") ? "namespace" : "generation"),
             absl::StrCat("packsmith::", model_.cpp_namespace,
                          " cannot be a namespace: the name is taken; set namespace=\"…\""));
    }
    if (FindAttribute(root, "unit") || !heir) {
      model_.byte_unit = ReadWord(root, "unit", kUnitWords) == 1;
    }
    if (FindAttribute(root, "address-bits") || !heir) {
      model_.address_bits = ReadSmall(root, "address-bits", kUsualAddressBits, 64);
      if (model_.address_bits < 16) {
        Report(Code::kBadNumber, At(root, "address-bits"),
               absl::StrCat("address-bits=\"", model_.address_bits, "\" is less than 16"));
      }
    }
    for (const pugi::xml_node child : root.children()) ParseTopLevel(child, root);
    if (!heir) return;
    IndexOf(model_.containers).Compact(model_.containers);
    IndexOf(model_.enums).Compact(model_.enums);
    SortByName();
    indices_.clear();
  }

  // Only files derived from this one have been parsed into the model so far.
  void Extend(const std::string& path, Location named_at) {
    const auto known = parsed_.models.find(path);
    // Close to the limits the files are parsed again, for the problem to be found at its place.
    if (known == parsed_.models.end() ||
        lineage_.size() + known->second.files.size() > kLongestLineage) {
      ParseFile(path, named_at);
      return;
    }
    Model parent = known->second.CopyUnresolved();
    const auto after = [](auto& heirs, auto& own) {
      own.insert(own.begin(), heirs.begin(), heirs.end());
    };
    after(model_.inputs, parent.inputs);
    after(model_.files, parent.files);
    model_ = std::move(parent);
    indices_.clear();
  }

  // What a derived file adds has no natural place between what it inherited: the order of a
  // generation must not tell its history.
  void SortByName() {
    std::stable_sort(model_.enums.begin(), model_.enums.end(),
                     [](const Enum& a, const Enum& b) { return a.name < b.name; });
    const auto key = [](const Container& c) {
      const int rank = c.kind == ContainerKind::kStruct   ? 0
                       : c.kind == ContainerKind::kPacket ? 1
                                                          : 2;
      return std::make_tuple(rank, c.register_offset, absl::string_view(c.name));
    };
    std::stable_sort(model_.containers.begin(), model_.containers.end(),
                     [&](const Container& a, const Container& b) { return key(a) < key(b); });
  }

  // Ten times version="12.5". Each generation has its own.
  uint32_t ReadVersion(pugi::xml_node root) {
    const std::string text = ReadText(root, "version");
    const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
    uint64_t whole = 0, tenths = 0;
    if (text.empty()) return 0;
    if (parts.size() > 2 || !ParseUnsigned(parts[0], whole) || whole < 1 || whole > 1000 ||
        (parts.size() == 2 && (parts[1].size() != 1 || !ParseUnsigned(parts[1], tenths)))) {
      Report(Code::kBadNumber, At(root, "version"),
             absl::StrCat("version=\"", text,
                          "\" must be a number from 1 to 1000 with at most one ", "decimal digit"));
      return 0;
    }
    return static_cast<uint32_t>(whole * 10 + tenths);
  }

  static void SetIfGiven(std::string& into, std::string value) {
    if (!value.empty()) into = std::move(value);
  }

  void CheckIdentifier(pugi::xml_node node, const char* attribute, absl::string_view name) {
    bool good = !name.empty() &&
                (absl::ascii_isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_');
    for (const char c : name) {
      good = good && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_');
    }
    if (!good && !name.empty()) {
      Report(Code::kNameCollision, At(node, attribute),
             absl::StrCat("\"", name, "\" cannot be an identifier; set ", attribute, "=\"…\""));
    }
  }

  void ParseTopLevel(pugi::xml_node node, pugi::xml_node root) {
    const absl::string_view name = node.name();
    if (name == "enum") {
      ParseEnum(node);
    } else if (name == "packet") {
      ParseContainer(node, ContainerKind::kPacket);
    } else if (name == "struct") {
      ParseContainer(node, ContainerKind::kStruct);
    } else if (name == "register") {
      ParseContainer(node, ContainerKind::kRegister);
    } else if (name == "engine") {
      ParseEngine(node);
    } else if (name == "platform") {
      ParsePlatform(node);
    } else if (name == "workaround") {
      ParseWorkaround(node);
    } else if (name == "space") {
      ParseSpace(node);
    } else if (name == "base") {
      ParseBase(node);
    } else if (name == "state") {
      ParseState(node);
    } else if (name == "client") {
      ParseClient(node);
    } else if (name == "data") {
      ParseData(node);
    } else if (name == "stream") {
      ParseStream(node);
    } else if (name == "include") {
      Allow(node, IncludeAttributes());
      const std::string file = Require(node, "file");
      if (!file.empty())
        ParseFile(PathBeside(sources_.file(file_).path(), file), At(node, "file"), true);
    } else if (name == "remove") {
      RemoveTopLevel(node);
    } else if (!ReadWords(node, model_)) {
      ReportUnknown(node, root);
    }
  }

  void ParseEngine(pugi::xml_node node) {
    Allow(node, EngineAttributes());
    Engine engine;
    engine.where = At(node);
    Read(node, EngineAttributes(), engine);
    ReadChildren(node, engine);
    Declare(model_.engines, std::move(engine), "engine");
  }

  void ParsePlatform(pugi::xml_node node) {
    Allow(node, PlatformAttributes());
    Platform platform;
    platform.where = At(node);
    Read(node, PlatformAttributes(), platform);
    for (const auto& [attribute, what, ids] :
         {std::make_tuple("pci", "PCI device id", &platform.pci_ids),
          std::make_tuple("chip", "chip id", &platform.chip_ids)}) {
      for (const absl::string_view id :
           absl::StrSplit(ReadText(node, attribute), absl::ByAnyChar(" \n\t"), absl::SkipEmpty())) {
        uint32_t number = 0;
        if (!absl::StartsWith(id, "0x") || !absl::SimpleHexAtoi(id, &number) || number > 0xffff) {
          Report(Code::kBadNumber, At(node, attribute),
                 absl::StrCat("\"", id, "\" is not a ", what, ": 0x and up to four hex digits"));
          continue;
        }
        ids->push_back(number);
      }
    }
    ReadChildren(node, platform);
    Declare(model_.platforms, std::move(platform), "platform");
  }

  void ParseWorkaround(pugi::xml_node node) {
    Allow(node, WorkaroundAttributes());
    Workaround workaround;
    workaround.where = At(node);
    Read(node, WorkaroundAttributes(), workaround);
    uint64_t number = 0;
    if (!workaround.name.empty() && !ParseUnsigned(workaround.name, number)) {
      Report(Code::kBadNumber, At(node, "number"),
             absl::StrCat("number=\"", workaround.name, "\" must be a decimal number"));
    }
    for (const pugi::xml_node child : node.children()) {
      if (absl::string_view(child.name()) == "asks") {
        Allow(child, AskAttributes());
        ExpectEmpty(child);
        Ask& ask = workaround.asks.emplace_back();
        ask.where = At(child);
        Read(child, AskAttributes(), ask);
      } else if (!ReadWords(child, workaround)) {
        ReportUnknown(child, node);
      }
    }
    Declare(model_.workarounds, std::move(workaround), "workaround");
  }

  void ParseSpace(pugi::xml_node node) {
    Allow(node, SpaceAttributes());
    Require(node, "number");
    Space space;
    space.where = At(node);
    space.number = ReadSmall(node, "number", 0, 0xffff);
    Read(node, SpaceAttributes(), space);
    ReadChildren(node, space);
    Declare(model_.spaces, std::move(space), "space");
  }

  void ParseBase(pugi::xml_node node) {
    Allow(node, BaseAttributes());
    Base base;
    base.where = At(node);
    Read(node, BaseAttributes(), base);
    ReadChildren(node, base);
    Declare(model_.bases, std::move(base), "base");
  }

  void ParseClient(pugi::xml_node node) {
    Allow(node, ClientAttributes());
    Client client;
    client.where = At(node);
    Read(node, ClientAttributes(), client);
    ReadChildren(node, client);
    // One that was declared before, here or in what this extends, is replaced.
    std::erase_if(model_.clients, [&](const Client& old) { return old.kind == client.kind; });
    model_.clients.push_back(std::move(client));
  }

  void ParseState(pugi::xml_node node) {
    Allow(node, StateAttributes());
    State state;
    state.where = At(node);
    Read(node, StateAttributes(), state);
    ReadChildren(node, state);
    state.field.name = state.name;
    state.field.where = state.where;
    state.field.width = 32;
    Declare(model_.states, std::move(state), "state");
  }

  void ParseData(pugi::xml_node node) {
    Allow(node, DataAttributes());
    DataKind kind;
    Read(node, DataAttributes(), kind);
    kind.where = At(node);
    kind.format = ReadComponents(node);
    if (FindAttribute(node, "client")) {
      kind.client = static_cast<tables::ClientKind>(ReadWord(node, "client", kClientNames));
    }
    for (const pugi::xml_node child : node.children()) {
      if (absl::string_view(child.name()) == "instruction") {
        ParseInstruction(child, kind);
      } else if (absl::string_view(child.name()) == "reaches") {
        ParseReach(child, kind);
      } else if (!ReadWords(child, kind)) {
        ReportUnknown(child, node);
      }
    }
    if (kind.is_code ? !kind.format.empty() : !kind.instructions.empty() || !kind.reaches.empty()) {
      Report(Code::kContradiction, kind.where,
             "programs (code=\"true\") have instructions, other data has components");
    }
    Declare(model_.data_kinds, std::move(kind), "data kind");
  }

  void ParseInstruction(pugi::xml_node node, DataKind& kind) {
    Allow(node, InstructionAttributes());
    ExpectEmpty(node);
    Instruction instruction;
    Read(node, InstructionAttributes(), instruction);
    if (FindAttribute(node, "end")) {
      instruction.end_bit = ReadSmall(node, "end", 0, 2047);
      if (*instruction.end_bit >= instruction.bytes * 8) {
        Report(Code::kBadData, At(node, "end"), "the bit that ends a program is one of its own");
        return;
      }
    }
    if (instruction.bytes == 0 || (instruction.value & ~instruction.mask) != 0) {
      Report(Code::kBadNumber, At(node, "value"),
             "an instruction has one byte at least, and a value only where its mask has ones");
      return;
    }
    kind.instructions.push_back(instruction);
  }

  void ParseReach(pugi::xml_node node, DataKind& kind) {
    Allow(node, ReachAttributes());
    ExpectEmpty(node);
    Require(node, "as");
    absl::StatusOr<Reach> reach = ReachOf(Require(node, "where"), Require(node, "index"));
    if (!reach.ok()) {
      Report(Code::kBadData, At(node), std::string(reach.status().message()));
      return;
    }
    reach->use = static_cast<SurfaceUse>(ReadWord(node, "as", kSurfaceWords));
    kind.reaches.push_back(*reach);
  }

  void ParseStream(pugi::xml_node node) {
    Allow(node, StreamAttributes());
    Stream stream;
    Read(node, StreamAttributes(), stream);
    stream.where = At(node);
    if (stream.align == 0) {
      Report(Code::kBadNumber, At(node, "align"), "a stream cannot be aligned to 0 bytes");
      stream.align = 4;
    }
    for (const pugi::xml_node child : node.children()) {
      if (absl::string_view(child.name()) == "unknown") {
        ParseUnknown(child, stream);
      } else if (absl::string_view(child.name()) == "serves") {
        ParseServes(child, stream);
      } else if (!ReadWords(child, stream)) {
        ReportUnknown(child, node);
      }
    }
    Declare(model_.streams, std::move(stream), "stream");
  }

  void ParseUnknown(pugi::xml_node node, Stream& stream) {
    Allow(node, UnknownAttributes());
    UnknownLength unknown;
    Read(node, UnknownAttributes(), unknown);
    if (unknown.bias == 0 || (unknown.value & ~unknown.mask) != 0) {
      Report(Code::kBadNumber, At(node, "value"),
             "a packet has one dword at least, and a value only where its mask has ones");
      return;
    }
    if (FindAttribute(node, "length")) {
      uint64_t high = 0, low = 0;
      if (!ParseHighLow(ReadText(node, "length"), high, low) || high > 31 || high - low > 15) {
        Report(Code::kBadBits, At(node, "length"),
               "length=\"high:low\" is at most 16 bits of the first dword");
        return;
      }
      unknown.length_bit = static_cast<uint32_t>(low);
      unknown.length_width = static_cast<uint32_t>(high - low + 1);
    }
    stream.unknown.push_back(unknown);
  }

  void ParseServes(pugi::xml_node node, Stream& stream) {
    Allow(node, ServesAttributes());
    ExpectEmpty(node);
    Serves serves;
    Read(node, ServesAttributes(), serves);
    Require(node, "role");
    serves.role = static_cast<Role>(1 + ReadWord(node, "role", kServedRoleWords));
    if ((serves.value & ~serves.mask) != 0) {
      Report(Code::kBadNumber, At(node, "value"), "a value has ones only where its mask has");
      return;
    }
    stream.serves.push_back(serves);
  }

  void ParseEnum(pugi::xml_node node) {
    Allow(node, EnumAttributes());
    Enum e;
    const std::string name = Require(node, "name");
    const bool amend = ReadFlag(node, "amend");
    if (amend) {
      if (const Enum* const old = Find(model_.enums, name)) {
        e = *old;
      } else {
        Report(Code::kNothingToInherit, At(node, "amend"),
               absl::StrCat("there is no earlier \"", name, "\" to amend"));
      }
    }
    e.name = name;
    if (FindAttribute(node, "prefix")) e.prefix = ReadText(node, "prefix");
    e.where = At(node);
    ValueList values(e.values, amend);
    for (const pugi::xml_node child : node.children()) {
      if (ParseValueOrRemove(child, values)) {
        // Done.
      } else if (!ReadWords(child, e)) {
        ReportUnknown(child, node);
      }
    }
    values.Finish();
    if (e.values.empty()) {
      Report(Code::kContradiction, e.where, "an enumeration has at least one <value>");
    }
    Declare(model_.enums, std::move(e), "enumeration");
  }

  // A later file says it again: the new one replaces the old one. Twice in one file is an
  // error.
  template <class T>
  T* Declare(std::vector<T>& all, T&& item, absl::string_view what) {
    if (T* const old = Find(all, item.name)) {
      if (InThisLayer(old->where)) {
        Report(Code::kDuplicateName, item.where,
               absl::StrCat("there are two ", what, "s with the name \"", item.name, "\""))
            .notes.push_back({old->where, "the first is here"});
        return old;
      }
      *old = std::move(item);
      return old;
    }
    return Append(all, std::move(item));
  }

  void RemoveTopLevel(pugi::xml_node node) {
    Allow(node, RemoveAttributes());
    ExpectEmpty(node);
    bool removed = false;
    const auto erase = [&](const char* attribute, auto& all, auto&& also) {
      const std::string name = ReadText(node, attribute);
      if (name.empty()) return;
      const auto* const old = Find(all, name);
      if (old == nullptr || InThisLayer(old->where) || !also(*old)) return;
      IndexOf(all).Remove(name);
      removed = true;
    };
    const auto kind_is = [](ContainerKind kind) {
      return [kind](const Container& c) { return c.kind == kind; };
    };
    erase("packet", model_.containers, kind_is(ContainerKind::kPacket));
    erase("struct", model_.containers, kind_is(ContainerKind::kStruct));
    erase("register", model_.containers, kind_is(ContainerKind::kRegister));
    erase("enum", model_.enums, [](const Enum&) { return true; });
    if (std::distance(node.attributes().begin(), node.attributes().end()) > 1) {
      Report(Code::kContradiction, At(node), "<remove> takes out one thing");
    }
    if (!removed) {
      Report(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
    }
  }

  const ReadFile& read_file_;
  std::vector<std::string> lineage_;
};

}  // namespace

void Parse(const std::string& path, const ReadFile& read_file, Parsed& parsed,
           Diagnostics& diagnostics, Model& model) {
  Parser(read_file, parsed, diagnostics, model).ParseFile(path, Location{});
}

}  // namespace packsmith::model
