// Fields, reserved runs, groups and named values.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_ITEM_PARSER_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_ITEM_PARSER_H_

#include <pugixml.hpp>

#include "gen/model/ast/model.h"
#include "gen/model/syntax/element.h"
#include "gen/model/syntax/item_list.h"
#include "gen/model/syntax/value_list.h"

namespace packsmith::model {

class ItemParser : public ElementReader {
 protected:
  using ElementReader::ElementReader;

  // components="…", or none.
  DataFormat ReadComponents(pugi::xml_node node);
  // <value>, or where values are amended <remove value="…"/>.
  bool ParseValueOrRemove(pugi::xml_node node, ValueList& into);
  // A field, reserved run or group, which is added to `into`; false for anything else. `depth`: how
  // many groups are around it.
  bool ParseItem(pugi::xml_node node, ItemList& into, int depth);

 private:
  void ParseValue(pugi::xml_node node, ValueList& into);
  // The field that amend="true" starts from, nullptr where there is none.
  const Field* FindAmended(pugi::xml_node node, ItemList& items);
  void ParseBits(pugi::xml_node node, ItemBase& item);
  void ParseType(pugi::xml_node node, Field& field);
  void ParseRange(pugi::xml_node node, Field& field);
  // What C says of a field in place of what is right.
  void ParsePublished(pugi::xml_node node, Field& field, bool amend);
  // With `amend` the item is the inherited one, and what the element does not mention stays.
  void ParseField(pugi::xml_node node, Field& field, bool amend);
  void ParseSets(pugi::xml_node node, Field& field);
  void ParseWrites(pugi::xml_node node, Field& field);
  // <element of="DATA" …/>: the field's value is the format of an element of the data's rows.
  // <step of="DATA" element="…"/>: it says how many instances share a row of it.
  void ParseElement(pugi::xml_node node, Field& field);
  void ParsePoints(pugi::xml_node node, Field& field);
  void ParseGroup(pugi::xml_node node, Group& group, int depth);
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_ITEM_PARSER_H_
