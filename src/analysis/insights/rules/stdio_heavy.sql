-- id: stdio-bytes
-- severity: medium
-- title: Much data goes through stdio
-- says: {share:percent} of the bytes ({bytes:bytes}) went through stdio, which copies every byte once more and takes a lock per call
-- gain:
-- try: read and write bulk data with read, pread or mmap; keep stdio for text
WITH sums AS (
  SELECT sum(bytes) FILTER (layer = 'stdio') AS stdio, sum(bytes) AS every,
         sum(self) FILTER (layer = 'stdio') AS time FROM io)
SELECT 100 * s.stdio / s.every AS share, CAST(s.stdio AS BIGINT) AS bytes FROM sums s, totals t
WHERE s.stdio > 0.1 * s.every AND s.stdio >= 16777216 AND s.time > 0.02 * t.thread_time
-- evidence:
SELECT file, name, calls, bytes, self FROM io WHERE layer = 'stdio' ORDER BY bytes DESC LIMIT 50
