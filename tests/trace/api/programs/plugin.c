/* SPDX-License-Identifier: Apache-2.0 */
#include "memtrace/memtrace.h"

void tell_from_plugin(void);

void tell_from_plugin(void) {
  memtrace_phase_begin("plugin");
  memtrace_phase_end();
}
