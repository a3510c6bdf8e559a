// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/loopback_server.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <utility>

namespace memtrace::live {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using code = boost::system::error_code;

constexpr auto patience = std::chrono::seconds(30);
constexpr std::uint32_t longest_header = 16 << 10;
constexpr std::size_t token_bytes = 16;

// Empty: the kernel gave no random numbers.
[[nodiscard]] std::string new_token() {
  std::array<unsigned char, token_bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return {};
  std::string token;
  for (const auto byte : random) token += fmt::format("{:02x}", byte);
  return token;
}

// In a time that does not tell where they differ.
[[nodiscard]] bool are_same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

// Whether a Host header names this machine: any port, as a tunnel may have another one at its end.
[[nodiscard]] bool is_this_machine(std::string_view host) {
  const auto name = host.substr(0, host.find(':'));
  return name == "127.0.0.1" || name == "localhost";
}

}  // namespace

// Answers a path. (Not in the unnamed namespace: a part of the server is made of it.)
struct answering {
  std::string token;
  loopback_server::handler answer;

  // The answer to a target "/TOKEN/PATH".
  [[nodiscard]] std::optional<reply> of(std::string_view target) const {
    target = target.substr(0, target.find('?'));
    if (target.size() < token.size() + 2 || target.front() != '/') return std::nullopt;
    const auto path = target.substr(1 + token.size());
    if (!are_same(target.substr(1, token.size()), token) || path.front() != '/') {
      return std::nullopt;
    }
    return answer(path.substr(1));
  }
};

namespace {

// One client, until it is silent for too long.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, const answering& answers)
      : stream_(std::move(socket)), answers_(answers) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(longest_header);
    stream_.expires_after(patience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](code failed, std::size_t) {
                       if (!failed) self->write();
                     });
  }

 private:
  using response = http::response<http::span_body<const char>>;

  void fill(http::status status, std::string type, std::shared_ptr<const std::string> body) {
    const auto& request = parser_->get();
    body_ = std::move(body);
    made_.emplace(status, request.version());
    made_->set(http::field::content_type, type);
    made_->set(http::field::cache_control, "no-store");
    made_->set("Referrer-Policy", "no-referrer");
    made_->set("X-Content-Type-Options", "nosniff");
    made_->set("X-Frame-Options", "DENY");
    made_->set("Cross-Origin-Resource-Policy", "same-origin");
    made_->keep_alive(request.keep_alive());
    const bool shows_body = request.method() != http::verb::head;
    made_->content_length(body_->size());
    if (shows_body) made_->body() = {body_->data(), body_->size()};
  }

  void refuse(http::status status, std::string why) {
    fill(status, "text/plain; charset=utf-8", std::make_shared<const std::string>(std::move(why)));
  }

  void answer() {
    const auto& request = parser_->get();
    const auto host = request[http::field::host];
    if (!is_this_machine({host.data(), host.size()})) {
      return refuse(http::status::forbidden, "Ask for 127.0.0.1 or localhost.\n");
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return refuse(http::status::method_not_allowed, "There is only something to read here.\n");
    }
    const auto target = request.target();
    const auto found = answers_.of({target.data(), target.size()});
    if (!found) {
      return refuse(http::status::not_found,
                    "There is nothing here: use the whole address that memtrace live printed.\n");
    }
    fill(http::status::ok, found->type, found->body);
  }

  void write() {
    answer();
    stream_.expires_after(patience);
    http::async_write(stream_, *made_, [self = shared_from_this()](code failed, std::size_t) {
      if (!failed && self->made_->keep_alive()) return self->read();
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, failed);
    });
  }

  beast::tcp_stream stream_;
  const answering& answers_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<response> made_;
  std::shared_ptr<const std::string> body_;  // what the response refers to
};

}  // namespace

struct loopback_server::parts {
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::signal_set signals{context, SIGINT, SIGTERM, SIGHUP};
  answering answers;

  void accept() {
    acceptor.async_accept([this](code failed, tcp::socket socket) {
      if (!failed) std::make_shared<connection>(std::move(socket), answers)->read();
      if (acceptor.is_open()) accept();
    });
  }
};

loopback_server::loopback_server(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
loopback_server::loopback_server(loopback_server&&) noexcept = default;
loopback_server& loopback_server::operator=(loopback_server&&) noexcept = default;
loopback_server::~loopback_server() = default;

std::variant<loopback_server, std::string> loopback_server::open(std::uint16_t port,
                                                                 handler answer) {
  auto made = std::make_unique<parts>();
  made->answers = {new_token(), std::move(answer)};
  if (made->answers.token.empty()) return "the system gives no random numbers for a token";
  const tcp::endpoint where(asio::ip::address_v4::loopback(), port);
  code failed;
  made->acceptor.open(where.protocol(), failed);
  if (!failed) made->acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) made->acceptor.bind(where, failed);
  if (!failed) made->acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) {
    return fmt::format("port {} of 127.0.0.1: {}: choose another with --port, or none", port,
                       failed.message());
  }
  return loopback_server(std::move(made));
}

std::uint16_t loopback_server::port() const {
  return parts_->acceptor.local_endpoint().port();
}

std::string loopback_server::url() const {
  return fmt::format("http://127.0.0.1:{}/{}/", port(), parts_->answers.token);
}

void loopback_server::run() {
  parts_->accept();
  parts_->signals.async_wait([this](code, int) { parts_->context.stop(); });
  parts_->context.run();
}

}  // namespace memtrace::live
