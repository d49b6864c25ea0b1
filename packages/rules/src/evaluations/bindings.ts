/** What evaluations are made again with: bindings of layers, made once for layers of the same content. */
import type { Meter, Ready } from "@flyball/envelope"
import { type Binding, hasLatches, type Layer, ownersOf, readyOf } from "./layers.ts"
import { SignalPoints } from "./signal-points.ts"
import type { WindowLedger } from "./window-ledger.ts"

/** A binding with everything that it alone says. */
export interface Bound extends Binding {
  /** The ledgers of each of its meters, by key. They are those of its owner's meter, whatever the version. */
  readonly ledgers: ReadonlyMap<Meter, Map<string, WindowLedger>>
  readonly hasLatches: boolean
  /** What its evaluations say of signals, from bytes; null where nothing is in force. */
  readonly points: SignalPoints | null
  /** Memory for the trace of the evaluation at hand. */
  readonly failedOn: Array<number>
  /** Latches in the order of their names, each with the axes of which one that is true sets it. */
  readonly setters: ReadonlyArray<{ readonly name: string; readonly axes: ReadonlyArray<number> }>
  /** The first version whose content is not shown; null where all is, or is gone. */
  readonly hidden: Layer | null
}

/** Bindings that are kept. */
const MAX_KEPT = 1_000

/** Makes them. `isGone` says of a version whether a record tells that it was erased. */
export class Bindings {
  readonly #readies = new Map<string, Ready | null>()
  readonly #points = new WeakMap<Ready, SignalPoints>()
  readonly #bound = new Map<string, Bound>()
  readonly #ledgers = new Map<string, Map<string, WindowLedger>>()
  readonly #isGone: (layer: Layer) => boolean

  constructor(isGone: (layer: Layer) => boolean) {
    this.#isGone = isGone
  }

  /** Forgets what was made of waivers: one that is told again under its id may except something else. */
  forget(): void {
    this.#readies.clear()
    this.#bound.clear()
  }

  of(layers: ReadonlyArray<Layer>, isTrial: boolean): Bound {
    const key = `${isTrial ? "shadow " : ""}${layers.map((layer) => `${layer.envelopeId}.${layer.version} ${contentOf(layer)}`).join(" ")}`
    const known = this.#bound.get(key)
    if (known !== undefined) return known
    if (this.#bound.size >= MAX_KEPT) this.#bound.clear()
    const made = this.#made(layers, isTrial)
    this.#bound.set(key, made)
    return made
  }

  #made(layers: ReadonlyArray<Layer>, isTrial: boolean): Bound {
    const ready = this.#ready(layers)
    const owners = ownersOf(layers)
    return {
      layers,
      ready,
      owners,
      ledgers: new Map(
        (ready?.combination.meters ?? []).map((meter) => [
          meter,
          this.#ledgersOf(`${isTrial ? "shadow " : ""}${owners.get(meter.id) ?? ""} ${meter.id}`)
        ])
      ),
      hasLatches: hasLatches(ready),
      failedOn: ready === null ? [] : ready.table.blank.slice(),
      points: ready === null ? null : this.#pointsOf(ready),
      setters: ready === null ? [] : settersOf(ready),
      hidden: layers.find((layer) => layer.envelope === null && !this.#isGone(layer)) ?? null
    }
  }

  /** Agents have envelopes of their own that say the same: what is compiled depends on the content alone. */
  #ready(layers: ReadonlyArray<Layer>): Ready | null {
    const key = layers.map(contentOf).join(" ")
    const known = this.#readies.get(key)
    if (known !== undefined) return known
    if (this.#readies.size >= MAX_KEPT) this.#readies.clear()
    const made = readyOf(layers)
    this.#readies.set(key, made)
    return made
  }

  #pointsOf(ready: Ready): SignalPoints {
    const points = this.#points.get(ready) ?? new SignalPoints(ready.decoder)
    this.#points.set(ready, points)
    return points
  }

  #ledgersOf(name: string): Map<string, WindowLedger> {
    const known = this.#ledgers.get(name) ?? new Map<string, WindowLedger>()
    this.#ledgers.set(name, known)
    return known
  }
}

/** A version's digest is that of its content. What was erased, or is not shown, is another content. */
const contentOf = ({ digest, envelope, waivers }: Layer): string =>
  `${envelope === null ? "" : digest}${waivers.map(({ id, waiver }) => `+${waiver === null ? "" : id}`).join("")}`

/** A layer's latch is set by a signal of that layer, which the combination has under the same name. */
const settersOf = ({ combination: { layers, signals } }: Ready): Bound["setters"] => {
  const axes = new Map<string, ReadonlyArray<number>>()
  for (const layer of layers) {
    for (const { name, setBy } of layer.signals) {
      const by = setBy === null ? undefined : layer.signals.find((signal) => signal.name === setBy)
      if (by?.type !== "bool" || by.source === "latch") continue
      axes.set(name, [...(axes.get(name) ?? []), signals.findIndex((signal) => signal.name === by.name)])
    }
  }
  return [...axes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, all]) => ({ name, axes: all }))
}
