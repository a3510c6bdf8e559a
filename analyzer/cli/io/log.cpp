// SPDX-License-Identifier: Apache-2.0
//
// The one place of the command that knows spdlog, whose headers cost seconds of compile time.
#include "analyzer/cli/io/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "analyzer/base/text/utf8.h"
#include "analyzer/cli/io/output_file.h"

namespace memtrace::cli::log {

namespace {

// Sentences for the user stand alone; below them the level is told.
class level_word final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    if (message.level >= spdlog::level::warn) return;
    const auto word = spdlog::level::to_string_view(message.level);
    out.append(word.data(), word.data() + word.size());
    out.push_back(':');
    out.push_back(' ');
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<level_word>();
  }
};

// Not spdlog's own: a log is not written through a link that somebody else made.
class file_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit file_sink(const std::string& path) : file_(path, output_file::mode::append) {}
  [[nodiscard]] const output_file& file() const { return file_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    [[maybe_unused]] const bool written = file_.write({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  output_file file_;
};

[[nodiscard]] spdlog::level::level_enum number(log_level level) {
  return level == log_level::off ? spdlog::level::off
                                 : static_cast<spdlog::level::level_enum>(level);
}
static_assert(static_cast<int>(log_level::trace) == spdlog::level::trace);
static_assert(static_cast<int>(log_level::error) == spdlog::level::err);

[[nodiscard]] spdlog::sink_ptr with_pattern(spdlog::sink_ptr sink, log_level level) {
  auto pattern = std::make_unique<spdlog::pattern_formatter>();
  pattern->add_flag<level_word>('*').set_pattern("memtrace: %*%v");
  sink->set_formatter(std::move(pattern));
  sink->set_level(number(level));
  return sink;
}

[[nodiscard]] std::shared_ptr<spdlog::logger> make(std::string_view level) {
  const char* const variable = std::getenv("MEMTRACE_LOG");
  const auto wanted = read_log_setting(!level.empty()        ? level
                                       : variable != nullptr ? variable
                                                             : "");
  std::vector<spdlog::sink_ptr> sinks = {
      with_pattern(std::make_shared<spdlog::sinks::stderr_sink_st>(),
                   std::min(wanted.terminal, log_level::error))};
  std::string failed;
  if (!wanted.file.empty()) {
    const std::string path(wanted.file);
    auto to = std::make_shared<file_sink>(path);
    if (to->file().is_open()) {
      sinks.push_back(with_pattern(std::move(to), wanted.in_file));
    } else {
      failed = path + ": " + to->file().error();
    }
  }
  auto made = std::make_shared<spdlog::logger>("memtrace", sinks.begin(), sinks.end());
  made->set_level(number(std::min({wanted.terminal, wanted.in_file, log_level::error})));
  made->flush_on(spdlog::level::trace);
  if (!failed.empty()) {
    made->warn("MEMTRACE_LOG={}; name a file that can be written, or a level", failed);
  }
  return made;
}

[[nodiscard]] std::shared_ptr<spdlog::logger>& logger() {
  static auto one = make({});
  return one;
}

}  // namespace

void start(std::string_view level) {
  if (!level.empty()) logger() = make(level);
}

bool wants(log_level level) {
  return logger()->should_log(number(level));
}

void write(log_level level, const std::string& text) {
  logger()->log(number(level), spdlog::string_view_t(text::printable(text)));
}

}  // namespace memtrace::cli::log
