-- id: small-reads
-- severity: high
-- of: read 1000
-- title: Many small reads
-- says: {calls:count read} of less than 64 KiB (about {each:bytes} each) took {time:ns}, {share:percent} of the run
-- gain: the calls that 1 MiB reads in order would save, each at the cost of a typical one without the copying of its bytes
-- place: events where layer IN @io AND category = 'read' AND bytes < 65536 AND file = {worst:sql}
-- try: read larger blocks (setvbuf, a buffered reader, bigger records), or rely on readahead or mmap; worst file: {worst:text}
WITH few AS (
  SELECT file, calls, typical, small, small_bytes, small_time, small_bytes / small AS each,
         1 - random / greatest(positioned, 1) AS together FROM io  -- what lies apart cannot be read at once
  WHERE direction = 'read' AND sizes IS NOT NULL AND small > 0 AND calls > 0
    AND (layer = 'posix' OR (typical > 500 AND name IN ('fread', 'fread_unlocked', 'fgetc', 'getc', 'fgets')))),
sums AS (
  SELECT sum(small) AS calls, sum(calls) AS all_calls, sum(small_bytes) AS bytes, sum(small_time) AS time,
         sum(greatest(small - small * each / 1048576, 0) * together * greatest(typical - each / 8, 0)) AS gain
  FROM few),
worst AS (SELECT file FROM few GROUP BY file ORDER BY sum(small_time) DESC, file LIMIT 1)
SELECT CAST(s.calls AS BIGINT) AS calls, s.bytes / s.calls AS each, s.time AS time,
       100 * least(s.time / p.at_once / t.wall, 1) AS share, w.file AS worst, CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, worst w, totals t, pace p WHERE s.calls >= 1000 AND s.calls > 0.1 * s.all_calls
-- evidence:
SELECT file, layer, name, calls, small, bytes // nullif(calls - errors, 0) AS bytes_per_call, self
FROM io WHERE direction = 'read' AND small > 0 ORDER BY self DESC LIMIT 50
