-- SPDX-License-Identifier: Apache-2.0
-- A row is a run, with the figures of the device that needed most.
CREATE OR REPLACE TEMPORARY VIEW runs AS
WITH of_devices AS (
  SELECT run, count(*) AS devices, min(gpu) AS gpu, count(DISTINCT gpu) AS gpu_models,
         min(capacity_bytes) AS capacity_bytes, max(peak_allocated_bytes) AS peak_allocated_bytes,
         max(peak_reserved_bytes) AS peak_reserved_bytes, max(needed_bytes) AS needed_bytes,
         max(CAST(needed_bytes AS DOUBLE) / capacity_bytes) AS needed_share,
         max(CAST(peak_reserved_bytes - peak_allocated_bytes AS DOUBLE) / peak_reserved_bytes) AS unused_share,
         CAST(sum(capacity_bytes) AS BIGINT) AS total_capacity_bytes,
         CAST(sum(needed_bytes) AS BIGINT) AS total_needed_bytes
  FROM devices WHERE peak_allocated_bytes > 0 GROUP BY run
), of_ranks AS (
  SELECT run, min(date) AS date, min(project) AS project, min(user_name) AS user_name, min(script) AS script,
         count(*) AS processes, max(world_size) AS world_size, min(started_ns) AS started_ns,
         max(started_ns + duration_ns) - min(started_ns) AS duration_ns, max(steps) AS steps, max(step_ns) AS step_ns,
         bool_or(ran_out_of_memory) AS ran_out_of_memory, bool_and(clean_exit) AS clean_exit,
         bool_or(truncated) AS truncated, max(host_peak_bytes) AS host_peak_bytes, min(torch) AS torch,
         min(cuda) AS cuda, bool_or(simulated_gpu IS NOT NULL) AS simulated
  FROM ranks GROUP BY run
), of_verdicts AS (
  SELECT run, bool_or(is_leak AND is_headline) AS leaks FROM verdicts GROUP BY run
)
SELECT r.date, r.project, r.run, r.user_name, r.script, r.processes, r.world_size, r.started_ns, r.duration_ns,
       d.devices, d.gpu, d.gpu_models, d.capacity_bytes, d.peak_allocated_bytes, d.peak_reserved_bytes, d.needed_bytes,
       d.needed_share, d.unused_share, d.total_capacity_bytes, d.total_needed_bytes, r.steps, r.step_ns,
       coalesce(v.leaks, false) AS leaks, r.ran_out_of_memory, r.clean_exit, r.truncated, r.host_peak_bytes, r.torch,
       r.cuda, r.simulated, coalesce(d.devices, 0) * r.duration_ns / 3.6e12 AS gpu_hours
FROM of_ranks r LEFT JOIN of_devices d ON d.run = r.run LEFT JOIN of_verdicts v ON v.run = r.run
