/**
 * Two hundred callers change one agent at the same time, and others witness what it does: every one of them gets
 * through, and each is a record.
 */
import { memoryStorage, openGovernor } from "@flyball/core"
import type { StorageChoice } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const CALLERS = 200

const database = givenDatabase({ beforeAll, afterAll })

const stores: ReadonlyArray<readonly [name: string, places: number, () => StorageChoice]> = [
  ["memory", 1, () => memoryStorage()],
  ["SQLite", 1, () => sqliteStorage({ file: ":memory:" })],
  ["Postgres, three hosts", 3, () => postgresStorage({ url: database.url })]
]

describe.each(stores)("one agent on %s", (_, places, open) => {
  it("is given two hundred owners by concurrent callers, one after the other", { timeout: 120_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), "flyball-one-agent-"))
    const host = () => openGovernor({ storage: open(), keys: dataFolder({ dir }) })
    const first = await host()
    const hosts = [first, ...(await Promise.all(Array.from({ length: places - 1 }, host)))]
    try {
      const { agent } = await first.agents.register({
        name: "bot",
        org_unit: "ops",
        owner_name: "Ada",
        owner_email: "ada@example.org"
      })
      const owners = Array.from({ length: CALLERS }, (_, n) => `Owner ${n}`)
      const witnessed = Array.from(
        { length: CALLERS },
        (_, n) => () => hosts[n % places]!.witness(agent.id, { client_ref: `c${n}`, action: "search" })
      )
      const answers = Promise.all(
        owners.map((owner_name, n) =>
          hosts[n % places]!.agents.transferOwnership(agent.id, { owner_name, owner_email: `o${n}@example.org` })
        )
      )
      expect(
        new Set((await Promise.all(witnessed.map((witness) => witness()))).map(({ receipts }) => receipts[0]!.seq)).size
      ).toBe(CALLERS)
      expect((await answers).map(({ owner_name }) => owner_name)).toEqual(owners)
      expect((await first.chain.records({ kind: "agent.owner_transferred", limit: 1_000 })).length).toBe(CALLERS)
      expect((await first.check()).differences).toEqual([])
    } finally {
      await Promise.all(hosts.map((one) => one.close()))
      rmSync(dir, { recursive: true })
    }
  })
})
