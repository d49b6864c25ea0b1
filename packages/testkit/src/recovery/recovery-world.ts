/** The chain that recovery cases start from, and checks of its state after them. */
import {
  Agents,
  Capture,
  Checkpointer,
  governorLayer,
  type GovernorServices,
  IngestKeys,
  keysLayerOf,
  layerOf,
  recover,
  type RecoveryError,
  type Recovered,
  type StartError,
  type StorageChoice,
  systemHost
} from "@flyball/core"
import type { Storage, StorageOpenFault } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { KeptKeys } from "./kept-keys.ts"

/** The chain's name. */
export const ORIGIN = "flyball.test/recovery"
/** Its name after the first recovery, and after the second. */
export const SECOND = /^flyball\.test\/recovery~2-[0-9a-f]{8}$/

/** Names that the chain after two recoveries can have. */
export const THIRD = /^flyball\.test\/recovery~3-[0-9a-f]{8}$/

/** A store and keys. */
export interface RecoverySite {
  readonly storage: StorageChoice
  readonly keys: KeptKeys
}

/** Opens a governor for one use, and closes it: a process that came and went. */
export const session = <A, E>(
  { keys, storage }: RecoverySite,
  use: Effect.Effect<A, E, GovernorServices | Storage>,
  options: {
    readonly origin?: string
    readonly tenantId?: string
    readonly readOnly?: boolean
    readonly retired?: boolean
  } = {}
): Effect.Effect<A, E | StartError | StorageOpenFault> =>
  use.pipe(
    Effect.provide(
      Layer.fresh(
        governorLayer(options).pipe(Layer.provideMerge(layerOf(storage)), Layer.provide(keysLayerOf(keys.choice)))
      )
    )
  )

/** Facts about a chain with a history, to compare after a recovery. */
export interface Lived {
  readonly agentId: string
  /** Of an ingest key that opens something, and of one that was revoked. */
  readonly key: string
  readonly keyId: string
  readonly revokedId: string
  /** Records, all of them signed for. */
  readonly size: number
}

/**
 * Gives an empty store a chain with an agent, two keys, one of them revoked, `decisions` decisions, and a checkpoint.
 */
export const lived = (site: RecoverySite, decisions = 3): Effect.Effect<Lived, unknown> =>
  session(
    site,
    Effect.gen(function* () {
      const { agent } = yield* Agents.use((agents) =>
        agents.register(
          { name: "courier", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" },
          systemHost
        )
      )
      const key = yield* IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "ops" }, systemHost))
      const revoked = yield* IngestKeys.use((keys) => keys.mint({ name: "old ci", org_unit: "ops" }, systemHost))
      yield* IngestKeys.use((keys) => keys.revoke(revoked.id, systemHost))
      yield* witness(agent.id, decisions)
      const { size } = yield* Checkpointer.use(({ now }) => now)
      return { agentId: agent.id, key: key.key, keyId: key.id, revokedId: revoked.id, size }
    }),
    { origin: ORIGIN, tenantId: "acme" }
  )

/** Witnesses this many decisions, the same each time. */
export const witness = (agentId: string, count: number) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      Array.from({ length: count }, (_, step) => ({
        client_ref: `r${step}`,
        kind: "message" as const,
        action: "say",
        status: "ok" as const,
        step,
        args: { step }
      })),
      systemHost
    )
  )

/** Makes the guard remember more than the store holds: the guard's view of a store that was put back. */
export const putBack = ({ keys }: RecoverySite, missing: number): void => {
  keys.signed = { origin: keys.signed!.origin, size: keys.signed!.size + missing, rootHex: "5a".repeat(32) }
}

/** Recovers for this reason. */
export const recoveredWith = (
  { keys, storage }: RecoverySite,
  reason: string,
  origin?: string
): Effect.Effect<Recovered, RecoveryError> => recover({ keys: keys.choice, storage }, { reason, origin })

/** Recovers. */
export const recovered = (site: RecoverySite, origin?: string): Effect.Effect<Recovered, RecoveryError> =>
  recoveredWith(site, "the disk died", origin)

/** A site over this store, with keys of {@link ORIGIN}. */
export const siteOf = (storage: StorageChoice): RecoverySite => ({ storage, keys: new KeptKeys(ORIGIN) })
