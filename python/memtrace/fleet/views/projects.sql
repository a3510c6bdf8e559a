-- SPDX-License-Identifier: Apache-2.0
-- How much of the fleet is what? A row is a project.
CREATE OR REPLACE TEMPORARY VIEW projects AS
WITH priced AS (
  SELECT project, sum(cost) AS cost, sum(unused_cost) AS unused_cost, min(currency) AS currency FROM costs GROUP BY project
)
SELECT r.project, count(*) AS runs, count(DISTINCT r.user_name) AS users,
       -- whole numbers, so that the sum does not depend on the order of the rows
       CAST(sum(CAST(coalesce(r.devices, 0) AS DECIMAL(18, 0)) * r.duration_ns) AS DOUBLE) / 3.6e12 AS gpu_hours,
       count(*) FILTER (WHERE r.leaks) AS leaking, count(*) FILTER (WHERE r.ran_out_of_memory) AS failed,
       count(*) FILTER (WHERE r.needed_share < 0.5 AND NOT r.ran_out_of_memory) AS wasting,
       median(r.needed_share) AS median_needed_share, max(r.needed_bytes) AS most_needed_bytes,
       max(p.cost) AS cost, max(p.unused_cost) AS unused_cost, max(p.currency) AS currency
FROM runs r LEFT JOIN priced p ON p.project = r.project GROUP BY r.project
