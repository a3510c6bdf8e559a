-- SPDX-License-Identifier: Apache-2.0
-- Which jobs reserve much more than they use, so that it matters? A row is a run, with the device that is worst.
CREATE OR REPLACE TEMPORARY VIEW fragmented_runs AS
WITH worst AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY unused_bytes DESC, process, device) AS number
  FROM fragmentation WHERE matters
)
SELECT w.date, w.project, w.run, r.user_name, r.script, r.gpu, w.device, w.cause, w.peak_reserved_bytes,
       w.lower_bound_bytes, w.unused_bytes, w.blocked_requests, w.summary
FROM worst w JOIN runs r ON r.run = w.run WHERE w.number = 1
