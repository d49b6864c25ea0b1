/**
 * The verifier as a page, in headless Chromium: what it says of a pack is what the command says of the same bytes, and
 * it requests nothing. Takes about half a minute on an idle machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "../../apps/verify/src/run.ts"
import { samplePack, type SampleRecord, sampleRecords, sampleVkey } from "../../apps/verify/src/summary/sample-chain.ts"
import { boundedLife } from "../../property-tests/src/replay-verdicts/bounded-life.ts"
import { exported, inBoundedWorld } from "../../property-tests/src/replay-verdicts/bounded-world.ts"
import { joinPage } from "../build/page.ts"
import { programs } from "../build/programs.ts"
import { type Chromium, startChromium, type WatchedPage } from "./chromium.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const vectors = join(root, "fixtures/vectors/flyball-format")
const vectorVkey = "flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
const folder = mkdtempSync(join(tmpdir(), "flyball-browser-"))
const address = pathToFileURL(join(folder, "flyball-verify.html")).href

let browser: Chromium
let lived: { readonly pack: Uint8Array; readonly vkey: string }
/** The same history in two packs, the second of which continues the first. */
let months: { readonly before: Uint8Array; readonly month: Uint8Array }
beforeAll(async () => {
  const { page } = programs.find(({ app }) => app === "apps/verify")!
  writeFileSync(join(folder, "flyball-verify.html"), await joinPage(page!, root))
  browser = await startChromium()
  const made = await inBoundedWorld(
    Effect.gen(function* () {
      yield* boundedLife
      const whole = yield* exported({ kind: "full" })
      const { pack: before } = yield* exported({ kind: "range", from: 0, to: 29 })
      return { whole, before, month: (yield* exported({ kind: "range", from: 30, to: 45 })).pack }
    })
  )
  lived = made.whole
  months = made
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

const file = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

/** The report of the command on the same file. */
const byCommand = async (path: string, vkey: string, ...more: ReadonlyArray<string>) => {
  let out = ""
  const status = await run(
    [path, ...(vkey === "" ? [] : ["--vkey", vkey]), "--replay", "--summary", "--json", ...more],
    {
      out: async (text) => void (out += text),
      err: async (text) => void (out += text),
      nowMs: Date.now,
      isTerminal: false
    }
  )
  return { status, out }
}

const choose = async ({ page }: WatchedPage, path: string, vkey: string): Promise<void> => {
  await page.getByLabel("Evidence pack").setInputFiles(path)
  await page.getByLabel("Verification key").fill(vkey)
  await page.getByRole("button", { name: "Verify" }).click()
}

const savedJson = async ({ page }: WatchedPage) => {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save the report as JSON" }).click()
  ])
  return JSON.parse(readFileSync(await download.path(), "utf8")) as { readonly [member: string]: unknown }
}

/** Nothing was requested but the page and its own worker, and nothing was complained about. */
const expectQuiet = ({ complaints, requests }: WatchedPage): void => {
  expect(requests.filter((url) => url !== address && !url.startsWith("blob:null/"))).toEqual([])
  expect(complaints).toEqual([])
}

const checked = async (path: string, vkey: string, use: (watched: WatchedPage) => Promise<void> = async () => {}) => {
  const watched = await browser.open(address)
  try {
    await choose(watched, path, vkey)
    const { page } = watched
    await page.getByRole("heading", { name: "Evidence report" }).waitFor({ timeout: 120_000 })
    const saved = await savedJson(watched)
    const text = await page.locator("#report").innerText()
    await use(watched)
    expectQuiet(watched)
    return { saved, text }
  } finally {
    await watched.page.close()
  }
}

/** The page and the command say the same. Answers what the page shows. */
const expectSame = async (
  path: string,
  vkey: string,
  status: number,
  use?: (watched: WatchedPage) => Promise<void>
) => {
  const command = await byCommand(path, vkey)
  expect(command.status, command.out).toBe(status)
  const { saved, text } = await checked(path, vkey, use)
  const expected = JSON.parse(command.out) as { readonly file: string }
  expect({ ...saved, file: path }).toEqual(expected)
  expect(text).toContain(`with exit status ${status}`)
  return text
}

describe("the verifier as a page", () => {
  it("reports a good pack as good, with replay, the summary and the two lines at the top", async () => {
    const text = await expectSame(file("good.evp", lived.pack), lived.vkey, 0)
    for (const part of ["GOOD. Every required check", "unanchored", "Findings: 0", "Who acted", "recomputed"])
      expect(text).toContain(part)
    expect(text.indexOf("Integrity")).toBeLessThan(text.indexOf("Assurance"))
    expect(text.indexOf("Assurance")).toBeLessThan(text.indexOf("Chain"))
  })

  it("reports a pack with one changed byte as bad", async () => {
    const pack = Buffer.from(lived.pack)
    const at = pack.indexOf('"outcome":"deny"') + '"outcome":"'.length
    pack[at] = "d".charCodeAt(0) ^ 1
    const text = await expectSame(file("tampered.evp", pack), lived.vkey, 1)
    expect(text).toContain("BAD. The pack was tampered with")
  })

  for (const [name, status] of [
    ["valid-sparse-12-3.evp", 2],
    ["valid-range-11-4-6.evp", 0],
    ["valid-full-12.evp.gz", 0],
    ["invalid-cut.evp", 3],
    ["invalid-version.evp", 3]
  ] as const)
    it(`reports on ${name} as the command does`, async () => {
      await expectSame(join(vectors, name), vectorVkey, status)
    })

  it("reports a pack as signed by an unpinned key when another key is given", async () => {
    const text = await expectSame(file("good.evp", lived.pack), vectorVkey, 2)
    expect(text).toContain("signed_by_unpinned_key")
  })

  it("refuses a file that is no pack: another file, half a pack, an empty file, half a compressed pack", async () => {
    await expectSame(file("other.evp", Buffer.from("PK\u0003\u0004 no pack\n".repeat(1000))), "", 3)
    await expectSame(file("half.evp", lived.pack.subarray(0, lived.pack.length / 2)), lived.vkey, 3)
    await expectSame(file("empty.evp", new Uint8Array(0)), lived.vkey, 3)
    const half = gzipSync(lived.pack).subarray(0, 2000)
    const { saved } = await checked(file("half.evp.gz", half), lived.vkey)
    const command = JSON.parse((await byCommand(join(folder, "half.evp.gz"), lived.vkey)).out)
    // The decoders name the fault in their own words.
    expect({ ...saved, findings: 1, file: 1 }).toEqual({ ...command, findings: 1, file: 1 })
  })

  it("checks a pack of 50 MB with progress, while the page stays responsive", async () => {
    const decision = (n: number): SampleRecord => ({
      kind: "decision.witnessed",
      body: {
        action: "refund",
        agent_id: "agt_00000000000000000000000001",
        agent_status: "draft",
        client_ref: `run-${n}`,
        kind: "tool_call"
      },
      parts: { args: { order: `W${n}`, note: "x".repeat(280) } }
    })
    const [registered] = sampleRecords().filter(({ kind }) => kind === "agent.registered")
    const decisions = Array.from({ length: 62_000 }, (_, n) => decision(n))
    const large = file("large.evp", await samplePack([registered!, ...decisions]))
    expect(readFileSync(large).length).toBeGreaterThan(50_000_000)
    await expectSame(large, sampleVkey, 0, async ({ page }) => {
      await page.getByLabel("Show only records that hold this text").fill("run-61999")
      await page.getByRole("button", { name: "Show" }).click()
      await page.getByText("Records 62001 to 62001, the last.").waitFor({ timeout: 120_000 })
    })
    const watched = await browser.open(address)
    await choose(watched, large, sampleVkey)
    await watched.page.getByText(/Checking hashes and signatures\. \d+ of 5\d MB/).waitFor()
    // Were the check on the page's own thread, this would be answered when it is over, and nothing be left to stop.
    await watched.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 5)))
    await watched.page.getByRole("button", { name: "Stop" }).click()
    await watched.page.getByText("The check was stopped.").waitFor()
    expectQuiet(watched)
    await watched.page.close()
  })

  it("shows the timeline with disclosed parts, a page at a time", async () => {
    const say = (text: string): string => `${text}<img src=x onerror=alert(1)>\u202e`
    await checked(file("sample.evp", await samplePack(sampleRecords(say))), sampleVkey, async ({ page }) => {
      await page.getByText("Records 0 to 21, the last.").waitFor()
      const record = page.locator("#records > li").nth(3)
      expect(await record.innerText()).toContain("Record 3: agent.registered 2026-11-21T00:00:03.000Z")
      await record.getByText("All members; 2 parts, 2 disclosed: owner, profile").click()
      expect(await record.locator("pre").last().innerText()).toBe(
        '{"name":"refund-bot<img src=x onerror=alert(1)>\\u202e"}'
      )
      await page.getByLabel("Show only records that hold this text").fill("BLACK friday")
      await page.keyboard.press("Enter")
      await page.getByText("Records 17 to 17, the last.").waitFor()
      expect(await page.locator("#records > li").count()).toBe(1)
      expect(await page.locator("img").count()).toBe(0)
    })
    const three = [0, 1, 2].flatMap(() => sampleRecords())
    await checked(file("sample.evp", await samplePack(three)), sampleVkey, async ({ page }) => {
      await page.getByText("Records 0 to 49.").waitFor()
      await page.getByRole("button", { name: "Later records" }).click()
      await page.getByText("Records 50 to 63, the last.").waitFor()
      await page.getByRole("button", { name: "Earlier records" }).click()
      await page.getByText("Records 0 to 49.").waitFor()
    })
  })

  it("reads zstd, or reports what to do", async () => {
    const watched = await browser.open(address)
    await choose(watched, file("good.evp.zst", zstdCompressSync(lived.pack)), lived.vkey)
    await watched.page.getByText(/GOOD\. Everything|This browser cannot read zstd/).waitFor()
    expectQuiet(watched)
    await watched.page.close()
  })

  it("gives no verdict for an invalid key or option, and checks again once it is corrected", async () => {
    const watched = await browser.open(address)
    const { page } = watched
    await choose(watched, file("good.evp", lived.pack), "no key")
    expect(await page.getByRole("alert").innerText()).toMatch(/^NO VERDICT\. /)
    await page.getByText("More demands and files").click()
    await page.getByLabel("Greatest age").fill("soon")
    await choose(watched, join(folder, "good.evp"), lived.vkey)
    await page.getByText("NO VERDICT. The greatest age is a number and a unit").waitFor()
    await page.getByLabel("Greatest age").fill("")
    await choose(watched, join(folder, "good.evp"), lived.vkey)
    await page.getByText("GOOD. Every required check").waitFor()
    expect(await page.getByRole("alert").count()).toBe(0)
    expectQuiet(watched)
    await page.close()
  })

  it("recomputes a pack after the previous pack", async () => {
    const [before, month] = [file("before.evp", months.before), file("month.evp", months.month)]
    const command = await byCommand(month, lived.vkey, "--previous", before)
    expect(command.status, command.out).toBe(0)
    const watched = await browser.open(address)
    await watched.page.getByText("More demands and files").click()
    await watched.page.getByLabel("Packs of the records or chains before").setInputFiles(before)
    await choose(watched, month, lived.vkey)
    await watched.page.getByRole("heading", { name: "Evidence report" }).waitFor()
    expect({ ...(await savedJson(watched)), file: month }).toEqual(JSON.parse(command.out))
    expectQuiet(watched)
    await watched.page.close()
  })

  it("accepts the requirements of the command, and a trusted checkpoint", async () => {
    const watched = await browser.open(address)
    const { page } = watched
    await page.getByText("More demands and files").click()
    await page.getByLabel("How much of the chain").selectOption("full")
    await choose(watched, join(vectors, "valid-range-11-4-6.evp"), vectorVkey)
    await page.getByText("INTACT, BUT NOT ENOUGH").waitFor()
    await page.getByLabel("How much of the chain").selectOption("any")
    await page.getByLabel("Checkpoint that you kept").setInputFiles(join(vectors, "invalid-truncated.checkpoint"))
    await choose(watched, join(vectors, "invalid-truncated.evp"), vectorVkey)
    await page.getByText("Completeness: truncated.").waitFor()
    expectQuiet(watched)
    await page.close()
  })

  it("accepts a dropped file, and works by keyboard alone", async () => {
    const watched = await browser.open(address)
    const { page } = watched
    const data = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], "dropped.evp"))
      return transfer
    }, Buffer.from(lived.pack).toString("utf8"))
    await page.dispatchEvent("main", "drop", { dataTransfer: data })
    await page.getByText("dropped.evp is chosen.").waitFor({ state: "attached" })
    await page.getByLabel("Evidence pack").focus()
    await page.keyboard.press("Tab")
    await page.keyboard.insertText(lived.vkey)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByText("GOOD. Every required check").waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("report")
    expectQuiet(watched)
    await page.close()
  })

  it("labels every field, and has no text of low contrast or wider than a phone", async () => {
    const phone = await startChromium({ width: 360, height: 700 })
    try {
      const watched = await phone.open(address)
      const { page } = watched
      await choose(watched, file("good.evp", lived.pack), lived.vkey)
      await page.getByText(/^Records 0 to \d+, the last\.$/).waitFor()
      for (const summary of await page.locator("main summary").all()) await summary.click()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
      const unlabelled = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLInputElement>("input, textarea, select, progress")]
          .filter(({ labels }) => labels?.length !== 1)
          .map(({ id }) => id)
      )
      expect(unlabelled).toEqual([])
      expect(await page.evaluate(lowContrast)).toEqual([])
    } finally {
      await phone.close()
    }
  })

  it("can open no connection: its own policy forbids it", async () => {
    const watched = await browser.open(address)
    const refused = await watched.page.evaluate(async () => {
      const violated: Array<string> = []
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violated.push(effectiveDirective))
      await fetch("http://127.0.0.1:9/").catch(() => undefined)
      const image = new Image()
      await new Promise((resolve) => {
        image.addEventListener("error", resolve)
        image.src = "http://127.0.0.1:9/a.png"
      })
      return violated
    })
    expect(refused).toEqual(["connect-src", "img-src"])
    await watched.page.close()
  })
})

/** Texts whose contrast is below 4.5 to 1, the least of WCAG 2 AA. Runs in the page. */
const lowContrast = (): ReadonlyArray<string> => {
  const channels = (color: string): ReadonlyArray<number> => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (rgb: ReadonlyArray<number>): number => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const background = (element: Element | null): ReadonlyArray<number> => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor)
      if (color.length === 3 || (color[3] ?? 0) > 0) return color
    }
    return [255, 255, 255]
  }
  return [...document.querySelectorAll("body *")].flatMap((element) => {
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
    if (!text.some(({ textContent }) => textContent!.trim() !== "") || element.getClientRects().length === 0) return []
    const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(background(element))]
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    return contrast < 4.5 ? [`${element.tagName} ${element.textContent!.slice(0, 40)}: ${contrast.toFixed(2)}`] : []
  })
}
