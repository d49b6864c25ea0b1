/** The language against a second reading of it, and the promises that make its rules safe to change. */
import { decide, prepare, type Ready, type Situation } from "../../../packages/envelope/src/decide/decide.ts"
import { compile } from "../../../packages/envelope/src/compile/compile.ts"
import { outcomes } from "../../../packages/envelope/src/language/compiled.ts"
import type { Decision } from "../../../packages/envelope/src/decide/decision.ts"
import { envelopeDigest } from "../../../packages/envelope/src/language/digest.ts"
import type { Envelope } from "../../../packages/envelope/src/language/envelope.ts"
import { explain } from "../../../packages/envelope/src/decide/explain.ts"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"
import { runTable, severityOf } from "../../../packages/envelope/src/compile/table.ts"
import { tierFloorTable, withTierFloor } from "../../../packages/envelope/src/language/tier-floor.ts"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { declarations, type EnvelopeJson, envelopeJson, type Inputs, inputs, ruleJson } from "./arbitrary.ts"
import { naive } from "./naive.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_122
/** The small round asks a quarter of the inputs. */
const asking = (numRuns: number) => ({ seed: SEED, numRuns: runs(Math.ceil(numRuns / 4), numRuns) })

const read = (json: unknown): Envelope => {
  const { envelope, findings } = readEnvelope(JSON.parse(JSON.stringify(json)))
  assert.deepEqual(findings, [])
  return envelope!
}

/** Null where a rule takes more than 64 boxes, which is a finding and no envelope. */
const ready = (layers: ReadonlyArray<Envelope>): Ready | null => {
  const { combination, findings } = compile(layers)
  assert.isTrue(
    findings.every((finding) => finding.code === "E114"),
    JSON.stringify(findings)
  )
  return combination === null ? null : prepare(combination)
}

/** The same envelope, which reads from arguments what the caller would say, and lists of one element too. */
const fromArguments = (json: EnvelopeJson): EnvelopeJson => ({
  ...json,
  signals: Object.fromEntries(
    Object.entries(json["signals"] as Record<string, { readonly source: string }>).map(([name, signal]) => [
      name,
      signal.source === "caller" && name !== "tool"
        ? { ...signal, source: "args", from: name === "due" ? "/list/*/due" : `/in/${name}` }
        : signal
    ])
  )
})

const ask = (one: Ready, { limit, spent, tier, ...caller }: Inputs): Decision => {
  const situation: Situation = {
    kill: "none",
    agent: { id: "agt", orgUnit: "fin", isActive: true },
    server: { limit, tier },
    latches: new Set(),
    approved: false,
    windows: () => ({ value: spent, count: 1 })
  }
  const { tool } = caller
  const reads = one.combination.signals.some(({ source }) => source === "args")
  const action = reads ? { signals: { tool }, args: { in: caller, list: [caller] } } : { signals: caller }
  return decide(one, { ...action, runId: null }, situation)
}

const severity = (decision: Decision): number => outcomes.indexOf(decision.outcome)
const many = fc.array(inputs, { minLength: 20, maxLength: 20 })
const without = (json: EnvelopeJson, i: number): EnvelopeJson => ({
  ...json,
  rules: json.rules.filter((_, j) => j !== i)
})

describe("compiled boxes", () => {
  it("give the outcome, the rule and the matching rules of an interpreter of the JSON", () => {
    let compared = 0
    fc.assert(
      fc.property(envelopeJson, many, (json, requested) => {
        const one = ready([read(json)])
        if (one === null) return
        const other = ready([read(fromArguments(json))])!
        for (const input of requested) {
          const { spent, ...values } = input
          const contributes = input.tool !== "order.read"
          const decision = ask(one, input)
          assert.deepEqual(ask(other, input), decision)
          const expected = naive(json, values, { spend: spent + (contributes ? input.paid : 0) })
          const reported = {
            outcome: decision.outcome as string,
            rule: decision.matchedRule,
            holds: decision.failedOn.map((failed) => failed === -1)
          }
          assert.deepEqual(reported, { ...expected, holds: [...expected.holds] }, JSON.stringify(input))
          compared++
        }
      }),
      asking(800)
    )
    assert.isAbove(compared, runs(3_000, 12_000))
  })

  it("name as failed the axis that an enumeration of all points finds, where no point of the rule is left", () =>
    fc.assert(
      fc.property(envelopeJson, inputs, (json, input) => {
        const one = ready([read(json)])
        if (one === null) return
        const { combination, point } = one
        const { axes, rules } = combination.compiled
        ask(one, input).failedOn.forEach((failed, place) => {
          const { boxes } = rules[place]!
          /** True when some point of the rule is like this one on the first axes. */
          const isLike = (count: number): boolean =>
            boxes.some((box) =>
              box.every((range) => {
                const at = point[range.axis]!
                const least = axes[range.axis]!.mayBeAbsent ? axes[range.axis]!.min - 1 : axes[range.axis]!.min
                return (
                  range.axis >= count ||
                  (range.kind === "interval"
                    ? at >= range.from && at <= range.to
                    : ((range.bits[(at - least) >>> 5]! >>> ((at - least) & 31)) & 1) === 1)
                )
              })
            )
          assert.equal(failed === -2, !isLike(0))
          assert.equal(failed === -1, isLike(axes.length))
          if (failed >= 0) assert.deepEqual([isLike(failed), isLike(failed + 1)], [true, false])
        })
      }),
      asking(300)
    ))
})

describe("rules", () => {
  it("only tighten inputs that another rule matches, and the default when they are at least as strict", () =>
    fc.assert(
      fc.property(envelopeJson, fc.nat(), many, (json, pick, requested) => {
        if (json.rules.length === 0) return
        const i = pick % json.rules.length
        const [fewer, more] = [ready([read(without(json, i))]), ready([read(json)])]
        if (fewer === null || more === null) return
        const isStrict =
          outcomes.indexOf(json.rules[i]!["outcome"] as "deny") >=
          outcomes.indexOf((json["default"] as { readonly outcome: "deny" }).outcome)
        for (const input of requested) {
          const [before, after] = [ask(fewer, input), ask(more, input)]
          if (before.matchedRule !== "@default" || isStrict) assert.isAtLeast(severity(after), severity(before))
        }
      }),
      asking(500)
    ))

  it("have the same outcome in any order", () =>
    fc.assert(
      fc.property(envelopeJson, fc.infiniteStream(fc.nat()), many, (json, shuffle, requested) => {
        const rules = json.rules
          .map((rule) => ({ rule, rank: shuffle.next().value as number }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ rule }) => rule)
        const [one, other] = [ready([read(json)]), ready([read({ ...json, rules })])]
        if (one === null || other === null) return
        for (const input of requested) assert.equal(ask(other, input).outcome, ask(one, input).outcome)
      }),
      asking(500)
    ))
})

describe("layers", () => {
  it("combine to the most restrictive of their outcomes", () =>
    fc.assert(
      fc.property(fc.array(envelopeJson, { minLength: 2, maxLength: 3 }), many, (jsons, requested) => {
        const envelopes = jsons.map(read)
        const together = ready(envelopes)
        const alone = envelopes.map((envelope) => ready([envelope]))
        if (together === null || alone.includes(null)) return
        for (const input of requested)
          assert.equal(severity(ask(together, input)), Math.max(...alone.map((one) => severity(ask(one!, input)))))
      }),
      asking(500)
    ))

  it("are never looser with the tier floor, which follows its table", () =>
    fc.assert(
      fc.property(envelopeJson, many, (json, requested) => {
        const envelope = read(json)
        const [alone, floored] = [ready([envelope]), ready(withTierFloor([envelope]))]
        if (alone === null || floored === null) return
        for (const input of requested) {
          const floor = outcomes.indexOf(tierFloorTable[declarations.effects[input.tool as "mail.send"]][input.tier]!)
          const decision = ask(floored, input)
          assert.equal(severity(decision), Math.max(severity(ask(alone, input)), floor))
          if (decision.matchedRule === "@tier_floor") assert.equal(severity(decision), floor)
        }
      }),
      asking(500)
    ))
})

describe("the digest of an envelope", () => {
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([name, member]) => [name, reversed(member)])
          )
        : value

  it("and every decision do not depend on the order of names", () =>
    fc.assert(
      fc.property(envelopeJson, many, (json, requested) => {
        const other = reversed(json)
        assert.notEqual(JSON.stringify(other), JSON.stringify(json))
        assert.equal(envelopeDigest(other), envelopeDigest(json))
        const [one, two] = [ready([read(json)]), ready([read(other)])]
        if (one === null || two === null) return
        for (const input of requested) assert.deepEqual(ask(two, input), ask(one, input))
      }),
      asking(200)
    ))

  it("differs for another envelope", () =>
    fc.assert(
      fc.property(envelopeJson, ruleJson, (json, rule) => {
        assert.notEqual(
          envelopeDigest({ ...json, rules: [...json.rules, { id: "more", ...rule }] }),
          envelopeDigest(json)
        )
      }),
      asking(50)
    ))
})

describe("an explanation", () => {
  const everywhere = (one: Ready, axis: number): ReadonlyArray<number> => {
    const { max, mayBeAbsent, min } = one.combination.compiled.axes[axis]!
    const points = new Set([min, max, ...(mayBeAbsent ? [min - 1] : [])])
    // Enough to meet every cell: all points of a small axis, both sides of every bound of a large one.
    if (max - min < 100) for (let at = min; at <= max; at++) points.add(at)
    for (const range of one.combination.compiled.rules.flatMap((rule) => rule.boxes.flat())) {
      if (range.axis === axis && range.kind === "interval")
        for (const at of [range.from - 1, range.from, range.to, range.to + 1])
          if (at >= min && at <= max) points.add(at)
    }
    return [...points]
  }

  it("names a cell with one verdict, and reports that no single axis suffices only when none does", () => {
    let [single, more, none] = [0, 0, 0]
    fc.assert(
      fc.property(envelopeJson, inputs, (json, input) => {
        const one = ready([read(json)])
        if (one === null) return
        const before = ask(one, input)
        const { axes } = one.combination.compiled
        const said = explain(one.combination, one.table, one.point, new Set())
        const verdict = (point: Float64Array): number => severityOf(one.table, runTable(one.table, point, []))
        const bySingle = axes
          .flatMap((_, i) => everywhere(one, i).map((at) => verdict(one.point.with(i, at))))
          .reduce((a, b) => Math.min(a, b), severity(before))
        if (said.found === null) {
          none++
          return assert.equal(bySingle, severity(before))
        }
        const [change] = said.found.changes
        if (said.found.changes.length > 1) {
          more++
          return assert.equal(bySingle, severity(before))
        }
        single++
        assert.equal(outcomes[bySingle], said.found.outcome)
        const axis = axes.findIndex((candidate) => candidate.name === change!.axis)
        const { kind, min, values } = axes[axis]!
        const at = (value: unknown): number =>
          value === null ? min - 1 : kind === "enum" ? values!.indexOf(String(value)) : Number(value)
        const inside = everywhere(one, axis).filter((point) => point >= at(change!.from) && point <= at(change!.to))
        assert.isNotEmpty(inside)
        for (const point of inside) assert.equal(outcomes[verdict(one.point.with(axis, point))], said.found.outcome)
      }),
      asking(800)
    )
    for (const count of [single, more, none]) assert.isAbove(count, runs(2, 10))
  })
})

describe("reading", () => {
  it("never throws, and returns no envelope for input with a problem", () => {
    const spot = fc.array(fc.nat(), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(envelopeJson, spot, fc.jsonValue({ maxDepth: 2 }), (json, path, value) => {
        const copy = JSON.parse(JSON.stringify(json)) as object
        replaceAt(copy, path, value)
        const { envelope, findings } = readEnvelope(copy)
        assert.equal(
          envelope !== null,
          findings.every((finding) => finding.code === "E112")
        )
        if (envelope !== null) compile(withTierFloor([envelope]))
      }),
      asking(2_000)
    )
  })

  it("never throws on signals either", () =>
    fc.assert(
      fc.property(
        envelopeJson,
        fc.jsonValue(),
        fc.dictionary(
          fc.constantFrom("tool", "amount", "urgent", "paid", "due", "tier", "level"),
          fc.jsonValue({ maxDepth: 1 })
        ),
        (json, anything, similar) => {
          const one = ready([read(json)])
          if (one === null) return
          for (const signals of [anything, similar]) {
            const { matchedRule, outcome } = decide(
              one,
              { signals, runId: null },
              {
                kill: "none",
                agent: { id: "agt", orgUnit: "fin", isActive: true },
                server: { tier: 2 },
                latches: new Set(),
                approved: false,
                windows: () => ({ value: 0, count: 0 })
              }
            )
            if (matchedRule === "@invalid_signal" || matchedRule === "@missing_signal") assert.equal(outcome, "deny")
          }
        }
      ),
      asking(300)
    ))
})

/** Puts a value somewhere inside. */
const replaceAt = (target: object, path: ReadonlyArray<number>, value: unknown): void => {
  let at = target as { [name: string]: unknown }
  path.forEach((pick, i) => {
    const names = Object.keys(at)
    const name = names[pick % Math.max(1, names.length)]
    if (name === undefined) return
    const inner = at[name]
    if (i === path.length - 1 || typeof inner !== "object" || inner === null) at[name] = value
    else at = inner as { [name: string]: unknown }
  })
}
