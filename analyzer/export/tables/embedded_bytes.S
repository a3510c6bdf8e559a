// SPDX-License-Identifier: Apache-2.0
    .macro text name, file
    .globl \name
    .hidden \name
\name:
    .incbin "\file"
    .byte 0
    .endm

    .section .rodata
    text memtrace_table_views, analyzer/export/tables/views.sql
    text memtrace_write_tables, analyzer/export/tables/write_tables.py
    .section .note.GNU-stack,"",@progbits
