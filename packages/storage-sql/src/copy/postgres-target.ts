/** Writing all rows into an empty Postgres store. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inSchema } from "../postgres/migrations.ts"
import { intArray, nullableInts } from "../postgres/sessions.ts"
import type { AttemptRow, Page, PartRow } from "./rows.ts"

const text = {
  records: `INSERT INTO flyball.records (seq, at_ms, kind, agent_id, hash, bytes)
    SELECT seq, at_ms, kind, nullif(agent, ''), hash, bytes
    FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]) AS r(seq, at_ms, kind,
    agent, hash, bytes)`,
  parts:
    "INSERT INTO flyball.parts (seq, name, salt, bytes) SELECT * FROM unnest($1::int8[], $2::text[], " +
    "$3::bytea[], $4::bytea[])",
  erased: "INSERT INTO flyball.parts (seq, name, erased_by) SELECT * FROM unnest($1::int8[], $2::text[], $3::int8[])",
  once:
    "INSERT INTO flyball.once (scope, key, seq, digest) SELECT * FROM unnest($1::text[], $2::text[], " +
    "$3::int8[], $4::bytea[])",
  nodes: "INSERT INTO flyball.nodes (level, index, hash) SELECT * FROM unnest($1::int2[], $2::int8[], $3::bytea[])",
  documents:
    "INSERT INTO flyball.documents (collection, id, version, body) SELECT * FROM unnest($1::text[], " +
    "$2::text[], $3::int8[], $4::text[])",
  documentKeys:
    "INSERT INTO flyball.document_keys (collection, key, value, id, single) SELECT * FROM unnest($1::text[], " +
    "$2::text[], $3::text[], $4::text[], $5::bool[])",
  events:
    "INSERT INTO flyball.events (id, type, at_ms, seq, hash, data, owner) SELECT id, type, at_ms, seq, hash, data, " +
    "nullif(owner, '') FROM unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::bytea[], $6::text[], " +
    "$7::text[]) AS e(id, type, at_ms, seq, hash, data, owner)",
  deliveries: `WITH d AS (SELECT *
    FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int2[], $6::int4[], $7::int8[], $8::int8[],
    $9::int8[], $10::int8[])
      AS d(id, event_id, endpoint_id, sequence, state, attempts, created_at_ms, next_at_ms, lease_until_ms,
        finished_at_ms)),
    waiting AS (INSERT INTO flyball.pending (endpoint_id, next_at_ms, sequence, delivery_id, event_id, attempts,
    created_at_ms)
      SELECT endpoint_id, next_at_ms, sequence, id, event_id, attempts, created_at_ms FROM d WHERE state = 0),
    flying AS (INSERT INTO flyball.in_flight (endpoint_id, sequence, delivery_id, attempt, started_at_ms,
    lease_until_ms)
      SELECT endpoint_id, sequence, id, attempts, created_at_ms, lease_until_ms FROM d WHERE state = 1)
    INSERT INTO flyball.deliveries (id, event_id, endpoint_id, sequence, state, attempts, created_at_ms, next_at_ms,
    finished_at_ms)
    SELECT id, event_id, endpoint_id, sequence, CASE WHEN state = 1 THEN 0 ELSE state END,
    CASE WHEN state = 1 THEN attempts - 1 ELSE attempts END, created_at_ms, next_at_ms, finished_at_ms FROM d`,
  attempts: `INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code,
    excerpt)
    SELECT delivery_id, attempt, started_at_ms, ended_at_ms, status_code, nullif(error_code, ''), excerpt
    FROM unnest($1::text[], $2::int4[], $3::int8[], $4::int8[], $5::int4[], $6::text[], $7::text[])
      AS a(delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt)`,
  /** Of the attempt that is under way, beside its delivery. */
  open: `UPDATE flyball.in_flight f SET started_at_ms = a.started_at_ms, answer_forgotten = a.excerpt = 'null'
    FROM unnest($1::text[], $2::int8[], $3::text[]) AS a(delivery_id, started_at_ms, excerpt)
    JOIN flyball.deliveries d ON d.id = a.delivery_id WHERE f.endpoint_id = d.endpoint_id AND f.sequence = d.sequence`,
  counters: "INSERT INTO flyball.counters (name, value) SELECT * FROM unnest($1::text[], $2::int8[])",
  sequences: `WITH s AS (INSERT INTO flyball.sequences (endpoint_id, sequence) SELECT *
    FROM unnest($1::text[], $2::int8[]) RETURNING endpoint_id)
    INSERT INTO flyball.turns (endpoint_id, turn) SELECT endpoint_id, 0 FROM s`
}

/** Writes one page inside the caller's transaction, and answers how many rows that made. */
export const writePostgresPage = Effect.fnUntraced(function* (
  connection: PgConnection,
  schema: string,
  page: Page
): Effect.fn.Return<number, SqlError> {
  let written = 0
  for (const [name, params] of statementsOf(page))
    written += (yield* connection.query(inSchema(text[name], schema), params)).rowCount
  return written
})

type Statement = readonly [name: keyof typeof text, params: ReadonlyArray<unknown>]

const statementsOf = (page: Page): ReadonlyArray<Statement> => {
  switch (page.table) {
    case "records": {
      const { rows } = page
      return [
        [
          "records",
          [
            intArray(rows.map(({ seq }) => seq)),
            intArray(rows.map(({ atMs }) => atMs)),
            rows.map(({ kind }) => kind),
            rows.map(({ agentId }) => agentId ?? ""),
            rows.map(({ hash }) => hash),
            rows.map(({ bytes }) => bytes)
          ]
        ]
      ]
    }
    case "parts":
      return partStatements(page.rows)
    case "once": {
      const { rows } = page
      return [
        [
          "once",
          [
            rows.map(({ scope }) => scope),
            rows.map(({ key }) => key),
            intArray(rows.map(({ seq }) => seq)),
            rows.map(({ digest }) => digest)
          ]
        ]
      ]
    }
    case "nodes": {
      const { rows } = page
      return [
        [
          "nodes",
          [
            intArray(rows.map(({ level }) => level)),
            intArray(rows.map(({ index }) => index)),
            rows.map(({ hash }) => hash)
          ]
        ]
      ]
    }
    case "documents": {
      const { rows } = page
      return [
        [
          "documents",
          [
            rows.map(({ collection }) => collection),
            rows.map(({ id }) => id),
            intArray(rows.map(({ version }) => version)),
            rows.map(({ body }) => body)
          ]
        ]
      ]
    }
    case "documentKeys": {
      const { rows } = page
      return [
        [
          "documentKeys",
          [
            rows.map(({ collection }) => collection),
            rows.map(({ key }) => key),
            rows.map(({ value }) => value),
            rows.map(({ id }) => id),
            rows.map(({ single }) => single)
          ]
        ]
      ]
    }
    case "events": {
      const { rows } = page
      return [
        [
          "events",
          [
            rows.map(({ id }) => id),
            rows.map(({ type }) => type),
            intArray(rows.map(({ atMs }) => atMs)),
            intArray(rows.map(({ seq }) => seq)),
            rows.map(({ hash }) => hash),
            rows.map(({ data }) => data),
            rows.map(({ owner }) => owner ?? "")
          ]
        ]
      ]
    }
    case "deliveries": {
      const { rows } = page
      return [
        [
          "deliveries",
          [
            rows.map(({ id }) => id),
            rows.map(({ eventId }) => eventId),
            rows.map(({ endpointId }) => endpointId),
            intArray(rows.map(({ sequence }) => sequence)),
            intArray(rows.map(({ state }) => state)),
            intArray(rows.map(({ attempts }) => attempts)),
            intArray(rows.map(({ createdAtMs }) => createdAtMs)),
            nullableInts(rows.map(({ nextAttemptAtMs }) => nextAttemptAtMs)),
            nullableInts(rows.map(({ leaseUntilMs }) => leaseUntilMs)),
            nullableInts(rows.map(({ finishedAtMs }) => finishedAtMs))
          ]
        ]
      ]
    }
    case "attempts":
      return attemptStatements(page.rows)
    case "counters": {
      const { rows } = page
      return [["counters", [rows.map(({ name }) => name), intArray(rows.map(({ value }) => value))]]]
    }
    case "sequences": {
      const { rows } = page
      return [["sequences", [rows.map(({ endpointId }) => endpointId), intArray(rows.map(({ sequence }) => sequence))]]]
    }
  }
}

const partStatements = (rows: ReadonlyArray<PartRow>): ReadonlyArray<Statement> => {
  const present: Array<{
    readonly seq: number
    readonly name: string
    readonly salt: Uint8Array
    readonly bytes: Uint8Array
  }> = []
  const erased: Array<{ readonly seq: number; readonly name: string; readonly erasedBy: number }> = []
  for (const { bytes, erasedBy, name, salt, seq } of rows) {
    if (salt !== null && bytes !== null) present.push({ seq, name, salt, bytes })
    else if (erasedBy !== null) erased.push({ seq, name, erasedBy })
  }
  return [
    ...(present.length === 0
      ? []
      : [
          [
            "parts",
            [
              intArray(present.map(({ seq }) => seq)),
              present.map(({ name }) => name),
              present.map(({ salt }) => salt),
              present.map(({ bytes }) => bytes)
            ]
          ] as const
        ]),
    ...(erased.length === 0
      ? []
      : [
          [
            "erased",
            [
              intArray(erased.map(({ seq }) => seq)),
              erased.map(({ name }) => name),
              intArray(erased.map(({ erasedBy }) => erasedBy))
            ]
          ] as const
        ])
  ]
}

const attemptStatements = (all: ReadonlyArray<AttemptRow>): ReadonlyArray<Statement> => {
  const rows = all.filter(({ endedAtMs }) => endedAtMs !== null)
  const open = all.filter(({ endedAtMs }) => endedAtMs === null)
  return [
    ...(rows.length === 0
      ? []
      : [
          [
            "attempts",
            [
              rows.map(({ deliveryId }) => deliveryId),
              intArray(rows.map(({ attempt }) => attempt)),
              intArray(rows.map(({ startedAtMs }) => startedAtMs)),
              nullableInts(rows.map(({ endedAtMs }) => endedAtMs)),
              nullableInts(rows.map(({ statusCode }) => statusCode)),
              rows.map(({ errorCode }) => errorCode ?? ""),
              rows.map(({ excerpt }) => excerpt)
            ]
          ] as const
        ]),
    ...(open.length === 0
      ? []
      : [
          [
            "open",
            [
              open.map(({ deliveryId }) => deliveryId),
              intArray(open.map(({ startedAtMs }) => startedAtMs)),
              open.map(({ excerpt }) => excerpt)
            ]
          ] as const
        ])
  ]
}
