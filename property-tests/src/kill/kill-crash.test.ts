/**
 * SIGKILL while a process activates, acknowledges and releases: what was acknowledged holds afterwards, and documents
 * are what the records say.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Governor, openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { pickOf, seededSource } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { liveUntilKilled } from "../crash/acting-life.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { runs } from "../runs.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-kill-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = fileURLToPath(new URL("./killing-process.ts", import.meta.url))
const KILLS = runs(3, 12)

const openAt = (at: StoreAt, dir: string): Promise<Governor> =>
  openGovernor({ storage: storageAt(at), keys: dataFolder({ dir }) })

const rounds = async (at: StoreAt, dir: string, seed: string): Promise<void> => {
  const pick = pickOf(seededSource(seed))
  const agents: Array<string> = []
  const first = await openAt(at, dir)
  for (let count = 0; count < 3; count++)
    agents.push((await first.agents.register({ name: `bot ${count}`, org_unit: "ops" })).agent.id)
  await first.close()
  const held = new Map<string, string>()
  for (let round = 0; round < KILLS; round++) {
    const { done, under } = await liveUntilKilled(program, at, dir, agents, 1 + pick(25), pick(4_000))
    const released = new Set(done.flatMap(([act, id]) => (act === "release" ? [id!] : [])))
    for (const [act, agent, id] of done) if (act === "activate") held.set(id!, agent!)
    for (const id of released) held.delete(id)
    const governor = await openAt(at, dir)
    try {
      expect((await governor.check()).differences).toEqual([])
      expect((await governor.chain.verify()).ok).toBe(true)
      const unsure = new Set(under.flatMap(([act, id]) => (act === "release" ? [id!] : [])))
      for (const [id] of held) {
        const activation = await governor.kill.activation(id)
        // A release that nobody was answered may have landed.
        if (unsure.has(id) && activation.released_at !== null) held.delete(id)
        else expect(activation.released_at, id).toBeNull()
      }
      for (const [act, id] of done)
        if (act === "ack") expect((await governor.kill.activation(id!)).acknowledged, id).toBe(1)
      for (const id of released) expect((await governor.kill.activation(id)).released_at, id).not.toBeNull()
      for (const agent of agents) {
        const status = await governor.kill.status({ target_type: "agent", target_id: agent })
        if ([...held.values()].includes(agent)) expect(status.halted || status.response === "drain").toBe(true)
        const { matched_rule } = await governor.evaluate({ agent_id: agent, client_ref: `r${round}`, signals: {} })
        expect(matched_rule === "@killed").toBe(status.response !== null)
      }
    } finally {
      await governor.close()
    }
  }
}

describe("a halt survives SIGKILL", { timeout: 600_000 }, () => {
  it("on SQLite", () => rounds({ sqlite: join(folder, "kill.db") }, join(folder, "sqlite"), "kill on SQLite"))
  it("on Postgres", () => rounds({ postgres: database.url }, join(folder, "postgres"), "kill on Postgres"))
})
