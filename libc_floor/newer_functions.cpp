// SPDX-License-Identifier: Apache-2.0
//
// Functions that glibc 2.28 lacks, for our own code and for the static libstdc++ and libgcc: hidden
// definitions, so that no library of ours asks an older system for them. See older_versions.S.
#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#define MEMTRACE_HIDDEN [[gnu::visibility("hidden")]]

extern "C" {

// From 2.2.5, still there, but not declared any more. Since 2.33 they are functions without a
// version of the struct, which on x86-64 is the kernel's own; names with and without 64 mean the
// same there.
#define MEMTRACE_STATUS(suffix)                                                                 \
  int __xstat##suffix(int version, const char* path, struct stat##suffix* found) noexcept;      \
  int __fxstat##suffix(int version, int file, struct stat##suffix* found) noexcept;             \
  int __lxstat##suffix(int version, const char* path, struct stat##suffix* found) noexcept;     \
  int __fxstatat##suffix(int version, int folder, const char* path, struct stat##suffix* found, \
                         int flags) noexcept;                                                   \
  MEMTRACE_HIDDEN int stat##suffix(const char* path, struct stat##suffix* found) noexcept {     \
    return __xstat##suffix(1, path, found);                                                     \
  }                                                                                             \
  MEMTRACE_HIDDEN int fstat##suffix(int file, struct stat##suffix* found) noexcept {            \
    return __fxstat##suffix(1, file, found);                                                    \
  }                                                                                             \
  MEMTRACE_HIDDEN int lstat##suffix(const char* path, struct stat##suffix* found) noexcept {    \
    return __lxstat##suffix(1, path, found);                                                    \
  }                                                                                             \
  MEMTRACE_HIDDEN int fstatat##suffix(int folder, const char* path, struct stat##suffix* found, \
                                      int flags) noexcept {                                     \
    return __fxstatat##suffix(1, folder, path, found, flags);                                   \
  }
MEMTRACE_STATUS()
MEMTRACE_STATUS(64)
#undef MEMTRACE_STATUS

// Since 2.30.
MEMTRACE_HIDDEN pid_t gettid() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

// Since 2.32. Where it is true libstdc++ leaves out atomic operations; it is never told so.
MEMTRACE_HIDDEN char __libc_single_threaded = 0;

// Since 2.36, where std::random_device uses it. It cannot fail there, and does not wait here:
// before the system has gathered randomness, the time and an address have to do.
MEMTRACE_HIDDEN std::uint32_t arc4random() noexcept {
  std::uint32_t made = 0;
  if (::getrandom(&made, sizeof made, GRND_NONBLOCK) == sizeof made) return made;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto here = reinterpret_cast<std::uintptr_t>(&made);
  return static_cast<std::uint32_t>(now.tv_nsec) * 2654435761u ^ static_cast<std::uint32_t>(here);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {

struct sought {
  std::uintptr_t at;
  dl_find_object* found;
};

// A nonzero result ends dl_iterate_phdr.
int holds(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<sought*>(data);
  bool inside = false;
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  const ElfW(Phdr)* frames = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type == PT_GNU_EH_FRAME) frames = &part;
    if (part.p_type != PT_LOAD) continue;
    const auto first = object->dlpi_addr + part.p_vaddr, last = first + part.p_memsz;
    if (first < begin) begin = first;
    if (last > end) end = last;
    if (wanted.at >= first && wanted.at < last) inside = true;
  }
  if (!inside) return 0;
  if (frames == nullptr) return -1;
  *wanted.found = {};
  wanted.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  wanted.found->dlfo_map_end = reinterpret_cast<void*>(end);
  wanted.found->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

}  // namespace

// Since 2.35, where the unwinder of a static libgcc uses it: 0 where the object is found, else -1.
MEMTRACE_HIDDEN int _dl_find_object(void* address, dl_find_object* result) noexcept {
  sought wanted{reinterpret_cast<std::uintptr_t>(address), result};
  return ::dl_iterate_phdr(holds, &wanted) == 1 ? 0 : -1;
}

#endif

}  // extern "C"

#endif
