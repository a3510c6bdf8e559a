// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/native_allocator.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/notice.h"

namespace memtrace {
namespace {

// Symbols that a library does not export: read from the .symtab of its file. Official PyTorch
// wheels have one; 0.1 ms in libc10_cuda.so.
struct symbol_query {
  const char* prefix;          // of the mangled name
  unsigned times = 0;          // result: how many there are; the rest is of the last
  std::uintptr_t address = 0;  // result
  std::uint64_t size = 0;      // result, bytes
  char rest[100] = {};         // result: what follows the prefix, cut off
};

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

// Fills in what it finds. Parts that the compiler split off (NAME.cold) are passed over.
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

#define NATIVE "3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator"
#define MEMBER(name) \
  { .prefix = "_ZN" NATIVE name "E" }

constexpr std::size_t member_count = static_cast<std::size_t>(allocator_member::count);

// In the order of allocator_member, then the vtable.
constexpr std::array<symbol_query, member_count + 1> queries{{
    MEMBER("27attachAllocatorTraceTracker"),
    MEMBER("11initialized"),
    MEMBER("17getMemoryFraction"),
    MEMBER("17setMemoryFraction"),
    MEMBER("10emptyCache"),
    MEMBER("19beginAllocateToPool"),
    MEMBER("17endAllocateToPool"),
    MEMBER("11releasePool"),
    MEMBER("18createOrIncrefPool"),
    MEMBER("10setNoSplit"),
    MEMBER("11setUseOnOOM"),
    {.prefix = "_ZTVN" NATIVE "E"},
}};
#undef MEMBER
#undef NATIVE

struct known_parameters {
  allocator_member which;
  std::string_view mangled;
  member_form form = member_form::only;
};

// As the wheels of 2.3 to 2.15 have them, and since when where it was not always so. A
// MempoolId_t is a std::pair of unsigned long long.
#define POOL "St4pairIyyE"
constexpr known_parameters known[] = {
    {allocator_member::attach_tracker, "St8functionIFvRKNS1_10TraceEntryEEE"},
    {allocator_member::attach_tracker,  // 2.11
     "St8functionIFvRKNS_22CachingDeviceAllocator10TraceEntryEEE"},
    {allocator_member::initialized, "v"},
    {allocator_member::get_memory_fraction, "a"},  // 2.6
    {allocator_member::set_memory_fraction, "da"},
    {allocator_member::empty_cache, "v", member_form::no_pool},
    {allocator_member::empty_cache, POOL},  // 2.8
    {allocator_member::begin_allocate_to_pool, "a" POOL "St8functionIFbP11CUstream_stEE"},
    {allocator_member::end_allocate_to_pool, "a" POOL},
    {allocator_member::release_pool, "a" POOL},
    {allocator_member::create_pool, "a" POOL "PNS1_13CUDAAllocatorE",  // 2.8
     member_form::plain_pointer},
    {allocator_member::create_pool, "a" POOL "St10shared_ptrINS1_13CUDAAllocatorEE"},  // 2.11
    {allocator_member::set_no_split, "a" POOL},                                        // 2.10
    {allocator_member::set_use_on_oom, "a" POOL, member_form::no_condition},           // 2.8
    {allocator_member::set_use_on_oom, "a" POOL "b"},                                  // 2.11
};
#undef POOL

const known_parameters* find_known(allocator_member which, std::string_view mangled) noexcept {
  for (const known_parameters& one : known) {
    if (one.which == which && one.mangled == mangled) return &one;
  }
  return nullptr;
}

// Those that a release may lack.
bool came_later(allocator_member which) noexcept {
  return which == allocator_member::get_memory_fraction || which == allocator_member::create_pool ||
         which == allocator_member::set_no_split || which == allocator_member::set_use_on_oom;
}

constexpr char allocator_pointer[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr unsigned words_before_functions = 2;  // Itanium C++ ABI: offset to top, type information
constexpr unsigned most_vtable_words = 250;

}  // namespace

bool native_allocator::find() noexcept {
  loaded_library library;
  library_is_loaded_ = find_loaded_library("libc10_cuda.so", library);
  if (!library_is_loaded_) return false;
  auto* const pointer =
      static_cast<void**>(find_in_loaded_library("libc10_cuda.so", allocator_pointer));
  if (pointer == nullptr || *pointer == nullptr) return false;

  auto found = queries;
  find_local_symbols(library, found);
  const auto& vtable = found[member_count];
  if (vtable.times != 1 || vtable.rest[0] != '\0') {
    notice::log("no symbols of NativeCachingAllocator in %s", library.path.c_str());
    return false;
  }
  const auto* const functions =
      reinterpret_cast<void* const*>(vtable.address) + words_before_functions;
  if (*static_cast<void* const* const*>(*pointer) != functions) {
    notice::log("the current allocator is not the native one");
    return false;
  }
  object_ = *pointer;
  vtable_words_ = reinterpret_cast<void* const*>(vtable.address);
  vtable_word_count_ = static_cast<unsigned>(vtable.size / sizeof(void*));
  if (vtable_word_count_ > most_vtable_words) return false;
  for (unsigned i = 0; i < member_count; ++i) {
    const auto& one = found[i];
    members_[i].is_named = one.times != 0;
    // With two of one name nobody knows which is meant.
    const auto* const parameters =
        one.times == 1 ? find_known(static_cast<allocator_member>(i), one.rest) : nullptr;
    if (parameters == nullptr) continue;
    members_[i].address = one.address;
    members_[i].form = parameters->form;
  }
  return true;
}

void* native_allocator::member(allocator_member which) const noexcept {
  const std::uintptr_t wanted = at(which).address;
  if (wanted == 0) return nullptr;
  for (unsigned i = words_before_functions; i < vtable_word_count_; ++i) {
    if (reinterpret_cast<std::uintptr_t>(vtable_words_[i]) == wanted) return vtable_words_[i];
  }
  return nullptr;
}

bool native_allocator::is_known(allocator_member which) const noexcept {
  if (!at(which).is_named) return came_later(which);
  return member(which) != nullptr;
}

}  // namespace memtrace
