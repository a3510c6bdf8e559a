-- SPDX-License-Identifier: Apache-2.0
-- What is made when all rows are there: the indexes, and views for the usual questions.
-- docs/tables.md shows what each answers.

CREATE INDEX events_by_number ON events_rows (process, event);
CREATE INDEX blocks_by_birth ON blocks_rows (process, allocated_event);
CREATE INDEX blocks_by_size ON blocks_rows (block_bytes);
CREATE INDEX blocks_by_common ON blocks_rows (common);
CREATE INDEX blocks_unfreed ON blocks_rows (process, device) WHERE freed_event IS NULL;

-- The blocks in use when most was allocated on their device.
CREATE VIEW peak_blocks AS
SELECT blocks.*, CASE WHEN category_since_event > peak_allocated_event
  THEN category_before ELSE category END AS category_then
FROM devices JOIN blocks
  ON blocks.process = devices.process AND blocks.device = devices.device
  AND allocated_event <= peak_allocated_event
  AND (freed_event IS NULL OR freed_event > peak_allocated_event);

-- Sums to peak_allocated_bytes: what was allocated before the recording began is unknown.
CREATE VIEW peak_by_category AS
SELECT process, pid, rank, device, category, sum(block_bytes) AS bytes, sum(counted) AS blocks
FROM (
  SELECT process, pid, rank, device, category_then AS category, block_bytes, 1 AS counted
  FROM peak_blocks
  UNION ALL
  SELECT process, pid, rank, device, 'unknown', peak_unrecorded_bytes, 0 FROM devices
  WHERE peak_unrecorded_bytes > 0
)
GROUP BY process, pid, rank, device, category
ORDER BY bytes DESC;

-- A module's own memory, without the modules in it. No root: memory of no module.
CREATE VIEW peak_by_module AS
SELECT process, pid, rank, device, root, module, module_type,
  sum(block_bytes) AS bytes, count(*) AS blocks
FROM peak_blocks
GROUP BY process, pid, rank, device, root, module, module_type
ORDER BY bytes DESC;

-- Memory of a backward pass belongs to the line whose gradient it computes. No line: no Python ran.
CREATE VIEW peak_by_line AS
SELECT process, pid, rank, device, coalesce(forward_line, line) AS line,
  sum(block_bytes) AS bytes, count(*) AS blocks
FROM peak_blocks
GROUP BY process, pid, rank, device, coalesce(forward_line, line)
ORDER BY bytes DESC;

-- The blocks in use right after the event in this table; while it is empty, at each device's peak:
--   DELETE FROM moment; INSERT INTO moment VALUES (1234);
CREATE TABLE moment (event INTEGER);
CREATE VIEW live_blocks AS
SELECT blocks.*, CASE
  WHEN category_since_event > coalesce((SELECT event FROM moment), peak_allocated_event)
  THEN category_before ELSE category END AS category_then
FROM devices JOIN blocks
  ON blocks.process = devices.process AND blocks.device = devices.device
  AND allocated_event <= coalesce((SELECT event FROM moment), peak_allocated_event)
  AND (freed_event IS NULL
       OR freed_event > coalesce((SELECT event FROM moment), peak_allocated_event));

CREATE VIEW growth_by_step AS
SELECT process, pid, rank, device, step, end_allocated_bytes,
  end_allocated_bytes - lag(end_allocated_bytes)
    OVER (PARTITION BY process, device ORDER BY step) AS grown_bytes,
  peak_allocated_bytes
FROM steps;

CREATE VIEW reserved_by_step AS
SELECT process, pid, rank, device, step, peak_reserved_bytes, peak_allocated_bytes,
  end_reserved_bytes, end_allocated_bytes,
  end_reserved_bytes - end_allocated_bytes AS end_unused_bytes
FROM steps;

CREATE VIEW largest_blocks AS
SELECT block_bytes, category, phase, root, module, name,
  coalesce(forward_line, line) AS line, process, pid, rank, device, address,
  allocated_event, freed_event, freed_ns - allocated_ns AS lived_ns, step
FROM blocks ORDER BY block_bytes DESC;

CREATE VIEW never_freed AS
SELECT process, pid, rank, device, category, coalesce(forward_line, line) AS line,
  sum(block_bytes) AS bytes, count(*) AS blocks,
  min(allocated_event) AS first_event, max(allocated_event) AS last_event
FROM blocks WHERE freed_event IS NULL
GROUP BY process, pid, rank, device, category, coalesce(forward_line, line)
ORDER BY bytes DESC;

-- A stack's frames; place 0 is the innermost.
CREATE VIEW stack_lines AS
WITH RECURSIVE walk (stack, place, at) AS (
  SELECT stack, 0, stack FROM stacks
  UNION ALL
  SELECT walk.stack, place + 1, caller FROM walk JOIN stacks ON stacks.stack = at
  WHERE caller IS NOT NULL
)
SELECT walk.stack, place, frames.line, frames.file, line_number, function_name, is_user
FROM walk JOIN stacks ON stacks.stack = at JOIN frames ON frames.frame = stacks.frame;

-- As Nsight Systems names it in its own SQLite files: 0 allocates, 1 frees.
CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS
SELECT time_ns AS start, pid AS globalPid, device AS deviceId, NULL AS contextId, address,
  NULL AS pc, bytes, NULL AS memKind, is_release AS memoryOperationType, name,
  NULL AS correlationId, NULL AS streamId
FROM events WHERE kind = 'cuda_call' AND error IS NULL AND address <> 0;
