// SPDX-License-Identifier: Apache-2.0
//
// The tables that repeat the report: processes, devices, phases, modules, verdicts, culprits,
// keepers, fragmentation, advice, oom. They are taken from its JSON, by the pointers in the schema,
// so that they cannot say anything else.
#pragma once

#include <cstddef>

#include "analyzer/export/tables/places.h"
#include "analyzer/export/tables/sink.h"
#include "analyzer/run/model/model.h"

namespace memtrace::tables {

void add_report_rows(const run::process_report& process, std::size_t number, places& known,
                     sink& to);

}  // namespace memtrace::tables
