// SPDX-License-Identifier: Apache-2.0
//
// Retainers of memory: reads the heap scans of a trace, links each storage that one found to the
// live block at its address and so to the line that allocated it, and reports for such a line which
// paths keep its memory, and how much more from scan to scan.
//
//   heap scan k:  held 0x7f…00 "self.outputs[…]"  ─► live block ─► call site 12
//                                                 (path × site).bytes, .blocks
//
// Memory is bounded: 64 heap scans are remembered (of more, every other one of each reason), of at
// most 16,384 paths and 32,768 pairs of path and site; what is beyond is counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/judge/verdicts/held_path.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/block_life.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::verdicts {

struct heap_scan_counts {
  std::uint64_t taken = 0;
  std::uint64_t incomplete = 0;  // a limit was reached
  std::uint64_t nanoseconds = 0;
  std::uint64_t storages = 0;  // found, in all heap scans together
  std::uint64_t unlinked = 0;  // of them, without a live block at their address
  std::uint64_t elided = 0;    // of them, not told apart: too many paths or pairs
};

class retention {
 public:
  explicit retention(const trace::dictionary& names) : names_(names) {}

  // The heap scan's begin and end, and how many steps had ended by then.
  void census(const trace::event& head, const trace::heap_scan_event& record, std::uint64_t step);
  // A storage that the open heap scan found: on `device`, allocated by the call site of this number
  // (as of_site is asked for), in this block; null where no live block is at its address.
  // `site_bytes`: all that is alive of the site; 0: not known.
  void held(std::uint32_t device, std::uint32_t site, const attribution::block_life* block,
            const trace::storage_event& record, std::uint64_t site_bytes = 0);

  // Retainers of a site's memory, most growth first; then those that keep most. Left out are paths
  // that neither grow nor hold a good part of the site's memory: the batch at hand is in many
  // variables, and none of them keeps the others alive.
  // `lasting`: the memory stays once it is made, so that what a later heap scan did not see any
  // more is not what keeps it.
  [[nodiscard]] std::vector<retainer> of_site(std::uint32_t device, std::uint32_t site,
                                              bool lasting = false) const;
  // For a site whose memory grows by so much a step, and that of_site says nothing of: that no name
  // leads to it, where heap scans looked when several of its blocks must have been there.
  [[nodiscard]] std::optional<retainer> unnamed(std::uint32_t device, std::uint32_t site,
                                                double bytes_per_step,
                                                std::uint64_t bytes_a_block) const;
  // What kept most memory of a device when a request failed, most first: as the heap scan of the
  // failure saw it, or the one at the program's end, if that saw more and the error ended it.
  [[nodiscard]] std::vector<retainer> at_failure(std::uint32_t device, bool ended_by_it) const;
  [[nodiscard]] const heap_scan_counts& counts() const { return counts_; }

 private:
  static constexpr std::size_t flag_kinds = 11;  // bits of format::held_*
  struct heap_scan_taken {
    format::census_reason reason{};
    std::uint64_t step = 0;
    bool complete = false;
    std::uint64_t named = 0;  // bytes that a name led to
    // Memory that it did not find had no name: it looked everywhere, while the program ran.
    bool says_absent = false;
  };
  struct sample {
    std::uint32_t census = 0;
    std::uint32_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t of_site = 0;               // all that was alive of the site
    std::uint64_t recorded_in_backward = 0;  // of the bytes
  };
  struct history {
    std::vector<sample> samples;
    std::uint64_t length = 0;   // of the container, in the latest of them
    std::uint64_t shorter = 0;  // in the one before
    bool gets_longer = false;
    levels_seen levels;
    std::array<std::uint64_t, flag_kinds> flagged{};  // bytes with each flag, in the latest
    std::map<std::string, std::uint64_t> also;  // bytes that another path has, too, in the latest
  };
  using pair_key = std::array<std::uint32_t, 3>;  // device, site, path

  [[nodiscard]] std::optional<std::uint32_t> path_of(const trace::storage_event& record);
  void count(const pair_key& key, const attribution::block_life& block,
             const trace::storage_event& record, std::uint64_t site_bytes);
  void thin();
  [[nodiscard]] bool finds_no_less(const heap_scan_taken& now) const;
  [[nodiscard]] bool is_gone(const history& pair) const;
  [[nodiscard]] bool is_seen_at_exit_only(const history& pair) const;
  [[nodiscard]] std::optional<std::uint32_t> scan_of_failure(bool ended_by_it) const;
  // The least that was alive of the site, such as a workspace that it made at first.
  [[nodiscard]] std::uint64_t least_of(std::uint32_t device, std::uint32_t site) const;
  [[nodiscard]] path_growth growth_of_pair(const history& pair) const;
  [[nodiscard]] retainer describe(const held_path& path, const history& pair,
                                  const path_growth& growth) const;
  struct of_all_keys {
    held_path path;  // without the keys' names
    history together;
    std::size_t paths = 0;
  };
  [[nodiscard]] std::vector<of_all_keys> by_any_key(std::uint32_t device, std::uint32_t site) const;
  static void add(history& to, const history& other);
  static void add_levels(history& to, const history& other);

  const trace::dictionary& names_;
  std::vector<heap_scan_taken> heap_scans_;
  bool open_ = false;  // the last of them has not ended
  std::vector<held_path> paths_;
  std::unordered_map<std::string, std::uint32_t> by_identity_;  // → index in paths_
  std::unordered_map<std::uint64_t, std::uint32_t> by_texts_;   // name and detail → the same
  std::map<pair_key, history> pairs_;
  heap_scan_counts counts_;
};

}  // namespace memtrace::verdicts
