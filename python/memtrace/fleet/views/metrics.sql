-- SPDX-License-Identifier: Apache-2.0
-- A row is a figure of a run, more of which is worse. kind: amounts are compared by their medians' ratio, shares and
-- things that happened (1) or not (0) by the difference of their means. The peaks are those of runs that neither leak
-- nor ran out of memory: how far a leak got, and where a GPU was full, is not what the work takes. needed_bytes has all
-- runs, so that a period in which only the small ones got through does not look better by it.
CREATE OR REPLACE TEMPORARY VIEW metrics AS
SELECT run, project, script, gpu, 'peak_allocated_bytes' AS metric, 'amount' AS kind,
       CAST(peak_allocated_bytes AS DOUBLE) AS value
FROM runs WHERE peak_allocated_bytes IS NOT NULL AND NOT leaks AND NOT ran_out_of_memory
UNION ALL
SELECT run, project, script, gpu, 'peak_reserved_bytes', 'amount', CAST(peak_reserved_bytes AS DOUBLE)
FROM runs WHERE peak_reserved_bytes IS NOT NULL AND NOT leaks AND NOT ran_out_of_memory
UNION ALL
SELECT run, project, script, gpu, 'needed_bytes', 'amount', CAST(needed_bytes AS DOUBLE)
FROM runs WHERE needed_bytes IS NOT NULL
UNION ALL
SELECT run, project, script, gpu, 'host_peak_bytes', 'amount', CAST(host_peak_bytes AS DOUBLE)
FROM runs WHERE host_peak_bytes IS NOT NULL
UNION ALL
SELECT run, project, script, gpu, 'step_ns', 'amount', CAST(step_ns AS DOUBLE)
FROM runs WHERE step_ns IS NOT NULL AND NOT simulated
UNION ALL
SELECT run, project, script, gpu, 'unused_share', 'share', unused_share FROM runs WHERE unused_share IS NOT NULL
UNION ALL
SELECT run, project, script, gpu, 'leaks', 'share', CASE WHEN leaks THEN 1.0 ELSE 0.0 END FROM runs
UNION ALL
SELECT run, project, script, gpu, 'ran_out_of_memory', 'share', CASE WHEN ran_out_of_memory THEN 1.0 ELSE 0.0 END
FROM runs
