// SPDX-License-Identifier: Apache-2.0
//
// Everything on which a recording depends, looked at before a program is started: the program and
// its dynamic linker, Python and PyTorch, the driver, the limits of the host, the folder for
// traces.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::cli {

// Whether a program's own dynamic linker could load a library: where it cannot (a C library that is
// too old, a library that is missing), it would end every process that the library is preloaded
// into, and that must not happen to a training.

// The file that a name on PATH, or a path, stands for; "" where there is none.
[[nodiscard]] std::string on_path(const std::string& name);

// The dynamic linker of what the kernel starts for `started`, scripts being followed to their
// interpreter; "" where it is linked statically, or no program.
[[nodiscard]] std::string dynamic_linker_of(const std::string& started);

// Why the linker of `started` refuses `library`; "" where it does not, or where the linker is not
// known.
[[nodiscard]] std::string why_not_loadable(const std::string& started, const std::string& library);

}  // namespace memtrace::cli

namespace memtrace::cli::surroundings {

enum class effect {
  none,     // all is recorded, as far as this goes
  lacks,    // the recording goes without something
  nothing,  // nothing is recorded
};

struct finding {
  std::string topic;  // "Python", "PyTorch", … one word for the doctor's first column
  effect on_recording = effect::none;
  std::string said;  // what there is, and with lacks and nothing what it means and what helps
};

using findings = std::vector<finding>;

// The NVIDIA driver of this machine, and whether a PyTorch can use it.

// `torch_cuda`: "13.0", or empty where that is not known. Loads libcuda.so.1, which initializes
// nothing.
[[nodiscard]] finding judge_driver(const std::string& torch_cuda);

// The system under the program: its C library, and the limits of a container around it.
[[nodiscard]] finding describe_system();

// The memory that control groups leave, and how many threads. For information: a limit of the host
// is the report's business, which samples it.
[[nodiscard]] finding describe_container();

// The Python that a command runs, and the PyTorch that it would import.
struct python_facts {
  std::filesystem::path interpreter;
  std::string implementation;  // "cpython"
  int major = 0;
  int minor = 0;
  std::string version;  // "3.11.7"
  bool has_no_gil = false;
  std::string torch;       // "2.11.0+cu130"; empty: none is installed
  std::string torch_cuda;  // "13.0"; empty: built without CUDA
};

// Asks the interpreter, at most ten seconds, without importing torch; nothing where it does not
// answer.
[[nodiscard]] std::optional<python_facts> ask_python(const std::filesystem::path& interpreter);

[[nodiscard]] finding judge_python(const python_facts& python);
[[nodiscard]] finding judge_torch(const python_facts& python);

// The program that the kernel starts for a command, and whether libmemtrace.so gets into it.

// Whether there is such a file that may be executed.
[[nodiscard]] bool can_be_started(const std::string& program);

// Launchers in front of the program pass the variables on (torchrun, accelerate, deepspeed, srun,
// conda run), but for those that start it elsewhere or take LD_PRELOAD away.
[[nodiscard]] finding judge_program(const std::vector<std::string>& command,
                                    const std::string& library);

// Where the traces go: the folder's disk, and /dev/shm, which holds the newest records.

// Why no file can be made in `folder`, as the system says it; empty: one can.
[[nodiscard]] std::string why_not_writable(const std::string& folder);

[[nodiscard]] finding judge_folder(const std::string& folder);
[[nodiscard]] finding judge_shared_memory();

// Looks at everything on which a recording depends, before a program is started: what memtrace run
// says in one line, and memtrace doctor in full. Starts nothing but the program's Python, once.
struct place {
  std::vector<std::string>
      command;          // empty: doctor was asked for no program; the first Python then
  std::string library;  // libmemtrace.so
  std::string folder;   // for the traces; exists
  std::string mode;     // --mode; empty: as MEMTRACE says
};

[[nodiscard]] findings look(const place& at);

// "allocations, CUDA calls and Python stacks": what the mode records, as MEMTRACE and the variables
// of single rows say. An unknown MEMTRACE counts as standard, as it does in libmemtrace.so.
[[nodiscard]] std::string what_is_on(const std::string& mode);

}  // namespace memtrace::cli::surroundings
