-- SPDX-License-Identifier: Apache-2.0
-- Which jobs would fit a smaller GPU, and which one? A row is a run whose need, with 5 % to spare, is within what another
-- model has, which is smaller than its own by 1 % or more: machines with the same model say capacities that differ by less.
-- Of those that are not dearer it is the cheapest, without prices the smallest. What needs more and more, ran out of
-- memory, was cut off, or did not come to a step, has not shown what it needs.
CREATE OR REPLACE TEMPORARY VIEW smaller_gpus AS
WITH fits AS (
  SELECT r.date, r.project, r.run, r.user_name, r.script, r.gpu, r.devices, r.capacity_bytes, r.needed_bytes,
         g.gpu AS fits_gpu, g.name AS fits_name, g.capacity_bytes AS fits_capacity_bytes,
         CAST(r.needed_bytes AS DOUBLE) / g.capacity_bytes AS fits_share, r.gpu_hours,
         r.gpu_hours * (own.price_per_hour - other.price_per_hour) AS saved_cost, own.currency,
         row_number() OVER (PARTITION BY r.run ORDER BY CASE WHEN other.price_per_hour IS NULL THEN 1 ELSE 0 END,
                            other.price_per_hour, g.capacity_bytes, g.gpu) AS number
  FROM runs r JOIN gpus g ON g.capacity_bytes * 100 <= r.capacity_bytes * 99 AND g.capacity_bytes >= r.needed_bytes * 1.05
    AND g.name <> coalesce(r.gpu, '') AND g.gpu <> coalesce(r.gpu, '')
  LEFT JOIN prices own ON own.name = r.gpu
  LEFT JOIN prices other ON other.name = g.name AND other.currency = own.currency
  WHERE NOT r.leaks AND NOT r.ran_out_of_memory AND NOT r.truncated AND r.steps > 0
    AND (own.price_per_hour IS NULL OR other.price_per_hour IS NULL OR other.price_per_hour <= own.price_per_hour)
)
SELECT date, project, run, user_name, script, gpu, devices, capacity_bytes, needed_bytes, fits_gpu, fits_name,
       fits_capacity_bytes, fits_share, gpu_hours, saved_cost, currency
FROM fits WHERE number = 1
