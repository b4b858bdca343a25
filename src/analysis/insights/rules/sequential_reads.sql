-- id: sequential-reads
-- severity: good
-- title: Reads are in order
-- says: {share:percent} of {calls:count} reads go forward in their files, {next:percent} right behind the one before: readahead helps them
-- try: nothing; the pattern is good
WITH sums AS (
  SELECT sum(positioned) AS calls, sum(consecutive) AS next, sum(consecutive + forward) AS ordered
  FROM io WHERE direction = 'read')
SELECT CAST(calls AS BIGINT) AS calls, 100 * next / calls AS next, 100 * ordered / calls AS share
FROM sums WHERE calls >= 1000 AND ordered >= 0.8 * calls
-- evidence:
SELECT file, name, positioned, consecutive, forward FROM io WHERE direction = 'read' AND positioned > 0
ORDER BY positioned DESC LIMIT 50
