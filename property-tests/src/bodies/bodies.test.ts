/**
 * Records that do not match the catalogue's description of their kind, sealed by the holder of the key: intact, and
 * named where bodies are checked.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canonicalBytes, type JsonObject, type KindRow, recordKinds, utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { type OpenPart, type OpenRecord, sealPack } from "@flyball/testkit"
import { afterAll, describe, expect, it } from "vitest"
import type { BodiesReport } from "../../../apps/verify/src/bodies/bodies-report.ts"
import { run } from "../../../apps/verify/src/run.ts"
import { bodyOf, samples } from "../../../packages/evidence/src/kinds/sample-bodies.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-bodies-"))
afterAll(() => rmSync(scratch, { recursive: true }))

/** Of the origin that samples of record 0 name. */
const origin = "flyball.example/acme/prod"
const at = "2026-11-21T00:00:00.000Z"
const rowOf = (kind: string): KindRow => recordKinds.find((row) => row.kind === kind)!
const disclosed = (name: string, bytes: Uint8Array): OpenPart => ({
  name,
  c: "",
  disclosed: { salt: new Uint8Array(32), bytes },
  erasingSeq: null
})
const withheld = (name: string): OpenPart => ({ name, c: "0a".repeat(32), disclosed: null, erasingSeq: null })
const record = (kind: string, body: unknown, parts: ReadonlyArray<OpenPart> = []): OpenRecord => ({
  at,
  kind,
  body: body as JsonObject,
  parts
})
const genesis = record("chain.genesis", bodyOf(rowOf("chain.genesis").body, true))

const called = async (records: ReadonlyArray<OpenRecord>, ...flags: ReadonlyArray<string>) => {
  const header = { created: at, filter: {}, from: 0, generator: "test/1", kind: "full", to: 0, tree_size: 1 } as const
  const { pack, vkey } = await sealPack(nodeCrypto, { header, origin, records }, new Uint8Array(32).fill(7))
  const file = join(scratch, "a.evp")
  writeFileSync(file, pack)
  let out = ""
  const status = await run([file, "--vkey", vkey, ...flags], {
    out: async (text) => void (out += text),
    err: async (text) => void (out += text),
    nowMs: () => 0,
    isTerminal: false
  })
  return { status, out }
}
const compared = async (records: ReadonlyArray<OpenRecord>) => {
  const { out, status } = await called(records, "--bodies", "--json")
  const {
    bodies,
    not_checked: notChecked,
    verdicts
  } = JSON.parse(out) as {
    readonly bodies: BodiesReport | null
    readonly not_checked: ReadonlyArray<string>
    readonly verdicts: { readonly integrity: string }
  }
  return { status, bodies, notChecked, integrity: verdicts.integrity }
}

/**
 * Bodies that a row does not allow: each member left out, of another type, out of its bounds, and one member more. What
 * JSON or a record cannot hold is left out.
 */
const wrongBodies = ({ body: members }: KindRow): ReadonlyArray<unknown> => {
  const body = bodyOf(members, true)
  return [
    ...members.flatMap(({ name, required, type }) => {
      const { [name]: _, ...rest } = body
      return [
        ...(required ? [rest] : []),
        ...[...samples(type).bad, null, true, [[]], ...(type.type === "object" ? [] : [{}])]
          .filter((value) => value !== 0.5 && value !== Number.MAX_SAFE_INTEGER + 1)
          .filter((value) => typeof value !== "string" || value.isWellFormed())
          .filter((value) => !samples(type).good.includes(value as never))
          .map((value) => ({ ...body, [name]: value }))
      ]
    }),
    { ...body, a: 1 },
    { ...body, zz: "free text" },
    { ...body, ["__proto__x"]: {} }
  ]
}
const goodBodies = ({ body: members }: KindRow): ReadonlyArray<unknown> => [
  bodyOf(members, false),
  ...members.flatMap(({ name, type }) =>
    samples(type).good.map((value) => ({ ...bodyOf(members, true), [name]: value }))
  )
]

/** Kinds whose bodies every verifier reads. */
const read: ReadonlySet<string> = new Set(["chain.genesis", "key.rotated", "part.erased"])

describe.each(recordKinds.filter(({ kind }) => !read.has(kind)).map((row) => [row.kind, row] as const))(
  "%s",
  (kind, row) => {
    it("is accepted as the catalogue describes it, with and without optional members", async () => {
      const records = [
        genesis,
        ...goodBodies(row).map((body) =>
          record(
            kind,
            body,
            row.parts.map(({ name }) => disclosed(name, utf8("{}")))
          )
        )
      ]
      expect(await compared(records)).toEqual({
        status: 0,
        integrity: "ok",
        notChecked: [],
        bodies: { records: records.length, wrong: 0, unknown: 0, problems: [] }
      })
    })

    it("is intact but reported with another body or other parts", async () => {
      const body = bodyOf(row.body, true)
      const others = ["note", ...recordKinds.flatMap(({ parts }) => parts.map(({ name }) => name))].filter(
        (name) => !row.parts.some((part) => part.name === name)
      )
      const wrong = [
        ...wrongBodies(row).map((one) => record(kind, one)),
        ...others.map((name) => record(kind, body, [withheld(name)]))
      ]
      for (let from = 0; from < wrong.length; from += 20) {
        const some = wrong.slice(from, from + 20)
        const { bodies, integrity, notChecked, status } = await compared([genesis, ...some])
        // One by one, so that a rule that does not hold is seen by its body.
        expect(
          some
            .filter((_, place) => !bodies!.problems.some(({ seq }) => seq === place + 1))
            .map((one) => [one.body, one.parts])
        ).toEqual([])
        expect([status, integrity, bodies!.wrong]).toEqual([2, "ok", some.length])
        expect(notChecked[0]).toContain(
          `${some.length === 1 ? "1 record is" : `${some.length} records are`} not as section 8 of SPEC.md describes`
        )
      }
      // Without `--bodies` the verdicts are those of format 1.
      expect((await called([genesis, ...wrong])).status).toBe(0)
    })
  }
)

describe.each([...read].map((kind) => [kind, rowOf(kind)] as const))(
  "%s, whose body every verifier reads",
  (kind, row) => {
    const inPlace = (one: OpenRecord) => (kind === "chain.genesis" ? [one] : [genesis, one])
    it("is accepted as the catalogue describes it, and never in another form", async () => {
      for (const body of goodBodies(row)) {
        // Of another origin than its pack's, or with keys of another one: sound as a body alone.
        expect((await compared(inPlace(record(kind, body)))).bodies).toMatchObject({ wrong: 0, unknown: 0 })
      }
      for (const body of wrongBodies(row)) {
        const { bodies, integrity, status } = await compared(inPlace(record(kind, body)))
        expect([body, [1, 2, 3].includes(status), integrity === "broken" ? bodies : bodies!.wrong]).toEqual([
          body,
          true,
          integrity === "broken" ? null : 1
        ])
      }
    })
    it("is reported with other parts", async () => {
      const { bodies, status } = await compared(inPlace(record(kind, bodyOf(row.body, true), [withheld("note")])))
      expect([status, bodies!.wrong]).toEqual([2, 1])
    })
  }
)

describe("the comparison with the catalogue", () => {
  const decision = (parts: ReadonlyArray<OpenPart>) =>
    record("decision.witnessed", bodyOf(rowOf("decision.witnessed").body, false), parts)
  it("finds a disclosed part that exceeds its limit", async () => {
    const activated = (bytes: number) =>
      record("agent.suspended", bodyOf(rowOf("agent.suspended").body, true), [
        disclosed("reason", canonicalBytes("x".repeat(bytes - 2)))
      ])
    expect(await compared([genesis, decision([disclosed("args", utf8("{}"))]), activated(8192)])).toMatchObject({
      status: 0
    })
    expect(await compared([genesis, decision([disclosed("args", utf8("{}"))]), activated(8193)])).toMatchObject({
      status: 2,
      bodies: {
        problems: [
          { seq: 2, kind: "agent.suspended", problem: "The part reason of agent.suspended has more than 8192 bytes." }
        ]
      }
    })
  })

  it.each([0, 1, 254, 255, 256, 257, 258])("measures a part of %i bytes exactly, with any padding", async (bytes) => {
    const erased = record("part.erased", { name: "args", reason: "security", seq: 1 }, [
      disclosed("authority", new Uint8Array(bytes))
    ])
    const { bodies } = await compared([genesis, decision([withheld("args")]), erased])
    expect(bodies!.problems.map(({ problem }) => problem)).toEqual(
      bytes <= 256 ? [] : ["The part authority of part.erased has more than 256 bytes."]
    )
  })

  it("finds the erasure of a part that may never be erased", async () => {
    const erased = (name: string, seq: number, parts: ReadonlyArray<OpenPart> = []) =>
      record("part.erased", { name, reason: "security", seq }, parts)
    expect(
      await compared([genesis, decision([withheld("args")]), erased("args", 1, [withheld("authority")])])
    ).toMatchObject({ status: 0 })
    const { bodies, status } = await compared([
      genesis,
      decision([withheld("args")]),
      erased("args", 1, [withheld("authority")]),
      erased("authority", 2)
    ])
    expect([status, bodies!.problems]).toEqual([
      2,
      [{ seq: 3, kind: "part.erased", problem: "It erases a part that may never be erased." }]
    ])
  })

  it("counts the kinds of a later version as unknown, not as wrong", async () => {
    const { bodies, notChecked, status } = await compared([
      genesis,
      record("chain.trimmed", { anything: 1 }),
      record("sample.made", {})
    ])
    expect([status, bodies]).toEqual([2, { records: 3, wrong: 0, unknown: 2, problems: [] }])
    expect(notChecked[0]).toContain("2 records are of kinds that this version does not know")
  })

  it("prints the first twenty problems", async () => {
    const { out } = await called(
      [genesis, ...Array.from({ length: 25 }, () => record("agent.activated", { secret: "jane" }))],
      "--bodies"
    )
    expect(out).toContain("Bodies          26 records compared with the catalogue: 1 in agreement, 25 not.")
    expect(out).toContain(
      "Records that do not agree with the catalogue: 25, the first 20 of them here\n  - Record " +
        "1: The body of agent.activated lacks agent_id."
    )
    expect(out).toContain("INTACT, BUT NOT ENOUGH")
    expect(out).not.toContain("jane")
  })

  it("is skipped for a broken pack", async () => {
    const { bodies, notChecked, status } = await compared([record("chain.genesis", { origin })])
    expect([status, bodies, notChecked[0]]).toEqual([
      1,
      null,
      "Bodies of records were not compared with the catalogue: the records are not what the pack claims."
    ])
  })
})
