/** Checks that the writer of a record may have written it. Spec: decision 0026. */
import type { JsonMap } from "../../records/record.ts"
import { isMediator, mayWrite, type WriterRule, writersOfKinds } from "../../records/writers-of-kinds.ts"
import { ID_LENGTH } from "../tolerances.ts"

/** The member that says which key or person a record gives a name to. */
const gives: { readonly [kind: string]: string } = {
  "ingest_key.minted": "key_id",
  "platform_key.minted": "key_id",
  "principal.seen": "principal_id"
}

/** The fold. It grows with keys and people, and with nothing else. */
export class Writers {
  /** Seq of each writer's first record; below zero in a chain before this one. */
  readonly #first = new Map<string, number>()
  /** Keys that were minted, and whether each is a gateway's. */
  readonly #gateways = new Map<string, boolean>()
  /** Webhooks that were created for the events of the governance. */
  readonly #governance = new Set<string>()

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
    const webhook = body["webhook_id"]
    if (kind === "webhook.created" && body["owner_digest"] === undefined) this.#governance.add(String(webhook))
    if (kind.startsWith("webhook.") && String(writer).startsWith("pky_") && this.#governance.has(String(webhook)))
      return `A platform key has to do with the webhooks of an org unit only; ${String(webhook)} is of none.`
    return typeof writer !== "string" || mayWrite(kind, writer)
      ? null
      : `${listed(writersOfKinds[kind]!)} may write ${kind}; the record says ${writer}.`
  }

  /** A key that no record minted is of a chain before the one at hand, and not judged. */
  #mayMediate(writer: string): boolean {
    return isMediator(writer) || (this.#gateways.get(writer) ?? writer.startsWith("key_"))
  }

  #note(writer: string, seq: number): void {
    if (writer.length === ID_LENGTH && /^(key|pky|usr)_/.test(writer)) this.#first.set(writer, seq)
  }
}

const words: { readonly [rule: string]: string } = {
  person: "a person",
  key: "an ingest key",
  platform: "a platform key",
  breaker: "a breaker"
}

const listed = (rules: ReadonlyArray<WriterRule>): string =>
  `Only ${rules.map((rule) => words[rule] ?? rule).join(" or ")}`
