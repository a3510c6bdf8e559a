/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym, dlvsym and dlopen as the program finds them. The dynamic linker looks at its caller: for
 * RTLD_NEXT, RTLD_DEFAULT and the caller's RUNPATH. So the real function is jumped to, with the
 * stack and the arguments as they came, after this has been asked (linker_hooks.cpp):
 *   struct { void* jump; void* answer; } memtrace_before_NAME(arguments…, const void* caller)
 * Without a place to jump to, the answer goes back to the program.
 */
        .text

        .macro  forward name, arguments
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx                            /* the stack is aligned now */
        .cfi_adjust_cfa_offset 8
        .if     \arguments == 2
        movq    24(%rsp), %rdx                  /* the return address */
        .else
        movq    24(%rsp), %rcx
        .endif
        call    memtrace_before_\name
        movq    %rax, %r11
        movq    %rdx, %rax
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testq   %r11, %r11
        jz      1f
        jmp     *%r11
1:      ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .hidden memtrace_before_dlsym, memtrace_before_dlvsym, memtrace_before_dlopen
        forward dlsym, 2
        forward dlvsym, 3
        forward dlopen, 2
        .section .note.GNU-stack, "", @progbits
