-- id: sequential-writes
-- severity: good
-- of: write
-- title: Writes are sequential
-- says: {share:percent} of {calls:count write} went forward in their files, and {next:percent} began where the last one ended
-- place: events where layer IN @io AND category = 'write'
-- try: nothing; this pattern is good
WITH sums AS (
  SELECT sum(positioned) AS calls, sum(consecutive) AS next, sum(ordered) AS ordered
  FROM io WHERE direction = 'write')
SELECT CAST(calls AS BIGINT) AS calls, 100 * next / calls AS next, 100 * ordered / calls AS share
FROM sums WHERE calls >= 1000 AND ordered >= 0.8 * calls
-- evidence:
SELECT file, name, positioned, consecutive, forward FROM io WHERE direction = 'write' AND positioned > 0
ORDER BY positioned DESC LIMIT 50
