/**
 * Bounds on a ChangeSet that hold for every store. These are bugs of ours, not conflicts: every backend dies with the
 * sentence, before it draws salts;
 * that of an event's data, which is made text only then, behind them.
 *
 * What a record may hold is checked when it is sealed (`RecordUnwritable`): a defect for its own caller only.
 */
import { type ClaimRequest, type DeliveryMove, type ForgetRequest, WEBHOOKS } from "./outbox/outbox.ts"
import { documentActs } from "./admit.ts"
import type { ChangeSet, KeyRange, RecordDraft, RecordQuery } from "./port.ts"
import { isStorable } from "../foundation/text.ts"

/** Most parts a record has. Spec: port, {@link RecordDraft}; SQLite keys parts by `seq * 32 + n`. */
export const maxParts = 32
/** Bytes of the largest part. Spec: chain-format section 3. */
export const maxPartBytes = 16 * 1024 * 1024
/** Bytes of an event's data as JSON. It is sent whole, and a receiver reads it before it knows who sent it. */
export const maxEventBytes = 64 * 1024
/** Bytes that are kept of what a receiver answered. Spec: {@link DeliveryMove}. */
export const maxExcerptBytes = 4096
/** Longest that a claim holds a delivery: an attempt takes seconds. */
export const maxLeaseMs = 60 * 60 * 1000
/** Most records, seqs or rows of one read. */
export const maxRows = 1000

const kindPattern = /^[a-z][a-z0-9_.]{2,63}$/
const partPattern = /^[a-z][a-z0-9_]{0,31}$/
/** Names of look-up keys: `on:agent.suspended` is one. */
const keyPattern = /^[a-z][a-z0-9_.:-]{0,63}$/
/** Event types that leave room for the rest of a key `on:<type>:<owner>`. */
const typePattern = /^[a-z][a-z0-9_.]{2,43}$/
const ownerPattern = /^[0-9a-f]{16}$/
const namePattern = /^[a-z][a-z0-9_-]{0,63}$/

/** Names that matched once are found in a set. Planners have few, each checked thousands of times a second. */
const keptNames = 1_000
const isNameOf = (pattern: RegExp): ((name: string) => boolean) => {
  const known = new Set<string>()
  return (name) => {
    if (known.has(name)) return true
    const matches = pattern.test(name)
    if (matches && known.size < keptNames) known.add(name)
    return matches
  }
}
/** 64 lower-case hex digits. By hand: every decision comes by here, and a pattern is slower. */
const isDigest = (text: unknown): boolean => {
  if (typeof text !== "string" || text.length !== 64) return false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (!((unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x66))) return false
  }
  return true
}
const isKind = isNameOf(kindPattern)
const isPartName = isNameOf(partPattern)
const isKeyName = isNameOf(keyPattern)
const isEventType = isNameOf(typePattern)
const isCollection = isNameOf(namePattern)

/** Describes the first problem of a ChangeSet that does not depend on the store; null if there is none. */
export const changeProblem = (change: ChangeSet): string | null =>
  putsProblem(change) ??
  recordsProblem(change) ??
  eraseProblem(change) ??
  forgetProblem(change) ??
  countsProblem(change) ??
  outboxProblem(change)

/** Describes the problem of a query; null if there is none. */
export const queryProblem = (query: RecordQuery): string | null => limitProblem(query.limit)

/** Describes the problem of a range of a look-up key; null if there is none. */
export const rangeProblem = ({ after = "", before = "", limit }: KeyRange): string | null =>
  isStorable(after) && isStorable(before)
    ? limitProblem(limit)
    : "A bound of a look-up key is not text that a store can hold."

/** Describes the problem of a page limit of records, deliveries or events; null if there is none. */
export const limitProblem = (limit: number): string | null =>
  Number.isInteger(limit) && limit >= 1 && limit <= maxRows
    ? null
    : `A limit is a whole number from 1 to ${maxRows}, not ${limit}.`

/** Describes the problem of a claim; null if there is none. */
export const claimProblem = ({ leaseMs, limit, perEndpoint }: ClaimRequest): string | null => {
  if (!Number.isInteger(leaseMs) || leaseMs < 1 || leaseMs > maxLeaseMs)
    return `A lease is a whole number of milliseconds from 1 to ${maxLeaseMs}, not ${leaseMs}.`
  return limitProblem(limit) ?? limitProblem(perEndpoint)
}

/** Describes the problem of a request to delete old rows; null if there is none. */
export const forgetRequestProblem = ({ beforeMs, limit }: ForgetRequest): string | null =>
  Number.isSafeInteger(beforeMs) && beforeMs >= 0
    ? limitProblem(limit)
    : `Finished deliveries are deleted before a time in whole milliseconds since 1970, not ${beforeMs}.`

const putsProblem = (change: ChangeSet): string | null => {
  // Most put one document, which no other can be.
  const changed = documentActs.reduce((count, act) => count + (change[act]?.length ?? 0), change.puts?.length ?? 0)
  const seen = changed > 1 ? new Set<string>() : null
  for (const { collection, id, version } of change.expects ?? []) {
    const problem = addressProblem(collection, id, version)
    if (problem !== null) return problem
  }
  for (const put of change.puts ?? []) {
    const problem = addressProblem(put.collection, put.id, put.expectedVersion ?? 0)
    if (problem !== null) return problem
    if (isTwice(seen, put.collection, put.id))
      return `A ChangeSet puts a document of ${put.collection} twice; put its last state once.`
    const problemOfKeys = keysProblem(put.collection, put.keys) ?? keysProblem(put.collection, put.unique)
    if (problemOfKeys !== null) return problemOfKeys
    if (put.keys === undefined || put.unique === undefined) continue
    for (const key of Object.keys(put.unique))
      if (Object.hasOwn(put.keys, key)) return `Look-up key ${key} of ${put.collection} is both unique and not.`
  }
  for (const act of documentActs)
    for (const { collection, id, version } of change[act] ?? []) {
      const problem = addressProblem(collection, id, version)
      if (problem !== null) return problem
      if (act === "deletes" && collection === WEBHOOKS)
        return "A webhook endpoint cannot be deleted: deliveries refer to it."
      if (version === 0) return `A document of ${collection} in ${act} must exist; its version is not 0.`
      if (isTwice(seen, collection, id)) return `A ChangeSet changes a document of ${collection} twice.`
    }
  return null
}

/** Reports whether this document was seen before; it is now. */
const isTwice = (seen: Set<string> | null, collection: string, id: string): boolean => {
  if (seen === null) return false
  const address = `${collection}\0${id}`
  if (seen.has(address)) return true
  seen.add(address)
  return false
}

const keysProblem = (collection: string, keys: { readonly [key: string]: string } | undefined): string | null => {
  if (keys === undefined) return null
  for (const key of Object.keys(keys)) {
    if (!isKeyName(key)) return `A look-up key of ${collection} has a name that does not match ${keyPattern.source}.`
    if (!isStorable(keys[key]!))
      return `The value of look-up key ${key} of ${collection} is not text that a store can hold.`
  }
  return null
}

const addressProblem = (collection: string, id: string, version: number): string | null => {
  if (!isCollection(collection)) return `A collection's name does not match ${namePattern.source}.`
  if (id === "" || !isStorable(id)) return `An id in ${collection} is not text that a store can hold.`
  return Number.isSafeInteger(version) && version >= 0
    ? null
    : `An expected version in ${collection} is ${version}, not a whole number from 0.`
}

const recordsProblem = (change: ChangeSet): string | null => {
  const records = change.records ?? []
  if (change.expectEmpty === true && records[0]?.kind !== "chain.genesis")
    return "Only a ChangeSet that starts with chain.genesis expects an empty chain."
  for (const [index, draft] of records.entries()) {
    if (draft.kind === "chain.genesis" && (index > 0 || change.expectEmpty !== true)) {
      return "chain.genesis comes first in its ChangeSet, which expects an empty chain."
    }
    const problem = draftProblem(draft, records[index - 1])
    if (problem !== null) return `Draft ${index} (${draft.kind.slice(0, 64)}): ${problem}`
  }
  return null
}

/**
 * `before` is a draft without a problem: what it has in common with this one need not be checked again. A batch of
 * decisions has nearly all in common.
 */
const draftProblem = (draft: RecordDraft, before: RecordDraft | undefined): string | null => {
  if (draft.kind !== before?.kind && !isKind(draft.kind)) return `the kind does not match ${kindPattern.source}.`
  if (
    draft.agentId !== null &&
    draft.agentId !== before?.agentId &&
    (draft.agentId === "" || !isStorable(draft.agentId))
  )
    return "the agent's id is not text that a store can hold."
  const { parts } = draft
  if (parts.length > maxParts) return `it has ${parts.length} parts; the most is ${maxParts}.`
  let last = ""
  for (const part of parts) {
    const { name } = part
    if (!isPartName(name)) return `a part's name does not match ${partPattern.source}.`
    if (name <= last) return "parts are sorted by name, and names are unique."
    // A unit of a text has up to three bytes: only a long text need be counted.
    const length = part.text === undefined || part.text.length * 3 > maxPartBytes ? part.bytes.length : 0
    if (length > maxPartBytes) return `part ${name} has ${length} bytes; the most is ${maxPartBytes}.`
    last = name
  }
  const once = draft.once
  if (once === undefined) return null
  if ((once.scope !== before?.once?.scope && !isStorable(once.scope)) || once.key === "" || !isStorable(once.key))
    return "its once key is not text that a store can hold."
  return isDigest(once.digest) ? null : "its once digest is not 64 lower-case hex digits."
}

const eraseProblem = (change: ChangeSet): string | null => {
  const seen = new Set<string>()
  for (const { seq, name } of change.erase ?? []) {
    if (!Number.isSafeInteger(seq) || seq < 0 || !isPartName(name)) return "An erasure names a seq from 0 and a part."
    if (seen.has(`${seq} ${name}`)) return `Part ${name} of record ${seq} is erased twice in one ChangeSet.`
    seen.add(`${seq} ${name}`)
    const said = (change.records ?? []).some(
      (draft) => draft.kind === "part.erased" && draft.body["seq"] === seq && draft.body["name"] === name
    )
    if (!said) return `Part ${name} of record ${seq} is erased without a part.erased record that says so.`
  }
  return null
}

const forgetProblem = (change: ChangeSet): string | null =>
  (change.forget ?? []).every(({ key, scope }) => isStorable(scope) && key !== "" && isStorable(key))
    ? null
    : "A once key to forget is not text that a store can hold."

const countsProblem = ({ counts }: ChangeSet): string | null => {
  if (counts === undefined) return null
  const names = new Set<string>()
  for (const { add, atMost = 0, name } of counts) {
    if (name === "" || !isStorable(name)) return "The name of a counter is not text that a store can hold."
    if (names.has(name)) return "A ChangeSet adds to a counter twice; add the sum once."
    names.add(name)
    if (!Number.isSafeInteger(add) || !Number.isSafeInteger(atMost))
      return `A counter takes whole numbers, not ${add} up to ${atMost}.`
  }
  return null
}

/** Describes the problem of a read that names what it wants; null if there is none. */
export const namedProblem = (what: string, { length }: ReadonlyArray<unknown>): string | null =>
  length > maxRows ? `${length} ${what} were requested at once; the most is ${maxRows}.` : null

const outboxProblem = ({ again, cancel, events, moves }: ChangeSet): string | null => {
  // Decisions that are captured come this way a thousand times a second, and ask nothing of the outbox.
  if (events === undefined && moves === undefined && cancel === undefined && again === undefined) return null
  for (const { owner, type } of events ?? []) {
    if (!isEventType(type)) return `An event's type does not match ${typePattern.source}.`
    if (owner !== undefined && !ownerPattern.test(owner))
      return `An event's owner does not match ${ownerPattern.source}.`
  }
  const moved = new Set<string>()
  for (const move of moves ?? []) {
    const problem = moved.has(move.id) ? "it is moved twice in one ChangeSet." : moveProblem(move)
    if (problem !== null) return `A move of a delivery: ${problem}`
    moved.add(move.id)
  }
  const ids = [
    ...(cancel ?? []).map(({ endpointId }) => endpointId),
    ...(again ?? []).flatMap(({ endpointId, eventId }) => [endpointId, eventId])
  ]
  return ids.every((id) => id !== "" && isStorable(id))
    ? null
    : "The id of an endpoint or of an event is not text that a store can hold."
}

/**
 * Says what is wrong with the data of an event, as JSON text; null when nothing is. Apart from the rest of its
 * ChangeSet, so that the text is made once.
 */
export const eventDataProblem = (type: string, text: string): string | null => {
  // A unit of a text has up to three bytes: only a long text need be counted.
  const bytes = text.length * 3 > maxEventBytes ? textBytes(text) : 0
  return bytes > maxEventBytes
    ? `The data of an event ${type} has ${bytes} bytes; the most is ${maxEventBytes}. Send ids, and let the ` +
        `receiver request the rest.`
    : null
}

/** Finished is finished; and an attempt does not stay open behind a delivery that is not in flight any more. */
const moveProblem = ({ ended, from, id, to }: DeliveryMove): string | null => {
  if (id === "" || !isStorable(id)) return "its id is not text that a store can hold."
  if (from.state !== "pending" && from.state !== "in_flight") return `it is ${from.state}, which is final.`
  if (!isCount(from.attempts)) return `its attempts are ${from.attempts}, not a whole number from 0.`
  if (to.state === "pending" && !isCount(to.nextAttemptAtMs))
    return `its next attempt is due at ${to.nextAttemptAtMs}, not at a whole number of milliseconds.`
  if ((from.state === "in_flight") !== (ended !== undefined))
    return "the end of an attempt is given exactly when the delivery was in flight."
  if (ended === undefined) return null
  if (!isCount(ended.endedAtMs))
    return `its attempt ended at ${ended.endedAtMs}, not at a whole number of milliseconds.`
  if (ended.statusCode !== null && (!isCount(ended.statusCode) || ended.statusCode > 999))
    return `the answer's status is ${ended.statusCode}, not a number from 0 to 999.`
  const bytes = textBytes(ended.responseExcerpt)
  return bytes <= maxExcerptBytes
    ? null
    : `the excerpt of the answer has ${bytes} bytes; the most is ${maxExcerptBytes}.`
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const textBytes = (text: string): number => new TextEncoder().encode(text).length
