// SPDX-License-Identifier: Apache-2.0
    .section .rodata
    .globl memtrace_page_begin
    .hidden memtrace_page_begin
memtrace_page_begin:
    .incbin MEMTRACE_PAGE
    .globl memtrace_page_end
    .hidden memtrace_page_end
memtrace_page_end:
    .byte 0
    .section .note.GNU-stack,"",@progbits
