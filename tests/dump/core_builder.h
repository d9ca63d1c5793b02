// Core files made by hand, header by header, so that tests can falsify each of them.

#ifndef PACKSMITH_TESTS_DUMP_CORE_BUILDER_H_
#define PACKSMITH_TESTS_DUMP_CORE_BUILDER_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace packsmith {

// Segments and notes in, bytes out: ELF header, program headers, then the contents in order.
// Everything is public and may be falsified before Build().
class CoreBuilder {
 public:
  struct Part {
    Elf64_Phdr header = {};
    std::string content;
    bool keep_offset = false;  // p_offset is the test's own wrong value
  };

  CoreBuilder() {
    std::memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
    ehdr.e_ident[EI_CLASS] = ELFCLASS64;
    ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
    ehdr.e_ident[EI_VERSION] = EV_CURRENT;
    ehdr.e_type = ET_CORE;
    ehdr.e_machine = 205;
    ehdr.e_version = EV_CURRENT;
    ehdr.e_ehsize = sizeof(Elf64_Ehdr);
    ehdr.e_phoff = sizeof(Elf64_Ehdr);
    ehdr.e_phentsize = sizeof(Elf64_Phdr);
  }

  Part& Load(uint32_t space, uint64_t address, std::string content, uint64_t memory_size) {
    Part part;
    part.header.p_type = PT_LOAD;
    part.header.p_flags = PF_R | PF_W;
    part.header.p_vaddr = address;
    part.header.p_paddr = space;
    part.header.p_filesz = content.size();
    part.header.p_memsz = memory_size;
    part.header.p_align = 4;
    part.content = std::move(content);
    parts.push_back(std::move(part));
    return parts.back();
  }

  Part& Notes(std::string content, uint64_t alignment = 4) {
    Part part;
    part.header.p_type = PT_NOTE;
    part.header.p_filesz = part.header.p_memsz = content.size();
    part.header.p_align = alignment;
    part.content = std::move(content);
    parts.push_back(std::move(part));
    return parts.back();
  }

  static std::string Note(uint32_t type, const std::string& text,
                          const std::string& owner = std::string("packsmith\0", 10),
                          size_t alignment = 4) {
    Elf64_Nhdr header = {};
    header.n_namesz = static_cast<uint32_t>(owner.size());
    header.n_descsz = static_cast<uint32_t>(text.size());
    header.n_type = type;
    std::string note(reinterpret_cast<const char*>(&header), sizeof(header));
    const auto align = [&] { note.resize((note.size() + alignment - 1) / alignment * alignment); };
    note += owner;
    align();
    note += text;
    align();
    return note;
  }

  std::string Build() {
    ehdr.e_phnum = count_is_a_lie ? ehdr.e_phnum : static_cast<uint16_t>(parts.size());
    uint64_t offset = sizeof(Elf64_Ehdr) + parts.size() * sizeof(Elf64_Phdr);
    std::string out(reinterpret_cast<const char*>(&ehdr), sizeof(ehdr));
    std::string contents;
    for (Part& part : parts) {
      if (!part.keep_offset) part.header.p_offset = offset;
      offset += part.content.size();
      out.append(reinterpret_cast<const char*>(&part.header), sizeof(part.header));
      contents += part.content;
    }
    return out + contents;
  }

  Elf64_Ehdr ehdr = {};
  bool count_is_a_lie = false;
  std::vector<Part> parts;
};

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_DUMP_CORE_BUILDER_H_
