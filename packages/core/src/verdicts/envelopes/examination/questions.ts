/**
 * Questions about envelopes before they are published, and about behaviour, with their answers: plain JSON, so that
 * another thread than the host's can answer.
 *
 * Spec: api.md "bounded autonomy", lint, diff, publish and backtest; decisions 0029 and 0073.
 */
import type { BacktestOut, EnvelopeFinding, LintOut } from "@flyball/contract"
import type {
  ChangeAnswer,
  ChangeQuestion,
  DocumentType,
  DriftDecision,
  ExtractedDocument,
  JsonMap,
  ModelQuestion,
  ModelSaid,
  ReadDocument,
  Solved
} from "@flyball/rules"
import type { DiffReport, Limits, LintFacts } from "@flyball/envelope"
import type { EventJson, HistoryJson } from "./history-json.ts"
import type { MeterUnit } from "./meter-units.ts"

/** A version in force, by its text; null where the text is gone: then nothing is permitted under it. */
export interface LayerText {
  readonly envelopeId: string
  readonly envelope: JsonMap | null
}

/** Context of an envelope: the layers outside it, and the envelopes of agents inside it where it is an org unit's. */
export interface Surroundings {
  readonly outer: ReadonlyArray<LayerText>
  readonly inner: ReadonlyArray<LayerText>
  /** Of its agents at a high tier: how many lack what guards them, see `LintFacts`. */
  readonly safety: NonNullable<LintFacts["safety"]>
  /** The tier of the one agent whose envelope it is; left out for an org unit's. */
  readonly agentTier?: number
  /** Blast radii that the agents declare, each once. */
  readonly blastRadii: ReadonlyArray<JsonMap>
  /** Roles that somebody who answers reviews of these agents can have; `any` where the host may give others too. */
  readonly grantable: ReadonlyArray<string> | "any"
  /** The roles that only the owner of these agents has; left out where there is none. */
  readonly ownerOnly?: ReadonlyArray<string>
  /** Tools that these agents said they would call, or called, newest first. */
  readonly toolsSeen: ReadonlyArray<string>
  /** Units that the meters of earlier versions summed, in force or on trial; left out where there was none. */
  readonly meterUnits?: ReadonlyArray<MeterUnit>
}

/** A text, where it would stand, and what was recorded of the agents it is for. */
interface About {
  readonly json: unknown
  readonly surroundings: Surroundings
  readonly history: HistoryJson
}

/**
 * The state that a text is compared with: the layers in force before, outermost first (no layer: no envelope was in
 * force, and everything was denied), and the version that it replaces.
 */
interface Before {
  readonly layers: ReadonlyArray<LayerText>
  readonly own: JsonMap | null
}

/** A problem of routes, as the bytes of its digest. Unit of the longest search: milliseconds. */
export interface RoutesQuestion {
  readonly bytes: Uint8Array
  readonly seed: string
  readonly maxMs: number
  /** Shared memory: the search ends with its best plan once the first number is 1. */
  readonly stop: Int32Array
}

/** Questions by their kind. Spec: decisions 0029 and 0073. */
export interface Questions {
  /** Changes of the behaviour of an agent. */
  readonly change: ChangeQuestion
  /** Routes of vehicles. */
  readonly routes: RoutesQuestion
  /** Fields of a document that was read. A page can be made so that its rules take half a second. */
  readonly fields: {
    readonly document: ReadDocument
    readonly requested: DocumentType | null
    readonly said?: ModelSaid | null
    /** Fields that a caller wants of a model: the answer has the question to it. */
    readonly own?: ReadonlyArray<string>
  }
  readonly lint: About & { readonly acknowledged: ReadonlyArray<string> }
  readonly diff: About & { readonly before: Before }
  readonly backtest: About & { readonly meters: BacktestOut["meters"] }
  /** All three at once, of one state. */
  readonly publish: About & { readonly acknowledged: ReadonlyArray<string>; readonly before: Before }
}

/**
 * Answers by the kind of their question. `unfit`: the problems because of which the text is not an envelope. Spec:
 * decisions 0029 and 0073.
 */
export interface Answers {
  readonly change: ChangeAnswer
  readonly routes: Solved
  readonly fields: ExtractedDocument & { readonly question?: ModelQuestion | null }
  readonly lint: LintOut
  readonly diff: { readonly unfit: ReadonlyArray<EnvelopeFinding> } | { readonly report: DiffReport }
  readonly backtest: { readonly unfit: ReadonlyArray<EnvelopeFinding> } | { readonly backtest: BacktestOut }
  /** Compared and tested only where it can be published. */
  readonly publish: {
    readonly lint: LintOut
    readonly found: { readonly report: DiffReport; readonly backtest: BacktestOut } | null
  }
}

/** The kinds of questions. */
export type Kind = keyof Questions

/** The part of a question that may be long: events, or decisions. */
export type Rows = ReadonlyArray<EventJson> | ReadonlyArray<DriftDecision>

/** The long part of a question, which crosses to a thread in slices. Spec: decision 0029. */
export const rowsOf = (about: Questions[Kind]): Rows =>
  "history" in about ? about.history.events : "decisions" in about ? about.decisions : []

/** A question with another long part. Spec: decision 0029. */
export const withRows = <K extends Kind>(about: Questions[K], rows: Rows): Questions[K] =>
  "history" in about
    ? { ...about, history: { ...about.history, events: rows as ReadonlyArray<EventJson> } }
    : "decisions" in about
      ? { ...about, decisions: rows as ReadonlyArray<DriftDecision> }
      : about

export type { Limits }

/** Limits where an answer blocks the host's thread. Twenty rules take a hundred nodes. Spec: decision 0029. */
export const inPlaceLimits: Limits = { nodes: 10_000, work: 4_000_000 }

/** The longest search of routes where it blocks the host's thread. Unit: milliseconds. */
export const IN_PLACE_SEARCH_MS = 100

/** Limits where an answer blocks only the next question of its lane. Spec: decision 0029. */
export const threadLimits: Limits = { nodes: 200_000, work: 100_000_000 }
