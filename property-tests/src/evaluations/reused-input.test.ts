/**
 * A host changes the object that it passed while the call waits, or passes one that says something else each time it is
 * read: record and verdict speak of the same all the same.
 */
import { Evaluations, governorLayer, type Governor, type KeysChoice, keysLayerOf, openGovernor } from "@flyball/core"
import { layerOf, type StorageChoice } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { evaluatedAgain, host, spending } from "./governed-history.ts"

/** Calls of one host in a row, none of them waited for. */
const CALLS = 200

const action_digest = `sha256:${"0a".repeat(32)}`
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-reused-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const governed = async (governor: Governor): Promise<string> => {
  const { agent } = await governor.agents.register({
    name: "bot",
    org_unit: "ops",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  const { id } = await governor.envelopes.create(
    { name: "Spending", agent_id: agent.id, envelope: spending(400) },
    { writer: "system:ann" }
  )
  await governor.envelopes.publish(id, {}, { writer: "system:ben" })
  await governor.agents.update(agent.id, { autonomy_tier: "L2" })
  await governor.agents.activate(agent.id)
  return agent.id
}

interface Opened {
  readonly storage: StorageChoice
  readonly keys: KeysChoice
}

/** Everything that the records do not say, on the store as it lies. */
const wrong = ({ keys, storage }: Opened, and: Effect.Effect<unknown, unknown, Evaluations> = Effect.void) =>
  Effect.andThen(
    and,
    Effect.map(evaluatedAgain, (found) => ({
      made: found.length,
      wrong: found.filter(({ verdict }) => verdict !== "ok")
    }))
  ).pipe(
    Effect.provide(governorLayer().pipe(Layer.provideMerge(layerOf(storage)), Layer.provide(keysLayerOf(keys)))),
    Effect.runPromise
  )

/** Says something else each time it is read: now a search, now a payment. */
const flipping = (first: number): { readonly tool: string; readonly amount: number; readonly unusual: boolean } => {
  let reads = first
  return {
    get tool() {
      return reads++ % 2 === 0 ? "find" : "pay"
    },
    get amount() {
      return reads++ % 3 === 0 ? 1 : 900
    },
    get unusual() {
      return reads++ % 4 === 0
    }
  }
}

describe("on SQLite, where calls wait for one another's commits", () => {
  it(
    "an object that is reused between calls is recorded and evaluated as it was at each call",
    { timeout: 60_000 },
    async () => {
      const opened = { storage: sqliteStorage({ file: join(folder, "flyball.db") }), keys: dataFolder({ dir: folder }) }
      const governor = await openGovernor(opened)
      const agentId = await governed(governor)
      const signals = { tool: "", amount: 0 }
      const requested = { agent_id: agentId, client_ref: "", run_id: "", action: "", action_digest, signals }
      const wanted: Array<unknown> = []
      const calls = Array.from({ length: CALLS }, (_, n) => {
        Object.assign(requested, { client_ref: `r${n}`, run_id: `run-${n % 3}`, action: `act-${n}` })
        Object.assign(signals, { tool: n % 2 === 0 ? "find" : "pay", amount: (n * 7) % 500 })
        wanted.push({ client_ref: `r${n}`, run_id: `run-${n % 3}`, action: `act-${n}`, signals: { ...signals } })
        return governor.evaluate(requested)
      })
      Object.assign(requested, { client_ref: "never", run_id: "never", action: "never" })
      Object.assign(signals, { tool: "steal", amount: -1 })
      const answers = await Promise.all(calls)
      expect(answers).toMatchObject(wanted)
      const decision = {
        client_ref: "",
        kind: "tool_call" as const,
        action: "",
        status: "ok" as const,
        args: { n: -1 }
      }
      const witnessed = await Promise.all(
        Array.from({ length: CALLS }, (_, n) => {
          Object.assign(decision, { client_ref: `d${n}`, action: `act-${n}` })
          decision.args.n = n
          return governor.witness(agentId, decision)
        })
      )
      expect(witnessed.map(({ receipts }) => receipts[0]!.client_ref)).toEqual(
        Array.from({ length: CALLS }, (_, n) => `d${n}`)
      )
      expect(new Set((await governor.decisions(agentId, { limit: 500 })).map(({ action }) => action)).size).toBe(CALLS)
      await governor.close()
      expect(await wrong(opened)).toEqual({ made: CALLS, wrong: [] })
    }
  )

  it(
    "signals whose getters change at each read are evaluated as they are recorded, by governor and service",
    { timeout: 60_000 },
    async () => {
      const opened = { storage: sqliteStorage({ file: join(folder, "flyball.db") }), keys: dataFolder({ dir: folder }) }
      const governor = await openGovernor(opened)
      const agentId = await governed(governor)
      const ask = (n: number) => ({
        agent_id: agentId,
        client_ref: `f${n}`,
        run_id: "run",
        action_digest,
        signals: flipping(n)
      })
      await Promise.all(Array.from({ length: CALLS }, (_, n) => governor.evaluate(ask(n))))
      await governor.close()
      const services = Evaluations.use((evaluations) =>
        Effect.forEach(
          Array.from({ length: CALLS }, (_, n) => ask(CALLS + n)),
          (input) => evaluations.evaluate(input, host),
          { concurrency: "unbounded" }
        )
      )
      expect(await wrong(opened, services)).toEqual({ made: 2 * CALLS, wrong: [] })
    }
  )
})
