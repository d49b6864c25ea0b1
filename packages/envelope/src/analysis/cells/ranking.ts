import { type Compiled, type Outcome, outcomes } from "../../language/compiled.ts"

/**
 * The element that decides an input: a rule, or a layer of which no rule holds. Numbers are places in the compiled
 * envelope.
 */
export type Decider =
  | { readonly kind: "rule"; readonly rule: number; readonly outcome: Outcome }
  | { readonly kind: "silence"; readonly layer: number; readonly outcome: Outcome }

/**
 * All deciders by precedence: most restrictive first, rules before silent layers, then in their order. A rank is a
 * place in `deciders`.
 */
export interface Ranking {
  readonly deciders: ReadonlyArray<Decider>
  readonly ofRule: ReadonlyArray<number>
  /** Null for a layer that says nothing where it is silent. */
  readonly ofLayer: ReadonlyArray<number | null>
}

/** Severity of an outcome: 0 for allow to 4 for halt. */
export const severityOf = (outcome: Outcome): number => outcomes.indexOf(outcome)

/** Ranks what can decide. Spec: `compiled.ts`, most restrictive wins, ties to the earliest, silence after rules. */
export const rankingOf = (compiled: Compiled): Ranking => {
  const rules = compiled.rules.map(({ outcome }, rule): Decider => ({ kind: "rule", rule, outcome }))
  const silences = compiled.otherwise.flatMap((outcome, layer): ReadonlyArray<Decider> =>
    outcome === null ? [] : [{ kind: "silence", layer, outcome }]
  )
  const deciders = [...rules, ...silences].sort((left, right) => severityOf(right.outcome) - severityOf(left.outcome))
  const ofRule = compiled.rules.map(() => 0)
  const ofLayer = compiled.otherwise.map((): number | null => null)
  deciders.forEach((decider, rank) => {
    if (decider.kind === "rule") ofRule[decider.rule] = rank
    else ofLayer[decider.layer] = rank
  })
  return { deciders, ofRule, ofLayer }
}
