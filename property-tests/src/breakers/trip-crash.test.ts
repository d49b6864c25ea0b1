/**
 * SIGKILL while breakers trip: afterwards each trip is there whole, with its activation and its events, or not at all,
 * and what was acknowledged holds.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Governor, openGovernor } from "@flyball/core"
import { layerOf, Storage } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { pickOf, seededSource } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { liveUntilKilled } from "../crash/acting-life.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { runs } from "../runs.ts"
import { readRecords } from "../simulation/checkers/checked.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-trip-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = fileURLToPath(new URL("./tripping-process.ts", import.meta.url))
const KILLS = runs(3, 12)
/** The port's bound. */
const MOST_EVENTS = 1_000

const openAt = (at: StoreAt, dir: string): Promise<Governor> =>
  openGovernor({ storage: storageAt(at), keys: dataFolder({ dir }) })

/** A trip as the store has it: its record, the record behind it, and its events. */
interface Found {
  readonly breaker: string
  readonly activation: string
  readonly next: string
  readonly events: ReadonlyArray<string>
}

/** Everything about trips that the store holds, before any process has repaired anything. */
const tripsIn = (
  at: StoreAt
): Promise<{ readonly trips: ReadonlyArray<Found>; readonly strays: ReadonlyArray<string> }> =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const records = yield* readRecords(storage)
    const events = yield* storage.outbox.events({ types: ["breaker.tripped", "kill.activated"], limit: MOST_EVENTS })
    const trips = records
      .filter(({ kind }) => kind === "breaker.tripped")
      .map(({ body, seq }): Found => {
        const activation = String(body["activation_id"])
        const next = records[seq + 1]
        return {
          breaker: String(body["breaker_id"]),
          activation,
          next: `${next?.kind} ${String(next?.body["activation_id"])}`,
          events: events.filter(({ data }) => data["activation_id"] === activation).map(({ type }) => type)
        }
      })
    const known = new Set(trips.map(({ activation }) => activation))
    const activated = records.filter(({ kind }) => kind === "kill.activated").map(({ body }) => body["activation_id"])
    const named = [...activated, ...events.map(({ data }) => data["activation_id"])].map(String)
    return { trips, strays: named.filter((id) => !known.has(id)) }
  }).pipe(Effect.provide(layerOf(storageAt(at))), Effect.runPromise)

const rounds = async (at: StoreAt, dir: string, seed: string): Promise<void> => {
  const pick = pickOf(seededSource(seed))
  const pairs: Array<string> = []
  const first = await openAt(at, dir)
  for (let count = 0; count < 3; count++) {
    const { agent } = await first.agents.register({ name: `bot ${count}`, org_unit: "ops" })
    const { id } = await first.breakers.arm(agent.id, {
      name: "streak",
      metric: "consecutive_failures",
      params: { max_count: 2 }
    })
    pairs.push(`${agent.id}/${id}`)
  }
  await first.close()
  const acknowledged = new Set<string>()
  for (let round = 0; round < KILLS; round++) {
    const { done, under } = await liveUntilKilled(program, at, dir, pairs, 1 + pick(20), pick(4_000))
    for (const [act, , activation] of done) if (act === "trip") acknowledged.add(activation!)
    const { strays, trips } = await tripsIn(at)
    expect(strays).toEqual([])
    for (const { activation, events, next } of trips) {
      expect(next).toBe(`kill.activated ${activation}`)
      expect(events.toSorted()).toEqual(["breaker.tripped", "kill.activated"])
    }
    const found = new Set(trips.map(({ activation }) => activation))
    expect([...acknowledged].filter((id) => !found.has(id))).toEqual([])
    const governor = await openAt(at, dir)
    try {
      expect((await governor.check()).differences).toEqual([])
      expect((await governor.chain.verify()).ok).toBe(true)
      const lifted = new Set([...done, ...under].flatMap(([act, id]) => (act === "lift" ? [id!] : [])))
      for (const [act, , activation] of done)
        if (act === "trip" && !lifted.has(activation!))
          expect((await governor.kill.activation(activation!)).released_at, activation).toBeNull()
      for (const pair of pairs) {
        const [agent, breaker] = pair.split("/") as [string, string]
        // Whatever the process left, the agent's next evaluation is after every trip that is due.
        const before = await governor.kill.status({ target_type: "agent", target_id: agent })
        const { matched_rule } = await governor.evaluate({ agent_id: agent, client_ref: `r${round}`, signals: {} })
        if (before.halted) expect(matched_rule).toBe("@killed")
        const shown = (await governor.breakers.list(agent)).find(({ id }) => id === breaker)!
        if (shown.state === "armed") continue
        const activation = await governor.kill.activation(shown.fired_event_id!)
        if (activation.released_at === null) {
          expect(matched_rule).toBe("@killed")
          await governor.kill.release({ activation_event: activation.id, reason: "The next round." })
        }
        await governor.breakers.release(breaker, { reason: "The next round." })
      }
    } finally {
      await governor.close()
    }
  }
  // The rounds met what they are about.
  expect(acknowledged.size).toBeGreaterThan(KILLS)
}

describe("a trip is complete or absent after SIGKILL", { timeout: 600_000 }, () => {
  it("on SQLite", () => rounds({ sqlite: join(folder, "trips.db") }, join(folder, "sqlite"), "trips on SQLite"))
  it("on Postgres", () => rounds({ postgres: database.url }, join(folder, "postgres"), "trips on Postgres"))
})
