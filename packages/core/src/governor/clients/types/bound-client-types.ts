/** Envelopes and evaluations in the embedding API, derived from the contract. */
import type {
  BacktestIn,
  BacktestOut,
  DiffOut,
  DiffQuery,
  EnvelopeCreate,
  EnvelopeListQuery,
  EnvelopeOut,
  EnvelopeUpdate,
  EnvelopeVersionOut,
  Evaluation,
  EvaluationIn,
  EvaluationListQuery,
  evaluationOutcomes,
  ExplanationOut,
  LintIn,
  LintOut,
  PublishIn,
  VoidOut,
  WaiverCreate,
  WaiverOut,
  WithdrawIn
} from "@flyball/contract"
import type { ConditionSource, EnvelopeSource } from "@flyball/envelope"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** Outcomes of an evaluation, least restrictive first. */
export type Outcome = (typeof evaluationOutcomes)[number]

/** A JSON object. */
export type JsonObjectInput = { readonly [name: string]: unknown }

/** The intent that is evaluated. Spec: document 1 section 2, "Evaluation record"; decision 0025. */
export interface EvaluationInput extends Input<typeof EvaluationIn> {}

/**
 * The verdict with its inputs and trace. The agent may act on it for `valid_ms`. Spec: document 1 section 2,
 * "Evaluation record"; decision 0025.
 */
export interface EvaluationInfo extends Info<typeof Evaluation> {}

/** Which evaluations of an agent to list, newest first. */
export interface EvaluationFilter extends Filter<typeof EvaluationListQuery> {}

/** The changes that would have led to a less restrictive outcome. Spec: `envelope/1` section 13. */
export interface ExplanationInfo extends Info<typeof ExplanationOut> {}

/** An envelope. `revision` counts its changes. */
export interface EnvelopeInfo extends Info<typeof EnvelopeOut> {}

/** A struct whose text of an envelope has a type: an editor completes it, and a compiler refuses a wrong word. */
type WithSource<T> = { readonly [Name in keyof T]: Name extends "envelope" ? EnvelopeSource : T[Name] }

/** An envelope to create: for one agent, or for one org unit. */
export interface EnvelopeInput extends WithSource<Input<typeof EnvelopeCreate>> {}

/** A text to lint in place of the draft. */
export interface LintInput extends Omit<Input<typeof LintIn>, "envelope"> {
  readonly envelope?: EnvelopeSource | null | undefined
}

/**
 * Who acts when an envelope is ensured: `writer` writes the text, `approver` publishes it. Left out, the approver is
 * the writer, who can publish only what allows nothing new.
 */
export interface EnsureOptions extends ActOptions {
  readonly approver?: string | undefined
}

/** A published version. Spec: format 1 section 8, `envelope.published`; decision 0025. */
export interface EnvelopeVersionInfo extends Info<typeof EnvelopeVersionOut> {}

/**
 * Result of lint. `proved`: codes that are proved absent unless a finding names them. Spec: `envelope/1` section 14;
 * decision 0022.
 */
export interface LintInfo extends Info<typeof LintOut> {}

/** Differences between two versions. Spec: decision 0022. */
export interface DiffInfo extends Info<typeof DiffOut> {}

/**
 * Outcomes of recorded evaluations under a draft. It authorises nothing; `not_replayable` counts by reason. Spec:
 * decision 0022.
 */
export interface BacktestInfo extends Info<typeof BacktestOut> {}

/**
 * An exception to one rule, for a time. `unless` and `reason` are null once their part was erased. Spec: format 1
 * section 8, `waiver.requested`; decision 0025.
 */
export interface WaiverInfo extends Info<typeof WaiverOut> {}

/** A waiver to request. `unless` is a list of conditions, as in a rule. */
export interface WaiverInput extends Omit<Input<typeof WaiverCreate>, "unless"> {
  readonly unless: ReadonlyArray<ConditionSource>
}

/** Receipt of a voided evaluation. */
export interface VoidInfo extends Info<typeof VoidOut> {}

/** Envelopes: the bounds of what agents may do alone. Spec: `envelope/1`; decision 0025. */
export interface EnvelopesClient {
  /** Begins an envelope for one agent or one org unit, as a draft. */
  create(input: EnvelopeInput, options?: ActOptions): Promise<EnvelopeInfo>
  /**
   * Brings a text into force once: creates the envelope of its agent or org unit where there is none, writes the text
   * as its draft, and publishes it. Does nothing where a version of the envelope already has this very text, also one
   * that people replaced or withdrew since: what they did later stands. For the start of a host, which may fail at any
   * step and is run again.
   *
   * - Fails: as `create`, `update` and `publish` do. What was done until then is kept, and the next call continues.
   */
  ensure(input: EnvelopeInput, options?: EnsureOptions): Promise<EnvelopeInfo>
  update(id: string, change: WithSource<Input<typeof EnvelopeUpdate>>, options?: ActOptions): Promise<EnvelopeInfo>
  get(id: string, options?: CallOptions): Promise<EnvelopeInfo>
  /** Oldest first; all of them where no `limit` is given. `after`: the last one seen. */
  list(filter?: Filter<typeof EnvelopeListQuery>, options?: CallOptions): Promise<ReadonlyArray<EnvelopeInfo>>
  /**
   * Every error and warning of the draft, or of another text in its place. Codes that are acknowledged may stay open.
   *
   * Each writer may have 8 lints, diffs and backtests under way, and 8 publications: beyond, `examination_queue_full`.
   */
  lint(id: string, instead?: LintInput, options?: ActOptions): Promise<LintInfo>
  /**
   * Evaluates recorded calls again under the draft; with meters as recorded, or filled by the calls that the draft
   * allows.
   */
  backtest(id: string, over?: Input<typeof BacktestIn>, options?: ActOptions): Promise<BacktestInfo>
  /**
   * Puts the draft in force, or on trial. What it newly allows needs a writer who is none of its authors: else
   * `second_approver_required`.
   */
  publish(id: string, how?: Input<typeof PublishIn>, options?: ActOptions): Promise<EnvelopeVersionInfo>
  /** Withdraws the version in force. From then on every evaluation is denied. */
  withdraw(id: string, why?: Input<typeof WithdrawIn>, options?: ActOptions): Promise<EnvelopeInfo>
  /** Oldest first. */
  versions(id: string, options?: CallOptions): Promise<ReadonlyArray<EnvelopeVersionInfo>>
  version(id: string, version: number, options?: CallOptions): Promise<EnvelopeVersionInfo>
  /** `from` 0 is before the first version, `to` 0 the draft; left out, the version in force against the draft. */
  diff(id: string, versions?: Filter<typeof DiffQuery>, options?: ActOptions): Promise<DiffInfo>
}

/** Waivers: exceptions to one rule of the version in force, for 90 days at most, by two people. Spec: decision 0025. */
export interface WaiversClient {
  /** Asks for one. */
  request(envelopeId: string, input: WaiverInput, options?: ActOptions): Promise<WaiverInfo>
  /** Grants a waiver that another writer requested: else `second_approver_required`. It holds from then on. */
  grant(envelopeId: string, waiverId: string, options?: ActOptions): Promise<WaiverInfo>
  /** Oldest first. */
  list(envelopeId: string, options?: CallOptions): Promise<ReadonlyArray<WaiverInfo>>
}
