import { eventTypes } from "@flyball/contract"
import { endpoints } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import { interfaceDescription, operationIdOf } from "./document.ts"
import { escaped, withCode } from "./html.ts"
import { page } from "./page.ts"

const description = interfaceDescription()
const html = page(description)
const attributes = (name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => value!)

/** Elements that have no end. */
const empty = new Set(["meta", "br"])

describe("the page", () => {
  it("has every endpoint, shape and refusal, and every link leads to one", () => {
    const ids = attributes("id")
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const endpoint of endpoints) {
      assert.include(ids, operationIdOf(endpoint))
      assert.include(html, escaped(endpoint.path))
      assert.include(html, withCode(endpoint.summary))
    }
    for (const type of eventTypes) assert.include(ids, `event-${type}`)
    for (const name of Object.keys(description.components.schemas))
      assert.isTrue(ids.includes(`shape-${name}`) || ids.includes(`refusal-${name}`), name)
    assert.deepStrictEqual(
      attributes("href").filter((href) => !(href === "/openapi.json" || ids.includes(href.slice(1)))),
      []
    )
  })

  it("loads nothing and runs nothing", () => {
    assert.notMatch(
      html,
      /<(script|img|link|iframe|object|embed|form|base)\b|\son[a-z]+=|javascript:|@import|url\(|\sstyle=|https?:/i
    )
  })

  it("closes what it opens", () => {
    const open: Array<string> = []
    for (const [, end, name] of html.replace(/<style>[^]*<\/style>/, "").matchAll(/<(\/?)([a-z][a-z0-9]*)/g)) {
      if (end === "/") assert.strictEqual(open.pop(), name)
      else if (!empty.has(name!)) open.push(name!)
    }
    assert.deepStrictEqual(open, [])
  })

  it("shows text as text", () => {
    assert.strictEqual(escaped('<a href="x">&\''), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;")
    assert.strictEqual(withCode("<a> `<b>` c"), "&lt;a&gt; <code>&lt;b&gt;</code> c")
    const invalid = page({ ...description, info: { ...description.info, title: "<script>alert(1)</script>" } })
    assert.notInclude(invalid, "<script")
  })
})
