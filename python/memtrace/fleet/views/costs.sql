-- SPDX-License-Identifier: Apache-2.0
-- A row is a run whose GPU has a price: what it cost, and what of that its memory did not need.
CREATE OR REPLACE TEMPORARY VIEW costs AS
SELECT r.date, r.project, r.run, r.user_name, r.script, r.gpu, r.gpu_hours, p.price_per_hour, p.currency,
       r.gpu_hours * p.price_per_hour AS cost,
       r.gpu_hours * p.price_per_hour * (1 - CAST(r.total_needed_bytes AS DOUBLE) / r.total_capacity_bytes) AS unused_cost
FROM runs r JOIN prices p ON p.name = r.gpu
