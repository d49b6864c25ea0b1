/**
 * Extractions: each ends once, with one record and one event, as everybody was answered; what is completed says what
 * its document says, an agent's is one act on record, only what a host lost is given back, and storage is counted.
 */
import { EXTRACTIONS, storedBytesOf, unitOwner } from "@flyball/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { extractionOut, storedExtraction } from "../../../../packages/platform/src/documents/document.ts"
import { COUNTED } from "../document-acts.ts"
import { type Checker, recordsBy } from "./checked.ts"

/** More than any run makes. */
const limit = 1_000

/** See the file's first line. */
export const extractionsChecker: Checker = ({ ledger, ports: { storage }, records }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const all = (yield* storage.list(EXTRACTIONS, { limit })).map(storedExtraction)
    const ended = (kind: string) => recordsBy(records, kind, ({ body }) => String(body["extraction_id"]))
    const [completed, failed] = [ended("extraction.completed"), ended("extraction.failed")]
    const acts = recordsBy(records, "decision.witnessed", ({ body }) => String(body["client_ref"]))
    const events = yield* storage.outbox.events({ types: ["extraction.completed", "extraction.failed"], limit })
    const sent = new Map(
      [...ledger.documents].map(([text, line]) => [createHash("sha256").update(text).digest("hex"), line])
    )
    for (const { body, id, version } of all) {
      const own = [...(completed.get(id) ?? []), ...(failed.get(id) ?? [])]
      const reports = events.filter(({ data }) => data["id"] === id).length
      const { fields, status } = extractionOut({ body, id, version })
      if (body.completedAtMs === null) problems.push(`${id} is still ${status}`)
      if (own.length !== 1 || own[0]!.kind !== `extraction.${status}`)
        problems.push(`${id} is ${status}, and has ${own.map(({ kind }) => kind).join(" ") || "no end"} on record`)
      if (reports !== 1) problems.push(`${id} has ${reports} events of its end`)
      const line = sent.get(body.digest)
      if (line === undefined || line.agentId !== body.agentId) problems.push(`nobody sent the document of ${id}`)
      if (status === "completed" && fields["total"]?.value !== line?.total)
        problems.push(`${id} has the total ${fields["total"]?.value}, and its document ${line?.total}`)
      const act = acts.get(id) ?? []
      if (act.length !== (body.agentId === null ? 0 : 1)) problems.push(`${id} has ${act.length} acts on record`)
      const before = ledger.extractions.get(id)
      if (before != null && before !== `${status} ${JSON.stringify(fields)}`)
        problems.push(`${id} was ${before}, and is ${status}`)
    }
    const made = new Map(
      [...Map.groupBy(all, ({ body }) => body.digest)].map(([digest, ones]) => [digest, ones.length])
    )
    for (const [digest, { acknowledged, tries }] of sent)
      if ((made.get(digest) ?? 0) < acknowledged || (made.get(digest) ?? 0) > tries)
        problems.push(`${made.get(digest) ?? 0} extractions were made of a document that was sent ${tries} times`)
    for (const id of ledger.extractions.keys())
      if (!all.some((one) => one.id === id)) problems.push(`${id} was acknowledged, and is gone`)
    const [counted = 0] = yield* storage.counters([COUNTED])
    const lost = [...failed.values()].flat().filter(({ body }) => body["code"] === "interrupted").length
    if (counted !== -lost) problems.push(`${-counted} units were given back for ${lost} documents that hosts lost`)
    const kept = (yield* storage.parts([...completed.values()].flat().map(({ seq }) => seq)))
      .filter(({ name }) => name === "document")
      .reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
    const [stored = 0] = yield* storage.counters([storedBytesOf(unitOwner("ops"))])
    if (stored !== kept) problems.push(`${stored} bytes count as stored, and records keep ${kept}`)
    return problems.map((problem) => `extractions: ${problem}`)
  })
