/** Combines layers of envelopes for evaluation. Spec: `envelope/1` sections 9 and 10; decision 0025. */
import {
  type Action,
  compile,
  latchesSetBy,
  prepare,
  type Ready,
  waive,
  type Waiver,
  withTierFloor
} from "@flyball/envelope"
import type { Envelope, Values } from "@flyball/envelope"

/** A published version, as records name it. Spec: format 1 section 8, `evaluation.made`. */
export interface LayerRef {
  readonly envelopeId: string
  readonly version: number
  /** 64 hex digits. */
  readonly digest: string
}

/**
 * A version in force with the waivers in force. `envelope` is null where its content is gone or cannot be read: then
 * nothing can be decided under it. Spec: `envelope/1` section 9; decision 0025.
 */
export interface Layer extends LayerRef {
  readonly envelope: Envelope | null
  readonly waivers: ReadonlyArray<{ readonly id: string; readonly waiver: Waiver | null }>
}

/**
 * The envelopes, waivers and facts of an evaluation: its layers, outermost first, and their combination; null where
 * every verdict is a denial. Spec: `envelope/1` section 9; decision 0025.
 */
export interface Binding {
  readonly layers: ReadonlyArray<Layer>
  readonly ready: Ready | null
  /**
   * Owner of each meter: the outermost envelope that declares it. A contribution belongs to a meter within one
   * envelope.
   */
  readonly owners: ReadonlyMap<string, string>
}

/** A binding without an envelope in force. */
export const unbound: Binding = { layers: [], ready: null, owners: new Map() }

/**
 * Combines layers under the tier floor. Layers that do not fit together, or whose content is erased, permit nothing.
 * Spec: `envelope/1` sections 9 and 10; decision 0025.
 */
export const bind = (layers: ReadonlyArray<Layer>): Binding => ({
  layers,
  ready: readyOf(layers),
  owners: ownersOf(layers)
})

/** The compiled form of layers. It depends on their contents and waivers, not on the agent. */
export const readyOf = (layers: ReadonlyArray<Layer>): Ready | null => {
  const envelopes = layers.flatMap(({ envelope, waivers }) =>
    envelope === null
      ? []
      : [
          waive(
            envelope,
            waivers.flatMap(({ waiver }) => waiver ?? [])
          )
        ]
  )
  const combination =
    layers.length === 0 || envelopes.length < layers.length ? null : compile(withTierFloor(envelopes)).combination
  return combination === null ? null : prepare(combination)
}

/** The owner of each meter of some layers. */
export const ownersOf = (layers: ReadonlyArray<Layer>): ReadonlyMap<string, string> => {
  const owners = new Map<string, string>()
  layers.forEach(({ envelope, envelopeId }) =>
    envelope?.meters.forEach(({ id }) => owners.has(id) || owners.set(id, envelopeId))
  )
  return owners
}

/** The longest window of a binding. Unit: milliseconds. Spec: `envelope/1` section 6. */
export const longestWindowOf = ({ ready }: Binding): number =>
  ready === null ? 0 : Math.max(0, ...ready.combination.meters.map(({ windowMs }) => windowMs))

/** True when evaluations under a binding read latches, and so their run. Spec: `envelope/1` section 3. */
export const hasLatches = (ready: Ready | null | undefined): boolean =>
  ready?.combination.signals.some(({ source }) => source === "latch") === true

/** True when evaluations under a binding read the arguments of the action. Spec: `envelope/1` section 3. */
export const readsArgs = (ready: Ready | null | undefined): boolean =>
  ready?.combination.signals.some(({ source }) => source === "args") === true

/**
 * The latches that an evaluation sets in its run, in the order of their names. Each layer reads what is missing as it
 * declares it. Spec: `envelope/1` sections 3 and 9.
 */
export const latchesOf = (
  bindings: ReadonlyArray<Binding>,
  { args, runId, signals }: Action,
  server: Values
): ReadonlyArray<string> =>
  runId === null
    ? []
    : [
        ...new Set(
          bindings.flatMap(({ ready }) =>
            ready === null || !hasLatches(ready)
              ? []
              : ready.combination.layers.flatMap((layer) => latchesSetBy(layer.signals, signals, server, args))
          )
        )
      ].sort()
