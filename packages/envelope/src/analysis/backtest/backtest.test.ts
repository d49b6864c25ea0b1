import { assert, describe, it } from "vitest"
import { backtest, type BacktestOptions, type BacktestReport } from "./backtest.ts"
import type { Envelope } from "../../language/envelope.ts"
import { diff } from "../diff/diff.ts"
import type { RecordedEvaluation, RecordedEvent } from "./recorded-evaluation.ts"
import { recordedInputs } from "./recorded-inputs.ts"
import { compiled, given, signals } from "../testing/given-envelope.ts"

const pay = (most: number, outcome = "allow"): object => ({
  id: "pay",
  outcome,
  when: [
    { signal: "tool", eq: "pay" },
    { signal: "amount", lte: most }
  ]
})
const meter = { meters: { paid: { of: "amount", op: "sum", window_ms: 1000, key: ["agent_id"], max_count: 100 } } }
const cap = (most: number): object => ({ id: "cap", outcome: "deny", when: [{ meter: "paid", after_gt: most }] })
const inForce = given([pay(500)], meter)

let next = 0
const evaluation = (
  amount: number,
  more: Partial<RecordedEvaluation> = {}
): RecordedEvent & { readonly kind: "evaluation" } => ({
  kind: "evaluation",
  evaluation: {
    evaluationId: `ev_${next++}`,
    atMs: 10_000,
    actor: { agentId: "agt_1", orgUnit: "fin", runId: "run_1" },
    signals: { tool: "pay", amount },
    server: { tier: 2, known: true },
    latches: new Set(),
    outcome: amount <= 500 ? "allow" : "deny",
    stoppedBy: null,
    approved: false,
    unreported: [],
    meters: [{ id: "paid", key: '["agt_1"]', value: 0, count: "below" }],
    declared: { signals: new Set(Object.keys(signals)), meters: inForce.meters },
    ...more
  }
})
const recorded: BacktestOptions = { meters: "recorded", fromGenesis: true }
const run = (
  draft: Envelope,
  events: ReadonlyArray<RecordedEvent>,
  options: BacktestOptions = recorded
): BacktestReport => backtest(events, compiled(draft), options)
const some = ({ classes }: BacktestReport): object =>
  Object.fromEntries(Object.entries(classes).filter(([, count]) => count > 0))

describe("backtest", () => {
  it("sorts what would become of each action", () => {
    const events = [evaluation(100), evaluation(600)]
    assert.deepEqual(some(run(given([pay(500)]), events)), { unchanged: 2 })
    assert.deepEqual(some(run(given([pay(700)]), events)), { unchanged: 1, newly_allowed: 1 })
    assert.deepEqual(some(run(given([pay(700, "require_review")]), events)), { newly_reviewed: 2 })
    assert.deepEqual(some(run(given([pay(700, "halt")]), events)), { newly_halted: 2 })
    assert.deepEqual(some(run(given([]), events)), { unchanged: 1, newly_denied: 1 })
    const noticed = run(given([pay(500, "allow_with_notice")]), events)
    assert.deepEqual(some(noticed), { unchanged: 2 })
    assert.deepEqual(
      noticed.transitions.map(({ count, from, to }) => [from, to, count]),
      [["allow", "allow_with_notice", 1]]
    )
  })

  it("never guesses what a record lacks", () => {
    const draft = given([pay(500)], {
      signals: { ...signals, country: { type: "enum", values: ["x"], source: "caller", on_missing: "x" } }
    })
    const events = [evaluation(1), evaluation(1, { signals: null }), evaluation(1, { stoppedBy: "@killed" })]
    assert.deepEqual(run(draft, events.slice(0, 1)).notReplayable, { "signal_not_recorded:country": 1 })
    assert.deepEqual(run(given([pay(500)]), events.slice(1)).notReplayable, { withheld: 1, "stopped:@killed": 1 })
    const otherWindow = given([pay(500)], { meters: { paid: { ...meter.meters.paid, window_ms: 2000 } } })
    assert.deepEqual(run(otherWindow, [evaluation(1)]).notReplayable, { "meter_not_recorded:paid": 1 })
  })

  it("refuses again what neither envelope declares", () => {
    const strange = evaluation(100, { signals: { tool: "pay", amount: 100, colour: "red" }, outcome: "deny" })
    assert.deepEqual(some(run(given([pay(500)]), [strange])), { unchanged: 1 })
    const once = { ...signals, colour: { type: "enum", values: ["red"], source: "caller", on_missing: "red" } }
    const declared = { signals: new Set(Object.keys(once)), meters: inForce.meters }
    const known = evaluation(100, { signals: { tool: "pay", amount: 100, colour: "red" }, declared })
    assert.deepEqual(
      some(run(given([pay(500)]), [known])),
      { unchanged: 1 },
      "what the envelope in force declared and the draft does not is left out"
    )
  })

  it("takes meters as recorded, or fills them with what the draft lets through", () => {
    const draft = given([pay(500), cap(700)], meter)
    const events = [
      evaluation(400),
      evaluation(400, { atMs: 10_500, meters: [{ id: "paid", key: '["agt_1"]', value: 100, count: "below" }] }),
      evaluation(300, { atMs: 10_600 }),
      evaluation(400, { atMs: 11_100 })
    ]
    assert.deepEqual(some(run(draft, events)), { unchanged: 4 })
    // The second would exceed 700 and is denied, so the third fits; by the fourth the first has left the window.
    const counterfactual = run(draft, events, { meters: "counterfactual", fromGenesis: true })
    assert.deepEqual(some(counterfactual), { unchanged: 3, newly_denied: 1 })
    assert.deepEqual(counterfactual.transitions[0]?.evaluationIds, [events[1]!.evaluation.evaluationId])
  })

  it("lets windows fill before it counts, where the events do not begin with the chain", () => {
    const draft = given([pay(500), cap(700)], meter)
    const events = [evaluation(400), evaluation(400, { atMs: 10_999 }), evaluation(400, { atMs: 11_000 })]
    const report = run(draft, events, { meters: "counterfactual", fromGenesis: false })
    assert.deepEqual(report.notReplayable, { "meter_window_not_filled:paid": 2 })
    assert.deepEqual(some(report), { unchanged: 1 })
  })

  it("follows what was settled and voided", () => {
    const draft = given([pay(500), cap(700)], meter)
    const [first, second] = [evaluation(400), evaluation(400)]
    const outcome = (event: RecordedEvent): object =>
      some(run(draft, [first, event, second], { meters: "counterfactual", fromGenesis: true }))
    assert.deepEqual(outcome({ kind: "settled", evaluationId: first.evaluation.evaluationId, actual: { paid: 300 } }), {
      unchanged: 2
    })
    assert.deepEqual(outcome({ kind: "settled", evaluationId: first.evaluation.evaluationId, actual: { paid: 301 } }), {
      unchanged: 1,
      newly_denied: 1
    })
    assert.deepEqual(outcome({ kind: "voided", evaluationId: first.evaluation.evaluationId }), { unchanged: 2 })
  })

  it("continues from the last time of a window where an evaluation was made at an earlier one", () => {
    const draft = given([pay(500), cap(700)], meter)
    const at = (atMs: number) => evaluation(300, { atMs })
    const counterfactual = (...times: ReadonlyArray<number>) =>
      some(run(draft, times.map(at), { meters: "counterfactual", fromGenesis: true }))
    assert.deepEqual(counterfactual(10_500, 10_400, 10_000), { unchanged: 2, newly_denied: 1 })
    // The second counts as made at 10,500: at 11,400 both are still there, at 11,500 neither is.
    assert.deepEqual(counterfactual(10_500, 10_400, 11_400), { unchanged: 2, newly_denied: 1 })
    assert.deepEqual(counterfactual(10_500, 10_400, 11_500), { unchanged: 3 })
    // What one window demands is the time of all: the agent's window is at 10,500, so the run's contribution counts
    // from then too.
    const two = given([pay(500), { id: "cap", outcome: "deny", when: [{ meter: "in_run", after_gt: 300 }] }], {
      meters: { ...meter.meters, in_run: { ...meter.meters.paid, key: ["run_id"] } }
    })
    const inRun = (atMs: number, runId: string) =>
      evaluation(300, { atMs, actor: { agentId: "agt_1", orgUnit: "fin", runId } })
    assert.deepEqual(
      some(
        run(two, [inRun(10_500, "a"), inRun(10_000, "b"), inRun(11_100, "b")], {
          meters: "counterfactual",
          fromGenesis: true
        })
      ),
      { unchanged: 2, newly_denied: 1 }
    )
    assert.deepInclude(run(draft, [at(10_500), at(10_400)]), { fromAtMs: 10_400, toAtMs: 10_500 })
  })

  it("tells by the record whether a window was full, and names where it cannot", () => {
    const full = (most: number) => given([pay(500)], { meters: { paid: { ...meter.meters.paid, max_count: most } } })
    const recordedUnder = (
      most: number,
      outcome: "allow" | "deny",
      count: "below" | "full" | "unknown",
      amount = 100
    ) =>
      evaluation(amount, {
        outcome,
        meters: [{ id: "paid", key: '["agt_1"]', value: 100, count }],
        declared: { signals: new Set(Object.keys(signals)), meters: full(most).meters }
      })
    const outcome = (draft: Envelope, event: RecordedEvent) => {
      const report = run(draft, [event])
      return { ...some(report), ...report.notReplayable }
    }
    assert.deepEqual(outcome(full(2), recordedUnder(2, "deny", "full")), { unchanged: 1 })
    assert.deepEqual(outcome(full(1), recordedUnder(2, "deny", "full")), { unchanged: 1 })
    assert.deepEqual(outcome(full(3), recordedUnder(2, "deny", "full")), { "meter_count:paid": 1 })
    assert.deepEqual(outcome(full(2), recordedUnder(2, "allow", "below")), { unchanged: 1 })
    assert.deepEqual(outcome(full(9), recordedUnder(2, "allow", "below")), { unchanged: 1 })
    assert.deepEqual(outcome(full(1), recordedUnder(2, "allow", "below")), { newly_denied: 1 })
    assert.deepEqual(outcome(full(2), recordedUnder(3, "allow", "below")), { "meter_count:paid": 1 })
    assert.deepEqual(outcome(full(2), recordedUnder(2, "allow", "unknown")), { "meter_count:paid": 1 })
    // What is denied either way needs no count.
    assert.deepEqual(outcome(full(2), recordedUnder(2, "deny", "unknown", 600)), { unchanged: 1 })
    // A meter that counts tells its count itself, but for what was settled at nothing.
    const counting = (most: number) =>
      given([pay(500)], { meters: { paid: { op: "count", window_ms: 1000, key: ["agent_id"], max_count: most } } })
    const counted = evaluation(100, {
      outcome: "allow",
      meters: [{ id: "paid", key: '["agt_1"]', value: 3, count: "below" }],
      declared: { signals: new Set(Object.keys(signals)), meters: counting(9).meters }
    })
    assert.deepEqual(outcome(counting(3), counted), { newly_denied: 1 })
    assert.deepEqual(outcome(counting(4), counted), { "meter_count:paid": 1 })
  })

  it("takes no server signal and no org unit that the records do not tell", () => {
    const risky = given([pay(500), { id: "no", outcome: "deny", when: [{ signal: "known", is: false }] }])
    assert.deepEqual(run(risky, [evaluation(1, { unreported: ["known"] })]).notReplayable, {
      "server_signal_not_recorded:known": 1
    })
    assert.deepEqual(run(risky, [evaluation(1, { unreported: ["org_unit", "other"] })]).notReplayable, {})
    const ofUnit = given([pay(500)], { meters: { paid: { ...meter.meters.paid, key: ["org_unit"] } } })
    assert.deepEqual(
      run(ofUnit, [evaluation(1, { unreported: ["org_unit"] })], { meters: "counterfactual", fromGenesis: true })
        .notReplayable,
      { org_unit_not_recorded: 1 }
    )
  })

  it("gives lint and diff their history, meters and all", () => {
    const inputs = recordedInputs(
      [
        evaluation(100, { meters: [{ id: "paid", key: '["agt_1"]', value: 7, count: "unknown" }] }).evaluation,
        evaluation(1, { signals: null }).evaluation
      ],
      compiled(inForce)
    )
    assert.deepEqual(inputs, [{ amount: 100, known: true, tier: 2, tool: "pay", "meter:paid": 107 }])
  })

  it("keeps the text that was recorded, which another version may put into another cell", () => {
    const files = (root: string): Envelope =>
      given([{ id: "below", outcome: "allow", when: [{ signal: "file", under: root }] }], {
        signals: { file: { type: "text", form: "path@1", source: "caller", on_missing: "/srv/none" } },
        effects: { "*": "read" }
      })
    const [before, after] = [compiled(files("/srv")), compiled(files("/srv/reports"))]
    const declared = { signals: new Set(["file"]), meters: [] }
    const inputs = recordedInputs(
      [{ file: "/srv/reports/a" }, { file: "/srv/b" }, {}, { file: "%" }].map(
        (sent) => evaluation(0, { declared, meters: [], server: {}, signals: sent }).evaluation
      ),
      before
    )
    assert.deepEqual(
      inputs.map(({ file }) => file),
      ["/srv/reports/a", "/srv/b", "/srv", "%"]
    )
    const { historyTotal, transitions } = diff(before.compiled, after.compiled, { history: inputs })
    assert.deepEqual(
      [historyTotal, ...transitions.map(({ from, historyCount, to }) => `${from} ${to} ${historyCount}`)],
      [4, "allow deny 2"]
    )
  })
})
