/**
 * Rules on texts against definitions that share no code with them: cells, verdicts and diffs against brute force on
 * small alphabets, and forms against the parsers of Node. 4,000 spellings in `npm test`, 100,000 in
 * `npm run test:long`.
 */
import { posix } from "node:path"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { diff } from "../../../packages/envelope/src/analysis/diff/diff.ts"
import { compile } from "../../../packages/envelope/src/compile/compile.ts"
import { decide, prepare } from "../../../packages/envelope/src/decide/decide.ts"
import { outcomes } from "../../../packages/envelope/src/language/compiled.ts"
import { forms } from "../../../packages/envelope/src/language/forms/forms.ts"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"
import { placeOfText } from "../../../packages/envelope/src/language/text-cells.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_128

type Json = Readonly<Record<string, unknown>>

interface Kind {
  readonly signal: Json
  /** Texts that are listed, each its own normal form. */
  readonly texts: ReadonlyArray<string>
  readonly test: fc.Arbitrary<Json>
}

/** All sequences of up to `most` parts. */
const sequences = (parts: ReadonlyArray<string>, most: number): ReadonlyArray<ReadonlyArray<string>> =>
  most === 0 ? [[]] : [[], ...parts.flatMap((part) => sequences(parts, most - 1).map((rest) => [part, ...rest]))]

const oneOf = <A>(values: ReadonlyArray<A>): fc.Arbitrary<A> => fc.constantFrom(...values)
const some = (values: ReadonlyArray<string>) => fc.array(oneOf(values), { minLength: 1, maxLength: 3 })

const plainTexts = sequences(["a", "b", "x"], 5).map((parts) => parts.join(""))
const short = sequences(["a", "b"], 4)
  .slice(1)
  .map((parts) => parts.join(""))
const paths = sequences(["a", "b", "x", "a.b"], 3).map((parts) => `/${parts.join("/")}`)
const domains = sequences(["a", "b", "ab"], 3)
  .slice(1)
  .map((parts) => parts.join("."))

const kinds: Readonly<Record<string, Kind>> = {
  plain: {
    signal: {},
    texts: plainTexts,
    test: fc.oneof(
      oneOf(short).map((eq) => ({ eq })),
      some(short).map((list) => ({ in: list })),
      some(short).map((list) => ({ nin: list })),
      oneOf(short).map((prefix) => ({ prefix })),
      oneOf(short).map((suffix) => ({ suffix })),
      fc.tuple(fc.nat(3), fc.nat(3)).map(([from, more]) => ({ length: [from, from + more] }))
    )
  },
  path: {
    signal: { form: "path@1" },
    texts: paths,
    test: fc.oneof(
      oneOf(paths).map((under) => ({ under })),
      oneOf(paths).map((eq) => ({ eq })),
      some(paths).map((list) => ({ nin: list })),
      oneOf(["a", "b", ".b", "/a", "a/b", "b/a.b"]).map((suffix) => ({ suffix })),
      fc.boolean().map((readable) => ({ readable }))
    )
  },
  domain: {
    signal: { form: "domain@1" },
    texts: domains,
    test: fc.oneof(
      oneOf(domains).map((under) => ({ under })),
      oneOf(domains).map((eq) => ({ eq })),
      some(domains).map((list) => ({ in: list })),
      fc.boolean().map((readable) => ({ readable }))
    )
  }
}
const unreadable: Readonly<Record<string, string>> = { path: "a%", domain: "a b" }

/** Runs a test on a text, null for an unreadable one, straight from the page. */
const says = (test: Json, kind: string, text: string | null): boolean => {
  const [op, constant] = Object.entries(test)[0]! as [string, never]
  if (op === "readable") return constant === (text !== null)
  if (text === null) return false
  const { length } = [...text]
  switch (op) {
    case "eq":
      return text === constant
    case "in":
      return (constant as ReadonlyArray<string>).includes(text)
    case "nin":
      return !(constant as ReadonlyArray<string>).includes(text)
    case "prefix":
      return text.startsWith(constant)
    case "suffix":
      return text.endsWith(constant)
    case "length":
      return length >= constant[0] && length <= constant[1]
    default: {
      const names = (from: string): ReadonlyArray<string> =>
        kind === "path" ? from.split("/").filter((name) => name !== "") : from.split(".").toReversed()
      return names(constant).every((name, i) => names(text)[i] === name)
    }
  }
}

interface GivenRule {
  readonly outcome: string
  readonly of: ReadonlyArray<{ readonly signal: string; readonly test: Json; readonly isNot: boolean }>
}
interface Case {
  readonly kind: { readonly s: string; readonly t: string }
  readonly versions: ReadonlyArray<ReadonlyArray<GivenRule>>
}

const aCase: fc.Arbitrary<Case> = fc
  .record({ s: oneOf(Object.keys(kinds)), t: oneOf(Object.keys(kinds)) })
  .chain((kind) => {
    const condition = oneOf(["s", "t"] as const).chain((signal) =>
      fc.record({ signal: fc.constant(signal), test: kinds[kind[signal]]!.test, isNot: fc.boolean() })
    )
    const rule = fc.record({ outcome: oneOf(outcomes), of: fc.array(condition, { minLength: 1, maxLength: 3 }) })
    const rules = fc.array(rule, { minLength: 1, maxLength: 4 })
    return fc.record({ kind: fc.constant(kind), versions: fc.tuple(rules, rules) })
  })

const combinationOf = ({ kind }: Case, rules: ReadonlyArray<GivenRule>) => {
  const declared = (name: string) => ({ type: "text", source: "caller", ...kinds[name]!.signal })
  const { envelope, findings } = readEnvelope({
    semantics: "envelope/1",
    signals: { s: declared(kind.s), t: declared(kind.t) },
    effects: { "*": "read" },
    rules: rules.map(({ of, outcome }, i) => ({
      id: `r${i}`,
      outcome,
      when: of.map(({ isNot, signal, test }) => (isNot ? { not: { signal, ...test } } : { signal, ...test }))
    })),
    default: { outcome: "deny" }
  })
  assert.deepEqual(findings, [])
  return compile([envelope!]).combination!
}

type Texts = Readonly<Record<"s" | "t", string>>

const outcomeOf = ({ kind }: Case, rules: ReadonlyArray<GivenRule>, texts: Texts): string => {
  const held = rules.filter(({ of }) =>
    of.every(({ isNot, signal, test }) => {
      const name = kind[signal as "s" | "t"]
      const text = texts[signal as "s" | "t"]
      return says(test, name, name !== "plain" && /[%@ ]/.test(text) ? null : text) !== isNot
    })
  )
  const worst = Math.max(-1, ...held.map(({ outcome }) => outcomes.indexOf(outcome as "deny")))
  return outcomes[worst] ?? "deny"
}

const situation = {
  kill: "none",
  agent: { id: "agt_1", orgUnit: "u", isActive: true },
  server: {},
  latches: new Set<string>(),
  windows: () => assert.fail("no meters"),
  approved: false
} as const

describe("rules on texts, against brute force", () => {
  it("have cells that hold texts of one kind, each with a shortest one", () => {
    fc.assert(
      fc.property(aCase, (one) => {
        const { axes } = combinationOf(one, one.versions[0]!).compiled
        for (const [signal, axis] of [
          ["s", axes[0]!],
          ["t", axes[1]!]
        ] as const) {
          const name = one.kind[signal]
          const tests = one.versions[0]!.flatMap(({ of }) =>
            of.filter((it) => it.signal === signal).map((it) => it.test)
          )
          const truths = (text: string): string => tests.map((test) => Number(says(test, name, text))).join("")
          axis.values!.forEach((value, point) => assert.equal(placeOfText(axis.text!, value), point))
          for (const text of kinds[name]!.texts) {
            const shortest = axis.values![placeOfText(axis.text!, text)]!
            assert.equal(truths(shortest), truths(text), `${text} with ${shortest}`)
            assert.isAtMost(shortest.length, text.length)
          }
        }
      }),
      { numRuns: runs(100, 1000), seed: SEED }
    )
  })

  it("decide and compare versions as their conditions say, text by text", () => {
    fc.assert(
      fc.property(aCase, fc.nat(), (one, offset) => {
        const [from, to] = one.versions.map((rules) => combinationOf(one, rules))
        const [old, fresh] = [prepare(from!), prepare(to!)]
        const sample = (name: string, step: number): ReadonlyArray<string> => [
          ...kinds[name]!.texts.filter((_, i) => (i + offset) % step === 0),
          ...(unreadable[name] === undefined ? [] : [unreadable[name]])
        ]
        const changes = new Set<string>()
        for (const s of sample(one.kind.s, 5))
          for (const t of sample(one.kind.t, 7)) {
            const both = [old, fresh].map(
              (ready) => decide(ready, { signals: { s, t }, runId: null }, situation).outcome
            )
            assert.deepEqual(
              both as ReadonlyArray<string>,
              one.versions.map((rules) => outcomeOf(one, rules, { s, t })),
              JSON.stringify({ s, t })
            )
            if (both[0] !== both[1]) changes.add(both.join(" "))
          }
        const { complete, transitions } = diff(from!.compiled, to!.compiled)
        assert.isTrue(complete)
        for (const transition of transitions) {
          const { s, t } = transition.example as Texts
          assert.deepEqual(
            one.versions.map((rules) => outcomeOf(one, rules, { s, t })),
            [transition.from, transition.to] as ReadonlyArray<string>,
            JSON.stringify({ s, t })
          )
        }
        for (const change of changes)
          assert.isTrue(
            transitions.some((transition) => `${transition.from} ${transition.to}` === change),
            change
          )
      }),
      { numRuns: runs(60, 1000), seed: SEED }
    )
  })
})

const joined = (parts: ReadonlyArray<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(oneOf(parts), { minLength: 1, maxLength }).map((list) => list.join(""))

const pathParts = [
  ..."/////....~-:% \\,;#?*\u0000\u00e9\u0301\uff0e",
  "..",
  "../",
  "/../",
  "./",
  "//",
  "srv",
  "/srv",
  "/srv/reports",
  "reports",
  "reports-evil",
  "secret",
  "a",
  "a.b",
  "%2e"
]
const hostParts = [
  ..."/@:.?#%-_,;|[]01aAé。ｅ\\ \t",
  "http://",
  "https://",
  "HTTPS://",
  "wss://",
  "//",
  "example.com",
  "example",
  "evil.test",
  ".com",
  "xn--mller-kva",
  "xn--a",
  ":80",
  "127.0.0.1",
  "0x7f",
  "010",
  "%2e",
  "anna@",
  "@evil.test"
]

describe("forms, against the parsers of Node", () => {
  it("read a path only as path.resolve does, so that under never leaves its root", () => {
    let readable = 0
    const property = fc.property(joined(pathParts, 8), oneOf([null, "/", "/srv", "/srv/reports"]), (text, base) => {
      const normal = forms["path@1"].read(text, base)
      if (normal === null) return
      readable++
      assert.equal(normal, posix.resolve(base ?? "/", text), text)
      assert.equal(forms["path@1"].read(normal, null), normal)
      const isUnder = says({ under: "/srv/reports" }, "path", normal)
      assert.equal(
        isUnder,
        !/^\.\.(?:\/|$)/.test(posix.relative("/srv/reports", posix.resolve(base ?? "/", text))),
        text
      )
    })
    fc.assert(property, { numRuns: runs(4_000, 100_000), seed: SEED })
    assert.isAbove(readable, runs(200, 5_000))
  })

  it("read a URL only as Node does, or as one that Node refuses", () => {
    let readable = 0
    const property = fc.property(fc.tuple(oneOf(["http://", "https://", ""]), joined(hostParts, 6)), (parts) => {
      const text = parts.join("")
      const domain = forms["domain@1"].read(text, null)
      if (domain === null) return
      assert.equal(forms["domain@1"].read(domain, null), domain)
      const url = text.includes("://") ? URL.parse(text) : text.includes("@") ? null : URL.parse(`https://${text}/`)
      if (url === null) return
      readable++
      assert.equal(url.hostname.replace(/\.$/, ""), domain, text)
      const scheme = forms["scheme@1"].read(text, null)
      if (scheme !== null) assert.equal(url.protocol, `${scheme}:`)
    })
    fc.assert(property, { numRuns: runs(4_000, 100_000), seed: SEED })
    assert.isAbove(readable, runs(100, 2_500))
  })
})
