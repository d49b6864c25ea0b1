/**
 * Lies of an operator who holds the key: for each kind of record and each member of its body, what it could say
 * instead. The catalogue makes them, so that a new kind or member has its lies without anybody who writes them.
 */
import { checkBody, type JsonObject, portableCrypto, recordKinds } from "@flyball/evidence"
import { FourEyes } from "../../../apps/verify/src/replay/four-eyes.ts"
import type { MemberType } from "../../../packages/evidence/src/kinds/members.ts"
import { Recomputation, type ReplayRecord } from "../../../packages/rules/src/index.ts"
import { mayWrite, serviceWriters, writersOfKinds } from "../../../packages/rules/src/records/writers-of-kinds.ts"

/** A record with its own time. */
export interface Timed {
  readonly record: ReplayRecord
  readonly atMs: number
}

/** A history that was altered. `what`: the member, or the step. */
export interface Lie {
  readonly what: string
  readonly records: ReadonlyArray<Timed>
}

const YEAR_MS = 31_622_400_000
/** A kind that no rule reads: stands where a record was left out, so that seqs stay. */
const NOTHING: Pick<ReplayRecord, "body" | "kind" | "parts"> = { kind: "chain.note", body: {}, parts: new Map() }

/** True when replay, or the comparison with the catalogue, finds anything. */
export const isFound = (records: ReadonlyArray<Timed>, origin: string): boolean =>
  records.some(({ record: { body, kind } }) => kind !== NOTHING.kind && checkBody(kind, body) !== null) ||
  findings(records, origin).length > 0

/** A record that is not in order. */
export interface Finding {
  readonly seq: number
  readonly kind: string
  readonly verdict: string
}

/** Lists what replay does not find in order. */
export const findings = (records: ReadonlyArray<Timed>, origin: string): ReadonlyArray<Finding> => {
  const again = new Recomputation({ fromGenesis: true, origin })
  const people = new FourEyes({
    compare: (record) => again.compare(record),
    fromGenesis: true,
    sha256: portableCrypto.sha256
  })
  return records.flatMap(({ atMs, record }) =>
    [people.take(record, 0), again.take(record, atMs)].flatMap((one) =>
      one === null || one.verdict === "ok" ? [] : [{ seq: record.seq, kind: record.kind, verdict: one.verdict }]
    )
  )
}

/** Another value of a type, which the catalogue allows; none where there is no other. */
const others = (type: MemberType, value: unknown): ReadonlyArray<unknown> => {
  switch (type.type) {
    case "id":
      return [`${type.prefix}${"0".repeat(26)}`]
    case "enum":
      return type.values.filter((one) => one !== value)
    case "integer":
      return [Number(value) + 1, Number(value) - 1, Number(value) - YEAR_MS, Number(value) + YEAR_MS].filter(
        (one) => one >= type.min && one <= type.max
      )
    case "boolean":
      return [value !== true]
    case "instant":
      return [-YEAR_MS, YEAR_MS].map((by) => new Date(Date.parse(String(value)) + by).toISOString())
    case "hash":
      return ["0a".repeat(32)]
    case "name":
    case "foreign_name":
      return ["other"]
    case "key_id":
      return ["512011be"]
    case "part_name":
      return ["other"]
    case "list": {
      if (!Array.isArray(value)) return []
      const [first, ...rest] = value as ReadonlyArray<unknown>
      return [
        ...(value.length > type.min ? [rest] : []),
        ...(value.length > 0 ? others(type.of, first).map((other) => [other, ...rest]) : [])
      ]
    }
    case "object": {
      const members = value as { readonly [name: string]: unknown }
      return type.members.flatMap(({ name, type: inner }) =>
        members[name] === undefined ? [] : others(inner, members[name]).map((other) => ({ ...members, [name]: other }))
      )
    }
    case "writer":
      return [`usr_${"0".repeat(26)}`]
    default:
      return []
  }
}

const writers = [
  `usr_${"0".repeat(26)}`,
  `key_${"0".repeat(26)}`,
  "breaker:other",
  "policy:orphan",
  "policy:other",
  ...serviceWriters
]

/** Every lie about the record at a place of a history. */
export const liesAbout = (history: ReadonlyArray<Timed>, at: number): ReadonlyArray<Lie> => {
  const { atMs, record } = history[at]!
  const { body, kind } = record
  const row = recordKinds.find((one) => one.kind === kind)!
  const instead = (what: string, of: ReplayRecord, ms = atMs): Lie => ({
    what,
    records: history.with(at, { record: of, atMs: ms })
  })
  const gone = { ...record, ...NOTHING }
  const last = history.at(-1)!
  const again = { record: { ...record, seq: last.record.seq + 1 }, atMs: last.atMs }
  return [
    ...row.body.flatMap(({ name, required, type }) => {
      const { [name]: value, ...rest } = body
      if (value === undefined || name === "writer") return []
      return [
        ...(required ? [] : [instead(`${name} left out`, { ...record, body: rest })]),
        ...others(type, value).map((other) => {
          const said = { ...body, [name]: other } as JsonObject
          return instead(name, { ...record, body: said as ReplayRecord["body"] })
        })
      ]
    }),
    ...(writersOfKinds[kind] === undefined ? [] : writers)
      .filter((writer) => !mayWrite(kind, writer))
      .map((writer) => instead("writer", { ...record, body: { ...body, writer } })),
    instead("left out", gone),
    { what: "twice", records: [...history, again] },
    { what: "moved", records: [...history.with(at, { record: gone, atMs }), again] }
  ]
}
