-- id: random-reads
-- severity: high
-- of: read 1000
-- title: Random reads
-- says: {random:count} of {calls:count read} ({share:percent}) went backwards or jumped, in {files:count file}; such a call took {each:ns}
-- gain: what these calls took beyond 2 us and 1 ns a byte, as in order; none if the page cache holds the file
-- place: events where layer IN @io AND category = 'read' AND file = {worst:sql}
-- try: sort accesses by offset, use a format that is read in order, or load the file into memory; worst file: {worst:text}
WITH per_file AS (
  SELECT file, sum(positioned) AS calls, sum(random) AS random, sum(self * random / calls) AS time,
         sum(random * greatest((self - bytes) / calls - 2000, 0)) AS gain
  FROM io WHERE direction = 'read' AND calls > 0 AND random > 0 GROUP BY file),
sums AS (
  SELECT sum(calls) AS calls, sum(random) AS random, sum(time) AS time, sum(gain) AS gain, count(*) AS files, arg_max(file, time) AS worst
  FROM per_file)
SELECT CAST(s.random AS BIGINT) AS random, CAST(s.calls AS BIGINT) AS calls, 100 * s.random / s.calls AS share, s.files AS files,
       s.time / s.random AS each, s.worst AS worst, CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.random >= 1000 AND s.random > 0.2 * s.calls AND s.gain > 0
-- evidence:
SELECT file, name, positioned, consecutive, forward, random, bytes, self
FROM io WHERE direction = 'read' AND random > 0 ORDER BY random DESC LIMIT 50
