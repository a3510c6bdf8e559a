// SPDX-License-Identifier: Apache-2.0
//
// Control groups as containers show them, in files of our own below another root.
#include "interpose/door/sampler/memory_limit.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::sampler;
using memtrace::format::host::limit_source;

namespace {

constexpr std::uint64_t gibibyte = 1ull << 30;

class machine {
 public:
  machine() { write("/proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n"); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = folder_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  [[nodiscard]] limit_state nearest() const {
    std::array<char, 8192> buffer;
    const std::string root = folder_.path();
    memory_limit limit(root);
    limit.find(buffer);
    const auto found = limit.nearest({}, buffer);
    REQUIRE(found);
    return *found;
  }

 private:
  memtrace::test::temporary_folder folder_;
};

void write_group(const machine& on, const std::string& folder, const std::string& most,
                 std::uint64_t used, const std::string& stat) {
  on.write(folder + "/memory.max", most + "\n");
  on.write(folder + "/memory.current", std::to_string(used) + "\n");
  on.write(folder + "/memory.stat", stat);
}

}  // namespace

TEST_CASE("GIVEN no control groups WHEN asked THEN the machine's memory, less what is available") {
  const machine bare;
  const auto found = bare.nearest();
  CHECK(found.from == limit_source::machine);
  CHECK(found.limit == 64 * gibibyte);
  CHECK(found.used == 32 * gibibyte);
}

TEST_CASE(
    "GIVEN a container with its own view of cgroup v2 WHEN asked THEN page cache is left out") {
  const machine host;
  host.write("/proc/self/cgroup", "0::/\n");
  host.write("/proc/self/mountinfo",
             "24 1 0:2 / / rw - overlay overlay rw\n"
             "31 24 0:28 / /sys/fs/cgroup ro,nosuid shared:9 - cgroup2 cgroup rw\n");
  write_group(host, "/sys/fs/cgroup", std::to_string(60 * gibibyte), 50 * gibibyte,
              "anon 1\nfile 21474836480\nshmem 1073741824\nfile_mapped 5\n"
              "slab_reclaimable 1073741824\n");
  const auto found = host.nearest();
  CHECK(found.from == limit_source::cgroup_v2);
  CHECK(found.limit == 60 * gibibyte);
  CHECK(found.used == (50 - 20 + 1 - 1) * gibibyte);
}

TEST_CASE("GIVEN nested groups WHEN asked THEN the one with the least room, of any level") {
  const machine host;
  host.write("/proc/self/cgroup", "0::/kubepods/pod7/main\n");
  host.write("/proc/self/mountinfo", "31 24 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write_group(host, "/sys/fs/cgroup/kubepods/pod7/main", "max", 5 * gibibyte, "file 0\n");
  write_group(host, "/sys/fs/cgroup/kubepods/pod7", std::to_string(8 * gibibyte), 7 * gibibyte,
              "file 0\n");
  write_group(host, "/sys/fs/cgroup/kubepods", std::to_string(40 * gibibyte), 30 * gibibyte,
              "file 0\n");
  const auto found = host.nearest();
  CHECK(found.limit == 8 * gibibyte);
  CHECK(found.used == 7 * gibibyte);
}

TEST_CASE("GIVEN a mount that shows a part of the groups WHEN asked THEN paths count from there") {
  const machine host;
  host.write("/proc/self/cgroup", "0::/docker/4242/inner\n");
  host.write("/proc/self/mountinfo",
             "31 24 0:28 /docker/4242 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write_group(host, "/sys/fs/cgroup/inner", std::to_string(4 * gibibyte), gibibyte, "");
  write_group(host, "/sys/fs/cgroup", std::to_string(gibibyte * 9), gibibyte, "");
  CHECK(host.nearest().limit == 4 * gibibyte);
}

TEST_CASE("GIVEN cgroup v1 WHEN asked THEN its memory controller, unlimited levels left out") {
  const machine host;
  host.write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/77\n0::/\n");
  host.write("/proc/self/mountinfo",
             "30 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "35 24 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "36 24 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  const std::string memory = "/sys/fs/cgroup/memory";
  host.write(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
  host.write(memory + "/memory.usage_in_bytes", "1\n");
  host.write(memory + "/docker/77/memory.limit_in_bytes", std::to_string(2 * gibibyte) + "\n");
  host.write(memory + "/docker/77/memory.usage_in_bytes", std::to_string(gibibyte) + "\n");
  host.write(memory + "/docker/77/memory.stat",
             "cache 1\ntotal_cache 536870912\ntotal_shmem 268435456\n");
  const auto found = host.nearest();
  CHECK(found.from == limit_source::cgroup_v1);
  CHECK(found.limit == 2 * gibibyte);
  CHECK(found.used == gibibyte - (gibibyte / 2 - gibibyte / 4));
}

TEST_CASE("GIVEN files that make no sense WHEN asked THEN the machine's memory") {
  const machine host;
  host.write("/proc/self/cgroup", "0::/" + std::string(5000, 'x') + "\nnonsense\n:::\n");
  host.write("/proc/self/mountinfo", "1 2\n\n31 24 0:28 / /sys/fs/cgroup ro - \n - cgroup2\n");
  CHECK(host.nearest().from == limit_source::machine);
}
