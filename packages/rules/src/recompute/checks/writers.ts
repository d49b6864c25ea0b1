/** Whether the writer of a record may have written it. Spec: decision 0026. */
import type { JsonMap } from "../../records/record.ts"

/** Kinds that no rule writes: what a caller does, or asks for. */
const byCallers: ReadonlySet<string> = new Set([
  "breaker.armed",
  "breaker.changed",
  "breaker.released",
  "decision.witnessed",
  "decision.settled",
  "capture.gap",
  "evaluation.made",
  "meter.voided"
])

/** Kinds that neither a rule writes nor an ingest key: what people do, or the host. */
const byPeople: ReadonlySet<string> = new Set([
  "drill.attested",
  "eval.recorded",
  "standing_approval.granted",
  "standing_approval.proposed"
])

/** Kinds that no ingest key writes: it requests, and answers for its agent. */
const notByKeys: ReadonlySet<string> = new Set([
  ...byPeople,
  "breaker.armed",
  "breaker.changed",
  "breaker.released",
  "drill.completed",
  "drill.started",
  "kill.activated",
  "response_policy.changed"
])

const isByCaller = (kind: string): boolean =>
  byCallers.has(kind) || byPeople.has(kind) || kind.startsWith("envelope.") || kind.startsWith("waiver.")

/** The member that says which key or person a record gives a name to. */
const gives: { readonly [kind: string]: string } = { "ingest_key.minted": "key_id", "principal.seen": "principal_id" }

/** Characters of an id: a hostile pack may have any text in its place. */
const ID_LENGTH = 30

/** The fold. It grows with keys and people, and with nothing else. */
export class Writers {
  /** Seq of each writer's first record; below zero in a chain before this one. */
  readonly #first = new Map<string, number>()
  /** Keys that were minted, and whether each is a gateway's. */
  readonly #gateways = new Map<string, boolean>()

  /** Checks the writer of a record; answers the problem as a sentence, or null. */
  problem({ body, kind, seq }: { readonly seq: number; readonly kind: string; readonly body: JsonMap }): string | null {
    const writer = body["writer"]
    const given = body[gives[kind] ?? ""]
    const wrote = typeof given === "string" ? this.#first.get(given) : undefined
    if (typeof writer === "string" && !this.#first.has(writer)) this.#note(writer, seq)
    // Names are drawn: nobody writes under one before there is a record of it.
    if (wrote !== undefined)
      return (
        `${String(given)} is created by this record, but wrote ` +
        `${wrote < 0 ? "in a chain before this one" : `record ${wrote}`}.`
      )
    if (kind === "ingest_key.minted" && typeof given === "string" && given.length === ID_LENGTH)
      this.#gateways.set(given, body["capture"] === "mediated")
    if (kind === "decision.witnessed" && body["capture"] === "mediated" && !this.#mayMediate(String(writer)))
      return `Only the key of a gateway may state capture mediated; the record says ${String(writer)}.`
    if (typeof writer === "string" && writer.startsWith("key_") && notByKeys.has(kind))
      return `An ingest key may not write ${kind}; the record says ${writer}.`
    return typeof writer === "string" && isRule(writer) && isByCaller(kind)
      ? `A rule may not write ${kind}; the record says ${writer}.`
      : null
  }

  /** A key that no record minted is of a chain before the one at hand, and not judged. */
  #mayMediate(writer: string): boolean {
    return this.#gateways.get(writer) ?? writer.startsWith("key_")
  }

  #note(writer: string, seq: number): void {
    if (writer.length === ID_LENGTH && (writer.startsWith("key_") || writer.startsWith("usr_")))
      this.#first.set(writer, seq)
  }
}

const isRule = (writer: string): boolean => writer.startsWith("policy:") || writer.startsWith("breaker:")
