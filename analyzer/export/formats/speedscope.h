// SPDX-License-Identifier: Apache-2.0
//
// speedscope's JSON: a profile for each device and moment, of who held the memory then. The
// outermost frame is the category; samples are call stacks, weighted by bytes.
#pragma once

#include <memory>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/formats.h"

namespace memtrace::exporting {

[[nodiscard]] std::unique_ptr<sink> make_speedscope(destination& to, const options& wanted);

}  // namespace memtrace::exporting
