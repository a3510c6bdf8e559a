// SPDX-License-Identifier: Apache-2.0
#include "elf_writer.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace memtrace::simulator {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t thunk_bytes = 16;
enum section_index : std::uint16_t { none, hash, dynsym, dynstr, rela, text, dynamic, data, names };
constexpr std::uint16_t section_count = 9;

class string_table {
 public:
  std::uint32_t add(const std::string& text) {
    const auto at = static_cast<std::uint32_t>(bytes_.size());
    bytes_.append(text).push_back('\0');
    return at;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

struct range {
  std::uint64_t offset = 0;  // in the file and, mapped without a shift, in memory
  std::uint64_t size = 0;
};

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

std::uint32_t symbol_hash(const std::string& name) {  // the System V ABI's
  std::uint32_t h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = h & 0xf0000000;
    h = (h ^ (high >> 24)) & ~high;
  }
  return h;
}

class library_writer {
 public:
  explicit library_writer(const library_description& library) : library_(library) {}

  std::string write() {
    collect_strings();
    lay_out();
    image_.assign(section_headers_at_ + section_count * sizeof(Elf64_Shdr), '\0');
    put_headers();
    put_symbols();
    put_hash_table();
    put_code_and_records();
    put_dynamic();
    put_sections();
    return std::move(image_);
  }

 private:
  [[nodiscard]] bool has_functions() const { return !library_.functions.empty(); }
  [[nodiscard]] bool has_code() const { return !exported_.empty(); }

  template <class T>
  void put(std::uint64_t offset, const T& value) {
    std::memcpy(image_.data() + offset, &value, sizeof value);
  }
  void put_text(std::uint64_t offset, const std::string& text) {
    std::memcpy(image_.data() + offset, text.data(), text.size());
  }

  void collect_strings() {
    soname_ = strings_.add(library_.soname);
    for (const std::string& name : library_.needed) needed_.push_back(strings_.add(name));
    if (has_functions()) target_ = strings_.add(library_.target);
    exported_ = library_.functions;
    if (!library_.caller.empty()) exported_.push_back(library_.caller);
    for (const std::string& name : exported_) symbol_names_.push_back(strings_.add(name));
    symbols_ = 1 + exported_.size() + (has_functions() ? 1 : 0);
    buckets_ = static_cast<std::uint32_t>(exported_.size() * 2 + 1);
    for (const char* name : {"", ".hash", ".dynsym", ".dynstr", ".rela.dyn", ".text", ".dynamic",
                             ".data", ".shstrtab"}) {
      section_names_.push_back(section_strings_.add(name));
    }
  }

  range place(std::uint64_t size, std::uint64_t alignment) {
    const std::uint64_t at = round_up(end_, alignment);
    end_ = at + size;
    return {at, size};
  }

  void lay_out() {
    end_ = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr);
    sections_[hash] = place((2 + buckets_ + symbols_) * 4, 8);
    sections_[dynsym] = place(symbols_ * sizeof(Elf64_Sym), 8);
    sections_[dynstr] = place(strings_.bytes().size(), 1);
    sections_[rela] = place(has_functions() ? sizeof(Elf64_Rela) : 0, 8);
    read_only_end_ = end_;
    sections_[text] = place(exported_.size() * thunk_bytes, page);
    const std::uint64_t entries = 1 + needed_.size() + 7 + (has_functions() ? 3 : 0);
    sections_[dynamic] = place(entries * sizeof(Elf64_Dyn), page);
    std::uint64_t record_bytes = 8;  // the GOT slot comes first
    for (const std::string& name : library_.functions) {
      records_.push_back(record_bytes);
      record_bytes += round_up(8 + name.size() + 1, 8);
    }
    sections_[data] = place(record_bytes, 8);
    sections_[names] = place(section_strings_.bytes().size(), 1);
    section_headers_at_ = round_up(end_, 8);
  }

  void put_headers() {
    Elf64_Ehdr e{};
    std::memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_type = ET_DYN;
    e.e_machine = EM_X86_64;
    e.e_version = EV_CURRENT;
    e.e_phoff = sizeof e;
    e.e_shoff = section_headers_at_;
    e.e_ehsize = sizeof e;
    e.e_phentsize = sizeof(Elf64_Phdr);
    e.e_phnum = 5;
    e.e_shentsize = sizeof(Elf64_Shdr);
    e.e_shnum = section_count;
    e.e_shstrndx = names;
    put(0, e);
    const std::uint64_t data_end = sections_[data].offset + sections_[data].size;
    const std::uint64_t writable = sections_[dynamic].offset;
    put_segment(0, PT_LOAD, PF_R, {0, read_only_end_}, page);
    put_segment(1, has_code() ? PT_LOAD : PT_NULL, PF_R | PF_X, sections_[text], page);
    put_segment(2, PT_LOAD, PF_R | PF_W, {writable, data_end - writable}, page);
    put_segment(3, PT_DYNAMIC, PF_R | PF_W, sections_[dynamic], 8);
    put_segment(4, PT_GNU_STACK, PF_R | PF_W, {}, 16);
  }

  void put_segment(std::uint64_t index, std::uint32_t type, std::uint32_t flags, range where,
                   std::uint64_t alignment) {
    Elf64_Phdr p{};
    p.p_type = type;
    p.p_flags = flags;
    p.p_offset = p.p_vaddr = p.p_paddr = where.offset;
    p.p_filesz = p.p_memsz = where.size;
    p.p_align = alignment;
    put(sizeof(Elf64_Ehdr) + index * sizeof p, p);
  }

  void put_symbols() {
    put_text(sections_[dynstr].offset, strings_.bytes());
    std::uint64_t at = sections_[dynsym].offset + sizeof(Elf64_Sym);
    for (std::size_t i = 0; i < exported_.size(); ++i, at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      symbol.st_name = symbol_names_[i];
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = text;
      symbol.st_value = sections_[text].offset + i * thunk_bytes;
      symbol.st_size = thunk_bytes;
      put(at, symbol);
    }
    if (!has_functions()) return;
    Elf64_Sym symbol{};
    symbol.st_name = target_;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    put(at, symbol);
    Elf64_Rela relocation{};
    relocation.r_offset = sections_[data].offset;
    relocation.r_info = ELF64_R_INFO(symbols_ - 1, R_X86_64_GLOB_DAT);
    put(sections_[rela].offset, relocation);
  }

  void put_hash_table() {
    const std::uint64_t at = sections_[hash].offset;
    const std::uint64_t buckets_at = at + 8;
    const std::uint64_t chains_at = buckets_at + buckets_ * std::uint64_t{4};
    put(at, buckets_);
    put(at + 4, static_cast<std::uint32_t>(symbols_));
    std::vector<std::uint32_t> first(buckets_, 0);
    for (std::size_t i = 0; i < exported_.size(); ++i) {
      const auto symbol = static_cast<std::uint32_t>(i + 1);
      std::uint32_t& bucket = first[symbol_hash(exported_[i]) % buckets_];
      put(chains_at + symbol * std::uint64_t{4}, bucket);
      bucket = symbol;
    }
    for (std::uint32_t b = 0; b < buckets_; ++b) put(buckets_at + b * std::uint64_t{4}, first[b]);
  }

  void put_code_and_records() {
    const std::uint64_t slot = sections_[data].offset;
    for (std::size_t i = 0; i < library_.functions.size(); ++i) {
      const std::uint64_t at = sections_[text].offset + i * thunk_bytes;
      const std::uint64_t record = slot + records_[i];
      const std::uint8_t lea_r11[] = {0x4c, 0x8d, 0x1d};  // lea r11, [rip + record]
      put(at, lea_r11);
      put(at + 3, static_cast<std::int32_t>(record - (at + 7)));
      const std::uint8_t jump[] = {0xff, 0x25};  // jmp [rip + slot]
      put(at + 7, jump);
      put(at + 9, static_cast<std::int32_t>(slot - (at + 13)));
      const std::uint8_t trap[] = {0xcc, 0xcc, 0xcc};
      put(at + 13, trap);
      put_text(record + 8, library_.functions[i]);
    }
    if (library_.caller.empty()) return;
    const std::uint8_t call[] = {0x48, 0x83, 0xec, 0x08,  // sub rsp, 8
                                 0xff, 0xd1,              // call rcx
                                 0x48, 0x83, 0xc4, 0x08,  // add rsp, 8
                                 0xc3};                   // ret
    put(sections_[text].offset + library_.functions.size() * thunk_bytes, call);
  }

  void put_dynamic() {
    std::uint64_t at = sections_[dynamic].offset;
    const auto entry = [&](Elf64_Sxword tag, std::uint64_t value) {
      Elf64_Dyn d{};
      d.d_tag = tag;
      d.d_un.d_val = value;
      put(at, d);
      at += sizeof d;
    };
    entry(DT_SONAME, soname_);
    for (const std::uint32_t name : needed_) entry(DT_NEEDED, name);
    entry(DT_HASH, sections_[hash].offset);
    entry(DT_SYMTAB, sections_[dynsym].offset);
    entry(DT_SYMENT, sizeof(Elf64_Sym));
    entry(DT_STRTAB, sections_[dynstr].offset);
    entry(DT_STRSZ, sections_[dynstr].size);
    if (has_functions()) {
      entry(DT_RELA, sections_[rela].offset);
      entry(DT_RELASZ, sections_[rela].size);
      entry(DT_RELAENT, sizeof(Elf64_Rela));
    }
    // The state behind the functions must outlive a dlclose.
    entry(DT_FLAGS_1, DF_1_NODELETE);
    entry(DT_NULL, 0);
  }

  // The loader ignores these; ld, when a program links -lcuda, does not.
  void put_sections() {
    put_text(sections_[names].offset, section_strings_.bytes());
    put_section(hash, SHT_HASH, SHF_ALLOC, dynsym, 0, 4);
    put_section(dynsym, SHT_DYNSYM, SHF_ALLOC, dynstr, 1, sizeof(Elf64_Sym));
    put_section(dynstr, SHT_STRTAB, SHF_ALLOC, 0, 0, 0);
    put_section(rela, SHT_RELA, SHF_ALLOC, dynsym, 0, sizeof(Elf64_Rela));
    put_section(text, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0);
    put_section(dynamic, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, dynstr, 0, sizeof(Elf64_Dyn));
    put_section(data, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0, 0);
    put_section(names, SHT_STRTAB, 0, 0, 0, 0);
  }

  void put_section(section_index index, std::uint32_t type, std::uint64_t flags, std::uint32_t link,
                   std::uint32_t info, std::uint64_t entry_size) {
    Elf64_Shdr s{};
    s.sh_name = section_names_[index];
    s.sh_type = type;
    s.sh_flags = flags;
    s.sh_addr = (flags & SHF_ALLOC) != 0 ? sections_[index].offset : 0;
    s.sh_offset = sections_[index].offset;
    s.sh_size = sections_[index].size;
    s.sh_link = link;
    s.sh_info = info;
    s.sh_addralign = 8;
    s.sh_entsize = entry_size;
    put(section_headers_at_ + index * sizeof s, s);
  }

  const library_description& library_;
  string_table strings_;
  string_table section_strings_;
  std::uint32_t soname_ = 0;
  std::uint32_t target_ = 0;
  std::vector<std::uint32_t> needed_;
  std::vector<std::string> exported_;  // the functions, then the caller
  std::vector<std::uint32_t> symbol_names_;
  std::vector<std::uint32_t> section_names_;
  std::vector<std::uint64_t> records_;  // offsets from the start of the data section
  std::uint64_t symbols_ = 0;
  std::uint32_t buckets_ = 0;
  range sections_[section_count];
  std::uint64_t end_ = 0;
  std::uint64_t read_only_end_ = 0;
  std::uint64_t section_headers_at_ = 0;
  std::string image_;
};

}  // namespace

std::string write_library(const library_description& library) {
  return library_writer(library).write();
}

}  // namespace memtrace::simulator
