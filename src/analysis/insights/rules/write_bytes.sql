-- id: more-bytes-written
-- severity: good
-- of: write
-- title: Mostly writes, by bytes
-- says: {share:percent} of the {bytes:bytes} moved were writes
-- place: events where layer IN @io AND category = 'write'
-- try: look at writes first
WITH sums AS (SELECT sum(bytes) FILTER (direction = 'write') AS part, sum(bytes) AS bytes FROM io)
SELECT CAST(bytes AS BIGINT) AS bytes, 100 * part / bytes AS share FROM sums
WHERE bytes >= 16777216 AND part >= 0.55 * bytes
-- evidence:
SELECT file, direction, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY ALL ORDER BY bytes DESC LIMIT 50
