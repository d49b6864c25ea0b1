/** The report as a page: what it says, and that a pack cannot put anything into it but text. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { cosigner, verifyPack, portableCrypto } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { noExtras } from "../extras.ts"
import { htmlReport } from "./html-report.ts"
import { writeNew } from "./report-file.ts"
import { run } from "../run.ts"
import { samplePack, sampleRecords, sampleVkey } from "../summary/sample-chain.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-html-"))
afterAll(() => rmSync(scratch, { recursive: true }))
const page = join(scratch, "report.html")
beforeEach(() => rmSync(page, { force: true }))

const vectors = fileURLToPath(new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url))
const vkey = "flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
const call = async (...args: ReadonlyArray<string>) => {
  let out = ""
  const take = async (text: string): Promise<void> => void (out += text)
  const status = await run(args, { out: take, err: take, nowMs: () => Date.UTC(2026, 10, 21), isTerminal: false })
  return { status, out }
}
const written = async (...args: ReadonlyArray<string>) => {
  const { status } = await call(...args, "--html", page, "--quiet")
  return { status, html: readFileSync(page, "utf8") }
}
/** Text of the page, as a reader sees it. */
const seen = (html: string): string =>
  html
    .slice(html.indexOf("<body>"))
    .replace(/<[^>]*>/g, " ")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, " ")
/** Every tag, with its attributes. */
const tagsOf = (html: string): ReadonlyArray<string> => [...new Set(html.match(/<[^>]*>/g))].toSorted()

describe("the page", () => {
  it("says what holds, what was not proved, who acted, and how much of the chain is there", async () => {
    const file = join(scratch, "good.evp")
    writeFileSync(file, await samplePack(sampleRecords()))
    const { html, status } = await written(file, "--vkey", sampleVkey)
    expect(status).toBe(0)
    const text = seen(html)
    const order = [
      "GOOD. Every required check",
      "Assurance unanchored; capture tiers enforced 2",
      "Verified 2026-11-21T00:00:00.000Z, with exit status 0",
      "What holds Integrity: ok.",
      "What was not proved Anchoring: none.",
      "Findings: 0 None.",
      "Who acted",
      "refund-bot (agt_00000000000000000000000001): owner Ada <ada@example.org>;",
      "Meaning",
      "Records 0 to 21 of a chain of 22; all of them are in this pack."
    ].map((part) => text.indexOf(part))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  it("explains each finding, and makes no summary of a pack that is not intact", async () => {
    const { html, status } = await written(join(vectors, "invalid-record-changed.evp"), "--vkey", vkey)
    expect(status).toBe(1)
    const text = seen(html)
    for (const part of [
      "BAD. The pack was tampered with",
      "What was not proved Integrity: broken.",
      "Findings: 2 The records are not those that the checkpoint commits to. (E_ROOT, line 6)",
      "The pack was changed after it was closed. (E_PACK_DIGEST, line 8) Expected digest 3a6ace40",
      "No summary: only an intact pack has one."
    ])
      expect(text).toContain(part)
  })

  it("has what further readings found, and both checkpoints of a split view", async () => {
    const { html } = await written(join(vectors, "valid-full-5.evp"), "--vkey", vkey, "--replay", "--bodies")
    expect(seen(html)).toContain("Four eyes no version and no waiver.")
    expect(seen(html)).toContain("Members that replay does not check, or only in part")
    rmSync(page)
    const split = await written(join(vectors, "valid-full-5.evp"), "--compare", join(vectors, "example.evp"))
    expect(split.html.match(/<pre>/g)).toHaveLength(2)
  })

  it("allows its own style and nothing else", async () => {
    const { html } = await written(join(vectors, "valid-full-5.evp"))
    const style = /<style>([^]*)<\/style>/.exec(html)![1]!
    const digest = createHash("sha256").update(style).digest("base64")
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${digest}'; ` +
        `base-uri 'none'; form-action 'none'">`
    )
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|\bhref=|\burl\(|@import|\bstyle=/)
  })
})

describe("a hostile pack", () => {
  const evil = (text: string): string =>
    `${text}</p><script>alert(1)</script><img src=x onerror=alert(1)>"'&lt;\u202e\``

  it("adds no tag and no attribute to the page", async () => {
    const file = join(scratch, "evil.evp")
    writeFileSync(file, await samplePack(sampleRecords()))
    const harmless = tagsOf((await written(file, "--vkey", sampleVkey, "--replay", "--bodies")).html)
    rmSync(page)
    writeFileSync(file, await samplePack(sampleRecords(evil)))
    const { html } = await written(file, "--vkey", sampleVkey, "--replay", "--bodies")
    expect(tagsOf(html)).toEqual(harmless)
    expect(html).not.toContain("\u202e")
    for (const name of ["refund-bot", "Ada", "Refunds", "Black Friday", "It refunds twice", "ann"])
      expect(seen(html), name).toContain(evil(name).replace("\u202e", "\\u202e"))
  })

  it("adds none by its kinds, ids, values and the names of its files and witnesses", async () => {
    const tag = "<b onclick=x>"
    const witness = cosigner(nodeCrypto, { name: `w${tag.replace(" ", "/")}`, seed: new Uint8Array(32), timeS: 0 })
    const records = [
      { kind: "sample.kind", body: { agent_id: tag } },
      { kind: "agent.suspended", body: { agent_id: tag, reason: tag, writer: tag } },
      { kind: "evaluation.made", body: { matched_rule: tag, mode: "enforced", outcome: "deny" } },
      { kind: "evaluation.made", body: { matched_rule: "a", mode: "enforced", outcome: tag } },
      { kind: "decision.witnessed", body: { capture: tag, decided_by: tag, mode: tag, status: tag } },
      { kind: "capture.gap", body: { from: tag, reason: tag, to: tag } }
    ]
    const sealedWith = (kind: string) => (pack: string) => pack.replace("sample.kind", kind)
    // A kind cannot be sealed in another form than that of kinds, so the second pack is not intact.
    for (const changed of [sealedWith("sample.kind"), sealedWith(`sample.${tag}`)]) {
      const file = join(scratch, `${tag}.evp`)
      writeFileSync(file, await samplePack(records, changed))
      const { html } = await written(file, "--vkey", sampleVkey, "--vkey", witness.vkey, "--replay", "--bodies")
      expect(tagsOf(html).filter((one) => one.startsWith("<b") && !["<body>", "<br>"].includes(one))).toEqual([])
      expect(seen(html)).toContain(tag)
      rmSync(page)
    }
  })

  it("adds none by a finding, a statement or what was not checked", async () => {
    const tag = "<i>"
    const report = await verifyPack(portableCrypto, [])
    const html = htmlReport(
      {
        ...report,
        file: tag,
        origin: tag,
        findings: [{ code: "E_ROOT", line: 1, seq: null, expected: tag, found: tag }],
        findingCount: 2,
        not_checked: [tag],
        statement: tag
      },
      { ...noExtras, splitView: { notes: [tag, tag] } },
      0
    )
    expect(tagsOf(html)).not.toContain(tag)
    expect(seen(html).split(tag)).toHaveLength(9)
    expect(seen(html)).toContain("And 1 more.")
  })
})

describe("--html", () => {
  const good = join(vectors, "valid-full-5.evp")

  it("refuses to replace a file, before it verifies", async () => {
    for (const path of [page, scratch]) {
      if (path === page) writeFileSync(page, "mine")
      const { out, status } = await call(good, "--vkey", vkey, "--html", path)
      expect([status, out]).toEqual([
        4,
        `flyball-verify: --html ${path} exists already, or cannot be read. Name a new file.\n`
      ])
    }
    expect((await call(join(vectors, "missing.evp"), "--html", page)).out).toContain("exists already")
    // One that appeared during the check.
    await expect(writeNew(page, "another")).rejects.toThrow("exists already")
    expect(readFileSync(page, "utf8")).toBe("mine")
  })

  it("says where it cannot write, and leaves nothing", async () => {
    const folder = join(scratch, "folder")
    mkdirSync(folder, { recursive: true })
    const { out, status } = await call(good, "--html", join(folder, "missing", "report.html"))
    expect(status).toBe(4)
    expect(out).toMatch(/^flyball-verify: --html \S+ cannot be written \(ENOENT\)\. [^\n]+\n$/)
    expect(readdirSync(folder)).toEqual([])
  })

  it("leaves the other reports and the status as they are", async () => {
    const plain = await call(good, "--vkey", vkey, "--json")
    expect(await call(good, "--vkey", vkey, "--json", "--html", page)).toEqual(plain)
    expect(existsSync(page)).toBe(true)
  })
})
