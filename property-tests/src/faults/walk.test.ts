/**
 * Every method, each with every fault, and every call that writes: acknowledged exactly once, nothing doubled, one
 * chain, one root for one size, every event delivered exactly once.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerOf, memoryStorage, Storage, type StorageApi, type StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { type Fault, faultsAt, noFaults } from "@flyball/testkit"
import { freshDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { pairsOfFaults, saidOf, singleFaults, thinnedOut } from "./walk-faults.ts"
import { type ScriptName, scripts, walk, type Walked } from "./walk.ts"
import { runs } from "../runs.ts"

const names = Object.keys(scripts) as ReadonlyArray<ScriptName>
/** Pairs of faults for each script. */
const PAIRS = runs(10, 40)
/** The small round walks past one in so many of the faults of the full round. */
const ONE_IN = runs(5, 1)
/**
 * Faults at reads that are walked of the longer scripts, beside every fault at a write and at the first call of each
 * method. Of capture all are.
 */
const READS = 100
/** Of the commits and claims one in so many loses its answer on SQLite, where each walk takes a second. */
const LOST_ON_SQLITE = runs(9, 3)
const SEED = 20_261_122

const memory = (): StorageChoice => memoryStorage({ crypto: nodeCrypto })

/**
 * Where the outbox has a time of its own, the number of its calls is not fixed: a fault may never be met. Then nothing
 * went wrong, and all else must hold.
 */
const assertWell = ({ board, ledger, problems }: Walked, script: ScriptName, fault: Fault, isFixed = true): void => {
  const where = `${script}: ${saidOf(fault)}`
  assert.isEmpty(problems, `${where}: ${problems.join("; ")}`)
  assert.deepStrictEqual(board.struck, isFixed || board.struck.length > 0 ? [fault] : [], where)
  for (const [name, times] of answered[script])
    assert.strictEqual(ledger.answers.get(name) ?? 0, times, `${where}: ${name}`)
}

/**
 * How often each act is answered, whatever goes wrong once. A delivery that a fault cost an attempt is under way for
 * longer, so how it is redelivered is not said here.
 */
const answered: { readonly [script in ScriptName]: ReadonlyArray<readonly [string, number]> } = {
  capture: [
    ["register", 1],
    ["witness", 4],
    ["settle", 2],
    ["mint", 1],
    ["revoke", 1],
    ["meet", 1],
    ["gap", 1],
    ["announce", 1],
    ["sign", 2],
    ["export", 2],
    ["read keys", 1],
    ["read decisions", 1],
    ["read events", 1],
    ["read proof", 1],
    ["read counters", 1],
    ["take from a limit", 1]
  ],
  governed: [
    ["register", 1],
    ["evaluate", 5],
    ["account", 1],
    ["void", 1],
    ["waiver", 1],
    ["read decisions", 1]
  ],
  webhooks: [
    ["subscribe", 2],
    ["register", 1],
    ["mint", 1],
    ["switch", 2],
    ["deliveries", 7]
  ]
}

/**
 * Every method of the port and of its outbox, by the names that the wrapper gives them. `refold` is for stores with a
 * thread for it.
 */
const methods = (storage: StorageApi): ReadonlyArray<string> => [
  ...Object.keys(storage)
    .filter((name) => !["backend", "limits", "outbox", "refold"].includes(name))
    .map((name) => `storage.${name}`),
  "storage.limits.take",
  ...Object.keys(storage.outbox).map((name) => `storage.outbox.${name}`)
]

describe("scripts under injected faults", () => {
  it("call every method of the port, its outbox, the guard and the signer, and succeed without faults", async () => {
    const called = new Set<string>()
    for (const name of names) {
      const { board, problems } = await walk(memory(), noFaults, name)
      assert.isEmpty(problems, name)
      for (const point of board.calls.keys()) called.add(point)
    }
    // The idempotency table is read by checks alone, which walk without faults.
    const all = methods(await Effect.runPromise(Effect.provide(Storage, layerOf(memory())))).filter(
      (method) => method !== "storage.idempotencyKeys"
    )
    assert.include(all, "storage.outbox.forget")
    assert.sameMembers([...called], [...all, "guard.read", "guard.advance", "signer.sign", "signer.keys"])
  })

  for (const name of names) {
    const every =
      name === "capture" ? "every fault at every call" : `every fault at every write, and ${READS} of those at reads`
    const share = ONE_IN === 1 ? "" : `one in ${ONE_IN} of `
    it(`${name}: succeeds with ${share}${every}, in memory`, { timeout: 300_000 }, async () => {
      const all = await singleFaults(name)
      assert.isAbove(all.length, 500)
      const faults = name === "capture" ? all : thinnedOut(all, READS, SEED)
      assert.isAbove(faults.length, 200)
      for (const fault of faults.filter((_, at) => at % ONE_IN === 0))
        assertWell(await walk(memory(), faultsAt(fault), name), name, fault)
    })

    it(`${name}: succeeds with ${PAIRS} pairs of faults, in memory`, { timeout: 120_000 }, async () => {
      for (const pair of pairsOfFaults(await singleFaults(name), PAIRS, SEED)) {
        const { problems } = await walk(memory(), faultsAt(...pair), name)
        assert.isEmpty(problems, `${name}: ${pair.map(saidOf).join(", and ")}: ${problems.join("; ")}`)
      }
    })

    it(
      `${name}: succeeds with a lost answer at one in ${LOST_ON_SQLITE} commits and claims, ` +
        "and a sample of the other faults, on SQLite",
      { timeout: 240_000 },
      async () => {
        const folder = mkdtempSync(join(tmpdir(), "flyball-faults-"))
        try {
          const faults = (await singleFaults(name)).filter(
            ({ call, kind, point }, index) =>
              ((point === "storage.commit" || point === "storage.outbox.claim") &&
                kind === "answer lost" &&
                call % LOST_ON_SQLITE === 1) ||
              index % runs(457, 151) === 0
          )
          for (const [index, fault] of faults.entries())
            assertWell(
              await walk(sqliteStorage({ file: join(folder, `${index}.db`), small: true }), faultsAt(fault), name),
              name,
              fault,
              name !== "webhooks"
            )
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }
    )

    it(
      `${name}: succeeds with a lost answer at some commits, and a sample of the other faults, on Postgres`,
      { timeout: 240_000 },
      async () => {
        const { drop, url } = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
        try {
          const faults = await singleFaults(name)
          const lost = faults.filter(({ kind, point }) => point === "storage.commit" && kind === "answer lost")
          for (const [index, fault] of [
            ...lost.filter((_, at) => at % runs(27, 9) === 0),
            ...faults.filter((_, at) => at % runs(599, 199) === 0)
          ].entries()) {
            const { board, problems } = await walk(
              postgresStorage({ url, schema: `walk${index}`, maxConnections: 3 }),
              faultsAt(fault),
              name
            )
            assert.isEmpty(problems, `${name}: ${saidOf(fault)}: ${problems.join("; ")}`)
            // In a time of its own the outbox may have made fewer calls by then.
            if (name !== "webhooks") assert.deepStrictEqual(board.struck, [fault])
          }
        } finally {
          await drop()
        }
      }
    )
  }
})
