/** Holds a store against the book of its callers, after whatever happened to the processes that wrote it. */
import assert from "node:assert/strict"
import {
  Agents,
  Chain,
  Checkpointer,
  governorLayer,
  type GovernorServices,
  type KeysChoice,
  keysLayerOf,
  Packs,
  Replay
} from "@flyball/core"
import { layerOf, Storage, type StorageChoice } from "@flyball/core/storage"
import { fromUtf8, RangeFolder, toHex, verifyPack } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect, Layer, Logger } from "effect"
import { type ReadRecord, readRecords } from "../simulation/checkers/checked.ts"
import { argsOf, type Book, type Landed, resultOf, type Vouched, wordsOf } from "./book.ts"

/** Counts of what an audit checked and found valid. */
export interface Audited {
  readonly records: number
  readonly checkpoints: number
}

/** How a store is audited. */
export interface AuditOptions {
  readonly storage: StorageChoice
  readonly keys: KeysChoice
  /** Part of every message: which round, which seed. */
  readonly where: string
  /** Signs for everything, exports it and verifies the pack too. */
  readonly pack: boolean
}

/**
 * Opens the store as the next process would, and throws at the first thing that is not as the book says.
 *
 * The chain verifies, the documents are the fold of the records; acknowledged is there exactly once, where and as it
 * was said; refused with "nothing was
 * written" is missing; nothing is there that nobody sent; erased stays erased, and nothing else is; every root that
 * anybody vouched for is the root of these records.
 */
export const audit = (book: Book, { keys, pack, storage, where }: AuditOptions): Promise<Audited> =>
  audited(book, where, pack).pipe(
    Effect.provide(governorLayer().pipe(Layer.provideMerge(layerOf(storage)), Layer.provide(keysLayerOf(keys)))),
    Effect.provide(Logger.layer([])),
    Effect.runPromise
  )

const audited = Effect.fnUntraced(function* (
  book: Book,
  where: string,
  pack: boolean
): Effect.fn.Return<Audited, unknown, GovernorServices | Storage> {
  const storage = yield* Storage
  assert.deepEqual(book.problems, [], where)
  const verified = yield* Chain.use((chain) => chain.verify())
  assert.deepEqual(verified.findings, [], where)
  assert.equal(verified.ok, true, where)
  assert.deepEqual((yield* Replay.use(({ check }) => check)).differences, [], where)
  const records = yield* readRecords(storage)
  const contents = yield* contentsOf(records)
  const facts = factsOf(records)
  for (const sentence of [...captured(book, facts, contents), ...erasures(book, facts, contents)])
    assert.fail(`${where}: ${sentence}`)
  const names = (yield* Agents.use((agents) => agents.list({ limit: 500 }))).map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, `${where}: two agents have one name`)
  // A store that verifies and cannot be signed for is of no use. Not each time: it waits for the lease of the killed
  // process.
  if (pack) yield* Checkpointer.use(({ now }) => now)
  const stored = (yield* storage.list("checkpoints")).map(({ body }): Vouched => ({
    size: Number(body["size"]),
    rootHex: String(body["root"]),
    by: "a stored checkpoint"
  }))
  for (const sentence of vouchedFor([...book.vouched, ...stored], records)) assert.fail(`${where}: ${sentence}`)
  if (pack) yield* packed(book, facts, where)
  return { records: records.length, checkpoints: new Set(stored.map(({ size }) => size)).size }
})

/** Every part's text by seq and name; null where it was erased. */
type Contents = ReadonlyMap<string, { readonly text: string | null; readonly erasedBy: number | null }>

/** Seqs of one read. The port's bound. */
const PAGE = 1_000

const contentsOf = Effect.fnUntraced(function* (records: ReadonlyArray<ReadRecord>) {
  const storage = yield* Storage
  const found = new Map<string, { readonly text: string | null; readonly erasedBy: number | null }>()
  for (let from = 0; from < records.length; from += PAGE) {
    for (const { bytes, erasedBy, name, salt, seq } of yield* storage.parts(
      records.slice(from, from + PAGE).map((record) => record.seq)
    )) {
      // Half erased is not erased.
      const gone = bytes === null && salt === null
      found.set(`${seq} ${name}`, {
        text: gone ? null : (fromUtf8(bytes ?? new Uint8Array()) ?? "not UTF-8"),
        erasedBy
      })
    }
  }
  return found
})

/** Facts from the records, by the reference of the decision they are about. */
interface Facts {
  readonly witnessed: ReadonlyMap<string, ReadonlyArray<Landed>>
  readonly settled: ReadonlyMap<string, ReadonlyArray<Landed>>
  readonly erased: ReadonlyMap<string, ReadonlyArray<Landed>>
}

const factsOf = (records: ReadonlyArray<ReadRecord>): Facts => {
  const refs = new Map(
    records.flatMap(({ body, kind, seq }) =>
      kind === "decision.witnessed" ? [[seq, String(body["client_ref"])] as const] : []
    )
  )
  const by = (kind: string, member: string): ReadonlyMap<string, ReadonlyArray<Landed>> =>
    Map.groupBy(
      records
        .filter((record) => record.kind === kind)
        .map(({ body, hash, seq }) => ({
          ref: refs.get(member === "" ? seq : Number(body[member])) ?? `nothing, at ${seq}`,
          seq,
          hash: `sha256:${toHex(hash)}`
        })),
      ({ ref }) => ref
    )
  return {
    witnessed: by("decision.witnessed", ""),
    settled: by("decision.settled", "decision_seq"),
    erased: by("part.erased", "seq")
  }
}

function* captured(book: Book, { settled, witnessed }: Facts, contents: Contents): Generator<string> {
  yield* once("witnessed", witnessed, book.witnessed, book.sent)
  yield* once("settled", settled, book.settled, book.settleSent)
  for (const ref of book.refused)
    if (witnessed.has(ref)) yield `${ref} is witnessed, and its caller got the answer that nothing was written`
  for (const [ref, [landed]] of witnessed) {
    const { text } = contents.get(`${landed!.seq} args`) ?? { text: "nothing" }
    if (text !== null && text !== JSON.stringify(argsOf(ref, book.paddingBytes)))
      yield `${ref} says ${text.slice(0, 200)}, which nobody sent`
  }
  for (const [ref, [landed]] of settled) {
    const { text } = contents.get(`${landed!.seq} result`) ?? { text: "nothing" }
    if (text !== JSON.stringify(resultOf(ref))) yield `${ref} is settled with ${text}, which nobody sent`
  }
}

/** There at most once, only when it was sent, and where it was acknowledged. */
function* once(
  what: string,
  found: ReadonlyMap<string, ReadonlyArray<Landed>>,
  acknowledged: ReadonlyMap<string, Landed | null>,
  sent: ReadonlySet<string>
): Generator<string> {
  for (const [ref, all] of found) {
    if (all.length > 1) yield `${ref} is ${what} ${all.length} times`
    if (!sent.has(ref)) yield `${ref} is ${what}, without a request`
  }
  for (const [ref, reported] of acknowledged) {
    const there = found.get(ref)?.[0]
    if (there === undefined) yield `${ref} was acknowledged as ${what}, and is not`
    else if (reported !== null && (there.seq !== reported.seq || there.hash !== reported.hash))
      yield (
        `${ref} was acknowledged as ${what} at ${reported.seq} with ${reported.hash}, and is at ` +
          `${there.seq} with ${there.hash}`
      )
  }
}

function* erasures(book: Book, { erased, witnessed }: Facts, contents: Contents): Generator<string> {
  yield* once("erased", erased, book.erased, book.eraseSent)
  for (const [ref, [landed]] of witnessed) {
    const by = erased.get(ref)?.[0]?.seq ?? null
    const part = contents.get(`${landed!.seq} args`)
    if (part === undefined) yield `${ref} has lost its arguments`
    else if (part.erasedBy !== by || (part.text === null) !== (by !== null))
      yield (
        `the arguments of ${ref} are erased by ${part.erasedBy}, ` +
          `${part.text === null ? "are gone" : "are there"}, and the record is ${by}`
      )
  }
}

/** Compares each root with that of these records at its size, so that no two vouched roots contradict each other. */
function* vouchedFor(vouched: ReadonlyArray<Vouched>, records: ReadonlyArray<ReadRecord>): Generator<string> {
  const bySize = Map.groupBy(vouched, ({ size }) => size)
  const folder = new RangeFolder(nodeCrypto)
  for (const { hash, seq } of records) {
    folder.pushLeaf(hash)
    const wanted = bySize.get(seq + 1)
    if (wanted === undefined) continue
    const root = toHex(folder.root()!)
    for (const { by, rootHex, size } of wanted)
      if (rootHex !== root) yield `${by} vouches for ${rootHex} at size ${size}, and the records have ${root}`
  }
  for (const { by, size } of vouched)
    if (size > records.length) yield `${by} vouches for ${size} records, and there are ${records.length}`
}

/** Exports everything: it verifies with the chain's key, says what was not erased, and nothing of what was. */
const packed = Effect.fnUntraced(function* (book: Book, { erased, witnessed }: Facts, where: string) {
  const chain = yield* Chain
  const chunks = yield* Packs.use((packs) => packs.export({ kind: "full", disclose: "all" }))
  const bytes = yield* Effect.promise(async () => {
    const all: Array<Uint8Array> = []
    for await (const chunk of chunks) all.push(chunk)
    return Buffer.concat(all)
  })
  const { findings, verdicts } = yield* Effect.promise(() => verifyPack(nodeCrypto, [bytes], { vkeys: [chain.vkey] }))
  assert.deepEqual(
    [verdicts.integrity, verdicts.authenticity, verdicts.completeness],
    ["ok", "signed_by_pinned_key", "full"],
    `${where}: ${JSON.stringify(findings)}`
  )
  const said = new Set(
    bytes
      .toString("latin1")
      .split("\n")
      .filter((line) => line.startsWith("D "))
      .map((line) => /words of [^"]*\./.exec(Buffer.from(line.split(" ")[4] ?? "", "base64").toString())?.[0])
  )
  for (const ref of witnessed.keys())
    assert.equal(
      said.has(wordsOf(ref)),
      !erased.has(ref),
      `${where}: ${ref} is ${erased.has(ref) ? "erased and in the pack" : "not in the pack"}`
    )
})
