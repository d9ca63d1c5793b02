// The attributes of each element, one table an element. A new attribute that is stored as it is
// takes a member of what the element becomes (ast/model.h) and a row here; tests hold
// xml/packsmith.rng and docs/xml.md against the tables.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTES_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gen/model/ast/model.h"
#include "gen/model/syntax/attribute.h"

namespace packsmith::model {

inline constexpr uint32_t kLargestContainer = 1 << 16;  // bytes
inline constexpr uint32_t kMostRepeats = 4096;

// Words of attributes that their elements' parsers read.
extern const absl::string_view kUnitWords[2];
extern const absl::string_view kRoleWords[3];
extern const absl::string_view kServedRoleWords[2];
extern const absl::string_view kSurfaceWords[3];
extern const absl::string_view kNoneWords[1];
extern const absl::string_view kUintWords[1];

// Of elements that are read into nothing.
struct None {};

const Attributes<Model>& RootAttributes();
const Attributes<Engine>& EngineAttributes();
const Attributes<Platform>& PlatformAttributes();
const Attributes<Workaround>& WorkaroundAttributes();
const Attributes<Ask>& AskAttributes();
const Attributes<Space>& SpaceAttributes();
const Attributes<Base>& BaseAttributes();
const Attributes<State>& StateAttributes();
const Attributes<Client>& ClientAttributes();
const Attributes<DataKind>& DataAttributes();
const Attributes<Instruction>& InstructionAttributes();
const Attributes<Reach>& ReachAttributes();
const Attributes<Stream>& StreamAttributes();
const Attributes<UnknownLength>& UnknownAttributes();
const Attributes<Serves>& ServesAttributes();
const Attributes<Enum>& EnumAttributes();
const Attributes<Value>& ValueAttributes();
const Attributes<Container>& PacketAttributes();
const Attributes<Container>& StructAttributes();
const Attributes<Container>& RegisterAttributes();
const Attributes<Variant>& VariantAttributes();
const Attributes<Part>& PartAttributes();
const Attributes<Pad>& PadAttributes();
const Attributes<Flow>& FlowAttributes();
const Attributes<Operation>& OperationAttributes();
const Attributes<Relation>& RelationAttributes();
const Attributes<Rule>& RuleAttributes();
const Attributes<Draws>& DrawsAttributes();
const Attributes<Image>& ImageAttributes();
const Attributes<Field>& FieldAttributes();
const Attributes<Reserved>& ReservedAttributes();
const Attributes<Group>& GroupAttributes();
const Attributes<Points>& PointsAttributes();
const Attributes<SetsBase>& SetsAttributes();
const Attributes<Field>& WritesAttributes();
const Attributes<ElementOf>& ElementAttributes();
const Attributes<ElementOf>& StepAttributes();
const Attributes<None>& IncludeAttributes();
const Attributes<None>& RemoveAttributes();
const Attributes<None>& RemoveFieldAttributes();
const Attributes<None>& RemoveValueAttributes();
const Attributes<None>& NoAttributes();

struct ElementInfo {
  absl::string_view name;
  std::vector<AttributeInfo> attributes;
};

// Every element. <remove> is there for each of the places that it can be at.
std::vector<ElementInfo> AllElements();

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_ATTRIBUTES_H_
