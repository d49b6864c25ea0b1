import { describe, expect, it } from "vitest"
import { concatBytes, utf8 } from "../bytes.ts"
import { canonicalBytes } from "../json/canonical.ts"
import { FormScanner } from "../json/form.ts"
import { BodyScanner } from "./body-scanner.ts"

const tail = utf8(`,"kind":"${"x".repeat(120)}"`)
const base = {
  action: "read_file",
  agent_id: "agt_1",
  args: { b: [1, 2, { c: "x" }], z: null },
  mode: "observed",
  run: "run-00001",
  status: "ok",
  step: 12,
  usage: { in: 1, out: 22 }
}

/** The answer of a scanner that has seen what `seen` holds, next to that of the plain scanner. */
const answers = (form: FormScanner, bodies: BodyScanner, body: Uint8Array): readonly [number, number] => {
  const bytes = concatBytes(utf8('"body":'), body, tail)
  const plain = new FormScanner()
  plain.attach(bytes)
  const expected = plain.object(7, 31)
  form.attach(bytes)
  return [bodies.body(7, 7 + body.length), expected > 7 + body.length ? -1 : expected]
}

/** A small generator, so that a failure can be repeated. */
const randomFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 8) % below
  }
}

const value = (random: (below: number) => number): unknown => {
  const choices: ReadonlyArray<unknown> = [
    "",
    "x",
    "a longer text than eight",
    "é",
    '"q"',
    0,
    -1,
    random(1e6),
    true,
    null,
    [],
    [1, "b"],
    {},
    { a: 1, b: { c: [] } },
    "y".repeat(random(40))
  ]
  return choices[random(choices.length)]
}

describe("the body scanner", () => {
  it("answers as the plain scanner does, on random neighbours and their mutations", () => {
    const random = randomFrom(7)
    const form = new FormScanner()
    const bodies = new BodyScanner(form)
    const names = [...Object.keys(base), "", "ac", "actio", "action2", "zz", "é", "m\n", "status_", "__proto__"]
    let current: Record<string, unknown> = { ...base }
    let taken = 0
    for (let round = 0; round < 30_000; round++) {
      if (random(40) === 0) current = { ...base }
      const name = names[random(names.length)]!
      const next = { ...current }
      if (random(3) === 0) delete next[name]
      else
        Object.defineProperty(next, name, {
          value: value(random),
          enumerable: true,
          configurable: true,
          writable: true
        })
      if (random(2) === 0) current = next
      const body = canonicalBytes(next)
      const [mine, plain] = answers(form, bodies, body)
      if (mine !== plain) expect([round, JSON.stringify(next), mine]).toEqual([round, JSON.stringify(next), plain])
      if (mine > 0) taken++
      const mutant = body.slice()
      mutant[random(mutant.length)] = random(4) === 0 ? random(256) : body[random(body.length)]!
      const [mineNow, plainNow] = answers(form, bodies, mutant)
      if (mineNow !== plainNow)
        expect([round, String.fromCharCode(...mutant), mineNow]).toEqual([
          round,
          String.fromCharCode(...mutant),
          plainNow
        ])
    }
    expect(taken).toBe(30_000)
  })

  it("sees swapped, doubled and missing members that it knows", () => {
    const form = new FormScanner()
    const bodies = new BodyScanner(form)
    const text = '{"a":1,"b":"two","c":[3],"d":{"e":4}}'
    expect(answers(form, bodies, utf8(text))[0]).toBe(7 + text.length)
    for (const bad of [
      '{"b":"two","a":1,"c":[3],"d":{"e":4}}',
      '{"a":1,"a":1,"b":"two","c":[3],"d":{"e":4}}',
      '{"a":1,"b":"two","c":[3],"d":{"e":4},"d":{"e":4}}',
      '{"a":1,"b":"two","c":[3],"d":{"e":4},"c":[3]}',
      '{"a":1,"b":"two","c":[3],"bb":1,"d":{"e":4}}',
      '{"a":1,"c":[3],"b":"two","d":{"e":4}}',
      '{"a":1,"b":"two","c":[3],"d":{"e":4},}',
      '{"a":1,"b":"two","c":[3],"d":{"e":4}',
      '{"a":1,"b":"two",,"c":[3],"d":{"e":4}}',
      '{"a":1 ,"b":"two","c":[3],"d":{"e":4}}'
    ]) {
      expect([bad, answers(form, bodies, utf8(bad))[0]]).toEqual([bad, -1])
      expect(answers(form, bodies, utf8(text))[0]).toBe(7 + text.length)
    }
    for (const good of [
      '{"a":1,"b":"two","d":{"e":4}}',
      '{"d":{"e":4}}',
      '{"a":1,"b":"two","bb":1,"c":[3],"d":{"e":4},"e":5}',
      '{"0":0,"a":1}',
      "{}"
    ]) {
      expect([good, answers(form, bodies, utf8(good))[0]]).toEqual([good, 7 + good.length])
    }
  })

  it("scans bodies with more members or bytes than it keeps", () => {
    const form = new FormScanner()
    const bodies = new BodyScanner(form)
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${String(i).padStart(3, "0")}`, i]))
    for (const body of [
      many,
      { ...many, m0995: 1 },
      { a: "x".repeat(5000) },
      { a: "x".repeat(4999) },
      base,
      many,
      base
    ]) {
      const [mine, plain] = answers(form, bodies, canonicalBytes(body))
      expect(mine).toBe(plain)
      expect(mine).toBeGreaterThan(0)
    }
  })

  it("forgets the body that it knew when the one that should replace it has too many members", () => {
    const form = new FormScanner()
    const bodies = new BodyScanner(form)
    const members = (from: number, to: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`m${String(from + i).padStart(3, "0")}`, value]))
    const known = { ...members(0, 30, 1), ...members(40, 70, "two") }
    // Six members that the model lacks, often enough for it to be replaced; 66 are more than it holds.
    const larger = { ...known, ...members(30, 36, "of another width") }
    for (const body of [
      known,
      known,
      larger,
      larger,
      larger,
      larger,
      known,
      { ...known, m0295: 1 },
      { ...known, m050: 2 }
    ]) {
      const [mine, plain] = answers(form, bodies, canonicalBytes(body))
      expect(mine).toBe(plain)
      expect(mine).toBeGreaterThan(0)
    }
  })

  it("does not read behind the bytes when a name that it knows would", () => {
    const form = new FormScanner()
    const bodies = new BodyScanner(form)
    const [mine, plain] = answers(form, bodies, utf8(`{"a":1,"${"a".repeat(300)}":2}`))
    expect(mine).toBe(plain)
    for (let length = 200; length < 204; length++) {
      const cut = utf8(`{"a":1,"${"a".repeat(length)}"`)
      form.attach(cut)
      expect(bodies.body(0, cut.length - 8)).toBe(-1)
    }
  })
})
