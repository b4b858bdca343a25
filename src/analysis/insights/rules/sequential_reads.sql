-- id: sequential-reads
-- severity: good
-- of: read
-- title: Reads are sequential
-- says: {share:percent} of {calls:count read} went forward in their files, and {next:percent} began where the last one ended: readahead helps them
-- place: events where layer IN @io AND category = 'read'
-- try: nothing; this pattern is good
WITH sums AS (
  SELECT sum(positioned) AS calls, sum(consecutive) AS next, sum(ordered) AS ordered
  FROM io WHERE direction = 'read')
SELECT CAST(calls AS BIGINT) AS calls, 100 * next / calls AS next, 100 * ordered / calls AS share
FROM sums WHERE calls >= 1000 AND ordered >= 0.8 * calls
-- evidence:
SELECT file, name, positioned, consecutive, forward FROM io WHERE direction = 'read' AND positioned > 0
ORDER BY positioned DESC LIMIT 50
