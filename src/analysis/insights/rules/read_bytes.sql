-- id: more-bytes-read
-- severity: good
-- of: read
-- title: Mostly reads, by bytes
-- says: {share:percent} of the {bytes:bytes} moved were reads
-- place: events where layer IN @io AND category = 'read'
-- try: look at reads first
WITH sums AS (SELECT sum(bytes) FILTER (direction = 'read') AS part, sum(bytes) AS bytes FROM io)
SELECT CAST(bytes AS BIGINT) AS bytes, 100 * part / bytes AS share FROM sums
WHERE bytes >= 16777216 AND part >= 0.55 * bytes
-- evidence:
SELECT file, direction, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY ALL ORDER BY bytes DESC LIMIT 50
