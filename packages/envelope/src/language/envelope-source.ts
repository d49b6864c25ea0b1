/**
 * Types of an envelope as its author writes it: the JSON that `readEnvelope` reads. For editors and compilers of hosts;
 * what the types cannot say (names that exist, constants in their domains) is reported by lint.
 *
 * Spec: `envelope/1` sections 2 to 7.
 */
import type { Outcome } from "./compiled.ts"
import type { DerivedFunction, EffectClass, Scalar, SEMANTICS } from "./envelope.ts"
import type { FormName } from "./forms/forms.ts"

/** An envelope as JSON. Spec: `envelope/1` section 2. */
export type EnvelopeSource = {
  readonly semantics: typeof SEMANTICS
  readonly envelope_id?: string
  readonly version?: number
  readonly name?: string
  readonly scope?: { readonly org_unit?: string; readonly agents?: ReadonlyArray<string> }
  readonly signals: { readonly [name: string]: SignalText }
  readonly derived?: { readonly [name: string]: { readonly fn: DerivedFunction; readonly args: ReadonlyArray<string> } }
  readonly params?: { readonly [name: string]: Scalar | ReadonlyArray<Scalar> }
  readonly meters?: { readonly [id: string]: MeterSource }
  readonly rules: ReadonlyArray<RuleSource>
  /** Class of each value of the signal `tool`; of `*` where there is no such signal. */
  readonly effects?: { readonly [tool: string]: EffectClass }
  readonly default: { readonly outcome: "deny" | "require_review" }
  readonly coverage?: "total" | "allow_uncovered"
  readonly accept_non_monotone?: { readonly reason: string }
  readonly on_unavailable?: "deny" | "allow_cached"
}

/** A declared signal. Spec: `envelope/1` section 3. */
export type SignalText =
  | ({ readonly type: "enum"; readonly values: ReadonlyArray<string>; readonly ordered?: boolean } & Given<string>)
  | ({ readonly type: "int"; readonly min: number; readonly max: number; readonly unit?: string } & Given<number>)
  | ({ readonly type: "bool" } & Given<boolean>)
  | ({ readonly type: "text"; readonly form?: FormName; readonly base?: string } & Given<string>)
  | { readonly type: "bool"; readonly source: "latch"; readonly set_by: string }

/** Source of a value (`from`: a JSON pointer into the arguments), and what a missing one means: never both. */
type Given<T> = (
  | { readonly source: "caller" | "server"; readonly from?: never }
  | { readonly source: "args"; readonly from: string }
) &
  ({ readonly optional?: boolean; readonly on_missing?: never } | { readonly on_missing: T; readonly optional?: never })

/** A sliding window: its length in milliseconds, at most 366 days. Spec: `envelope/1` section 6. */
export type MeterSource = {
  readonly key: ReadonlyArray<string>
  readonly window_ms: number
  readonly where?: { readonly [signal: string]: Constants }
  readonly max_count?: number
} & ({ readonly op: "sum"; readonly of: string } | { readonly op: "count"; readonly of?: never })

/** A rule. Times are in milliseconds. Spec: `envelope/1` section 5. */
export type RuleSource = {
  readonly id: string
  readonly when: ReadonlyArray<ConditionSource>
  readonly unless?: ReadonlyArray<ConditionSource>
  readonly reason?: string
  readonly obligations?: ReadonlyArray<ObligationSource>
} & (
  | { readonly outcome: "allow_with_notice"; readonly notice_ms?: number }
  | { readonly outcome: "deny"; readonly retry_after_ms?: number; readonly suggestion?: string }
  | { readonly outcome: Exclude<Outcome, "allow_with_notice" | "deny"> }
)

/** A constant, or the param that names it. */
type ConstantSource<T extends Scalar = Scalar> = T | { readonly param: string }
type Constants = ReadonlyArray<ConstantSource> | { readonly param: string }

/** A condition asks one thing. Spec: `envelope/1` section 5. */
export type ConditionSource =
  | { readonly any: ReadonlyArray<ConditionSource> }
  | { readonly all: ReadonlyArray<ConditionSource> }
  | { readonly not: ConditionSource }
  | ({ readonly signal: string } & OneOf<{
      readonly in: Constants
      readonly nin: Constants
      readonly eq: ConstantSource
      readonly lt: ConstantSource
      readonly lte: ConstantSource
      readonly gt: ConstantSource
      readonly gte: ConstantSource
      readonly between: readonly [ConstantSource, ConstantSource]
      readonly prefix: ConstantSource<string>
      readonly suffix: ConstantSource<string>
      readonly under: ConstantSource<string>
      readonly length: readonly [ConstantSource<number>, ConstantSource<number>]
      readonly readable: boolean
      readonly is: boolean
      readonly present: boolean
    }>)
  | ({ readonly meter: string } & OneOf<{
      readonly after_eq: ConstantSource<number>
      readonly after_lt: ConstantSource<number>
      readonly after_lte: ConstantSource<number>
      readonly after_gt: ConstantSource<number>
      readonly after_gte: ConstantSource<number>
      readonly after_between: readonly [ConstantSource<number>, ConstantSource<number>]
    }>)

/** Exactly one of the members. */
type OneOf<T> = {
  [K in keyof T]: { readonly [P in K]: T[P] } & { readonly [P in Exclude<keyof T, K>]?: never }
}[keyof T]

/** An obligation that comes with an outcome. Spec: `envelope/1` section 7. */
export type ObligationSource =
  | { readonly type: "notify"; readonly to: ReadonlyArray<string> }
  | { readonly type: "redact_fields"; readonly fields: ReadonlyArray<string> }
  | { readonly type: "reviewers"; readonly role: string; readonly approvals: number; readonly ttl_ms: number }
  | { readonly type: "sample_for_eval_bp"; readonly bp: number }
  | { readonly type: "cooldown_ms"; readonly ms: number }
  | { readonly type: "two_person" }
