// SPDX-License-Identifier: Apache-2.0
//
// The exports of loaded libraries, read from their dynamic sections in memory: without dlsym, which
// we stand in front of ourselves, and without touching what dlerror will say.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace memtrace {

// The dynamic section of one loaded library. Holds while the library stays loaded.
class elf_exports {
 public:
  elf_exports(std::uintptr_t base, const ElfW(Phdr) * headers, std::size_t count) noexcept;
  explicit elf_exports(const dl_phdr_info& library) noexcept
      : elf_exports(library.dlpi_addr, library.dlpi_phdr, library.dlpi_phnum) {}

  // The function or object that it defines under this name, of several versions the one for who
  // names none; null if there is none.
  // Functions that pick an implementation when they are bound (IFUNC) count as none.
  [[nodiscard]] void* find(const char* name) const noexcept;

  struct relocations {
    const ElfW(Rela) * begin = nullptr;
    std::size_t count = 0;
  };
  // Those of its own table, and those bound at the first call.
  [[nodiscard]] relocations data() const noexcept { return data_; }
  [[nodiscard]] relocations calls() const noexcept { return calls_; }
  // The name that a relocation asks for, "" where it has none.
  [[nodiscard]] const char* name_of(const ElfW(Rela) & relocation) const noexcept;

 private:
  [[nodiscard]] bool matches(std::uint32_t index, const char* name) const noexcept;
  [[nodiscard]] std::uint32_t find_by_gnu_hash(const char* name) const noexcept;
  [[nodiscard]] std::uint32_t find_by_hash(const char* name) const noexcept;

  std::uintptr_t base_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* texts_ = nullptr;
  const std::uint32_t* gnu_hash_ = nullptr;
  const std::uint32_t* hash_ = nullptr;
  const std::uint16_t* versions_ = nullptr;
  relocations data_;
  relocations calls_;
};

// From the first library whose base name begins with `prefix`; null if there is none.
[[nodiscard]] void* find_export_in(const char* prefix, const char* name) noexcept;

// From the library that holds `address`.
[[nodiscard]] void* find_export_beside(const void* address, const char* name) noexcept;

// Whether a loaded library other than this one exports the name.
[[nodiscard]] bool is_exported_elsewhere(const char* name) noexcept;

// Whether the program or a library that stands before this one does.
[[nodiscard]] bool is_exported_before(const char* name) noexcept;

}  // namespace memtrace
