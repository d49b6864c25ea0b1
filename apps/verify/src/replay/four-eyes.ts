/**
 * Judges whether two people did what takes two: versions that newly allow something, and waivers. From records alone,
 * in order, beside the evaluations that are recomputed.
 *
 * Spec: document 1 part 5; decisions 0025 and 0026.
 */
import { checkBody, type JsonObject } from "@flyball/evidence"
import {
  EnvelopeNumbers,
  ranked,
  type RecomputedPublication,
  type ReplayRecord,
  type WrongNumber
} from "@flyball/rules"
import { type Act, act, type ActVerdict } from "./act.ts"
import { type Requested, requestOf, grantProblem } from "./granted.ts"
import { People, placeOf } from "./people.ts"
import { publishedAloneProblem } from "./published-alone.ts"
import { digestProblem, type Sha256 } from "./reported-digests.ts"

/** Kinds of acts that are judged. */
const judgedKinds: ReadonlySet<string> = new Set(["envelope.drafted", "envelope.published", "waiver.granted"])

/** True when records of a kind are taken at all; those of others need not be given. */
export const isFourEyes = (kind: string): boolean =>
  kind === "part.erased" || kind === "principal.seen" || kind.startsWith("envelope.") || kind.startsWith("waiver.")

/** Parts that are read beside those of evaluations. */
export const fourEyesParts: ReadonlySet<string> = new Set(["backtest", "diff", "envelope", "lint", "waiver"])

/** A text that can be published: a draft, or a version on trial. */
interface Text {
  readonly digest: string
  readonly authors: ReadonlyArray<string>
  /** The record that has it. */
  readonly place: number
  readonly isErased: boolean
}

/** Texts of an envelope that can be published; undefined where the records that decide it are not known. */
interface Candidates {
  readonly draft: Text | null | undefined
  readonly trial: Text | null | undefined
}

/**
 * The fold. Memory grows with envelopes, with requested waivers and with people, and with nothing else.
 *
 * `fromGenesis`: nothing lies before the first record. If not, an act that begins there is `withheld`, and nothing of
 * it is called wrong for want of that beginning.
 */
export class FourEyes {
  readonly #candidates = new Map<string, Candidates>()
  /** Agent of each envelope, as the first record of it says; null for one of an org unit. */
  readonly #agents = new Map<string, string | null>()
  readonly #requested = new Map<string, Requested>()
  readonly #people: People
  readonly #numbers: EnvelopeNumbers
  readonly #sha256: Sha256
  readonly #compare: (record: ReplayRecord) => RecomputedPublication
  /** True when all drafts and requests are known. */
  #isWhole: boolean

  /** `compare`: compares a publication with what bound before it, as the records before it say. */
  constructor({
    compare,
    fromGenesis,
    sha256
  }: {
    readonly compare: (record: ReplayRecord) => RecomputedPublication
    readonly fromGenesis: boolean
    readonly sha256: Sha256
  }) {
    this.#isWhole = fromGenesis
    this.#people = new People(fromGenesis)
    this.#numbers = new EnvelopeNumbers(fromGenesis)
    this.#compare = compare
    this.#sha256 = sha256
  }

  /**
   * Takes one record, before the state that `compare` reads does. Answers for drafts, publications and grants of the
   * chain at hand, null for all others. Never throws, whatever a record holds.
   *
   * - `before`, for a record of a retired chain: how many records lie between its first one and
   *   record 0 of the chain at hand.
   */
  take(record: ReplayRecord, before = 0): Act | null {
    const { body, kind, seq } = record
    if (!isFourEyes(kind)) return null
    const place = placeOf(seq, before)
    this.#people.take(record, place, before)
    if (kind === "principal.seen") return null
    const isErasure = kind === "part.erased"
    if (checkBody(kind, body) !== null) {
      if (!isErasure) this.#forget()
      const isJudged = before === 0 && judgedKinds.has(kind) && typeof body["envelope_id"] === "string"
      return isJudged
        ? act(record, { verdict: "withheld", reason: "The record does not agree with the catalogue of this version." })
        : null
    }
    const number = this.#numbers.take(record)
    if (isErasure) {
      if (body["name"] === "envelope") this.#erase(placeOf(Number(body["seq"]), before))
      return null
    }
    // What was done in a chain before this one is for a replay of that chain's own pack to judge.
    const found = before === 0 && judgedKinds.has(kind) ? this.#judge(record, number) : null
    this.#fold(record, place)
    return found
  }

  /**
   * A draft or a request in words that this version does not know: from here on nothing is known as to what can be
   * published.
   */
  #forget(): void {
    this.#isWhole = false
    this.#numbers.forget()
    this.#candidates.clear()
    this.#requested.clear()
  }

  #judge(record: ReplayRecord, number: WrongNumber | null): Act {
    const { body, kind } = record
    if (kind === "waiver.granted")
      return act(
        record,
        grantProblem(
          record,
          this.#requested.get(String(body["waiver_id"])) ?? (this.#isWhole ? null : undefined),
          this.#people,
          this.#sha256
        )
      )
    const found = [
      digestProblem(record, this.#sha256),
      kind === "envelope.drafted" ? this.#draft(body) : this.#publication(record),
      this.#otherAgent(body),
      numberProblem(number)
    ]
    return act(record, ranked(found.filter((one) => one !== null)))
  }

  /** For whom an envelope is never changes. */
  #otherAgent(body: JsonObject): ActVerdict | null {
    const before = this.#agents.get(String(body["envelope_id"]))
    if (before === undefined || before === agentOf(body)) return null
    return {
      verdict: "draft_mismatch",
      reason: `The envelope is for ${before ?? "an org unit"}; the record says ${agentOf(body) ?? "an org unit"}.`
    }
  }

  /** Everyone who wrote on a draft stays among its authors until it is published. */
  #draft(body: JsonObject): ActVerdict | null {
    const before = this.#candidatesOf(body).draft?.authors ?? []
    return missing(authorsOf(body), [...before, String(body["writer"])])
  }

  #publication(record: ReplayRecord): ActVerdict | null {
    const { body } = record
    const alone = this.#approval(record)
    if (alone?.verdict === "second_person_missing") return alone
    const text = this.#candidate(body)
    if (text === undefined)
      return { verdict: "withheld", reason: "The draft is from before the first record here, or cannot be read." }
    if (text === null) return { verdict: "draft_mismatch", reason: "No record before it drafts this version." }
    if (text.digest !== body["digest"])
      return {
        verdict: "draft_mismatch",
        reason: `The text that was drafted has the digest ${text.digest}; ${String(body["digest"])} was published.`
      }
    return missing(authorsOf(body), text.authors) ?? alone
  }

  /** Judges whether those who published are enough. A trial binds nobody, and takes nobody. */
  #approval(record: ReplayRecord): ActVerdict | null {
    const { approver, change, mode } = record.body
    const writer = String(record.body["writer"])
    const authors = authorsOf(record.body)
    if (mode === "enforced" && (change === "loosens" || change === "unknown")) {
      if (authors.includes(writer))
        return {
          verdict: "second_person_missing",
          reason: `It newly allows something (${change}), and ${writer}, who published it, is among its authors.`
        }
      if (approver === undefined)
        return {
          verdict: "second_person_missing",
          reason: `It newly allows something (${change}) and names no approver.`
        }
    }
    if (approver !== undefined && (approver !== writer || authors.includes(String(approver))))
      return {
        verdict: "second_person_missing",
        reason:
          `The approver must be the publisher and none of the authors; the record names ${String(approver)}, ` +
          `published by ${writer}.`
      }
    if (mode !== "enforced") return null
    const same = approver === undefined ? null : this.#people.problem(authors, writer)
    if (change === "loosens" || change === "unknown" || same?.verdict === "withheld") return same
    if (approver !== undefined && same === null) return null
    // A person who is none of the authors stands as the approver, also where one person was enough.
    const alone = publishedAloneProblem(this.#compare(record), String(change))
    return alone === null || same === null
      ? alone
      : { verdict: alone.verdict, reason: `${same.reason} ${alone.reason}` }
  }

  /** The draft; where there is none, or it was erased, the version on trial. */
  #candidate(body: JsonObject): Text | null | undefined {
    const { draft, trial } = this.#candidatesOf(body)
    if (draft === undefined || (draft !== null && !draft.isErased)) return draft
    return body["mode"] === "enforced" ? trial : null
  }

  #candidatesOf(body: JsonObject): Candidates {
    const begin = this.#isWhole ? null : undefined
    return this.#candidates.get(String(body["envelope_id"])) ?? { draft: begin, trial: begin }
  }

  #fold(record: ReplayRecord, place: number): void {
    const { body, kind } = record
    const id = String(body["envelope_id"])
    const text = (): Text => ({ digest: String(body["digest"]), authors: authorsOf(body), place, isErased: false })
    if ((kind === "envelope.drafted" || kind === "envelope.published") && !this.#agents.has(id))
      this.#agents.set(id, agentOf(body))
    if (kind === "envelope.drafted") this.#candidates.set(id, { ...this.#candidatesOf(body), draft: text() })
    if (kind === "envelope.published")
      this.#candidates.set(id, { draft: null, trial: body["mode"] === "shadow" ? text() : null })
    if (kind === "envelope.withdrawn") this.#candidates.set(id, { ...this.#candidatesOf(body), trial: null })
    if (kind === "waiver.requested") this.#requested.set(String(body["waiver_id"]), requestOf(record, this.#sha256))
  }

  /** A draft that was erased is nobody's to publish; who wrote on it is still known. */
  #erase(place: number): void {
    for (const [id, candidates] of this.#candidates) {
      if (candidates.draft?.place === place)
        this.#candidates.set(id, { ...candidates, draft: { ...candidates.draft, isErased: true } })
    }
  }
}

const numberProblem = (wrong: WrongNumber | null): ActVerdict | null =>
  wrong === null
    ? null
    : {
        verdict: "number_mismatch",
        reason: `The next ${wrong.member} is ${wrong.expected}; the record says ${wrong.found}.`
      }

const agentOf = ({ agent_id: agentId }: JsonObject): string | null => (typeof agentId === "string" ? agentId : null)

const authorsOf = (body: JsonObject): ReadonlyArray<string> => body["authors"] as ReadonlyArray<string>

const missing = (authors: ReadonlyArray<string>, wrote: ReadonlyArray<string>): ActVerdict | null => {
  const left = [...new Set(wrote)].filter((writer) => !authors.includes(writer))
  return left.length === 0
    ? null
    : {
        verdict: "authors_mismatch",
        reason: `${left.join(", ")} wrote on it and ${left.length === 1 ? "is" : "are"} not among its authors.`
      }
}
