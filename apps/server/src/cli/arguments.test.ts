import { assert, describe, it } from "vitest"
import { readArguments, UsageError, wholeNumber } from "./arguments.ts"

const options = {
  role: { type: "string" },
  kind: { type: "string", multiple: true },
  force: { type: "boolean" }
} as const
const refusal = (args: ReadonlyArray<string>, positionals = false): string => {
  try {
    readArguments(args, options, positionals)
    return "taken"
  } catch (cause) {
    assert.instanceOf(cause, UsageError)
    return (cause as Error).message
  }
}

describe("flags", () => {
  it("are read with a space or an equals sign, and repeat where they may", () => {
    const { positionals, values } = readArguments(["--role", "admin", "--kind=a", "file", "--kind", "b"], options, true)
    assert.deepEqual([{ ...values }, positionals], [{ role: "admin", kind: ["a", "b"] }, ["file"]])
  })
  it.each<[ReadonlyArray<string>, string]>([
    [["--rolle", "x"], "there is no flag --rolle; did you mean --role?"],
    [["-x"], "there is no flag -x"],
    [["--port", "1"], "there is no flag --port; it is a setting of the environment, FLYBALL_PORT"],
    [["--data-dir=x"], "there is no flag --data-dir; it is a setting of the environment, FLYBALL_DATA_DIR"],
    [["--role"], "--role needs a value"],
    [["--role", "--kind", "a"], "--role needs a value; one that begins with - is written --role=-…"],
    [["--force=yes"], "--force takes no value"],
    [["--role", ""], "--role is empty"],
    [["--role", "a", "--role", "b"], "--role is given twice"],
    [["file"], '"file" is an unexpected argument']
  ])("%j: %s", (args, sentence) => assert.strictEqual(refusal(args), sentence))
})

describe("whole numbers", () => {
  it("are accepted up to the largest exact integer", () => {
    assert.deepEqual(
      [wholeNumber("from", undefined), wholeNumber("from", "0"), wholeNumber("from", "9007199254740991")],
      [undefined, 0, 9_007_199_254_740_991]
    )
  })
  it.each(["", "-1", "1.5", "1e3", "01", "x", "9007199254740993", "99999999999999999999"])("are not %j", (text) =>
    assert.throws(() => wholeNumber("from", text), UsageError, "--from should be a whole number")
  )
})
