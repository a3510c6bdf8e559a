-- SPDX-License-Identifier: Apache-2.0
-- Which jobs ran out of memory, and what would have saved them? A row is a run, with its first failure (of those that
-- the program did not survive, if there are any), the best single change that gets past it, else the changes that fit
-- together, and the leak where there is one.
CREATE OR REPLACE TEMPORARY VIEW failed_runs AS
WITH failures AS (
  SELECT *, count(*) OVER (PARTITION BY run) AS times,
         row_number() OVER (PARTITION BY run ORDER BY CASE WHEN caught THEN 1 ELSE 0 END, time_ns, process, device)
           AS number
  FROM out_of_memory
), single AS (
  SELECT *, row_number() OVER (PARTITION BY process, device ORDER BY place) AS number
  FROM advice WHERE mends_out_of_memory
), several AS (
  SELECT c.*, row_number() OVER (PARTITION BY c.process, c.device ORDER BY c.peak_reserved_bytes, c.advice) AS number
  FROM combined c JOIN devices d ON d.run = c.run AND d.process = c.process AND d.device = c.device
  WHERE c.peak_reserved_bytes + coalesce(d.outside_bytes, 0) <= d.capacity_bytes
), leak AS (
  SELECT run, min(subject) AS subject FROM leaking_runs WHERE subject <> 'host' GROUP BY run
)
SELECT f.date, f.project, f.run, r.user_name, r.script, r.gpu, f.device, f.times, f.caught, f.requested_bytes,
       f.free_bytes, f.largest_free_block_bytes, f.allocated_bytes, f.reserved_bytes, f.capacity_bytes, f.file, f.line,
       f.function, coalesce(s.advice, m.advice) AS saved_by,
       CASE WHEN s.advice IS NOT NULL THEN s.amount END AS amount, s.what_to_do,
       CASE WHEN s.advice IS NOT NULL THEN s.saves_bytes ELSE m.saves_bytes END AS saves_bytes,
       coalesce(s.proof, m.proof) AS proof, k.subject AS leaks, a.headline
FROM failures f JOIN runs r ON r.run = f.run
LEFT JOIN ranks a ON a.run = f.run AND a.process = f.process
LEFT JOIN single s ON s.run = f.run AND s.process = f.process AND s.device = f.device AND s.number = 1
LEFT JOIN several m ON m.run = f.run AND m.process = f.process AND m.device = f.device AND m.number = 1
LEFT JOIN leak k ON k.run = f.run
WHERE f.number = 1
