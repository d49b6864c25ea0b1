/**
 * Test environment for chain, erasure and packs: a store, keys and services that can be opened again over the same
 * store.
 */
import { seededEntropy } from "@flyball/testkit"
import { Context, Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Erasure } from "../outward/erasure/service.ts"
import { Packs } from "../outward/packs/service.ts"
import { layerOf } from "../storage/choice.ts"
import { CommitFeed } from "../storage/commit-feed.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { type RecordDraft, Storage, type StorageApi } from "../storage/port.ts"
import { Chain } from "../chain/chain.ts"
import { checkpointAtCommits, Checkpointer } from "../chain/checkpointer.ts"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import type { Guard } from "../chain/keys/guard.ts"
import { keysLayerOf } from "../chain/keys/keys.ts"
import type { ChainOptions } from "../chain/open.ts"
import type { Signer } from "../chain/keys/signer.ts"
import type { StartError } from "../chain/keys/start-errors.ts"

/** The chain's name in tests. */
export const ORIGIN = "flyball.example/test"

/** A memory store and keys, from a seed. */
export const world = (seed: number | string = 1): Layer.Layer<Storage | Signer | Guard, StartError> =>
  Layer.mergeAll(layerOf(memoryStorage()), keysLayerOf(ephemeralKeys())).pipe(Layer.provide(seededEntropy(seed)))

/** The services of this folder, opened over whatever store and keys are there. They close with the scope. */
export const open = (options: ChainOptions = { origin: ORIGIN }) => {
  const signing = Checkpointer.layer(options).pipe(Layer.provideMerge(Chain.layer(options)))
  const services = Layer.mergeAll(Erasure.layer, Packs.layer(), checkpointAtCommits).pipe(
    Layer.provideMerge(signing),
    Layer.provide(CommitFeed.layer),
    Layer.fresh
  )
  return Effect.map(Layer.build(services), (context) => ({
    chain: Context.get(context, Chain),
    checkpointer: Context.get(context, Checkpointer),
    erasure: Context.get(context, Erasure),
    packs: Context.get(context, Packs)
  }))
}

/** Opens, uses and closes before going on: a process that came and went. */
export const session = <A, E, R>(
  use: (services: Effect.Success<ReturnType<typeof open>>) => Effect.Effect<A, E, R>,
  options?: ChainOptions
) =>
  Effect.scoped(Effect.flatMap(open(options), use)) as Effect.Effect<
    A,
    E | StartError,
    Exclude<R, Scope.Scope> | Storage | Signer | Guard
  >

/** A record of an agent's decision with one part. */
export const draft = (
  index: number,
  options: { readonly agentId?: string; readonly runId?: string; readonly parts?: ReadonlyArray<string> } = {}
): RecordDraft => ({
  kind: "decision.witnessed",
  agentId: options.agentId ?? "agt_one",
  body: {
    agent_id: options.agentId ?? "agt_one",
    client_ref: `c${index}`,
    run_id: options.runId ?? `run-${index % 3}`
  },
  parts: (options.parts ?? (index % 2 === 0 ? ["args"] : [])).map((name) => ({
    name,
    bytes: new TextEncoder().encode(`{"${name}":${index}}`)
  }))
})

/** Appends records `from` to `to`, inclusive. */
export const append = (from: number, to: number) =>
  Effect.flatMap(Storage, (storage) =>
    storage.commit({ records: Array.from({ length: to - from + 1 }, (_, index) => draft(from + index)) })
  )

/** The store with some methods replaced: what tampering, loss and rollback are from above. */
export const replaceStorage = (change: (storage: StorageApi) => Partial<StorageApi>) =>
  Effect.updateService(Storage, (storage: StorageApi) => ({ ...storage, ...change(storage) }))

/** Lets background fibers and the promises they wait for come to rest, moves the clock, and lets them rest again. */
export const pass = (ms: number): Effect.Effect<void> =>
  settled.pipe(Effect.andThen(TestClock.adjust(ms)), Effect.andThen(settled))

/** Turns of the event loop in which a checkpoint over this store is surely made: each takes a handful. */
const TURNS = 50

const settled = Effect.promise(async () => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
})
