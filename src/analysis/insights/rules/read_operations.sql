-- id: more-reads-than-writes
-- severity: good
-- of: read
-- title: Mostly reads, by calls
-- says: {share:percent} of {calls:count data call} were reads
-- place: events where layer IN @io AND category = 'read'
-- try: look at reads first
WITH sums AS (SELECT sum(calls) FILTER (direction = 'read') AS reads, sum(calls) AS calls FROM io)
SELECT CAST(calls AS BIGINT) AS calls, 100 * reads / calls AS share FROM sums
WHERE calls >= 1000 AND reads >= 0.55 * calls
-- evidence:
SELECT layer, direction, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY ALL ORDER BY calls DESC LIMIT 50
