import { assert, describe, it } from "vitest"
import { exportsWithoutSpec, undocumentedExports, vagueSummaries } from "./doc-comments.ts"

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

describe("doc comments that open with a pronoun", () => {
  const lines = (...text: ReadonlyArray<string>) =>
    vagueSummaries([{ path: "packages/core/src/a.test.ts", text: text.join("\n") }]).map((line) => line.split(";")[0])

  it("are reported with their line, of one line or more, exported or not", () => {
    assert.deepEqual(
      lines("/** What it is. */", "", "/**", " * Whether it is.", " */", "  /** Each of them. */", "  /** Who. */"),
      ["What", "Whether", "Each", "Who"].map(
        (word, at) => `packages/core/src/a.test.ts:${[1, 3, 6, 7][at]} opens a doc comment with "${word}"`
      )
    )
  })

  it("are none where the word comes later, is the beginning of another, or is in another comment", () => {
    assert.deepEqual(
      lines(
        "/** Says what it is. */",
        "/** Whole numbers. */",
        "// What it is.",
        "/* Who. */",
        '"/** What. */"',
        "/**",
        " * Reads.",
        " *",
        " * What is read.",
        " */"
      ),
      []
    )
  })
})

describe("refusals and services without a section of the specification", () => {
  const REFUSALS = "packages/contract/src/refusals/agents.ts"
  const SERVICE = "packages/core/src/registry/agents/service.ts"
  const names = (path: string, ...lines: ReadonlyArray<string>) =>
    exportsWithoutSpec([{ path, text: lines.join("\n") }]).map((line) => line.split(" without")[0])

  it("are reported with their line", () => {
    assert.deepEqual(names(REFUSALS, "/** No agent. */", "export class AgentNotFound {}"), [
      `${REFUSALS}:2 exports AgentNotFound`
    ])
    assert.deepEqual(
      names(
        SERVICE,
        "/** Operations. Spec: */",
        "export interface AgentsApi {}",
        "/** The registry. */",
        "export class Agents extends Context.Service<Agents, AgentsApi>() {}"
      ),
      [`${SERVICE}:2 exports AgentsApi`, `${SERVICE}:4 exports Agents`]
    )
  })

  it("are none when the comment names one, inline or as a list item, and other exports need none", () => {
    assert.deepEqual(
      names(
        REFUSALS,
        "/** No agent. Spec: decision 0013. */",
        "export class A {}",
        "/** A word. */",
        "export const b = 1"
      ),
      []
    )
    assert.deepEqual(
      names(
        SERVICE,
        "/**",
        " * The registry.",
        " *",
        " * - Spec: document 1 section 4.",
        " */",
        "export class Agents extends Context.Service<Agents, AgentsApi>() {}",
        "/** Options. */",
        "export interface RegisterOptions {}"
      ),
      []
    )
    assert.deepEqual(
      names("packages/core/src/registry/agents/acts.ts", "/** Acts. */", "export interface ActsApi {}"),
      []
    )
  })
})
