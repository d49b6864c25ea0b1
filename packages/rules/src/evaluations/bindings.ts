/** Caches the bindings that evaluations are recomputed with: one for all layers of the same content. */
import type { Meter, Ready } from "@flyball/envelope"
import { type Binding, hasLatches, type Layer, ownersOf, readsArgs, readyOf } from "./layers.ts"
import type { WindowLedger } from "@flyball/envelope"

/** A binding with what recomputation derives from it. */
export interface Bound extends Binding {
  /** The ledgers of each of its meters, by key. Versions of one envelope share them. */
  readonly ledgers: ReadonlyMap<Meter, Map<string, WindowLedger>>
  readonly hasLatches: boolean
  readonly readsArgs: boolean
  /** The first version whose content is withheld; null if every content is present or erased. */
  readonly hidden: Layer | null
}

/** Bindings in the cache. */
const MAX_KEPT = 1_000

/** Makes and caches bindings. `isGone` says whether a record erased a version. */
export class Bindings {
  readonly #readies = new Map<string, Ready | null>()
  readonly #bound = new Map<string, Bound>()
  readonly #ledgers = new Map<string, Map<string, WindowLedger>>()
  readonly #isGone: (layer: Layer) => boolean

  constructor(isGone: (layer: Layer) => boolean) {
    this.#isGone = isGone
  }

  /** Empties the cache: a later record of a waiver may change what it excepts. */
  forget(): void {
    this.#readies.clear()
    this.#bound.clear()
  }

  of(layers: ReadonlyArray<Layer>, isTrial: boolean): Bound {
    const names = layers.map((layer) => `${layer.envelopeId}.${layer.version} ${contentOf(layer)}`)
    const key = `${isTrial ? "shadow " : ""}${names.join(" ")}`
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
      readsArgs: readsArgs(ready),
      hidden: layers.find((layer) => layer.envelope === null && !this.#isGone(layer)) ?? null
    }
  }

  /** Agents often have envelopes of equal content. The compiled form depends on the content alone. */
  #ready(layers: ReadonlyArray<Layer>): Ready | null {
    const key = layers.map(contentOf).join(" ")
    const known = this.#readies.get(key)
    if (known !== undefined) return known
    if (this.#readies.size >= MAX_KEPT) this.#readies.clear()
    const made = readyOf(layers)
    this.#readies.set(key, made)
    return made
  }

  #ledgersOf(name: string): Map<string, WindowLedger> {
    const known = this.#ledgers.get(name) ?? new Map<string, WindowLedger>()
    this.#ledgers.set(name, known)
    return known
  }
}

/** A version's digest is that of its content. An erased or withheld content differs from it. */
const contentOf = ({ digest, envelope, waivers }: Layer): string =>
  `${envelope === null ? "" : digest}${waivers.map(({ id, waiver }) => `+${waiver === null ? "" : id}`).join("")}`
