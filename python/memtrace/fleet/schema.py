# SPDX-License-Identifier: Apache-2.0
"""The summary of a run: one Parquet file a run, one row a process (rank), lists for what it has several of.

Sizes are bytes, times nanoseconds; None: not known. Three kinds of change are compatible, so that old and new
files answer one question: a column more, a column more in a list, a list more. What goes or means something else
raises VERSION's first number, and readers say so. Types are those that DuckDB and Spark read alike: 64-bit signed
integers, doubles, strings, booleans, and lists of structs of these."""

from __future__ import annotations

import functools
from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

MAJOR = 1  # readers refuse another
MINOR = 2  # grows with each compatible addition
VERSION = MAJOR * 1000 + MINOR  # as files hold it: schema_version

INT, REAL, TEXT, FLAG = "int64", "double", "string", "bool"


class Column(NamedTuple):
    name: str
    kind: str
    meaning: str


class Rows(NamedTuple):
    """A list of structs; as a table, each row has the columns KEYS before its own."""

    row: str  # what one is
    most: int  # more are left out, the least first
    columns: Tuple[Column, ...]


def columns(text: str) -> Tuple[Column, ...]:
    """Lines of `name kind meaning`."""
    return tuple(Column(*line.split(None, 2)) for line in text.strip().splitlines())


# Folders, from the outside: date=2026-11-24/project=vision/run=0123456789abcdef
PARTITIONS = ("date", "project", "run")

# The columns that each row of a file has once.
PROCESS = columns("""
schema_version    int64   1000 × major + minor of this schema
run_id            string  16 hex digits, of the identities of the run's traces
process           string  16 hex digits, the identity of the trace
run_date          string  UTC day on which the run began, as 2026-11-24
project_name      string  as --project said, else the script's name
user_name         string  as --user said, else the owner of the trace; None when scrubbed
script            string  the program's file or module, without its folder
added_ns          int64   when the summary was made, since 1970
added_by          string  version of memtrace that made it
scrubbed          bool    true: no paths, names of users or of machines
rank              int64   of distributed training; None: none
local_rank        int64   on its machine
world_size        int64   number of ranks
attempt           int64   0; of a rank that was started again 1, 2, …
host              string  name of the machine
pid               int64   process id
trace             string  name of the file; None when scrubbed
trace_bytes       int64   its size
command           string  the command line, a JSON list
started_ns        int64   when the recording began, since 1970
duration_ns       int64   to the last event, or to the clean exit
torch             string  version of PyTorch
cuda              string  version of the CUDA runtime
python            string  version
memtrace          string  version that recorded
alloc_conf        string  PYTORCH_CUDA_ALLOC_CONF
environment       string  other variables that change memory, a JSON object
simulated_gpu     string  model of the simulated GPU; None: a real one
source            string  recording, pytorch_snapshot or profiler_trace
mode              string  minimal, standard or full
capabilities      string  what was on in the process, spaces between
events            int64   timed records in the trace
dropped_events    int64   not recorded, as the recorder counted them
truncated         bool    the file lacks something that was written
clean_exit        bool    the program ended by itself
mismatches        int64   how often the replayed totals and the allocator's own parted
state             string  out_of_memory, leaks, fits_so_far, fits or no_gpu_memory
headline          string  the answer in one line, as the report begins
ran_out_of_memory bool    on a device, whether or not the program went on
out_of_memories   int64   how often
autocast          bool    AMP was on in a model's call
checkpointed      int64   modules whose forward ran again in backward
parameters        int64   tied ones once
parameter_bytes   int64   of them
trainable_bytes   int64   of parameter_bytes
steps             int64   complete ones; 0: not known
step_boundary     string  optimizer, user, nvtx, inferred; None: no steps
step_ns           int64   median time of a step
host_peak_bytes   int64   the most that the process and those below it held
host_limit_bytes  int64   of the machine or the container
pinned_peak_bytes int64   page-locked host memory
workers           int64   processes below it, as of a DataLoader
""")

# As tables, each with the columns KEYS of its process before its own.
LISTS: Dict[str, Rows] = {
    "labels": Rows("a label of the run, as --label said", 32, columns("""
label   string  name: release
label_value  string  of it: 1.2
""")),
    "devices": Rows("a GPU of a process", 64, columns("""
device                 int64   index, as PyTorch counts
gpu                    string  model of the GPU
capacity_bytes         int64   as CUDA says
peak_allocated_bytes   int64   as torch.cuda.max_memory_allocated
peak_requested_bytes   int64   of them, before the allocator's rounding
peak_reserved_bytes    int64   as torch.cuda.max_memory_reserved
peak_used_bytes        int64   by anybody, as the driver says; None: it was not asked
outside_bytes          int64   of this process beside PyTorch's pool: context, libraries, graphs
needed_bytes           int64   the most that this run needed of the device: peak_used_bytes, else reserved and outside
unexplained_bytes      int64   of peak_used_bytes what no part accounts for
peak_ns                int64   when most was allocated, since the recording began
peak_step              int64   in which that was
peak_phase             string  in which that was
retries                int64   allocations for which PyTorch gave its cache back
largest_batch_factor   double  how much larger a batch would fit, by proportion
mends                  string  best advice that would have got it past running out of memory, ids with + between
""")),
    "categories": Rows("a category at the peak of a device", 64 * 13, columns("""
device     int64   index
category   string  weights, activations, … as in the report
bytes      int64   when most was allocated on the device
blocks     int64   in use then
evidence   string  annotated, inferred, propagated or unknown: of most of the bytes
""")),
    "phases": Rows("a phase on a device", 64 * 16, columns("""
device                int64   index
phase                 string  forward, backward, optimizer, …, or as the program named it
peak_allocated_bytes  int64   the highest total while it ran
allocated_bytes       int64   summed over its allocations
freed_bytes           int64   summed over its frees
""")),
    "phase_categories": Rows("a category at the peak of a phase on a device", 64 * 40, columns("""
device    int64   index
phase     string  a phase of training
category  string  as in categories
bytes     int64   when most was allocated in the phase
""")),
    "lines": Rows("a line of the program at the peak of a device, most bytes first", 16, columns("""
device    int64   index
file      string  of the innermost frame of the user's own code
line      int64   in it; 0: not known
function  string  name
category  string  as in categories
bytes     int64   when most was allocated on the device
blocks    int64   in use then
""")),
    "series": Rows("some steps in a row on a device, with the bounds of what they had", 128, columns("""
device           int64   index
first_step       int64   from 0
last_step        int64   the same where nothing was thinned
end_ns           int64   when the last of them ended, since the recording began
peak_low_bytes   int64   the least peak of these steps
peak_high_bytes  int64   the highest
end_low_bytes    int64   the least that one left allocated
end_high_bytes   int64   the most
""")),
    "verdicts": Rows("a verdict on a series of memory", 48, columns("""
subject              string  device:0, reserved:0, outside:0, category:weights, phase:NAME, site:3, host
device               int64   index; None: the host
shape                string  accumulating, stepwise, sawtooth_leak, steady, …
answer               string  accumulates, bounded, not_settled, steady
is_leak              bool    it grows without end, by enough to matter, nobody expects it, and nothing that was lost casts doubt on it
is_headline          bool    of a device, of what is reserved or outside on it, of a phase or the host: not a part of another one
bytes_per_step       double  None: not known
bytes_per_step_low   double  of a 95 % interval
bytes_per_step_high  double  of the same
steps_to_oom         int64   None: never, or not known
confidence           double  0 to 1
negligible           bool    too little to matter
more_steps_needed    int64   before a firm answer; 0: this one is
summary              string  the sentence of the report
""")),
    "culprits": Rows("a line that makes what grows", 24, columns("""
subject         string  of its verdict
place           int64   from 1, the largest first
file            string  of the innermost frame of the user's own code
line            int64   in it; 0: not known
function        string  name
category        string  as in categories
phase           string  in which it allocates
bytes_per_step  double  of the growth
share           double  of the growth, 0 to 1
bytes           int64   live at the end
confidence      double  0 to 1
kept_by         string  what keeps it alive, as Python would write it: self.outputs[…]
container       string  class of the innermost container
fix             string  id of the remedy
what_to_do      string  the remedy in words
""")),
    "fragmentation": Rows("what of a device is reserved and not used", 64, columns("""
device               int64   index
cause                string  of the largest part; none: no allocator could do with much less
matters              bool    worth a person's attention
peak_reserved_bytes  int64   the most that was reserved
lower_bound_bytes    int64   no allocator needs less
unused_bytes         int64   of what was reserved then
blocked_requests     int64   for which enough was free, but in pieces
driver_calls         int64   segments got and given back
summary              string  the sentence of the report; None: nothing to say
""")),
    "advice": Rows("a change that saves memory, the best first", 32, columns("""
place                int64   from 1
advice               string  id: train_batch_half, expandable_segments, …
title                string  why
amount               string  how much of it: the settings' text, 1/2 of a batch; empty: nothing to choose
what_to_do           string  the change
device               int64   index; None: the host, or a remedy
subject              string  of the verdict that it is a remedy for; None: none
saves_bytes          int64   of the peak reserved; 0: it saves something else
saves_capacity_bytes int64   of the smallest capacity that fits; None: not looked for
saves_share          double  saves_bytes of the device's peak reserved
proof                string  replayed, measured or estimated
mends_out_of_memory  bool    the run ended when memory ran out, and would get past that
cost                 string  what it costs; None: nothing known
""")),
    "combined": Rows("what pieces of advice save together", 16, columns("""
device               int64   index
advice               string  ids with + between
saves_bytes          int64   together, not added up
peak_reserved_bytes  int64   that would be left
proof                string  replayed or estimated
""")),
    "out_of_memory": Rows("a time when memory ran out", 16, columns("""
device                    int64   index
time_ns                   int64   since the recording began
requested_bytes           int64   rounded
free_bytes                int64   of the device, as CUDA said
largest_free_block_bytes  int64   in any segment
reserved_bytes            int64   by PyTorch
allocated_bytes           int64   of them
capacity_bytes            int64   of the device
caught                    bool    an allocation succeeded afterwards, or the program ended well (exit status 0)
file                      string  that asked for it: the innermost frame of the user's own code
line                      int64   in it; 0: not known
function                  string  name
""")),
    "counters": Rows("a number that the program told", 32, columns("""
counter  string  name
times    int64   how often it was set
least    double  value
most     double  value
latest   double  the last value
""")),
}

# Before the columns of each list, where it is a table: what says whose row it is.
KEYS = ("date", "project", "run", "process", "rank")


METADATA_KEY = "memtrace_fleet"  # of a file; its value is VERSION


@functools.lru_cache(maxsize=None)
def arrow_schema() -> Any:
    """The file's schema."""
    import pyarrow as pa

    kinds = {INT: pa.int64(), REAL: pa.float64(), TEXT: pa.string(), FLAG: pa.bool_()}

    def field(column: Column) -> Any:
        return pa.field(column.name, kinds[column.kind])

    fields = [field(column) for column in PROCESS]
    fields += [pa.field(name, pa.list_(pa.struct([field(one) for one in rows.columns])))
               for name, rows in LISTS.items()]
    return pa.schema(fields)


def markdown() -> str:
    """The tables of docs/fleet.md."""
    def table(columns: Iterable[Column]) -> str:
        lines = [f"| `{one.name}` | {one.kind} | {one.meaning} |" for one in columns]
        return "\n".join(["| column | type | |", "| --- | --- | --- |", *lines])

    parts = ["### ranks\n\nA row is a process; these are a file's own columns.\n\n" + table(PROCESS)]
    parts += [f"### {name}\n\nA row is {rows.row}; at most {rows.most} of a process.\n\n" + table(rows.columns)
              for name, rows in LISTS.items()]
    return "\n\n".join(parts) + "\n"


def names() -> List[str]:
    """The names of a file's columns."""
    return [column.name for column in PROCESS] + list(LISTS)
