-- SPDX-License-Identifier: Apache-2.0
-- What did a release, or a period, change? A row is a metric of a project's script on a model of GPU that has at least
-- 5 runs in both periods. test: two-sided Mann-Whitney U, mid-ranks for ties, normal approximation with the tie
-- correction and 0.5 for continuity. p_adjusted: by Benjamini and
-- Hochberg over all rows, so that of the rows with a verdict one in a hundred is expected to be there by chance. share_higher: how probable it is that a run of
-- `after` has more than one of `before`, ties halved. change: of the medians as a ratio less 1, of a share the
-- difference of the means. verdict: worse or better where p_adjusted < 0.01 and the change is at least 0.05; else none.
CREATE OR REPLACE TEMPORARY VIEW regressions AS
WITH compared AS (
  SELECT m.project, m.script, coalesce(m.gpu, '') AS gpu, m.metric, m.kind, p.period, m.value
  FROM metrics m JOIN run_periods p ON p.run = m.run
), ranked AS (
  SELECT *, count(*) OVER (PARTITION BY project, script, gpu, metric, value) AS ties,
         rank() OVER (PARTITION BY project, script, gpu, metric ORDER BY value) AS least_rank
  FROM compared
), summed AS (
  SELECT project, script, gpu, metric, min(kind) AS kind,
         CAST(count(*) FILTER (WHERE period = 'before') AS DOUBLE) AS n_before,
         CAST(count(*) FILTER (WHERE period = 'after') AS DOUBLE) AS n_after,
         median(value) FILTER (WHERE period = 'before') AS median_before,
         median(value) FILTER (WHERE period = 'after') AS median_after,
         avg(value) FILTER (WHERE period = 'before') AS mean_before,
         avg(value) FILTER (WHERE period = 'after') AS mean_after,
         sum(least_rank + (ties - 1) / 2.0) FILTER (WHERE period = 'after') AS ranks_after,
         sum(CAST(ties AS DOUBLE) * ties - 1) AS tie_sum
  FROM ranked GROUP BY project, script, gpu, metric
), tested AS (
  SELECT *, n_before + n_after AS n, CAST(ranks_after AS DOUBLE) - n_after * (n_after + 1) / 2 AS u,
         n_before * n_after / 2 AS expected_u,
         n_before * n_after / 12 * (n_before + n_after + 1
           - tie_sum / ((n_before + n_after) * (n_before + n_after - 1))) AS variance
  FROM summed WHERE n_before >= 5 AND n_after >= 5
), scored AS (
  SELECT *, CASE WHEN variance <= 0 THEN 0.0
                 ELSE greatest(0.0, abs(u - expected_u) - 0.5) / sqrt(variance) END AS z
  FROM tested
), halved AS (
  SELECT *, 1 / (1 + z / sqrt(2.0) / 2) AS t FROM scored
), valued AS (  -- the complementary error function, by a polynomial whose relative error stays below 1.2e-7
  SELECT *, least(1.0, t * exp(-z * z / 2 - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418
    + t * (-0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223
    + t * 0.17087277)))))))))) AS p
  FROM halved
), ordered AS (
  SELECT *, row_number() OVER (ORDER BY p, project, script, gpu, metric) AS place, count(*) OVER () AS tests
  FROM valued
), adjusted AS (
  SELECT *, min(p * tests / place) OVER (ORDER BY place DESC) AS p_adjusted,
         CASE WHEN kind = 'share' THEN mean_after - mean_before
              WHEN median_before > 0 THEN median_after / median_before - 1 END AS change
  FROM ordered
)
SELECT project, script, gpu, metric, CAST(n_before AS BIGINT) AS runs_before, CAST(n_after AS BIGINT) AS runs_after,
       CASE WHEN kind = 'share' THEN mean_before ELSE median_before END AS value_before,
       CASE WHEN kind = 'share' THEN mean_after ELSE median_after END AS value_after, change,
       u / (n_before * n_after) AS share_higher, 'Mann-Whitney U' AS test, u, z, p, p_adjusted,
       CASE WHEN p_adjusted < 0.01 AND change >= 0.05 THEN 'worse'
            WHEN p_adjusted < 0.01 AND change <= -0.05 THEN 'better' END AS verdict
FROM adjusted
