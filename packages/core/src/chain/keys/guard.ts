/**
 * The Guard port: what was signed last, kept apart from the record store.
 *
 * Spec: chain-format section 4, "Signing guard". A store can be put back to an older copy; the guard is what notices.
 * It is one for all
 * processes that sign for an origin, and it is durable before a signature leaves.
 */
import type { Effect, Layer } from "effect"
import { Context } from "effect"
import type { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"

/**
 * A tree head that a signature was given for, or is about to be given for. Spec: format 1 section 4, "Signing guard".
 */
export interface SignedState {
  readonly origin: string
  /** Records in the tree, 1 or more. */
  readonly size: number
  /** 64 lower-case hex digits. */
  readonly rootHex: string
}

/** Operations of a guard: read, and compare-and-swap. Spec: format 1 section 4, "Signing guard"; decision 0007. */
export interface GuardApi {
  /** The last state that was advanced to; null before the first. */
  readonly read: Effect.Effect<SignedState | null, StorageUnavailable | StorageCorrupt>
  /**
   * Replaces `from` by `to` durably; false when the guard no longer holds `from`, and then nothing has changed.
   * Advancing to what the guard holds already is true and changes nothing: a crash after it is repeated harmlessly.
   */
  readonly advance: (
    from: SignedState | null,
    to: SignedState
  ) => Effect.Effect<boolean, StorageUnavailable | StorageCorrupt>
  /**
   * Reports whether this state came back from a copy, and nobody has said that nothing was signed after it: then no
   * chain is opened for writing on it, and a recovery may begin. Left out by a guard that cannot be copied.
   */
  readonly inDoubt?: Effect.Effect<boolean, StorageUnavailable | StorageCorrupt>
  /**
   * Where nothing was ever advanced to: whether it is known that the key has signed nothing. A key that came from
   * elsewhere may have, and no chain is begun with it.
   * Left out by a guard whose key cannot come from elsewhere.
   */
  readonly mayBegin?: Effect.Effect<boolean, StorageUnavailable | StorageCorrupt>
}

/**
 * Service of the signing guard: the last signed size and root. Spec: format 1 section 4, "Signing guard"; decision
 * 0007.
 */
export class Guard extends Context.Service<Guard, GuardApi>()("flyball/core/Guard") {}

/**
 * A guard apart from the keys, chosen and not opened yet: an opaque value for hosts without Effect. Spec: decision
 * 0042.
 */
export interface GuardChoice {
  /** `postgres` …: for messages, never to branch on. */
  readonly guardKind: string
  /** Read it with {@link guardLayerOf}. */
  readonly layer: unknown
}

/** Makes a choice of a guard from a layer. For authors of a guard. Spec: decision 0042. */
export const guardChoice = (
  guardKind: string,
  layer: Layer.Layer<Guard, StorageUnavailable | StorageCorrupt>
): GuardChoice => ({ guardKind, layer })

/** Returns the layer of a choice. Spec: decision 0042. */
export const guardLayerOf = (choice: GuardChoice): Layer.Layer<Guard, StorageUnavailable | StorageCorrupt> =>
  choice.layer as Layer.Layer<Guard, StorageUnavailable | StorageCorrupt>

/** Reports whether two guard states are the same. Spec: format 1 section 4, "Signing guard". */
export const sameState = (a: SignedState | null, b: SignedState | null): boolean =>
  a === null || b === null ? a === b : a.origin === b.origin && a.size === b.size && a.rootHex === b.rootHex
