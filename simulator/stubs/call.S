/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where every generated function ends up: r11 holds its record, everything else is as the caller
 * left it. Stores the six integer argument registers as an array and calls
 *   uint64_t memtrace_simulator_dispatch(record*, const uint64_t registers[6], const uint64_t* stack)
 * whose result is the function's. Floating-point arguments are of no interest here.
 */
        .text
        .globl  memtrace_simulator_call
        .type   memtrace_simulator_call, @function
memtrace_simulator_call:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %r9
        pushq   %r8
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        movq    %r11, %rdi
        movq    %rsp, %rsi
        leaq    16(%rbp), %rdx          /* past the saved rbp and the return address */
        call    memtrace_simulator_dispatch@PLT
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   memtrace_simulator_call, . - memtrace_simulator_call
        .section .note.GNU-stack, "", @progbits
