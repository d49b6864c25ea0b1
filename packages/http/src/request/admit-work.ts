/** The bound on what a caller may have under way, as the row of an endpoint states it. */
import { type CaptureQueueFull, DEFAULT_PAGE, ReadQueueFull } from "@flyball/contract"
import type { AnyEndpoint } from "@flyball/contract/http"
import { Lane, MAX_PER_PRINCIPAL } from "@flyball/core"
import { Effect } from "effect"
import type { Incoming } from "../exchange.ts"
import { CaptureAdmission } from "./capture-admission.ts"

/** Admission of the requests of one server. */
export class WorkAdmission {
  readonly #capture = new CaptureAdmission()
  /** One a caller, while it has anything under way. */
  readonly #reads = new Map<string, { readonly lane: Lane; users: number }>()

  /**
   * Does `work`, the rest of a request, when its endpoint's row admits it.
   *
   * - Fails: `CaptureQueueFull`, before the body is read; `ReadQueueFull` at once.
   */
  admit<A, E, R>(
    { admission, body }: AnyEndpoint,
    caller: string,
    request: Incoming,
    query: unknown,
    work: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CaptureQueueFull | ReadQueueFull, R> {
    if (admission === "costly_read" || (admission === "large_page" && isLarge(query))) return this.#read(caller, work)
    if (admission !== "capture") return work
    const limit = body?.limitBytes ?? 0
    const length = request.headers["content-length"]
    const bytes = length === undefined ? limit : Number(length)
    // What is too large is refused by its length, and nothing of it is read.
    return bytes > limit ? work : this.#capture.pass(caller, bytes, work)
  }

  #read<A, E, R>(caller: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | ReadQueueFull, R> {
    return Effect.suspend(() => {
      const one = this.#reads.get(caller) ?? { lane: new Lane(), users: 0 }
      this.#reads.set(caller, one)
      one.users++
      const full = Effect.suspend(() => Effect.fail(new ReadQueueFull({ limit: MAX_PER_PRINCIPAL })))
      return Effect.ensuring(
        one.lane.admitted(caller, one.lane.inTurn(caller, work), full),
        Effect.sync(() => {
          if (--one.users === 0) this.#reads.delete(caller)
        })
      )
    })
  }
}

const isLarge = (query: unknown): boolean => Number((query as { readonly limit?: number }).limit ?? 0) > DEFAULT_PAGE
