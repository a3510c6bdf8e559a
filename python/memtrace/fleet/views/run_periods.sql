-- SPDX-License-Identifier: Apache-2.0
-- A row is a run in a period of `periods`: of its days, and with its label where it has one.
CREATE OR REPLACE TEMPORARY VIEW run_periods AS
SELECT r.run, p.period
FROM runs r JOIN periods p
  ON (p.first_date IS NULL OR r.date >= p.first_date) AND (p.last_date IS NULL OR r.date <= p.last_date)
WHERE p.label IS NULL
UNION
SELECT r.run, p.period
FROM runs r JOIN labels l ON l.run = r.run
JOIN periods p ON p.label = l.label AND p.label_value = l.label_value
WHERE (p.first_date IS NULL OR r.date >= p.first_date) AND (p.last_date IS NULL OR r.date <= p.last_date)
