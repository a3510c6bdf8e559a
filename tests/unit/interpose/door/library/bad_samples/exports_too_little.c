// SPDX-License-Identifier: Apache-2.0
// As if the hooks had been hidden: it would load and record nothing.
static int hidden;
int memtrace_nothing(void);
__attribute__((visibility("hidden"))) int memtrace_nothing(void) { return hidden; }
