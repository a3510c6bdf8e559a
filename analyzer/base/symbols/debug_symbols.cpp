// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/symbols/debug_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace memtrace::symbols {

namespace {

struct freeing {
  void operator()(Elf* file) const { (void)elf_end(file); }
};

[[nodiscard]] std::string name_of(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  for (const unsigned what : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* const name = dwarf_formstring(dwarf_attr_integrate(&function, what, &attribute));
    if (name != nullptr) return readable_name(name);
  }
  const char* const name = dwarf_diename(&function);
  return name == nullptr ? std::string() : name;
}

[[nodiscard]] std::uint32_t number_in(Dwarf_Die& die, unsigned what) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_attr(&die, what, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0
             ? static_cast<std::uint32_t>(value)
             : 0;
}

void for_each_child(Dwarf_Die& of, const auto& see) {
  Dwarf_Die child;
  if (dwarf_child(&of, &child) != 0) return;
  do {
    if (!see(child)) return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

[[nodiscard]] std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string digits;
  for (const unsigned byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

// Whether the file that is there is the one that was recorded. Looks at its notes alone.
[[nodiscard]] bool is_still_there(const std::string& path, std::string_view identity) {
  struct stat status {};
  if (!path.starts_with('/') || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  if (identity.find('.') != identity.npos) {
    return identity == fmt::format("{}.{}", status.st_size,
                                   status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  bool is_same = false;
  (void)elf_version(EV_CURRENT);
  if (const std::unique_ptr<Elf, freeing> elf(elf_begin(file, ELF_C_READ_MMAP, nullptr)); elf) {
    const void* id = nullptr;
    const auto length = dwelf_elf_gnu_build_id(elf.get(), &id);
    is_same = length > 0 && identity == hexadecimal({static_cast<const unsigned char*>(id),
                                                     static_cast<std::size_t>(length)});
  }
  ::close(file);
  return is_same;
}

}  // namespace

// The functions of a compiled file by their addresses, so that no address makes all of them be
// looked at.
class unit_functions {
 public:
  explicit unit_functions(Dwarf_Die unit) {
    add(unit, 0);
    std::ranges::sort(all_, {}, &function::begin);
  }

  // Outermost first: a function, and those that the compiler put inside it, there.
  [[nodiscard]] std::vector<Dwarf_Die> at(std::uint64_t address) {
    std::vector<Dwarf_Die> found;
    const auto next = std::ranges::upper_bound(all_, address, {}, &function::begin);
    if (next == all_.begin() || address >= std::prev(next)->end) return found;
    found.push_back(std::prev(next)->die);
    go_into(found.back(), address, 0, found);
    return found;
  }

 private:
  struct function {
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    Dwarf_Die die{};
  };
  static constexpr int deepest = 64;

  // clang has them within namespaces, too.
  void add(Dwarf_Die& of, int depth) {
    if (depth > deepest) return;
    for_each_child(of, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_namespace) add(child, depth + 1);
      if (tag != DW_TAG_subprogram) return true;
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&child, at, &base, &begin, &end)) > 0;) {
        all_.push_back({begin, end, child});
      }
      return true;
    });
  }

  static void go_into(Dwarf_Die of, std::uint64_t address, int depth,
                      std::vector<Dwarf_Die>& found) {
    if (depth > deepest) return;
    for_each_child(of, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      const bool is_inlined = tag == DW_TAG_inlined_subroutine;
      if (!is_inlined && tag != DW_TAG_lexical_block) return true;
      if (dwarf_haspc(&child, address) != 1) return true;
      if (is_inlined) found.push_back(child);
      go_into(child, address, depth + 1, found);
      return false;
    });
  }

  std::vector<function> all_;
};

// One file, for as long as reports are made.
class debug_symbols::module {
 public:
  module(const std::string& path, std::string_view identity) {
    if (!is_still_there(path, identity)) return;
    static constexpr Dwfl_Callbacks callbacks{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                              dwfl_offline_section_address, nullptr};
    session_ = {dwfl_begin(&callbacks), dwfl_end};
    if (!session_) return;
    file_ = dwfl_report_offline(session_.get(), path.c_str(), path.c_str(), -1);
    (void)dwfl_report_end(session_.get(), nullptr, nullptr);
    if (file_ != nullptr && dwfl_module_getelf(file_, &bias_) == nullptr) file_ = nullptr;
  }

  [[nodiscard]] const std::vector<source_place>& places_of(std::uint64_t address) {
    const auto [known, is_new] = known_.try_emplace(address);
    if (is_new && file_ != nullptr) known->second = look_up(address + bias_);
    return known->second;
  }

 private:
  [[nodiscard]] std::vector<source_place> look_up(std::uint64_t address) {
    std::vector<source_place> places;
    if (auto* const unit = unit_at(address); unit != nullptr) {
      const auto in_unit = address - unit->offset;
      places = functions_at(unit->die, in_unit, line_at(unit->die, in_unit));
    }
    if (places.empty()) places.emplace_back();
    // Debug information of -g1 has functions without their namespaces and classes.
    auto& function = places.back().function;
    if (auto name = symbol_at(address); function.empty() || name.ends_with("::" + function)) {
      function = std::move(name);
    }
    if (places.size() == 1 && places[0].function.empty() && places[0].line == 0) return {};
    return places;
  }

  struct unit_range {
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    Dwarf_Addr offset = 0;  // of addresses here from those in the unit
    Dwarf_Die die{};
  };

  // libdw itself finds only units that the compiler has listed, as clang does not.
  [[nodiscard]] unit_range* unit_at(std::uint64_t address) {
    if (!has_units_) read_units();
    const auto next = std::ranges::upper_bound(ranges_, address, {}, &unit_range::begin);
    if (next == ranges_.begin() || address >= std::prev(next)->end) return nullptr;
    return &*std::prev(next);
  }

  void read_units() {
    has_units_ = true;
    Dwarf_Addr offset = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(file_, unit, &offset)) != nullptr;) {
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
        ranges_.push_back({begin + offset, end + offset, offset, *unit});
      }
    }
    std::ranges::sort(ranges_, {}, &unit_range::begin);
  }

  [[nodiscard]] static source_place line_at(Dwarf_Die& unit, std::uint64_t address) {
    Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return {};
    const char* const source = dwarf_linesrc(line, nullptr, nullptr);
    if (source == nullptr) return {};
    return {{}, in_full(source, unit), static_cast<std::uint32_t>(number)};
  }

  // The line of an outer function is where it calls the inner one, which was put into it.
  [[nodiscard]] std::vector<source_place> functions_at(Dwarf_Die& unit, std::uint64_t address,
                                                       source_place innermost) {
    auto& of_unit = units_.try_emplace(dwarf_dieoffset(&unit), unit).first->second;
    Dwarf_Files* files = nullptr;
    std::size_t known_files = 0;
    (void)dwarf_getsrcfiles(&unit, &files, &known_files);
    std::vector<source_place> places;
    auto next = std::move(innermost);
    auto around = of_unit.at(address);
    for (auto scope = around.rbegin(); scope != around.rend(); ++scope) {
      next.function = name_of(*scope);
      places.push_back(std::exchange(next, {}));
      if (std::next(scope) == around.rend()) return places;
      const auto number = number_in(*scope, DW_AT_call_file);
      const char* const caller =
          number < known_files ? dwarf_filesrc(files, number, nullptr, nullptr) : nullptr;
      if (caller == nullptr) continue;
      next.file = in_full(caller, unit);
      next.line = number_in(*scope, DW_AT_call_line);
    }
    if (next.line != 0) places.push_back(std::move(next));
    return places;
  }

  // As the compiler was given it, from the folder where it ran.
  [[nodiscard]] static std::string in_full(const std::string& source, Dwarf_Die& unit) {
    Dwarf_Attribute attribute;
    const char* const folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    return (std::filesystem::path(folder == nullptr ? "" : folder) / source)
        .lexically_normal()
        .string();
  }

  // libdw looks at each symbol for each address; a library has some 100,000.
  [[nodiscard]] std::string symbol_at(std::uint64_t address) {
    if (!has_symbols_) read_symbols();
    const auto next = std::ranges::upper_bound(symbols_, address, {}, &symbol::begin);
    if (next == symbols_.begin()) return {};
    const auto& found = *std::prev(next);
    return address - found.begin < found.size ? readable_name(found.name) : std::string();
  }

  void read_symbols() {
    has_symbols_ = true;
    const int count = dwfl_module_getsymtab(file_);
    for (int i = 1; i < count; ++i) {
      GElf_Sym one{};
      GElf_Addr at = 0;
      const char* const name =
          dwfl_module_getsym_info(file_, i, &one, &at, nullptr, nullptr, nullptr);
      if (name != nullptr && GELF_ST_TYPE(one.st_info) == STT_FUNC && one.st_size != 0) {
        symbols_.push_back({at, one.st_size, name});
      }
    }
    std::ranges::sort(symbols_, {}, &symbol::begin);
  }

  struct symbol {
    GElf_Addr begin = 0;
    GElf_Xword size = 0;
    const char* name = "";
  };

  std::shared_ptr<Dwfl> session_;
  Dwfl_Module* file_ = nullptr;
  GElf_Addr bias_ = 0;
  std::unordered_map<std::uint64_t, std::vector<source_place>> known_;  // by address
  std::vector<unit_range> ranges_;                                      // by address
  bool has_units_ = false;
  std::map<Dwarf_Off, unit_functions> units_;
  std::vector<symbol> symbols_;  // by address
  bool has_symbols_ = false;
};

struct debug_symbols::state {
  std::map<std::pair<std::string, std::string>, module> modules;
};

debug_symbols::debug_symbols() = default;
debug_symbols::~debug_symbols() = default;

const std::vector<source_place>& debug_symbols::places_of(const std::string& path,
                                                          std::string_view identity,
                                                          std::uint64_t address) {
  if (!state_) {
    // libdw would ask these servers for what is not installed here.
    ::unsetenv("DEBUGINFOD_URLS");
    state_ = std::make_unique<state>();
  }
  auto& known = state_->modules;
  const std::pair key(path, std::string(identity));
  auto there = known.find(key);
  if (there == known.end()) there = known.try_emplace(key, path, identity).first;
  return there->second.places_of(address);
}

}  // namespace memtrace::symbols
