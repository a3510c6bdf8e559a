// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "analyzer/show/json/values.h"

namespace memtrace::html {

namespace {

using as_json::json;
using attribution::category;
using history::block;
using numbers = std::vector<std::uint64_t>;

constexpr std::size_t most_steps = 4000;
constexpr std::size_t most_left_out_rows = 2000;
constexpr std::size_t most_marks = 500;

template <class Rows, class Field>
[[nodiscard]] numbers all_of(const Rows& rows, Field&& field) {
  numbers made;
  made.reserve(rows.size());
  for (const auto& row : rows) made.push_back(static_cast<std::uint64_t>(field(row)));
  return made;
}

class history_writer {
 public:
  history_writer(const shown_history& shown, const std::vector<std::uint32_t>& nodes,
                 page_names& names, column_writer& columns)
      : shown_(shown),
        nodes_(nodes),
        names_(names),
        columns_(columns),
        prefix_(std::to_string(shown.number) + "/") {}

  [[nodiscard]] json write(double least_weight) {
    choose(least_weight);
    json made{{"device", shown_.device.facts.device},
              {"pid", shown_.process.run.pid},
              {"rank", as_json::or_null(shown_.process.run.rank)},
              {"duration_ns", shown_.process.history->end_ns},
              {"events", shown_.process.completeness.events}};
    made["modules"] = modules();
    made["timeline"] = timeline();
    made["streams"] = blocks();
    made["blocks"] = counts();
    left_out_rows();
    made["steps"] = steps();
    phases();
    std::uint64_t marks_left_out = 0;
    made["marks"] = marks(marks_left_out);
    made["marks_left_out"] = marks_left_out;
    return made;
  }

 private:
  void choose(double least_weight) {
    kept_.clear();
    for (const auto& row : shown_.of.others) others_[nodes_[row.stack]] = row;
    for (const auto& one : shown_.of.blocks) {
      if (one.weight() >= least_weight) {
        kept_.push_back(&one);
        continue;
      }
      auto& sums = others_[nodes_[one.stack]];
      ++sums.blocks;
      sums.most_bytes = std::max(sums.most_bytes, one.bytes);
      sums.byte_ns += one.weight();
    }
  }

  [[nodiscard]] json counts() const {
    double byte_ns = 0;
    for (const auto& [node, sums] : others_) byte_ns += sums.byte_ns;
    return {{"kept", kept_.size()},
            {"recorded", shown_.of.blocks_recorded},
            {"left_out", shown_.of.blocks_recorded - kept_.size()},
            {"left_out_byte_ns", std::round(byte_ns)}};
  }

  [[nodiscard]] json modules() const {
    auto made = json::array(
        {{{"root", nullptr}, {"path", nullptr}, {"type", nullptr}, {"parent", nullptr}}});
    for (std::size_t i = 1; i < shown_.of.modules.size(); ++i) {
      const auto& row = shown_.of.modules[i];
      made.push_back({{"root", shortened(row.root)},
                      {"path", shortened(row.path)},
                      {"type", shortened(row.type)},
                      {"parent", row.parent == 0 ? json(nullptr) : json(row.parent)}});
    }
    return made;
  }

  // The bytes allocated at each moment in blocks that are not shown.
  [[nodiscard]] numbers not_kept() const {
    const auto& moments = shown_.of.moments;
    std::vector<std::int64_t> change(moments.size() + 1);
    const auto first_from = [&](std::uint64_t event) {
      return std::ranges::lower_bound(moments, event, {}, &history::moment::event) -
             moments.begin();
    };
    for (const auto* const one : kept_) {
      change[static_cast<std::size_t>(first_from(one->born_event))] +=
          static_cast<std::int64_t>(one->bytes);
      change[static_cast<std::size_t>(first_from(one->died_event))] -=
          static_cast<std::int64_t>(one->bytes);
    }
    numbers made;
    std::int64_t held = 0;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      held += change[i];
      made.push_back(moments[i].allocated - static_cast<std::uint64_t>(held));
    }
    return made;
  }

  // The bytes in use by the driver's latest sample at each moment. The pool may have grown into what
  // the sample counted: no more is in use than there is.
  [[nodiscard]] std::vector<double> device_used() const {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const auto& moments = shown_.of.moments;
    std::vector<double> made(moments.size(), unknown);
    const auto& outside = shown_.process.host.outside;
    const auto known = outside.find(shown_.device.facts.device);
    // A sample from while memory fell asleep or woke up says nothing of the moments after it.
    if (known == outside.end() || shown_.device.asleep) return made;
    const auto& samples = known->second.samples();
    const auto total = shown_.device.facts.total_bytes;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const auto next =
          std::ranges::upper_bound(samples, moments[i].time_ns, {}, &host::sample::time_ns);
      if (next == samples.begin()) continue;
      const auto used = moments[i].reserved + std::prev(next)->bytes;
      made[i] = static_cast<double>(total == 0 ? used : std::min(used, total));
    }
    return made;
  }

  [[nodiscard]] json timeline() {
    const auto& moments = shown_.of.moments;
    const auto name = prefix_ + "timeline/";
    const auto all = [&](auto field) { return all_of(moments, field); };
    columns_.add(name + "event", all([](const auto& one) { return one.event; }));
    columns_.add(name + "time_ns", all([](const auto& one) { return one.time_ns; }));
    columns_.add(name + "allocated", all([](const auto& one) { return one.allocated; }));
    const bool known = shown_.device.reserved().has_value();
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> reserved, most_reserved;
    for (const auto& one : moments) {
      reserved.push_back(known ? static_cast<double>(one.reserved) : unknown);
      most_reserved.push_back(known ? static_cast<double>(one.most_reserved) : unknown);
    }
    columns_.add_real(name + "reserved", reserved);
    columns_.add_real(name + "reserved_most", most_reserved);
    columns_.add_real(name + "device_used", device_used());
    columns_.add(name + "left_out", not_kept());
    auto categories = json::array();
    for (std::size_t i = 0; i < attribution::category_count; ++i) {
      const auto what = static_cast<category>(i);
      const auto bytes = all_of(shown_.of.held, [&](const auto& held) { return held[what]; });
      if (std::ranges::all_of(bytes, [](auto one) { return one == 0; })) continue;
      columns_.add(name + "category/" + std::string(name_of(what)), bytes);
      categories.push_back(name_of(what));
    }
    return {{"points", moments.size()}, {"categories", std::move(categories)}};
  }

  template <class Field>
  void add_block(const char* what, Field&& field, bool rounded = false) {
    const auto values = all_of(kept_, [&](const block* one) { return field(*one); });
    const auto name = prefix_ + "blocks/" + what;
    rounded ? columns_.add_rounded(name, values) : columns_.add(name, values);
  }

  [[nodiscard]] json blocks() {
    const auto after_all = shown_.process.completeness.events + 1;
    add_block("address", [](const block& one) { return one.address; });
    add_block("bytes", [](const block& one) { return one.bytes; });
    add_block("requested",
              [](const block& one) { return one.requested == 0 ? one.bytes : one.requested; });
    add_block("born_event", [](const block& one) { return one.born_event; });
    add_block("died_event", [&](const block& one) { return std::min(one.died_event, after_all); });
    add_block(
        "born_ns", [](const block& one) { return one.born_ns; }, true);
    add_block(
        "died_ns", [](const block& one) { return one.died_ns; }, true);
    add_block("stack", [&](const block& one) { return nodes_[one.stack]; });
    add_block("forward", [&](const block& one) { return nodes_[one.forward]; });
    add_block("category", [](const block& one) { return one.what; });
    add_block("evidence", [](const block& one) { return one.how; });
    add_block("phase", [](const block& one) { return one.born_in; });
    add_block("rule", [&](const block& one) { return names_.text(one.rule); });
    add_block("name", [&](const block& one) { return names_.text(one.name); });
    add_block("module", [](const block& one) { return one.module; });
    std::map<std::uint64_t, std::uint64_t> streams;
    auto list = json::array();
    for (const auto* const one : kept_) {
      if (!streams.try_emplace(one->stream, streams.size()).second) continue;
      list.push_back(one->stream);
    }
    add_block("stream", [&](const block& one) { return streams[one.stream]; });
    return list;
  }

  void left_out_rows() {
    std::vector<std::pair<std::uint32_t, history::left_out>> rows(others_.begin(), others_.end());
    std::ranges::stable_sort(rows, std::greater(),
                             [](const auto& row) { return row.second.byte_ns; });
    while (rows.size() > most_left_out_rows) {
      const auto last = rows.back().second;
      rows.pop_back();
      auto rest = std::ranges::find(rows, 0u, [](const auto& row) { return row.first; });
      if (rest == rows.end()) rest = rows.insert(rows.end() - 1, {0u, {}});
      rest->second.blocks += last.blocks;
      rest->second.most_bytes = std::max(rest->second.most_bytes, last.most_bytes);
      rest->second.byte_ns += last.byte_ns;
    }
    const auto name = prefix_ + "left_out/";
    columns_.add(name + "stack", all_of(rows, [](const auto& row) { return row.first; }));
    columns_.add(name + "blocks", all_of(rows, [](const auto& row) { return row.second.blocks; }));
    columns_.add(name + "most_bytes",
                 all_of(rows, [](const auto& row) { return row.second.most_bytes; }));
    std::vector<double> byte_ns;
    for (const auto& row : rows) byte_ns.push_back(std::round(row.second.byte_ns));
    columns_.add_real(name + "byte_ns", byte_ns);
  }

  [[nodiscard]] json steps() {
    const auto& all = shown_.device.steps.steps;
    const auto stride = std::max<std::size_t>(1, (all.size() + most_steps - 1) / most_steps);
    numbers number, end_ns, end_event;
    for (std::size_t i = stride - 1; i < all.size(); i += stride) {
      number.push_back(i);
      end_ns.push_back(all[i].end_ns);
      end_event.push_back(all[i].end_event);
    }
    columns_.add(prefix_ + "steps/number", number);
    columns_.add(prefix_ + "steps/end_ns", end_ns);
    columns_.add(prefix_ + "steps/end_event", end_event);
    return {{"count", shown_.device.steps.count}, {"shown", number.size()}, {"unit", "step"}};
  }

  void phases() {
    const auto& bands = shown_.of.phases;
    const auto name = prefix_ + "phases/";
    columns_.add(name + "begin_ns", all_of(bands, [](const auto& one) { return one.begin_ns; }));
    columns_.add(name + "end_ns", all_of(bands, [](const auto& one) { return one.end_ns; }));
    columns_.add(name + "name",
                 all_of(bands, [&](const auto& one) { return names_.text(one.name); }));
  }

  // The most important kinds first, until there are enough; then in the order of the run.
  [[nodiscard]] json marks(std::uint64_t& left_out) const {
    using kind = history::mark::kind;
    left_out = shown_.of.marks_left_out;
    std::vector<json> chosen;
    const auto choose = [&](std::vector<json> all) {
      const auto room = std::min(most_marks - chosen.size(), all.size());
      for (std::size_t i = 0; i < room; ++i) {  // evenly
        chosen.push_back(std::move(all[i * all.size() / room]));
      }
      left_out += all.size() - room;
    };
    choose(marks_of(kind::out_of_memory, "out_of_memory"));
    choose(gaps());
    choose(marks_of(kind::retry, "retry"));
    choose(marks_of(kind::empty_cache, "empty_cache"));
    choose(marks_of(kind::census, "census"));
    std::ranges::stable_sort(chosen, {},
                             [](const json& one) { return one["time_ns"].get<std::uint64_t>(); });
    return chosen;
  }

  [[nodiscard]] std::vector<json> marks_of(history::mark::kind what, const char* name) const {
    std::vector<json> made;
    for (const auto& one : shown_.of.marks) {
      if (one.what != what) continue;
      made.push_back({{"kind", name},
                      {"time_ns", one.time_ns},
                      {"event", one.event},
                      {"bytes", one.bytes == 0 ? json(nullptr) : json(one.bytes)},
                      {"text", one.text}});
    }
    return made;
  }

  [[nodiscard]] std::vector<json> gaps() const {
    std::vector<json> made;
    for (const auto& gap : shown_.process.completeness.gaps) {
      made.push_back({{"kind", "gap"},
                      {"time_ns", gap.begin_ns},
                      {"event", nullptr},
                      {"bytes", nullptr},
                      {"text", std::to_string(gap.events) + " events were not recorded"}});
    }
    return made;
  }

  const shown_history& shown_;
  const std::vector<std::uint32_t>& nodes_;
  page_names& names_;
  column_writer& columns_;
  std::string prefix_;
  std::vector<const block*> kept_;
  std::map<std::uint32_t, history::left_out> others_;  // by node of the page
};

}  // namespace

json write_history(const shown_history& shown, double least_weight,
                   const std::vector<std::uint32_t>& nodes, page_names& names,
                   column_writer& columns) {
  return history_writer(shown, nodes, names, columns).write(least_weight);
}

}  // namespace memtrace::html
