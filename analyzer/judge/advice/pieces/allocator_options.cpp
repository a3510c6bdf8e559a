// SPDX-License-Identifier: Apache-2.0
//
// Settings of PyTorch's caching allocator. Which of them helps depends on the program's sizes and
// their order alone, so they are all tried; the proof drops what does not help, and keep_best()
// all but the best.
#include <fmt/core.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/advice/pieces.h"

namespace memtrace::advice {

namespace {

using allocator::mebibyte;
using allocator::settings;

// The words for each kind of setting.
struct words {
  std::string_view id;
  std::string_view title;
  std::string_view cost;
  std::string_view not_when;
  bool holds_at_any_address = false;
};

constexpr words expandable = {
    "expandable_segments",
    "Free memory lies in segments that other sizes do not fit into; segments that grow and shrink "
    "by pages can be used for any size",
    "none known in steady training; mapping pages costs driver calls while memory still grows",
    "on Windows, with CUDA IPC between processes, or with libraries that register PyTorch's memory "
    "(NCCL user buffers, GPUDirect) and do not know these segments",
    true};

constexpr words no_expandable = {
    "expandable_segments_off", "With these sizes expandable segments reserve more than fixed ones",
    "the protection from fragmentation is gone: when sizes change, so does this",
    "where the sizes vary from step to step"};

constexpr words rounding = {
    "roundup_power2",
    "Sizes that vary a little each leave blocks of their own; rounded up they share them",
    "each block is up to 1/divisions larger than what was asked for",
    "where sizes do not vary: there it only wastes"};

constexpr words max_split = {
    "max_split_size",
    "Large free blocks are split for small requests and are then missing for large ones",
    "large blocks are kept whole: more cudaMalloc and, near the limit, retries that free them",
    "where memory is plentiful: without pressure it reserves more"};

constexpr words collection = {
    "garbage_collection",
    "Large cached blocks that nobody uses are given back only when memory has run out",
    "cudaFree and cudaMalloc from time to time, each of which waits for the GPU",
    "where expandable segments are on: their blocks are not collected"};

constexpr words segment_size = {
    "large_segment_size",
    "The size in which segments for requests of 1 to 10 MiB are got from CUDA does not suit them",
    "none known", "where the sizes of requests change"};

constexpr words fraction = {
    "memory_fraction",
    "The program limits itself to a part of the GPU (set_per_process_memory_fraction)",
    "what else runs on this GPU gets less", "where other processes need the rest"};

constexpr words defaults = {
    "default_options", "The allocator's settings that are in force reserve more than none at all",
    "none known", "where the settings were chosen for other sizes than those of this run"};

constexpr words several = {
    "alloc_options", "Of the settings that were tried together these reserve least",
    "each setting's own: see the documentation of the allocator", "where sizes do not vary"};

class search {
 public:
  explicit search(const blocks::evidence& of) : of_(of), now_(of.log.options) {}

  void tries(const words& about, const std::function<void(settings&)>& change) {
    auto changed = now_;
    change(changed);
    if (changed == now_ || !is_supported(changed)) return;
    const auto text = allocator::to_text(changed);
    proposal what;
    what.id = about.id;
    what.title = about.title;
    what.amount = text;
    what.change = text.empty()
                      ? "Unset PYTORCH_CUDA_ALLOC_CONF (and PYTORCH_ALLOC_CONF)."
                      : fmt::format("PYTORCH_CUDA_ALLOC_CONF={} before the program starts", text);
    what.evidence = evidence_text();
    what.cost = about.cost;
    what.not_when = about.not_when;
    what.how = proof::replayed;
    what.group = options_group;
    what.holds_at_any_address = about.holds_at_any_address;
    what.device = of_.log.device;
    what.free = true;
    what.options = changed;
    found_.push_back(std::move(what));
  }

  [[nodiscard]] const settings& now() const { return now_; }
  [[nodiscard]] proposals found() && { return std::move(found_); }

 private:
  // The recorded version reads back what to_text() writes.
  [[nodiscard]] bool is_supported(const settings& wanted) const {
    const auto read = allocator::parse_settings(allocator::to_text(wanted), of_.log.torch_version);
    const auto* const same = std::get_if<settings>(&read);
    return same != nullptr && *same == wanted;
  }
  [[nodiscard]] std::string evidence_text() const {
    const auto& text = of_.log.settings_text;
    return fmt::format("the {} requests of this run replayed through the allocator; now: {}",
                       text::format_count(of_.log.requests.size()),
                       text.empty() ? std::string("the defaults") : text);
  }

  const blocks::evidence& of_;
  settings now_;
  proposals found_;
};

void try_rounding(search& among) {
  for (const std::uint64_t divisions : {2, 4, 8, 16}) {
    among.tries(rounding,
                [divisions](settings& to) { to.roundup_power2_divisions.fill(divisions); });
  }
}

void try_fixed_segments(search& among) {
  for (const std::uint64_t megabytes : {32, 64, 128, 256, 512}) {
    among.tries(max_split, [megabytes](settings& to) { to.max_split_size = megabytes * mebibyte; });
  }
  for (const double threshold : {0.6, 0.8}) {
    among.tries(collection, [threshold](settings& to) {
      to.garbage_collection_threshold = threshold;
      // Without a limit below the whole GPU it is not looked at.
      if (to.memory_fraction >= 1) to.memory_fraction = 0.95;
    });
  }
  for (const std::uint64_t megabytes : {10, 12, 40}) {
    among.tries(segment_size, [megabytes](settings& to) {
      const bool follows = to.max_non_split_rounding == to.large_segment_size;
      to.large_segment_size = megabytes * mebibyte;
      if (follows) to.max_non_split_rounding = to.large_segment_size;
    });
  }
}

}  // namespace

proposals allocator_options(const blocks::evidence& of) {
  search among(of);
  if (among.now().backend != allocator::backend::native) return {};
  const bool is_expandable = among.now().expandable_segments;
  if (is_expandable) {
    among.tries(no_expandable, [](settings& to) { to.expandable_segments = false; });
  } else {
    among.tries(expandable, [](settings& to) { to.expandable_segments = true; });
    try_fixed_segments(among);
    among.tries(several, [](settings& to) {
      to.expandable_segments = true;
      to.roundup_power2_divisions.fill(8);
    });
  }
  try_rounding(among);
  among.tries(fraction, [](settings& to) { to.memory_fraction = 1; });
  among.tries(defaults, [](settings& to) { to = settings{}; });
  return std::move(among).found();
}

}  // namespace memtrace::advice
