/** How findings rank, and what a judge that fails leaves of the others. */
import { assert, describe, it } from "vitest"
import { RULES } from "../records/rules-version.ts"
import type { JsonMap } from "../records/record.ts"
import { Recomputation } from "./recomputation.ts"
import { problem, ranked } from "./recompute-verdict.ts"

const id = (prefix: string): string => `${prefix}_${"0".repeat(26)}`
const at = Date.parse("2026-11-28T00:00:00.000Z")
const found = (kind: string, body: JsonMap) =>
  new Recomputation({ fromGenesis: true }).take({ seq: 0, kind, body, parts: new Map() }, at)

describe("what is found of one record", () => {
  it("is a contradiction before what is open, then the first", () => {
    const [open, late] = [problem("withheld", "hidden"), problem("as_recorded", "given")]
    const [wrong, second] = [problem("writer_mismatch", "who"), problem("time_mismatch", "when")]
    assert.strictEqual(ranked([open, late, wrong, second]), wrong)
    assert.strictEqual(ranked([late, open]), late)
    assert.isNull(ranked([]))
  })

  it("is its wrong writer, also where newer rules leave the rest open", () => {
    const activated = (rules: number, writer: string) =>
      found("kill.activated", {
        activated_at: "2026-11-28T00:00:00.000Z",
        activation_id: id("kil"),
        epoch: 1,
        response: "halt",
        rules,
        target_id: id("agt"),
        target_type: "agent",
        writer
      })?.verdict
    assert.strictEqual(activated(RULES, id("key")), "writer_mismatch")
    assert.strictEqual(activated(RULES + 1, id("key")), "writer_mismatch")
    assert.strictEqual(activated(RULES + 1, id("usr")), "withheld")
  })

  it("names the judge that failed; the others have taken the record", () => {
    const again = new Recomputation({ fromGenesis: false })
    const armed = (seq: number, metric: string) => {
      const body = {
        agent_id: id("agt"),
        as_of_ms: at,
        as_of_seq: 0,
        breaker_id: id("brk"),
        confidence_bp: 0,
        enabled: true,
        metric,
        mode: "warn",
        name: "spend",
        params: [{ name: "window_ms", number: 1_000 }],
        writer: id("usr")
      }
      return again.take({ seq, kind: "breaker.armed", body, parts: new Map() }, at)
    }
    const failed = armed(1, "spend")
    assert.strictEqual(failed?.verdict, "not_judged")
    assert.match(failed!.reason!, /^The judge of the breaker failed on the record: /)
    assert.match(armed(2, "unheard_of")!.reason!, /is given by record 1 as well/)
  })
})
