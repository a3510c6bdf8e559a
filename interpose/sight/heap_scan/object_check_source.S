/* SPDX-License-Identifier: Apache-2.0 */
/* object_check.py as a string in the library. */
    .section .rodata
    .global memtrace_object_check_source
    .hidden memtrace_object_check_source
    .type memtrace_object_check_source, %object
memtrace_object_check_source:
    .incbin "interpose/sight/heap_scan/object_check.py"
    .byte 0
    .size memtrace_object_check_source, . - memtrace_object_check_source
    .section .note.GNU-stack, "", %progbits
