-- SPDX-License-Identifier: Apache-2.0
-- Which jobs leak? A row is what grows in a run, with the line that makes most of it and what keeps it alive, as the
-- rank with most growth has it. The largest growth first, then by run.
CREATE OR REPLACE TEMPORARY VIEW leaking_runs AS
WITH grows AS (
  SELECT *, count(*) OVER (PARTITION BY run, subject) AS processes,
         row_number() OVER (PARTITION BY run, subject ORDER BY bytes_per_step DESC, process) AS number
  FROM verdicts WHERE is_leak AND is_headline
)
SELECT g.date, g.project, g.run, r.user_name, r.script, r.gpu, g.subject, g.shape, g.processes, g.bytes_per_step,
       g.steps_to_oom, g.confidence, c.file, c.line, c.function, c.category, c.share, c.kept_by, c.fix, c.what_to_do,
       g.summary, a.headline
FROM grows g JOIN runs r ON r.run = g.run
LEFT JOIN ranks a ON a.run = g.run AND a.process = g.process
LEFT JOIN culprits c ON c.run = g.run AND c.process = g.process AND c.subject = g.subject AND c.place = 1
WHERE g.number = 1
