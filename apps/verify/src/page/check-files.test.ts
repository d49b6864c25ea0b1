/** The check of the page, without a browser: the report is that of the command on the same bytes. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { jsonReport } from "../reports/json-report.ts"
import { run } from "../run.ts"
import { checkFiles, explainFailure } from "./check-files.ts"
import type { PageRequest } from "./messages.ts"

const vectors = fileURLToPath(new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url))
const vkey = "flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
const nowMs = Date.UTC(2026, 10, 21)

const file = (name: string): File => new File([readFileSync(vectors + name)], name)
const requested = (name: string, more: Partial<PageRequest> = {}): PageRequest => ({
  pack: file(name),
  vkeys: `\n  ${vkey} \n`,
  policy: null,
  trustedCheckpoint: null,
  previous: [],
  require: "any",
  maxAge: "",
  replay: true,
  bodies: true,
  ...more
})
const byPage = async (request: PageRequest) => {
  const { extras, report } = await checkFiles(request, nowMs)
  return { status: report.exit, report: { ...JSON.parse(jsonReport(report, extras)), file: "" } as object }
}
const byCommand = async (name: string, ...more: ReadonlyArray<string>) => {
  let out = ""
  const take = async (text: string): Promise<void> => void (out += text)
  const args = [vectors + name, "--vkey", vkey, "--replay", "--bodies", "--summary", "--json", ...more]
  const status = await run(args, { out: take, err: take, nowMs: () => nowMs, isTerminal: false })
  return { status, report: { ...JSON.parse(out), file: "" } as object }
}

describe("the check of the page", () => {
  for (const name of [
    "valid-full-5.evp",
    "valid-full-12.evp.gz",
    "valid-sparse-12-3.evp",
    "valid-range-11-4-6.evp",
    "invalid-record-changed.evp",
    "invalid-checkpoint-signature.evp",
    "invalid-part-mismatch.evp",
    "invalid-cut.evp"
  ])
    it(`reports of ${name} what the command reports`, async () => {
      expect(await byPage(requested(name))).toEqual(await byCommand(name))
    })

  it("takes the demands and the files of the command", async () => {
    expect(await byPage(requested("valid-sparse-12-3.evp", { require: "full" }))).toEqual(
      await byCommand("valid-sparse-12-3.evp", "--require", "full")
    )
    const truncated = requested("invalid-truncated.evp", { trustedCheckpoint: file("invalid-truncated.checkpoint") })
    expect(await byPage(truncated)).toEqual(
      await byCommand("invalid-truncated.evp", "--trusted-checkpoint", `${vectors}invalid-truncated.checkpoint`)
    )
    expect(await byPage(requested("valid-full-5.evp", { maxAge: " 24h" }))).toEqual(
      await byCommand("valid-full-5.evp", "--max-age", "24h")
    )
  })

  it("tells each reading, and how far it is", async () => {
    const steps: Array<string> = []
    await checkFiles(requested("valid-full-5.evp"), nowMs, (step, at) => {
      if (at === 0) steps.push(step)
    })
    expect(steps).toEqual(["verify", "read"])
  })

  it("explains what cannot be used, and nothing that is its own fault", async () => {
    const sentence = (request: PageRequest): Promise<string | null> =>
      checkFiles(request, nowMs).then(() => "checked", explainFailure)
    expect(await sentence(requested("valid-full-5.evp", { vkeys: "no key" }))).toMatch(/^[A-Z].*key/)
    expect(await sentence(requested("valid-full-5.evp", { maxAge: "soon" }))).toContain("90s, 15m, 24h, 7d")
    expect(explainFailure(Object.assign(new Error("x"), { name: "NotReadableError" }))).toContain("Choose it again.")
    expect(explainFailure(new TypeError("x is not a function"))).toBe(null)
  })
})
