-- id: events-lost
-- severity: medium
-- title: The recording is not complete
-- says: {lost:count} events were lost ({reason:text}); sums are too small by as much
-- try: a larger --spool-max, --when-full block, fewer layers or --calls
SELECT CAST(sum("count") AS BIGINT) AS lost, arg_max(reason, "count") AS reason FROM losses HAVING sum("count") > 0
-- evidence:
SELECT layer, reason, "count" FROM losses ORDER BY "count" DESC
