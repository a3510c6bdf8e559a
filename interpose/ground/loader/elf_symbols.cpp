// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace memtrace {
namespace {

// The file as it lies on disk, for reading; empty when it cannot be had.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat facts {};
    if (fstat(file, &facts) == 0 && facts.st_size > 0) {
      void* const memory =
          mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        bytes_ = {static_cast<const unsigned char*>(memory),
                  static_cast<std::size_t>(facts.st_size)};
      }
    }
    close(file);
  }
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  // `count` objects at an offset, or none if the file does not hold them.
  template <typename T>
  [[nodiscard]] std::span<const T> objects(std::uint64_t offset,
                                           std::uint64_t count) const noexcept {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
  }

 private:
  std::span<const unsigned char> bytes_;
};

void match(const Elf64_Sym& symbol, const char* name, std::size_t longest,
           const loaded_library& library, std::span<symbol_query> queries) noexcept {
  for (auto& query : queries) {
    const std::size_t length = std::strlen(query.prefix);
    if (length >= longest || std::strncmp(name, query.prefix, length) != 0) continue;
    const char* const rest = name + length;
    if (memchr(rest, '.', strnlen(rest, longest - length)) != nullptr) continue;
    query.address = library.base + symbol.st_value;
    query.size = symbol.st_size;
    std::snprintf(query.rest, sizeof query.rest, "%s", rest);
    ++query.times;
  }
}

}  // namespace

void find_local_symbols(const loaded_library& library, std::span<symbol_query> queries) noexcept {
  const mapped_file file(library.path.c_str());
  const auto headers = file.objects<Elf64_Ehdr>(0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return;
  }
  const auto sections = file.objects<Elf64_Shdr>(headers[0].e_shoff, headers[0].e_shnum);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto& text = sections[section.sh_link];
    const auto symbols =
        file.objects<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    const auto names = file.objects<char>(text.sh_offset, text.sh_size);
    if (names.empty() || names.back() != '\0') continue;
    for (const auto& symbol : symbols) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
      match(symbol, names.data() + symbol.st_name, names.size() - symbol.st_name, library, queries);
    }
  }
}

}  // namespace memtrace
