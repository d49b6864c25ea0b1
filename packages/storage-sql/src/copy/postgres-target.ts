/** Writing all rows into an empty Postgres store. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inSchema } from "../postgres/migrations.ts"
import { intArray } from "../postgres/sessions.ts"
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
  deliveries: "INSERT INTO flyball.deliveries (id, event_type, seq, hash, body) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[], $4::bytea[], $5::text[])"
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
    case "deliveries": {
      const { rows } = page
      return [["deliveries", [
        rows.map(({ id }) => id), rows.map(({ eventType }) => eventType), intArray(rows.map(({ seq }) => seq)), rows.map(({ hash }) => hash), rows.map(({ body }) => body)
      ]]]
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
