// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/usage_collector.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "memtrace/cuda_calls.h"
#include "memtrace/host_samples.h"

namespace memtrace::device {

namespace {

namespace host = format::host;
using format::cuda_effect;

constexpr std::size_t most_names = 4096;

[[nodiscard]] std::uint64_t as_bytes(double value) {
  constexpr double most = 1e18;
  return value > 0 && value < most ? static_cast<std::uint64_t>(value) : 0;
}

}  // namespace

std::optional<counter_name> parse_counter(std::string_view name) {
  constexpr std::string_view prefix = host::device_prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  counter_name found;
  const auto* const last = name.data() + name.size();
  const auto [end, failed] = std::from_chars(name.data(), last, found.device);
  if (failed != std::errc() || end == last) return std::nullopt;
  found.suffix = std::string(end, last);
  return found;
}

void usage_collector::on_counter(const trace::event& head, const trace::counter_event& record) {
  auto known = counters_.find(record.name.value);
  if (known == counters_.end()) {
    if (counters_.size() >= most_names) return;
    known = counters_.emplace(record.name.value, parse_counter(names_[record.name])).first;
  }
  if (!known->second) return;
  const auto& [device, suffix] = *known->second;
  auto& of = devices_[device];
  const auto bytes = as_bytes(record.value);
  if (suffix == host::device_used_suffix) return begin_moment(of, device, head, bytes);
  if (of.latest && of.latest->time_ns == head.time_ns) return tell(of, suffix, bytes);
  if (suffix == host::device_own_suffix) of.own_look = {head.time_ns, 0, bytes};
  if (suffix != host::device_others_suffix) return;
  const bool is_whole = of.own_look && of.own_look->time_ns == head.time_ns;
  see(of, device, {head.time_ns, bytes, is_whole ? of.own_look->own : std::nullopt});
}

void usage_collector::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  auto& of = devices_[head.device];
  of.caller = head.thread;
  const auto effect = format::effect_of(names_[call.api]);
  const bool is_code = effect == cuda_effect::module || effect == cuda_effect::module_end;
  if (!is_code || call.error != 0 || call.size != 0) return;
  settle(of);
  of.code.change();
}

void usage_collector::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  const auto found = devices_.find(head.device);
  if (found == devices_.end() || found->second.caller != head.thread) return;
  auto& of = found->second;
  if (of.next != awaited::segment) return;
  const bool is_segment =
      record.kind == format::kind::segment_alloc || record.kind == format::kind::segment_map;
  of.next = is_segment ? awaited::block : awaited::nothing;
  if (!is_segment) return;
  auto& known = of.highest->known;
  for (auto& [owner, bytes] : known.owners) {
    if (owner.known) continue;
    const auto taken = std::min(bytes, record.size);
    bytes -= taken;
    known.reserved += taken;
    known.in_segments += taken;
    known.has_allocator = true;
  }
}

void usage_collector::on_report(const trace::report_event& report) {
  const auto found = devices_.find(report.device);
  if (found == devices_.end() || found->second.next != awaited::block) return;
  auto& of = found->second;
  of.next = awaited::nothing;
  if (report.block_bytes <= 0) return;
  auto& known = of.highest->known;
  const auto room = known.reserved - std::min(known.reserved, known.allocated);
  known.allocated += std::min(room, static_cast<std::uint64_t>(report.block_bytes));
}

void usage_collector::begin_moment(watched& of, std::uint32_t device, const trace::event& head,
                                   std::uint64_t used) {
  settle(of);
  see_own(of, device, std::nullopt);
  of.latest = moment{};
  auto& now = *of.latest;
  now.event = head.number;
  now.time_ns = head.time_ns;
  now.told.used = used;
  now.known = held_now(replayed_, device);
  now.before = of.latest_look;
  now.told.beside_calls = of.own.latest;
  if (of.latest_look) now.told.others = of.latest_look->others;
  of.is_settled = false;
  // Of moments with as much in use that with most allocated says best what it was for.
  // What others have is no reason to look at a moment.
  const auto rank = [](const moment& one) {
    const auto others = one.told.others.value_or(0);
    return std::pair(one.told.used - std::min(one.told.used, others), one.known.allocated);
  };
  if (of.highest && rank(*of.highest) >= rank(now)) return;
  of.highest = now;
  of.next = awaited::segment;
}

void usage_collector::tell(watched& of, std::string_view suffix, std::uint64_t bytes) {
  const bool is_highest = of.highest && of.highest->event == of.latest->event;
  const auto take = [&](std::optional<std::uint64_t> counted::*which) {
    auto& most = of.most.*which;
    most = std::max(most.value_or(0), bytes);
    of.latest->told.*which = bytes;
    if (is_highest) of.highest->told.*which = bytes;
  };
  if (suffix == host::device_others_suffix) {
    take(&counted::others);
    of.latest_look = {of.latest->time_ns, bytes, std::nullopt};
    if (is_highest) of.highest->awaits_look = false;
  }
  if (suffix == host::device_pools_suffix) take(&counted::pools);
  if (suffix == host::device_graphs_suffix) take(&counted::graphs);
  if (suffix == host::device_context_suffix) take(&counted::context);
  if (suffix == host::device_others_and_context_suffix) take(&counted::others_and_context);
}

void usage_collector::see_own(watched& of, std::uint32_t device,
                              std::optional<std::uint64_t> bytes) const {
  const auto calls =
      sum_of_calls(of.latest ? of.latest->told : counted{}, held_now(replayed_, device), names_);
  if (std::exchange(of.own.calls, calls) != calls || !bytes || *bytes < calls) return;
  of.own.latest = *bytes - calls;
  if (!of.own.first) of.own.first = of.own.latest;
}

void usage_collector::see(watched& of, std::uint32_t device, const look& found) {
  settle(of);
  see_own(of, device, found.own);
  of.most.others = std::max(of.most.others.value_or(0), found.others);
  of.others_changed |= of.latest_look && of.latest_look->others != found.others;
  if (!of.first_others && of.most.others_and_context) of.first_others = found.others;
  const bool is_confirmed = of.code.confirm(found.others);
  if (of.highest && of.highest->awaits_look) {
    auto& high = *of.highest;
    high.awaits_look = false;
    if (!is_confirmed) high.code -= high.code_unconfirmed;
    const bool is_nearer =
        !high.before || found.time_ns - high.time_ns < high.time_ns - high.before->time_ns;
    if (is_nearer) high.told.others = found.others;
    if (is_nearer || !high.told.beside_calls) high.told.beside_calls = of.own.latest;
  }
  of.latest_look = found;
}

void usage_collector::settle(watched& of) const {
  if (of.is_settled) return;
  of.is_settled = true;
  auto& now = *of.latest;
  counted own = now.told;
  own.others = own.context = own.others_and_context = own.beside_calls = std::nullopt;
  of.code.sample(usage_of(own, now.known, {}, names_).unexplained, now.told.others);
  now.code_unconfirmed = of.code.unconfirmed();
  now.code = of.code.confirmed() + now.code_unconfirmed;
  if (of.highest->event != now.event) return;
  of.highest->code = now.code;
  of.highest->code_unconfirmed = now.code_unconfirmed;
}

std::optional<std::uint64_t> usage_collector::peak_of(const part& one, std::uint32_t device,
                                                      const counted& most) const {
  if (one.name == part_name::context) return most.context;
  if (one.name == part_name::others) return most.others;
  const auto* const calls = replayed_.driver().device(device);
  if (calls == nullptr || is_pytorch_pool(one)) return std::nullopt;
  for (const auto& [owner, held] : calls->owners) {
    if (owner_name(owner, names_) == one.name) return held.peak;
  }
  return std::nullopt;
}

std::map<std::uint32_t, usage> usage_collector::finish() const {
  std::map<std::uint32_t, usage> found;
  for (const auto& [device, seen] : devices_) {
    auto of = seen;
    settle(of);
    if (!of.highest || of.highest->told.used == 0) continue;
    auto& highest = *of.highest;
    highest.known.modules += static_cast<std::uint64_t>(std::max<std::int64_t>(highest.code, 0));
    if (const auto both = highest.told.others_and_context; both && of.first_others) {
      highest.told.context = *both - std::min(*both, *of.first_others);
      of.most.context = std::max(of.most.context, highest.told.context);
    }
    // Others have what they had: then the driver's figure, of one moment with the calls, is nearer.
    if (!of.others_changed) highest.told.beside_calls = std::nullopt;
    if (highest.told.beside_calls && of.own.first) {
      highest.told.context = std::min(highest.told.context.value_or(*of.own.first), *of.own.first);
    }
    const auto* const record = replayed_.device(device);
    auto made = usage_of(highest.told, highest.known,
                         record == nullptr ? trace::device_facts{} : record->facts, names_);
    made.event = highest.event;
    made.time_ns = highest.time_ns;
    for (auto& one : made.parts) one.peak = peak_of(one, device, of.most);
    found.emplace(device, std::move(made));
  }
  return found;
}

}  // namespace memtrace::device
