// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "analyzer/base/text/units.h"

namespace memtrace::cli::surroundings {

namespace {

enum class kind { local, network, memory };

struct file_system {
  std::uint32_t magic;  // statfs(2)
  const char* name;
  kind is;
};

constexpr std::array file_systems = {
    file_system{0xEF53, "ext4", kind::local},
    file_system{0x58465342, "XFS", kind::local},
    file_system{0x9123683E, "Btrfs", kind::local},
    file_system{0x2FC12FC1, "ZFS", kind::local},
    file_system{0xF2F52010, "F2FS", kind::local},
    file_system{0x794C7630, "overlayfs, a container's own layer, which goes with it", kind::local},
    file_system{0x01021994, "tmpfs", kind::memory},
    file_system{0x858458F6, "ramfs", kind::memory},
    file_system{0x6969, "NFS", kind::network},
    file_system{0x0BD00BD0, "Lustre", kind::network},
    file_system{0x47504653, "GPFS", kind::network},
    file_system{0x19830326, "BeeGFS", kind::network},
    file_system{0x00C36400, "CephFS", kind::network},
    file_system{0xFF534D42, "CIFS", kind::network},
    file_system{0xFE534D42, "SMB", kind::network},
    file_system{0x01021997, "9p", kind::network},
    file_system{0x65735546, "FUSE", kind::network},
};

[[nodiscard]] const file_system* file_system_of(const std::string& folder) {
  struct statfs what {};
  if (::statfs(folder.c_str(), &what) != 0) return nullptr;
  for (const auto& known : file_systems) {
    if (known.magic == static_cast<std::uint32_t>(what.f_type)) return &known;
  }
  return nullptr;
}

[[nodiscard]] std::uint64_t free_bytes(const std::string& folder) {
  struct statvfs what {};
  if (::statvfs(folder.c_str(), &what) != 0) return 0;
  return std::uint64_t{what.f_bavail} * what.f_frsize;
}

}  // namespace

std::string why_not_writable(const std::string& folder) {
  std::string name = folder + "/.memtrace-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return std::strerror(errno);
  ::close(file);
  ::unlink(name.c_str());
  return "";
}

finding judge_folder(const std::string& folder) {
  // A small training wrote 9.2 MB in 2 hours (tests/program/soak); the recorder copes with less, by
  // gaps.
  constexpr std::uint64_t little = std::uint64_t{256} << 20;
  const auto why = why_not_writable(folder);
  if (!why.empty()) {
    return {"Traces", effect::nothing,
            fmt::format("{} cannot be written ({}); choose another with --output", folder, why)};
  }
  const std::uint64_t free = free_bytes(folder);
  const file_system* const on = file_system_of(folder);
  std::string what = fmt::format("{}, {} free", folder, text::format_bytes(free));
  if (on != nullptr) what += fmt::format(", {}", on->name);
  if (free < little) {
    return {"Traces", effect::lacks,
            what +
                ": where the disk is full, events are counted instead of recorded; make room, or "
                "choose another with --output"};
  }
  if (on != nullptr && on->is == kind::network) {
    what +=
        "; a network's delays do not reach the program, but longer ones leave gaps in the trace";
  }
  if (on != nullptr && on->is == kind::memory) what += "; it is memory, and goes with the machine";
  return {"Traces", effect::none, what};
}

finding judge_shared_memory() {
  constexpr char folder[] = "/dev/shm";
  // An eighth of what is free is taken at most, for two slots of 1.2 MiB (docs/trace_disk.md).
  constexpr std::uint64_t needed = 8 * (std::uint64_t{5} << 19);
  const auto why = why_not_writable(folder);
  if (!why.empty() || free_bytes(folder) < needed) {
    return {
        "/dev/shm", effect::none,
        fmt::format("{}: after a kill the last 200 ms of the recording are lost; with 20 MiB free "
                    "nothing would be (docker run --shm-size)",
                    why.empty() ? "small" : why)};
  }
  return {"/dev/shm", effect::none, fmt::format("{} free", text::format_bytes(free_bytes(folder)))};
}

}  // namespace memtrace::cli::surroundings
