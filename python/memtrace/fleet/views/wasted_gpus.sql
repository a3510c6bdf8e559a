-- SPDX-License-Identifier: Apache-2.0
-- Which jobs waste more than half of their GPU? A row is a run none of whose devices was ever half full, with what it
-- held all the time without needing it. Runs that ran out of memory are none.
CREATE OR REPLACE TEMPORARY VIEW wasted_gpus AS
SELECT r.date, r.project, r.run, r.user_name, r.script, r.gpu, r.devices, r.capacity_bytes, r.needed_bytes,
       r.needed_share, r.total_capacity_bytes - r.total_needed_bytes AS wasted_bytes, r.gpu_hours, c.unused_cost,
       c.currency
FROM runs r LEFT JOIN costs c ON c.run = r.run
WHERE r.needed_share < 0.5 AND NOT r.ran_out_of_memory
