// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/child_processes.h"

#include <cstdio>
#include <numeric>

#include "interpose/ground/base/kernel_files.h"
#include "interpose/ground/recorder/detached_call.h"

namespace memtrace::sampler {

// The kernel lists a child with the thread that forked it.
void child_processes::add_children_of(const char* tasks, std::span<char> buffer) noexcept {
  for_each_number(tasks, [&](std::uint64_t thread) {
    if (detached_call::is_made_by(thread)) return;
    char path[96];
    std::snprintf(path, sizeof path, "%s/%llu/children", tasks,
                  static_cast<unsigned long long>(thread));
    std::string_view text = read_file(path, buffer);
    while (!text.empty() && count_ < most) {
      if (const auto process = number_in(next_field(text, ' '))) processes_[count_++] = *process;
    }
  });
}

void child_processes::find(std::span<char> buffer) noexcept {
  const std::size_t before = count_;
  count_ = 0;
  add_children_of("/proc/self/task", buffer);
  for (std::size_t parent = 0; parent < count_; ++parent) {
    char tasks[48];
    std::snprintf(tasks, sizeof tasks, "/proc/%llu/task",
                  static_cast<unsigned long long>(processes_[parent]));
    add_children_of(tasks, buffer);
  }
  const std::uint64_t sum =
      std::accumulate(processes_.begin(), processes_.begin() + count_, std::uint64_t{0});
  has_new_ = count_ > before || (count_ != 0 && count_ == before && sum != last_sum_);
  last_sum_ = sum;
}

}  // namespace memtrace::sampler
