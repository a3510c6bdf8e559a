// SPDX-License-Identifier: Apache-2.0
// The dynamic section of an x86-64 ELF file: what it needs, offers and where it looks for it.
// Read with pread, every offset checked: a damaged or hostile file gives nothing, never a crash.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::simulator {

struct elf_symbol {
  std::string name;
  std::string version_file;  // the soname that its version names ("libcublas.so.13"), or empty
};

struct elf_file {
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath;  // DT_RPATH, split, $ORIGIN not replaced; not DT_RUNPATH
  std::vector<elf_symbol> undefined;
  std::vector<std::string> defined;
};

// Which symbols to keep: libtorch_cpu alone has hundreds of thousands that nobody asks about.
using symbol_filter = bool (*)(std::string_view name, std::string_view version_file);

[[nodiscard]] std::optional<elf_file> read_elf(const std::filesystem::path& path,
                                               symbol_filter keep);

}  // namespace memtrace::simulator
