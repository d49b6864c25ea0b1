/**
 * One life of a host: a governor with a memory of its own over ports that others share.
 *
 * Killed means: nothing of it happens any more. A call that was on its way to a port has not arrived, an answer on its
 * way back is not heard,
 * no finalizer runs.
 */
import {
  capabilityJobs,
  deliveryEngine,
  type DeliveryEngineOptions,
  Egress,
  Guard,
  governorJobs,
  governorLayer,
  type GovernorServices,
  Signer,
  type StartError,
  type WebhookSettingsApi
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { Ended } from "./client.ts"
import type { Agency } from "./agency.ts"
import { hopping, type Hop, type Ports, wayOf } from "./hop.ts"
import { outsideLayer, type Receivers } from "./receivers.ts"

/** The chain's name in simulations. */
export const ORIGIN = "flyball.example/simulation"

/** How often a stopping host checks whether everything was answered. */
const POLL_MS = 20

/** Additional parts of a host that sends webhooks. */
export interface Sending {
  readonly receivers: Receivers
  readonly engine?: DeliveryEngineOptions
  readonly settings?: Partial<WebhookSettingsApi>
}

/** One life of a host. */
export class Host {
  readonly #context: Context.Context<never>
  readonly #unanswered = new Set<() => void>()
  readonly #scope = Scope.makeUnsafe()
  #services: Context.Context<GovernorServices | Storage> | null = null
  #alive = true
  #serves = false

  /** `context` is what all its fibers run with: its clock, its randomness, the world's scheduler. */
  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  /** True while it takes questions. */
  get serves(): boolean {
    return this.#serves
  }

  /**
   * Opens the governor over ports that this life reaches by `hop`. Null when it was killed before. With `sending` it
   * has a server's jobs and sends webhooks; with an `agency` it has the platform's products, and their jobs.
   */
  open(
    ports: Ports,
    hop: Hop,
    sending: Sending | null = null,
    agency: Agency | null = null
  ): Effect.Effect<Ended<void, StartError>> {
    const alive = (): boolean => this.#alive
    const { guard, signer, storage } = hopping(ports, hop, alive)
    const capabilities = agency?.products ?? []
    const governor = governorLayer({ origin: ORIGIN, capabilities })
    const working =
      sending === null
        ? agency === null
          ? governor
          : capabilityJobs(capabilities).pipe(
              Layer.provideMerge(governor),
              Layer.provide(Layer.succeed(Egress, agency.reachedBy(wayOf(hop, alive), ports.storage)))
            )
        : Layer.mergeAll(governorJobs, deliveryEngine(sending.engine)).pipe(
            Layer.provideMerge(governor),
            Layer.provide(outsideLayer(sending.receivers, wayOf(hop, alive), sending.settings))
          )
    const layer = working.pipe(
      Layer.provideMerge(Layer.succeed(Storage, storage)),
      Layer.provide(Layer.mergeAll(Layer.succeed(Guard, guard), Layer.succeed(Signer, signer)))
    )
    return Effect.map(this.#run(this.#context, Layer.buildWithScope(layer, this.#scope), true), (ended) => {
      if (ended === null || Exit.isFailure(ended)) return ended
      this.#services = Context.merge(this.#context, ended.value)
      this.#serves = true
      return Exit.void
    })
  }

  /**
   * Puts a question; null when this life ends before there is an answer. With `leave`, who stops waiting leaves it
   * running.
   */
  call<A, E>(effect: Effect.Effect<A, E, GovernorServices | Storage>, leave: boolean): Effect.Effect<Ended<A, E>> {
    return this.#services !== null && this.#serves ? this.#run(this.#services, effect, leave) : Effect.succeed(null)
  }

  /** Ends it as SIGKILL does. */
  kill(): void {
    this.#alive = false
    this.#serves = false
    for (const forget of this.#unanswered) forget()
  }

  /** Ends it in order: no new questions, the open ones are answered, everything is closed. */
  stop(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#serves = false
      while (this.#unanswered.size > 0 && this.#alive) yield* Effect.sleep(POLL_MS)
      yield* this.#run(this.#context, Scope.close(this.#scope, Exit.void), true)
      this.kill()
    })
  }

  #run<A, E, R>(
    context: Context.Context<R>,
    effect: Effect.Effect<A, E, R>,
    leave: boolean
  ): Effect.Effect<Ended<A, E>> {
    return Effect.callback<Ended<A, E>>((resume) => {
      const forget = (): void => resume(Effect.succeed(null))
      if (!this.#alive) return forget()
      this.#unanswered.add(forget)
      const fiber = Effect.runForkWith(context)(effect)
      fiber.addObserver((exit) => {
        this.#unanswered.delete(forget)
        if (this.#alive) resume(Effect.succeed(exit))
      })
      return leave ? Effect.void : Effect.sync(() => fiber.interruptUnsafe())
    })
  }
}
