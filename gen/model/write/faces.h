// What C++ and C make of a field: its type, its default, and what C knows as something else.
#ifndef PACKSMITH_GEN_MODEL_WRITE_FACES_H_
#define PACKSMITH_GEN_MODEL_WRITE_FACES_H_

#include <cstdint>
#include <map>
#include <string>

#include "gen/model/ast/model.h"
#include "gen/model/names.h"

namespace packsmith::model {

enum class Face { kCpp, kC };

// The shortest text that reads back as the same number, with a point or an exponent.
std::string RealText(double value);

class Faces {
 public:
  explicit Faces(const Model& model) : model_(model) {}

  const CNames& c_names() const { return c_names_; }
  std::string TypeOf(const Field& field, Face face) const {
    return face == Face::kCpp ? CppType(field) : CType(field);
  }
  std::string CppType(const Field& field) const;
  std::string CType(const Field& field) const;
  std::string CppDefault(const Field& field) const;
  // Text of the initialiser in <T>_header, empty if the field has no default.
  std::string CDefault(const Container& c, const Field& field) const;
  // An item as C has it. Valid as long as this object.
  const Item& SeenAs(const Item& item, Face face);
  // How many items of a group are members: of a tail, those that C's users know as such.
  static uint32_t ItemsIn(const Group& group, Face face);

 private:
  const Model& model_;
  const CNames c_names_{model_.c_prefix, model_.byte_unit};
  std::map<const Item*, Item> as_c_;
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_FACES_H_
