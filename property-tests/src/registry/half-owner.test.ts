/**
 * A store in which rules 1 registered agents with half an owner is opened by several hosts at once, and again: each
 * agent's clock starts at one record.
 */
import { layerOf, openGovernor, Storage, systemHost } from "@flyball/core"
import type { StorageChoice } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Result } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { planRegister } from "../../../packages/core/src/registry/agents/plan-register.ts"
import { newId } from "../../../packages/core/src/foundation/ids.ts"
import { asRules1 } from "../../../packages/core/src/testing/rules-1.ts"

const AGENTS = 12
const database = givenDatabase({ beforeAll, afterAll })

const stores: ReadonlyArray<readonly [name: string, places: number, (dir: string) => StorageChoice]> = [
  ["SQLite", 1, (dir) => sqliteStorage({ file: join(dir, "flyball.db") })],
  ["Postgres, three hosts", 3, () => postgresStorage({ url: database.url })]
]

/** Commits agents as a process of rules 1 would have. */
const registerHalf = Effect.forEach(
  Array.from({ length: AGENTS }, (_, n) => n),
  Effect.fnUntraced(function* (n) {
    const plan = planRegister({
      agentId: yield* newId("agt"),
      input: { name: `half ${n}`, org_unit: "ops", owner_name: "Ada" },
      writer: systemHost,
      limits: null,
      originTag: new Uint8Array(4),
      line: []
    })
    yield* Storage.use((storage) => storage.commit(asRules1(Result.getOrThrow(plan).change)))
  }),
  { discard: true }
)

describe.each(stores)("agents with half an owner on %s", (_, places, open) => {
  it("get one record each when hosts start concurrently", { timeout: 120_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), "flyball-half-owner-"))
    const host = () => openGovernor({ storage: open(dir), keys: dataFolder({ dir }) })
    try {
      await (await host()).close()
      await Effect.runPromise(registerHalf.pipe(Effect.provide(layerOf(open(dir)))))
      for (let start = 0; start < 2; start++) {
        const first = await host()
        const hosts = [first, ...(await Promise.all(Array.from({ length: places - 1 }, host)))]
        try {
          await expect
            .poll(
              async () => (await first.agents.list()).filter(({ orphaned_since }) => orphaned_since !== null).length,
              { timeout: 60_000 }
            )
            .toBe(AGENTS)
          expect((await first.chain.records({ kind: "agent.orphaned", limit: 1_000 })).length).toBe(AGENTS)
          expect(
            (await first.chain.records({ kind: "agent.updated", limit: 1_000 })).length,
            "the members that decide which halts reach an agent are sealed once"
          ).toBe(AGENTS)
          expect((await first.check()).differences).toEqual([])
        } finally {
          await Promise.all(hosts.map((one) => one.close()))
        }
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})
