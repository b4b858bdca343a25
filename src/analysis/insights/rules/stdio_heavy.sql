-- id: stdio-bytes
-- severity: medium
-- of: stdio
-- title: Much data goes through stdio in small calls
-- says: {share:percent} of the bytes ({bytes:bytes}) went through stdio in calls of {each:bytes} on average, which copies every byte once more and takes a lock per call
-- gain: a lock of 20 ns for each call, and 1 ns for each 8 bytes
-- place: events where layer = 'stdio' AND category IN ('read', 'write') AND NOT suffix(name, '_unlocked')
-- try: read and write bulk data with read, pread or mmap; keep stdio for text
WITH sums AS (
  SELECT sum(bytes) FILTER (locks) AS stdio, sum(bytes) AS every, sum(calls) FILTER (locks) AS calls, sum(calls - errors) FILTER (locks) AS moved
  FROM (SELECT *, layer = 'stdio' AND NOT suffix(name, '_unlocked') AS locks FROM io))
SELECT 100 * s.stdio / s.every AS share, CAST(s.stdio AS BIGINT) AS bytes, s.stdio / s.moved AS each,
       CAST((20 * s.calls + s.stdio / 8) / p.at_once AS BIGINT) AS gain FROM sums s, pace p
WHERE s.stdio > 0.1 * s.every AND s.stdio >= 16777216 AND s.stdio < 4096 * s.moved
-- evidence:
SELECT file, name, calls, bytes, self FROM io WHERE layer = 'stdio' ORDER BY bytes DESC LIMIT 50
