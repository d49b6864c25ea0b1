/**
 * A tool server on stdio that breaks the rules, for the proxy's tests. It says its process id on stderr, and which tool
 * it ran; the tool's name is what it does.
 */
import { createInterface } from "node:readline"

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const write = (text: string): void => void process.stdout.write(`${text}\n`)
const answer = (id: unknown, text: string): void =>
  write(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } }))

/** Longer than a line may be. Unit: characters. */
const TOO_LONG = 65 * 1_048_576

/** Deeper than `JSON.stringify` goes. */
const TOO_DEEP = 50_000

/** A result of which no double has the digits. */
const DIGITS = '{"structuredContent":{"id":1915883588174806058,"f":1.10,"e":1E400},"content":[]}'

/** The call that was answered last. */
let last: unknown

const tools: { readonly [name: string]: (id: unknown) => void } = {
  answer: (id) => answer(id, "answered"),
  twice: (id) => {
    answer(id, "first")
    answer(id, "second")
    last = id
  },
  die: () => process.kill(process.pid, "SIGKILL"),
  garble: (id) => {
    write('{"jsonrpc":"2.0","id":')
    write(`[{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}]`)
    write(`\ufeff\ufeff{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`)
    answer(id, "after what is no JSON")
  },
  digits: (id) => write(`\ufeff{ "jsonrpc":"2.0", "id":${JSON.stringify(id)}, "result": ${DIGITS} }\r`),
  mangle: (id) => write(JSON.stringify({ jsonrpc: "2.0", id, result: {}, error: { code: 1, message: "both" } })),
  flood: (id) => write(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [], text: "x".repeat(TOO_LONG) } })),
  nest: (id) => write(`{"jsonrpc":"2.0","id":${id},"result":{"a":${"[".repeat(TOO_DEEP)}${"]".repeat(TOO_DEEP)}}}`),
  /** Never answers. */
  hang: () => undefined
}

say(`pid ${process.pid}`)
if (process.argv.includes("--stubborn")) {
  process.on("SIGTERM", () => say("goes on after SIGTERM"))
  setInterval(() => undefined, 60_000)
}
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === "tools/call") {
      say(`ran ${params.name}`)
      tools[params.name]!(id)
    } else if (method === "ping") {
      if (last !== undefined) answer(last, "third")
      write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }))
    }
  })
  .on("close", () => say("end of input"))
