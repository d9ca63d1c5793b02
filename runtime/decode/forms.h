// What the decoder has worked out for one record and may take over for those that are like it.
#ifndef PACKSMITH_RUNTIME_DECODE_FORMS_H_
#define PACKSMITH_RUNTIME_DECODE_FORMS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields.h"
#include "runtime/decode/masked_bytes.h"
#include "runtime/decode/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

struct Tree;

// Whether the GPU reads or writes what the pointer leads to, and nothing says how much of it:
// textures, render targets, where values are stored. Decoding does not look at it.
inline bool IsUnread(const tables::Tables& tables, const tables::Pointer& pointer) {
  return pointer.target_kind == tables::TargetKind::kData &&
         tables.data(pointer.target).is_code == 0 && pointer.access != tables::Access::kNone &&
         pointer.size == tables::kNone && pointer.end == tables::kNone &&
         pointer.count == tables::kNone;
}

// A field that points somewhere in all records of a form.
struct FormPointer {
  FieldAt at;
  const tables::Pointer* pointer;  // null: which one counts depends on states, and is to be asked
  size_t number;                   // of the container's pointers, the field comes after so many
  // The address is the field's bits, shifted, from a base on, in a space that is the same for all;
  // and what `high` makes of the bits of another field, if it is not null.
  bool plain;
  const tables::Expression* high;
  uint64_t high_bit;
  uint32_t high_width;
  uint8_t high_shift;
  bool in_other_space;
  uint64_t address_mask;  // of the shifted bits
  bool somewhere;         // no count or size can say that there is nothing
  bool unread;            // IsUnread()
};

// Records whose bits say the same of their length, of the parts that they have, and of which
// pointers count, and none of whose fields is at fault. Where the pointers lead, and what else
// fields hold, is each record's own.
struct Form {
  Form();
  ~Form();
  Form(Form&&);
  Form& operator=(Form&&);

  uint64_t number = 0;  // not 0, and never used again
  uint64_t bytes = 0;
  uint64_t said_size = 0;  // as for Forms::Find
  std::vector<PlacedPart> parts;
  std::vector<FormPointer> pointers;
  // Bits that must be as they are.
  MaskedBytes same;
  // And fields that have bounds.
  struct Limit {
    uint64_t bit;
    uint32_t width;
    uint64_t least, most;
  };
  std::vector<Limit> limits;
  // Fields that set or write something, see Decoder::SetsAndWrites.
  std::vector<FieldAt> acting;
  absl::string_view name;  // the container's
  // What the decoder knows of them: it must look for what packets behind them say; others may ask
  // for them later, or for parts that they have; nothing else is to be done but to show them and
  // to follow their pointers.
  bool asks_state = false, remembered = false, quiet = false;
  // Some of its pointers are.
  bool has_unread = false;
  // Where the packet leads next follows from its bits alone.
  bool flows_by_bits = true;
  // Records at hand that need it.
  uint32_t users = 0;

  // What packets of the form have led to, if the decoder is to look for it.
  bool leads_on = false;
  std::vector<std::unique_ptr<Tree>> trees;
  size_t next_tree = 0;       // that is replaced when there are enough
  uint32_t without_tree = 0;  // packets that led elsewhere, since a tree was made
  uint32_t patience = 1;      // as many are awaited before the next one is made

  bool Has(absl::Span<const uint8_t> record) const {
    if (!same.AreIn(record)) return false;
    for (const Limit& limit : limits) {
      const uint64_t raw = ReadBits(record.subspan(0, bytes), limit.bit, limit.width);
      if (raw < limit.least || raw > limit.most) return false;
    }
    return true;
  }
};

// The forms of a decoder's records: of each container a few, those that came last.
class Forms {
 public:
  static constexpr uint64_t kLongest = 256;  // bytes of a record with a form

  // The tables must outlive the forms.
  explicit Forms(const tables::Tables& tables)
      : tables_(tables), last_(tables.containers().size()), kinds_(tables.containers().size()) {}

  // For Find(): nobody but the record says how long it is.
  static constexpr uint64_t kOwnLength = ~uint64_t{0};

  // The form of the record that `bytes` begin with, or null. `size` is what others say of its
  // length, if they do. Forms live on, but Learn() may make another one of it (by its number) while
  // it has no users.
  Form* Find(uint32_t container, absl::Span<const uint8_t> bytes, uint64_t size) {
    // What came last will come next.
    Form*& last = last_[container];
    if (last == nullptr || IsOf(*last, bytes, size)) return last;
    for (const std::unique_ptr<Form>& form : kinds_[container]->forms) {
      if (form == nullptr) break;
      if (IsOf(*form, bytes, size)) return last = form.get();
    }
    return nullptr;
  }

  // Of a record that has no form, that is whole, and whose fields have no fault. Null: it gets
  // none.
  Form* Learn(const RecordView& record, uint64_t size);
  // Changes whenever a form becomes another one.
  uint64_t made() const { return last_number_; }

 private:
  // So many forms have some containers that change between a few (a draw's state and its end), and
  // looking at all of them costs less than a record does.
  static constexpr size_t kMost = 8;
  static constexpr uint32_t kPatience = 16;  // records of a container without a form of theirs
  struct Kind {
    std::array<std::unique_ptr<Form>, kMost> forms;
    // Records that had no form, since one was made.
    uint32_t without = 0;
    // Where the next one goes.
    size_t next = 0;
  };

  static bool IsOf(const Form& form, absl::Span<const uint8_t> bytes, uint64_t size) {
    return form.said_size == size && form.Has(bytes);
  }
  size_t IndexOf(const tables::Container& container) const {
    return static_cast<size_t>(&container - tables_.containers().data());
  }
  Form Make(const RecordView& record, uint64_t size);

  const tables::Tables& tables_;
  std::vector<Form*> last_;  // of each container, what Find() has found; null: there is none at all
  std::vector<std::unique_ptr<Kind>> kinds_;
  uint64_t last_number_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FORMS_H_
