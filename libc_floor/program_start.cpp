// SPDX-License-Identifier: Apache-2.0
//
// For executables: since glibc 2.34 the start of a program asks for a newer __libc_start_main,
// which runs the constructors itself. The older one wants a function that does.
#if defined(__x86_64__)

extern "C" {

using main_function = int(int, char**, char**);
using init_function = void(int, char**, char**);

int memtrace_older_start(main_function* program, int count, char** arguments, init_function* init,
                         void (*fini)(), void (*of_linker)(), void* stack_end);
__asm__(".symver memtrace_older_start,__libc_start_main@GLIBC_2.2.5");

// From the linker and from crti.o.
[[gnu::visibility("hidden")]] extern init_function* __init_array_start[];
[[gnu::visibility("hidden")]] extern init_function* __init_array_end[];
void _init();

namespace {

void construct(int count, char** arguments, char** environment) {
  _init();
  for (auto** each = __init_array_start; each != __init_array_end; ++each) {
    (*each)(count, arguments, environment);
  }
}

}  // namespace

[[gnu::visibility("hidden")]] int __libc_start_main(main_function* program, int count,
                                                    char** arguments, init_function*, void (*)(),
                                                    void (*of_linker)(), void* stack_end) {
  return memtrace_older_start(program, count, arguments, construct, nullptr, of_linker, stack_end);
}

}  // extern "C"

#endif
