/**
 * The normal form of an envelope: rules as unions of boxes over one grid of integers. Evaluator, analyser and verifier
 * share it.
 *
 * Spec: decision 0021; `SPEC.md` beside this file. Imports types and words alone: the offline verifier runs on it.
 */
import { outcomes } from "@flyball/evidence/words"
import type { TextCells } from "./text-cells.ts"

export { outcomes }

/** One of {@link outcomes}. */
export type Outcome = (typeof outcomes)[number]

/**
 * One thing that rules test. Every value is a safe integer: an enum member by its index in `values`, a text by that of
 * its cell, false and true as 0 and 1, an integer as itself.
 * Where a signal may be absent, absence is the point `min - 1`, which belongs to the axis.
 */
export interface Axis {
  /** Unique in the envelope: a signal, a derived signal, `meter:<id>` (its value after this action), or a latch. */
  readonly name: string
  readonly kind: "enum" | "int" | "bool" | "text"
  readonly origin: "caller" | "args" | "server" | "derived" | "meter" | "latch"
  /** Of origin `args`: the JSON pointer. */
  readonly from?: string
  /** Least and greatest value; an absent point lies below `min`. */
  readonly min: number
  readonly max: number
  /** Members of an enum, or a shortest text of each cell, in the order of their indices; null otherwise. */
  readonly values: ReadonlyArray<string> | null
  readonly mayBeAbsent: boolean
  /** Of kind `text`: its cells. */
  readonly text?: TextCells
}

/**
 * The values of one axis that a box admits. Intervals are inclusive; a set holds one bit a point, bit 0 the axis' least
 * point (absence where that may be).
 */
export type Range =
  | { readonly axis: number; readonly kind: "interval"; readonly from: number; readonly to: number }
  | { readonly axis: number; readonly kind: "set"; readonly bits: Uint32Array }

/**
 * Points whose every named axis lies in its range. At most one range an axis, by axis ascending; no range admits
 * everything, none is empty.
 */
export type Box = ReadonlyArray<Range>

/** A rule as the boxes it holds in: `when` without `unless`. No box: it holds nowhere. At most 64. */
export interface CompiledRule {
  readonly id: string
  /** Which layer it comes from: 0 is the tier floor, then org units from the outermost, then the agent's own. */
  readonly layer: number
  readonly outcome: Outcome
  readonly boxes: ReadonlyArray<Box>
}

/**
 * An envelope, or several layers of one, ready to run. The most restrictive of all rules that hold decides, ties to the
 * earliest.
 * A layer none of whose rules holds says its `otherwise`: one more verdict in that maximum, after all rules in a tie.
 * So a rule of one layer never
 * covers for the silence of another, and one more layer can only tighten.
 */
export interface Compiled {
  readonly axes: ReadonlyArray<Axis>
  readonly rules: ReadonlyArray<CompiledRule>
  /**
   * By layer, an entry for each. Null: where this layer is silent it says nothing (the tier floor, which is layer 0 of
   * a combination). At least one is not null.
   */
  readonly otherwise: ReadonlyArray<Outcome | null>
}
