/**
 * Proves that a standing approval covers no more than the review that it is made from. Pure: the service proves each
 * proposal, and the verifier proves it again. Spec: decisions 0022 and 0050.
 */
import { type Admitted, type BoxProof, type Combination, measuredProof, type Values } from "@flyball/envelope"
import { type ActionInputs, holds, type Pin, pinnedAxes } from "./pins.ts"

/** The action that was reviewed, and the rules that it was reviewed under. */
export interface ReviewedAction {
  readonly inputs: ActionInputs
  /** Signals of the service: those of the agent at the proposal, at the tier of the reviewed evaluation. */
  readonly server: Values
  /** The rules that required the review, see `askingFor` of the envelope language. */
  readonly asks: ReadonlyArray<number>
  readonly compiled: Combination["compiled"]
}

/**
 * `outside`: the reviewed action is not in its own box. `place`: that of the pin in the list. Spec: decisions 0050 and
 * 0056.
 */
export type StandingProof = BoxProof | { readonly kind: "outside"; readonly place: number }

/**
 * Proves that the box of a standing approval stays within its review. Takes up to some seconds. Spec: decisions 0050
 * and 0056.
 */
export const proveStanding = (reviewed: ReviewedAction, pins: ReadonlyArray<Pin>): StandingProof =>
  measuredStanding(reviewed, pins).proof

/** The proof of {@link proveStanding} with its work, in states of a search. Spec: decisions 0050 and 0056. */
export const measuredStanding = (
  { asks, compiled, inputs, server }: ReviewedAction,
  pins: ReadonlyArray<Pin>
): { readonly proof: StandingProof; readonly work: number } => {
  const place = pins.findIndex((pin) => !holds(pin, inputs))
  return place < 0
    ? measuredProof(compiled, admittedBy(compiled.axes, pins, inputs, server), asks)
    : { proof: { kind: "outside", place }, work: 1 }
}

/**
 * Lists the values that a box admits on the axes of the envelope: pinned signals and arguments; of the tool and the
 * service's signals the value that they had, since those are no choice of the agent.
 */
export const admittedBy = (
  axes: Combination["compiled"]["axes"],
  pins: ReadonlyArray<Pin>,
  { signals }: Pick<ActionInputs, "signals">,
  server: Values
): Readonly<Record<string, Admitted>> => {
  const tool = (signals as { readonly [name: string]: unknown } | null)?.["tool"]
  const fixed = { ...server, ...(typeof tool === "string" ? { tool } : {}) }
  return {
    ...Object.fromEntries(Object.entries(fixed).map(([name, eq]) => [name, { eq }])),
    ...Object.fromEntries(
      pins.flatMap((pin) => {
        const { path: _, ...admitted } = pin
        return pinnedAxes(axes, pin).map((name) => [name, admitted as Admitted])
      })
    )
  }
}
