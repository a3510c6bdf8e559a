// SPDX-License-Identifier: Apache-2.0
//
// The terminal: another screen while we show frames, keys without Enter, and everything as it was
// afterwards, whatever ends or stops us (but SIGKILL).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <termios.h>

namespace memtrace::live {

struct screen_size {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

enum class input : unsigned char { none, key, resized, ended };

struct input_event {
  input what = input::none;
  int key = 0;  // of input::key: the character, or one of those below
};
inline constexpr int key_left = 1000;
inline constexpr int key_right = 1001;

// The abilities of standard output: nothing if it is a file, else what the terminal says of itself.
struct terminal_facts {
  bool is_terminal = false;
  bool can_move = false;  // the cursor: TERM is neither dumb nor unset
  bool colour = false;
  bool unicode = false;
};
[[nodiscard]] terminal_facts look_at_terminal();
[[nodiscard]] screen_size size_of_terminal();

// Signals become events; of a terminal, the keys, too. One at a time.
class screen {
 public:
  explicit screen(const terminal_facts& facts);
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  // Lines that end with \n, at most as many as there are rows.
  void show(const std::string& lines);
  // Waits at most so long.
  [[nodiscard]] input_event wait(int milliseconds);

 private:
  void enter();
  void leave();
  void stop_and_come_back();
  [[nodiscard]] int read_key();

  terminal_facts facts_;
  std::optional<termios> before_;  // of standard input, where it is a terminal
  bool inside_ = false;
  int pipe_[2] = {-1, -1};  // from the signal handlers
};

}  // namespace memtrace::live
