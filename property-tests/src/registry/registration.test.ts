/**
 * Fifty callers register agents at once, under few names written in several ways, in random order, with random pauses
 * at every step of the store.
 */
import { AgentCreate } from "@flyball/contract"
import { Agents, ephemeralKeys, governorLayer, type GovernorServices, keysLayerOf, systemHost } from "@flyball/core"
import { layerOf, memoryStorage, Storage, type StorageApi, type StorageChoice } from "@flyball/core/storage"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

/** The same races every time: a difference that was found once is found again. */
const seed = 20_261_122
const races = { memory: 60, SQLite: 20 }
const CALLERS = 50

/** Names that normal form C makes the same are the same name; names that only resemble each other are not. */
const alike = ["caf\u00e9", "cafe", "Z\u00fcrich", "z\u00fcrich", "\uac00", "\u{1f600}", "\u212b", "\uf9c4"]

/** One caller: whose name in which writing, whether it asks for a new agent only, and where it pauses. */
const caller = fc.record({ name: fc.nat(1_000), writing: fc.nat(2), creates: fc.boolean(), startsAfter: fc.nat(6) })
const race = fc.record({
  names: fc.uniqueArray(
    fc.oneof(
      fc.constantFrom(...alike),
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
        .filter((name) => name.isWellFormed() && !name.includes("\0"))
    ),
    {
      minLength: 1,
      maxLength: 8,
      selector: (name) => name.normalize("NFC")
    }
  ),
  callers: fc.array(caller, { minLength: CALLERS, maxLength: CALLERS, size: "max" }),
  pauses: fc.array(fc.nat(4), { minLength: 1, maxLength: 200, size: "max" })
})

/** As every caller's words come in. */
const decode = Schema.decodeUnknownSync(AgentCreate)

const pause = (times: number): Effect.Effect<void> => Effect.repeat(Effect.yieldNow, { times })

/** The store underneath, with a pause of random length before each thing that registering asks of it. */
const pausing = (pauses: ReadonlyArray<number>) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => {
      let at = 0
      const after = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.andThen(
          Effect.suspend(() => pause(pauses[at++ % pauses.length]!)),
          effect
        )
      const slow: StorageApi = {
        ...storage,
        commit: (change) => after(storage.commit(change)),
        find: (...requested) => after(storage.find(...requested)),
        get: (...requested) => after(storage.get(...requested))
      }
      return slow
    })
  )

const within = <A>(
  choice: StorageChoice,
  pauses: ReadonlyArray<number>,
  inside: Effect.Effect<A, unknown, GovernorServices | Storage>
): Promise<A> =>
  inside.pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/race" }).pipe(
        Layer.provideMerge(pausing(pauses).pipe(Layer.provide(layerOf(choice)))),
        Layer.provide(keysLayerOf(ephemeralKeys()))
      )
    ),
    Effect.runPromise
  )

const property = (open: () => StorageChoice, numRuns: number) =>
  fc.assert(
    fc.asyncProperty(race, ({ callers, names, pauses }) =>
      within(
        open(),
        pauses,
        Effect.gen(function* () {
          const agents = yield* Agents
          const requested = callers.map(({ creates, name, startsAfter, writing }) => {
            const wanted = names[name % names.length]!
            const input = decode({
              name: [wanted, wanted.normalize("NFC"), wanted.normalize("NFD")][writing],
              org_unit: "ops"
            })
            const answer = creates
              ? agents.create(input, systemHost).pipe(
                  Effect.map(({ id }) => ({ id, created: true })),
                  Effect.catchTag("AgentNameTaken", ({ agentId }) =>
                    Effect.succeed({ id: agentId ?? "hidden", created: false })
                  )
                )
              : agents.register(input, systemHost).pipe(Effect.map(({ agent, created }) => ({ id: agent.id, created })))
            return Effect.andThen(pause(startsAfter), answer).pipe(
              Effect.map((got) => ({ ...got, name: wanted.normalize("NFC") }))
            )
          })
          const answers = yield* Effect.all(requested, { concurrency: "unbounded" })
          const ids = new Map<string, Set<string>>()
          for (const { id, name } of answers) ids.set(name, (ids.get(name) ?? new Set()).add(id))
          // One agent per name, and every caller got its id.
          expect([...ids.values()].map(({ size }) => size)).toEqual([...ids].map(() => 1))
          // One caller of each made it, by any way of calling.
          expect(
            answers
              .filter(({ created }) => created)
              .map(({ name }) => name)
              .sort()
          ).toEqual([...ids.keys()].sort())
          const stored = yield* agents.list({ limit: 1_000 })
          expect(stored.map(({ id, name }) => `${name} ${id}`).sort()).toEqual(
            [...ids].map(([name, [id]]) => `${name} ${id}`).sort()
          )
          const records = yield* Storage.use((storage) =>
            storage.records({ kinds: ["agent.registered"], limit: 1_000 })
          )
          expect(records.map(({ agentId }) => agentId).sort()).toEqual(stored.map(({ id }) => id).sort())
        })
      )
    ),
    { numRuns, seed, endOnFailure: true }
  )

describe("fifty concurrent callers register one agent per name, and all get its id", () => {
  it("in memory", { timeout: 120_000 }, () => property(memoryStorage, races.memory))
  it("on SQLite", { timeout: 120_000 }, () => property(() => sqliteStorage({ file: ":memory:" }), races.SQLite))
})
