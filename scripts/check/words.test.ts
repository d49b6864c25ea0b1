import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { avoidedWords, checkWords, GLOSSARY } from "./words.ts"

const glossary = readFileSync(join(import.meta.dirname, "../..", GLOSSARY), "utf8")
const table = [
  "## Words to avoid",
  "",
  "| avoid | write | except |",
  "|---|---|---|",
  "| told | reported | |",
  "| look, looks, looked | check | `look up`, `look-up` (to find by key) |",
  "",
  "| other | table |",
  "|---|---|",
  "| fine | fine |"
].join("\n")
const found = (text: string, path = "docs/a.md"): ReadonlyArray<string> => checkWords([{ path, text }], table)

describe("the avoided words of the glossary", () => {
  it("are the rows of one table", () => {
    assert.deepEqual(avoidedWords(table), [
      { words: ["told"], instead: "reported", except: [] },
      { words: ["look", "looks", "looked"], instead: "check", except: ["look up", "look-up"] }
    ])
  })
  it("include those of the house", () => {
    const words = avoidedWords(glossary).flatMap((row) => row.words)
    assert.includeMembers(words, ["told", "whoever", "odd", "what is so", "asked", "mended", "look", "door", "bell"])
    for (const { instead } of avoidedWords(glossary)) assert.notEqual(instead, "")
  })
  it("are in a table: a glossary without it fails the check", () => {
    assert.deepEqual(checkWords([], "# Glossary"), [`${GLOSSARY} has no table with the columns avoid, write, except`])
  })
})

describe("the check of words", () => {
  it("reports each occurrence with its line and the replacement", () => {
    assert.deepEqual(found("It is told once,\nand told again. Told."), [
      'docs/a.md:1 writes "told"; write reported',
      'docs/a.md:2 writes "told"; write reported',
      'docs/a.md:2 writes "Told"; write reported'
    ])
  })
  it.each(["toldAgain", "told_again", "isTold", "TOLD", "WAS_TOLD", "x2Told", "Told"])("finds the word in %s", (name) =>
    assert.lengthOf(found(name), 1)
  )
  it.each(["untold", "stoldier", "UNTOLD", "lookup", "looking"])("does not find a word in %s", (name) =>
    assert.lengthOf(found(name), 0)
  )
  it("passes an exception, and still finds the word beside it", () => {
    assert.lengthOf(found("Look up the key, or make a look-up."), 0)
    assert.lengthOf(found("Look up the key, and look again."), 1)
  })
  it("passes change logs, fixtures and the glossary, whose texts are fixed or list the words", () => {
    for (const path of ["packages/core/CHANGELOG.md", "fixtures/README.md", GLOSSARY])
      assert.lengthOf(found("told", path), 0)
  })
})
