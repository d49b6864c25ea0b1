/** The summary of who did what, as the command prints it for a pack. */
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { recordKinds } from "@flyball/evidence"
import { afterAll, describe, expect, it } from "vitest"
import { run } from "../run.ts"
import { reportRow, reportRows } from "./report-rows.ts"
import { type SampleRecord, sampleApproval, samplePack, sampleRecords, sampleVkey } from "./sample-chain.ts"
import type { Summary } from "./summary.ts"
import { durationText } from "./summary-text.ts"

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

  it("lists what a gateway was allowed and no decision or gap follows", async () => {
    const key = (n: number): string => `key_0000000000000000000000000${n}`
    const agent = (n: number): string => `agt_0000000000000000000000000${n}`
    const minted = (n: number, more: object = {}): SampleRecord => ({
      kind: "ingest_key.minted",
      body: { key_id: key(n), max_autonomy_tier: "L1", writer: "usr_00000000000000000000000001", ...more }
    })
    const evaluated = (id: string, more: object = {}): SampleRecord => ({
      kind: "evaluation.made",
      body: { agent_id: agent(1), evaluation_id: id, mode: "enforced", outcome: "allow", writer: key(1), ...more }
    })
    const { summary } = await summarized([
      minted(1, { capture: "mediated" }),
      minted(2),
      evaluated("before a gap"),
      evaluated("of another agent", { agent_id: agent(2), outcome: "allow_with_notice" }),
      { kind: "capture.gap", body: { agent_id: agent(1), count: 1, reason: "refused", writer: key(1) } },
      evaluated("decided"),
      evaluated("nothing follows"),
      evaluated("denied", { outcome: "deny" }),
      evaluated("on trial", { mode: "shadow" }),
      evaluated("of another key", { writer: key(2) }),
      {
        kind: "decision.witnessed",
        body: { agent_id: agent(1), evaluation_id: "decided", status: "ok", writer: key(1) }
      }
    ])
    expect(summary!.unfollowed.listed.map(({ evaluation_id: id, seq }) => [seq, id])).toEqual([
      [4, "of another agent"],
      [7, "nothing follows"]
    ])
    const { out } = await call(file, "--vkey", sampleVkey, "--summary")
    expect(out).toMatch(/neither a decision nor a gap after it: 2/)
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
      more: 0,
      more_decisions: 0,
      more_evaluations: 0
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

  it("has one place for each kind of the catalogue, and no other", () => {
    expect(reportRows.map(({ kind }) => kind).toSorted()).toEqual(recordKinds.map(({ kind }) => kind).toSorted())
    expect(reportRow("kind.of_a_later_version").section).toBe("other")
  })

  it("counts and lists a record of each kind in its section", async () => {
    const needed: { readonly [kind: string]: SampleRecord["body"] } = {
      "key.rotated": { from_key_id: "512011be", to_vkey: sampleVkey },
      "part.erased": { name: "profile", reason: "retention", seq: 0 }
    }
    const { status, summary } = await summarized(
      recordKinds.slice(1).map(({ kind }) => ({ kind, body: needed[kind] ?? {} }))
    )
    expect(status).toBe(0)
    for (const { kind, listed, section } of reportRows) {
      const { acts, kinds } = summary!.sections[section]
      expect([kind, kinds[kind], acts.listed.some((act) => act.kind === kind)]).toEqual([kind, 1, listed === true])
    }
  })

  it("lists acts with who approved them after how long, gaps and erasures", async () => {
    const { summary } = await summarized(sampleRecords())
    const [ann, ben] = ["ann (usr_00000000000000000000000001)", "usr_00000000000000000000000002"]
    const envelope = "Refunds (env_00000000000000000000000001)"
    const bot = "refund-bot (agt_00000000000000000000000001)"
    const { agents, erasures, gaps, rules } = summary!.sections
    expect(
      rules.acts.listed.map(({ about, after_ms, approved_by, by, note }) => [about, by, approved_by, after_ms, note])
    ).toEqual([
      [`${envelope} version 1 for ${bot}`, ann, ben, 1_000, "loosens, enforced"],
      [`rule large of ${envelope} version 1`, ann, ben, null, "until 2026-12-01T00:00:00.000Z: Black Friday"],
      [envelope, ann, null, null, null]
    ])
    expect(agents.acts.listed.at(-1)).toMatchObject({ about: bot, by: ann, note: "manual: It refunds twice" })
    expect(summary!.missing_decisions).toBe(4)
    expect(gaps.acts.listed).toMatchObject([{ about: bot, note: expect.stringContaining("(crash)") }])
    expect(erasures.acts.listed).toMatchObject([{ about: "the part profile of record 4", note: "subject_request" }])
  })

  it("names an approval by the person who minted the requesting key", async () => {
    const records = [...sampleRecords(), ...sampleApproval]
    const { summary } = await summarized(records)
    expect(summary!.approvals_by_key_minter).toBe(1)
    expect(summary!.sections.approvals.acts.listed).toMatchObject([
      { about: '"refund" of refund-bot (agt_00000000000000000000000001)', after_ms: 61_000, minted_key: true }
    ])
    const out = (await call(file, "--vkey", sampleVkey, "--summary")).out.replace(/\s+/g, " ")
    expect(out).toContain("1 approval by the person who minted the key that requested it; each is marked below.")
    expect(out).toContain(
      "approved by ann (usr_00000000000000000000000001), who minted the key that requested it, after 1 min 1 s. " +
        "approve, 1 of 1 given: The order is known."
    )
    const another = records.map((record) =>
      record.kind === "review.resolved" ? { ...record, body: { ...record.body, writer: "usr_b" } } : record
    )
    expect((await summarized(another)).summary!.approvals_by_key_minter).toBe(0)
  })

  it("states period, digest of the file, verifier, and what tiers and keys became", async () => {
    const { summary } = await summarized([
      ...sampleRecords(),
      ...sampleApproval,
      { kind: "agent.updated", body: { agent_id: "agt_00000000000000000000000001", autonomy_tier: "L3" } },
      {
        kind: "mapping.changed",
        body: { rules: 1 },
        parts: {
          mapping: { rules: [{ match: { claim: "groups", value: "sre" }, role: "admin", org_unit: "*" }] }
        }
      }
    ])
    const { bytes, sha256, verifier } = summary!.source
    expect([sha256, bytes]).toEqual([
      createHash("sha256").update(readFileSync(file)).digest("hex"),
      readFileSync(file).length
    ])
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    expect(verifier).toBe(version)
    expect(summary!.period).toEqual({ from: "2026-11-21T00:00:00.000Z", to: "2026-11-21T00:01:27.000Z" })
    const { access, agents } = summary!.sections
    expect(agents.acts.listed.at(-1)!.note).toBe("tier L1 to L3")
    expect(access.acts.listed.map(({ note }) => note)).toEqual([
      "worker, org unit payments, max autonomy tier L1",
      "1 rules, among them: admin in * for groups sre"
    ])
  })

  it("says the rules of a published version in words", async () => {
    const text = {
      semantics: "envelope/1",
      effects: { "*": "money" },
      signals: { amount: { type: "int", min: 0, max: 1_000, source: "caller" } },
      rules: [{ id: "large", when: [{ signal: "amount", gt: 500 }], outcome: "deny" }],
      default: { outcome: "deny" }
    }
    const { summary } = await summarized([
      { kind: "envelope.published", body: { envelope_id: "env_1", version: 2 }, parts: { envelope: text } },
      { kind: "envelope.published", body: { envelope_id: "env_2" }, parts: { envelope: { rules: 1 } } }
    ])
    expect(summary!.rules.listed).toEqual([
      {
        seq: 1,
        envelope: "env_1 version 2",
        sentences: expect.arrayContaining([expect.stringMatching(/^large: Deny when amount .*500/), "Otherwise: Deny."])
      },
      { seq: 2, envelope: "env_2", sentences: ["Its text cannot be read by this version."] }
    ])
  })

  it("has totals that equal their parts, also beyond the lists", async () => {
    const many = Array.from({ length: 1_100 }, (_, n): ReadonlyArray<SampleRecord> => {
      const id = `agt_${String(n).padStart(26, "0")}`
      return [
        { kind: "decision.witnessed", body: { agent_id: id, status: `s${n}` } },
        { kind: "evaluation.made", body: { agent_id: id, matched_rule: `r${n}`, outcome: "deny" } },
        { kind: `kind.k${n}`, body: {} }
      ]
    }).flat()
    for (const records of [sampleRecords(), [...sampleRecords(), ...many]]) {
      const { summary } = await summarized(records)
      for (const { of, parts, total } of summary!.sums)
        expect([of, Object.values(parts).reduce((sum, part) => sum + part, 0)]).toEqual([of, total])
      for (const section of Object.values(summary!.sections))
        expect(Object.values(section.kinds).reduce((sum, number) => sum + number, 0)).toBe(section.records)
      expect(summary!.sums[0]!.total).toBe(records.length + 1)
    }
    expect((await call(file, "--summary")).out).not.toContain("do not add up")
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
      "approved by usr_00000000000000000000000002, after 1 s. loosens, enforced.",
      "Gaps in capture: 1 - By kind: 1 capture.gap. - 4 decisions missing",
      "part.erased of the part profile of record 4. subject_request.",
      "Sums - 22 records = 3 in agents + 4 in rules"
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
    const { listed, more } = summary!.sections.erasures.acts
    expect([listed.length, more]).toEqual([50, 5])
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
    expect(summary!.sections.agents.acts.listed.at(-1)).toMatchObject({
      about: "unknown",
      by: "unknown",
      note: "unknown"
    })
    expect(summary!.denials.listed.map(({ rule }) => rule)).toEqual(["7", "a"])
    expect(summary!.missing_decisions).toBe(0)
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

describe("--csv", () => {
  const table = join(scratch, "table.csv")

  it("has every record in a line, and runs no formula", async () => {
    const records = [...sampleRecords((text) => `=1+"${text}",`), ...sampleApproval]
    writeFileSync(file, await samplePack(records))
    const plain = await call(file, "--vkey", sampleVkey)
    expect(await call(file, "--vkey", sampleVkey, "--csv", table)).toEqual(plain)
    const lines = readFileSync(table, "utf8").split("\r\n")
    expect(lines.length).toBe(records.length + 3)
    expect(lines[0]).toBe(
      "seq,at,section,kind,agent_id,about,action,status,rule,by,approved_by,minted_key,after_ms,note"
    )
    expect(lines.filter((line) => line.includes(",decision.witnessed,")).length).toBe(63)
    expect(lines[8]).toBe(
      "7,2026-11-21T00:00:07.000Z,decisions,decision.witnessed,agt_00000000000000000000000001," +
        `"'=1+""refund-bot"", (agt_00000000000000000000000001)",refund,ok,,key_00000000000000000000000001,,false,,`
    )
    expect((await call(file, "--csv", table)).out).toContain("exists already")
    rmSync(table)
  })

  it("is not left for a pack that is not intact, or that cannot be read", async () => {
    writeFileSync(file, (await samplePack(sampleRecords())).subarray(0, 2_000))
    expect((await call(file, "--csv", table)).out).toContain("No summary was made")
    expect((await call(join(scratch, "missing.evp"), "--csv", table)).status).toBe(4)
    expect(existsSync(table)).toBe(false)
    expect((await call(file, "--csv", join(scratch, "none", "t.csv"))).out).toContain("(ENOENT)")
  })
})

describe("a duration in words", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [61_000, "1 min 1 s"],
    [3_600_000, "1 h"],
    [90_000_000, "1 d 1 h"]
  ])("%i is %s", (ms, text) => expect(durationText(ms)).toBe(text))
})
