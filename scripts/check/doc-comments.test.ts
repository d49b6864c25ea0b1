import { assert, describe, it } from "vitest"
import { undocumentedExports } from "./doc-comments.ts"

const found = (path: string, ...lines: ReadonlyArray<string>) => undocumentedExports([{ path, text: lines.join("\n") }])
const SOURCE = "packages/core/src/a.ts"

describe("exports without a doc comment", () => {
  it("are reported with their line: no comment, another kind of comment, an empty or a detached one", () => {
    assert.deepEqual(
      found(
        SOURCE,
        "export const a = 1",
        "// Says something.",
        "export interface B {}",
        "/** */",
        "export class C {}",
        "/** Of something else. */",
        "",
        "export const d = () => 1",
        "/* Says something. */",
        "export async function e() {}"
      ).map((line) => line.split(" without")[0]),
      [1, 3, 5, 8, 10].map((line, at) => `${SOURCE}:${line} exports ${"aBCde"[at]}`)
    )
  })

  it("are none when a doc comment of one or more lines precedes directly", () => {
    assert.deepEqual(
      found(SOURCE, "/** Says it. */", "export const a = 1", "/**", " * Says it.", " */", "export type B = string"),
      []
    )
  })

  it("do not include a derived type, an overload, or a type beside its value", () => {
    assert.deepEqual(
      found(
        SOURCE,
        "/** Words. */",
        "export const words = [] as const",
        "export type Word = (typeof words)[number]",
        "/** Schema. */",
        "export const Shape = 1",
        "export interface Shape {}",
        "/** Reads. */",
        "export function read(a: string): void",
        "export function read(a: number): void"
      ),
      []
    )
  })

  it("are not searched in tests, nor outside of packages and apps", () => {
    for (const path of ["packages/core/src/a.test.ts", "scripts/a.ts", "property-tests/src/a.ts"])
      assert.deepEqual(found(path, "export const a = 1"), [])
  })
})
