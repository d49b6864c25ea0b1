/** Who and what, as the command says it of a pack. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { run } from "../run.ts"
import { type SampleRecord, samplePack, sampleRecords, sampleVkey } from "./sample-chain.ts"
import type { Summary } from "./summary.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-summary-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const file = join(scratch, "a.evp")
const call = async (...args: ReadonlyArray<string>) => {
  let out = ""
  const take = async (text: string): Promise<void> => void (out += text)
  const status = await run(args, { out: take, err: take, nowMs: () => 0, isTerminal: false })
  return { status, out }
}
const summarized = async (records: ReadonlyArray<SampleRecord>, changed?: (pack: string) => string) => {
  writeFileSync(file, await samplePack(records, changed))
  const { out, status } = await call(file, "--vkey", sampleVkey, "--summary", "--json")
  const report = JSON.parse(out) as {
    readonly summary: Summary | null
    readonly not_checked: ReadonlyArray<string>
    readonly assurance: object
  }
  return { ...report, status }
}

describe("the summary", () => {
  it("counts decisions, settlements, verdicts and capture tiers", async () => {
    const { assurance, status, summary } = await summarized(sampleRecords())
    expect(status).toBe(0)
    expect(summary).toMatchObject({
      records: 22,
      decisions: { witnessed: { error: 1, intended: 1, ok: 1 }, settled: { ok: 1 } },
      verdicts: { allow: 1, deny: 4 },
      verdicts_on_trial: { deny: 1 }
    })
    expect(assurance).toMatchObject({
      capture: {
        mode: { enforced: 2, not_stated: 1 },
        decided_by: { fail_open: 1, not_stated: 1, server: 1 },
        claimed: { framework_hook: 1, not_stated: 2 }
      }
    })
  })

  it("names agents and owners where they are disclosed, else the id", async () => {
    const { summary } = await summarized(sampleRecords())
    expect(summary!.agents).toEqual({
      listed: [
        {
          agent_id: "agt_00000000000000000000000001",
          name: "refund-bot",
          owner: "Ada <ada@example.org>",
          decisions: 3,
          evaluations: 6
        },
        { agent_id: "agt_00000000000000000000000002", name: null, owner: null, decisions: 0, evaluations: 0 }
      ],
      more: 0
    })
  })

  it("lists denials that bound somebody by rule, with its reason where the envelope is disclosed", async () => {
    const { summary } = await summarized(sampleRecords())
    expect(summary!.denials.listed).toEqual([
      { rule: "large", outcome: "deny", reason: "Above 500 a person decides.", count: 2 },
      {
        rule: "@default",
        outcome: "deny",
        reason: "No rule of the envelope holds, and this is its default.",
        count: 1
      },
      { rule: "other", outcome: "deny", reason: null, count: 1 }
    ])
  })

  it("does not take a reason from an envelope of another digest", async () => {
    const records = sampleRecords().map((record) =>
      record.kind === "envelope.published"
        ? { ...record, parts: { envelope: { rules: [{ id: "large", reason: "Of another text." }] } } }
        : record
    )
    expect((await summarized(records)).summary!.denials.listed[0]).toMatchObject({ rule: "large", reason: null })
  })

  it("lists changes with who approved them, gaps and erasures", async () => {
    const { summary } = await summarized(sampleRecords())
    const [ann, ben] = ["ann (usr_00000000000000000000000001)", "usr_00000000000000000000000002"]
    const envelope = "Refunds (env_00000000000000000000000001)"
    const bot = "refund-bot (agt_00000000000000000000000001)"
    expect(summary!.changes.listed.map(({ about, approved_by, by, note }) => [about, by, approved_by, note])).toEqual([
      [`${envelope} version 1 for ${bot}`, ann, ben, "loosens, enforced"],
      [`rule large of ${envelope} version 1`, ann, ben, "until 2026-12-01T00:00:00.000Z: Black Friday"],
      [bot, ann, null, "manual: It refunds twice"],
      [envelope, ann, null, null]
    ])
    expect(summary!.gaps).toMatchObject({ missing: 4, more: 0, listed: [{ agent: bot, missing: 4, reason: "crash" }] })
    expect(summary!.erasures.listed).toMatchObject([{ record: 4, part: "profile", reason: "subject_request" }])
  })

  it("is in the report for people", async () => {
    writeFileSync(file, await samplePack(sampleRecords()))
    const out = (await call(file, "--vkey", sampleVkey, "--summary")).out.replace(/\s+/g, " ")
    for (const text of [
      "capture tiers enforced 2, not_stated 1, decided by fail_open 1, not_stated 1, server 1, " +
        "claimed framework_hook 1, not_stated 2;",
      "Agents: 2 - refund-bot (agt_00000000000000000000000001): owner Ada <ada@example.org>; 3 decisions, 6 eval",
      "At capture: 1 error, 1 intended, 1 ok. - Settled later: 1 ok.",
      "2 deny by large: Above 500 a person decides.",
      "approved by usr_00000000000000000000000002. loosens, enforced.",
      "Gaps in capture, 4 decisions missing: 1",
      "the part profile of record 4 (subject_request)."
    ])
      expect(out).toContain(text)
    expect((await call(file, "--vkey", sampleVkey)).out).not.toContain("Who and what")
  })

  it("holds the first of a list, and counts the others", async () => {
    const { summary } = await summarized(
      Array.from({ length: 1_060 }, (_, n): SampleRecord => {
        const id = `agt_${String(n).padStart(26, "0")}`
        return n < 1_005
          ? { kind: "agent.registered", body: { agent_id: id } }
          : { kind: "part.erased", body: { name: "profile", reason: "retention", seq: n } }
      })
    )
    expect([summary!.agents.listed.length, summary!.agents.more, summary!.untracked_agent_records]).toEqual([
      50, 950, 5
    ])
    expect([summary!.erasures.listed.length, summary!.erasures.more]).toEqual([50, 5])
  })

  it("cuts long texts, and shows what is no text as unknown", async () => {
    const { status, summary } = await summarized([
      {
        kind: "agent.registered",
        body: { agent_id: "agt_1" },
        parts: { owner: [1], profile: { name: "x".repeat(999) } }
      },
      { kind: "agent.registered", body: { agent_id: { a: 1 } } },
      { kind: "agent.suspended", body: { agent_id: ["b"], reason: { c: 1 }, writer: null } },
      { kind: "evaluation.made", body: { outcome: "deny", matched_rule: 7, layers: "none" } },
      { kind: "evaluation.made", body: { outcome: "deny", matched_rule: "a", layers: [null, { digest: 1 }] } },
      { kind: "capture.gap", body: { count: -1 } },
      { kind: "decision.witnessed", body: { mode: [], status: "__proto__" } }
    ])
    expect(status).toBe(0)
    expect(summary!.agents.listed[0]!.name).toBe(`${"x".repeat(200)}…`)
    expect(summary!.changes.listed[0]).toMatchObject({ about: "unknown", by: "unknown", note: "unknown" })
    expect(summary!.denials.listed.map(({ rule }) => rule)).toEqual(["7", "a"])
    expect(summary!.gaps.missing).toBe(0)
    expect(Object.keys(summary!.decisions.witnessed)).toEqual(["__proto__"])
  })

  it("is made of a selection too", async () => {
    const pack = fileURLToPath(
      new URL("../../../../fixtures/vectors/flyball-format/valid-sparse-12-3.evp", import.meta.url)
    )
    const { out } = await call(pack, "--summary", "--json")
    expect(JSON.parse(out)).toMatchObject({ summary: { records: 3 } })
  })

  it("is not made of a pack that is not intact", async () => {
    const { not_checked, status, summary } = await summarized(sampleRecords(), (pack) =>
      pack.replace('"status":"error"', '"status":"denied"')
    )
    expect([status, summary, not_checked[0]]).toEqual([1, null, "No summary was made: this pack is not intact."])
    // Its records are in order; the signature on its checkpoint is wrong.
    const signed = fileURLToPath(
      new URL("../../../../fixtures/vectors/flyball-format/invalid-checkpoint-signature.evp", import.meta.url)
    )
    expect(JSON.parse((await call(signed, "--summary", "--json")).out)).toMatchObject({
      summary: null,
      verdicts: { integrity: "ok" }
    })
  })
})
