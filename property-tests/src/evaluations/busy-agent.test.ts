/**
 * Beside an agent that is evaluated all the time its actions are settled and voided all the same, and beside
 * settlements it is evaluated.
 */
import { type EnvelopeSource, ephemeralKeys, type Governor, openGovernor } from "@flyball/core"
import type { StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { spending } from "./governed-history.ts"

/** Callers that ask again as soon as they are answered. */
const CALLERS = 12
/** Actions that are settled meanwhile. */
const ACTIONS = 30
const ann = { writer: "system:ann" }
/** Its windows outlast the test, on whatever machine. */
const meters: EnvelopeSource["meters"] = {
  spent: { op: "sum", of: "amount", where: { tool: ["pay"] }, window_ms: 86_400_000, key: ["agent_id"] },
  finds: { op: "count", where: { tool: ["find"] }, window_ms: 86_400_000, key: ["run_id"] }
}

const database = givenDatabase({ beforeAll, afterAll })

const stores: ReadonlyArray<readonly [string, () => StorageChoice]> = [
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url })]
]

const governed = async (governor: Governor): Promise<string> => {
  const { agent } = await governor.agents.register({
    name: "bot",
    org_unit: "ops",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  const { id } = await governor.envelopes.create(
    { name: "Spending", agent_id: agent.id, envelope: { ...spending(400), meters } },
    ann
  )
  await governor.envelopes.publish(id, {}, { writer: "system:ben" })
  await governor.agents.update(agent.id, { autonomy_tier: "L2" })
  await governor.agents.activate(agent.id)
  return agent.id
}

/** Calls `again` from many places over and over until `inside` has ended; answers how often. */
const beside = async (again: () => Promise<unknown>, inside: () => Promise<void>): Promise<number> => {
  const state = { ended: false, count: 0 }
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!state.ended) {
      await again()
      state.count++
    }
  })
  try {
    await inside()
  } finally {
    state.ended = true
    await Promise.all(callers)
  }
  return state.count
}

describe.each(stores)("a busy agent on %s", (_, open) => {
  it("settles and voids beside evaluations, and is evaluated beside settlements", { timeout: 120_000 }, async () => {
    const governor = await openGovernor({ storage: open(), keys: ephemeralKeys() })
    try {
      const agentId = await governed(governor)
      let refs = 0
      const pay = (amount: number) =>
        governor.evaluate({
          agent_id: agentId,
          client_ref: `r${refs++}`,
          run_id: "run",
          signals: { tool: "pay", amount }
        })
      const acted = async (): Promise<string> => {
        const { id } = await pay(1)
        const {
          receipts: [receipt]
        } = await governor.witness(agentId, {
          client_ref: id,
          kind: "tool_call",
          action: "pay",
          status: "intended",
          evaluation_id: id
        })
        return receipt!.decision_id
      }
      const actions = await Promise.all(Array.from({ length: ACTIONS }, acted))
      const mistaken = await Promise.all(Array.from({ length: ACTIONS }, () => pay(1)))
      const evaluated = await beside(
        () => pay(0),
        async () => {
          for (const id of actions) await governor.settle(id, { status: "ok", actual: [{ meter: "spent", amount: 2 }] })
          for (const { id } of mistaken) await governor.voidEvaluation(id, {}, ann)
        }
      )
      expect(evaluated).toBeGreaterThan(0)

      const settled = await beside(
        async () => governor.settle(await acted(), { status: "ok", actual: [{ meter: "spent", amount: 0 }] }),
        async () => {
          for (let n = 0; n < ACTIONS; n++) await pay(0)
        }
      )
      expect(settled).toBeGreaterThan(0)
      expect((await pay(0)).meters.find(({ id }) => id === "spent")).toMatchObject({ value: 2 * ACTIONS })
    } finally {
      await governor.close()
    }
  })
})
