// SPDX-License-Identifier: Apache-2.0
    .section .rodata
    .globl memtrace_absent_ranks
    .hidden memtrace_absent_ranks
memtrace_absent_ranks:
    .incbin "simulator/program/absent_ranks.py"
    .byte 0
    .section .note.GNU-stack,"",@progbits
