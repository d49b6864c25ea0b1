/**
 * The kill state under random activations, releases and changes of agents, several at once, against a naive model; on
 * every storage, and on Postgres with two hosts of one store.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ephemeralKeys, type Governor, GovernorError, memoryStorage, openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runs } from "../runs.ts"

const database = givenDatabase({ beforeAll, afterAll })

const folder = mkdtempSync(join(tmpdir(), "flyball-kill-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const AGENTS = 3
const MODELS = ["gpt-9", "claude-9"] as const
const responses = ["notify", "step_down", "drain", "halt", "quarantine"] as const
type Response = (typeof responses)[number]

/** One act. Numbers choose among what there is. */
type Act =
  | { readonly act: "activate"; readonly target: number; readonly response: Response; readonly host: number }
  | { readonly act: "release"; readonly which: number; readonly host: number }
  | { readonly act: "models"; readonly agent: number; readonly models: ReadonlyArray<string>; readonly host: number }

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    act: fc.constant("activate" as const),
    target: fc.nat(AGENTS + MODELS.length - 1),
    response: fc.constantFrom(...responses),
    host: fc.nat(1)
  }),
  fc.record({ act: fc.constant("release" as const), which: fc.nat(20), host: fc.nat(1) }),
  fc.record({
    act: fc.constant("models" as const),
    agent: fc.nat(AGENTS - 1),
    models: fc.subarray([...MODELS]),
    host: fc.nat(1)
  })
)
/** Acts that run at once, then the next ones. */
const histories = fc.array(fc.array(acts, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })

/** An activation as the naive model keeps it. */
interface Held {
  readonly id: string
  readonly target: string
  readonly response: Response
  readonly epoch: number
}

/** State of one agent or model, according to the model. */
const expected = (held: ReadonlyArray<Held>, targets: ReadonlyArray<string>) => {
  const reaching = held.filter(({ target }) => targets.includes(target))
  const severity = (response: Response): number => responses.indexOf(response)
  const most = Math.max(-1, ...reaching.map(({ response }) => severity(response)))
  const named = reaching.filter(({ response }) => severity(response) === most).toSorted((a, b) => a.epoch - b.epoch)[0]
  return {
    halted: most >= severity("halt"),
    effective_response: most < 0 ? null : responses[most]!,
    activation_event: named?.id ?? null
  }
}

let names = 0

/** Runs a history over hosts of one store, and compares after each batch. */
const compare = async (hosts: ReadonlyArray<Governor>, history: ReadonlyArray<ReadonlyArray<Act>>): Promise<void> => {
  const hostOf = (number: number): Governor => hosts[number % hosts.length]!
  const agents: Array<{ readonly id: string; models: ReadonlyArray<string> }> = []
  for (let at = 0; at < AGENTS; at++) {
    const { agent } = await hostOf(at).agents.register({ name: `bot ${names++}`, org_unit: "ops" })
    agents.push({ id: agent.id, models: [] })
  }
  const begin = (await hostOf(0).kill.status({ target_type: "agent", target_id: agents[0]!.id })).epoch
  let changes = 0
  let held: ReadonlyArray<Held> = []
  for (const batch of history) {
    const releasing = new Set<string>()
    const done = await Promise.all(
      batch.map(async (one): Promise<() => void> => {
        const { kill } = hostOf(one.host)
        switch (one.act) {
          case "activate": {
            const agent = agents[one.target]
            const target = agent?.id ?? MODELS[one.target - AGENTS]!
            const { activation_event: id, epoch } = await kill.activate({
              target_type: agent === undefined ? "model" : "agent",
              target_id: target,
              response: one.response,
              // The same again within 10 s would answer the first.
              reason: `Test ${names++}.`
            })
            return () => {
              held = [...held, { id: id!, target, response: one.response, epoch }]
            }
          }
          case "release": {
            const released = held[one.which % Math.max(1, held.length)]
            if (released === undefined) return () => undefined
            const again = releasing.has(released.id)
            releasing.add(released.id)
            try {
              await kill.release({ activation_event: released.id, reason: "A test." })
            } catch (error) {
              if (!(error instanceof GovernorError) || error.code !== "activation_released") throw error
              return () => expect(releasing.has(released.id)).toBe(true)
            }
            return () => {
              // Of two at once one releases.
              if (!again || held.some(({ id }) => id === released.id))
                held = held.filter(({ id }) => id !== released.id)
            }
          }
          case "models": {
            const agent = agents[one.agent]!
            await hostOf(one.host).agents.update(agent.id, { model_ids: one.models })
            return () => undefined
          }
        }
      })
    )
    const before = held
    for (const note of done) note()
    const released = before.filter(({ id }) => !held.some((one) => one.id === id)).length
    changes += batch.filter(({ act }) => act === "activate").length + released
    for (const host of hosts) {
      for (const agent of agents) {
        agent.models = (await host.agents.get(agent.id)).model_ids
        const status = await host.kill.status({ target_type: "agent", target_id: agent.id })
        expect(status).toMatchObject(expected(held, [agent.id, ...agent.models]))
        expect(status.epoch).toBe(begin + changes)
        const requested = { agent_id: agent.id, client_ref: `r${names++}`, signals: {} }
        const { activation_event, matched_rule } = await host.evaluate(requested)
        const denies = ["drain", "halt", "quarantine"].includes(status.effective_response ?? "")
        expect([activation_event, matched_rule === "@killed"]).toEqual([status.activation_event, denies])
      }
      for (const model of MODELS)
        expect(await host.kill.status({ target_type: "model", target_id: model })).toMatchObject(
          expected(held, [model])
        )
    }
  }
  // The next history of the same store begins with nothing held.
  for (const { id } of held) await hostOf(0).kill.release({ activation_event: id, reason: "The end." })
  expect((await hostOf(0).check()).differences).toEqual([])
}

describe("the kill state equals the naive model", { timeout: 300_000 }, () => {
  const property = (open: () => Promise<ReadonlyArray<Governor>>, count: number) => async () => {
    const hosts = await open()
    try {
      await fc.assert(
        fc.asyncProperty(histories, (history) => compare(hosts, history)),
        { numRuns: count, endOnFailure: true, seed: 20_261_126 }
      )
    } finally {
      for (const host of hosts) await host.close()
    }
  }

  it(
    "in memory",
    property(async () => [await openGovernor({ storage: memoryStorage() })], runs(15, 100))
  )
  it(
    "on SQLite",
    property(
      async () => [await openGovernor({ storage: sqliteStorage({ file: ":memory:" }), keys: ephemeralKeys() })],
      runs(8, 60)
    )
  )
  it(
    "on Postgres, with two hosts of one store",
    property(
      async () => {
        const keys = dataFolder({ dir: folder })
        const one = await openGovernor({ storage: postgresStorage({ url: database.url }), keys })
        return [one, await openGovernor({ storage: postgresStorage({ url: database.url }), keys })]
      },
      runs(5, 40)
    )
  )
})
