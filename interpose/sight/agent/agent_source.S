/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's Python files as strings in the library. */
    .macro source name, file
    .global \name
    .hidden \name
    .type \name, %object
\name:
    .incbin "\file"
    .byte 0
    .size \name, . - \name
    .endm

    .section .rodata
    source memtrace_agent_source, interpose/sight/agent/agent.py
    source memtrace_compiled_code_source, interpose/sight/agent/compiled_code.py
    source memtrace_generated_statements_source, interpose/sight/agent/generated_statements.py
    source memtrace_operator_facts_source, interpose/sight/agent/operator_facts.py
    source memtrace_chosen_values_source, interpose/sight/agent/chosen_values.py
    .section .note.GNU-stack, "", %progbits
