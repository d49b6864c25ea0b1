import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { mcpPicture, pictureFile } from "./picture.ts"

it("docs/mcp-screen.svg shows the real history of a server", () =>
  assert.strictEqual(mcpPicture(), readFileSync(pictureFile, "utf8")))
