// SPDX-License-Identifier: Apache-2.0
#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>

namespace memtrace::simulator {
namespace {

class input_file {
 public:
  explicit input_file(const char* path) : fd_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info {};
    if (fd_ >= 0 && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) {
      size_ = static_cast<std::uint64_t>(info.st_size);
    }
  }
  ~input_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // `count` elements at `offset`; nothing if the file does not hold them all.
  template <class T>
  [[nodiscard]] std::optional<std::vector<T>> read(std::uint64_t offset,
                                                   std::uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return std::nullopt;
    std::vector<T> values(count);
    auto* bytes = reinterpret_cast<char*>(values.data());
    std::size_t done = 0;
    while (done < count * sizeof(T)) {
      const ssize_t got =
          ::pread(fd_, bytes + done, count * sizeof(T) - done, static_cast<off_t>(offset + done));
      if (got <= 0) return std::nullopt;
      done += static_cast<std::size_t>(got);
    }
    return values;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

class dynamic_reader {
 public:
  explicit dynamic_reader(const char* path) : file_(path) {}

  [[nodiscard]] bool open() {
    const auto header = file_.read<Elf64_Ehdr>(0, 1);
    if (!header) return false;
    const Elf64_Ehdr& e = header->front();
    if (std::memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != EM_X86_64 ||
        e.e_phentsize != sizeof(Elf64_Phdr)) {
      return false;
    }
    const auto segments = file_.read<Elf64_Phdr>(e.e_phoff, e.e_phnum);
    if (!segments) return false;
    segments_ = *segments;
    return read_dynamic() && read_strings();
  }

  [[nodiscard]] std::string_view text(std::uint64_t offset) const {
    if (offset >= strings_.size()) return {};
    return strings_.data() + offset;  // read_strings() put a NUL at the end
  }

  [[nodiscard]] const std::vector<Elf64_Dyn>& dynamic() const { return dynamic_; }

  [[nodiscard]] std::vector<Elf64_Sym> symbols() const {
    const auto at = value(DT_SYMTAB);
    if (!at) return {};
    return table<Elf64_Sym>(*at, symbol_count()).value_or(std::vector<Elf64_Sym>{});
  }

  [[nodiscard]] std::vector<std::uint16_t> versions(std::size_t count) const {
    const auto at = value(DT_VERSYM);
    if (!at) return {};
    return table<std::uint16_t>(*at, count).value_or(std::vector<std::uint16_t>{});
  }

  // Version index → the soname of the library that defines that version.
  [[nodiscard]] std::unordered_map<std::uint16_t, std::string> version_files() const {
    std::unordered_map<std::uint16_t, std::string> files;
    const auto start = value(DT_VERNEED);
    const auto count = value(DT_VERNEEDNUM);
    if (!start || !count) return files;
    std::uint64_t at = *start;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(*count, max_records); ++i) {
      const auto need = table<Elf64_Verneed>(at, 1);
      if (!need) return files;
      const std::string file(text(need->front().vn_file));
      std::uint64_t aux_at = at + need->front().vn_aux;
      for (unsigned n = 0; n < need->front().vn_cnt; ++n) {
        const auto aux = table<Elf64_Vernaux>(aux_at, 1);
        if (!aux) return files;
        files[aux->front().vna_other & 0x7fff] = file;
        if (aux->front().vna_next == 0) break;
        aux_at += aux->front().vna_next;
      }
      if (need->front().vn_next == 0) break;
      at += need->front().vn_next;
    }
    return files;
  }

 private:
  static constexpr std::uint64_t max_records = 65536;

  [[nodiscard]] std::optional<std::uint64_t> value(Elf64_Sxword tag) const {
    for (const Elf64_Dyn& entry : dynamic_) {
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return std::nullopt;
  }

  template <class T>
  [[nodiscard]] std::optional<std::vector<T>> table(std::uint64_t address,
                                                    std::uint64_t count) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const std::uint64_t inside = address - segment.p_vaddr;
      if (inside >= segment.p_filesz) continue;
      if (segment.p_offset > file_.size()) return std::nullopt;
      return file_.read<T>(segment.p_offset + inside, count);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool read_dynamic() {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const std::uint64_t count = segment.p_filesz / sizeof(Elf64_Dyn);
      auto entries = file_.read<Elf64_Dyn>(segment.p_offset, std::min(count, max_records));
      if (!entries) return false;
      for (const Elf64_Dyn& entry : *entries) {
        if (entry.d_tag == DT_NULL) break;
        dynamic_.push_back(entry);
      }
      return true;
    }
    return false;
  }

  [[nodiscard]] bool read_strings() {
    const auto at = value(DT_STRTAB);
    const auto size = value(DT_STRSZ);
    if (!at || !size) return false;
    auto bytes = table<char>(*at, *size);
    if (!bytes) return false;
    strings_ = std::move(*bytes);
    strings_.push_back('\0');
    return true;
  }

  [[nodiscard]] std::uint64_t symbol_count() const {
    if (const auto at = value(DT_HASH)) {
      if (const auto head = table<std::uint32_t>(*at, 2)) return head->at(1);
    }
    const auto at = value(DT_GNU_HASH);
    if (!at) return 0;
    const auto head = table<std::uint32_t>(*at, 4);  // buckets, first symbol, bloom words, shift
    if (!head) return 0;
    const std::uint64_t buckets_at = *at + 16 + std::uint64_t{head->at(2)} * 8;
    const auto buckets = table<std::uint32_t>(buckets_at, head->at(0));
    if (!buckets) return 0;
    const std::uint32_t first = head->at(1);
    std::uint64_t last = 0;
    for (const std::uint32_t bucket : *buckets) last = std::max<std::uint64_t>(last, bucket);
    if (last < first) return first;  // nothing is defined
    const std::uint64_t chains_at = buckets_at + buckets->size() * 4;
    for (;; ++last) {  // ends at the mark or where the file does
      const auto link = table<std::uint32_t>(chains_at + (last - first) * 4, 1);
      if (!link) return 0;
      if ((link->front() & 1) != 0) return last + 1;
    }
  }

  input_file file_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> dynamic_;
  std::vector<char> strings_;
};

void split_path(std::string_view joined, std::vector<std::string>& parts) {
  while (!joined.empty()) {
    const std::size_t colon = joined.find(':');
    if (colon != 0) parts.emplace_back(joined.substr(0, colon));
    if (colon == std::string_view::npos) return;
    joined.remove_prefix(colon + 1);
  }
}

void collect_symbols(const dynamic_reader& reader, symbol_filter keep, elf_file& into) {
  const std::vector<Elf64_Sym> symbols = reader.symbols();
  const std::vector<std::uint16_t> versions = reader.versions(symbols.size());
  const auto files = reader.version_files();
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    const std::string_view name = reader.text(symbols[i].st_name);
    if (symbols[i].st_shndx != SHN_UNDEF) {
      if (keep(name, {})) into.defined.emplace_back(name);
      continue;
    }
    std::string_view file;
    if (i < versions.size()) {
      const auto found = files.find(versions[i] & 0x7fff);
      if (found != files.end()) file = found->second;
    }
    if (keep(name, file)) into.undefined.push_back({std::string(name), std::string(file)});
  }
}

}  // namespace

std::optional<elf_file> read_elf(const std::filesystem::path& path, symbol_filter keep) {
  dynamic_reader reader(path.c_str());
  if (!reader.open()) return std::nullopt;
  elf_file file;
  for (const Elf64_Dyn& entry : reader.dynamic()) {
    if (entry.d_tag == DT_NEEDED) file.needed.emplace_back(reader.text(entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) file.soname = reader.text(entry.d_un.d_val);
    if (entry.d_tag == DT_RPATH) split_path(reader.text(entry.d_un.d_val), file.rpath);
  }
  collect_symbols(reader, keep, file);
  return file;
}

}  // namespace memtrace::simulator
