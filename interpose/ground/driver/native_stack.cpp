// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/native_stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/call_owner.h"
#include "memtrace/trace_format.h"

namespace memtrace::native_stack {
namespace {

constexpr std::size_t deepest = 64;

struct place {
  std::string file;
  std::string function;
  std::string identity;     // of the file
  std::size_t address = 0;  // in the file
  bool is_ours = false;
  bool is_program = false;  // or the interpreter's library
  // The generation of the recorder that was told of the file.
  mutable std::uint32_t told_to = 0;
};

struct known_places {
  small_lock lock;
  std::array<std::unordered_map<std::uintptr_t, place>, 2> by_address;  // by `naming`
  std::uint32_t generation = 0;      // of the recorder that was told of these files
  std::set<std::string_view> files;  // as their places have them
};
// Never destroyed: other threads may ask until the process is gone. Made with the library, so that
// no thread can fork while another makes them.
alignas(known_places) unsigned char memory_of_places[sizeof(known_places)];
known_places& all_places = *new (memory_of_places) known_places;

thread_local constinit bool is_inside = false;

struct addresses {
  std::array<std::uintptr_t, deepest> found{};
  std::size_t count = 0;
};

_Unwind_Reason_Code add(_Unwind_Context* context, void* data) {
  auto& to = *static_cast<addresses*>(data);
  int is_before_instruction = 0;
  const auto at = _Unwind_GetIPInfo(context, &is_before_instruction);
  if (at == 0 || to.count == deepest) return _URC_END_OF_STACK;
  // A return address is behind the call.
  to.found[to.count++] = is_before_instruction != 0 ? at : at - 1;
  return _URC_NO_REASON;
}

// A note of the file, as the loader mapped it.
std::string_view build_id_in(std::string_view notes) noexcept {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  ElfW(Nhdr) head;
  while (notes.size() >= sizeof head) {
    std::memcpy(&head, notes.data(), sizeof head);
    notes.remove_prefix(sizeof head);
    const auto name = padded(head.n_namesz), content = padded(head.n_descsz);
    if (name > notes.size() || head.n_descsz > notes.size() - name) break;
    if (head.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU", 4))) {
      return notes.substr(name, head.n_descsz);
    }
    notes.remove_prefix(std::min(name + content, notes.size()));
  }
  return {};
}

bool holds(const dl_phdr_info& loaded, std::uintptr_t at) noexcept {
  const std::span segments(loaded.dlpi_phdr, loaded.dlpi_phnum);
  return std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && at - (loaded.dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  });
}

// The build id or, without one, size and time of the file.
std::string identity_of(const dl_phdr_info& loaded, const char* file) {
  std::string made;
  for (const auto& segment : std::span(loaded.dlpi_phdr, loaded.dlpi_phnum)) {
    const auto begin = loaded.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || segment.p_memsz == 0 || !holds(loaded, begin) ||
        !holds(loaded, begin + segment.p_memsz - 1)) {
      continue;
    }
    const auto* const notes = reinterpret_cast<const char*>(begin);
    for (const char letter : build_id_in({notes, segment.p_memsz})) {
      constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(letter);
      made += digits[byte >> 4];
      made += digits[byte & 15];
    }
    if (!made.empty()) return made;
  }
  struct stat status {};
  if (::stat(file, &status) != 0) return made;
  std::array<char, 48> text;
  std::snprintf(
      text.data(), text.size(), "%lld.%lld", static_cast<long long>(status.st_size),
      static_cast<long long>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec);
  return text.data();
}

// The program's own name is not known to the linker, and its file may be gone by now; a library's may
// be a path from a folder that the process has left meanwhile.
std::string path_of(const char* name) {
  std::array<char, PATH_MAX> whole;
  if (name[0] == '/') return name;
  if (name[0] != '\0') return ::realpath(name, whole.data()) == nullptr ? name : whole.data();
  const ssize_t length = ::readlink("/proc/self/exe", whole.data(), whole.size());
  return {whole.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

// libmemtrace_cuda.so: who looks for the program's lines looks past the GPU.
bool is_of_simulator(std::string_view file) noexcept {
  return file.substr(file.rfind('/') + 1).starts_with("libmemtrace_");
}

struct search {
  std::uintptr_t at;
  place found;
};

// Throws nothing through the linker.
int see_loaded(dl_phdr_info* loaded, std::size_t, void* data) noexcept {
  static constexpr char ours = 0;
  auto& wanted = *static_cast<search*>(data);
  if (!holds(*loaded, wanted.at)) return 0;
  try {
    wanted.found.file = path_of(loaded->dlpi_name);
    wanted.found.identity = identity_of(*loaded, wanted.found.file.c_str());
    wanted.found.address = wanted.at - loaded->dlpi_addr;
    wanted.found.is_ours = holds(*loaded, reinterpret_cast<std::uintptr_t>(&ours)) ||
                           is_of_simulator(wanted.found.file);
  } catch (const std::bad_alloc&) {
    wanted.found = {};
  }
  return 1;
}

std::string exported_at(const void* address) {
  Dl_info info{};
  void* entry = nullptr;
  if (dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0 || info.dli_sname == nullptr ||
      entry == nullptr) {
    return {};
  }
  const auto behind = static_cast<const char*>(address) - static_cast<char*>(info.dli_saddr);
  const bool is_of_symbol =
      static_cast<std::size_t>(behind) < static_cast<const ElfW(Sym)*>(entry)->st_size;
  return is_of_symbol ? info.dli_sname : std::string();
}

// Without names it takes none of the dynamic linker's locks but for its list, which it holds for
// moments only, not while it runs a library's constructors.
place look_up(std::uintptr_t at, naming how) {
  search wanted{at, {}};
  dl_iterate_phdr(&see_loaded, &wanted);
  place& found = wanted.found;
  if (found.file.empty()) return {};
  const auto* const address = reinterpret_cast<const void*>(at);
  if (how == naming::exported) {
    found.function = exported_at(address);
    const std::string_view owner = owner_of(address);
    found.is_program = owner.data() != nullptr && owner.empty();
  }
  std::array<char, 24> offset;
  std::snprintf(offset.data(), offset.size(), "+0x%zx", found.address);
  found.function += offset.data();
  return std::move(found);
}

const place* find_known(std::uintptr_t at, naming how) noexcept {
  const lock_holder holder(all_places.lock);
  const auto& known = all_places.by_address[static_cast<unsigned>(how)];
  const auto there = known.find(at);
  return there == known.end() ? nullptr : &there->second;
}

// Looked up without the lock: the dynamic linker has one of its own, and calls CUDA under it (a
// library's constructors). What is found stays where it is.
const place* find(std::uintptr_t at, naming how) {
  if (const place* const there = find_known(at, how); there != nullptr) return there;
  place made = look_up(at, how);
  const lock_holder holder(all_places.lock);
  auto& known = all_places.by_address[static_cast<unsigned>(how)];
  return &known.try_emplace(at, std::move(made)).first->second;
}

// A file's identity goes into the trace before the first frame of it: the lock is held until it is
// there.
void tell_file(recorder& to, const place& of) {
  const std::atomic_ref told_to(of.told_to);
  if (of.identity.empty() || told_to.load(std::memory_order_acquire) == to.generation()) return;
  const lock_holder holder(all_places.lock);
  if (all_places.generation != to.generation()) {
    all_places.generation = to.generation();
    all_places.files.clear();
  }
  if (all_places.files.insert(of.file).second) {
    to.info(format::info_key::library, of.identity + ' ' + of.file);
  }
  told_to.store(to.generation(), std::memory_order_release);
}

stack_id frames_of(recorder& to, const addresses& from, stack_id outer, naming how) {
  std::array<stack_frame, deepest> frames;
  std::size_t count = 0;
  for (std::size_t i = 0; i < from.count; ++i) {
    const place* const here = find(from.found[i], how);
    if (here->is_ours || here->file.empty()) continue;
    if (here->is_program && outer != 0) break;
    tell_file(to, *here);
    frames[count++] = {here->file, here->function, 0};
  }
  return to.intern_on(outer, std::span(frames).first(count));
}

}  // namespace

stack_id capture(recorder& to, stack_id outer, naming how) noexcept {
  if (is_inside) return outer;
  is_inside = true;
  addresses found;
  stack_id made = outer;
  (void)_Unwind_Backtrace(&add, &found);
  try {
    made = frames_of(to, found, outer, how);
  } catch (const std::bad_alloc&) {
    // The Python frames alone.
  }
  is_inside = false;
  return made;
}

void in_forked_child() noexcept {
  new (&all_places) known_places;
  is_inside = false;
}

}  // namespace memtrace::native_stack
