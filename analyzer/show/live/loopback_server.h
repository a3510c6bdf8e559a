// SPDX-License-Identifier: Apache-2.0
//
// HTTP for a browser on this machine: on 127.0.0.1 only, to whoever knows the token in the URL, and
// for reading only. A name that was made to lead here (DNS rebinding) is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace memtrace::live {

struct reply {
  std::string type;                         // of its content
  std::shared_ptr<const std::string> body;  // not null
};

class loopback_server {
 public:
  // Answers a path behind the token, without its first slash; none: there is no such thing.
  using handler = std::function<std::optional<reply>(std::string_view path)>;

  // Port 0: any that is free. Otherwise why it cannot, as a sentence with the remedy.
  [[nodiscard]] static std::variant<loopback_server, std::string> open(std::uint16_t port,
                                                                       handler answer);
  loopback_server(loopback_server&&) noexcept;
  loopback_server& operator=(loopback_server&&) noexcept;
  ~loopback_server();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string url() const;  // with the token: whoever has it can read
  // Answers, one thread, until SIGINT, SIGTERM or SIGHUP.
  void run();

 private:
  struct parts;
  explicit loopback_server(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace memtrace::live
