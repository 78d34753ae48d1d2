SELECT bucket, uniqExact(/*keys*/)
FROM (
/*parts*/
)
WHERE /*figures*/
GROUP BY bucket
ORDER BY bucket
