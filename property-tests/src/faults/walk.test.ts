/** Every call of every method, each with every fault: acknowledged exactly once, nothing doubled, one chain, one root for one size. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryStorage, type StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { type Fault, faultKinds, faultsAt, noFaults } from "@flyball/testkit"
import { freshDatabase } from "@flyball/testkit/postgres"
import { assert, describe, it } from "vitest"
import { walk, type Walked } from "./walk.ts"

const memory = (): StorageChoice => memoryStorage({ crypto: nodeCrypto })

/** Every fault that the script meets when nothing else goes wrong. */
const faultsOf = ({ board }: Walked): ReadonlyArray<Fault> =>
  [...board.calls].flatMap(([point, calls]) => Array.from({ length: calls }, (_, index) => faultKinds.map((kind) => ({ point, call: index + 1, kind }))).flat())

const assertWell = ({ board, ledger, problems }: Walked, fault: Fault): void => {
  const where = `${fault.kind} at call ${fault.call} of ${fault.point}`
  assert.isEmpty(problems, `${where}: ${problems.join("; ")}`)
  assert.deepStrictEqual(board.struck, [fault], where)
  for (const [name, times] of clients) assert.strictEqual(ledger.answers.get(name) ?? 0, times, `${where}: ${name}`)
}

/** How often each act is answered, whatever goes wrong once. */
const clients: ReadonlyArray<readonly [string, number]> = [
  ["register", 1], ["witness", 4], ["settle", 2], ["mint", 1], ["revoke", 1], ["meet", 1], ["gap", 1], ["announce", 1], ["sign", 2], ["export", 2], ["read keys", 1], ["read decisions", 1], ["read proof", 1]
]

describe("a script that meets one fault", () => {
  it("calls every method that core calls, and goes well when nothing goes wrong", async () => {
    const { board, problems } = await walk(memory(), noFaults)
    assert.isEmpty(problems)
    assert.sameMembers([...board.calls.keys()], [
      "storage.commit", "storage.asOf", "storage.head", "storage.get", "storage.find", "storage.list", "storage.record", "storage.records", "storage.parts", "storage.once",
      "storage.hashes", "storage.lease", "storage.releaseLease", "guard.read", "guard.advance", "signer.sign", "signer.keys"
    ])
  })

  it("goes well with every fault at every call, in memory", { timeout: 120_000 }, async () => {
    const faults = faultsOf(await walk(memory(), noFaults))
    assert.isAbove(faults.length, 400)
    for (const fault of faults) assertWell(await walk(memory(), faultsAt(fault)), fault)
  })

  it("goes well with a lost answer at every commit, and a sample of the other faults, on SQLite", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-faults-"))
    try {
      const faults = faultsOf(await walk(memory(), noFaults)).filter(({ kind, point }, index) => (point === "storage.commit" && kind === "answer lost") || index % 61 === 0)
      for (const [index, fault] of faults.entries()) assertWell(await walk(sqliteStorage({ file: join(folder, `${index}.db`) }), faultsAt(fault)), fault)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("goes well with a lost answer at some commits, and a sample of the other faults, on Postgres", { timeout: 240_000 }, async () => {
    const { drop, url } = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
    try {
      const faults = faultsOf(await walk(memory(), noFaults))
      const lost = faults.filter(({ kind, point }) => point === "storage.commit" && kind === "answer lost")
      for (const [index, fault] of [...lost.filter((_, at) => at % 9 === 0), ...faults.filter((_, at) => at % 199 === 0)].entries()) {
        assertWell(await walk(postgresStorage({ url, schema: `walk${index}`, maxConnections: 3 }), faultsAt(fault)), fault)
      }
    } finally {
      await drop()
    }
  })
})
