// SPDX-License-Identifier: Apache-2.0
//
// Of single call sites, categories, phases, and of memory that is reserved or outside of PyTorch:
// only where they grow.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/culprits.h"
#include "analyzer/judge/verdicts/verdict_maker.h"

namespace memtrace::verdicts {

void tell_sites(const verdict_maker& with, std::uint32_t device, const growing_sites& sites,
                std::vector<verdict>& to);

// Categories of which a call site leaks.
void tell_categories(const verdict_maker& with, const collector& collected,
                     const std::vector<growing_sites>& devices, std::vector<verdict>& to);

// Reserved grows though neither what is allocated nor its peak does: free memory in pieces that
// nothing fits into.
void tell_reserved(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                   const segment_makers& makers, const growth::context& about,
                   std::vector<verdict>& to);

// Memory that this process has from CUDA itself.
void tell_outside(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                  const growth::context& about, std::vector<verdict>& to);

// What grows within an evaluation or a phase that the program named; `devices`: the verdicts on
// the devices. What one of them says already is not said again.
void tell_phases(const verdict_maker& with, const collector& collected,
                 const trace::dictionary& names, const std::vector<verdict>& devices,
                 std::vector<verdict>& to);

}  // namespace memtrace::verdicts
