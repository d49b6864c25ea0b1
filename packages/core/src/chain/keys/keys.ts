/** The keys that a governor signs with, as an opaque value: hosts without Effect pass it on and never read it. */
import type { Layer } from "effect"
import type { Guard } from "./guard.ts"
import type { Signer } from "./signer.ts"
import type { StartError } from "./start-errors.ts"

/** Layer that provides a signer and a guard. */
export type KeysLayer = Layer.Layer<Signer | Guard, StartError>

/** Signing key and guard, chosen but not opened yet. Spec: decision 0007. */
export interface KeysChoice {
  /** `memory`, `files` …: for messages, never to branch on. */
  readonly keysKind: string
  readonly layer: unknown
}

/** A layer of keys, or how to make one for the name of the chain that the host gave. */
type KeysSource = KeysLayer | ((origin: string | undefined) => KeysLayer)

/**
 * Makes a choice of keys from a layer. For people who write a signer of their own. A function gets the option `origin`
 * of the governor, so that keys which begin with this start begin under that name.
 */
export const keysChoice = (keysKind: string, layer: KeysSource): KeysChoice => ({ keysKind, layer })

/** Returns the layer of a choice, for a governor with this option `origin`. */
export const keysLayerOf = (choice: KeysChoice, origin?: string): KeysLayer => {
  const source = choice.layer as KeysSource
  return typeof source === "function" ? source(origin) : source
}
