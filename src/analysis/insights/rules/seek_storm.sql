-- id: seek-before-each-call
-- severity: low
-- of: seek 1000
-- title: A seek before nearly every read or write
-- says: {seeks:count seek} for {calls:count} reads and writes took {time:ns}
-- gain: the time of the seeks
-- place: events where layer IN @io AND category = 'seek'
-- try: use pread and pwrite, which take the offset and save the seek
WITH seeks AS (SELECT sum(calls) AS calls, sum(self) AS time FROM summary WHERE layer IN @io AND category = 'seek' AND name IN ('lseek', 'fseek', 'fseeko')),
data AS (SELECT sum(calls) AS calls FROM io)
SELECT CAST(s.calls AS BIGINT) AS seeks, CAST(d.calls AS BIGINT) AS calls, CAST(s.time AS BIGINT) AS time, CAST(s.time / p.at_once AS BIGINT) AS gain
FROM seeks s, data d, pace p WHERE s.calls >= 1000 AND s.calls > 0.5 * d.calls
-- evidence:
SELECT layer, name, file, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM summary WHERE layer IN @io AND category = 'seek'
GROUP BY ALL ORDER BY calls DESC LIMIT 50
