/**
 * Decides whether an act's writer is certainly another person than its initiator. Spec: envelopes.md 3.7; decisions
 * 0008 and 0025.
 */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { PRINCIPALS } from "./plan-register.ts"

/** Added to a refusal where an erasure hides whether the two are one person. */
export const ERASED_AUTHOR = "Who wrote it was erased, and a person first seen after that may be the same one."

/**
 * How the acting person relates to those who began the change. `perhaps_them`: the identity of one was erased, and the
 * acting person was first seen after that: one person, come again.
 */
export type SecondPerson = "one_of_them" | "perhaps_them" | "another"

/**
 * Distinguishes a second person from one with a new pseudonym.
 *
 * A person whose identity was erased gets another pseudonym. So two pseudonyms are two people only where both stood for
 * somebody at one time; otherwise an administrator could write, erase the author, and approve. Records give that order,
 * and are only read where an identity was erased. Where they do not give it, nobody counts as another person.
 */
export const secondPerson = Effect.fnUntraced(function* (
  storage: StorageApi,
  authors: ReadonlyArray<string>,
  { id }: Writer
): Effect.fn.Return<SecondPerson, ReadFault> {
  if (authors.includes(id)) return "one_of_them"
  const erased: Array<string> = []
  for (const author of authors) {
    const document = yield* storage.get(PRINCIPALS, author)
    if (document !== null && document.body["subject"] === null) erased.push(author)
  }
  // A person without a pseudonym of ours is identified by the host.
  if (erased.length === 0 || (yield* storage.get(PRINCIPALS, id)) === null) return "another"
  const seen = yield* firstSeen(storage, [...erased, id])
  // Who was carried over by a recovery was seen before the first record here.
  const actsSince = seen.get(id) ?? -1
  for (const author of erased) {
    const erasedAt = yield* erasureOf(storage, seen.get(author))
    if (erasedAt === null || actsSince > erasedAt) return "perhaps_them"
  }
  return "another"
})

/** Records read at a time. */
const PAGE = 1_000

/** Where each of these pseudonyms was given out in this chain. */
const firstSeen = Effect.fnUntraced(function* (
  storage: StorageApi,
  ids: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, number>, ReadFault> {
  const found = new Map<string, number>()
  for (let from = 0; found.size < ids.length;) {
    const page = yield* storage.records({ kinds: ["principal.seen"], from, limit: PAGE })
    for (const { bytes, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      const id = String(read.record.body["principal_id"])
      if (ids.includes(id)) found.set(id, seq)
    }
    if (page.length < PAGE) break
    from = page.at(-1)!.seq + 1
  }
  return found
})

/** The record that erased the identity which the record at `seq` gave; null where this chain has none. */
const erasureOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  seq: number | undefined
): Effect.fn.Return<number | null, ReadFault> {
  if (seq === undefined) return null
  return (yield* storage.parts([seq])).find(({ name }) => name === "identity")?.erasedBy ?? null
})
