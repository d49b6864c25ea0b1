import { assert, it } from "vitest"
import { calledToThrow, namesBeside } from "./join.ts"

it("namesBeside finds the files that a module locates by its own URL", () => {
  assert.deepEqual(
    namesBeside(
      `const a = new URL("./worker.ts", import.meta.url)\nconst b = "./other.ts"\nnew ` +
        `URL(import.meta.url.endsWith(".ts") ? "./x.ts" : "./x.js", import.meta.url)`
    ),
    ["worker.js", "x.js", "x.js"]
  )
})

it("calledToThrow finds calls whose only effect is to throw", () => {
  assert.deepEqual(
    calledToThrow(
      "try {\n  decodeURIComponent(text)\n  void encodeURI(text)\n  return true\n} catch {}\nconst a = " +
        "decodeURIComponent(text)\nreturn decodeURI(text)"
    ),
    ["decodeURIComponent", "encodeURI"]
  )
})
