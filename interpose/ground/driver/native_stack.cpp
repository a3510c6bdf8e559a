// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/native_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <array>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/call_owner.h"

namespace memtrace::native_stack {
namespace {

constexpr std::size_t deepest = 64;

struct place {
  std::string file;
  std::string function;
  bool is_ours = false;
  bool is_program = false;  // or the interpreter's library
};

struct known_places {
  small_lock lock;
  std::unordered_map<std::uintptr_t, place> by_address;
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

bool is_ours(const void* base) noexcept {
  static constexpr char here = 0;
  Dl_info ours;
  return dladdr(&here, &ours) != 0 && ours.dli_fbase == base;
}

place look_up(std::uintptr_t at) {
  place found;
  Dl_info info{};
  void* symbol = nullptr;  // its entry, an ElfW(Sym)
  const auto* const address = reinterpret_cast<const void*>(at);
  if (dladdr1(const_cast<void*>(address), &info, &symbol, RTLD_DL_SYMENT) == 0) {
    return found;
  }
  if (info.dli_fname != nullptr) found.file = info.dli_fname;
  const bool is_inside_symbol = info.dli_sname != nullptr && symbol != nullptr &&
                                at - reinterpret_cast<std::uintptr_t>(info.dli_saddr) <
                                    static_cast<const ElfW(Sym)*>(symbol)->st_size;
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>(at - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
  found.function = is_inside_symbol ? info.dli_sname : offset;
  found.is_ours = is_ours(info.dli_fbase);
  const std::string_view owner = owner_of(address);
  found.is_program = owner.data() != nullptr && owner.empty();
  return found;
}

const place* find_known(std::uintptr_t at) noexcept {
  const lock_holder holder(all_places.lock);
  const auto there = all_places.by_address.find(at);
  return there == all_places.by_address.end() ? nullptr : &there->second;
}

// Looked up without the lock: the dynamic linker has one of its own, and calls CUDA under it (a
// library's constructors). What is found stays where it is.
const place* find(std::uintptr_t at) {
  if (const place* const there = find_known(at); there != nullptr) return there;
  place made = look_up(at);
  const lock_holder holder(all_places.lock);
  return &all_places.by_address.try_emplace(at, std::move(made)).first->second;
}

stack_id frames_of(recorder& to, const addresses& from, stack_id outer) {
  std::array<stack_frame, deepest> frames;
  std::size_t count = 0;
  for (std::size_t i = 0; i < from.count; ++i) {
    const place* const here = find(from.found[i]);
    if (here->is_ours || here->file.empty()) continue;
    if (here->is_program && outer != 0) break;
    frames[count++] = {here->file, here->function, 0};
  }
  return to.intern_on(outer, std::span(frames).first(count));
}

}  // namespace

stack_id capture(recorder& to, stack_id outer) noexcept {
  if (is_inside) return outer;
  is_inside = true;
  addresses found;
  stack_id made = outer;
  (void)_Unwind_Backtrace(&add, &found);
  try {
    made = frames_of(to, found, outer);
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
