import { assert, it } from "vitest"
import { calledToThrow, namesBeside } from "./join.ts"

it("files that a module finds by its own address", () => {
  assert.deepEqual(
    namesBeside(
      `const a = new URL("./worker.ts", import.meta.url)\nconst b = "./other.ts"\nnew ` +
        `URL(import.meta.url.endsWith(".ts") ? "./x.ts" : "./x.js", import.meta.url)`
    ),
    ["worker.js", "x.js", "x.js"]
  )
})

it("calls that only throw, which the bundler would leave out", () => {
  assert.deepEqual(
    calledToThrow(
      "try {\n  decodeURIComponent(text)\n  void encodeURI(text)\n  return true\n} catch {}\nconst a = " +
        "decodeURIComponent(text)\nreturn decodeURI(text)"
    ),
    ["decodeURIComponent", "encodeURI"]
  )
})
