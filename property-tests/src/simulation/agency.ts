/** The agents that steps of workflows call, as the world has them: some answers are lost, and some are refusals. */
import type { AgentCall, AgentCalled, Capability, EgressApi } from "@flyball/core"
import type { StorageApi } from "@flyball/core/storage"
import type { Pick } from "@flyball/testkit"
import { Effect } from "effect"
import { platform, type PlatformOptions } from "../../../packages/platform/src/index.ts"

/** A request on its way to an agent. */
export interface SentRequest {
  /** Its `Idempotency-Key`: execution and step. */
  readonly key: string
  /** The head of the chain as it was sent. */
  readonly seq: number
}

/** All agents of one world. Each does once what has one key. */
export class Agency {
  readonly sent: Array<SentRequest> = []
  /** How often something was done, by key. */
  readonly done = new Map<string, number>()
  /** Products of the hosts. */
  readonly products: ReadonlyArray<Capability>
  readonly #pick: Pick
  readonly #calm: () => boolean

  constructor(pick: Pick, calm: () => boolean, options: PlatformOptions = {}) {
    this.products = [platform(options)]
    this.#pick = pick
    this.#calm = calm
  }

  /** One host's way to them. `storage` is the real one: what was recorded as a request was sent. */
  reachedBy(way: Effect.Effect<void>, storage: StorageApi): EgressApi {
    return {
      call: (call) =>
        Effect.gen({ self: this }, function* () {
          const head = yield* Effect.orDie(storage.head)
          this.sent.push({ key: keyOf(call), seq: head?.seq ?? -1 })
          yield* way
          const called = this.#take(keyOf(call))
          yield* way
          return called
        }),
      stream: () => Effect.die(new Error("no workflow reads a stream")),
      urlProblem: () => null,
      headersProblem: () => null
    }
  }

  #take(key: string): AgentCalled {
    const mood = this.#calm() ? 0 : this.#pick(8)
    if (mood === 7) return { ...answered, statusCode: null, errorCode: "connect" }
    if (mood === 6) return { ...answered, statusCode: 503 }
    if (!this.done.has(key)) this.done.set(key, 1)
    return mood === 5 ? { ...answered, statusCode: null, errorCode: "timeout" } : answered
  }
}

const keyOf = ({ headers }: AgentCall): string => headers["idempotency-key"]!.replaceAll('"', "")

const answered: AgentCalled = {
  statusCode: 200,
  errorCode: null,
  body: new TextEncoder().encode("{}"),
  isComplete: true,
  isTooLarge: false,
  durationMs: 1,
  retryAfterMs: null
}
