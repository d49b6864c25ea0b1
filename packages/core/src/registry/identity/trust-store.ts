/** The port of the trust store: which public keys may vouch for agents. */
import { Context, Effect, type Layer, Schema } from "effect"
import type { TrustedKey } from "@flyball/rules"
import type { TrustStoreUnavailable } from "../../foundation/trust-store-unavailable.ts"

/** Operations of a trust store. Spec: decision 0015. */
export interface TrustStoreApi {
  /**
   * Every trusted key as it is now, revoked ones too. Read for each card, so that a revocation counts at once; no two
   * have the same id.
   *
   * - Fails: `TrustStoreUnavailable` when the keys cannot be read; nothing is recorded then.
   */
  readonly keys: Effect.Effect<ReadonlyArray<TrustedKey>, TrustStoreUnavailable>
}

/** Port of the trust store. Without one no key is trusted, and no card is verified. Spec: decision 0015. */
export const TrustStore = Context.Reference<TrustStoreApi>("flyball/core/TrustStore", {
  defaultValue: () => ({ keys: Effect.succeed([]) })
})

/** A trust store, chosen but not opened yet: hosts without Effect pass it on and never read it. */
export interface TrustStoreChoice {
  /** `folder` …: for messages, never to branch on. */
  readonly trustKind: string
  readonly layer: unknown
}

/**
 * The trust store cannot be used: the start is refused, since without it no card would be verified, without a visible
 * reason. Spec: decision 0015.
 */
export class TrustStoreUnreadable extends Schema.TaggedError<TrustStoreUnreadable>()("TrustStoreUnreadable", {
  place: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The trust store ${this.place} cannot be used: ${this.reason}.`
  }
}

/** Layer of a trust store. */
export type TrustStoreLayer = Layer.Layer<never, TrustStoreUnreadable>

/** Makes a choice of trust store from a layer that provides {@link TrustStore}. */
export const trustStoreChoice = (trustKind: string, layer: TrustStoreLayer): TrustStoreChoice => ({ trustKind, layer })

/** Returns the layer of a choice. */
export const trustLayerOf = (choice: TrustStoreChoice): TrustStoreLayer => choice.layer as TrustStoreLayer
