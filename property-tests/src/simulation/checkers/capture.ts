/** Capture: what was acknowledged is in the chain exactly once, as it was said; what was not is there once at most. */
import { decisionId, fromUtf8, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import type { Ledger, TriedLine } from "../ledger.ts"
import { type Checked, type Checker, isOfEngine, type ReadRecord, recordsBy } from "./checked.ts"

/** Holds the ledger of the clients against the records and parts. */
export const captureChecker: Checker = (world) =>
  Effect.gen(function* () {
    const { ledger, records } = world
    return [
      ...agents(ledger, records),
      ...(yield* decisions(world)),
      ...settlements(world),
      ...(yield* erasures(world)),
      ...tried(
        "gap",
        ledger.gaps,
        recordsBy(records, "capture.gap", ({ body }) => String(body["count"]))
      ),
      ...tried("mint", ledger.keys, yield* keysByName(world, "ingest_keys")),
      ...tried("mint platform key", ledger.platformKeys, yield* keysByName(world, "platform_keys")),
      ...revocations("ingest_key", ledger.keys, records),
      ...revocations("platform_key", ledger.platformKeys, records)
    ].map((problem) => `capture: ${problem}`)
  })

const agents = (ledger: Ledger, records: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const registered = recordsBy(records, "agent.registered", ({ body }) => String(body["agent_id"]))
  const problems = [...ledger.agents].flatMap(([name, id]) =>
    registered.get(id)?.length === 1 ? [] : [`${name} is registered ${registered.get(id)?.length ?? 0} times`]
  )
  const seen = recordsBy(records, "principal.seen", ({ body }) => String(body["principal_id"]))
  for (const [subject, id] of ledger.principals)
    if (seen.get(id)?.length !== 1) problems.push(`${subject} is seen ${seen.get(id)?.length ?? 0} times`)
  return problems
}

const decisions = Effect.fnUntraced(function* ({ ledger, origin, ports, records }: Checked) {
  const tag = nodeCrypto.sha256(new TextEncoder().encode(origin)).slice(0, 4)
  const found = recordsBy(records, "decision.witnessed", ({ body }) => `${body["agent_id"]} ${body["client_ref"]}`)
  const problems: Array<string> = []
  for (const [key, [record, ...more]] of found) {
    const line = ledger.witnessed.get(key)
    if (more.length > 0) problems.push(`${key} is witnessed ${1 + more.length} times`)
    if (isOfEngine(key.split(" ")[1]!)) continue
    if (line === undefined) problems.push(`nobody sent ${key}`)
    const part = (yield* ports.storage.parts([record!.seq])).find(({ name }) => name === "args")
    if (part === undefined) problems.push(`${key} has lost its args`)
    else if (part.erasedBy === null) {
      const content = (JSON.parse(fromUtf8(part.bytes) ?? "{}") as { readonly content?: string }).content
      if (line !== undefined && !line.contents.has(content ?? ""))
        problems.push(`${key} says ${content}, which nobody sent`)
    }
  }
  for (const [key, { fresh, receipt }] of ledger.witnessed) {
    if (fresh > 1) problems.push(`${key} was acknowledged as new ${fresh} times`)
    const record = found.get(key)?.[0]
    if (receipt === null) continue
    if (record === undefined) problems.push(`${key} was acknowledged and is not in the chain`)
    else if (
      record.seq !== receipt.seq ||
      `sha256:${toHex(record.hash)}` !== receipt.hash ||
      decisionId(record.atMs, record.seq, tag) !== receipt.decisionId
    ) {
      problems.push(`${key} was acknowledged at ${receipt.seq} and is at ${record.seq}, or has another hash or id`)
    }
  }
  return problems
})

const settlements = ({ ledger, records, origin }: Checked): ReadonlyArray<string> => {
  const tag = nodeCrypto.sha256(new TextEncoder().encode(origin)).slice(0, 4)
  const found = recordsBy(records, "decision.settled", ({ body }) => {
    const decision = records[Number(body["decision_seq"])]
    return decision === undefined ? "no decision" : decisionId(decision.atMs, decision.seq, tag)
  })
  const problems = [...found].flatMap(([id, all]) =>
    all.length > 1 || !ledger.settled.has(id) ? [`${id} is settled ${all.length} times`] : []
  )
  for (const [id, { fresh, outcomes, receipt }] of ledger.settled) {
    const record = found.get(id)?.[0]
    if (fresh > 1) problems.push(`${id} was acknowledged as newly settled ${fresh} times`)
    if (record !== undefined && ![...outcomes].some((said) => said.split(" ")[0] === record.body["status"]))
      problems.push(`${id} is settled as ${record.body["status"]}, which nobody said`)
    if (
      receipt !== null &&
      (record === undefined || record.seq !== receipt.seq || `sha256:${toHex(record.hash)}` !== receipt.hash)
    )
      problems.push(`${id} was acknowledged as settled at ${receipt.seq} and is at ${record?.seq}`)
  }
  return problems
}

const erasures = Effect.fnUntraced(function* ({ ledger, ports, records }: Checked) {
  const found = recordsBy(records, "part.erased", ({ body }) => `${body["seq"]} ${body["name"]}`)
  const problems = [...found].flatMap(([key, all]) =>
    all.length > 1 || !ledger.erased.has(key) ? [`${key} is erased ${all.length} times`] : []
  )
  for (const [key, { acknowledged }] of ledger.erased) {
    const record = found.get(key)?.[0]
    const [seq, name] = key.split(" ")
    const part = (yield* ports.storage.parts([Number(seq)])).find((one) => one.name === name)
    if (acknowledged && record === undefined) problems.push(`${key} was acknowledged as erased, and no record says so`)
    if ((record?.seq ?? null) !== (part?.erasedBy ?? null))
      problems.push(`${key} is erased by ${part?.erasedBy ?? "nothing"}, and the record is ${record?.seq ?? "missing"}`)
  }
  return problems
})

/**
 * Finds acts without a reference of the client that do not exist for each acknowledgement, or more often than tried.
 */
const tried = <K>(
  what: string,
  lines: ReadonlyMap<K, TriedLine>,
  found: ReadonlyMap<string, ReadonlyArray<unknown>>
): ReadonlyArray<string> => {
  const problems = [...found.keys()].flatMap((key) =>
    [...lines.keys()].some((sent) => String(sent) === key) ? [] : [`${what}: nobody sent ${key}`]
  )
  for (const [key, { acknowledged, tries }] of lines) {
    const times = found.get(String(key))?.length ?? 0
    if (times < acknowledged || times > tries)
      problems.push(`${what} ${key}: there ${times} times after ${tries} tries and ${acknowledged} acknowledgements`)
  }
  return problems
}

const keysByName = Effect.fnUntraced(function* ({ ports }: Checked, collection: string) {
  return Map.groupBy(yield* ports.storage.list(collection), ({ body }) => String(body["name"]))
})

const revocations = (
  kind: "ingest_key" | "platform_key",
  lines: Ledger["keys"],
  records: ReadonlyArray<ReadRecord>
): ReadonlyArray<string> => {
  const minted = recordsBy(records, `${kind}.minted`, ({ body }) => String(body["key_id"]))
  const revoked = recordsBy(records, `${kind}.revoked`, ({ body }) => String(body["key_id"]))
  const problems = [...revoked].flatMap(([id, all]) =>
    all.length > 1 ? [`key ${id} is revoked ${all.length} times`] : []
  )
  for (const { id, revoked: reported } of lines.values()) {
    if (id !== null && minted.get(id)?.length !== 1)
      problems.push(`key ${id} is minted ${minted.get(id)?.length ?? 0} times`)
    if (id !== null && reported && !revoked.has(id)) problems.push(`key ${id} was acknowledged as revoked and is not`)
  }
  return problems
}
