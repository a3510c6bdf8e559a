// SPDX-License-Identifier: Apache-2.0
// The exports read from loaded libraries are those that the dynamic linker finds in them.
#include "interpose/ground/loader/elf_exports.h"

#include <dlfcn.h>

#include "tests/unit/catch.h"

TEST_CASE("functions of the C library are those that dlsym finds there") {
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(libc != nullptr);
  for (const char* name : {"printf", "open", "environ", "pthread_atfork", "dl_iterate_phdr"}) {
    CAPTURE(name);
    CHECK(memtrace::find_export_in("libc.so", name) == dlsym(libc, name));
  }
  CHECK(memtrace::find_export_in("libc.so", "no_such_function") == nullptr);
  CHECK(memtrace::find_export_in("libnone.so", "printf") == nullptr);
  dlclose(libc);
}

TEST_CASE("looking does not change what dlerror says") {
  (void)dlerror();
  CHECK(memtrace::find_export_in("libc.so", "no_such_function") == nullptr);
  CHECK_FALSE(memtrace::is_exported_elsewhere("no_such_function"));
  CHECK(dlerror() == nullptr);
}

TEST_CASE("a library is found by an address in it") {
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(libc != nullptr);
  const void* const inside = dlsym(libc, "printf");
  CHECK(memtrace::find_export_beside(inside, "open") == dlsym(libc, "open"));
  const int on_the_stack = 0;
  CHECK(memtrace::find_export_beside(&on_the_stack, "open") == nullptr);
  dlclose(libc);
}

TEST_CASE("others export what is not ours") {
  CHECK(memtrace::is_exported_elsewhere("printf"));
  CHECK_FALSE(memtrace::is_exported_before("printf"));  // this program stands before the library
}
