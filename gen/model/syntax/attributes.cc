#include "gen/model/syntax/attributes.h"

#include <cstddef>
#include <utility>

namespace packsmith::model {
namespace {

constexpr uint64_t k32Bits = 0xffffffffu;

template <auto member>
struct Member;
template <class T, class V, V T::*member>
struct Member<member> {
  using Owner = T;
  using Value = V;
};
template <auto member>
using OwnerOf = typename Member<member>::Owner;

// --- How an attribute is stored: in `member` of a T, which may be one of its bases' ---

template <auto member, class T = OwnerOf<member>>
Attribute<T> Text(absl::string_view name) {
  Attribute<T> out;
  out.info = {name, ValueKind::kText, false, {}};
  out.text = member;
  return out;
}

// Understood when all is known.
template <auto member, class T = OwnerOf<member>>
Attribute<T> Later(absl::string_view name) {
  Attribute<T> out;
  out.info = {name, ValueKind::kText, false, {}};
  out.later = [](T& of) -> Deferred& { return of.*member; };
  return out;
}

template <auto member, class T = OwnerOf<member>>
Attribute<T> Flag(absl::string_view name) {
  Attribute<T> out;
  out.info = {name, ValueKind::kFlag, false, {}};
  out.flag = member;
  return out;
}

template <auto member, class T = OwnerOf<member>>
Attribute<T> Number(absl::string_view name, uint64_t otherwise, uint64_t most) {
  Attribute<T> out;
  out.info = {name, ValueKind::kNumber, false, {}};
  out.number = [](T& into, uint64_t value) {
    into.*member = static_cast<typename Member<member>::Value>(value);
  };
  out.otherwise = otherwise;
  out.most = most;
  return out;
}

// The enumerators of `member`, from 0 on, are in the order of the words.
template <auto member, class T = OwnerOf<member>>
Attribute<T> Word(absl::string_view name, absl::Span<const absl::string_view> words) {
  Attribute<T> out;
  out.info = {name, ValueKind::kWord, false, words};
  out.word = [](T& into, size_t index) {
    into.*member = static_cast<typename Member<member>::Value>(index);
  };
  return out;
}

// The element's parser reads it.
template <class T>
Attribute<T> Own(absl::string_view name, ValueKind kind = ValueKind::kText,
                 absl::Span<const absl::string_view> words = {}) {
  Attribute<T> out;
  out.info = {name, kind, false, words};
  return out;
}

constexpr ValueKind kNumber = ValueKind::kNumber, kFlag = ValueKind::kFlag,
                    kWord = ValueKind::kWord, kOther = ValueKind::kOther;

}  // namespace

// --- Words ---

const absl::string_view kUnitWords[2] = {"dword", "byte"};
const absl::string_view kRoleWords[3] = {"other", "draw", "dispatch"};
const absl::string_view kServedRoleWords[2] = {"draw", "dispatch"};
const absl::string_view kSurfaceWords[3] = {"surface", "texture", "target"};
const absl::string_view kNoneWords[1] = {"none"};
const absl::string_view kUintWords[1] = {"uint"};

namespace {
constexpr absl::string_view kMustWords[] = {"zero", "one"};
constexpr absl::string_view kNonzeroWords[] = {"false", "packing", "true"};
constexpr absl::string_view kAccessWords[] = {"none", "read", "write", "readwrite"};
constexpr absl::string_view kUntilWords[] = {"", "zero"};
}  // namespace

// --- The file ---

const Attributes<Model>& RootAttributes() {
  using T = Model;
  static const auto& table = *new Attributes<T>{Own<T>("family"),
                                                Own<T>("generation").Required(),
                                                Own<T>("version"),
                                                Text<&T::title>("title"),
                                                Own<T>("namespace"),
                                                Own<T>("prefix"),
                                                Own<T>("unit", kWord, kUnitWords),
                                                Own<T>("address-bits", kNumber),
                                                Text<&T::aliases>("aliases"),
                                                Own<T>("extends")};
  return table;
}

const Attributes<Engine>& EngineAttributes() {
  using T = Engine;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Text<&T::aliases>("aliases"),
                         Number<&T::registers>("registers", 0, k32Bits)};
  return table;
}

const Attributes<Platform>& PlatformAttributes() {
  using T = Platform;
  static const auto& table = *new Attributes<T>{
      Text<&T::name>("name").Required(), Text<&T::title>("title"), Own<T>("pci"), Own<T>("chip")};
  return table;
}

const Attributes<Workaround>& WorkaroundAttributes() {
  using T = Workaround;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("number").Required(), Later<&T::platforms>("platforms"),
                         Text<&T::honored>("honored")};
  return table;
}

const Attributes<Ask>& AskAttributes() {
  using T = Ask;
  static const auto& table = *new Attributes<T>{Word<&T::kind>("kind", kAskNames).Required(),
                                                Later<&T::of>("of"),
                                                Later<&T::with>("with"),
                                                Later<&T::field>("field"),
                                                Text<&T::value>("value"),
                                                Later<&T::when>("when"),
                                                Flag<&T::checked>("checked")};
  return table;
}

const Attributes<Space>& SpaceAttributes() {
  using T = Space;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Own<T>("number", kNumber).Required(),
                         Flag<&T::privileged>("privileged")};
  return table;
}

const Attributes<Base>& BaseAttributes() {
  using T = Base;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Later<&T::otherwise>("else")};
  return table;
}

const Attributes<State>& StateAttributes() {
  using T = State;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Later<&T::of>("of")};
  return table;
}

const Attributes<Client>& ClientAttributes() {
  using T = Client;
  static const auto& table = *new Attributes<T>{Word<&T::kind>("name", kClientNames).Required(),
                                                Word<&T::in_l3>("level", kLevelNames),
                                                Word<&T::after_write>("after", kAfterNames),
                                                Later<&T::flush>("flush"),
                                                Later<&T::to_memory>("to-memory"),
                                                Later<&T::invalidate>("invalidate"),
                                                Later<&T::from_memory>("from-memory"),
                                                Later<&T::own>("own")};
  return table;
}

const Attributes<DataKind>& DataAttributes() {
  using T = DataKind;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Own<T>("components"),
                         Flag<&T::is_code>("code"), Own<T>("client", kWord, kClientNames)};
  return table;
}

const Attributes<Instruction>& InstructionAttributes() {
  using T = Instruction;
  static const auto& table =
      *new Attributes<T>{Number<&T::mask>("mask", 0, k32Bits).Required(),
                         Number<&T::value>("value", 0, k32Bits).Required(),
                         Number<&T::bytes>("bytes", 0, 256).Required(), Own<T>("end", kNumber)};
  return table;
}

const Attributes<Reach>& ReachAttributes() {
  using T = Reach;
  static const auto& table =
      *new Attributes<T>{Own<T>("as", kWord, kSurfaceWords).Required(), Own<T>("where").Required(),
                         Own<T>("index").Required()};
  return table;
}

const Attributes<Stream>& StreamAttributes() {
  using T = Stream;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Later<&T::engines_text>("engines"),
                         Number<&T::align>("align", 4, 64), Later<&T::levels>("levels"),
                         Number<&T::prefetch>("prefetch", 0, 65536)};
  return table;
}

const Attributes<UnknownLength>& UnknownAttributes() {
  using T = UnknownLength;
  static const auto& table =
      *new Attributes<T>{Number<&T::mask>("mask", 0, k32Bits).Required(),
                         Number<&T::value>("value", 0, k32Bits).Required(), Own<T>("length"),
                         Number<&T::bias>("bias", 1, 255).Required()};
  return table;
}

const Attributes<Serves>& ServesAttributes() {
  using T = Serves;
  static const auto& table = *new Attributes<T>{Number<&T::mask>("mask", 0, k32Bits).Required(),
                                                Number<&T::value>("value", 0, k32Bits).Required(),
                                                Own<T>("role", kWord, kServedRoleWords).Required()};
  return table;
}

const Attributes<Enum>& EnumAttributes() {
  using T = Enum;
  static const auto& table =
      *new Attributes<T>{Own<T>("name").Required(), Own<T>("prefix"), Own<T>("amend", kFlag)};
  return table;
}

const Attributes<Value>& ValueAttributes() {
  using T = Value;
  static const auto& table =
      *new Attributes<T>{Text<&T::name>("name").Required(), Own<T>("value", kNumber).Required(),
                         Flag<&T::avoid>("avoid"), Own<T>("components")};
  return table;
}

// --- Containers ---

const Attributes<Container>& PacketAttributes() {
  using T = Container;
  static const auto& table = *new Attributes<T>{Own<T>("name").Required(),
                                                Own<T>("alias"),
                                                Own<T>("dwords", kOther),
                                                Own<T>("bytes", kOther),
                                                Later<&T::length_name>("length"),
                                                Number<&T::length_bias>("bias", 0, 255),
                                                Later<&T::engines_text>("engines"),
                                                Later<&T::stream_name>("stream"),
                                                Word<&T::role>("role", kRoleWords),
                                                Own<T>("c-dwords", kNumber),
                                                Own<T>("like"),
                                                Own<T>("amend", kFlag)};
  return table;
}

const Attributes<Container>& StructAttributes() {
  using T = Container;
  static const auto& table =
      *new Attributes<T>{Own<T>("name").Required(),   Own<T>("alias"),
                         Own<T>("dwords", kOther),    Own<T>("bytes", kOther),
                         Own<T>("c-dwords", kNumber), Own<T>("like"),
                         Own<T>("amend", kFlag)};
  return table;
}

const Attributes<Container>& RegisterAttributes() {
  using T = Container;
  static const auto& table = *new Attributes<T>{Own<T>("name").Required(),
                                                Own<T>("alias"),
                                                Own<T>("dwords", kOther),
                                                Own<T>("bytes", kOther),
                                                Own<T>("offset", kNumber),
                                                Own<T>("c-offset", kNumber),
                                                Text<&T::dumped_as>("dumped-as"),
                                                Flag<&T::masked>("masked"),
                                                Flag<&T::privileged>("privileged"),
                                                Later<&T::engines_text>("engines"),
                                                Own<T>("like"),
                                                Own<T>("amend", kFlag)};
  return table;
}

const Attributes<Variant>& VariantAttributes() {
  using T = Variant;
  static const auto& table = *new Attributes<T>{Own<T>("dwords", kNumber), Own<T>("bytes", kNumber),
                                                Later<&T::when>("when").Required()};
  return table;
}

const Attributes<Part>& PartAttributes() {
  using T = Part;
  static const auto& table = *new Attributes<T>{
      Text<&T::name>("name").Required(), Own<T>("alias"), Later<&T::struct_name>("struct"),
      Later<&T::when>("when"), Later<&T::repeat>("repeat")};
  return table;
}

const Attributes<Pad>& PadAttributes() {
  using T = Pad;
  static const auto& table =
      *new Attributes<T>{Number<&T::to>("to", 0, 64).Required(), Later<&T::when>("when")};
  return table;
}

const Attributes<Flow>& FlowAttributes() {
  using T = Flow;
  static const auto& table =
      *new Attributes<T>{Word<&T::kind>("kind", kFlowNames).Required(), Later<&T::when>("when"),
                         Later<&T::to>("to"), Later<&T::maybe>("maybe")};
  return table;
}

namespace {

template <size_t role>
Attribute<Operation> OperandOf() {
  Attribute<Operation> out;
  out.info = {kOperandNames[role], ValueKind::kText, false, {}};
  out.later = [](Operation& of) -> Deferred& { return of.operands[role]; };
  return out;
}

template <size_t... roles>
const Attributes<Operation>& MakeOperationAttributes(std::index_sequence<roles...>) {
  using T = Operation;
  static const auto& table = *new Attributes<T>{Word<&T::kind>("kind", kOperationNames).Required(),
                                                Later<&T::when>("when"), OperandOf<roles>()...};
  return table;
}

}  // namespace

const Attributes<Operation>& OperationAttributes() {
  return MakeOperationAttributes(std::make_index_sequence<tables::kOperandRoles>());
}

const Attributes<Relation>& RelationAttributes() {
  using T = Relation;
  static const auto& table = *new Attributes<T>{Word<&T::kind>("kind", kRelationNames).Required(),
                                                Later<&T::packet>("packet").Required()};
  return table;
}

const Attributes<Rule>& RuleAttributes() {
  using T = Rule;
  static const auto& table =
      *new Attributes<T>{Text<&T::number>("number").Required(),
                         Word<&T::severity>("severity", kSeverityNames).Required(),
                         Later<&T::when>("when"),
                         Later<&T::left>("left"),
                         Word<&T::is>("is", kComparisonNames),
                         Later<&T::right>("right")};
  return table;
}

const Attributes<Draws>& DrawsAttributes() {
  using T = Draws;
  static const auto& table = *new Attributes<T>{Later<&T::data>("data").Required(),
                                                Later<&T::indices>("indices"),
                                                Later<&T::indexed>("indexed"),
                                                Later<&T::when>("when"),
                                                Later<&T::first>("first"),
                                                Later<&T::count>("count"),
                                                Later<&T::first_instance>("first-instance"),
                                                Later<&T::instances>("instances"),
                                                Later<&T::bias>("bias"),
                                                Later<&T::cuts>("cuts"),
                                                Later<&T::cut>("cut")};
  return table;
}

const Attributes<Image>& ImageAttributes() {
  using T = Image;
  static const auto& table = *new Attributes<T>{Word<&T::use>("as", kSurfaceWords),
                                                Word<&T::tiling>("tiling", kImageTilingNames),
                                                Later<&T::when>("when"),
                                                Later<&T::address>("address").Required(),
                                                Later<&T::format>("format"),
                                                Later<&T::type>("type"),
                                                Later<&T::width>("width"),
                                                Later<&T::height>("height"),
                                                Later<&T::depth>("depth"),
                                                Later<&T::pitch>("pitch")};
  return table;
}

// --- Fields, reserved runs, groups ---

const Attributes<Field>& FieldAttributes() {
  using T = Field;
  static const auto& table = *new Attributes<T>{Text<&T::name, T>("name").Required(),
                                                Own<T>("alias"),
                                                Own<T>("dword", kNumber).Required(),
                                                Own<T>("bits").Required(),
                                                Own<T>("type").Required(),
                                                Later<&T::default_text>("default"),
                                                Own<T>("forced", kNumber),
                                                Own<T>("minus", kNumber),
                                                Own<T>("shift", kNumber),
                                                Own<T>("log2", kFlag),
                                                Own<T>("groups", kNumber),
                                                Own<T>("align", kNumber),
                                                Own<T>("min"),
                                                Own<T>("max"),
                                                Word<&T::nonzero>("nonzero", kNonzeroWords),
                                                Number<&T::multiple>("multiple", 0, 1u << 31),
                                                Text<&T::unit>("unit"),
                                                Text<&T::prefix>("prefix"),
                                                Flag<&T::overlap, T>("overlap"),
                                                Later<&T::high>("high"),
                                                Later<&T::names>("names"),
                                                Own<T>("means", kWord, kMeaningNames),
                                                Number<&T::meaning_at>("at", 0, 63),
                                                Own<T>("amend", kFlag),
                                                Own<T>("c-type", kWord, kUintWords),
                                                Own<T>("c-bits", kNumber),
                                                Own<T>("c-default", kWord, kNoneWords),
                                                Flag<&T::clamp>("clamp"),
                                                Later<&T::when>("when")};
  return table;
}

const Attributes<Reserved>& ReservedAttributes() {
  using T = Reserved;
  static const auto& table =
      *new Attributes<T>{Text<&T::name, T>("name"), Own<T>("dword", kNumber).Required(),
                         Own<T>("bits").Required(), Word<&T::must_be_one>("must", kMustWords)};
  return table;
}

const Attributes<Group>& GroupAttributes() {
  using T = Group;
  static const auto& table =
      *new Attributes<T>{Text<&T::name, T>("name"),
                         Own<T>("alias"),
                         Own<T>("count", kOther).Required(),
                         Own<T>("max", kNumber),
                         Own<T>("c-count", kNumber),
                         Own<T>("c-whole", kFlag),
                         Own<T>("dword", kNumber).Required(),
                         Own<T>("bit", kNumber),
                         Number<&T::width, T>("size", 0, kLargestContainer * 8).Required(),
                         Flag<&T::overlap, T>("overlap")};
  return table;
}

const Attributes<Points>& PointsAttributes() {
  using T = Points;
  static const auto& table = *new Attributes<T>{Later<&T::to>("to").Required(),
                                                Later<&T::base>("base"),
                                                Later<&T::count>("count"),
                                                Later<&T::unlimited_when>("unlimited-when"),
                                                Later<&T::size>("size"),
                                                Later<&T::end>("end"),
                                                Later<&T::stride>("stride"),
                                                Later<&T::space>("space"),
                                                Later<&T::space_when>("space-when"),
                                                Word<&T::access>("access", kAccessWords),
                                                Later<&T::when>("when"),
                                                Word<&T::until_zero>("until", kUntilWords),
                                                Number<&T::limit>("limit", 32, 65536),
                                                Later<&T::scale>("scale"),
                                                Later<&T::slot>("slot"),
                                                Later<&T::format>("format"),
                                                Later<&T::step>("step"),
                                                Text<&T::stage>("stage"),
                                                Later<&T::simd>("simd"),
                                                Later<&T::other>("or"),
                                                Flag<&T::relative>("relative"),
                                                Flag<&T::keeps>("keeps"),
                                                Later<&T::align>("align")};
  return table;
}

const Attributes<SetsBase>& SetsAttributes() {
  using T = SetsBase;
  static const auto& table =
      *new Attributes<T>{Own<T>("base"), Own<T>("state"), Later<&T::when>("when"),
                         Later<&T::size>("size"), Later<&T::size_when>("size-when")};
  return table;
}

const Attributes<Field>& WritesAttributes() {
  using T = Field;
  static const auto& table =
      *new Attributes<T>{Later<&T::writes_register>("register"), Later<&T::writes_memory>("memory"),
                         Later<&T::writes_when>("when")};
  return table;
}

const Attributes<ElementOf>& ElementAttributes() {
  using T = ElementOf;
  static const auto& table = *new Attributes<T>{
      Later<&T::data>("of").Required(), Later<&T::number>("element"), Later<&T::slot>("slot"),
      Later<&T::offset>("offset"), Later<&T::when>("when")};
  return table;
}

const Attributes<ElementOf>& StepAttributes() {
  using T = ElementOf;
  static const auto& table =
      *new Attributes<T>{Later<&T::data>("of").Required(), Later<&T::number>("element").Required(),
                         Later<&T::when>("when")};
  return table;
}

// --- What says no more than a name ---

const Attributes<None>& IncludeAttributes() {
  using T = None;
  static const auto& table = *new Attributes<T>{Own<T>("file").Required()};
  return table;
}
const Attributes<None>& RemoveAttributes() {
  using T = None;
  static const auto& table =
      *new Attributes<T>{Own<T>("packet"), Own<T>("struct"), Own<T>("register"), Own<T>("enum")};
  return table;
}
const Attributes<None>& RemoveFieldAttributes() {
  using T = None;
  static const auto& table =
      *new Attributes<T>{Own<T>("field"), Own<T>("relation"), Own<T>("rule")};
  return table;
}
const Attributes<None>& RemoveValueAttributes() {
  using T = None;
  static const auto& table = *new Attributes<T>{Own<T>("value").Required()};
  return table;
}
const Attributes<None>& NoAttributes() {
  using T = None;
  static const auto& table = *new Attributes<T>{};
  return table;
}

std::vector<ElementInfo> AllElements() {
  return {
      {"packsmith", RootAttributes().infos()},     {"engine", EngineAttributes().infos()},
      {"platform", PlatformAttributes().infos()},  {"workaround", WorkaroundAttributes().infos()},
      {"asks", AskAttributes().infos()},           {"space", SpaceAttributes().infos()},
      {"base", BaseAttributes().infos()},          {"state", StateAttributes().infos()},
      {"data", DataAttributes().infos()},          {"instruction", InstructionAttributes().infos()},
      {"reaches", ReachAttributes().infos()},      {"stream", StreamAttributes().infos()},
      {"unknown", UnknownAttributes().infos()},    {"serves", ServesAttributes().infos()},
      {"enum", EnumAttributes().infos()},          {"value", ValueAttributes().infos()},
      {"packet", PacketAttributes().infos()},      {"struct", StructAttributes().infos()},
      {"register", RegisterAttributes().infos()},  {"variant", VariantAttributes().infos()},
      {"part", PartAttributes().infos()},          {"pad", PadAttributes().infos()},
      {"flow", FlowAttributes().infos()},          {"operation", OperationAttributes().infos()},
      {"relation", RelationAttributes().infos()},  {"rule", RuleAttributes().infos()},
      {"draws", DrawsAttributes().infos()},        {"image", ImageAttributes().infos()},
      {"field", FieldAttributes().infos()},        {"reserved", ReservedAttributes().infos()},
      {"group", GroupAttributes().infos()},        {"points", PointsAttributes().infos()},
      {"sets", SetsAttributes().infos()},          {"element", ElementAttributes().infos()},
      {"step", StepAttributes().infos()},          {"client", ClientAttributes().infos()},
      {"include", IncludeAttributes().infos()},    {"writes", WritesAttributes().infos()},
      {"remove", RemoveAttributes().infos()},      {"remove", RemoveFieldAttributes().infos()},
      {"remove", RemoveValueAttributes().infos()}, {"doc", NoAttributes().infos()},
      {"source", NoAttributes().infos()},
  };
}

}  // namespace packsmith::model
