-- id: many-small-files
-- severity: medium
-- of: open 1000, read
-- title: Many small files
-- says: The program opened and read {files:count file} of {each:bytes} on average; opening and closing them took {opening:ns}, reading them {reading:ns}
-- gain: the time of opening, closing and reading, without the copying of the bytes
-- place: events where layer IN @io AND category IN ('open', 'close')
-- try: pack samples into larger files (tar shards, HDF5, Parquet, TFRecord)
WITH per_file AS (
  SELECT file, sum(bytes) FILTER (category = 'read') AS bytes, sum(self) FILTER (category = 'read') AS reading,
         sum(self) FILTER (category IN ('open', 'close')) AS opening, sum(calls - errors) FILTER (category = 'open') AS opens,
         nullif(max(extent) FILTER (category = 'read'), 0) AS extent
  FROM data_calls GROUP BY file),
sized AS (SELECT *, coalesce(extent, bytes / opens) AS size FROM per_file WHERE opens > 0 AND bytes > 0),  -- it may be read again and again
sums AS (
  SELECT count(*) AS files, avg(size) AS each, sum(reading) AS reading, sum(opening) AS opening,
         sum(opening + greatest(reading - bytes / 8, 0)) AS gain
  FROM sized WHERE size < 262144)
SELECT s.files AS files, s.each AS each, CAST(s.reading AS BIGINT) AS reading, CAST(s.opening AS BIGINT) AS opening,
       CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.files >= 1000
-- evidence:
SELECT regexp_replace(file, '/[^/]*$', '') AS directory, count(DISTINCT file) AS files, CAST(sum(bytes) FILTER (category = 'read') AS BIGINT) AS bytes,
       CAST(sum(self) FILTER (category IN ('open', 'close')) AS BIGINT) AS opening FROM data_calls
GROUP BY ALL ORDER BY files DESC LIMIT 50
