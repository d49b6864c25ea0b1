/**
 * Compares a published version with the versions in force before it, as the publication gate did. Spec: envelopes.md
 * 3.7 and 3.8; decisions 0025 and 0026.
 */
import { comparePublication, floored, type GateLayer, type Limits } from "@flyball/envelope"
import type { DiffReport, Envelope } from "@flyball/envelope"

/** A version in force, by its record. */
export interface PublishedLayer extends GateLayer {
  /** 64 hex digits. */
  readonly digest: string
}

/** Inputs of the publication gate, other than the published text. Spec: decision 0025. */
export interface GateView {
  /** The envelope in force for the org unit of the envelope's agent. */
  readonly outer: ReadonlyArray<PublishedLayer>
  /** The version that it replaces; null where none was in force. */
  readonly own: PublishedLayer | null
  readonly isWithdrawn: boolean
  /** The envelopes in force for the agents of the envelope's org unit. */
  readonly inner: ReadonlyArray<PublishedLayer>
}

/** The result of the comparison. `isOpen`: the budget ended before the change was proved to be one or the other. */
export interface ComparedVersion {
  readonly change: DiffReport["change"]
  readonly sentence: string
  readonly isOpen: boolean
}

/**
 * Compares a publication. Null where the version does not fit the others: everything is denied under it, and the gate
 * would have refused it. Spec: decision 0025.
 */
export const judgePublication = (
  later: Envelope,
  { inner, isWithdrawn, outer, own }: GateView,
  limits: Limits
): ComparedVersion | null => {
  const to = floored([...outer.flatMap(({ envelope }) => envelope ?? []), later])
  if (to === null) return null
  const before = isWithdrawn && own === null ? [] : [...outer, ...(own === null ? [] : [own])]
  const distinct = [
    ...new Map(inner.flatMap((layer) => (layer.envelope === null ? [] : [[layer.digest, layer] as const]))).values()
  ]
  const {
    isShown,
    report: { change, complete, sentence }
  } = comparePublication(later, to, { before, own: own?.envelope ?? null, outer, inner: distinct }, limits)
  return { change, sentence, isOpen: change === "unknown" && !complete && !isShown }
}
