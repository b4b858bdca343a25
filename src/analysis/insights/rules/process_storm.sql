-- id: process-storm
-- severity: low
-- title: Many short processes
-- says: {processes:count process} lived for {life:ns} on average; starting one costs about a millisecond and reads its libraries again
-- try: do the work in one process, or keep workers (a pool, xargs with more arguments per call)
WITH lives AS (SELECT host, pid, max("end") - min(start) AS life FROM processes WHERE "end" IS NOT NULL AND start IS NOT NULL GROUP BY host, pid)
SELECT count(*) AS processes, avg(life) AS life FROM lives, totals t WHERE life < 100000000
HAVING count(*) >= 200 AND sum(life) > 0.2 * any_value(t.wall)
-- evidence:
SELECT name, any_value(command) AS command, count(*) AS processes, avg("end" - start) AS life FROM processes WHERE "end" - start < 100000000
GROUP BY name ORDER BY processes DESC LIMIT 50
