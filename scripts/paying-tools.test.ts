/** Checks what readers copy: tools that pay are of the class `money`, and a refused request shows the answer. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { demoEnvelope } from "../apps/server/src/demo/govern.ts"
import { envelopeOf } from "./demo/bounds.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const exclude = ["**/node_modules/**", "**/decisions/**", "**/CHANGELOG.md"]
const files = (...patterns: ReadonlyArray<string>) =>
  globSync(patterns, { cwd: root, exclude }).map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }))
const pages = ["*.md", "{docs,deploy}/*.md", "{packages,apps,examples}/**/*.md"]

/** Words in the names of tools that move money; a cancelled or returned order is paid back. */
const paying = /pay|refund|transfer|payout|purchase|charge|wire|voucher|invoice|discount|^(?:cancel|return)_.*order/i

describe("the examples of the repository", () => {
  it("class every tool that pays as money", () => {
    const found: Array<string> = []
    for (const { path, text } of files(...pages, "examples/**/*.{mjs,ts}", "fixtures/envelopes/rendered/*.json"))
      for (const [, list] of text.matchAll(/\beffects\b[\\"]*: *\{([^{}]*)\}/g))
        for (const [, tool, effect] of list!.matchAll(/([\w.*]+)[\\"]*: *[\\"]*(\w+)/g))
          if (paying.test(tool!)) found.push(`${path}: ${tool} ${effect}`)
    // The demos make their lists from the tools of real traces.
    for (const { effects } of [demoEnvelope, envelopeOf(3)])
      for (const [tool, effect] of Object.entries(effects)) if (paying.test(tool)) found.push(`demo: ${tool} ${effect}`)
    assert.isAbove(found.length, 12)
    assert.deepEqual(
      found.filter((one) => !one.endsWith(" money")),
      []
    )
  })

  it("call curl with --fail-with-body", () => {
    const calls = files(...pages).flatMap(({ path, text }) =>
      [...text.matchAll(/^ *```(?:sh|text|bash)[^\n]*\n([^]*?)^ *```/gm)].flatMap(([, block]) =>
        [...block!.matchAll(/\bcurl\b.*/g)].map(([line]) => `${path}: ${line}`)
      )
    )
    assert.isAbove(calls.length, 30)
    assert.deepEqual(
      calls.filter((call) => !call.includes("--fail-with-body")),
      []
    )
  })
})
