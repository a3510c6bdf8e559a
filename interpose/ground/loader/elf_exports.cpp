// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/elf_exports.h"

#include <cstring>

#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/own_library.h"

namespace memtrace {
namespace {

// glibc has made the pointers of the section absolute, but not those of the kernel's own library.
template <typename T>
const T* at(std::uintptr_t base, std::uintptr_t pointer) noexcept {
  return reinterpret_cast<const T*>(pointer < base ? base + pointer : pointer);
}

// As the GNU hash table is built (its own function, h * 33 + c from 5381).
std::uint32_t gnu_hash_of(const char* name) noexcept {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

struct question {
  const char* prefix;   // of the base name, or null
  const void* address;  // in the library, or null: every library but this one
  const char* name;
  void* answer;
};

bool holds(const dl_phdr_info& library, const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && wanted >= begin && wanted < begin + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

int ask(dl_phdr_info* library, std::size_t, void* data) {
  auto& asked = *static_cast<question*>(data);
  if (asked.prefix != nullptr) {
    if (!has_base_name(library->dlpi_name, asked.prefix)) return 0;
  } else if (asked.address != nullptr) {
    if (!holds(*library, asked.address)) return 0;
  } else if (holds(*library, &__ehdr_start[0])) {
    return 0;
  }
  asked.answer = elf_exports(*library).find(asked.name);
  return asked.answer != nullptr || asked.address != nullptr;
}

int ask_until_own(dl_phdr_info* library, std::size_t, void* data) {
  auto& asked = *static_cast<question*>(data);
  if (holds(*library, &__ehdr_start[0])) return 1;
  asked.answer = elf_exports(*library).find(asked.name);
  return asked.answer != nullptr;
}

void* answer_to(question asked) noexcept {
  dl_iterate_phdr(&ask, &asked);
  return asked.answer;
}

}  // namespace

elf_exports::elf_exports(std::uintptr_t base, const ElfW(Phdr) * headers,
                         std::size_t count) noexcept
    : base_(base) {
  const ElfW(Dyn)* entry = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_DYNAMIC) {
      entry = reinterpret_cast<const ElfW(Dyn)*>(base + headers[i].p_vaddr);
    }
  }
  if (entry == nullptr) return;
  std::size_t call_bytes = 0;
  std::size_t data_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const std::uintptr_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols_ = at<ElfW(Sym)>(base, value);
    if (entry->d_tag == DT_STRTAB) texts_ = at<char>(base, value);
    if (entry->d_tag == DT_GNU_HASH) gnu_hash_ = at<std::uint32_t>(base, value);
    if (entry->d_tag == DT_VERSYM) versions_ = at<std::uint16_t>(base, value);
    if (entry->d_tag == DT_HASH) hash_ = at<std::uint32_t>(base, value);
    if (entry->d_tag == DT_RELA) data_.begin = at<ElfW(Rela)>(base, value);
    if (entry->d_tag == DT_RELASZ) data_bytes = value;
    if (entry->d_tag == DT_JMPREL) calls_.begin = at<ElfW(Rela)>(base, value);
    if (entry->d_tag == DT_PLTRELSZ) call_bytes = value;
  }
  if (symbols_ == nullptr || texts_ == nullptr) return;
  if (data_.begin != nullptr) data_.count = data_bytes / sizeof(ElfW(Rela));
  if (calls_.begin != nullptr) calls_.count = call_bytes / sizeof(ElfW(Rela));
}

bool elf_exports::matches(std::uint32_t index, const char* name) const noexcept {
  const ElfW(Sym)& symbol = symbols_[index];
  const int type = symbol.st_info & 0xf;
  constexpr std::uint16_t hidden = 0x8000;  // an old version, for programs that were linked with it
  if (versions_ != nullptr && (versions_[index] & hidden) != 0) return false;
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && type <= STT_FUNC &&
         std::strcmp(texts_ + symbol.st_name, name) == 0;
}

// Four words (buckets, first symbol, words of the filter, shift), the filter, the buckets, and one
// word a symbol: its hash without the last bit, which ends a chain.
std::uint32_t elf_exports::find_by_gnu_hash(const char* name) const noexcept {
  const std::uint32_t buckets = gnu_hash_[0];
  const std::uint32_t first = gnu_hash_[1];
  if (buckets == 0) return 0;
  const std::uint32_t* const bucket = gnu_hash_ + 4 + gnu_hash_[2] * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* const chain = bucket + buckets;
  const std::uint32_t hash = gnu_hash_of(name);
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) return 0;
  for (;; ++index) {
    const std::uint32_t its = chain[index - first];
    if ((its | 1) == (hash | 1) && matches(index, name)) return index;
    if ((its & 1) != 0) return 0;
  }
}

// Two words (buckets, symbols) before the table: the few libraries that have no other are gone
// through from end to end.
std::uint32_t elf_exports::find_by_hash(const char* name) const noexcept {
  for (std::uint32_t index = 1; index < hash_[1]; ++index) {
    if (matches(index, name)) return index;
  }
  return 0;
}

void* elf_exports::find(const char* name) const noexcept {
  if (symbols_ == nullptr || texts_ == nullptr) return nullptr;
  std::uint32_t index = 0;
  if (gnu_hash_ != nullptr) {
    index = find_by_gnu_hash(name);
  } else if (hash_ != nullptr) {
    index = find_by_hash(name);
  }
  return index == 0 ? nullptr : reinterpret_cast<void*>(base_ + symbols_[index].st_value);
}

const char* elf_exports::name_of(const ElfW(Rela) & relocation) const noexcept {
  const auto index = ELF64_R_SYM(relocation.r_info);
  return index == 0 ? "" : texts_ + symbols_[index].st_name;
}

void* find_export_in(const char* prefix, const char* name) noexcept {
  return answer_to({prefix, nullptr, name, nullptr});
}

void* find_export_beside(const void* address, const char* name) noexcept {
  return answer_to({nullptr, address, name, nullptr});
}

bool is_exported_elsewhere(const char* name) noexcept {
  return answer_to({nullptr, nullptr, name, nullptr}) != nullptr;
}

bool is_exported_before(const char* name) noexcept {
  question asked{nullptr, nullptr, name, nullptr};
  dl_iterate_phdr(&ask_until_own, &asked);
  return asked.answer != nullptr;
}

}  // namespace memtrace
