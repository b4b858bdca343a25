-- id: random-writes
-- severity: high
-- title: Random writes
-- says: {random:count} of {calls:count write} ({share:percent}) went backwards or jumped, in {files:count file}
-- gain: the seeks on a disk; little if the page cache holds the file
-- try: write in order (append to a log, or sort by offset) and let one writer merge; worst file: {worst:text}
WITH sums AS (
  SELECT sum(positioned) AS calls, sum(random) AS random, sum(self) AS time,
         count(DISTINCT file) AS files, arg_max(file, random) AS worst
  FROM io WHERE direction = 'write')
SELECT CAST(s.random AS BIGINT) AS random, CAST(s.calls AS BIGINT) AS calls, 100 * s.random / s.calls AS share, s.files AS files, s.worst AS worst
FROM sums s, totals t WHERE s.random >= 1000 AND s.random > 0.2 * s.calls AND s.time > 0.03 * t.thread_time
-- evidence:
SELECT file, name, positioned, consecutive, forward, random, bytes, self
FROM io WHERE direction = 'write' AND random > 0 ORDER BY random DESC LIMIT 50
