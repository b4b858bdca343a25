-- id: more-writes-than-reads
-- severity: good
-- of: write
-- title: Mostly writes, by calls
-- says: {share:percent} of {calls:count data call} were writes
-- place: events where layer IN @io AND category = 'write'
-- try: look at writes first
WITH sums AS (SELECT sum(calls) FILTER (direction = 'write') AS writes, sum(calls) AS calls FROM io)
SELECT CAST(calls AS BIGINT) AS calls, 100 * writes / calls AS share FROM sums
WHERE calls >= 1000 AND writes >= 0.55 * calls
-- evidence:
SELECT layer, direction, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY ALL ORDER BY calls DESC LIMIT 50
