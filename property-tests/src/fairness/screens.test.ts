/** A fairness screen over each store: the same counts, which the verifier recomputes from the pack. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Capture, FairnessScreens } from "@flyball/core"
import { memoryStorage, type StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { run } from "../../../apps/verify/src/run.ts"
import { activeAgent, ann, exported, host, inBoundedWorld } from "../replay-verdicts/bounded-world.ts"

const database = givenDatabase({ afterAll, beforeAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-screens-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stores: ReadonlyArray<readonly [string, () => StorageChoice]> = [
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: "screens" })]
]

/** Groups with the share that is positive, one of a text that Postgres keeps in no column of text. */
const teams: ReadonlyArray<readonly [team: string, positive: number]> = [
  ["north", 36],
  ["south", 12],
  ["no\u0000rth", 30],
  ["北", 33]
]
const EACH = 40

const life = Effect.gen(function* () {
  const [capture, screens] = [yield* Capture, yield* FairnessScreens]
  const agentId = yield* activeAgent("recruiter")
  const { receipts } = yield* capture.witness(
    agentId,
    teams.flatMap(([team, positive]) =>
      Array.from({ length: EACH }, (_, at) => ({
        client_ref: `${team.length}-${team.codePointAt(0)}-${at}`,
        kind: "other" as const,
        action: "hire",
        status: "intended" as const,
        labels: { person: { team }, hired: at < positive }
      }))
    ),
    host
  )
  for (const { decision_id: id } of receipts.slice(0, 50)) yield* capture.settle(id, { status: "ok" }, host)
  const question = { agent_id: agentId, group: "/person/team" }
  const byLabel = yield* screens.screen(
    { ...question, outcome: { source: "labels", path: "/hired", positive: [true] } },
    ann
  )
  const byStatus = yield* screens.screen({ ...question, outcome: { source: "status", positive: ["ok"] } }, ann)
  expect(yield* screens.list({ agent_id: agentId })).toEqual([byStatus, byLabel])
  return { found: [byLabel, byStatus], ...(yield* exported({ kind: "full" })) }
})

it.each(stores)("a screen counts, is listed and is recomputed, on %s", async (_, open) => {
  const { found, pack, vkey } = await inBoundedWorld(life, open())
  const counts = found.map(({ groups }) => groups.map(({ rate, value }) => [value, rate.positive, rate.n]))
  expect(counts[0]!.toSorted()).toEqual(teams.map(([team, positive]) => [team, positive, EACH]).toSorted())
  expect(counts[1]).toEqual([
    ["north", 40, 40],
    ["south", 10, 10]
  ])
  expect(found.map(({ verdict, without_outcome }) => [verdict, without_outcome])).toEqual([
    ["demonstrated", 0],
    ["insufficient_evidence", 110]
  ])
  const file = join(folder, "pack.evp")
  writeFileSync(file, pack)
  let out = ""
  const status = await run([file, "--vkey", vkey, "--replay", "--bodies", "--json"], {
    out: async (text) => void (out += text),
    err: async (text) => void (out += text),
    nowMs: () => 0,
    isTerminal: false
  })
  expect(JSON.parse(out)).toMatchObject({ replay: { mismatches: [], withheld: [] }, bodies: { wrong: 0 } })
  expect(status).toBe(0)
})
