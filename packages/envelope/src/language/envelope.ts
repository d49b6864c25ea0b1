/**
 * A parsed envelope: what `read-envelope.ts` makes of JSON that it found nothing wrong with. Names are known, constants
 * are in their domains.
 *
 * Spec: `SPEC.md` beside this file; decision 0021.
 */
import type { Outcome } from "./compiled.ts"
import type { FormName } from "./forms/forms.ts"

/** The version of the language. Another meaning is another text. */
export const SEMANTICS = "envelope/1"

/**
 * An envelope. Lists stand in the order of the JSON, which for members of objects is their order of names. Spec:
 * `envelope/1` section 2.
 */
export interface Envelope {
  readonly semantics: typeof SEMANTICS
  /** For people and registries; no evaluation reads them. */
  readonly envelopeId: string | null
  readonly version: number | null
  readonly name: string | null
  readonly scope: Scope | null
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly params: ReadonlyArray<Param>
  readonly meters: ReadonlyArray<Meter>
  readonly rules: ReadonlyArray<Rule>
  /** Class of each value of the signal `tool`; of `*`, which is every action, where there is no such signal. */
  readonly effects: ReadonlyMap<string, EffectClass>
  /**
   * Outcome where none of the envelope's rules holds. Null in the tier floor alone, which then has none; JSON cannot
   * express it.
   */
  readonly otherwise: "deny" | "require_review" | null
  /** `total`: a point that no rule covers is an error of the envelope. */
  readonly coverage: "total" | "allow_uncovered"
  /** Why an outcome may loosen from one tier to the next and tighten again; null: it may not. */
  readonly acceptNonMonotone: string | null
  /** Behaviour of the agent's SDK when the service cannot be reached. */
  readonly onUnavailable: "deny" | "allow_cached"
}

/** The target of an envelope, as its author wrote it. */
export interface Scope {
  readonly orgUnit: string | null
  readonly agents: ReadonlyArray<string>
}

/** Type of a signal. */
export type SignalType = "enum" | "int" | "bool" | "text"
/**
 * The source of the value: the agent, the arguments of the action, the service out of its own state, or the service out
 * of earlier evaluations of the run.
 */
export type SignalSource = "caller" | "args" | "server" | "latch"

/** A constant in a condition. */
export type Scalar = string | number | boolean

/** A declared input. */
export interface Signal {
  readonly name: string
  readonly type: SignalType
  readonly source: SignalSource
  /** Members of an enum; null otherwise. */
  readonly values: ReadonlyArray<string> | null
  /** True when the members of an enum are declared from low to high. */
  readonly ordered: boolean
  /** Least and greatest value; of an enum and a bool, of its indices. Of a text 0: its cells hang on the rules. */
  readonly min: number
  readonly max: number
  readonly unit: string | null
  /** True when it may be absent. */
  readonly optional: boolean
  /** The value that an absent one counts as; null: none. Never together with `optional`. */
  readonly onMissing: Scalar | null
  /** Of a latch: the bool signal that sets it; null otherwise. */
  readonly setBy: string | null
  /** Of source `args`: the JSON pointer into the arguments; null otherwise. */
  readonly from: string | null
  /** Of a text: the form that reads it, and the path that a relative one continues. Null: none. */
  readonly form: FormName | null
  readonly base: string | null
}

/** Function of a derived signal, with its version. */
export type DerivedFunction = "ratio_bp@1" | "difference@1" | "sum@1" | "product@1" | "min@1" | "max@1"

/** An integer computed from int signals. It is absent where an argument is. */
export interface Derived {
  readonly name: string
  readonly fn: DerivedFunction
  readonly args: ReadonlyArray<string>
  readonly min: number
  readonly max: number
}

/** A named constant. */
export interface Param {
  readonly name: string
  readonly value: Scalar | ReadonlyArray<Scalar>
}

/** A count or a sum over a sliding window. Spec: `envelope/1` section 6. */
export interface Meter {
  readonly id: string
  readonly op: "sum" | "count"
  /** The int signal or derived signal that is added up; null when counting. */
  readonly of: string | null
  /** Only actions with one of these values of each signal contribute. */
  readonly where: ReadonlyArray<MeterFilter>
  readonly windowMs: number
  /** `agent_id`, `org_unit`, `run_id` or names of enum signals: each combination has a window of its own. */
  readonly key: ReadonlyArray<string>
  /** Contributions that one window may hold; more is `@budget:<id>`. */
  readonly maxCount: number
  /** Greatest value: `maxCount` when counting, else `maxCount` times the greatest amount; below 2^53. */
  readonly max: number
}

/** One filter of a meter: the values of a signal that count. */
export interface MeterFilter {
  readonly signal: string
  readonly values: ReadonlyArray<Scalar>
}

/** A rule: it holds where `when` does and `unless` does not. */
export interface Rule {
  readonly id: string
  readonly outcome: Outcome
  readonly reason: string | null
  /** A conjunction; empty: everywhere. */
  readonly when: ReadonlyArray<Condition>
  /**
   * Exceptions, each a conjunction of its own (the rule's own, and waivers); the rule does not hold where one of them
   * does.
   */
  readonly unless: ReadonlyArray<ReadonlyArray<Condition>>
  readonly obligations: ReadonlyArray<Obligation>
  /** Of `allow_with_notice`: time to witness the notice, in ms. */
  readonly noticeMs: number | null
  /** Of `deny`: how long the same action digest stays denied without another item, in ms. */
  readonly retryAfterMs: number | null
  /** Of `deny`: what the agent might send instead. */
  readonly suggestion: string | null
}

/** A condition. `name` is that of an axis: a signal, a derived signal, or `meter:<id>`. */
export type Condition =
  | { readonly kind: "test"; readonly name: string; readonly test: Test }
  | { readonly kind: "any" | "all"; readonly of: ReadonlyArray<Condition> }
  | { readonly kind: "not"; readonly of: Condition }

/** The condition on one value. An absent value passes `present: false` and nothing else. */
export type Test =
  | { readonly op: "in" | "nin"; readonly values: ReadonlyArray<Constant> }
  | { readonly op: "eq" | "lt" | "lte" | "gt" | "gte"; readonly value: Constant }
  | { readonly op: "between" | "length"; readonly from: Constant; readonly to: Constant }
  | { readonly op: "prefix"; readonly prefix: Constant }
  | { readonly op: "suffix" | "under"; readonly value: Constant }
  | { readonly op: "is" | "present" | "readable"; readonly value: boolean }

/** A constant, and the param that named it. */
export interface Constant {
  readonly value: Scalar
  readonly param: string | null
}

/** An obligation that comes with an outcome. */
export type Obligation =
  | { readonly type: "notify"; readonly to: ReadonlyArray<string> }
  | { readonly type: "redact_fields"; readonly fields: ReadonlyArray<string> }
  | { readonly type: "reviewers"; readonly role: string; readonly approvals: number; readonly ttlMs: number }
  | { readonly type: "sample_for_eval_bp"; readonly bp: number }
  | { readonly type: "cooldown_ms"; readonly ms: number }
  | { readonly type: "two_person" }

/** Effects of an action on the world, from harmless to final. */
export const effectClasses = ["read", "write_reversible", "external_message", "money", "irreversible"] as const

/** One of {@link effectClasses}. Spec: `envelope/1` section 10. */
export type EffectClass = (typeof effectClasses)[number]
