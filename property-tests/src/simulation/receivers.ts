/**
 * Receivers of webhooks as the world has them: they answer, or do not, take in what they never say they took, and some
 * never come back. What reached them is kept.
 */
import {
  type Attempted,
  type OutgoingRequest,
  SecretBox,
  SecretUnreadable,
  WebhookSender,
  type WebhookSettingsApi,
  literalWebhookSettings,
  WebhookSettings
} from "@flyball/core"
import type { Pick } from "@flyball/testkit"
import { Context, Effect, Layer } from "effect"

/** How a receiver is. `ill`: nobody there until the calm. `dead`: it refuses for ever. */
export type Mood = "well" | "flaky" | "ill" | "dead"

/** All moods, the likely ones first. */
export const moods: ReadonlyArray<Mood> = ["well", "flaky", "ill", "dead"]

/** The address of a receiver: what it says is how it is. */
export const addressOf = (name: string, mood: Mood): string => `https://${mood}.example/${name}`

/** A request that reached a receiver. */
export interface ArrivedRequest {
  readonly url: string
  readonly eventId: string
  readonly deliveryId: string
  readonly sequence: number
  readonly attempt: number
  /** True when it was taken in. The sender may not know. */
  readonly taken: boolean
}

/** Longest that a receiver takes, and that a sender waits. Unit: milliseconds. */
const ANSWER_MS = 5_000

/** The receivers of one world. */
export class Receivers {
  /** Everything that arrived, in order. */
  readonly arrived: Array<ArrivedRequest> = []
  readonly #pick: Pick
  readonly #calm: () => boolean

  constructor(pick: Pick, calm: () => boolean) {
    this.#pick = pick
    this.#calm = calm
  }

  /** Takes a request in, or does not; answers what its sender will hear, and after how long. */
  take({ headers, url }: OutgoingRequest): { readonly heard: Attempted; readonly afterMs: number } {
    const { heard, taken } = this.#answer(moodOf(url))
    this.arrived.push({
      url,
      eventId: String(headers["webhook-id"]),
      deliveryId: String(headers["X-Platform-Delivery"]),
      sequence: Number(headers["webhook-sequence"]),
      attempt: Number(headers["X-Platform-Attempt"]),
      taken
    })
    return { heard, afterMs: this.#calm() || this.#pick(2) === 0 ? 0 : this.#pick(ANSWER_MS) }
  }

  #answer(mood: Mood): { readonly heard: Attempted; readonly taken: boolean } {
    if (mood === "dead") return { heard: failed(500), taken: false }
    if (this.#calm() || mood === "well") return { heard: accepted, taken: true }
    if (mood === "ill") return { heard: { ...accepted, statusCode: null, errorCode: "connect" }, taken: false }
    return [
      { heard: failed(500), taken: false },
      { heard: failed(503, this.#pick(100_000_000)), taken: false },
      { heard: { ...accepted, statusCode: null, errorCode: "timeout" as const }, taken: true },
      { heard: accepted, taken: true }
    ][this.#pick(4)]!
  }
}

const moodOf = (url: string): Mood => moods.find((mood) => url.startsWith(`https://${mood}.`))!

const accepted: Attempted = { statusCode: 204, errorCode: null, durationMs: 0, responseExcerpt: "", retryAfterMs: null }
const failed = (statusCode: number, retryAfterMs: number | null = null): Attempted => ({
  ...accepted,
  statusCode,
  errorCode: "http_status",
  retryAfterMs
})

/** Of simulated hosts nothing is forgotten: the checkers want to see all of it. */
const settings: WebhookSettingsApi = { ...literalWebhookSettings, keepMs: 365 * 86_400_000 }

/** One host's way out. `way` is the time on it; nothing arrives, and nothing is heard, when the host ends meanwhile. */
export const outsideLayer = (
  receivers: Receivers,
  way: Effect.Effect<void>,
  kept: Partial<WebhookSettingsApi> = {}
): Layer.Layer<WebhookSender | SecretBox> =>
  Layer.succeedContext(
    Context.empty().pipe(
      Context.add(WebhookSender, {
        send: (request) =>
          Effect.gen(function* () {
            yield* way
            const { afterMs, heard } = receivers.take(request)
            if (afterMs > 0) yield* Effect.sleep(afterMs)
            yield* way
            return heard
          }),
        urlProblem: () => null
      }),
      Context.add(SecretBox, box),
      Context.add(WebhookSettings, { ...settings, ...kept })
    )
  )

/** Enough to see that what was sealed for one opens for that one only. */
const box: SecretBox["Service"] = {
  keyId: "simulation",
  seal: (secret, boundTo) =>
    Effect.succeed(Uint8Array.from([...secret.map((byte) => byte ^ 255), ...new TextEncoder().encode(`|${boundTo}`)])),
  open: (sealed, boundTo) => {
    const end = new TextEncoder().encode(`|${boundTo}`)
    const at = sealed.length - end.length
    return at >= 0 && end.every((byte, index) => sealed[at + index] === byte)
      ? Effect.succeed(sealed.slice(0, at).map((byte) => byte ^ 255))
      : Effect.fail(new SecretUnreadable({ reason: "it was sealed for another" }))
  }
}
