/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that glibc gave a newer version after 2.28, under their older one, which every glibc
 * since 2.12 has: a library that asks for the newer version cannot be loaded into a process on an
 * older system, and the process dies. The references come from our own code and from the static
 * libstdc++ and libgcc alike, so each function is defined here, hidden, and goes on to the older one.
 *
 * Each has a section of its own: the linker leaves out what a product does not use.
 */
#if defined(__x86_64__)

        .macro forward name, version
        .section .text.\name, "ax", @progbits
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        jmp     *memtrace_older_\name@GOTPCREL(%rip)
        .cfi_endproc
        .size   \name, .-\name
        .symver memtrace_older_\name, \name@\version
        .endm

        /* Since 2.34, when the libraries of threads, of loading and of time became one with libc. */
        forward pthread_attr_getstack, GLIBC_2.2.5
        forward pthread_attr_setstacksize, GLIBC_2.2.5
        forward pthread_condattr_setclock, GLIBC_2.3.3
        forward pthread_create, GLIBC_2.2.5
        forward pthread_detach, GLIBC_2.2.5
        forward pthread_getname_np, GLIBC_2.12
        forward pthread_getspecific, GLIBC_2.2.5
        forward pthread_join, GLIBC_2.2.5
        forward pthread_key_create, GLIBC_2.2.5
        forward pthread_key_delete, GLIBC_2.2.5
        forward __pthread_key_create, GLIBC_2.2.5
        forward pthread_mutex_consistent, GLIBC_2.12
        forward pthread_mutex_trylock, GLIBC_2.2.5
        forward pthread_mutexattr_destroy, GLIBC_2.2.5
        forward pthread_mutexattr_init, GLIBC_2.2.5
        forward pthread_mutexattr_setpshared, GLIBC_2.2.5
        forward pthread_mutexattr_setrobust, GLIBC_2.12
        forward pthread_mutexattr_settype, GLIBC_2.2.5
        forward pthread_once, GLIBC_2.2.5
        forward pthread_rwlock_destroy, GLIBC_2.2.5
        forward pthread_rwlock_init, GLIBC_2.2.5
        forward pthread_rwlock_rdlock, GLIBC_2.2.5
        forward pthread_rwlock_tryrdlock, GLIBC_2.2.5
        forward pthread_rwlock_unlock, GLIBC_2.2.5
        forward pthread_rwlock_wrlock, GLIBC_2.2.5
        forward pthread_setname_np, GLIBC_2.12
        forward pthread_setspecific, GLIBC_2.2.5
        forward dladdr, GLIBC_2.2.5
        forward dladdr1, GLIBC_2.3.3
        forward dlclose, GLIBC_2.2.5
        forward dlerror, GLIBC_2.2.5
#ifndef MEMTRACE_HOOKS_LINKER  /* libmemtrace.so has its own of these */
        forward dlopen, GLIBC_2.2.5
        forward dlsym, GLIBC_2.2.5
        forward dlvsym, GLIBC_2.2.5
#endif
        forward shm_open, GLIBC_2.2.5
        forward shm_unlink, GLIBC_2.2.5
        /* Since 2.32. */
        forward pthread_getattr_np, GLIBC_2.2.5
        forward pthread_sigmask, GLIBC_2.2.5
#ifdef MEMTRACE_NEEDS_MATH
        /* Since 2.29: the same results, without the error handling of System V. */
        forward exp, GLIBC_2.2.5
        forward log, GLIBC_2.2.5
        forward pow, GLIBC_2.2.5
#endif

#endif
        .section .note.GNU-stack, "", @progbits
