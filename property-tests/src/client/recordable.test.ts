/** Whatever a tool is called, given and answers, the contract accepts the record that the client makes of it. */
import { decodeWitness, PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalize, type NotCanonical, RawJson, readJson, utf8 } from "@flyball/evidence"
import { Result } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { recordable, recordedName } from "../../../packages/client/src/capture/recordable.ts"
import { keepAll, redactMembers } from "../../../packages/client/src/redact.ts"
import type { Decision } from "../../../packages/client/src/wire.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_130
const digestKey = new Uint8Array(32)

/** A value that holds itself, throws when it is read, nests deep, is long, or is of a class. */
const awkward = fc.constantFrom<() => unknown>(
  () => {
    const circle: Record<string, unknown> = { a: 1 }
    circle["self"] = [circle]
    return circle
  },
  () => ({
    get a(): never {
      throw new Error("no")
    }
  }),
  () => ({
    toJSON: () => {
      throw new Error("no")
    }
  }),
  () => ({ toJSON: () => ({ toJSON: () => 1n }) }),
  () => new Proxy({}, { ownKeys: () => ["a", "a"], get: () => Number.NaN }),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  () => JSON.parse(`${'{"d":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  () => Array.from({ length: 61 }).reduce((inner) => [inner], 1),
  () => "é".repeat(400_000),
  () => "x".repeat(20_000_000),
  () => new Array(2 ** 32 - 1),
  () => Object.fromEntries(Array.from({ length: 110_000 }, (_, at) => [at.toString(36), 0])),
  () => [2 ** 60, "caf\ud83d", { "\ud83d": 1 }, 12n, new Error("x"), Symbol("s"), () => 1, new Uint8Array(9)],
  () => JSON.parse('{"__proto__":{"toJSON":1}}')
)

/** Makes a value: some cannot even be held by who prints them. */
const anything: fc.Arbitrary<() => unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .anything({
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withObjectString: true,
        withSet: true,
        withSparseArray: true,
        withTypedArray: true
      })
      .map((value) => () => value)
  },
  { weight: 1, arbitrary: awkward },
  { weight: 1, arbitrary: fc.array(awkward, { maxLength: 2 }).map((makes) => () => makes.map((make) => make())) }
)

const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme", maxLength: 300 }))

/** Reads a request as the server does, and checks its parts as the planner does. */
const problemsOf = (decision: Decision): ReadonlyArray<string> => {
  const read = readJson(utf8(JSON.stringify({ decisions: [decision] })), {
    keepRaw: (path) => path.length === 3 && ["args", "labels", "result", "signals"].includes(String(path[2]))
  })
  if (!read.ok) return [read.reason]
  const decoded = decodeWitness(read.value)
  if (Result.isFailure(decoded)) return decoded.failure.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)
  const { args, labels, result } = decoded.success[0]!
  return [args, labels, result].flatMap((part) => {
    if (part === undefined) return []
    // Nothing that the client sends needs to be kept as bytes.
    if (part instanceof RawJson) return ["no exact form"]
    try {
      return utf8(canonicalize(part, 64)).length > PART_LIMIT_BYTES ? ["too large"] : []
    } catch (cause) {
      return [(cause as NotCanonical).reason]
    }
  })
}

describe("what the client records", () => {
  it("is accepted by the contract, for any name, arguments and result", { timeout: 180_000 }, () => {
    fc.assert(
      fc.property(texts, anything, anything, fc.boolean(), (name, makeArgs, makeResult, redacts) => {
        const [args, result] = [makeArgs(), makeResult()]
        const given = {
          client_ref: name,
          action: name,
          tool_server: name,
          model: name,
          run_id: name,
          step: name,
          latency_ms: result,
          usage: result,
          args,
          result
        }
        const redact = redacts ? redactMembers(["a"]) : keepAll
        const decision = recordable<Decision>(given as never, { redact, digestKey })
        assert.deepStrictEqual(problemsOf(decision), [])
        // Only what is not there has no part.
        assert.strictEqual(decision.result === undefined, result === undefined)
      }),
      { seed: SEED, numRuns: runs(40, 200) }
    )
  })

  it("keeps names apart: each text has a name of its own, and a name is itself", () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        if (one !== other) assert.notStrictEqual(recordedName(one), recordedName(other))
        const again = recordedName(one)
        if (again === one) assert.strictEqual(recordedName(again), one)
      }),
      { seed: SEED, numRuns: runs(200, 10_000) }
    )
    for (const name of ["Create CIFS Share", "获取_天气", "gpt-4o (2024-08-06)", "a"])
      assert.strictEqual(recordedName(name), name)
    for (const [text, name] of [
      ["a\nb\\c", "@name:a\\u{a}b\\u{5c}c"],
      ["@name:x", "@name:@name:x"],
      ["cafe\u0301", "@name:cafe\\u{301}"],
      ["", "@name:"]
    ] as const)
      assert.strictEqual(recordedName(text), name)
    assert.match(recordedName("x".repeat(220)), /^@digest:[0-9a-f]{64}:x{127}$/)
  })
})
