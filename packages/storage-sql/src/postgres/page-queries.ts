/** The statements of pages of records and documents. Each reads along an index, as many rows as it answers. */
import { isStorable, type KeyRange, type RecordQuery } from "@flyball/core/storage"

/** A statement with its parameters, for the schema `flyball`. */
export interface PageQuery {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
}

/** Columns of a document, of the table `d`. */
export const documentColumns = "d.collection, d.id, d.version::float8 AS version, d.body"

/** Columns of a record. */
export const recordColumns = "seq::float8 AS seq, at_ms::float8 AS at_ms, kind, agent_id, hash, bytes"

/** The two kinds that fill a chain; the indexes by kind leave them out. */
const busyKinds = ["decision.witnessed", "decision.settled"]

/** The statement of a range of a look-up key. Its order names every column of the index, so that it is walked. */
export const rangeQuery = (collection: string, key: string, { after, before, limit, order }: KeyRange): PageQuery => {
  const params: Array<unknown> = []
  const bind = (value: string, type: string): string => `$${params.push(value)}::${type}`
  const where = [`k.collection = ${bind(collection, "text")}`, `k.key = ${bind(key, "text")}`]
  if (after !== undefined) where.push(`k.value > ${bind(after, "text")}`)
  if (before !== undefined) where.push(`k.value < ${bind(before, "text")}`)
  const direction = order === "desc" ? "DESC" : "ASC"
  // The keys are bounded before the join, and each document is looked up (`OFFSET 0`): otherwise Postgres may read all.
  const sql = `SELECT ${documentColumns} FROM (
      SELECT k.collection, k.value, k.id FROM flyball.document_keys k WHERE ${where.join(" AND ")}
      ORDER BY k.value ${direction}, k.id ${direction} LIMIT ${bind(String(limit), "int8")}
    ) k CROSS JOIN LATERAL (
      SELECT * FROM flyball.documents d WHERE d.collection = k.collection AND d.id = k.id OFFSET 0
    ) d ORDER BY k.value ${direction}, k.id ${direction}`
  return { sql, params }
}

/**
 * The statement of a page of records.
 *
 * An agent is queried as a range of one, and the order names it first: otherwise Postgres may walk the whole chain for
 * an agent that has few records. Rare kinds have an index of their own for each agent.
 */
export const recordsQuery = ({ from, to, limit, kinds, agentId, order }: RecordQuery): PageQuery => {
  const params: Array<unknown> = []
  const bind = (value: unknown, type: string): string => `$${params.push(value)}::${type}`
  const where: Array<string> = []
  if (from !== undefined) where.push(`seq >= ${bind(String(from), "int8")}`)
  if (to !== undefined) where.push(`seq <= ${bind(String(to), "int8")}`)
  if (agentId !== undefined) {
    const agent = bind(isStorable(agentId) ? agentId : "", "text")
    where.push(isRare(kinds) ? `agent_id = ${agent}` : `agent_id >= ${agent} AND agent_id <= ${agent}`)
  }
  const direction = order === "desc" ? "DESC" : "ASC"
  if (kinds !== undefined) {
    const named = bind([...new Set(kinds.filter(isStorable))], "text[]")
    if (isRare(kinds)) return { sql: kindsSql(where, direction, named, bind(String(limit), "int8")), params }
    where.push(`kind = ANY (${named})`)
  }
  // `seq` by itself is the column of the answer, whose type is another: then no index gives the order.
  const condition = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`
  const sql = `SELECT ${recordColumns} FROM flyball.records r ${condition}
    ORDER BY ${agentId === undefined ? "" : `r.agent_id ${direction}, `}r.seq ${direction}
    LIMIT ${bind(String(limit), "int8")}`
  return { sql, params }
}

const isRare = (kinds: RecordQuery["kinds"]): boolean =>
  kinds !== undefined && !busyKinds.some((kind) => kinds.includes(kind))

const notBusy = `kind NOT IN (${busyKinds.map((kind) => `'${kind}'`).join(", ")})`

/**
 * The statement of a page of rare kinds: one walk along the index for each, of which the first in the order of all are
 * read whole. `OFFSET 0` keeps Postgres from joining the chain in any other way.
 */
const kindsSql = (where: ReadonlyArray<string>, direction: string, kinds: string, limit: string): string =>
  `SELECT r.* FROM (
      SELECT w.seq FROM unnest(${kinds}) AS k(kind) CROSS JOIN LATERAL (
        SELECT seq FROM flyball.records WHERE ${[...where, "kind = k.kind", notBusy].join(" AND ")}
        ORDER BY seq ${direction} LIMIT ${limit}
      ) w ORDER BY w.seq ${direction} LIMIT ${limit}
    ) s CROSS JOIN LATERAL (SELECT ${recordColumns} FROM flyball.records WHERE seq = s.seq OFFSET 0) r
    ORDER BY r.seq ${direction}`
