#include "gen/model/syntax/parse.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <pugixml.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gen/model/ast/name_index.h"
#include "gen/model/names.h"
#include "gen/model/ast/reach.h"
#include "gen/model/syntax/value_list.h"

namespace packsmith::model {
namespace {

constexpr size_t kLargestFile = 16 << 20;
constexpr uint32_t kLargestContainer = 1 << 16;  // bytes
constexpr uint32_t kMostRepeats = 4096;
constexpr int kDeepestGroup = 4;
constexpr size_t kLongestLineage = 64;
constexpr size_t kMostFiles = 256;

bool ParseUnsigned(absl::string_view text, uint64_t& value) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    return absl::SimpleHexAtoi(text, &value);
  }
  // SimpleAtoi would skip spaces and take signs.
  return !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         absl::SimpleAtoi(text, &value);
}

bool ParseSigned(absl::string_view text, int64_t& value) {
  uint64_t magnitude = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!ParseUnsigned(negative ? text.substr(1) : text, magnitude)) return false;
  if (magnitude > uint64_t{1} << 63 || (magnitude == uint64_t{1} << 63 && !negative)) return false;
  value = negative ? static_cast<int64_t>(0 - magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

// Where `text` stops being UTF-8, or begins to hold characters that XML forbids; its size if all is
// well.
size_t FirstBadByte(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      if (lead < 0x20 && lead != '\t' && lead != '\n' && lead != '\r') return i;
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    // 0xc0 and 0xc1 would spell ASCII in two bytes, leads above 0xf4 lie beyond Unicode.
    if (lead < 0xc2 || lead > 0xf4 || length > text.size() - i) return i;
    uint32_t code = lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return i;
      code = code << 6 | (next & 0x3fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000)) {
      return i;
    }
    i += length;
  }
  return text.size();
}

// Text of an element with runs of white space folded to one space.
std::string FoldedText(const std::string& text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty()), " ");
}

std::string Directory(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// Paths are relative to the file that names them, unless they begin at the root.
std::string Beside(const std::string& path, const std::string& named) {
  return !named.empty() && named[0] == '/' ? named : Directory(path) + named;
}

class Parser {
 public:
  Parser(const ReadFile& read_file, Parsed& parsed, Diagnostics& diagnostics, Model& model)
      : read_file_(read_file),
        parsed_(parsed),
        sources_(parsed.sources),
        diagnostics_(diagnostics),
        model_(model) {}

  void File(const std::string& path, Location named_at, bool included = false) {
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
    Document(included);
    file_ = outer;
    lineage_.pop_back();
  }

 private:
  // --- Elements and attributes -----------------------------------------------------------------

  Location At(pugi::xml_node node) const {
    // The parser gives the place of an element's name; the bracket before it is easier to see.
    const ptrdiff_t offset = node.offset_debug() - 1;
    return {file_, offset < 0 ? 0 : static_cast<uint32_t>(offset)};
  }
  Location At(pugi::xml_node node, const char* attribute) const {
    return AttributeLocation(sources_, At(node), attribute);
  }
  Diagnostic& Problem(Code code, Location where, std::string text) {
    return diagnostics_.Add(code, where, std::move(text));
  }

  // What pugi's own look-up gives. An element is asked for thirty attributes, of which it has five:
  // those are gathered once.
  pugi::xml_attribute Attribute(pugi::xml_node node, absl::string_view name) const {
    if (node != attributes_of_) {
      attributes_of_ = node;
      attributes_.clear();
      for (const pugi::xml_attribute one : node.attributes()) {
        attributes_.emplace_back(one.name(), one);
      }
    }
    for (const auto& [present, attribute] : attributes_) {
      if (present == name) return attribute;
    }
    return {};
  }

  // Names every attribute that the element may not have, and those that no well-formed XML has.
  void Allow(pugi::xml_node node, std::initializer_list<absl::string_view> allowed) {
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const absl::string_view name = attribute.name();
      if (Attribute(node, attribute.name()) != attribute) {
        Problem(Code::kMalformedXml, At(node, attribute.name()),
                absl::StrCat("<", node.name(), "> has the attribute \"", name, "\" twice"));
      }
      if (FirstBadByte(attribute.value()) != absl::string_view(attribute.value()).size()) {
        Problem(Code::kMalformedXml, At(node, attribute.name()),
                absl::StrCat("the value of \"", name, "\" holds a character that XML forbids"));
      }
      if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
        Problem(Code::kUnknownAttribute, At(node, attribute.name()),
                absl::StrCat("<", node.name(), "> has no attribute \"", name, "\"; it may have ",
                             allowed.size() == 0 ? "none" : absl::StrJoin(allowed, ", ")));
      }
    }
  }

  void Unknown(pugi::xml_node node, pugi::xml_node inside) {
    if (node.type() == pugi::node_element) {
      Problem(Code::kUnknownElement, At(node),
              absl::StrCat("<", inside.name(), "> cannot hold <", node.name(), ">"));
    } else if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
      Problem(Code::kUnknownElement, At(inside),
              absl::StrCat("<", inside.name(), "> cannot hold text; put it into <doc>"));
    }
  }

  std::string Text(pugi::xml_node node, const char* name) const {
    return Attribute(node, name).value();
  }

  std::string Required(pugi::xml_node node, const char* name) {
    std::string value = Text(node, name);
    if (value.empty()) {
      Problem(Code::kMissingAttribute, At(node),
              absl::StrCat("<", node.name(), "> needs ", name, "=\"…\""));
    }
    return value;
  }

  Deferred Later(pugi::xml_node node, const char* name) const {
    const pugi::xml_attribute attribute = Attribute(node, name);
    if (!attribute) return {{}, At(node)};
    return {attribute.value(), At(node, name)};
  }

  std::optional<uint64_t> Number(pugi::xml_node node, const char* name,
                                 uint64_t most = ~uint64_t{0}) {
    const pugi::xml_attribute attribute = Attribute(node, name);
    if (!attribute) return std::nullopt;
    uint64_t value = 0;
    if (!ParseUnsigned(attribute.value(), value)) {
      Problem(Code::kBadNumber, At(node, name),
              absl::StrCat(name, "=\"", attribute.value(),
                           "\" is no number; write it in decimal, or in hexadecimal as 0x…"));
      return std::nullopt;
    }
    if (value > most) {
      Problem(Code::kBadNumber, At(node, name),
              absl::StrCat(name, "=\"", attribute.value(), "\" is more than ", most));
      return std::nullopt;
    }
    return value;
  }

  uint32_t Small(pugi::xml_node node, const char* name, uint32_t otherwise, uint32_t most) {
    return static_cast<uint32_t>(Number(node, name, most).value_or(otherwise));
  }

  bool Flag(pugi::xml_node node, const char* name) {
    const std::string value = Text(node, name);
    if (value.empty() || value == "false") return false;
    if (value != "true") {
      Problem(Code::kBadNumber, At(node, name),
              absl::StrCat(name, "=\"", value, "\" must be true or false"));
    }
    return true;
  }

  // One of the given words; the first where the attribute is absent.
  size_t Word(pugi::xml_node node, const char* name,
              std::initializer_list<absl::string_view> words) {
    const std::string value = Text(node, name);
    if (value.empty()) return 0;
    const auto it = std::find(words.begin(), words.end(), value);
    if (it == words.end()) {
      Problem(Code::kBadNumber, At(node, name),
              absl::StrCat(name, "=\"", value, "\" must be one of ", absl::StrJoin(words, ", ")));
      return 0;
    }
    return static_cast<size_t>(it - words.begin());
  }

  // <doc> and <source>, which any element may hold.
  template <class T>
  bool Words(pugi::xml_node child, T& into) {
    const absl::string_view name = child.name();
    if (name == "doc") {
      into.doc = TextOf(child);
      return true;
    }
    if constexpr (requires { into.source; }) {
      if (name == "source") {
        into.source = TextOf(child);
        return true;
      }
    }
    return false;
  }

  std::string TextOf(pugi::xml_node node) {
    Allow(node, {});
    std::string text;
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) {
        Unknown(child, node);
      } else {
        text += child.value();
      }
    }
    return FoldedText(text);
  }

  // For elements that hold nothing.
  void Empty(pugi::xml_node node) {
    for (const pugi::xml_node child : node.children()) Unknown(child, node);
  }

  // alias="…" of a field, group or part: the identifier in C++.
  std::string Identifier(pugi::xml_node node) {
    std::string alias = Text(node, "alias");
    if (!alias.empty() && CppMember(alias) != alias) {
      Problem(Code::kNameCollision, At(node, "alias"),
              absl::StrCat("alias=\"", alias, "\" cannot be a member in C++; \"", CppMember(alias),
                           "\" could"));
    }
    return alias;
  }

  // --- The file ----------------------------------------------------------------------------------

  void Document(bool included) {
    attributes_of_ = {};  // may have been of a document that is gone
    const SourceFile& source = sources_.file(file_);
    if (const size_t bad = FirstBadByte(source.text()); bad != source.text().size()) {
      Problem(Code::kMalformedXml, {file_, static_cast<uint32_t>(bad)},
              "this is no well-formed XML: here is a character that is not UTF-8, or forbidden");
      return;
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(
        source.text().data(), source.text().size(),
        pugi::parse_default | pugi::parse_fragment | pugi::parse_doctype, pugi::encoding_utf8);
    if (!parsed) {
      Problem(Code::kMalformedXml, {file_, static_cast<uint32_t>(parsed.offset)},
              absl::StrCat("this is no well-formed XML: ", parsed.description()));
      return;
    }
    const pugi::xml_node root = document.document_element();
    if (!root) {
      Problem(Code::kMalformedXml, {file_, 0},
              "this is no well-formed XML: there is no element in it");
      return;
    }
    for (const pugi::xml_node beside : document.children()) {
      if (beside == root) continue;
      if (beside.type() == pugi::node_doctype) {
        Problem(Code::kMalformedXml, At(beside), "a description has no document type; drop it");
      } else if (beside.type() == pugi::node_element) {
        Problem(Code::kMalformedXml, At(beside),
                "this is no well-formed XML: a file has one root element, here is another");
      } else {
        Problem(Code::kMalformedXml, At(root),
                "this is no well-formed XML: there is text beside the root element");
      }
    }
    if (absl::string_view(root.name()) != "packsmith") {
      Problem(Code::kUnknownElement, root ? At(root) : Location{file_, 0},
              absl::StrCat("the root element must be <packsmith>, not <", root.name(), ">"));
      return;
    }
    if (included) {
      Allow(root, {});
      for (const pugi::xml_node child : root.children()) TopLevel(child, root);
      return;
    }
    Allow(root, {"family", "generation", "version", "title", "namespace", "prefix", "unit",
                 "address-bits", "aliases", "extends"});
    const std::string extends = Text(root, "extends");
    if (!extends.empty()) {
      Extend(Beside(sources_.file(file_).path(), extends), At(root, "extends"));
    }
    const bool heir = !extends.empty();
    // What names a generation and its products is its own: nobody inherits it.
    model_.platforms.clear();
    model_.doc.clear();
    model_.source.clear();
    Set(model_.family, heir ? Text(root, "family") : Required(root, "family"));
    Set(model_.generation, Required(root, "generation"));
    model_.title = Text(root, "title");
    model_.version_x10 = Version(root);
    model_.aliases = Text(root, "aliases");
    const std::string default_namespace = Text(root, "generation");
    model_.cpp_namespace = Text(root, "namespace");
    if (model_.cpp_namespace.empty()) model_.cpp_namespace = default_namespace;
    model_.c_prefix = Text(root, "prefix");
    if (model_.c_prefix.empty()) model_.c_prefix = absl::AsciiStrToUpper(default_namespace);
    CheckIdentifier(root, "namespace", model_.cpp_namespace);
    CheckIdentifier(root, "prefix", model_.c_prefix);
    if (!IsCppNamespace(model_.cpp_namespace)) {
      Problem(Code::kNameCollision,
              At(root, Attribute(root, "namespace") ? "namespace" : "generation"),
              absl::StrCat("packsmith::", model_.cpp_namespace,
                           " cannot be a namespace: the name is taken; set namespace=\"…\""));
    }
    if (Attribute(root, "unit") || !heir) {
      model_.byte_unit = Word(root, "unit", {"dword", "byte"}) == 1;
    }
    if (Attribute(root, "address-bits") || !heir) {
      model_.address_bits = Small(root, "address-bits", 48, 64);
      if (model_.address_bits < 16) {
        Problem(Code::kBadNumber, At(root, "address-bits"),
                absl::StrCat("address-bits=\"", model_.address_bits, "\" is less than 16"));
      }
    }
    for (const pugi::xml_node child : root.children()) TopLevel(child, root);
    if (!heir) return;
    IndexOf(model_.containers).Compact(model_.containers);
    IndexOf(model_.enums).Compact(model_.enums);
    SortByName();
    indices_.clear();
  }

  // Nothing but this file's heirs has been parsed into the model yet.
  void Extend(const std::string& path, Location named_at) {
    const auto known = parsed_.models.find(path);
    // Close to the limits the files are parsed again, for the problem to be found at its place.
    if (known == parsed_.models.end() ||
        lineage_.size() + known->second.files.size() > kLongestLineage) {
      File(path, named_at);
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

  // What an heir adds has no natural place between what it inherited: the order of a generation
  // must not tell its history.
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
  uint32_t Version(pugi::xml_node root) {
    const std::string text = Text(root, "version");
    const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
    uint64_t whole = 0, tenths = 0;
    if (text.empty()) return 0;
    if (parts.size() > 2 || !ParseUnsigned(parts[0], whole) || whole < 1 || whole > 1000 ||
        (parts.size() == 2 && (parts[1].size() != 1 || !ParseUnsigned(parts[1], tenths)))) {
      Problem(Code::kBadNumber, At(root, "version"),
              absl::StrCat("version=\"", text, "\" is no number from 1 to 1000 with at most one ",
                           "digit behind the point"));
      return 0;
    }
    return static_cast<uint32_t>(whole * 10 + tenths);
  }

  static void Set(std::string& into, std::string value) {
    if (!value.empty()) into = std::move(value);
  }

  void CheckIdentifier(pugi::xml_node node, const char* attribute, absl::string_view name) {
    bool good = !name.empty() &&
                (absl::ascii_isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_');
    for (const char c : name) {
      good = good && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_');
    }
    if (!good && !name.empty()) {
      Problem(Code::kNameCollision, At(node, attribute),
              absl::StrCat("\"", name, "\" cannot be an identifier; set ", attribute, "=\"…\""));
    }
  }

  void TopLevel(pugi::xml_node node, pugi::xml_node root) {
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
      Allow(node, {"name", "aliases"});
      Engine engine{Required(node, "name"), Text(node, "aliases"), {}, At(node)};
      Children(node, engine);
      Declare(model_.engines, std::move(engine), "engine");
    } else if (name == "platform") {
      ParsePlatform(node);
    } else if (name == "space") {
      Allow(node, {"name", "number"});
      Required(node, "number");
      Space space{Required(node, "name"), Small(node, "number", 0, 0xffff), {}, At(node)};
      Children(node, space);
      Declare(model_.spaces, std::move(space), "space");
    } else if (name == "base") {
      Allow(node, {"name", "else"});
      Base base{Required(node, "name"), {}, At(node), Later(node, "else")};
      Children(node, base);
      Declare(model_.bases, std::move(base), "base");
    } else if (name == "state") {
      Allow(node, {"name", "of"});
      State state{Required(node, "name"), {}, At(node), Later(node, "of"), {}};
      Children(node, state);
      state.field.name = state.name;
      state.field.where = state.where;
      state.field.width = 32;
      Declare(model_.states, std::move(state), "state");
    } else if (name == "data") {
      Allow(node, {"name", "components", "code"});
      DataKind kind;
      kind.name = Required(node, "name");
      kind.where = At(node);
      kind.format = Components(node);
      kind.is_code = Flag(node, "code");
      for (const pugi::xml_node child : node.children()) {
        if (absl::string_view(child.name()) == "instruction") {
          ParseInstruction(child, kind);
        } else if (absl::string_view(child.name()) == "reaches") {
          ParseReach(child, kind);
        } else if (!Words(child, kind)) {
          Unknown(child, node);
        }
      }
      if (kind.is_code ? !kind.format.empty()
                       : !kind.instructions.empty() || !kind.reaches.empty()) {
        Problem(Code::kContradiction, kind.where,
                "programs (code=\"true\") have instructions, other data has components");
      }
      Declare(model_.data_kinds, std::move(kind), "data kind");
    } else if (name == "stream") {
      Allow(node, {"name", "engines", "align"});
      Stream stream;
      stream.name = Required(node, "name");
      stream.engines_text = Later(node, "engines");
      stream.align = Small(node, "align", 4, 64);
      stream.where = At(node);
      if (stream.align == 0) {
        Problem(Code::kBadNumber, At(node, "align"), "a stream cannot be aligned to 0 bytes");
        stream.align = 4;
      }
      for (const pugi::xml_node child : node.children()) {
        if (absl::string_view(child.name()) == "unknown") {
          ParseUnknown(child, stream);
        } else if (absl::string_view(child.name()) == "serves") {
          ParseServes(child, stream);
        } else if (!Words(child, stream)) {
          Unknown(child, node);
        }
      }
      Declare(model_.streams, std::move(stream), "stream");
    } else if (name == "include") {
      Allow(node, {"file"});
      const std::string file = Required(node, "file");
      if (!file.empty()) File(Beside(sources_.file(file_).path(), file), At(node, "file"), true);
    } else if (name == "remove") {
      RemoveTopLevel(node);
    } else if (!Words(node, model_)) {
      Unknown(node, root);
    }
  }

  void ParsePlatform(pugi::xml_node node) {
    Allow(node, {"name", "title", "pci", "chip"});
    Platform platform{Required(node, "name"), Text(node, "title"), {}, {}, {}, At(node)};
    for (const auto& [attribute, what, ids] :
         {std::make_tuple("pci", "PCI device id", &platform.pci_ids),
          std::make_tuple("chip", "chip id", &platform.chip_ids)}) {
      for (const absl::string_view id :
           absl::StrSplit(Text(node, attribute), absl::ByAnyChar(" \n\t"), absl::SkipEmpty())) {
        uint32_t number = 0;
        if (!absl::StartsWith(id, "0x") || !absl::SimpleHexAtoi(id, &number) || number > 0xffff) {
          Problem(Code::kBadNumber, At(node, attribute),
                  absl::StrCat("\"", id, "\" is no ", what, ": 0x and up to four hex digits"));
          continue;
        }
        ids->push_back(number);
      }
    }
    Children(node, platform);
    Declare(model_.platforms, std::move(platform), "platform");
  }

  void ParseUnknown(pugi::xml_node node, Stream& stream) {
    Allow(node, {"mask", "value", "length", "bias"});
    Required(node, "mask");
    Required(node, "value");
    Required(node, "bias");
    UnknownLength unknown;
    unknown.mask = Small(node, "mask", 0, 0xffffffffu);
    unknown.value = Small(node, "value", 0, 0xffffffffu);
    unknown.bias = Small(node, "bias", 1, 255);
    if (unknown.bias == 0 || (unknown.value & ~unknown.mask) != 0) {
      Problem(Code::kBadNumber, At(node, "value"),
              "a packet has one dword at least, and a value only where its mask has ones");
      return;
    }
    if (Attribute(node, "length")) {
      uint64_t high = 0, low = 0;
      if (!ParseHighLow(Text(node, "length"), high, low) || high > 31 || high - low > 15) {
        Problem(Code::kBadBits, At(node, "length"),
                "length=\"high:low\" is at most 16 bits of the first dword");
        return;
      }
      unknown.length_bit = static_cast<uint32_t>(low);
      unknown.length_width = static_cast<uint32_t>(high - low + 1);
    }
    stream.unknown.push_back(unknown);
  }

  void ParseInstruction(pugi::xml_node node, DataKind& kind) {
    Allow(node, {"mask", "value", "bytes", "end"});
    Empty(node);
    Required(node, "mask");
    Required(node, "value");
    Required(node, "bytes");
    Instruction instruction;
    instruction.mask = Small(node, "mask", 0, 0xffffffffu);
    instruction.value = Small(node, "value", 0, 0xffffffffu);
    instruction.bytes = Small(node, "bytes", 0, 256);
    if (Attribute(node, "end")) {
      instruction.end_bit = Small(node, "end", 0, 2047);
      if (*instruction.end_bit >= instruction.bytes * 8) {
        Problem(Code::kBadData, At(node, "end"), "the bit that ends a program is one of its own");
        return;
      }
    }
    if (instruction.bytes == 0 || (instruction.value & ~instruction.mask) != 0) {
      Problem(Code::kBadNumber, At(node, "value"),
              "an instruction has one byte at least, and a value only where its mask has ones");
      return;
    }
    kind.instructions.push_back(instruction);
  }

  void ParseReach(pugi::xml_node node, DataKind& kind) {
    Allow(node, {"as", "where", "index"});
    Empty(node);
    Required(node, "as");
    absl::StatusOr<Reach> reach = ReachOf(Required(node, "where"), Required(node, "index"));
    if (!reach.ok()) {
      Problem(Code::kBadData, At(node), std::string(reach.status().message()));
      return;
    }
    reach->use = static_cast<SurfaceUse>(Word(node, "as", {"surface", "texture", "target"}));
    kind.reaches.push_back(*reach);
  }

  void ParseServes(pugi::xml_node node, Stream& stream) {
    Allow(node, {"mask", "value", "role"});
    Empty(node);
    Required(node, "mask");
    Required(node, "value");
    Required(node, "role");
    Serves serves;
    serves.mask = Small(node, "mask", 0, 0xffffffffu);
    serves.value = Small(node, "value", 0, 0xffffffffu);
    serves.role = static_cast<Role>(1 + Word(node, "role", {"draw", "dispatch"}));
    if ((serves.value & ~serves.mask) != 0) {
      Problem(Code::kBadNumber, At(node, "value"), "a value has ones only where its mask has");
      return;
    }
    stream.serves.push_back(serves);
  }

  // components="…", or none.
  DataFormat Components(pugi::xml_node node) {
    if (!Attribute(node, "components")) return {};
    absl::StatusOr<DataFormat> format = ParseComponents(Text(node, "components"));
    if (format.ok()) return *std::move(format);
    Problem(Code::kBadData, At(node, "components"),
            absl::StrCat("components=\"", Text(node, "components"),
                         "\": ", std::string(format.status().message())));
    return {};
  }

  template <class T>
  void Children(pugi::xml_node node, T& into) {
    for (const pugi::xml_node child : node.children()) {
      if (!Words(child, into)) Unknown(child, node);
    }
  }

  bool InThisLayer(Location where) const {
    return parsed_.layers[static_cast<size_t>(where.file)] ==
           parsed_.layers[static_cast<size_t>(file_)];
  }

  // A later file says it again: the new one stands in the old one's place. Twice in one file is an
  // error.
  template <class T>
  T* Declare(std::vector<T>& all, T&& item, absl::string_view what) {
    if (T* const old = Find(all, item.name)) {
      if (InThisLayer(old->where)) {
        Problem(Code::kDuplicateName, item.where,
                absl::StrCat("there are two ", what, "s with the name \"", item.name, "\""))
            .notes.push_back({old->where, "the first is here"});
        return old;
      }
      *old = std::move(item);
      return old;
    }
    return Append(all, std::move(item));
  }

  // One of the model's lists by name: containers, enumerations, engines …
  template <class T>
  NameIndex& IndexOf(const std::vector<T>& all) {
    const auto [index, is_new] = indices_.try_emplace(&all);
    if (is_new) index->second.Fill(all);
    return index->second;
  }
  template <class T>
  T* Find(std::vector<T>& all, absl::string_view name) {
    const absl::optional<size_t> place = IndexOf(all).Find(name);
    return place ? &all[*place] : nullptr;
  }
  template <class T>
  T* Append(std::vector<T>& all, T&& item) {
    IndexOf(all).Add(item.name, all.size());
    all.push_back(std::move(item));
    return &all.back();
  }

  void RemoveTopLevel(pugi::xml_node node) {
    Allow(node, {"packet", "struct", "register", "enum"});
    Empty(node);
    bool removed = false;
    const auto erase = [&](const char* attribute, auto& all, auto&& also) {
      const std::string name = Text(node, attribute);
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
      Problem(Code::kContradiction, At(node), "<remove> takes out one thing");
    }
    if (!removed) {
      Problem(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
    }
  }

  // --- Enumerations ------------------------------------------------------------------------------

  void ParseEnum(pugi::xml_node node) {
    Allow(node, {"name", "prefix", "amend"});
    Enum e;
    const std::string name = Required(node, "name");
    const bool amend = Flag(node, "amend");
    if (amend) {
      if (const Enum* const old = Find(model_.enums, name)) {
        e = *old;
      } else {
        Problem(Code::kNothingToInherit, At(node, "amend"),
                absl::StrCat("there is no earlier \"", name, "\" to amend"));
      }
    }
    e.name = name;
    if (Attribute(node, "prefix")) e.prefix = Text(node, "prefix");
    e.where = At(node);
    ValueList values(e.values, amend);
    for (const pugi::xml_node child : node.children()) {
      if (ParseValueOrRemove(child, values)) {
        // Done.
      } else if (!Words(child, e)) {
        Unknown(child, node);
      }
    }
    values.Finish();
    if (e.values.empty()) {
      Problem(Code::kContradiction, e.where, "an enumeration has at least one <value>");
    }
    Declare(model_.enums, std::move(e), "enumeration");
  }

  // <value>, or where values are amended <remove value="…"/>.
  bool ParseValueOrRemove(pugi::xml_node node, ValueList& into) {
    const absl::string_view what = node.name();
    if (what == "value") {
      ParseValue(node, into);
      return true;
    }
    if (what != "remove" || !into.amends()) return false;
    Allow(node, {"value"});
    Empty(node);
    const std::string name = Required(node, "value");
    if (!name.empty() && !into.Remove(name)) {
      Problem(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
    }
    return true;
  }

  void ParseValue(pugi::xml_node node, ValueList& into) {
    Allow(node, {"name", "value", "avoid", "components"});
    Value value;
    value.format = Components(node);
    value.where = At(node);
    value.name = Required(node, "name");
    value.avoid = Flag(node, "avoid");
    const std::string text = Required(node, "value");
    int64_t negative = 0;
    if (!text.empty() && text[0] == '-' && ParseSigned(text, negative)) {
      value.value = static_cast<uint64_t>(negative);
    } else {
      value.value = Number(node, "value").value_or(0);
    }
    Children(node, value);
    if (Value* const old = into.Find(value.name)) {
      if (into.amends() && !InThisLayer(old->where)) {
        *old = std::move(value);
        return;
      }
      Problem(Code::kDuplicateName, value.where,
              absl::StrCat("there are two values with the name \"", value.name, "\""))
          .notes.push_back({old->where, "the first is here"});
      return;
    }
    into.Add(std::move(value));
  }

  // --- Containers --------------------------------------------------------------------------------

  void ParseContainer(pugi::xml_node node, ContainerKind kind) {
    switch (kind) {
      case ContainerKind::kPacket:
        Allow(node, {"name", "alias", "dwords", "bytes", "length", "bias", "engines", "stream",
                     "role", "c-dwords", "like", "amend"});
        break;
      case ContainerKind::kStruct:
        Allow(node, {"name", "alias", "dwords", "bytes", "c-dwords", "like", "amend"});
        break;
      case ContainerKind::kRegister:
        Allow(node, {"name", "alias", "dwords", "bytes", "offset", "c-offset", "dumped-as",
                     "masked", "engines", "like", "amend"});
        break;
    }
    const size_t errors = diagnostics_.errors();
    const std::string name = Required(node, "name");
    const bool amend = Flag(node, "amend");
    Container container;
    bool inherited = false;
    Container* old = name.empty() ? nullptr : Find(model_.containers, name);
    if (old != nullptr && InThisLayer(old->where)) {
      Problem(Code::kDuplicateName, At(node),
              absl::StrCat("there are two containers with the name \"", name, "\""))
          .notes.push_back({old->where, "the first is here"});
      return;
    }
    const std::string like = Text(node, "like");
    if (amend && !like.empty()) {
      Problem(Code::kContradiction, At(node, "amend"), "amend and like exclude each other");
    } else if (amend) {
      if (old != nullptr) {
        container = *old;
        inherited = true;
        if (old->kind != kind) {
          Problem(
              Code::kContradiction, At(node),
              absl::StrCat("\"", name, "\" was no <", node.name(), ">, and amending keeps that"))
              .notes.push_back({old->where, "what is amended is here"});
          kind = old->kind;
        }
      } else {
        Problem(Code::kNothingToInherit, At(node, "amend"),
                absl::StrCat("there is no earlier \"", name, "\" to amend"));
      }
    } else if (!like.empty()) {
      if (const Container* model = Find(model_.containers, like)) {
        container = *model;
        container.aliases.clear();
        inherited = true;
      } else {
        Problem(Code::kNothingToInherit, At(node, "like"),
                absl::StrCat("there is no \"", like, "\" above to be like"));
      }
    }
    container.kind = kind;
    container.name = name;
    container.where = At(node);
    if (const std::string alias = Text(node, "alias"); !alias.empty()) {
      container.aliases = absl::StrSplit(alias, ',', absl::SkipEmpty());
    }
    ParseSize(node, inherited, container);
    if (kind == ContainerKind::kPacket && Attribute(node, "length"))
      container.length_name = Later(node, "length");
    if (Attribute(node, "bias")) container.length_bias = Small(node, "bias", 0, 255);
    if (Attribute(node, "engines")) container.engines_text = Later(node, "engines");
    if (Attribute(node, "stream")) container.stream_name = Later(node, "stream");
    if (Attribute(node, "role")) {
      container.role = static_cast<Role>(Word(node, "role", {"other", "draw", "dispatch"}));
    }
    if (kind == ContainerKind::kRegister && (Attribute(node, "offset") || !inherited)) {
      Required(node, "offset");
      container.register_offset = Small(node, "offset", 0, 0x7fffffff);
    }
    // What C says in place of one size it does not say in place of another.
    if (Attribute(node, "dwords")) container.c_dwords.reset();
    if (Attribute(node, "c-dwords")) {
      container.c_dwords = Small(node, "c-dwords", 0, kLargestContainer / 4);
    }
    if (Attribute(node, "c-offset")) container.c_offset = Small(node, "c-offset", 0, 0x7fffffff);
    if (Attribute(node, "masked")) container.masked = Flag(node, "masked");
    if (Attribute(node, "dumped-as")) container.dumped_as = Text(node, "dumped-as");
    bool variants_cleared = false, parts_cleared = false, flows_cleared = false;
    bool relations_cleared = false, draws_cleared = false, images_cleared = false;
    // What an heir says of variants, parts, flows or relations replaces all that it inherited of
    // that sort: their order matters, so there is no merging one by one.
    const auto fresh = [&](bool& cleared, auto& all) {
      if (!cleared && inherited) all.clear();
      cleared = true;
    };
    for (const pugi::xml_node child : node.children()) {
      const absl::string_view what = child.name();
      if (what == "variant") {
        fresh(variants_cleared, container.variants);
        ParseVariant(child, container);
      } else if (what == "part") {
        if (!parts_cleared && inherited) container.pad = {};
        fresh(parts_cleared, container.parts);
        ParsePart(child, container);
      } else if (what == "pad") {
        Allow(child, {"to", "when"});
        Empty(child);
        Required(child, "to");
        container.pad = {Small(child, "to", 0, 64), Later(child, "when"), At(child), {}};
      } else if (what == "flow") {
        fresh(flows_cleared, container.flows);
        ParseFlow(child, container);
      } else if (what == "relation") {
        fresh(relations_cleared, container.relations);
        Allow(child, {"kind", "packet"});
        Empty(child);
        Required(child, "kind");
        Required(child, "packet");
        container.relations.push_back({static_cast<Relation::Kind>(Word(
                                           child, "kind", {"commits", "requires", "invalidates"})),
                                       Later(child, "packet")});
      } else if (what == "draws" && kind == ContainerKind::kPacket) {
        if (!draws_cleared) container.draws.clear();
        draws_cleared = true;
        ParseDraws(child, container);
      } else if (what == "image") {
        fresh(images_cleared, container.images);
        ParseImage(child, container);
      } else if (what == "remove" && inherited) {
        // What is left of the relations is kept, and what is said of others comes behind it.
        if (Attribute(child, "relation")) relations_cleared = true;
        RemoveFrom(container, child);
      } else if (!ParseItem(child, container.items, 0, inherited) && !Words(child, container)) {
        Unknown(child, node);
      }
    }
    if (name.empty()) return;
    container.broken = diagnostics_.errors() != errors;
    if (old != nullptr) {
      *old = std::move(container);
    } else {
      Append(model_.containers, std::move(container));
    }
  }

  // <remove field="…"/>; or <remove relation="…"/>, of those that lead to a packet of that name.
  void RemoveFrom(Container& container, pugi::xml_node node) {
    Allow(node, {"field", "relation"});
    Empty(node);
    size_t removed = 0;
    if (!Attribute(node, "relation")) {
      const std::string field = Required(node, "field");
      if (field.empty()) return;
      removed = RemoveItem(container.items, field);
    } else if (Attribute(node, "field")) {
      Problem(Code::kContradiction, At(node), "<remove> takes out one thing");
      return;
    } else {
      const std::string packet = Text(node, "relation");
      removed = std::erase_if(container.relations,
                              [&](const Relation& r) { return r.packet.text == packet; });
    }
    if (removed == 0) {
      Problem(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
    }
  }

  void ParseSize(pugi::xml_node node, bool inherited, Container& container) {
    const bool has_dwords = Attribute(node, "dwords"), has_bytes = Attribute(node, "bytes");
    if (has_dwords && has_bytes) {
      Problem(Code::kContradiction, At(node, "bytes"), "dwords and bytes exclude each other");
    }
    if (!has_dwords && !has_bytes) {
      if (inherited) return;
      Problem(Code::kMissingAttribute, At(node),
              absl::StrCat("<", node.name(), "> needs dwords=\"…\" or bytes=\"…\""));
      container.variable = true;
      return;
    }
    const char* attribute = has_dwords ? "dwords" : "bytes";
    container.byte_unit = !has_dwords;
    container.variable = Text(node, attribute) == "variable";
    if (container.variable) {
      container.bytes = 0;
      return;
    }
    const uint32_t unit = has_dwords ? 4 : 1;
    container.bytes = Small(node, attribute, 0, kLargestContainer / unit) * unit;
    if (container.bytes == 0 || container.bytes % 2 != 0) {
      Problem(Code::kBadNumber, At(node, attribute),
              "a container has at least two bytes, and a whole number of pairs of bytes");
      container.bytes = 4;
    }
  }

  void ParseVariant(pugi::xml_node node, Container& container) {
    Allow(node, {"dwords", "bytes", "when"});
    Empty(node);
    Variant variant;
    variant.where = At(node);
    Required(node, "when");
    variant.when = Later(node, "when");
    const uint32_t unit = Attribute(node, "bytes") ? 1 : 4;
    const char* attribute = unit == 1 ? "bytes" : "dwords";
    Required(node, attribute);
    variant.bytes = Small(node, attribute, 0, kLargestContainer / unit) * unit;
    container.variants.push_back(std::move(variant));
  }

  void ParsePart(pugi::xml_node node, Container& container) {
    Allow(node, {"name", "alias", "struct", "when", "repeat"});
    Empty(node);
    Part part;
    part.where = At(node);
    part.name = Required(node, "name");
    part.alias = Identifier(node);
    part.struct_name = Later(node, "struct");
    if (part.struct_name.empty()) part.struct_name.text = part.name;
    part.when = Later(node, "when");
    part.repeat = Later(node, "repeat");
    container.parts.push_back(std::move(part));
  }

  void ParseFlow(pugi::xml_node node, Container& container) {
    Allow(node, {"kind", "when", "to", "maybe"});
    Empty(node);
    const size_t problems = diagnostics_.errors();
    Required(node, "kind");
    Flow flow;
    flow.where = At(node);
    flow.kind =
        static_cast<Flow::Kind>(Word(node, "kind", {"jump", "call", "return", "end", "terminate"}));
    flow.when = Later(node, "when");
    flow.to = Later(node, "to");
    flow.maybe = Later(node, "maybe");
    // Of an unknown kind nothing more can be said.
    if (problems == diagnostics_.errors()) container.flows.push_back(std::move(flow));
  }

  void ParseDraws(pugi::xml_node node, Container& container) {
    Allow(node, {"data", "indices", "indexed", "when", "first", "count", "first-instance",
                 "instances", "bias", "cuts", "cut"});
    Empty(node);
    Required(node, "data");
    for (const auto& [what, needs] :
         {std::make_pair("cut", "cuts"), std::make_pair("cuts", "indices")}) {
      if (Attribute(node, what) && !Attribute(node, needs)) {
        Problem(Code::kContradiction, At(node, what),
                absl::StrCat(what, " is only of use with ", needs));
      }
    }
    if (!container.draws.empty()) {
      Problem(Code::kContradiction, At(node), "a packet draws once");
    }
    Draws draws;
    draws.where = At(node);
    draws.data = Later(node, "data");
    draws.indices = Later(node, "indices");
    draws.indexed = Later(node, "indexed");
    draws.when = Later(node, "when");
    draws.first = Later(node, "first");
    draws.count = Later(node, "count");
    draws.first_instance = Later(node, "first-instance");
    draws.instances = Later(node, "instances");
    draws.bias = Later(node, "bias");
    draws.cuts = Later(node, "cuts");
    draws.cut = Later(node, "cut");
    container.draws.assign(1, std::move(draws));
  }

  void ParseImage(pugi::xml_node node, Container& container) {
    Allow(node, {"as", "when", "address", "format", "type", "width", "height", "depth", "pitch"});
    Empty(node);
    Required(node, "address");
    Image image;
    image.where = At(node);
    if (Attribute(node, "as")) {
      image.use = static_cast<SurfaceUse>(Word(node, "as", {"surface", "texture", "target"}));
    }
    image.when = Later(node, "when");
    image.address = Later(node, "address");
    image.format = Later(node, "format");
    image.type = Later(node, "type");
    image.width = Later(node, "width");
    image.height = Later(node, "height");
    image.depth = Later(node, "depth");
    image.pitch = Later(node, "pitch");
    container.images.push_back(std::move(image));
  }

  static bool RemoveItem(std::vector<Item>& items, const std::string& name) {
    if (name.empty()) return false;
    for (auto it = items.begin(); it != items.end(); ++it) {
      if (it->name == name) {
        items.erase(it);
        return true;
      }
      if (it->kind == Item::Kind::kGroup && RemoveItem(it->items, name)) {
        if (it->items.empty()) items.erase(it);
        return true;
      }
    }
    return false;
  }

  // --- Fields, reserved runs, groups -------------------------------------------------------------

  bool ParseItem(pugi::xml_node node, std::vector<Item>& into, int depth, bool inherited) {
    const absl::string_view what = node.name();
    Item item;
    if (what == "field") {
      const Item* old = Amended(node, into, inherited);
      if (old != nullptr) item = *old;
      item.where = At(node);
      ParseField(node, item, old != nullptr);
    } else if (what == "reserved") {
      item.kind = Item::Kind::kReserved;
      item.where = At(node);
      Allow(node, {"name", "dword", "bits", "must"});
      item.name = Text(node, "name");
      ParseBits(node, item);
      item.must_be_one = Word(node, "must", {"zero", "one"}) == 1;
      Children(node, item);
    } else if (what == "group") {
      item.kind = Item::Kind::kGroup;
      item.where = At(node);
      ParseGroup(node, item, depth);
    } else {
      return false;
    }
    Insert(std::move(item), into, inherited);
    return true;
  }

  // The field that amend="true" starts from, nullptr where there is none.
  const Item* Amended(pugi::xml_node node, const std::vector<Item>& items, bool inherited) {
    if (!Flag(node, "amend")) return nullptr;
    const std::string name = Text(node, "name");
    for (const Item& item : items) {
      if (inherited && item.kind == Item::Kind::kField && item.name == name) return &item;
    }
    Problem(Code::kNothingToInherit, At(node, "amend"),
            absl::StrCat("there is no inherited field \"", name, "\" to amend"));
    return nullptr;
  }

  // In an heir an item of the same name (a group without one: at the same place) replaces the old
  // one. Items are in the order of their bits; what stays at its bit stays in its place.
  static void Insert(Item&& item, std::vector<Item>& into, bool inherited) {
    if (!inherited) {
      into.push_back(std::move(item));
      return;
    }
    for (auto old = into.begin(); old != into.end(); ++old) {
      if (old->kind != item.kind) continue;
      if (item.name.empty() ? !old->name.empty() || old->bit != item.bit : old->name != item.name) {
        continue;
      }
      if (old->bit == item.bit) {
        *old = std::move(item);
        return;
      }
      into.erase(old);
      break;
    }
    const auto after =
        std::find_if(into.begin(), into.end(), [&](const Item& old) { return old.bit > item.bit; });
    into.insert(after, std::move(item));
  }

  // "high:low", or one bit. False if it is neither; of numbers in the wrong order both are given.
  static bool ParseHighLow(const std::string& text, uint64_t& high, uint64_t& low) {
    const std::vector<absl::string_view> ends = absl::StrSplit(text, ':');
    if (ends.size() == 1) {
      const bool good = ParseUnsigned(ends[0], high);
      low = high;
      return good;
    }
    return ends.size() == 2 && ParseUnsigned(ends[0], high) && ParseUnsigned(ends[1], low) &&
           high >= low;
  }

  void ParseBits(pugi::xml_node node, Item& item) {
    Required(node, "dword");
    const uint32_t dword = Small(node, "dword", 0, kLargestContainer / 4);
    const std::string text = Required(node, "bits");
    uint64_t high = 0, low = 0;
    const bool good = ParseHighLow(text, high, low);
    item.unplaced = false;
    if (!good || high < low || high > kLargestContainer * 8) {
      if (!text.empty()) {
        Problem(Code::kBadBits, At(node, "bits"),
                absl::StrCat("bits=\"", text,
                             "\" must be \"high:low\" or one bit, counted from the dword's start"));
      }
      // The wrong way round, it is clear what is meant.
      item.unplaced = high >= low || low > kLargestContainer * 8;
      if (item.unplaced) high = low = 0;
      item.overlap = item.unplaced;
      if (high < low) std::swap(high, low);
    }
    item.bit = dword * 32 + static_cast<uint32_t>(low);
    item.width = static_cast<uint32_t>(high - low + 1);
  }

  void ParseGroup(pugi::xml_node node, Item& item, int depth) {
    Allow(node, {"name", "alias", "count", "max", "c-count", "c-whole", "dword", "bit", "size",
                 "overlap"});
    item.name = Text(node, "name");
    item.alias = Identifier(node);
    item.overlap = Flag(node, "overlap");
    Required(node, "dword");
    item.bit = Small(node, "dword", 0, kLargestContainer / 4) * 32 +
               Small(node, "bit", 0, kLargestContainer * 8);
    Required(node, "size");
    item.width = Small(node, "size", 0, kLargestContainer * 8);
    const std::string count = Required(node, "count");
    item.tail = count == "tail";
    if (!item.tail && !count.empty()) item.count = Small(node, "count", 0, kMostRepeats);
    if (Attribute(node, "max")) item.most = Small(node, "max", 1, kMostRepeats);
    if (item.most != 0 && !item.tail) {
      Problem(Code::kContradiction, At(node, "max"),
              "max=\"…\" bounds a tail; any other group has as many items as count=\"…\" says");
    }
    item.c_count = Small(node, "c-count", 0, kMostRepeats);
    if (item.most != 0 && item.c_count > item.most) {
      Problem(Code::kContradiction, At(node, "c-count"),
              "more items would be members in C than max=\"…\" allows");
    }
    if (item.c_count != 0 && !item.tail) {
      Problem(Code::kContradiction, At(node, "c-count"),
              "all items of a group that is no tail are members in C");
    }
    if (item.width == 0 || (!item.tail && item.count == 0)) {
      Problem(Code::kBadGroup, item.where, "a group repeats at least once, and has items of bits");
      item.width = item.width == 0 ? 32 : item.width;
      item.count = item.tail ? 0 : 1;
    }
    if (depth + 1 >= kDeepestGroup) {
      Problem(Code::kTooLarge, item.where,
              absl::StrCat("groups nest at most ", kDeepestGroup - 1, " deep"));
      return;
    }
    for (const pugi::xml_node child : node.children()) {
      if (!ParseItem(child, item.items, depth + 1, false) && !Words(child, item)) {
        Unknown(child, node);
      }
    }
    if (item.items.empty()) {
      Problem(Code::kBadGroup, item.where, "a group holds at least one field");
    }
    item.c_whole = Flag(node, "c-whole");
    if (item.c_whole && ((item.tail && item.c_count == 0) || item.items.size() != 1 ||
                         !IsFilledBy(item, item.items[0]))) {
      Problem(Code::kContradiction, At(node, "c-whole"),
              "only items of one uint field that fills them are one field in C");
    }
  }

  static bool IsFilledBy(const Item& group, const Item& item) {
    return item.kind == Item::Kind::kField && item.type == FieldType::kUint && item.bit == 0 &&
           item.width == group.width;
  }

  // What C says of a field in place of what is right.
  void ParsePublished(pugi::xml_node node, Item& item, bool amend) {
    if (!amend || Attribute(node, "c-bits")) {
      item.c_bits = Small(node, "c-bits", 0, kLargestContainer * 8);
    }
    if (Attribute(node, "c-default")) {
      Word(node, "c-default", {"none"});
      item.c_no_default = true;
    }
    if (Attribute(node, "c-type")) {
      Word(node, "c-type", {"uint"});
      item.c_uint = true;
      if (item.type != FieldType::kOffset) {
        Problem(Code::kContradiction, At(node, "c-type"), "only an offset has another type in C");
      }
    }
  }

  // With `amend` the item is the inherited one, and what the element does not mention stays.
  void ParseField(pugi::xml_node node, Item& item, bool amend) {
    Allow(node,
          {"name",   "alias",  "dword",     "bits",  "type",  "default", "forced",  "minus",
           "shift",  "log2",   "groups",    "align", "min",   "max",     "nonzero", "multiple",
           "unit",   "prefix", "overlap",   "high",  "names", "means",   "at",      "amend",
           "c-type", "c-bits", "c-default", "clamp", "when"});
    const auto says = [&](const char* attribute) { return !amend || Attribute(node, attribute); };
    item.name = Required(node, "name");
    if (says("alias")) item.alias = Identifier(node);
    const bool moves = says("dword") || says("bits");
    if (moves) ParseBits(node, item);
    if (says("type")) {
      Required(node, "type");
      item.type_name = Later(node, "type");
    }
    if (moves || says("type")) ParseType(node, item);
    if (says("minus")) item.encoding.minus = Number(node, "minus", 1u << 31).value_or(0);
    if (says("shift")) {
      item.shift_given = Attribute(node, "shift");
      item.encoding.shift = Small(node, "shift", 0, 63);
    }
    if (says("log2")) item.encoding.log2 = Flag(node, "log2");
    if (says("groups")) item.encoding.groups = Number(node, "groups", 1u << 31).value_or(0);
    if (says("align")) item.encoding.align = Number(node, "align", 1u << 31).value_or(0);
    for (const char* power : {"align", "groups"}) {
      if (Attribute(node, power) && Number(node, power) == uint64_t{0}) {
        Problem(Code::kBadEncoding, At(node, power), absl::StrCat(power, " cannot be 0"));
      }
    }
    if (says("clamp")) item.clamp = Flag(node, "clamp");
    if (says("nonzero")) {
      item.nonzero = static_cast<NotZero>(Word(node, "nonzero", {"false", "packing", "true"}));
    }
    if (says("overlap")) item.overlap = Flag(node, "overlap");
    if (says("when")) item.when = Later(node, "when");
    if (says("multiple")) item.multiple = Number(node, "multiple", 1u << 31).value_or(0);
    if (says("prefix")) item.prefix = Text(node, "prefix");
    if (says("unit")) item.unit = Text(node, "unit");
    if (says("forced")) item.forced = Number(node, "forced");
    if (says("default")) item.default_text = Later(node, "default");
    if (says("high")) item.high_text = Later(node, "high");
    ParsePublished(node, item, amend);
    if (says("names")) item.names = Later(node, "names");
    if (says("at")) item.meaning_at = Small(node, "at", 0, 63);
    if (Attribute(node, "means")) {
      item.meaning = static_cast<Meaning>(1 + Word(node, "means", kMeaningNames));
    }
    ParseRange(node, item);
    // What a field points to, sets and writes is said anew, or stays as a whole.
    bool points_said = !amend, sets_said = !amend, writes_said = !amend, elements_said = !amend;
    const auto fresh = [](bool& said, auto&&... all) {
      if (!said) ((all = {}), ...);
      said = true;
    };
    ValueList values(item.values, amend);
    for (const pugi::xml_node child : node.children()) {
      const absl::string_view what = child.name();
      if (ParseValueOrRemove(child, values)) {
        // Done.
      } else if (what == "points") {
        fresh(points_said, item.points);
        ParsePoints(child, item);
      } else if (what == "sets") {
        fresh(sets_said, item.sets);
        Allow(child, {"base", "state", "when"});
        Empty(child);
        const bool is_state = Attribute(child, "state");
        if (!is_state) Required(child, "base");
        if (!item.sets.empty() || (is_state && Attribute(child, "base"))) {
          Problem(Code::kContradiction, At(child), "a field sets one base or one state");
        }
        item.sets.assign(
            1,
            SetsBase{
                Later(child, is_state ? "state" : "base"), Later(child, "when"), is_state, -1, {}});
      } else if (what == "writes") {
        fresh(writes_said, item.writes_register, item.writes_memory);
        Allow(child, {"register", "memory", "when"});
        Empty(child);
        if (!item.writes_register.empty() || !item.writes_memory.empty()) {
          Problem(Code::kContradiction, At(child), "a field writes one register");
        }
        item.writes_memory = Later(child, "memory");
        item.writes_when = Later(child, "when");
        if (item.writes_memory.empty()) {
          Required(child, "register");
        } else if (Attribute(child, "register")) {
          Problem(Code::kContradiction, At(child, "memory"),
                  "register and memory exclude each other");
        }
        if (!item.writes_when.empty() && item.writes_memory.empty()) {
          Problem(Code::kContradiction, At(child, "when"), "only writes to memory have when");
        }
        item.writes_register = Later(child, "register");
      } else if (what == "element" || what == "step") {
        fresh(elements_said, item.elements);
        ParseElement(child, item);
      } else if (!Words(child, item)) {
        Unknown(child, node);
      }
    }
    values.Finish();
    if (item.unplaced) item.overlap = true;
  }

  void ParseType(pugi::xml_node node, Item& item) {
    static constexpr std::pair<absl::string_view, FieldType> kSimple[] = {
        {"uint", FieldType::kUint},     {"int", FieldType::kInt},
        {"bool", FieldType::kBool},     {"float", FieldType::kFloat},
        {"half", FieldType::kHalf},     {"address", FieldType::kAddress},
        {"offset", FieldType::kOffset},
    };
    const std::string& text = item.type_name.text;
    for (const auto& [name, type] : kSimple) {
      if (text == name) {
        item.type = type;
        return;
      }
    }
    // uI.F and sI.F.
    uint64_t whole = 0, fraction = 0;
    const std::vector<absl::string_view> halves =
        absl::StrSplit(absl::string_view(text).substr(text.empty() ? 0 : 1), '.');
    if (!text.empty() && (text[0] == 'u' || text[0] == 's') && halves.size() == 2 &&
        ParseUnsigned(halves[0], whole) && ParseUnsigned(halves[1], fraction) && whole <= 64 &&
        fraction <= 64) {
      item.type = text[0] == 'u' ? FieldType::kUfixed : FieldType::kSfixed;
      item.fraction_bits = static_cast<uint32_t>(std::min<uint64_t>(fraction, 63));
      const uint64_t bits = whole + fraction + (text[0] == 's' ? 1 : 0);
      if (bits != item.width && !item.unplaced) {
        Problem(Code::kBadWidth, At(node, "type"),
                absl::StrCat("type ", text, " takes ", bits, " bits, the field has ", item.width));
      }
      return;
    }
    item.type = FieldType::kEnum;  // or a structure; resolved by name later
  }

  void ParseRange(pugi::xml_node node, Item& item) {
    const bool real = item.type == FieldType::kFloat || item.type == FieldType::kHalf ||
                      item.type == FieldType::kUfixed || item.type == FieldType::kSfixed;
    for (const char* name : {"min", "max"}) {
      if (!Attribute(node, name)) continue;
      const std::string text = Text(node, name);
      const bool is_min = name[1] == 'i';
      int64_t integer = 0;
      double number = 0;
      if (real && absl::SimpleAtod(text, &number) && std::isfinite(number)) {
        (is_min ? item.min_real : item.max_real) = number;
      } else if (!real && ParseSigned(text, integer)) {
        (is_min ? item.min : item.max) = integer;
      } else {
        Problem(Code::kBadNumber, At(node, name),
                absl::StrCat(name, "=\"", text, "\" is no number"));
      }
    }
  }

  // <element of="DATA" …/>: the field's value is the format of an element of the data's rows.
  // <step of="DATA" element="…"/>: it says how many instances share a row.
  void ParseElement(pugi::xml_node node, Item& item) {
    ElementOf element;
    element.is_step = absl::string_view(node.name()) == "step";
    if (element.is_step) {
      Allow(node, {"of", "element", "when"});
      Required(node, "element");
    } else {
      Allow(node, {"of", "element", "slot", "offset", "when"});
    }
    Empty(node);
    Required(node, "of");
    if (!item.elements.empty()) {
      Problem(Code::kContradiction, At(node), "a field says one thing of elements");
    }
    element.where = At(node);
    element.data = Later(node, "of");
    element.number = Later(node, "element");
    element.slot = Later(node, "slot");
    element.offset = Later(node, "offset");
    element.when = Later(node, "when");
    item.elements.assign(1, std::move(element));
  }

  void ParsePoints(pugi::xml_node node, Item& item) {
    Allow(node, {"to",         "base",   "count", "size",  "end",   "stride",   "space",
                 "space-when", "access", "when",  "until", "limit", "scale",    "slot",
                 "format",     "step",   "stage", "simd",  "or",    "relative", "keeps"});
    Empty(node);
    if (!item.points.empty() && item.points.back().when.empty()) {
      Problem(Code::kContradiction, At(node),
              "a field points to one thing; of several, all but the last need when=\"…\"");
    }
    Points points;
    points.where = At(node);
    Required(node, "to");
    points.to = Later(node, "to");
    points.base = Later(node, "base");
    points.other = Later(node, "or");
    points.relative = Flag(node, "relative");
    if (points.relative && !points.base.empty()) {
      Problem(Code::kContradiction, At(node, "relative"),
              "an offset counts from a base or from its own record");
    }
    points.keeps = Flag(node, "keeps");
    if (points.keeps && !Attribute(node, "when")) {
      Problem(Code::kContradiction, At(node, "keeps"),
              "a pointer that always counts keeps nothing; keeps=\"true\" needs when=\"…\"");
    }
    points.count = Later(node, "count");
    points.size = Later(node, "size");
    points.end = Later(node, "end");
    if (!points.end.empty() && !points.size.empty()) {
      Problem(Code::kContradiction, At(node, "end"), "size and end exclude each other");
    }
    points.stride = Later(node, "stride");
    points.slot = Later(node, "slot");
    points.format = Later(node, "format");
    points.step = Later(node, "step");
    points.simd = Later(node, "simd");
    points.scale = Later(node, "scale");
    points.stage = Text(node, "stage");
    points.space = Later(node, "space");
    points.space_when = Later(node, "space-when");
    points.when = Later(node, "when");
    points.access =
        static_cast<Access>(Word(node, "access", {"none", "read", "write", "readwrite"}));
    points.until_zero = Word(node, "until", {"", "zero"}) == 1;
    points.limit = Small(node, "limit", 32, 65536);
    item.points.push_back(std::move(points));
  }

  const ReadFile& read_file_;
  Parsed& parsed_;
  Sources& sources_;
  Diagnostics& diagnostics_;
  Model& model_;
  std::vector<std::string> lineage_;
  std::unordered_map<const void*, NameIndex> indices_;  // of the model's lists
  int32_t file_ = -1;
  mutable pugi::xml_node attributes_of_;
  mutable std::vector<std::pair<absl::string_view, pugi::xml_attribute>> attributes_;
};

}  // namespace

void Parse(const std::string& path, const ReadFile& read_file, Parsed& parsed,
           Diagnostics& diagnostics, Model& model) {
  Parser(read_file, parsed, diagnostics, model).File(path, Location{});
}

}  // namespace packsmith::model
