import { readFileSync } from "node:fs"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { outcomes } from "../../language/compiled.ts"
import type { Envelope } from "../../language/envelope.ts"
import type { ReadingCode } from "../../language/findings.ts"
import { readEnvelope } from "../../language/read-envelope.ts"
import { tierFloor } from "../../language/tier-floor.ts"
import { type LintCode, lintCodes, NO_INPUT, NONE_FOUND } from "./codes.ts"
import type { LintFacts } from "./facts.ts"
import { pointOf } from "../cells/inputs.ts"
import { lint, type LintOptions } from "./lint.ts"
import type { LintFinding, LintReport } from "./lint-report.ts"
import { compiled, given, payments, signals } from "../testing/given-envelope.ts"
import { holding, verdictAt } from "../cells/verdict-at.ts"

const report = (
  envelope: Envelope,
  facts: LintFacts = {},
  options: LintOptions = {},
  ...outer: ReadonlyArray<Envelope>
): LintReport => {
  const made = lint(compiled(...outer, envelope).compiled, { envelope, ...facts }, options)
  for (const { code, example, message } of made.findings) {
    const { hasExample } = lintCodes[code]
    if (options.budget === undefined) assert.equal(example !== null, hasExample, code)
    for (const end of [NO_INPUT, NONE_FOUND])
      assert.equal(message.endsWith(end), example === null && end === (hasExample ? NONE_FOUND : NO_INPUT), message)
  }
  return made
}
/** Names the rule that decides a finding's example. */
const decidedBy = (envelope: Envelope, { example }: LintFinding, ...outer: ReadonlyArray<Envelope>): string => {
  const all = compiled(...outer, envelope).compiled
  const read = pointOf(all.axes, example!)
  const decider = "point" in read ? verdictAt(all, read.point) : assert.fail(JSON.stringify(read))
  return decider.kind === "rule" ? all.rules[decider.rule]!.id : "@default"
}
/** True when a rule holds at a finding's example. */
const holdsAt = (envelope: Envelope, { example }: LintFinding, id: string): boolean => {
  const { compiled: all } = compiled(envelope)
  const read = pointOf(all.axes, example!)
  return "point" in read && holding(all, read.point)[all.rules.findIndex((rule) => rule.id === id)]!
}
const of = (code: LintCode, { findings }: LintReport): ReadonlyArray<LintFinding> =>
  findings.filter((one) => one.code === code)
const one = (code: LintCode, from: LintReport): LintFinding => {
  const found = of(code, from)
  assert.lengthOf(found, 1, `${code} among ${from.findings.map((each) => each.code).join()}`)
  return found[0]!
}
const all = { id: "all", outcome: "allow", when: [] }
const when = (id: string, outcome: string, ...conditions: ReadonlyArray<object>) => ({ id, outcome, when: conditions })
const amount = (test: object) => ({ signal: "amount", ...test })
const tool = (...names: ReadonlyArray<string>) => ({ signal: "tool", in: names })

describe("rules on texts", () => {
  const texts = (rules: ReadonlyArray<object>): Envelope =>
    given(rules, {
      signals: { file: { type: "text", source: "caller", form: "path@1" }, known: signals.known },
      effects: { "*": "read" }
    })
  const file = (test: object) => ({ signal: "file", ...test })
  const notEtc = { not: file({ under: "/etc" }) }

  it("W215: an unreadable text that passes where a rule tests it", () => {
    const passing: ReadonlyArray<Envelope> = [
      texts([when("r", "allow", notEtc)]),
      texts([all, when("r", "deny", file({ under: "/etc" }))]),
      texts([when("r", "allow", file({ readable: false }))]),
      texts([when("r", "allow", { signal: "known", is: true }), when("s", "require_review", file({ under: "/etc" }))])
    ]
    for (const envelope of passing) assert.equal(one("W215", report(envelope)).example!["file"], "%")
    const closed: ReadonlyArray<Envelope> = [
      texts([all]),
      texts([when("r", "allow", file({ under: "/srv" }))]),
      texts([when("r", "allow", file({ under: "/srv" }), { not: file({ under: "/srv/secret" }) })]),
      texts([all, when("r", "deny", file({ under: "/etc" })), when("s", "deny", file({ readable: false }))]),
      texts([when("r", "require_review", notEtc)])
    ]
    for (const envelope of closed) assert.lengthOf(of("W215", report(envelope)), 0)
  })

  it("W216: a rule that says only what a text must not be", () => {
    const excluding = [
      [notEtc],
      [notEtc, file({ readable: true })],
      [file({ nin: ["/etc/passwd"] })],
      [{ any: [notEtc, file({ under: "/etc/hosts" })] }]
    ]
    for (const conditions of excluding) {
      const found = one("W216", report(texts([when("r", "allow", ...conditions)])))
      assert.deepEqual([found.rules, found.example!["file"]], [["r"], "/"])
    }
    const plain = given([when("r", "allow", { signal: "t", nin: ["/etc/passwd"] })], {
      signals: { t: { type: "text", source: "caller" } },
      effects: { "*": "read" }
    })
    assert.deepEqual(one("W216", report(plain)).rules, ["r"])
    assert.lengthOf(of("W217", report(plain)), 0)
    const closed = [
      [file({ under: "/srv" }), { not: file({ under: "/srv/secret" }) }],
      [file({ under: "/" })],
      [file({ readable: true })],
      [file({ suffix: ".csv" })],
      [file({ in: ["/a", "/b"] })]
    ]
    for (const conditions of closed)
      assert.lengthOf(of("W216", report(texts([when("r", "allow", ...conditions)]))), 0, JSON.stringify(conditions))
    assert.lengthOf(of("W216", report(texts([when("r", "allow", notEtc), when("s", "deny")]))), 0)
  })
})

it("W217: a path or a URL that is compared sign by sign", () => {
  const bounded = (test: object) =>
    of(
      "W217",
      report(
        given([when("r", "allow", { signal: "t", ...test })], {
          signals: { t: { type: "text", source: "caller" } },
          effects: { "*": "read" }
        })
      )
    )
  for (const test of [{ prefix: "/srv/reports" }, { prefix: "https://example.com" }, { suffix: "@example.com" }])
    assert.lengthOf(bounded(test), 1, JSON.stringify(test))
  for (const test of [{ prefix: "ORD-" }, { prefix: "https://example.com/api/" }, { suffix: ".csv" }, { eq: "/srv" }])
    assert.lengthOf(bounded(test), 0, JSON.stringify(test))
})

describe("rules that decide nothing", () => {
  it("E101: a rule that holds nowhere", () => {
    assert.deepEqual(
      one("E101", report(given([all, when("r", "deny", amount({ gte: 10 }), amount({ lte: 5 }))]))).rules,
      ["r"]
    )
  })

  it("E102: a rule that others outdo together, with those that do", () => {
    const low = when("low", "deny", amount({ lte: 500 }))
    const envelope = given([
      low,
      when("high", "deny", amount({ gt: 500 })),
      when("other", "halt", tool("pay")),
      when("r", "require_review", tool("refund"))
    ])
    const found = one("E102", report(envelope))
    assert.include(["low", "high"], decidedBy(envelope, found))
    assert.isTrue(holdsAt(envelope, found, "r"))
    assert.deepEqual(found.rules, ["r", "low", "high"])
    assert.equal(found.level, "error")
    assert.lengthOf(of("E102", report(given([low, when("r", "require_review", tool("refund"))]))), 0)
  })

  it("E107: a rule that an outer layer overrules; not one that keeps its own default away", () => {
    const outer = given([when("no_pay", "deny", tool("pay"))], { default: { outcome: "require_review" } })
    const dead = when("pay_small", "allow", tool("pay"), amount({ lte: 5 }))
    const found = one("E107", report(given([all, dead]), {}, {}, outer))
    assert.deepEqual(found.rules, ["pay_small"])
    assert.equal(decidedBy(given([all, dead]), found, outer), "no_pay")
    const bare = given([
      when("pay_late", "allow", tool("pay"), { signal: "tier", gte: 3 }),
      when("find", "allow", tool("search"))
    ])
    const floored = report(bare, {}, {}, tierFloor([bare]))
    assert.deepEqual([...of("E107", floored), ...of("E102", floored)], [])
  })

  it("neither E102 nor W202: a rule that only adds an obligation; one whose obligation others have is dead", () => {
    const two = { type: "two_person" }
    const ask = (id: string, ...obligations: ReadonlyArray<object>) => ({
      ...when(id, "require_review", amount({ gte: 100 })),
      obligations
    })
    const codes = (...rules: ReadonlyArray<object>) =>
      report(given([all, ...rules]))
        .findings.filter(({ code }) => code === "E102" || code === "W202")
        .map(({ code, rules }) => [code, rules[0]])
    assert.deepEqual(codes(ask("ask"), ask("both", two)), [["W202", "ask"]])
    assert.deepEqual(codes(ask("ask", two), ask("both", two)), [
      ["E102", "both"],
      ["W202", "ask"]
    ])
    assert.deepEqual(codes(ask("ask"), { ...ask("both", two), outcome: "allow" }), [])
    assert.deepEqual(codes({ ...ask("no"), outcome: "deny" }, ask("both", two)), [["E102", "both"]])
  })

  it("W202: a rule without which nothing would change, though it decides", () => {
    const wide = when("wide", "deny", amount({ gte: 100 }))
    const envelope = given([all, when("narrow", "deny", amount({ gte: 200 })), wide])
    const found = one("W202", report(envelope))
    assert.deepEqual(found.rules, ["narrow"])
    assert.equal(decidedBy(envelope, found), "narrow")
    assert.lengthOf(of("W202", report(given([all, when("narrow", "halt", amount({ gte: 200 })), wide]))), 0)
  })
})

describe("gaps and borders", () => {
  it("W201: what no rule covers, with example, volume and history; an error where coverage is total", () => {
    const rules = [when("r", "allow", tool("search", "refund"))]
    const history = {
      inputs: [
        { tool: "pay", amount: 1, tier: 0, known: true },
        { tool: "search", amount: 1, tier: 0, known: true }
      ],
      days: 30
    }
    const found = one("W201", report(given(rules), { history }))
    assert.equal(found.volume, String(1001 * 5 * 2))
    assert.equal(found.share, "33.33 %")
    assert.equal(found.example?.["tool"], "pay")
    assert.equal(found.historyCount, 1)
    assert.equal(found.level, "warning")
    assert.equal(one("W201", report(given(rules, { coverage: "total" }))).level, "error")
    assert.lengthOf(of("W201", report(given([...rules, when("rest", "deny", tool("pay"))]))), 0)
  })

  it("W203: who decides over whom where both hold", () => {
    const found = one(
      "W203",
      report(
        given([all, when("strict", "deny", amount({ gt: 500 })), when("same", "deny", amount({ gt: 600 }))].slice(0, 2))
      )
    )
    assert.deepEqual(found.rules, ["strict", "all"])
    assert.equal(found.level, "info")
    assert.isAbove(Number(found.example?.["amount"]), 500)
  })

  it("W204: one value left out between neighbours, or shared by them", () => {
    const gap = one(
      "W204",
      report(given([when("low", "deny", amount({ lt: 500 })), when("high", "deny", amount({ gt: 500 })), all]))
    )
    assert.deepEqual(gap.rules, ["low", "high"])
    assert.equal(gap.example?.["amount"], 500)
    const shared = one(
      "W204",
      report(given([when("low", "allow", amount({ lte: 500 })), when("high", "deny", amount({ gte: 500 }))]))
    )
    assert.equal(shared.example?.["amount"], 500)
    for (const fine of [
      [when("low", "allow", amount({ lt: 500 })), when("high", "deny", amount({ gte: 500 }))],
      [
        when("low", "deny", amount({ lt: 500 })),
        when("high", "deny", amount({ gt: 500 })),
        when("at", "halt", amount({ eq: 500 })),
        all
      ],
      [when("low", "allow", amount({ lte: 500 })), when("at", "deny", amount({ eq: 500 }))]
    ])
      assert.lengthOf(of("W204", report(given(fine))), 0)
  })
})

describe("tiers", () => {
  const early = when("early", "allow", tool("search"), { signal: "tier", lte: 1 })
  const late = when("late", "deny", tool("search"), { signal: "tier", gte: 2 })

  it("E104: more trust, less leave; accepted with a reason it is a warning", () => {
    const found = one("E104", report(given([early, late])))
    assert.deepEqual(found.rules, ["late"])
    assert.equal(found.example?.["tier"], 2)
    assert.equal(found.level, "error")
    assert.equal(
      one("E104", report(given([early, late], { accept_non_monotone: { reason: "A drill of tier 2." } }))).level,
      "warning"
    )
  })

  it("E104: the default at a higher tier counts too", () => {
    assert.deepEqual(one("E104", report(given([early]))).rules, [])
    assert.lengthOf(of("E104", report(given([when("r", "allow", tool("search"), { signal: "tier", gte: 1 })]))), 0)
  })
})

describe("side effects", () => {
  const metered = {
    meters: {
      paid: {
        of: "amount",
        op: "sum",
        window_ms: 1000,
        key: ["agent_id"],
        where: { tool: ["refund", "pay"] },
        max_count: 10
      }
    }
  }
  const cap = { id: "cap", outcome: "deny", when: [tool("refund", "pay"), { meter: "paid", after_gt: 5000 }] }

  it("W207: permitted on the caller's word alone", () => {
    const found = one("W207", report(given([when("r", "allow", tool("pay"), amount({ lte: 5 }))])))
    assert.deepEqual(found.rules, ["r"])
    assert.equal(found.example?.["tool"], "pay")
    const known = { signal: "known", is: true }
    for (const fine of [
      [when("r", "allow", tool("pay"), known)],
      [when("r", "allow", tool("search"))],
      [when("r", "allow", tool("pay")), { id: "s", outcome: "deny", when: [{ signal: "known", is: false }] }]
    ]) {
      assert.lengthOf(of("W207", report(given(fine))), 0)
    }
  })

  it("W207: not where an outer layer would fall silent for what the server knows", () => {
    const outer = given([when("known", "allow", { signal: "known", is: true })])
    const envelope = given([when("r", "allow", tool("pay"))])
    assert.lengthOf(of("W207", report(envelope, {}, {}, outer)), 0)
    assert.lengthOf(of("W207", report(envelope, {}, {}, given([all]))), 1)
  })

  it("W209: permitted and counted by no meter", () => {
    const found = one("W209", report(given([when("r", "allow", tool("pay", "refund"))])))
    assert.include(found.message, "refund and pay")
    assert.lengthOf(of("W209", report(given([when("r", "allow", tool("pay", "refund")), cap], metered))), 0)
    assert.lengthOf(of("W209", report(given([when("r", "require_review", tool("pay"))]))), 0)
  })

  it("W208: permitted outside the blast radius, with how much", () => {
    const envelope = given([
      when("r", "allow", tool("pay"), amount({ lte: 700 })),
      when("no", "deny", { signal: "known", is: false })
    ])
    const found = one("W208", report(envelope, { blastRadius: [{ signal: "amount", max: 500 }] }))
    assert.equal(found.volume, String(200 * 5))
    assert.isAbove(Number(found.example?.["amount"]), 500)
    assert.lengthOf(
      of(
        "W208",
        report(envelope, {
          blastRadius: [
            { signal: "amount", max: 700 },
            { signal: "tool", values: ["pay"] }
          ]
        })
      ),
      0
    )
    assert.lengthOf(of("W208", report(envelope, { blastRadius: [{ signal: "tool", values: ["search"] }] })), 1)
    // "x" is the example of every text that no rule names.
    const named = (...conditions: ReadonlyArray<object>) =>
      given([when("r", "allow", ...conditions)], {
        signals: { t: { type: "text", source: "caller" } },
        effects: { "*": "read" }
      })
    const outside = (...conditions: ReadonlyArray<object>) =>
      of("W208", report(named(...conditions), { blastRadius: [{ signal: "t", values: ["", "x", "a"] }] })).length
    assert.deepEqual(
      [outside({ signal: "t", eq: "a" }), outside(), outside({ signal: "t", length: [1, 9] })],
      [0, 1, 1]
    )
  })
})

describe("history and surroundings", () => {
  const inputs = [
    ...Array.from({ length: 96 }, () => ({ tool: "search", amount: 1, tier: 0, known: true })),
    ...Array.from({ length: 4 }, () => ({ tool: "pay", amount: 1, tier: 0, known: true }))
  ]
  const rules = [
    when("often", "allow", tool("search")),
    when("seldom", "deny", tool("pay")),
    when("never", "deny", tool("refund"))
  ]

  it("W205 and W206: nearly everything, and nothing", () => {
    const found = report(given(rules), { history: { inputs, days: 7 } })
    assert.deepEqual(one("W205", found).rules, ["often"])
    assert.equal(one("W205", found).historyCount, 96)
    assert.deepEqual(one("W205", found).example, inputs[0])
    assert.isTrue(holdsAt(given(rules), one("W206", found), "never"))
    assert.deepEqual(one("W206", found).rules, ["never"])
    assert.lengthOf(of("W205", report(given(rules), { history: { inputs: inputs.slice(5), days: 7 } })), 1)
    assert.lengthOf(of("W205", report(given(rules), { history: { inputs: inputs.slice(30), days: 7 } })), 0)
  })

  it("E108: nobody can review", () => {
    const asking = (...obligations: ReadonlyArray<object>) =>
      given([{ id: "r", outcome: "require_review", when: [], obligations }])
    const treasury = { type: "reviewers", role: "treasury", approvals: 1, ttl_ms: 1000 }
    const twoPerson = { type: "two_person" }
    const envelope = asking(treasury)
    const reviewers = (grantable: ReadonlySet<string> | "any", ...ownerOnly: ReadonlyArray<string>) => ({
      reviewers: { grantable, ownerOnly: new Set(ownerOnly) }
    })
    const found = one("E108", report(envelope, reviewers(new Set(["sales"]))))
    assert.deepEqual(found.rules, ["r"])
    assert.equal(decidedBy(envelope, found), "r")
    assert.include(found.message, "treasury, which nobody can have. Nobody could ever approve; name sales.")
    // The owner answers reviews, but not where two other people are needed.
    const owners = reviewers(new Set(["treasury", "sales"]), "treasury")
    assert.lengthOf(of("E108", report(envelope, owners)), 0)
    assert.include(one("E108", report(asking(twoPerson, treasury), owners)).message, "which only the agent's owner has")
    assert.lengthOf(of("E108", report(asking(twoPerson), owners)), 0)
    for (const obligations of [[twoPerson], [twoPerson, treasury]])
      assert.include(
        one("E108", report(asking(...obligations), reviewers(new Set(["treasury"]), "treasury"))).message,
        "only the agent's owner can answer reviews"
      )
    assert.lengthOf(of("E108", report(asking({ ...treasury, approvals: 0 }), reviewers("any"))), 1)
    const unknown = report(envelope, { reviewers: { ...reviewers(new Set(["sales"])).reviewers, othersUnknown: true } })
    assert.lengthOf(of("E108", unknown), 0)
    assert.include(unknown.notChecked.find(({ code }) => code === "E108")!.reason, "is for the host to say")
    assert.lengthOf(of("E108", report(envelope, reviewers("any"))), 0)
    assert.lengthOf(of("E108", report(envelope, reviewers(new Set(["treasury"])))), 0)
  })

  it("W210, W211, W212: load, tools, and what a high tier needs", () => {
    const envelope = given([all])
    assert.lengthOf(of("W210", report(envelope, { reviewLoad: { perDay: 11, capacityPerDay: 10 } })), 1)
    assert.lengthOf(of("W210", report(envelope, { reviewLoad: { perDay: 10, capacityPerDay: 10 } })), 0)
    const unknown = one("W211", report(envelope, { toolsSeen: ["search", "drop_table"] }))
    assert.include(unknown.message, "drop_table")
    assert.deepEqual(unknown.example, { tool: "drop_table" })
    assert.lengthOf(of("W211", report(envelope, { toolsSeen: ["search"] })), 0)
    const lacking = (withoutBreaker: number, withoutDrill: number) =>
      report(envelope, { safety: { withoutBreaker, withoutDrill } })
    assert.lengthOf(of("W212", lacking(0, 0)), 0)
    assert.isTrue(lacking(0, 0).proved.includes("W212"))
    assert.match(one("W212", lacking(1, 0)).message, /^Of the agents .* tier 3 or above 1 has no armed breaker\. Arm a/)
    assert.match(one("W212", lacking(0, 1)).message, / above 1 has no attested drill that counts\. /)
    assert.match(one("W212", lacking(3, 2)).message, / above 3 have no armed breaker, and 2 have no attested drill /)
    const unknown212 = report(envelope, {}).notChecked.filter(({ code }) => code === "W212")
    assert.deepEqual(
      unknown212.map(({ reason }) => reason),
      ["What guards the agents concerned was not given."]
    )
  })

  it("W213: a rule that the tier floor outdoes at the agent's tier", () => {
    const needs = [[], [], [], ["a verified identity"], []]
    const at = (tier: number, envelope: Envelope) => {
      const outer = tierFloor([envelope])
      const found = of("W213", report(envelope, { agentTier: { tier, needs } }, {}, outer))
      const all = compiled(outer, envelope).compiled
      for (const { example, rules } of found) {
        const read = pointOf(all.axes, example!)
        const point = "point" in read ? read.point : assert.fail(JSON.stringify(read))
        assert.equal(example!["tier"], tier)
        assert.isTrue(holding(all, point)[all.rules.findIndex(({ id }) => id === rules[0])])
        assert.include(decidedBy(envelope, found[0]!, outer), "@tier_floor")
      }
      return found
    }
    const envelope = given([
      when("look_up", "allow", tool("search")),
      when("refund", "allow_with_notice", tool("refund"), amount({ lte: 100 })),
      when("large", "require_review", tool("refund"), amount({ gt: 100 })),
      when("either", "allow", amount({ lte: 5 })),
      when("trusted", "allow", tool("pay"), { signal: "tier", gte: 3 }),
      when("never", "deny", tool("pay"), amount({ gt: 900 }))
    ])
    const rulesAt = [0, 1, 2, 3, 4].map((tier) => at(tier, envelope).flatMap(({ rules }) => rules))
    // At L3 and L4 the floor of money asks for a notice alone.
    assert.deepEqual(rulesAt, [["refund", "large"], ["refund"], ["refund"], [], []])
    assert.equal(
      at(0, envelope)[0]!.message,
      "The rule refund says allow_with_notice and decides nothing while the agent is at L0: the tier floor is more " +
        "restrictive wherever it holds. `refund` is `money`: at L0 it is denied, from L1 reviewed, " +
        "alone from L3 with " +
        "a verified identity. Raise the agent's tier, or keep the rule for later."
    )
  })

  it("W214: allow_cached where nothing is decided without the service", () => {
    const meters = { calls: { op: "count", where: {}, key: ["agent_id"], window_ms: 1_000 } }
    for (const [more, count] of [
      [{ on_unavailable: "deny" }, 0],
      [{}, 0],
      [{ meters }, 1],
      [{ effects: { "*": "money" } }, 1],
      [
        {
          signals: {
            risky: { type: "bool", source: "caller" },
            seen: { type: "bool", source: "latch", set_by: "risky" }
          }
        },
        1
      ]
    ] as const) {
      const json = {
        semantics: "envelope/1",
        signals: {},
        effects: { "*": "read" },
        rules: [{ id: "all", outcome: "allow", when: [] }],
        default: { outcome: "deny" },
        on_unavailable: "allow_cached",
        ...more
      }
      const { envelope, findings } = readEnvelope(json)
      assert.deepEqual(findings, [])
      assert.lengthOf(of("W214", report(envelope!)), count, JSON.stringify(more))
    }
  })

  it("W213 is what the verdicts at the agent's tier show, for any rules", () => {
    const outcome = fc.constantFrom("allow", "allow_with_notice", "require_review", "deny")
    const rule = fc.record({
      outcome,
      tools: fc.subarray(["search", "refund", "pay"], { minLength: 1 }),
      tiers: fc.subarray([0, 1, 2, 3, 4], { minLength: 1 })
    })
    const effect = fc.constantFrom("read", "write_reversible", "external_message", "money", "irreversible")
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 4 }),
        fc.record({ search: effect, refund: effect, pay: effect }),
        fc.integer({ min: 0, max: 4 }),
        (rules, effects, tier) => {
          const envelope = given(
            rules.map(({ outcome, tiers, tools }, i) =>
              when(`r${i}`, outcome, tool(...tools), { any: tiers.map((one) => ({ signal: "tier", eq: one })) })
            ),
            { effects }
          )
          const all = compiled(tierFloor([envelope]), envelope).compiled
          const tools = all.axes.findIndex(({ name }) => name === "tool")
          const tierAxis = all.axes.findIndex(({ name }) => name === "tier")
          const expected = rules.flatMap((_, i) => {
            const place = all.rules.findIndex(({ id }) => id === `r${i}`)
            const holdingThere = [0, 1, 2]
              .map((value) => all.axes.map((_axis, axis) => (axis === tools ? value : axis === tierAxis ? tier : 0)))
              .map((point) => holding(all, point))
              .filter((held) => held[place])
            const isOutdone = holdingThere.every((held) =>
              all.rules.some(
                ({ layer, outcome }, other) =>
                  layer === 0 &&
                  held[other] &&
                  outcomes.indexOf(outcome) >= outcomes.indexOf("require_review") &&
                  outcomes.indexOf(outcome) > outcomes.indexOf(all.rules[place]!.outcome)
              )
            )
            return holdingThere.length > 0 && isOutdone ? [`r${i}`] : []
          })
          const found = lint(all, { envelope, agentTier: { tier, needs: [] } })
          assert.deepEqual(
            of("W213", found).flatMap(({ rules }) => rules),
            expected
          )
        }
      ),
      { numRuns: 60, seed: 20_261_126 }
    )
  })

  it("reports what it did not check, and does not call it proved", () => {
    const { notChecked, proved } = report(given([all]))
    assert.deepEqual([...new Set(notChecked.map(({ code }) => code))].sort(), [
      "E108",
      "W205",
      "W206",
      "W208",
      "W210",
      "W211",
      "W212",
      "W213"
    ])
    for (const { code } of notChecked) assert.notInclude(proved, code)
    assert.include(proved, "E102")
  })
})

describe("a budget that is spent", () => {
  it("E110: names what is open, is never silent, and is a warning once every open code is acknowledged", () => {
    const partial = report(payments(), {}, { budget: 3, searchBudget: 3 })
    assert.isFalse(partial.complete)
    const found = one("E110", partial)
    assert.equal(found.level, "error")
    const codes = [...new Set(partial.open.map(({ code }) => code))]
    for (const code of codes) {
      assert.include(found.message, code)
      assert.notInclude(partial.proved, code)
    }
    assert.equal(
      one("E110", report(payments(), {}, { budget: 3, searchBudget: 3, acknowledgePartial: codes })).level,
      "warning"
    )
    assert.equal(
      one("E110", report(payments(), {}, { budget: 3, searchBudget: 3, acknowledgePartial: codes.slice(1) })).level,
      "error"
    )
    assert.lengthOf(of("E110", report(payments())), 0)
  })

  it("says a code and its reason once, with all rules that it is about", () => {
    const rules = Array.from({ length: 60 }, (_, rule) =>
      when(`r${rule}`, rule % 2 === 0 ? "deny" : "allow", amount({ between: [rule * 3, rule * 3 + 100] }), {
        signal: "known",
        is: rule % 3 === 0
      })
    )
    const { findings, open } = report(given(rules), {}, { budget: 3, searchBudget: 3 })
    assert.isAbove(Math.max(...open.map((question) => question.rules.length)), 30)
    assert.lengthOf(new Set(open.map(({ code, reason }) => `${code} ${reason}`)), open.length)
    assert.isBelow(open.length, 20)
    assert.lengthOf(
      findings.filter(({ code }) => code === "E110"),
      1
    )
  })

  it("still proves dead rules when only the diagram is too large", () => {
    const rules = [
      when("low", "deny", amount({ lte: 500 })),
      when("high", "deny", amount({ gt: 500 })),
      when("r", "require_review", tool("refund"))
    ]
    const partial = report(given(rules), {}, { budget: 2 })
    assert.deepEqual(one("E102", partial).rules, ["r", "low", "high"])
  })

  it("E110: more boxes than are laid out leave everything open", () => {
    const rules = Array.from({ length: 120 }, (_, rule) =>
      when(`r${rule}`, "deny", {
        any: Array.from({ length: 20 }, (_, at) => amount({ eq: at * 40 + (rule % 37) + 1 }))
      })
    )
    const large = report(given(rules))
    assert.deepEqual(large.proved, [])
    assert.equal(one("E110", large).level, "error")
    assert.isNull(large.domain)
  })

  it("checks a thousand borders, and names the rules of all others", () => {
    const meeting = (each: number) => [
      ...Array.from({ length: each }, (_, i) => when(`low${i}`, "allow", amount({ between: [i, 500] }))),
      ...Array.from({ length: each }, (_, i) => when(`high${i}`, "deny", amount({ between: [500, 1000 - i] })))
    ]
    const few = report(given(meeting(31)))
    assert.lengthOf(of("W204", few), 31 * 31)
    assert.include(few.proved, "W204")
    const many = report(given(meeting(40)))
    assert.lengthOf(of("W204", many), 1_000)
    assert.deepEqual(
      many.open.map(({ code, reason, rules }) => [code, reason, rules.includes("low39")]),
      [["W204", "1600 pairs of rules meet at a single value; the first 1000 were checked.", true]]
    )
    assert.equal(one("E110", many).level, "error")
  })

  it("tells no more than a record holds, and leaves no error out for warnings", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `${"s".repeat(60)}${i}`,
        { type: "enum", values: [`${"v".repeat(127)}a`, `${"v".repeat(127)}b`], source: "caller" }
      ])
    )
    const rules = [
      ...Array.from({ length: 120 }, (_, i) => when(`low${i}`, "allow", amount({ between: [i, 500] }))),
      ...Array.from({ length: 119 }, (_, i) =>
        when(`high${i}`, "require_review", amount({ between: [500, 1000 - i] }))
      ),
      when("last", "deny", { signal: "known", is: true }, { signal: "known", is: false })
    ]
    const reported = report(given(rules, { signals: { ...signals, ...wide } }))
    assert.isBelow(Buffer.byteLength(JSON.stringify(reported)), 9 * 1024 * 1024)
    assert.deepEqual(one("E101", reported).rules, ["last"])
    const unreported = reported.open
      .filter(({ reason }) => reason === "More was found than one lint report holds.")
      .map(({ code }) => code)
    assert.includeMembers(unreported, ["W204", "W207"])
    for (const code of unreported) assert.notInclude(reported.proved, code)
    assert.equal(one("E110", reported).level, "error")
  })
})

describe("the catalogue", () => {
  it("has a level and a sentence for each code", () => {
    for (const [code, { level, title }] of Object.entries(lintCodes)) {
      assert.equal(level === "error", code.startsWith("E"), code)
      assert.match(title, /^[A-Z].*\.$/)
    }
  })

  it("stands in the specification with all codes, and says of each whether an input shows it", () => {
    const spec = readFileSync(new URL("../../../SPEC.md", import.meta.url), "utf8")
    const rows = [...spec.matchAll(/^\| ([EW]\d{3}) \| (.+) \| (.+) \|$/gm)].map(
      ([, code, , example]) => [code!, example!.startsWith("none")] as const
    )
    const reading: { readonly [Code in ReadingCode]: boolean } = {
      E100: true,
      E103: true,
      E105: true,
      E106: true,
      E109: true,
      E112: false,
      E113: true,
      E114: true
    }
    assert.deepEqual(Object.fromEntries(rows), {
      ...reading,
      ...Object.fromEntries(Object.entries(lintCodes).map(([code, { hasExample }]) => [code, !hasExample]))
    })
    for (const sentence of [NO_INPUT, NONE_FOUND]) assert.include(spec, `"${sentence}"`)
  })

  it("names a tool without a class as its own example, and no input for what is no envelope", () => {
    const json = {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["a", "b"], source: "caller" } },
      effects: { a: "read" },
      rules: [],
      default: { outcome: "deny" }
    }
    assert.deepEqual(
      readEnvelope(json).findings.map(({ code, example }) => [code, example]),
      [["E112", { tool: "b" }]]
    )
    assert.deepEqual(
      readEnvelope({ ...json, signals: {}, effects: {} }).findings.map(({ code, example }) => [code, example]),
      [["E112", {}]]
    )
    for (const { example } of readEnvelope({ ...json, rules: [1], default: 1 }).findings.filter(
      ({ code }) => code !== "E112"
    ))
      assert.isUndefined(example)
  })
})
