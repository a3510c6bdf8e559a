/* SPDX-License-Identifier: Apache-2.0 */
/* self_check.py as a string in the library. */
    .section .rodata
    .global memtrace_self_check_source
    .hidden memtrace_self_check_source
    .type memtrace_self_check_source, %object
memtrace_self_check_source:
    .incbin "interpose/sight/python/self_check.py"
    .byte 0
    .size memtrace_self_check_source, . - memtrace_self_check_source
    .section .note.GNU-stack, "", %progbits
