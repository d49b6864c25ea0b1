/** Numbers and names that the host, the writer and the reader of a SQLite store share. It imports nothing. */

/** Parts are keyed `seq * 32 + position`: a record has at most 32. Exact while seq is under 2^48. */
export const partsPerRecord = 32

/** The name of a database that lives in memory. */
export const inMemory = ":memory:"
