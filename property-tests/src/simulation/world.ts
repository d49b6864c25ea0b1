/**
 * The ground of all hosts: the shared ports with the log under them, and the context of all fibers of a run.
 */
import { ephemeralKeys, EvidenceCrypto, Guard, keysLayerOf, Signer } from "@flyball/core"
import { Entropy, layerOf, Storage, type StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { seededSource, type SignLog } from "@flyball/testkit"
import { Clock, Context, Effect, Layer, Logger, Scheduler, type Scope } from "effect"
import type { Ports } from "./hop.ts"
import type { VirtualTime } from "./virtual-time.ts"

/** A context with this clock and randomness of this seed. Nothing is logged: what matters is in the trace. */
export const contextIn = (time: VirtualTime, seed: string, clock: Clock.Clock = time.clock()): Context.Context<never> =>
  Context.empty().pipe(
    Context.add(Clock.Clock, clock),
    Context.add(Scheduler.Scheduler, time.scheduler),
    Context.add(Entropy, seededSource(seed)),
    Context.add(EvidenceCrypto, nodeCrypto),
    Context.add(Logger.CurrentLoggers, new Set<Logger.Logger<unknown, unknown>>())
  )

/** Opens a store, a key and a guard for a run, and puts the log under the last two. They close with the scope. */
export const openPorts = (
  choice: StorageChoice,
  seed: string,
  log: SignLog,
  scope: Scope.Scope,
  instead: (real: Ports) => Ports = (real) => real
): Promise<Ports> =>
  Layer.buildWithScope(Layer.mergeAll(layerOf(choice), keysLayerOf(ephemeralKeys())), scope).pipe(
    Effect.map((context) => {
      const real = {
        storage: Context.get(context, Storage),
        guard: Context.get(context, Guard),
        signer: Context.get(context, Signer)
      }
      const { guard, signer, storage } = instead(real)
      return { storage, guard: log.guard(guard), signer: log.signer(signer) }
    }),
    Effect.provideContext(
      Context.empty().pipe(Context.add(Entropy, seededSource(seed)), Context.add(EvidenceCrypto, nodeCrypto))
    ),
    Effect.runPromise
  )
