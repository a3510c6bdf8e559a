// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/simulation.h"

extern "C" const char memtrace_absent_ranks[];

namespace memtrace::cli {

namespace {

// A number below `size`, or the last one.
[[nodiscard]] std::optional<unsigned> rank_in(const std::string& text, unsigned size) {
  if (text == "last") return size - 1;
  const auto number = text::number_in<unsigned>(text);
  return number && *number < size ? number : std::nullopt;
}

// In order, none twice. Nothing, after a sentence, where the text does not say that.
[[nodiscard]] std::optional<std::set<unsigned>> ranks_in(const world& wanted) {
  std::set<unsigned> ranks;
  std::string_view rest = wanted.ranks;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    more = comma != rest.npos;
    const std::string part(rest.substr(0, comma));
    if (more) rest.remove_prefix(comma + 1);
    const auto dash = part.find('-');
    const auto first = rank_in(part.substr(0, dash), wanted.size);
    const auto last = dash == part.npos ? first : rank_in(part.substr(dash + 1), wanted.size);
    if (!first || !last || *first > *last) {
      log::error(
          "--ranks: \"{}\" is no rank of a world of {}: say numbers from 0 to {}, 0-3 or last, "
          "with commas between them",
          part, wanted.size, wanted.size - 1);
      return std::nullopt;
    }
    for (unsigned rank = *first; rank <= *last; ++rank) ranks.insert(rank);
  }
  if (ranks.size() > most_at_once) {
    log::error("--ranks: {} ranks are more than the {} that run side by side; name fewer",
               ranks.size(), most_at_once);
    return std::nullopt;
  }
  return ranks;
}

// torchrun, itself or as python -m torch.distributed.run.
[[nodiscard]] bool is_torchrun(const program& command) {
  if (std::filesystem::path(command.front()).filename() == "torchrun") return true;
  return std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return word == "torch.distributed.run" || word == "torch.distributed.launch";
  });
}

// Of this machine, that nobody listens at; 0: none is to be had.
[[nodiscard]] unsigned free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  const bool had =
      file >= 0 && ::bind(file, at, bytes) == 0 && ::getsockname(file, at, &bytes) == 0;
  if (file >= 0) ::close(file);
  return had ? ntohs(address.sin_port) : 0;
}

[[nodiscard]] std::unique_ptr<temporary_folder> make_site() {
  auto made = std::make_unique<temporary_folder>();
  if (made->path().empty()) return nullptr;
  std::ofstream file(made->path() + "/sitecustomize.py");
  file << memtrace_absent_ranks;
  file.close();
  return file ? std::move(made) : nullptr;
}

}  // namespace

std::optional<started_world> prepare_world(const program& command, const world& wanted,
                                           unsigned devices) {
  const auto ranks = ranks_in(wanted);
  if (!ranks) return std::nullopt;
  if (devices == 0) {
    log::error("a rank needs a GPU: leave out --devices 0");
    return std::nullopt;
  }
  if (is_torchrun(command)) {
    log::error(
        "with --world-size memtrace starts the ranks itself: put the script without torchrun after "
        "--, as in: memtrace dry-run --world-size {} -- python train.py",
        wanted.size);
    return std::nullopt;
  }
  started_world made;
  made.site = make_site();
  const unsigned port = free_port();
  if (made.site == nullptr || port == 0) {
    log::error("the ranks cannot meet: no temporary file or no port of this machine is to be had");
    return std::nullopt;
  }
  const unsigned on_a_node = std::min(devices, wanted.size);
  const unsigned nodes = (wanted.size + on_a_node - 1) / on_a_node;
  const char* const path = std::getenv("PYTHONPATH");
  const auto packages = made.site->path() + (path != nullptr && *path != '\0' ? ":" : "") +
                        (path == nullptr ? "" : path);
  const bool shared = std::getenv("MEMTRACE_SIM_SESSION") != nullptr;
  std::map<unsigned, std::string> sessions;
  for (const unsigned rank : *ranks) {
    const unsigned node = rank / on_a_node;
    if (!sessions.contains(node)) {
      made.nodes.push_back(std::make_unique<simulator::shared_session>());
      // One that was named from outside is every node's.
      sessions[node] = made.nodes.back()->name() + (shared ? fmt::format("-node{}", node) : "");
    }
    const unsigned local = rank % on_a_node;
    const unsigned on_this = std::min(on_a_node, wanted.size - node * on_a_node);
    made.each.push_back({
        {"RANK", std::to_string(rank)},
        {"WORLD_SIZE", std::to_string(wanted.size)},
        {"LOCAL_RANK", std::to_string(local)},
        {"LOCAL_WORLD_SIZE", std::to_string(on_this)},
        {"GROUP_RANK", std::to_string(node)},
        {"GROUP_WORLD_SIZE", std::to_string(nodes)},
        {"ROLE_RANK", std::to_string(rank)},
        {"ROLE_WORLD_SIZE", std::to_string(wanted.size)},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", std::to_string(port)},
        {"PYTHONPATH", packages},
        // From 128 ranks on several of them make the ids of a communicator; here one does.
        {"TORCH_NCCL_RANKS_PER_ROOT", std::to_string(wanted.size)},
        {"MEMTRACE_SIM_RANKS", fmt::format("{}", fmt::join(*ranks, ","))},
        {"MEMTRACE_SIM_SESSION", sessions[node]},
    });
  }
  return made;
}

}  // namespace memtrace::cli
