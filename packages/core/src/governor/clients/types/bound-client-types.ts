/** Envelopes and waivers in the embedding API, whose texts have the types of the envelope language. */
import type {
  EnvelopeCreate,
  EnvelopeInfo,
  EnvelopeUpdate,
  Input,
  LintIn,
  LintInfo,
  WaiverCreate,
  WaiverInfo
} from "@flyball/contract"
import type * as rows from "@flyball/contract/http"
import type { ConditionSource, EnvelopeSource } from "@flyball/envelope"
import type { ActOptions } from "../call-options.ts"
import type { ClientOf } from "../client-of.ts"

/** A struct whose text of an envelope has a type: an editor completes it, and a compiler refuses a wrong word. */
type WithSource<T> = { readonly [Name in keyof T]: Name extends "envelope" ? EnvelopeSource : T[Name] }

/** An envelope to create: for one agent, or for one org unit. */
export interface EnvelopeInput extends WithSource<Input<typeof EnvelopeCreate>> {}

/** A text to lint in place of the draft. */
export interface LintInput extends Omit<Input<typeof LintIn>, "envelope"> {
  readonly envelope?: EnvelopeSource | null | undefined
}

/**
 * The people who ensure an envelope: `writer` writes the text, `approver` publishes it. Left out, the approver is the
 * writer, who can publish only what allows nothing new.
 */
export interface EnsureOptions extends ActOptions {
  readonly approver?: string | undefined
}

/** A waiver to request. `unless` is a list of conditions, as in a rule. */
export interface WaiverInput extends Omit<Input<typeof WaiverCreate>, "unless"> {
  readonly unless: ReadonlyArray<ConditionSource>
}

/** Envelopes: the bounds of what agents may do alone. Spec: `envelope/1`; decision 0025. */
export interface EnvelopesClient extends Omit<ClientOf<typeof rows.envelopes>, "create" | "update" | "lint"> {
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
  /**
   * Every error and warning of the draft, or of another text in its place. Codes that are acknowledged may stay open.
   *
   * Each writer may have 8 lints, diffs and backtests under way, and 8 publications: beyond, `examination_queue_full`.
   */
  lint(id: string, instead?: LintInput, options?: ActOptions): Promise<LintInfo>
}

/** Waivers: exceptions to one rule of the version in force, for 90 days at most, by two people. Spec: decision 0025. */
export interface WaiversClient extends Omit<ClientOf<typeof rows.waivers>, "request"> {
  /** Asks for one. Another writer grants it: else `second_approver_required`. */
  request(envelopeId: string, input: WaiverInput, options?: ActOptions): Promise<WaiverInfo>
}
