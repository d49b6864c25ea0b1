/** A few hundred seeds of the simulation, the kept ones first; and every checker finds the world that is broken for it. */
import type { GuardApi, SignedState } from "@flyball/core"
import type { ChangeSet, RecordDraft, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import type { Ports } from "./hop.ts"
import { failureText, Totals } from "./report.ts"
import { keptSeeds, seedsOf } from "./seeds.ts"
import { simulate } from "./simulate.ts"

const SEEDS = 300

const withStorage = (change: (storage: StorageApi) => Partial<StorageApi>) => (real: Ports): Ports => ({ ...real, storage: { ...real.storage, ...change(real.storage) } })

/** A store that does something else with commits that hold such a record. */
const withCommit = (kind: string, instead: (storage: StorageApi, change: ChangeSet, count: number) => ReturnType<StorageApi["commit"]>) => {
  let count = 0
  return withStorage((storage) => ({
    commit: (change) => (change.records ?? []).some((record) => record.kind === kind) ? instead(storage, change, ++count) : storage.commit(change)
  }))
}

/** Worlds that are broken, and the checker that must see it. Each is run over seeds until one of them meets it. */
const broken: ReadonlyArray<{ readonly what: string; readonly foundBy: string; readonly ports: () => (real: Ports) => Ports }> = [
  {
    what: "a store that forgets what a client_ref is for", foundBy: "capture",
    ports: () => withCommit("decision.witnessed", (storage, { records = [], ...change }) => storage.commit({ ...change, records: records.map((record): RecordDraft => ({ kind: record.kind, body: record.body, parts: record.parts, agentId: record.agentId })) }))
  },
  {
    what: "a store that acknowledges and does not write", foundBy: "capture",
    ports: () => withCommit("decision.witnessed", (storage, change, count) => count !== 3 ? storage.commit(change) : Effect.map(Effect.orDie(storage.head), (head) => ({
      head: head!, records: (change.records ?? []).map((_, index) => ({ seq: head!.seq + 1 + index, hash: new Uint8Array(32), atMs: head!.atMs, duplicate: false }))
    })))
  },
  {
    what: "a store whose documents come without their record", foundBy: "replay",
    ports: () => withCommit("ingest_key.revoked", (storage, change) => Effect.andThen(storage.commit({ puts: change.puts! }), Effect.map(Effect.orDie(storage.head), (head) => ({ head: head!, records: [{ ...head!, duplicate: false }] }))))
  },
  {
    what: "a store that changes a record after it was written", foundBy: "chain",
    ports: () => withStorage(({ records }) => ({
      records: (query) => Effect.map(records(query), (found) => found.map((record) => record.seq === 2 ? { ...record, bytes: record.bytes.with(record.bytes.length - 3, 0x37) } : record))
    }))
  },
  {
    what: "a guard that does not compare", foundBy: "guard",
    ports: () => (real) => {
      let held: SignedState | null = null
      const advance: GuardApi["advance"] = (_, to) => Effect.sync(() => {
        held = to
        return true
      })
      return { ...real, guard: { read: Effect.sync(() => held), advance } }
    }
  },
  {
    what: "a store that loses its tail after that was signed for", foundBy: "guard",
    ports: () => {
      let end = Number.MAX_SAFE_INTEGER
      return withStorage(({ commit, records }) => ({
        commit: (change) => Effect.tap(commit(change), () => Effect.sync(() => {
          const signed = Math.max(0, ...(change.puts ?? []).filter(({ collection }) => collection === "checkpoints").map(({ body }) => Number(body["size"])))
          if (signed > 10) end = Math.min(end, signed - 1)
        })),
        records: (query) => Effect.map(records(query), (found) => found.filter(({ seq }) => seq < end))
      }))
    }
  },
  {
    what: "a store that loses events", foundBy: "outbox",
    ports: () => withStorage(({ commit }) => ({ commit: (change) => commit({ ...change, events: [] }) }))
  },
  {
    what: "a store that never gives a lease", foundBy: "signing",
    ports: () => withStorage(() => ({ lease: () => Effect.succeed(false) }))
  },
  {
    // Of checkpoints it is caught before they are stored.
    what: "a signer that closes packs with another key than the one it shows", foundBy: "packs",
    ports: () => (real) => ({
      ...real,
      signer: { ...real.signer, sign: (message) => new TextDecoder().decode(message).includes("/evidence-pack/v1\n") ? Effect.succeed(new Uint8Array(64)) : real.signer.sign(message) }
    })
  }
]

/** Seeds that a broken world may take until it shows. */
const PATIENCE = 40

describe("the simulation", () => {
  it("is the same run for the same seed, and another for another", async () => {
    for (const seed of [1, 12, 97]) {
      const [first, again, other] = [await simulate(seed), await simulate(seed), await simulate(seed + 1)]
      assert.deepStrictEqual(again, first)
      assert.notStrictEqual(other.digest, first.digest)
    }
  })

  it("finds nothing wrong after any seed that failed once", async () => {
    for (const seed of keptSeeds()) {
      const result = await simulate(seed)
      assert.isEmpty(result.problems, failureText(result))
    }
  })

  it(`finds nothing wrong after ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
    const totals = new Totals()
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = await simulate(seed)
      assert.isEmpty(result.problems, failureText(result))
      totals.add(result)
    }
    // The runs must have met what they are about.
    for (const what of ["witness", "settle", "erase", "mint", "revoke", "sign", "export", "announce", "witness refused: ClientRefReused", "settle refused: DecisionAlreadySettled", "erase refused: PartErased"]) {
      assert.isAbove(totals.answers.get(what) ?? 0, 20, what)
    }
    assert.isAbove(totals.faults, 20 * SEEDS)
    assert.isAbove(totals.restarts, 5 * SEEDS)
  })

  it("keeps seeds with the reason why, and refuses a line that is neither", () => {
    assert.deepStrictEqual(seedsOf("# head\n\n42 signing: late\n7\n"), [42, 7])
    assert.throws(() => seedsOf("42\nx7\n"), /line 2/)
  })
})

describe("the checkers of the simulation", () => {
  for (const { foundBy, ports, what } of broken) {
    it(`${foundBy} finds ${what}`, async () => {
      for (let seed = 1; seed <= PATIENCE; seed++) {
        const { problems } = await simulate(seed, { ports: ports() })
        if (problems.some((problem) => problem.startsWith(`${foundBy}:`))) return
      }
      assert.fail(`no problem of ${foundBy} in ${PATIENCE} seeds`)
    })
  }
})
