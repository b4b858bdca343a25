-- id: small-writes
-- severity: high
-- of: write 1000
-- title: Many small writes
-- says: {calls:count write} of less than 64 KiB (about {each:bytes} each) took {time:ns}, {share:percent} of the run
-- gain: the calls that 1 MiB writes in order would save, each at the cost of a typical one without the copying of its bytes
-- place: events where layer IN @io AND category = 'write' AND bytes < 65536 AND file = {worst:sql}
-- try: buffer output and write it in large blocks, or use writev; worst file: {worst:text}
WITH few AS (
  SELECT file, calls, typical, small, small_bytes, small_time, small_bytes / small AS each,
         1 - random / greatest(positioned, 1) AS together FROM io  -- what lies apart cannot be written at once
  WHERE direction = 'write' AND sizes IS NOT NULL AND small > 0 AND calls > 0
    AND (layer = 'posix' OR (typical > 500 AND name IN ('fwrite', 'fwrite_unlocked', 'fputc', 'putc', 'fputs', 'puts')))),
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
FROM io WHERE direction = 'write' AND small > 0 ORDER BY self DESC LIMIT 50
