-- id: events-lost
-- severity: medium
-- title: The recording is incomplete
-- says: {lost:count event} got lost ({reason:text}), so all sums are too small
-- try: raise --spool-max, use --when-full block, or record fewer layers or calls (--calls)
SELECT CAST(sum("count") AS BIGINT) AS lost, arg_max(reason, "count") AS reason FROM losses HAVING sum("count") > 0
-- evidence:
SELECT layer, reason, "count" FROM losses ORDER BY "count" DESC
