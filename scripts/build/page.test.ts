/** The page that the verifier becomes: one file that loads nothing, the same bytes each time. */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { joinPage } from "./page.ts"
import { programs } from "./programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const { page } = programs.find(({ app }) => app === "apps/verify")!
let html: string
beforeAll(async () => {
  html = await joinPage(page!, root)
})

const digest = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
/** The element that a browser finds: the first style, and the script behind the worker's text. */
const between = (from: string, to: string, start: number): string =>
  html.slice(start + from.length, html.indexOf(to, start))

describe("the page", () => {
  it("has the same bytes when it is built again", async () => {
    assert.isTrue((await joinPage(page!, root)) === html)
  })

  it("runs and shows only scripts and styles whose digests its policy has", () => {
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)!
    assert.include(policy, "default-src 'none'; ")
    assert.include(policy, `script-src ${digest(between("<script>", "</script>", html.lastIndexOf("<script>")))};`)
    assert.include(policy, `style-src ${digest(between("<style>", "</style>", html.indexOf("<style>")))};`)
    for (const rule of [
      "worker-src blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'"
    ])
      assert.include(policy, rule)
    assert.notInclude(policy, "unsafe")
    assert.notInclude(policy, "http")
  })

  it("loads nothing, holds the licences of its dependencies, and has no unfilled placeholder", () => {
    const markup = html.replaceAll(/<script[^>]*>[^]*?<\/script>/g, "")
    assert.notMatch(markup, /<(?:link|img|iframe|object|embed|base)\b|\ssrc=|href="(?!#)/)
    assert.match(markup, /@noble\/hashes [\d.]+ \(MIT\)[^]*Permission is hereby granted/)
    assert.notMatch(markup, /\{\{\w+\}\}/)
  })
})

describe("a page that cannot be built", () => {
  const work = mkdtempSync(join(tmpdir(), "flyball-page-"))
  mkdirSync(join(work, "src"))
  symlinkSync(join(root, "node_modules"), join(work, "node_modules"))
  writeFileSync(join(work, "package.json"), '{"version":"1.2.3"}')
  writeFileSync(join(work, "src/style.ts"), 'export const reportStyle = "p {}"')
  writeFileSync(join(work, "src/page.css"), "b {}")
  writeFileSync(join(work, "src/page.html"), "<style>{{style}}</style><script>{{script}}</script>")
  writeFileSync(join(work, "src/good.ts"), 'console.log("good")')
  afterAll(() => rmSync(work, { recursive: true, force: true }))
  const made = (name: string, text: string, more: object = {}): Promise<string> => {
    writeFileSync(join(work, "src", name), text)
    return joinPage(
      {
        name: "page.html",
        template: "src/page.html",
        style: "src/page.css",
        styleModule: "src/style.ts",
        script: `src/${name}`,
        worker: "src/good.ts",
        ...more
      },
      work
    )
  }
  const refused = (making: Promise<string>): Promise<string> =>
    making.then(
      () => "made",
      (cause: unknown) => (cause as Error).message
    )

  it("is refused when a script contains text that would end its element", async () => {
    assert.include(await refused(made("start.ts", 'console.log("<script>")')), "holds <script")
    assert.include(await refused(made("comment.ts", 'console.log("<!--")')), "holds <!--")
  })

  it("is refused when a script needs Node", async () => {
    assert.match(
      await refused(made("node.ts", 'import { readFileSync } from "node:fs"\nconsole.log(readFileSync)')),
      /node:fs/
    )
  })

  it("is refused when a template names an unknown placeholder", async () => {
    writeFileSync(join(work, "src/other.html"), "{{script}}{{titel}}")
    assert.include(await refused(made("good.ts", "console.log(1)", { template: "src/other.html" })), "{{titel}}")
    assert.include(await made("good.ts", "console.log(1)"), "<style>p {}b {}</style>")
  })
})
