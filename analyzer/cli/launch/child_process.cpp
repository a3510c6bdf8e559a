// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/cli/io/log.h"

namespace memtrace::cli {

namespace {

constexpr std::array forwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

volatile pid_t children[most_at_once];  // 0: none

void send_to_children(int number) {
  for (const pid_t child : children) {
    if (child > 0) ::kill(child, number);
  }
}

void forward(int number, siginfo_t* sent, void*) {
  // SI_KERNEL: from the terminal, which sends it to the program too.
  if (sent->si_code != SI_KERNEL) send_to_children(number);
}

[[nodiscard]] sigset_t forwarded_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : forwarded) sigaddset(&set, number);
  return set;
}

// In the child, between fork and exec. Reports errno through the pipe when exec fails.
[[noreturn]] void become(char* const* arguments, const variables& environment, bool fixed_addresses,
                         int failure_pipe, const sigset_t& signals) {
  if (fixed_addresses) ::personality(::personality(0xffffffff) | ADDR_NO_RANDOMIZE);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(arguments[0], arguments);
  const int number = errno;
  [[maybe_unused]] const auto written = ::write(failure_pipe, &number, sizeof(number));
  ::_exit(127);
}

void install_forwarding() {
  struct sigaction how {};
  how.sa_sigaction = forward;
  how.sa_flags = SA_SIGINFO | SA_RESTART;
  how.sa_mask = forwarded_set();
  for (const int number : forwarded) ::sigaction(number, &how, nullptr);
}

[[nodiscard]] std::vector<char*> arguments_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

// errno of an exec that failed, from the pipe of `become`; 0: it went well.
[[nodiscard]] int start_error_from(int pipe) {
  int number = 0;
  ssize_t count = 0;
  while ((count = ::read(pipe, &number, sizeof(number))) < 0 && errno == EINTR) {
  }
  return count == 0 ? 0 : number;
}

// In the child: apart from the terminal and from memtrace's own signals, but not outliving it.
void go_to_background(const std::string& output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  const int into = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  if (into < 0) return;
  ::dup2(into, STDOUT_FILENO);
  ::dup2(into, STDERR_FILENO);
}

[[nodiscard]] child_end end_from(int status) {
  child_end end;
  end.started = true;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_status = WEXITSTATUS(status);
  }
  return end;
}

constexpr auto between_looks = std::chrono::milliseconds(50);
constexpr auto patience = std::chrono::seconds(30);  // with a program that was asked to end

// Of the children: the first that fails, else the last. One alone is waited for without looking.
[[nodiscard]] child_end wait_for_children(std::size_t count) {
  child_end end;
  bool failed = false;
  auto killed_at = std::chrono::steady_clock::time_point::max();
  for (std::size_t left = count; left > 0;) {
    const std::size_t before = left;
    for (volatile pid_t& child : children) {
      if (child == 0) continue;
      int status = 0;
      const pid_t ended = ::waitpid(child, &status, count == 1 ? 0 : WNOHANG);
      if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
      child = 0;
      --left;
      if (!failed) end = end_from(status);
      if (!failed && (end.exit_status != 0 || end.signal != 0)) {
        failed = true;
        send_to_children(SIGTERM);
        killed_at = std::chrono::steady_clock::now() + patience;
      }
    }
    if (left > 0 && std::chrono::steady_clock::now() > killed_at) send_to_children(SIGKILL);
    if (left == before && count > 1) std::this_thread::sleep_for(between_looks);
  }
  return end;
}

[[nodiscard]] bool writes_to(std::uint64_t process, const std::string& folder) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  const auto wanted = "MEMTRACE_OUTPUT=" + folder + '\0';
  return all.find(wanted) != all.npos;
}

// Every process that was told to write its traces there, in whatever group or session it is.
[[nodiscard]] std::vector<pid_t> writers_to(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator one("/proc", error), last; !error && one != last;
       one.increment(error)) {
    const auto process = text::number_in<std::uint64_t>(one->path().filename().string());
    if (process && writes_to(*process, folder)) found.push_back(static_cast<pid_t>(*process));
  }
  return found;
}

// Its environment is gone once it has ended, even before its parent has asked for its status.
[[nodiscard]] bool is_there(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  return file.get() != std::ifstream::traits_type::eof();
}

}  // namespace

child_end run_programs(const std::vector<std::string>& command, const variables& environment,
                       std::vector<variables> each, bool fixed_addresses) {
  if (each.empty()) each.emplace_back();
  const auto arguments = arguments_of(command);
  child_end end;
  // No signal may be lost between fork and the handlers.
  const auto held = forwarded_set();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &held, &before);
  std::fflush(nullptr);
  std::size_t started = 0;
  for (const auto& own : each) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      end.start_error = errno;
      break;
    }
    const pid_t child = ::fork();
    if (child == 0) {
      if (each.size() > 1) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      variables all = environment;
      all.insert(all.end(), own.begin(), own.end());
      become(arguments.data(), all, fixed_addresses, ends[1], before);
    }
    if (child < 0) end.start_error = errno;
    ::close(ends[1]);
    if (child > 0) {
      children[started++] = child;
      end.start_error = start_error_from(ends[0]);
    }
    ::close(ends[0]);
    if (end.start_error != 0) break;
  }
  install_forwarding();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (end.start_error != 0) send_to_children(SIGTERM);
  if (started > 0) {
    const auto finished = wait_for_children(started);
    if (end.start_error == 0) end = finished;
  }
  return end;
}

background_program start_in_background(const std::vector<std::string>& command,
                                       const variables& environment, bool fixed_addresses,
                                       const std::string& output) {
  const auto arguments = arguments_of(command);
  background_program made;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    made.start_error = errno;
    return made;
  }
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    go_to_background(output);
    sigset_t none;
    sigemptyset(&none);
    become(arguments.data(), environment, fixed_addresses, ends[1], none);
  }
  if (pid < 0) made.start_error = errno;
  ::close(ends[1]);
  if (pid > 0) {
    ::setpgid(pid, pid);
    made.start_error = start_error_from(ends[0]);
    if (made.start_error == 0) {
      made.pid = pid;
    } else {
      ::waitpid(pid, nullptr, 0);
    }
  }
  ::close(ends[0]);
  return made;
}

int end_like(const child_end& end, const std::string& name) {
  if (!end.started) {
    const bool missing = end.start_error == ENOENT;
    log::error("{}: {}", name,
               missing ? "no such program; check the name after --"
                       : fmt::format("cannot be started: {}", std::strerror(end.start_error)));
    return missing ? not_found : not_executable;
  }
  if (end.signal == 0) return end.exit_status;
  const rlimit no_core{0, 0};  // the program's own core dump is the useful one
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(end.signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, end.signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(end.signal);
  return 128 + end.signal;
}

std::optional<child_end> watched_program::look() {
  if (pid_ <= 0 || ended_) return std::nullopt;
  int status = 0;
  const auto found = ::waitpid(pid_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  ended_ = true;
  child_end end;
  end.started = true;
  if (found > 0 && WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else if (found > 0) {
    end.exit_status = WEXITSTATUS(status);
  }
  return end;
}

void watched_program::ask_to_end(std::chrono::seconds patience) {
  if (pid_ <= 0 || ended_) return;
  ::kill(pid_, SIGTERM);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!look() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(between_looks);
  }
}

void watched_program::end(const std::string& folder) {
  if (pid_ <= 0) return;
  const auto others = folder.empty() ? std::vector<pid_t>() : writers_to(folder);
  for (const auto process : others) ::kill(process, SIGKILL);
  ::kill(-pid_, SIGKILL);
  if (!ended_) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  // What they leave in shared memory is taken over only once they are gone.
  constexpr int most_looks = 40;
  for (int i = 0; i < most_looks && std::ranges::any_of(others, is_there); ++i) {
    std::this_thread::sleep_for(between_looks);
  }
  pid_ = 0;
}

}  // namespace memtrace::cli
