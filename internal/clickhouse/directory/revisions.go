package directory

// The updated_at of a row numbers the changes of its key. It is never a clock's
// reading alone: a clock that was ahead once would win over every later change.

// NextRevision is greater than the numbers of all rows that a statement has
// selected, and the time of the change where no clock was ahead. A process that reads a
// row before it changes it holds a lock meanwhile, except for keys and feed links,
// of which revocations alone must not be lost.
const NextRevision = "greatest(now64(9, 'UTC'), max(updated_at) + INTERVAL 1 NANOSECOND)"

// LastRevision is the number of a revocation, the greatest whole second that
// updated_at can hold. Nothing follows it, so a concurrent change of something
// else comes before it, whichever is written first.
const LastRevision = "toDateTime64('2262-04-11 23:47:16', 9, 'UTC')"
