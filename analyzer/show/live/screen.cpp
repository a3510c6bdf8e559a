// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace memtrace::live {

namespace {

int signal_pipe = -1;  // the handlers' end

void tell(int number) {
  const int kept = errno;
  const auto byte = static_cast<unsigned char>(number);
  (void)!::write(signal_pipe, &byte, 1);
  errno = kept;
}

constexpr std::array ending = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void handle(int number, void (*by)(int)) {
  struct sigaction action {};
  action.sa_handler = by;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

void put(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      (void)::poll(&ready, 1, 100);
      continue;
    }
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

[[nodiscard]] std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

[[nodiscard]] bool says_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

}  // namespace

terminal_facts look_at_terminal() {
  terminal_facts found;
  found.is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const auto term = variable("TERM");
  found.can_move = found.is_terminal && !term.empty() && term != "dumb";
  found.colour = found.can_move && variable("NO_COLOR").empty();
  found.unicode = says_utf8();
  return found;
}

screen_size size_of_terminal() {
  winsize size{};
  screen_size found;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return found;
  if (size.ws_row != 0) found.rows = size.ws_row;
  if (size.ws_col != 0) found.columns = size.ws_col;
  return found;
}

screen::screen(const terminal_facts& facts) : facts_(facts) {
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0) {
    signal_pipe = pipe_[1];
    for (const int number : ending) handle(number, tell);
    handle(SIGWINCH, tell);
    if (facts_.is_terminal) handle(SIGTSTP, tell);
  }
  termios now{};
  if (facts_.is_terminal && ::isatty(STDIN_FILENO) != 0 && ::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
  }
  enter();
}

screen::~screen() {
  leave();
  for (const int number : ending) handle(number, SIG_DFL);
  handle(SIGWINCH, SIG_DFL);
  handle(SIGTSTP, SIG_DFL);
  signal_pipe = -1;
  for (const int end : pipe_) {
    if (end >= 0) ::close(end);
  }
}

void screen::enter() {
  if (before_) {
    auto raw = *before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z stay signals
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  if (facts_.can_move) put("\x1b[?1049h\x1b[?25l\x1b[2J");
  inside_ = true;
}

void screen::leave() {
  if (!inside_) return;
  inside_ = false;
  if (facts_.can_move) put("\x1b[0m\x1b[?25h\x1b[?1049l");
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

void screen::stop_and_come_back() {
  leave();
  handle(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);  // returns when the shell lets us go on
  handle(SIGTSTP, tell);
  enter();
}

void screen::show(const std::string& lines) {
  if (!facts_.can_move) {
    put(lines + "\n");
    return;
  }
  // Line over line, so that nothing flickers; the last line's end would scroll.
  std::string out = "\x1b[H";
  std::string_view rest = lines;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out += rest.substr(0, end);
    out += "\x1b[K";
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!rest.empty()) out += "\r\n";
  }
  put(out + "\x1b[J");
}

int screen::read_key() {
  std::array<char, 16> bytes{};
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0) return count == 0 ? -1 : 0;
  const std::string_view got(bytes.data(), static_cast<std::size_t>(count));
  if (got == "\x1b[C" || got == "\x1bOC") return key_right;
  if (got == "\x1b[D" || got == "\x1bOD") return key_left;
  return got.starts_with('\x1b') ? 0 : static_cast<unsigned char>(got.front());
}

input_event screen::wait(int milliseconds) {
  std::array<pollfd, 2> sources{{{pipe_[0], POLLIN, 0}, {before_ ? STDIN_FILENO : -1, POLLIN, 0}}};
  if (::poll(sources.data(), sources.size(), milliseconds) <= 0) return {};
  if ((sources[0].revents & POLLIN) != 0) {
    unsigned char number = 0;
    if (::read(pipe_[0], &number, 1) != 1) return {};
    if (number == SIGWINCH) return {input::resized, 0};
    if (number == SIGTSTP) {
      stop_and_come_back();
      return {input::resized, 0};
    }
    return {input::ended, number};
  }
  if (sources[1].revents != 0) {
    const int key = read_key();
    if (key < 0) return {input::ended, SIGHUP};  // the terminal is gone
    return key == 0 ? input_event{} : input_event{input::key, key};
  }
  return {};
}

}  // namespace memtrace::live
