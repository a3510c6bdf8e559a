// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "analyzer/show/live/screen.h"
#include "analyzer/show/live/session.h"

namespace memtrace::live {

namespace {

using clock = std::chrono::steady_clock;

// The user's choice by keys.
struct view {
  followed_run* run = nullptr;  // null: the first one with memory on a GPU
  std::size_t device = 0;       // after the busiest one
  sort_by sorted = sort_by::bytes;
  bool paused = false;
  bool help = false;
  bool left = false;
};

[[nodiscard]] std::size_t number_of(const std::vector<followed_run*>& all,
                                    const followed_run* run) {
  const auto found = std::ranges::find(all, run);
  return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

void press(int key, session& of, view& now) {
  const auto all = of.runs();
  const auto number = number_of(all, now.run);
  switch (key) {
    case 'q':
    case 'Q':
    case 4:  // Ctrl-D
      now.left = true;
      break;
    case '<':
    case ',':
    case key_left:
      if (!all.empty()) now.run = all[(number + all.size() - 1) % all.size()];
      now.device = 0;
      break;
    case '>':
    case '.':
    case key_right:
      if (!all.empty()) now.run = all[(number + 1) % all.size()];
      now.device = 0;
      break;
    case 'g':
      ++now.device;
      break;
    case 't':
      now.sorted = sort_by::bytes;
      break;
    case 'a':
      now.sorted = sort_by::blocks;
      break;
    case 'p':
      now.sorted = sort_by::bytes_at_peak;
      break;
    case ' ':
      now.paused = !now.paused;
      break;
    case 'h':
    case '?':
      now.help = !now.help;
      break;
    default:
      break;
  }
}

}  // namespace

int watch(session& of, std::chrono::milliseconds interval) {
  const auto facts = look_at_terminal();
  screen on(facts);
  view now;
  std::string last;
  for (auto next_poll = clock::now();;) {
    if (!now.paused && clock::now() >= next_poll) {
      of.poll(std::chrono::milliseconds(100));
      next_poll = of.has_more() ? clock::now() : clock::now() + interval;
    }
    const auto all = of.runs();
    const auto number = number_of(all, now.run);
    now.run = all.empty() ? nullptr : all[number];
    if (now.run != nullptr && !now.paused) {
      of.reports().want(now.run->path(), now.run->facts().events, now.run->is_over());
    }
    frame_options how;
    const auto size = size_of_terminal();
    how.rows = facts.can_move ? size.rows : 24;
    how.columns = size.columns;
    how.unicode = facts.unicode;
    how.keys = facts.can_move;
    how.paused = now.paused;
    how.sorted = now.sorted;
    auto page = now.help || now.run == nullptr ? help_page(how)
                                               : frame_of(of.shown(number, now.device), how);
    auto text = page.render(facts.colour, static_cast<unsigned>(size.columns));
    if (facts.can_move || text != last) on.show(text);
    last = std::move(text);
    if (!facts.is_terminal && of.is_over() && !of.has_more()) return 0;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::max<clock::duration>(clock::duration::zero(), next_poll - clock::now()));
    const auto event = on.wait(now.paused ? 1000 : static_cast<int>(left.count()));
    if (event.what == input::ended) return 0;
    if (event.what == input::key) press(event.key, of, now);
    if (now.left) return 0;
  }
}

}  // namespace memtrace::live
