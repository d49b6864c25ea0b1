/** Policy files: the syntax of C2SP tlog-policy, and what a quorum asks for. */
import { describe, expect, it } from "vitest"
import { utf8 } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { formatVkey } from "../note/vkey.ts"
import { parsePolicy, quorumMet } from "./policy.ts"

const key = (name: string, type: number, seed: number): string =>
  formatVkey(name, portableCrypto.ed25519PublicKey(new Uint8Array(32).fill(seed)), type)
const log = key("log.example/a", 1, 1)
const witness = (seed: number): string => key(`w${seed}.example`, 4, seed)
const parse = (text: string) => parsePolicy(portableCrypto, utf8(text))
const reason = (text: string): string => {
  const parsed = parse(text)
  return parsed.ok ? "no reason" : `${parsed.line}: ${parsed.reason}`
}

describe("a policy", () => {
  const twoLevels = [
    "# two organisations",
    `log ${log} https://log.example`,
    "",
    `witness X1 ${witness(2)}`,
    ` witness\tX2  ${witness(3)} https://x2.example `,
    `witness X3 ${witness(4)}`,
    "group X-witnesses 2 X1 X2 X3",
    `witness Y1 ${witness(5)}`,
    `witness Y2 ${witness(6)}`,
    "group Y-witnesses any Y1 Y2",
    "group X-and-Y all X-witnesses Y-witnesses",
    "quorum X-and-Y",
    ""
  ].join("\n")

  it("of two levels of groups is read, and its quorum counted", () => {
    const parsed = parse(twoLevels)
    if (!parsed.ok) throw new Error(parsed.reason)
    const { logs, quorum, witnesses } = parsed.policy
    expect(logs.map((vkey) => vkey.name)).toEqual(["log.example/a"])
    expect(witnesses.map((one) => `${one.name} ${one.vkey.name}`)).toEqual([
      "X1 w2.example",
      "X2 w3.example",
      "X3 w4.example",
      "Y1 w5.example",
      "Y2 w6.example"
    ])
    const met = (...names: ReadonlyArray<string>) => quorumMet(quorum, new Set(names))
    expect(met("X1", "X3", "Y2")).toBe(true)
    expect(met("X1", "X2", "X3", "Y1", "Y2")).toBe(true)
    expect(met("X1", "X2", "X3")).toBe(false)
    expect(met("X1", "Y1", "Y2")).toBe(false)
    expect(met()).toBe(false)
  })

  it("may ask for one witness, or for none, and end without a newline", () => {
    const one = parse(`log ${log}\nwitness w ${witness(2)}\nquorum w`)
    if (!one.ok) throw new Error(one.reason)
    expect([quorumMet(one.policy.quorum, new Set(["w"])), quorumMet(one.policy.quorum, new Set())]).toEqual([
      true,
      false
    ])
    const none = parse("quorum none\n")
    if (!none.ok) throw new Error(none.reason)
    expect(quorumMet(none.policy.quorum, new Set())).toBe(true)
  })

  it("names are bytes: a name outside ASCII is its own bytes and no others", () => {
    expect(parse(`witness \u212a ${witness(2)}\nwitness K ${witness(3)}\nquorum \u212a\n`).ok).toBe(true)
    expect(parse(`witness \u212a ${witness(2)}\nquorum K\n`).ok).toBe(false)
    const bytes = Buffer.concat([
      utf8("witness "),
      Buffer.of(0x80, 0xff),
      utf8(` ${witness(2)}\nquorum `),
      Buffer.of(0x80, 0xff),
      utf8("\n")
    ])
    expect(parsePolicy(portableCrypto, bytes).ok).toBe(true)
  })

  it("keeps keys of types that we cannot verify apart", () => {
    const parsed = parse(
      `log ${log}\nwitness new ${key("w.example", 6, 7)}\nwitness old ${witness(2)}\ngroup g any new old\nquorum g\n`
    )
    if (!parsed.ok) throw new Error(parsed.reason)
    expect(parsed.policy.unsupported).toHaveLength(1)
    expect(parsed.policy.witnesses.map((one) => one.name)).toEqual(["old"])
  })

  it("is refused with the line and a reason", () => {
    expect(reason("")).toContain("one quorum line")
    expect(reason(`log ${log}\n`)).toContain("one quorum line")
    expect(reason("quorum none\nquorum none\n")).toMatch(/^2: .*one quorum/)
    expect(reason("logs x\n")).toMatch(/^1: .*starts with/)
    expect(reason("log\n")).toMatch(/^1: /)
    expect(reason(`log ${log} a b\n`)).toMatch(/^1: /)
    expect(reason(`log ${log}\nlog ${log}\n`)).toMatch(/^2: .*same public key/)
    expect(reason(`log ${witness(2)}\n`)).toMatch(/^1: .*type 0x01/)
    expect(reason(`witness w ${log}\n`)).toMatch(/^1: .*type 0x04/)
    expect(reason(`witness none ${witness(2)}\n`)).toMatch(/^1: none/)
    expect(reason(`witness w ${witness(2)}\nwitness w ${witness(3)}\n`)).toMatch(/^2: two lines/)
    expect(reason(`witness v ${witness(2)}\nwitness w ${witness(2)}\n`)).toMatch(/^2: .*same public key/)
    expect(reason("group g all none\nquorum none\n")).toMatch(/^1: /)
    expect(reason("group g all\n")).toMatch(/^1: /)
    expect(reason(`witness w ${witness(2)}\ngroup g 2 w\n`)).toMatch(/^2: .*number from 1/)
    expect(reason(`witness w ${witness(2)}\ngroup g 0 w\n`)).toMatch(/^2: /)
    expect(reason(`witness w ${witness(2)}\ngroup g all w w\n`)).toMatch(/^2: .*once/)
    expect(reason(`witness w ${witness(2)}\ngroup g all w\ngroup h all w\n`)).toMatch(/^3: .*once/)
    expect(reason("quorum w\n")).toMatch(/^1: /)
    expect(reason("quorum none\r\n")).toMatch(/^1: .*control/)
  })
})
