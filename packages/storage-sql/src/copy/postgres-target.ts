/** Writing all rows into an empty Postgres store. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inSchema } from "../postgres/migrations.ts"
import { intArray, nullableInts } from "../postgres/sessions.ts"
import type { Page, PartRow } from "./rows.ts"

const text = {
  records: `INSERT INTO flyball.records (seq, at_ms, kind, agent_id, hash, bytes)
    SELECT seq, at_ms, kind, nullif(agent, ''), hash, bytes FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]) AS r(seq, at_ms, kind, agent, hash, bytes)`,
  parts: "INSERT INTO flyball.parts (seq, name, salt, bytes) SELECT * FROM unnest($1::int8[], $2::text[], $3::bytea[], $4::bytea[])",
  erased: "INSERT INTO flyball.parts (seq, name, erased_by) SELECT * FROM unnest($1::int8[], $2::text[], $3::int8[])",
  once: "INSERT INTO flyball.once (scope, key, seq, digest) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::bytea[])",
  nodes: "INSERT INTO flyball.nodes (level, index, hash) SELECT * FROM unnest($1::int2[], $2::int8[], $3::bytea[])",
  documents: "INSERT INTO flyball.documents (collection, id, version, body) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::text[])",
  documentKeys: "INSERT INTO flyball.document_keys (collection, key, value, id, single) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bool[])",
  events: "INSERT INTO flyball.events (id, type, at_ms, seq, hash, data) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::bytea[], $6::text[])",
  deliveries: `INSERT INTO flyball.deliveries (id, event_id, endpoint_id, sequence, state, attempts, created_at_ms, next_at_ms, lease_until_ms, finished_at_ms)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int2[], $6::int4[], $7::int8[], $8::int8[], $9::int8[], $10::int8[])`,
  attempts: `INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt)
    SELECT delivery_id, attempt, started_at_ms, ended_at_ms, status_code, nullif(error_code, ''), excerpt
    FROM unnest($1::text[], $2::int4[], $3::int8[], $4::int8[], $5::int4[], $6::text[], $7::text[])
      AS a(delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt)`,
  sequences: `WITH s AS (INSERT INTO flyball.sequences (endpoint_id, sequence) SELECT * FROM unnest($1::text[], $2::int8[]) RETURNING endpoint_id)
    INSERT INTO flyball.turns (endpoint_id, turn) SELECT endpoint_id, 0 FROM s`
}

/** Writes one page inside the caller's transaction, and answers how many rows that made. */
export const writePostgresPage = Effect.fnUntraced(function*(connection: PgConnection, schema: string, page: Page): Effect.fn.Return<number, SqlError> {
  let written = 0
  for (const [name, params] of statementsOf(page)) written += (yield* connection.query(inSchema(text[name], schema), params)).rowCount
  return written
})

type Statement = readonly [name: keyof typeof text, params: ReadonlyArray<unknown>]

const statementsOf = (page: Page): ReadonlyArray<Statement> => {
  switch (page.table) {
    case "records": {
      const { rows } = page
      return [["records", [
        intArray(rows.map(({ seq }) => seq)), intArray(rows.map(({ atMs }) => atMs)), rows.map(({ kind }) => kind), rows.map(({ agentId }) => agentId ?? ""),
        rows.map(({ hash }) => hash), rows.map(({ bytes }) => bytes)
      ]]]
    }
    case "parts":
      return partStatements(page.rows)
    case "once": {
      const { rows } = page
      return [["once", [rows.map(({ scope }) => scope), rows.map(({ key }) => key), intArray(rows.map(({ seq }) => seq)), rows.map(({ digest }) => digest)]]]
    }
    case "nodes": {
      const { rows } = page
      return [["nodes", [intArray(rows.map(({ level }) => level)), intArray(rows.map(({ index }) => index)), rows.map(({ hash }) => hash)]]]
    }
    case "documents": {
      const { rows } = page
      return [["documents", [rows.map(({ collection }) => collection), rows.map(({ id }) => id), intArray(rows.map(({ version }) => version)), rows.map(({ body }) => body)]]]
    }
    case "documentKeys": {
      const { rows } = page
      return [["documentKeys", [
        rows.map(({ collection }) => collection), rows.map(({ key }) => key), rows.map(({ value }) => value), rows.map(({ id }) => id), rows.map(({ single }) => single)
      ]]]
    }
    case "events": {
      const { rows } = page
      return [["events", [
        rows.map(({ id }) => id), rows.map(({ type }) => type), intArray(rows.map(({ atMs }) => atMs)), intArray(rows.map(({ seq }) => seq)), rows.map(({ hash }) => hash),
        rows.map(({ data }) => data)
      ]]]
    }
    case "deliveries": {
      const { rows } = page
      return [["deliveries", [
        rows.map(({ id }) => id), rows.map(({ eventId }) => eventId), rows.map(({ endpointId }) => endpointId), intArray(rows.map(({ sequence }) => sequence)),
        intArray(rows.map(({ state }) => state)), intArray(rows.map(({ attempts }) => attempts)), intArray(rows.map(({ createdAtMs }) => createdAtMs)),
        nullableInts(rows.map(({ nextAttemptAtMs }) => nextAttemptAtMs)), nullableInts(rows.map(({ leaseUntilMs }) => leaseUntilMs)), nullableInts(rows.map(({ finishedAtMs }) => finishedAtMs))
      ]]]
    }
    case "attempts": {
      const { rows } = page
      return [["attempts", [
        rows.map(({ deliveryId }) => deliveryId), intArray(rows.map(({ attempt }) => attempt)), intArray(rows.map(({ startedAtMs }) => startedAtMs)),
        nullableInts(rows.map(({ endedAtMs }) => endedAtMs)), nullableInts(rows.map(({ statusCode }) => statusCode)), rows.map(({ errorCode }) => errorCode ?? ""), rows.map(({ excerpt }) => excerpt)
      ]]]
    }
    case "sequences": {
      const { rows } = page
      return [["sequences", [rows.map(({ endpointId }) => endpointId), intArray(rows.map(({ sequence }) => sequence))]]]
    }
  }
}

const partStatements = (rows: ReadonlyArray<PartRow>): ReadonlyArray<Statement> => {
  const present: Array<{ readonly seq: number; readonly name: string; readonly salt: Uint8Array; readonly bytes: Uint8Array }> = []
  const erased: Array<{ readonly seq: number; readonly name: string; readonly erasedBy: number }> = []
  for (const { bytes, erasedBy, name, salt, seq } of rows) {
    if (salt !== null && bytes !== null) present.push({ seq, name, salt, bytes })
    else if (erasedBy !== null) erased.push({ seq, name, erasedBy })
  }
  return [
    ...present.length === 0 ? [] : [["parts", [intArray(present.map(({ seq }) => seq)), present.map(({ name }) => name), present.map(({ salt }) => salt), present.map(({ bytes }) => bytes)]] as const],
    ...erased.length === 0 ? [] : [["erased", [intArray(erased.map(({ seq }) => seq)), erased.map(({ name }) => name), intArray(erased.map(({ erasedBy }) => erasedBy))]] as const]
  ]
}
