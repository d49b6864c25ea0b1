/**
 * The program that finds runs is held against the scanner in JavaScript: what it takes, the scanner takes, and says the
 * same of it.
 */
import { beforeAll, describe, expect, it } from "vitest"
import { concatBytes, toHex, utf8 } from "../bytes.ts"
import { encodeRecord } from "../record/encode.ts"
import { formatInstant } from "../record/instant.ts"
import { sampleChain } from "../record/sample-records.ts"
import { RunChecker } from "../verify/record-run.ts"
import { nodeCrypto } from "./crypto.ts"
import { recordModule } from "./record-module.ts"
import { RunFinder } from "./run-finder.ts"

const checker = new RunChecker(nodeCrypto)
let finder: RunFinder
beforeAll(() => {
  finder = new RunFinder(recordModule()!)
})

const lineOf = (record: Uint8Array): Uint8Array => concatBytes(utf8("R "), record, utf8("\n"))
const linesOf = (records: ReadonlyArray<Uint8Array>): Uint8Array => concatBytes(...records.map(lineOf))

/** Finds runs, holds each against what the scanner says of the same lines, and answers how many records were taken. */
const taken = (block: Uint8Array, what: unknown = "", keepParts = true): number => {
  let records = 0
  let behind = 0
  for (const { at, run } of finder.find(block, keepParts)) {
    expect(at, String(what)).toBeGreaterThanOrEqual(behind)
    behind = at + run.length
    const theirs = checker.check(block, at, behind, keepParts)
    // Compared as text first: most of the time of this test would be spent in comparing bytes one by one.
    if (JSON.stringify(run) !== JSON.stringify(theirs)) expect([what, run]).toEqual([what, theirs])
    records += run.count
  }
  expect(behind).toBeLessThanOrEqual(block.length)
  return records
}

/** A small generator of numbers, the same for a seed every time. */
const randomFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Random = ReturnType<typeof randomFrom>
const pick = <A>(random: Random, items: ReadonlyArray<A>): A => items[random(items.length)]!
const plainLetters = [..." !#$%&'()*+,-./0129:;<=>?@AZ[]^_`az{|}~\u007f"]
const someText = (random: Random, odd: number): string =>
  Array.from({ length: pick(random, [0, 1, 2, 7, 15, 16, 17, 31, 33, 60]) }, () =>
    random(1000) < odd ? pick(random, ['"', "\\", "\n", "\u0001", "é", "发", "\u{1f600}"]) : pick(random, plainLetters)
  ).join("")
const someName = (random: Random, odd: number): string => [...someText(random, odd)].slice(0, 9).join("")
const numbers = [
  0,
  -1,
  7,
  10,
  99,
  -100,
  999_999_999_999_999,
  -999_999_999_999_999,
  1_000_000_000_000_000,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER
]

const someValue = (random: Random, depth: number, odd: number): never => {
  const sort = random(depth > 4 ? 4 : 7)
  if (sort < 2) return someText(random, odd) as never
  if (sort === 2) return pick(random, numbers) as never
  if (sort === 3) return pick(random, [true, false, null]) as never
  if (sort === 4) return Array.from({ length: random(4) }, () => someValue(random, depth + 1, odd)) as never
  return Object.fromEntries(
    Array.from({ length: random(6) }, () => [someName(random, odd), someValue(random, depth + 1, odd)])
  ) as never
}

/** A chain of records of all sorts. `odd`: how many letters in a thousand are not plain. */
const someChain = (random: Random, length: number, odd: number): ReadonlyArray<Uint8Array> => {
  const records: Array<Uint8Array> = []
  const first = pick(random, [1, 9, 10, 99, 2 ** 31 - 3, 2 ** 32 - 2, 999_999_999_999_990])
  let atMs = pick(random, [
    Date.UTC(2026, 10, 21, 23, 59, 59, 990),
    Date.UTC(2024, 1, 29),
    Date.UTC(1999, 11, 31, 9, 9, 9, 9)
  ])
  let prev = toHex(nodeCrypto.sha256(utf8("before")))
  for (let i = 0; i < length; i++) {
    const names = ["a", "args", "args_2", "b", "b0", `z${"9".repeat(31)}`].filter(() => random(3) === 0)
    const parts = names.map((name) => ({ c: toHex(nodeCrypto.sha256(utf8(name + i))), name }))
    const body = Object.fromEntries(
      Array.from({ length: random(9) }, () => [someName(random, odd), someValue(random, 0, odd)])
    ) as never
    const kind = pick(random, [
      "abc",
      "decision.witnessed",
      "chain.other",
      "part.erase",
      "key.rotate",
      `k${"._0a".repeat(15)}`
    ])
    const record = encodeRecord({ at: formatInstant(atMs), body, kind, parts, prev, seq: first + i })
    records.push(record)
    prev = toHex(nodeCrypto.leafHash(record))
    atMs += pick(random, [0, 0, 1, 10, 999, 61_000])
  }
  return records
}

describe("runs found by the program", () => {
  it("are those of the scanner, for records of every sort", () => {
    let all = 0
    let plain = 0
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomFrom(seed)
      const records = someChain(random, 12, seed % 2 === 0 ? 0 : 20)
      const count = taken(linesOf(records), seed, seed % 3 > 0)
      if (seed % 2 === 0) {
        all += records.length
        plain += count
      }
    }
    // What is plain is taken: numbers of sixteen digits are not, nor are kinds that begin as if somebody read their
    // body.
    expect(plain).toBeGreaterThan(0.3 * all)
  })

  it("are all records that are plain, and only those", () => {
    const chain = sampleChain(nodeCrypto, 120)
    const block = linesOf(chain)
    const before = block.slice()
    const first = taken(block)
    expect(first).toBeGreaterThan(20)
    expect(block).toEqual(before)
    expect(taken(concatBytes(utf8("evidence-pack/v1 x\nH {}\n"), block, utf8("S 0 119\n")))).toBe(first)
    const plain = Array.from({ length: 5000 }, (_, i) => i).reduce<{ prev: string; records: Array<Uint8Array> }>(
      ({ prev, records }, i) => {
        const record = encodeRecord({
          at: formatInstant(1e12 + i),
          body: { a: `x${i}`, b: { c: i, d: [true, null, "y"] } } as never,
          kind: "decision.witnessed",
          parts: [],
          prev,
          seq: i + 1
        })
        records.push(record)
        return { prev: toHex(nodeCrypto.leafHash(record)), records }
      },
      { prev: "0a".repeat(32), records: [] }
    ).records
    expect(taken(linesOf(plain))).toBe(5000)
    expect(finder.find(linesOf(plain), false).map(({ run }) => run.count)).toEqual([4096, 904])
  })

  it("see every byte, whatever it becomes", () => {
    const letters = [
      0x00, 0x0a, 0x1f, 0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x39, 0x3a, 0x41, 0x5b, 0x5c, 0x5d, 0x60, 0x61, 0x66,
      0x67, 0x7a, 0x7b, 0x7d, 0x7f, 0x80, 0xff
    ]
    let accepted = 0
    let alike = 0
    const chains = Array.from({ length: 150 }, (_, i) => someChain(randomFrom(101 + i), 3, 0))
      .filter((records) => taken(linesOf(records)) === 3)
      .slice(0, 4)
    expect(chains).toHaveLength(4)
    for (const [seed, records] of chains.entries()) {
      const before = linesOf(records.slice(0, 2))
      const last = lineOf(records[2]!)
      for (let at = 0; at < last.length; at++) {
        for (const change of [
          letters[at % letters.length]!,
          letters[(7 * at + seed) % letters.length]!,
          last[at]! ^ 1,
          last[at]! ^ 0x20,
          last[at]! + 1
        ]) {
          for (const mutant of [
            last.with(at, change),
            concatBytes(last.subarray(0, at), Uint8Array.of(change), last.subarray(at)),
            concatBytes(last.subarray(0, at), last.subarray(at + 1))
          ]) {
            const block = concatBytes(before, mutant)
            const mine = taken(block, [seed, at, change], false)
            const theirs = checker.check(block, 0, block.length, false)?.count ?? 0
            if (theirs === 3) accepted++
            if (theirs === 3 && mine === 3) alike++
          }
        }
      }
    }
    expect(accepted).toBeGreaterThan(100)
    // What the program is not sure of is rare where all letters are plain.
    expect(alike).toBeGreaterThan(0.9 * accepted)
  })

  it("stay inside the block, however it is cut and whatever was in the memory before", () => {
    const block = linesOf(someChain(randomFrom(7), 6, 0))
    for (const keep of [true, false]) {
      for (let end = 0; end <= block.length; end++) {
        finder.find(block, keep)
        taken(block.subarray(0, end), end, keep)
      }
    }
  })

  it("are the same in the finder's own memory, one room after another", () => {
    const other = new RunFinder(recordModule()!)
    const rooms = other.rooms(2, 100_000)
    for (let seed = 201; seed < 209; seed++) {
      const block = linesOf(someChain(randomFrom(seed), 10, 5))
      const room = rooms[seed % 2]!.subarray(0, block.length)
      room.set(block)
      expect(other.find(room, true)).toEqual(finder.find(block, true))
      expect(room).toEqual(block)
    }
  })

  it("end where seq, time or links do not go on, and where a record is too long", () => {
    const make = (seq: number, at: string, prev: string, text = "x") =>
      encodeRecord({ at, body: { a: text } as never, kind: "abc", parts: [], prev, seq })
    const first = make(5, "2026-11-21T10:00:00.500Z", "0a".repeat(32))
    const prev = toHex(nodeCrypto.leafHash(first))
    const runs = (second: Uint8Array) => finder.find(linesOf([first, second]), false).map(({ run }) => run.count)
    expect(runs(make(6, "2026-11-21T10:00:00.500Z", prev))).toEqual([2])
    expect(runs(make(7, "2026-11-21T10:00:00.500Z", prev))).toEqual([1, 1])
    expect(runs(make(6, "2026-11-21T10:00:00.499Z", prev))).toEqual([1, 1])
    expect(runs(make(6, "2026-11-22T00:00:00.000Z", prev))).toEqual([1, 1])
    expect(runs(make(6, "2026-11-21T10:00:00.500Z", `${prev.slice(0, 63)}${prev.endsWith("0") ? "1" : "0"}`))).toEqual(
      []
    )
    const bare = make(6, "2026-11-21T10:00:00.500Z", prev, "").length
    expect(runs(make(6, "2026-11-21T10:00:00.500Z", prev, "y".repeat(65_536 - bare)))).toEqual([2])
    const tooLong = utf8(
      `{"at":"2026-11-21T10:00:00.500Z","body":{"a":"${"y".repeat(65_537 - bare)}"},"kind":"abc","parts":[],"prev":"${prev}","seq":6,"v":1}`
    )
    expect(tooLong.length).toBe(65_537)
    expect(runs(tooLong)).toEqual([1])
    // What a writer of ours would not write, in a record behind a good one.
    const raw = (at: string, body: string, parts: string) =>
      utf8(`{"at":"2026-11-21T${at}","body":${body},"kind":"abc","parts":[${parts}],"prev":"${prev}","seq":6,"v":1}`)
    const part = (name: string) => `{"c":"${"0a".repeat(32)}","name":"${name}"}`
    const lists = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`
    const late = "10:00:00.500Z"
    for (const record of [
      raw(late, "{}", ""),
      raw("23:59:59.999Z", '{"a":1,"ab":2,"b":{}}', part("a")),
      raw(late, lists(30), `${part("a")},${part("ab")}`),
      raw(late, '{"":0}', part(`a${"1".repeat(31)}`))
    ])
      expect(runs(record)).toEqual([2])
    for (const record of [
      ...["24:00:00.000Z", "23:60:00.000Z", "23:59:60.000Z", "1a:00:00.000Z", "23.59:59.999Z", "23:59:59.99aZ"].map(
        (at) => raw(at, "{}", "")
      ),
      ...[
        '{"a":1,"a":2}',
        '{"ab":1,"a":2}',
        '{"b":1,"a":2}',
        lists(31),
        '{"a":-0}',
        '{"a":01}',
        '{"a":1.5}',
        '{"a":-}',
        '{"a":truE}',
        '{"a":falsy}',
        "[]",
        '{"a":1,}',
        '{"a":[1,]}'
      ].map((body) => raw(late, body, "")),
      ...[
        `${part("a")},${part("a")}`,
        `${part("ab")},${part("a")}`,
        part(`a${"1".repeat(32)}`),
        part(""),
        part("1"),
        part("a.b"),
        `${part("a")},`
      ].map((parts) => raw(late, "{}", parts))
    ]) {
      expect(taken(linesOf([first, record]), record)).toBe(1)
      expect(checker.check(linesOf([first, record]), 0, 2 * record.length + first.length, false)?.count).toBe(1)
    }
    for (const at of [
      "2026-02-30T10:00:00.500Z",
      "2026-13-01T10:00:00.500Z",
      "2026-11-21T24:00:00.500Z",
      "2026-11-21T10:60:00.500Z",
      "2026-11-21T10:00:60.500Z"
    ]) {
      expect(
        taken(lineOf(utf8(`{"at":"${at}","body":{},"kind":"abc","parts":[],"prev":"${prev}","seq":6,"v":1}`)))
      ).toBe(0)
    }
  })
})
