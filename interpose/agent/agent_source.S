/* SPDX-License-Identifier: Apache-2.0 */
/* agent.py as a string in the library. */
    .section .rodata
    .global memtrace_agent_source
    .hidden memtrace_agent_source
    .type memtrace_agent_source, %object
memtrace_agent_source:
    .incbin "interpose/agent/agent.py"
    .byte 0
    .size memtrace_agent_source, . - memtrace_agent_source
    .section .note.GNU-stack, "", %progbits
