/** The keys that a governor signs with, as an opaque value: hosts without Effect pass it on and never read it. */
import type { Layer } from "effect"
import type { Guard } from "./guard.ts"
import type { Signer } from "./signer.ts"
import type { StartError } from "./start-errors.ts"

/** What a keys layer provides. */
export type KeysLayer = Layer.Layer<Signer | Guard, StartError>

/** Signing key and guard, chosen but not opened yet. */
export interface KeysChoice {
  /** `memory`, `files` …: for messages, never to branch on. */
  readonly keysKind: string
  readonly layer: unknown
}

/** Makes a choice of keys from a layer. For people who write a signer of their own. */
export const keysChoice = (keysKind: string, layer: KeysLayer): KeysChoice => ({ keysKind, layer })

/** The layer inside a choice. */
export const keysLayerOf = (choice: KeysChoice): KeysLayer => choice.layer as KeysLayer
