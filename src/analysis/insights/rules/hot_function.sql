-- id: hot-function
-- severity: low
-- of: samples 200
-- title: One function uses most of the CPU time
-- says: {name:text} used {self:ns} of CPU time, {share:percent} of what the program used
-- place: samples where event = 'cpu-clock' AND stack IN (SELECT stack FROM frames GROUP BY stack HAVING max_by("function", depth) = {name:sql})
-- try: call it less often or make it do less; 'fathom report TRACE lines' shows which of its lines take the time
WITH taken AS (SELECT stack, weight FROM samples WHERE event = 'cpu-clock'),
cpu AS (SELECT sum(weight) AS time, count(*) AS samples FROM taken),
leaves AS (
  SELECT stack, max_by("function", depth) AS name, max_by(coalesce(module, ''), depth) AS module
  FROM (SELECT DISTINCT stack, depth, "function", module FROM frames) GROUP BY stack),
top AS (SELECT l.name, l.module, sum(t.weight) AS self FROM taken t JOIN leaves l USING (stack) GROUP BY l.name, l.module ORDER BY self DESC LIMIT 1)
SELECT t.name AS name, CAST(t.self AS BIGINT) AS self, 100 * t.self / c.time AS share FROM top t, cpu c, totals r
WHERE c.samples >= 200 AND t.self > 0.5 * c.time AND c.time > 0.5 * r.wall
  AND t.name IS NOT NULL AND t.module NOT LIKE '[kernel%' AND NOT regexp_matches(t.name, '[+]0x|^unknown$')
-- evidence:
SELECT * FROM hot ORDER BY self DESC LIMIT 50
