// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/deep_binding.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "interpose/ground/base/own_library.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/loader/elf_exports.h"
#include "interpose/ground/loader/hand_out.h"
#include "interpose/ground/loader/real_function.h"

namespace memtrace::deep_binding {
namespace {

// The libraries that were there before the dlopen that binds deep: those are bound as they are.
struct library_list {
  static constexpr std::size_t capacity = 2048;
  std::array<std::uintptr_t, capacity> bases;
  std::size_t count = 0;

  [[nodiscard]] bool has(std::uintptr_t base) const noexcept {
    const auto* const end = bases.data() + std::min(count, capacity);
    return std::find(bases.data(), end, base) != end;
  }
};

struct opened_library {
  dl_phdr_info facts{};
  char* path = nullptr;
  void* handle = nullptr;  // keeps it loaded
};
struct new_libraries {
  std::array<opened_library, library_list::capacity> all{};
  std::size_t count = 0;
};

// Where the libraries lie that were bound deep. Only added to: what is loaded in the place of one
// that was closed is asked for its own functions first, and then everybody's.
struct address_range {
  std::uintptr_t begin;
  std::uintptr_t end;
};
std::array<address_range, 256> bound_deep;
std::atomic<std::size_t> bound_deep_count{0};

library_list known_before;
std::atomic<bool> is_due{false};
std::atomic<bool> everything{false};
small_lock lock;

int note(dl_phdr_info* library, std::size_t, void*) {
  if (known_before.count < library_list::capacity) {
    known_before.bases[known_before.count] = library->dlpi_addr;
  }
  ++known_before.count;
  return 0;
}

bool is_within(const dl_phdr_info& library, std::uintptr_t address) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address < begin + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// The memory that the linker has made read-only after it had filled it in: whole pages, so that
// both ends are rounded down, as it does it. What shares a page with the end of the region stays
// writable.
bool is_read_only(const dl_phdr_info& library, std::uintptr_t address,
                  std::uintptr_t page) noexcept {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    const std::uintptr_t end = begin + segment.p_memsz;
    if (segment.p_type == PT_GNU_RELRO && address >= (begin & ~(page - 1)) &&
        address < (end & ~(page - 1))) {
      return true;
    }
  }
  return false;
}

void store(const dl_phdr_info& library, void** slot, void* value) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(slot);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const begin = reinterpret_cast<void*>(at & ~(page - 1));
  const bool locked = is_read_only(library, at, page);
  if (locked && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (locked) (void)mprotect(begin, page, PROT_READ);
}

// Where a slot leads, or would at its first call: into the library itself it still leads to the
// linker, which will look in the library and its own dependencies first.
void* target_of(const opened_library& library, void* value, const char* name) noexcept {
  return is_within(library.facts, reinterpret_cast<std::uintptr_t>(value))
             ? dlsym(library.handle, name)
             : value;
}

// The linker's functions that are ours, too: what a library looks up by itself is CUDA's as well.
bool is_of_linker(const char* name) noexcept {
  return std::strcmp(name, "dlsym") == 0 || std::strcmp(name, "dlvsym") == 0 ||
         std::strcmp(name, "dlopen") == 0;
}

bool is_wanted(const char* name) noexcept {
  return is_of_interest(name) || is_of_linker(name) || (binds_everything() && has_wrapper(name));
}

void* instead_of_target(const char* name, void* target) noexcept {
  if (!is_of_linker(name)) {
    return binds_everything() ? instead_of_bound(name, target) : instead_of_symbol(name, target);
  }
  if (!is_from_family(library_family::c_library, target)) return target;
  void* const own = find_export_beside(&__ehdr_start[0], name);
  return own == nullptr ? target : own;
}

void correct(const opened_library& library, const elf_exports& dynamic,
             const elf_exports::relocations& list) noexcept {
  for (std::size_t i = 0; i < list.count; ++i) {
    const auto& one = list.begin[i];
    const auto type = ELF64_R_TYPE(one.r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
    const char* const name = dynamic.name_of(one);
    if (one.r_addend != 0 || !is_wanted(name)) continue;
    auto** const slot = reinterpret_cast<void**>(library.facts.dlpi_addr + one.r_offset);
    void* const value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (value == nullptr || is_own(value)) continue;
    void* const target = target_of(library, value, name);
    if (target == nullptr) continue;
    void* const handed = instead_of_target(name, target);
    if (handed != target) store(library.facts, slot, handed);
  }
}

// Only notes them: nothing that takes the linker's other lock may be called from here.
int note_new(dl_phdr_info* library, std::size_t, void* data) {
  auto& list = *static_cast<new_libraries*>(data);
  if (known_before.has(library->dlpi_addr) || list.count == list.all.size()) return 0;
  char* const path = strdup(library->dlpi_name);
  if (path == nullptr) return 0;
  list.all[list.count++] = {*library, path, nullptr};
  return 0;
}

void remember(const dl_phdr_info& library) noexcept {
  const std::size_t known = bound_deep_count.load(std::memory_order_relaxed);
  if (known == bound_deep.size()) return;
  address_range range{~std::uintptr_t{0}, 0};
  for (const auto& segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    range.begin = std::min(range.begin, begin);
    range.end = std::max<std::uintptr_t>(range.end, begin + segment.p_memsz);
  }
  bound_deep[known] = range;
  bound_deep_count.store(known + 1, std::memory_order_release);
}

void correct_new_libraries() noexcept {
  static constinit new_libraries list;  // under the lock
  list.count = 0;
  dl_iterate_phdr(&note_new, &list);
  for (opened_library& library : std::span(list.all).first(list.count)) {
    library.handle = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
    std::free(library.path);
    if (library.handle == nullptr) continue;  // closed meanwhile
    if (is_within(library.facts, reinterpret_cast<std::uintptr_t>(&__ehdr_start[0]))) continue;
    remember(library.facts);
    const elf_exports dynamic(library.facts);
    correct(library, dynamic, dynamic.data());
    correct(library, dynamic, dynamic.calls());
    dlclose(library.handle);
  }
}

}  // namespace

void before_open(bool binds_deep) noexcept {
  look_if_due();
  binds_deep = binds_deep || binds_everything();
  if (!binds_deep || !settings::is_on(capability::deep_binding) || !lock.try_lock_for(100)) return;
  known_before.count = 0;
  dl_iterate_phdr(&note, nullptr);
  is_due.store(known_before.count <= library_list::capacity, std::memory_order_release);
  lock.unlock();
}

void bind_everything() noexcept {
  if (everything.exchange(true, std::memory_order_relaxed) || !lock.try_lock_for(100)) return;
  known_before.count = 0;
  correct_new_libraries();
  lock.unlock();
  (void)dlerror();
}

bool binds_everything() noexcept {
  return everything.load(std::memory_order_relaxed);
}

bool is_bound_deep(const void* address) noexcept {
  if (binds_everything()) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t known = bound_deep_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) {
    if (at >= bound_deep[i].begin && at < bound_deep[i].end) return true;
  }
  return false;
}

void look_if_due() noexcept {
  if (!is_due.load(std::memory_order_acquire)) [[likely]]
    return;
  if (!lock.try_lock_for(100)) return;
  if (is_due.exchange(false, std::memory_order_relaxed)) correct_new_libraries();
  lock.unlock();
  (void)dlerror();  // of looking for real functions
}

}  // namespace memtrace::deep_binding
