// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/fresh_pages.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

#include "analyzer/show/live/background.h"

namespace memtrace::live {

namespace {

// Another text when one of them has changed, as far as that can be told from outside.
[[nodiscard]] std::string state_of(const std::vector<std::string>& paths) {
  std::string all;
  for (const auto& path : paths) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;
    all += fmt::format("{} {} {} {}.{}\n", path, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                       facts.st_mtim.tv_nsec);
  }
  return all;
}

}  // namespace

std::string fresh_pages::make_page(state& of) {
  const auto paths = traces_of(of.wanted);
  auto seen = state_of(paths);
  if (of.page != nullptr && seen == of.seen) return {};
  run::load_options with_history;
  with_history.history = true;
  with_history.suppressions = of.wanted.suppressions;
  run::run_report processes;
  std::string why;
  for (const auto& path : paths) {
    auto made = report_now(path, with_history);
    if (made) {
      processes.push_back(std::move(made->report));
    } else {
      why = path + ": " + made.failure().message;
    }
  }
  if (processes.empty()) return why.empty() ? why_none(of.wanted) : why;
  auto page = std::make_shared<numbered_page>();
  page->number = of.page == nullptr ? 1 : of.page->number + 1;
  page->html = of.make(processes, page->number);
  of.seen = std::move(seen);
  const std::scoped_lock hold(of.lock);
  of.page = std::move(page);
  return {};
}

std::string fresh_pages::begin() {
  return make_page(*shared_);
}

std::shared_ptr<const numbered_page> fresh_pages::latest() {
  (void)work_.begin([shared = shared_] { (void)make_page(*shared); });
  const std::scoped_lock hold(shared_->lock);
  return shared_->page;
}

}  // namespace memtrace::live
