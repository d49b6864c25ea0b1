/** `npm run demo`: the whole path in under a minute, on real agent decisions, and one page about it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pageOf } from "./page.ts"
import { tellStory } from "./story.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-demo-"))
try {
  const figures = await tellStory(folder, (sentence) => console.error(sentence))
  console.log(`\n${pageOf(figures)}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
