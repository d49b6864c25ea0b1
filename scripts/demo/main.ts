/**
 * `npm run demo`: the whole path in about a minute, on real agent decisions, and one page about it. Leaves
 * `demo.evp`, `demo-fairness.html` and `demo-routes.svg` in the working folder.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keepPack } from "./keep-pack.ts"
import { pageOf } from "./page.ts"
import { tellStory } from "./story.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-demo-"))
try {
  const figures = await tellStory(folder, (sentence) => console.error(sentence))
  console.log(`\n${pageOf(figures)}`)
  copyFileSync(join(folder, "fairness.html"), "demo-fairness.html")
  copyFileSync(join(folder, "routes.svg"), "demo-routes.svg")
  console.log("Two files for a browser are kept: demo-fairness.html and demo-routes.svg.")
  console.log(`The pack is kept as demo.evp. This verifies it:\n\n  ${keepPack(folder, "demo.evp")}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
