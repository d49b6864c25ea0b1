/**
 * Hosts that evaluate one agent at once whose breaker is due: it trips once in each of its windows, with one
 * activation, and nothing is allowed after it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ephemeralKeys, type Governor, memoryStorage, openGovernor, type StorageChoice } from "@flyball/core"
import { readRecord } from "@flyball/evidence"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { pickOf, seededSource } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runs } from "../runs.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-trip-race-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seed = "trip race 20261126"
const ROUNDS = runs(6, 40)
/** Records of one page. */
const PAGE = 500

/** All records of breakers and of the kill switch, and evaluations, oldest first. */
const recordsOf = async (governor: Governor) => {
  const found: Array<{
    readonly seq: number
    readonly kind: string
    readonly body: { readonly [name: string]: unknown }
  }> = []
  for (let from = 0; ;) {
    const page = await governor.chain.records({ from, limit: PAGE })
    for (const { bytes, kind, seq } of page) {
      const read = readRecord(bytes)
      found.push({ seq, kind, body: read.ok ? read.record.body : {} })
    }
    if (page.length < PAGE) return found
    from = page.at(-1)!.seq + 1
  }
}

/** Rounds of: fail until two breakers are due; everybody evaluates and reads at once; a person releases. */
const race = async (hosts: ReadonlyArray<Governor>): Promise<void> => {
  const pick = pickOf(seededSource(seed))
  const [first] = hosts
  const { agent } = await first!.agents.register({ name: "bot", org_unit: "ops" })
  const armed = [
    await first!.breakers.arm(agent.id, { name: "streak", metric: "consecutive_failures", params: { max_count: 2 } }),
    await first!.breakers.arm(agent.id, {
      name: "pace",
      metric: "action_velocity",
      params: { max_count: 2, window_ms: 3_600_000 },
      response: "drain"
    })
  ]
  for (let round = 0; round < ROUNDS; round++) {
    const decisions = Array.from({ length: 3 }, (_, index) => ({
      client_ref: `d-${round}-${index}`,
      kind: "tool_call" as const,
      action: "pay",
      status: "error" as const
    }))
    await hosts[pick(hosts.length)]!.witness(agent.id, decisions)
    const calls = Array.from({ length: 4 * hosts.length }, async (_, index) => {
      const host = hosts[index % hosts.length]!
      if (pick(4) === 0) return void (await host.breakers.check())
      const made = await host.evaluate({ agent_id: agent.id, client_ref: `e-${round}-${index}`, signals: {} })
      expect(made.matched_rule).toBe("@killed")
    })
    await Promise.all(calls)
    for (const host of hosts)
      for (const one of await host.breakers.list(agent.id)) expect([one.name, one.state]).toEqual([one.name, "tripped"])
    for (const { id } of armed) {
      const { fired_event_id: activation } = (await first!.breakers.list(agent.id)).find((one) => one.id === id)!
      await first!.kill.release({ activation_event: activation!, reason: "The next round." })
      await hosts[pick(hosts.length)]!.breakers.release(id, { reason: "The next round." })
    }
  }
  const windows = new Map<string, number>()
  const trips = new Map<string, Array<string>>()
  const activations: Array<string> = []
  for (const { body, kind, seq } of await recordsOf(first!)) {
    const id = String(body["breaker_id"])
    if (kind === "breaker.armed" || kind === "breaker.released") windows.set(id, seq)
    if (kind === "breaker.tripped") {
      const window = `${id} from ${windows.get(id)}`
      trips.set(window, [...(trips.get(window) ?? []), String(body["activation_id"])])
    }
    if (kind === "kill.activated" && body["breaker_id"] !== undefined) activations.push(String(body["activation_id"]))
  }
  expect([...trips].filter(([, all]) => all.length !== 1)).toEqual([])
  expect(trips.size).toBe(2 * ROUNDS)
  expect(activations.toSorted()).toEqual([...trips.values()].flat().toSorted())
  expect((await first!.check()).differences).toEqual([])
}

const racing =
  (choices: ReadonlyArray<() => StorageChoice>, keys = ephemeralKeys()) =>
  async () => {
    const hosts: Array<Governor> = []
    try {
      for (const choice of choices) hosts.push(await openGovernor({ storage: choice(), keys }))
      await race(hosts)
    } finally {
      for (const host of hosts) await host.close()
    }
  }

describe("a breaker that several hosts find due trips once in each window", { timeout: 300_000 }, () => {
  it("in memory", racing([() => memoryStorage()]))
  it("on SQLite", racing([() => sqliteStorage({ file: ":memory:" })]))
  it("on Postgres, with three hosts of one store", () =>
    racing(
      Array.from({ length: 3 }, () => () => postgresStorage({ url: database.url })),
      dataFolder({ dir: folder })
    )())
})
